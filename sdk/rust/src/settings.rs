//! Settings: parsed once, when the plugin is loaded, and kept for every call.

use std::any::Any;
use std::cell::Cell;
use std::fmt;

use serde::de::DeserializeOwned;

thread_local! {
    /// An instance is configured once and has one thread. (In native tests each test has a thread of its own.)
    static KEPT: Cell<Option<&'static dyn Any>> = const { Cell::new(None) };
}

/// What `configure` kept: the settings, or whatever a `configure` function made of them.
///
/// ```
/// use callgate_sdk::prelude::*;
///
/// #[derive(serde::Deserialize)]
/// #[serde(deny_unknown_fields)]
/// struct Settings {
///     limit: u64,
/// }
///
/// fn capped(call: &ToolCall, _context: &Context) -> Result<PreOutcome, String> {
///     let limit = settings::<Settings>()?.limit;
///     match call.argument("/limit").and_then(|value| value.as_u64()) {
///         Some(asked) if asked <= limit => Ok(proceed()),
///         _ => Ok(deny("over_limit", "ask for less at once")),
///     }
/// }
///
/// callgate_sdk::export!(pre_hook = capped, settings = Settings);
///
/// callgate_sdk::testing::configured(Settings { limit: 10 });
/// let call = callgate_sdk::testing::call("search", json!({ "limit": 50 }));
/// assert_eq!(capped(&call, &callgate_sdk::testing::context()), Ok(deny("over_limit", "ask for less at once")));
/// ```
pub fn settings<T: 'static>() -> Result<&'static T, NotConfigured> {
    KEPT.get().and_then(<dyn Any>::downcast_ref).ok_or(NotConfigured)
}

/// There are no settings of that type: the macro names another one, or a test did not configure any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotConfigured;

impl fmt::Display for NotConfigured {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the plugin was not configured with settings of this type")
    }
}

impl std::error::Error for NotConfigured {}

impl From<NotConfigured> for String {
    fn from(missing: NotConfigured) -> Self {
        missing.to_string()
    }
}

/// Keeps a value for the rest of the instance's life, which is why leaking it loses nothing.
pub(crate) fn keep<T: 'static>(value: T) {
    KEPT.set(Some(Box::leak(Box::new(value))));
}

/// Reads settings; none at all are an empty object.
pub(crate) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let text = if matches!(text.trim(), "" | "null") { "{}" } else { text };
    serde_json::from_str(text).map_err(|error| format!("the settings do not fit: {error}"))
}

/// For a plugin that has no settings.
pub(crate) fn none(text: &str) -> Result<(), String> {
    let given: serde_json::Map<String, serde_json::Value> = parse(text)?;
    match given.keys().next() {
        None => Ok(()),
        Some(key) => Err(format!("this plugin takes no settings, but was given `{key}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plugin_without_settings_takes_none() {
        assert_eq!(none("{}"), Ok(()));
        assert_eq!(none("null"), Ok(()));
        assert_eq!(none(r#"{"root":1}"#), Err("this plugin takes no settings, but was given `root`".to_owned()));
        assert!(none("[]").is_err());
    }

    #[test]
    fn settings_are_found_by_their_type() {
        assert_eq!(settings::<u8>(), Err(NotConfigured));
        keep(7_u8);
        assert_eq!(settings::<u8>(), Ok(&7));
        assert_eq!(settings::<u16>(), Err(NotConfigured));
    }
}
