//! The terminal that controls this process, whatever standard input and output are.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};

use callgate::core::extension::PromptError;
use rustix::termios::{QueueSelector, tcflush, tcgetwinsize};

use crate::cli::output;

/// Columns of a terminal that does not say.
const USUAL_COLUMNS: usize = 80;
/// Bytes that an answer may have.
const MAX_ANSWER_BYTES: usize = 100;
/// What Ctrl-C and Ctrl-D are to a program where the terminal does not act on them itself.
const INTERRUPT: u8 = 3;
const END: u8 = 4;

/// The controlling terminal.
pub(super) struct Tty(File);

impl Tty {
    pub(super) fn open() -> Result<Self, PromptError> {
        let file = OpenOptions::new().read(true).write(true).open("/dev/tty").map_err(|_| {
            output::say(&"callgate: a person must approve this call, and there is no terminal to ask on; run it in one");
            PromptError::Unavailable
        })?;
        Ok(Self(file))
    }

    /// How wide it is now.
    pub(super) fn columns(&self) -> usize {
        let known = tcgetwinsize(&self.0).ok().map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0);
        known.unwrap_or(USUAL_COLUMNS)
    }

    /// Shows lines, each from the left margin, also where another program has told the terminal not to go there by itself.
    pub(super) fn show(&mut self, text: &str) -> Result<(), PromptError> {
        self.0.write_all(text.replace('\n', "\r\n").as_bytes()).map_err(failed)
    }

    /// Asks for one line. What was typed before is no answer: all that it is about must be shown already, and nothing is held back.
    pub(super) fn answer(&mut self, question: &str) -> Result<String, PromptError> {
        tcflush(&self.0, QueueSelector::IFlush).map_err(|error| failed(error.into()))?;
        self.show(question)?;
        let line = self.line()?;
        let answer = String::from_utf8_lossy(&line).to_lowercase();
        Ok(if line.len() > MAX_ANSWER_BYTES { answer } else { answer.trim().to_owned() })
    }

    /// Reads to the end of a line, byte for byte, so that nothing of the next is taken. Of one that is too long to be an answer, a
    /// byte more than an answer may have is kept.
    fn line(&mut self) -> Result<Vec<u8>, PromptError> {
        let mut line = Vec::new();
        let mut byte = [0];
        loop {
            match self.0.read_exact(&mut byte) {
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Err(PromptError::Unanswered),
                read => read.map_err(failed)?,
            }
            match byte {
                [b'\n' | b'\r'] => return Ok(line),
                [INTERRUPT | END] => return Err(PromptError::Unanswered),
                [byte] if line.len() <= MAX_ANSWER_BYTES => line.push(byte),
                _ => {}
            }
        }
    }
}

fn failed(error: std::io::Error) -> PromptError {
    PromptError::Other(error.to_string())
}
