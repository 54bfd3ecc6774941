//! Only encoding an authorised call makes what may go on the wire.

fn make(authorized: callgate_core::Authorized) -> callgate_core::Encoded {
    callgate_core::Encoded::from(authorized)
}

fn main() {
    let _ = callgate_core::Encoded { name: String::new(), arguments: String::new() };
}
