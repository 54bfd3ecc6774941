//! A panic's text reaches the plugin's log before the instance traps.

/// Sets the hook. Called by `configure`, so every later call of a configured instance has it.
///
/// Not done natively: there a test runner has a hook of its own, and panics unwind.
pub(crate) fn report() {
    #[cfg(target_arch = "wasm32")]
    {
        static SET: std::sync::Once = std::sync::Once::new();
        SET.call_once(|| {
            std::panic::set_hook(Box::new(|panic| {
                crate::log::write(crate::log::Level::Error, &panic.to_string());
            }));
        });
    }
}
