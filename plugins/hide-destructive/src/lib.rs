//! Hides tools that may destroy something, so that a model is not tempted by what it may not do.

use callgate_sdk::glob;
use callgate_sdk::prelude::*;
use serde::Deserialize;

/// Which tools are shown or hidden whatever their hints say.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Patterns of tool names that are always hidden. Wins over `allow`.
    pub hide: Vec<String>,
    /// Patterns of tool names that are shown although they may destroy something.
    pub allow: Vec<String>,
}

/// A tool is hidden if it is listed as hidden, or is destructive, not read-only, and not allowed.
///
/// Hints count only for servers that are trusted with them: all tools of any other server may destroy something, and are
/// hidden unless allowed by name.
pub fn visible(tool: &Tool, _context: &Context) -> Result<Visibility, String> {
    let settings = settings::<Settings>()?;
    let name = tool.name();
    let among = |patterns: &[String]| patterns.iter().any(|pattern| glob::fits(pattern, &name));
    let hidden = among(&settings.hide) || (tool.destructive() && !tool.read_only() && !among(&settings.allow));
    Ok(if hidden { hide() } else { show() })
}

callgate_sdk::export!(filter = visible, settings = Settings);

#[cfg(test)]
mod tests {
    use super::*;
    use callgate_sdk::testing;

    callgate_sdk::fixtures!("fixtures");

    #[test]
    fn an_untrusted_hint_shows_nothing() {
        testing::configured(Settings::default());
        let tool = testing::tool("files", "read_file").with_hint("readOnlyHint", true);
        assert_eq!(visible(&tool, &testing::context()), Ok(hide()));
        assert_eq!(visible(&tool.trusted(), &testing::context()), Ok(show()));
    }
}
