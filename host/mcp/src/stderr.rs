//! A server's standard error: always read, so that it cannot block, and its end kept for the message when the server dies.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt};

use crate::limits::STDERR_TAIL;

/// The last of what a server wrote to its standard error.
#[derive(Clone, Debug, Default)]
pub(crate) struct StderrTail(Arc<Mutex<VecDeque<u8>>>);

impl StderrTail {
    /// Reads until the stream ends. What it says is kept, and never logged: it is the server's text (T22).
    pub(crate) async fn drain(self, mut stream: impl AsyncRead + Unpin) {
        let mut chunk = [0; 4096];
        while let Ok(read) = stream.read(&mut chunk).await
            && read > 0
        {
            self.keep(chunk.get(..read).unwrap_or_default());
        }
    }

    fn keep(&self, chunk: &[u8]) {
        let mut tail = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend(chunk);
        let over = tail.len().saturating_sub(STDERR_TAIL);
        tail.drain(..over);
    }

    /// Its last words for a message: on one line, with what cannot be printed shown as escapes; none where it said nothing.
    pub(crate) fn last_words(&self) -> Option<String> {
        let bytes: Vec<u8> = self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        let shown = shown(text.trim());
        (!shown.is_empty()).then_some(shown)
    }
}

/// A server's text on one line, with everything that a terminal does not simply print shown as an escape.
pub(crate) fn shown(text: &str) -> String {
    text.chars()
        .flat_map(|character| match character {
            '"' | '\'' | '\\' => vec![character],
            other => other.escape_debug().collect(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::StderrTail;
    use crate::limits::STDERR_TAIL;

    #[tokio::test]
    async fn keeps_the_end_and_escapes_it() {
        let tail = StderrTail::default();
        let text = format!("{}\x1b[31mno \"such\"\u{202e} file\n", "x".repeat(3 * STDERR_TAIL));
        tail.clone().drain(text.as_bytes()).await;
        let words = tail.last_words().unwrap();
        assert!(words.ends_with("\\u{1b}[31mno \"such\"\\u{202e} file"), "{words}");
        assert!(words.len() < STDERR_TAIL + 100);
        assert_eq!(StderrTail::default().last_words(), None);
    }
}
