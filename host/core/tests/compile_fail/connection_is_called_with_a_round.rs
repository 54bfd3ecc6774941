//! Sending takes a round; text is none.

use callgate_core::upstream::{Connection, InputGate};

async fn send(connection: &dyn Connection, gate: &dyn InputGate) {
    let _ = connection.call(r#"{"name":"rm","arguments":{}}"#, gate).await;
}

fn main() {}
