//! The terminal that controls this process, whatever standard input and output are.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};

use callgate::core::extension::PromptError;
use rustix::termios::tcgetwinsize;

/// Columns of a terminal that does not say.
const USUAL_COLUMNS: usize = 80;

/// The controlling terminal.
pub(super) struct Tty {
    file: File,
    answers: BufReader<File>,
}

impl Tty {
    pub(super) fn open() -> Result<Self, PromptError> {
        let file = OpenOptions::new().read(true).write(true).open("/dev/tty").map_err(|_| {
            eprintln!("callgate: a person must approve this call, and there is no terminal to ask on; run it in one");
            PromptError::Unavailable
        })?;
        let answers = BufReader::new(file.try_clone().map_err(failed)?);
        Ok(Self { file, answers })
    }

    /// How wide it is now.
    pub(super) fn columns(&self) -> usize {
        let known = tcgetwinsize(&self.file).ok().map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0);
        known.unwrap_or(USUAL_COLUMNS)
    }

    pub(super) fn show(&mut self, text: &str) -> Result<(), PromptError> {
        self.file.write_all(text.as_bytes()).map_err(failed)
    }

    /// Asks for one line.
    pub(super) fn answer(&mut self, question: &str) -> Result<String, PromptError> {
        self.show(question)?;
        let mut line = String::new();
        let read = self.answers.read_line(&mut line).map_err(failed)?;
        if read == 0 { Err(PromptError::Unanswered) } else { Ok(line.trim().to_lowercase()) }
    }
}

fn failed(error: std::io::Error) -> PromptError {
    PromptError::Other(error.to_string())
}
