//! Rows of labelled text. Whatever the text holds, only the host's own words stand at the left margin: every line is broken here,
//! before the terminal would break it, and begins with its row's label.

use std::fmt::Write;

/// Columns of a label, and of what stands before a row's text: a margin, the label and a mark. A digest fits beside it.
const LABEL: usize = 10;
const GUTTER: usize = 2 + LABEL + 3;
/// Columns below which rows cannot be read.
pub(crate) const MIN_COLUMNS: usize = 40;
/// Characters without ink that Unicode does not call white space.
const BLANKS: [char; 5] = ['\u{2800}', '\u{13441}', '\u{13442}', '\u{16FE4}', '\u{1D159}'];
/// Stands for spaces. Where it is in the text itself, it is shown as an escape.
const SPACE: char = '␠';

/// Rows for a terminal of some width.
pub(crate) struct Rows {
    columns: usize,
    text: String,
}

impl Rows {
    pub(crate) fn new(columns: usize) -> Self {
        Self { columns, text: String::new() }
    }

    /// A line of the host's own words.
    pub(crate) fn say(&mut self, words: &str) {
        self.text.push_str(words);
        self.text.push('\n');
    }

    /// A row of at most so many characters; where it is cut, a line of the host's own says so. Whether all of it is shown.
    pub(crate) fn row(&mut self, label: &str, text: &str, max_chars: usize) -> bool {
        let shown = text.split('\n').map(without_blanks).collect::<Vec<_>>().join("\n");
        let kept: String = shown.chars().take(max_chars).collect();
        // The last column stays free: some terminals break a line that fills it.
        let room = self.columns.max(MIN_COLUMNS) - GUTTER - 1;
        let mut mark = ' ';
        for line in kept.split('\n').flat_map(|line| broken(line, room)) {
            self.line(label, mark, &line);
            mark = '|';
        }
        let left = shown.chars().count() - kept.chars().count();
        if left > 0 {
            self.line(label, '…', &format!("cut: {left} more characters"));
        }
        left == 0
    }

    fn line(&mut self, label: &str, mark: char, text: &str) {
        // Writing into a string cannot fail.
        let _infallible = writeln!(self.text, "  {label:<LABEL$} {mark} {text}");
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

/// A line in pieces of at most so many bytes: no character takes more columns than it has bytes, not even where the terminal does
/// not know UTF-8.
fn broken(line: &str, room: usize) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut piece = String::new();
    for character in line.chars() {
        if piece.len() + character.len_utf8() > room {
            pieces.push(std::mem::take(&mut piece));
        }
        piece.push(character);
    }
    pieces.push(piece);
    pieces
}

/// A line in which nothing is there and not seen: several spaces, and those at an end, are counted; other blanks are escapes.
fn without_blanks(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    let mut rest = line.chars().peekable();
    while let Some(character) = rest.next() {
        if character == ' ' {
            let mut run = 1;
            while rest.next_if_eq(&' ').is_some() {
                run += 1;
            }
            let seen = run == 1 && !shown.is_empty() && rest.peek().is_some();
            shown.push_str(&if seen { " ".to_owned() } else { format!("({SPACE}×{run})") });
        } else if character == SPACE || character.is_whitespace() || character.is_control() || BLANKS.contains(&character) {
            shown.extend(character.escape_unicode());
        } else {
            shown.push(character);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::{MIN_COLUMNS, Rows, without_blanks};

    fn row(columns: usize, text: &str) -> String {
        let mut rows = Rows::new(columns);
        assert!(rows.row("tool", text, usize::MAX));
        rows.text().to_owned()
    }

    #[test]
    fn nothing_but_labels_stands_at_the_margin() {
        let forged = format!("x{}  server        trusted\n  [d]eny\r  server\t", " ".repeat(200));
        for text in [forged.as_str(), "語".repeat(500).as_str(), "א ".repeat(500).as_str(), "👩‍👧é̶".repeat(500).as_str(), "\n\n", ""]
        {
            for columns in [0, 1, MIN_COLUMNS, 80, 1_000] {
                for line in row(columns, text).lines() {
                    assert!(line.starts_with("  tool         ") || line.starts_with("  tool       | "), "{line:?}");
                    assert!(line.len() < columns.max(MIN_COLUMNS), "{line:?} in {columns} columns");
                }
            }
        }
    }

    #[test]
    fn breaking_loses_nothing() {
        let text: String = ('!'..'\u{800}').filter(|character| without_blanks(&character.to_string()).chars().count() == 1).collect();
        let shown: String = row(50, &text).lines().map(|line| line.chars().skip(super::GUTTER).collect::<String>()).collect();
        assert_eq!(shown, text);
    }

    #[test]
    fn blanks_are_seen() {
        for (text, shown) in [
            ("a b", "a b"),
            ("a  b", "a(␠×2)b"),
            (" a ", "(␠×1)a(␠×1)"),
            ("", ""),
            ("␠\u{a0}\u{2003}\u{3000}\u{2800}\t\u{1b}", "\\u{2420}\\u{a0}\\u{2003}\\u{3000}\\u{2800}\\u{9}\\u{1b}"),
        ] {
            assert_eq!(without_blanks(text), shown);
        }
    }

    #[test]
    fn a_cut_is_said_where_the_text_cannot() {
        let mut rows = Rows::new(80);
        assert!(!rows.row("tool", "… cut: 0 more characters", 5));
        assert_eq!(rows.text(), "  tool         … cut\n  tool       … cut: 19 more characters\n");
    }
}
