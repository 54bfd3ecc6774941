//! Nobody else can say that nothing governs a call.

fn main() {
    let _ = callgate_core::Ungoverned(());
}
