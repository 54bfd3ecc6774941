//! Lines of a stream, each within a bound. Nothing is allocated past it, however long the line.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// Reads lines.
pub(crate) struct Lines<R> {
    stream: R,
    line: Vec<u8>,
    limit: usize,
    first: bool,
}

/// What came.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A line without its end.
    Text(Vec<u8>),
    /// More than the bound without an end. The stream cannot be read on.
    TooLong,
    /// No more. A last line without an end is no line: nobody knows whether it is whole.
    End,
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    pub(crate) fn new(stream: R, limit: usize) -> Self {
        Self { stream, line: Vec::new(), limit, first: true }
    }

    /// The next line. May be dropped while waiting and called again: nothing is lost.
    pub(crate) async fn next(&mut self) -> io::Result<Line> {
        loop {
            let chunk = self.stream.fill_buf().await?;
            if chunk.is_empty() {
                return Ok(Line::End);
            }
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let part = chunk.get(..end.unwrap_or(chunk.len())).unwrap_or_default();
            if self.line.len() + part.len() > self.limit {
                return Ok(Line::TooLong);
            }
            self.line.extend_from_slice(part);
            let used = part.len() + usize::from(end.is_some());
            self.stream.consume(used);
            if end.is_some() {
                return Ok(Line::Text(self.take()));
            }
        }
    }

    fn take(&mut self) -> Vec<u8> {
        let mut line = std::mem::take(&mut self.line);
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        // Windows runtimes write a byte order mark before their first line.
        if std::mem::take(&mut self.first) && line.starts_with(b"\xef\xbb\xbf") {
            line.drain(..3);
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::{Line, Lines};

    #[tokio::test]
    async fn lines_are_cut_and_bounded() {
        let text = |text: &str| Line::Text(text.as_bytes().to_vec());
        for (input, expected) in [
            ("a\nb\n", vec![text("a"), text("b"), Line::End]),
            ("\u{feff}a\r\n\u{feff}b\n", vec![text("a"), text("\u{feff}b"), Line::End]),
            ("a\nno end", vec![text("a"), Line::End]),
            ("12345678\n123456789\n", vec![text("12345678"), Line::TooLong]),
            ("123456789", vec![Line::TooLong]),
        ] {
            let mut lines = Lines::new(tokio::io::BufReader::with_capacity(3, input.as_bytes()), 8);
            for line in expected {
                assert_eq!(lines.next().await.unwrap(), line, "{input:?}");
            }
        }
    }
}
