//! What shaping changed.

use std::collections::BTreeSet;

use super::Cleaned;

/// One kind of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Flag {
    /// Direction controls were removed.
    Bidi,
    /// Zero-width characters were removed.
    ZeroWidth,
    /// Unicode tag characters were removed.
    TagChars,
    /// Other invisible characters were removed.
    Invisible,
    /// Control characters were removed.
    Control,
    /// Terminal escapes were removed.
    Terminal,
    /// Text that looked like a note of this host was marked.
    HostNote,
    /// A key was cleaned, or dropped since it became equal to another.
    KeysChanged,
    /// Media were replaced by a note.
    MediaDropped,
    /// A block of an unknown type was replaced by a note.
    UnsupportedContent,
}

impl Flag {
    /// The stable word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Flag::Bidi => "bidi",
            Flag::ZeroWidth => "zero_width",
            Flag::TagChars => "tag_chars",
            Flag::Invisible => "invisible",
            Flag::Control => "control",
            Flag::Terminal => "terminal",
            Flag::HostNote => "host_note",
            Flag::KeysChanged => "keys_changed",
            Flag::MediaDropped => "media_dropped",
            Flag::UnsupportedContent => "unsupported_content",
        }
    }
}

/// Everything that was changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flags(BTreeSet<Flag>);

impl Flags {
    /// Whether nothing was changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this was changed.
    #[must_use]
    pub fn contains(&self, flag: Flag) -> bool {
        self.0.contains(&flag)
    }

    /// All changes.
    pub fn iter(&self) -> impl Iterator<Item = Flag> + '_ {
        self.0.iter().copied()
    }

    pub(super) fn add(&mut self, flag: Flag) {
        self.0.insert(flag);
    }

    /// Notes what cleaning changed and gives the text.
    pub(super) fn take(&mut self, cleaned: Cleaned) -> String {
        self.0.extend(cleaned.flags.0);
        cleaned.text
    }
}
