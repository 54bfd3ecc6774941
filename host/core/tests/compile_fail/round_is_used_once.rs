//! A connection cannot keep a round to send it again.

fn twice(round: callgate_core::upstream::Round) -> (callgate_core::upstream::Round, callgate_core::upstream::Round) {
    (round.clone(), round)
}

fn main() {}
