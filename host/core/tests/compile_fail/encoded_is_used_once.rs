//! What was encoded once is sent once.

fn twice(encoded: callgate_core::Encoded) -> (callgate_core::Encoded, callgate_core::Encoded) {
    (encoded.clone(), encoded)
}

fn main() {}
