//! The documentation's tables are complete.

use callgate_core::model::{FailureKind, Kind, Limit, Reason};

#[test]
fn every_word_stands_in_the_architecture() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../ARCHITECTURE.md");
    let text = std::fs::read_to_string(file).unwrap();
    let kinds = [Kind::NotFound, Kind::Hook, Kind::InvalidArguments, Kind::Denied, Kind::Transport, Kind::Upstream, Kind::InvalidResult];
    let failures = [
        FailureKind::Trap,
        FailureKind::Exit,
        FailureKind::Timeout,
        FailureKind::Memory,
        FailureKind::BadReturn,
        FailureKind::Refused,
        FailureKind::NotLoaded,
        FailureKind::NoAnswer,
    ];
    let limits = [Limit::Fuel, Limit::Deadline, Limit::WallClock, Limit::Queue, Limit::CallBudget];
    let words = Reason::ALL.iter().map(|reason| reason.as_str());
    let words = words.chain(kinds.map(Kind::as_str)).chain(failures.map(FailureKind::as_str)).chain(limits.map(Limit::as_str));
    let missing: Vec<_> = words.filter(|word| !text.contains(&format!("`{word}`"))).collect();
    assert!(missing.is_empty(), "not in ARCHITECTURE.md: {missing:?}");
}
