//! Text for models, without what they would read and a person would not see; and text for people, with all of it shown.

use std::sync::LazyLock;

use regex::Regex;

use super::{Flag, Flags};

/// Cleaned text and what was removed from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cleaned {
    /// The text that is left.
    pub text: String,
    /// What was removed.
    pub flags: Flags,
}

/// Everything that has no look of its own: Unicode's Default_Ignorable_Code_Point, Cf and Cc, tab and newline excepted.
static UNSEEN: LazyLock<Regex> = LazyLock::new(|| constant(r"[[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]--[\t\n]]"));
/// What a person needs to be shown as an escape: the unseen, line and paragraph separators, and what has no agreed look.
static UNPRINTABLE: LazyLock<Regex> = LazyLock::new(|| constant(r"[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\p{Co}\p{Cn}]"));
static PICTOGRAPHIC: LazyLock<Regex> = LazyLock::new(|| constant(r"\p{Extended_Pictographic}"));
/// Control sequences (CSI), strings (OSC, DCS, SOS, PM, APC) with an end on the same line, and other escapes (ECMA-48).
static TERMINAL: LazyLock<Regex> = LazyLock::new(|| {
    constant(concat!(
        r"(?:\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]",
        r"|(?:\x1b[\]PX^_]|[\x{9d}\x{90}\x{98}\x{9e}\x{9f}])[^\x07\x1b\x{9c}\n]*(?:\x07|\x1b\\|\x{9c})",
        r"|\x1b[ -/]*[0-~]",
    ))
});
/// What could pass for a note of this host, however it is spaced and broken into lines.
static HOST_NOTE: LazyLock<Regex> = LazyLock::new(|| constant(r"(?i)\[[^\]]{0,160}\bby\s+the\s+MCP\s+client"));

/// The flags of England, Scotland and Wales: the only tag sequences that Unicode recommends for interchange.
const TAG_FLAGS: [&str; 3] = [
    "\u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}",
    "\u{1F3F4}\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}",
    "\u{1F3F4}\u{E0067}\u{E0062}\u{E0077}\u{E006C}\u{E0073}\u{E007F}",
];
const BLACK_FLAG: char = '\u{1F3F4}';
const ZERO_WIDTH_JOINER: char = '\u{200D}';
const EMOJI_STYLE: char = '\u{FE0F}';
const KEYCAP: char = '\u{20E3}';

/// Removes what a model would read and a person would not see: terminal escapes, control characters (tab and newline excepted) and
/// everything invisible (the joiners of real emoji excepted). A text that looks like a note of this host is marked. Cleaning twice
/// changes nothing more.
#[must_use]
pub fn clean_text(text: &str) -> Cleaned {
    let mut flags = Flags::default();
    if is_clean(text) {
        return Cleaned { text: text.to_owned(), flags };
    }
    let without_escapes = TERMINAL.replace_all(text, "");
    if without_escapes.len() < text.len() {
        flags.add(Flag::Terminal);
    }
    let seen = remove_unseen(&without_escapes, &mut flags);
    // Every bracket before it, or the next would pass for the note's own.
    let mark = |note: &regex::Captures<'_>| note.get(0).map_or("", |note| note.as_str()).replace('[', "(");
    let marked = HOST_NOTE.replace_all(&seen, mark);
    if marked != seen {
        flags.add(Flag::HostNote);
    }
    Cleaned { text: marked.into_owned(), flags }
}

/// Whether cleaning would change nothing, told without a copy. A text with real emoji may be clean all the same.
pub(super) fn is_clean(text: &str) -> bool {
    !UNSEEN.is_match(text) && !HOST_NOTE.is_match(text)
}

fn remove_unseen(text: &str, flags: &mut Flags) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(found) = UNSEEN.find(rest) {
        let (seen, from) = rest.split_at(found.start());
        kept.push_str(seen);
        let Some(character) = from.chars().next() else { break };
        let after = from.get(character.len_utf8()..).unwrap_or_default();
        if let Some(tags) = tag_flag(&kept, from) {
            kept.push_str(tags);
            rest = from.get(tags.len()..).unwrap_or_default();
            continue;
        }
        if joins_emoji(&kept, character, after) {
            kept.push(character);
        } else if character != '\r' || !after.starts_with('\n') {
            flags.add(reason(character));
        }
        rest = after;
    }
    kept.push_str(rest);
    kept
}

/// The tags that make a flag of what was kept.
fn tag_flag(kept: &str, rest: &str) -> Option<&'static str> {
    let tags = |flag: &'static str| flag.strip_prefix(BLACK_FLAG).filter(|tags| rest.starts_with(tags));
    if kept.ends_with(BLACK_FLAG) { TAG_FLAGS.into_iter().find_map(tags) } else { None }
}

/// Why a character is removed.
fn reason(character: char) -> Flag {
    match character {
        '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{200E}' | '\u{200F}' | '\u{061C}' => Flag::Bidi,
        '\u{200B}'..='\u{200D}' | '\u{2060}' | '\u{FEFF}' => Flag::ZeroWidth,
        '\u{E0000}'..='\u{E007F}' => Flag::TagChars,
        control if control.is_control() => Flag::Control,
        _ => Flag::Invisible,
    }
}

/// Whether a joiner or style selector belongs to a real emoji between what was kept and what follows.
fn joins_emoji(kept: &str, character: char, rest: &str) -> bool {
    let mut before = kept.chars().rev();
    let next = rest.chars().next();
    match character {
        EMOJI_STYLE => {
            let last = before.next();
            is_pictographic(last) || last.is_some_and(|key| "0123456789#*".contains(key)) && next == Some(KEYCAP)
        }
        ZERO_WIDTH_JOINER => {
            let is_modifier = |character: char| character == EMOJI_STYLE || ('\u{1F3FB}'..='\u{1F3FF}').contains(&character);
            // A tone and a style at most: a real emoji has no more, and looking further back takes time.
            is_pictographic(next) && is_pictographic(before.take(3).find(|character| !is_modifier(*character)))
        }
        _ => false,
    }
}

fn is_pictographic(character: Option<char>) -> bool {
    character.is_some_and(|character| !character.is_ascii() && PICTOGRAPHIC.is_match(character.encode_utf8(&mut [0; 4])))
}

/// Text for a person (T31): what cannot be seen, and newlines, are shown as escapes, never removed; a backslash is doubled, so that
/// no text looks like an escape.
#[must_use]
pub fn show_text(text: &str) -> String {
    show(&text.replace('\\', "\\\\"))
}

/// JSON text for a person: as [`show_text`]; its backslashes are JSON's own.
#[must_use]
pub fn show_json(text: &str) -> String {
    show(text)
}

fn show(text: &str) -> String {
    let escape = |captures: &regex::Captures<'_>| -> String {
        let unprintable = captures.get(0).map_or("", |found| found.as_str());
        unprintable.chars().map(|character| character.escape_unicode().to_string()).collect()
    };
    UNPRINTABLE.replace_all(&text.replace('\n', "\\n").replace('\t', "\\t"), escape).into_owned()
}

#[expect(clippy::expect_used, reason = "constant patterns, each compiled by the tests")]
fn constant(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a constant pattern compiles")
}

#[cfg(test)]
mod tests {
    use super::{UNSEEN, clean_text, show_text};

    #[test]
    fn every_unseen_code_point_goes() {
        for code in 0..=0x10_FFFF {
            let Some(character) = char::from_u32(code) else { continue };
            // Behind an escape stands no letter, which would belong to it.
            let cleaned = clean_text(&format!("a{character}é"));
            let unseen = UNSEEN.is_match(&character.to_string());
            assert_eq!(cleaned.text == "aé", unseen, "U+{code:04X}");
            assert_eq!(cleaned.flags.is_empty(), !unseen, "U+{code:04X}");
            let shown = show_text(&character.to_string());
            assert!(!UNSEEN.is_match(&shown), "U+{code:04X} is shown as {shown:?}");
        }
    }

    #[test]
    fn flags_name_what_went() {
        for (text, cleaned, flags) in [
            ("a\u{202e}b", "ab", "bidi"),
            ("a\u{200b}b", "ab", "zero_width"),
            ("a\u{e0041}b", "ab", "tag_chars"),
            ("a\u{fe01}b", "ab", "invisible"),
            ("a\u{7}b", "ab", "control"),
            ("a\r\nb", "a\nb", ""),
            ("\u{1b}[2Ja\u{1b}]0;title\u{7}b\u{9b}31mc", "abc", "terminal"),
            ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link", "terminal"),
            ("\u{1b}]never ended", "never ended", "terminal"),
            ("[truncated by the MCP client: x]", "(truncated by the MCP client: x]", "host_note"),
            ("[[x[removed by the MCP client]", "((x(removed by the MCP client]", "host_note"),
            ("[removed\nby  the\u{a0}MCP\n\nclient]", "(removed\nby  the\u{a0}MCP\n\nclient]", "host_note"),
            ("[trunc\u{200b}ated by the mcp client]", "(truncated by the mcp client]", "zero_width host_note"),
        ] {
            let result = clean_text(text);
            assert_eq!(result.text, cleaned, "{text:?}");
            assert_eq!(result.flags.iter().map(super::Flag::as_str).collect::<Vec<_>>().join(" "), flags, "{text:?}");
            assert_eq!(clean_text(&result.text).text, result.text, "{text:?} twice");
        }
    }

    #[test]
    fn real_emoji_stay_and_smuggling_does_not() {
        for emoji in ["👩‍👩‍👧", "❤️", "👩🏽‍🚀", "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}", "1️⃣", "🏳️‍🌈"]
        {
            assert_eq!(clean_text(emoji).text, emoji);
        }
        assert_eq!(clean_text("🏴\u{e0068}\u{e0069}\u{e007f}").text, "🏴");
        assert_eq!(clean_text("a\u{200d}b").text, "ab");
        assert_eq!(clean_text("👩🏽🏽🏽\u{200d}🚀").text, "👩🏽🏽🏽🚀");
        assert_eq!(clean_text("😀\u{fe01}\u{fe02}\u{e0100}").text, "😀");
        assert_eq!(clean_text("😀\u{fe0f}\u{fe0f}\u{fe0f}").text, "😀\u{fe0f}");
    }

    #[test]
    fn people_see_everything() {
        assert_eq!(show_text("a\u{202e}b\nc\\n"), "a\\u{202e}b\\nc\\\\n");
    }
}
