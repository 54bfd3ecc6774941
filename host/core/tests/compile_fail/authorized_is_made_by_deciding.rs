//! Only policy and ask together say that a call may be sent.

fn main() {
    let _ = callgate_core::Authorized { seal: todo!(), grant: None };
}
