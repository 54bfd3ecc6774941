//! What authorises one call does not authorise two.

fn twice(authorized: callgate_core::Authorized) -> (callgate_core::Authorized, callgate_core::Authorized) {
    (authorized.clone(), authorized)
}

fn main() {}
