//! What a test says and sees beside the call itself. Each test's thread has its own.

use std::cell::RefCell;
use std::collections::VecDeque;

use crate::Verdict;
use crate::log::Level;
use crate::prompt::Unanswered;

#[derive(Default)]
struct Record {
    lines: Vec<(Level, String)>,
    notes: Vec<String>,
    prompts: Vec<(String, String)>,
    answers: VecDeque<Result<Verdict, Unanswered>>,
}

thread_local! {
    static RECORD: RefCell<Record> = RefCell::default();
}

/// Configures the plugin with what its `configure` would keep.
pub fn configured<T: 'static>(settings: T) {
    crate::settings::keep(settings);
}

/// What the person says to the next prompts. Without an answer left, there is nobody to ask.
pub fn answer_prompts(answers: impl IntoIterator<Item = Result<Verdict, Unanswered>>) {
    RECORD.with_borrow_mut(|record| record.answers = answers.into_iter().collect());
}

/// The prompts so far, headline and details; and forgets them.
pub fn prompts() -> Vec<(String, String)> {
    RECORD.with_borrow_mut(|record| std::mem::take(&mut record.prompts))
}

/// The notes so far; and forgets them.
pub fn notes() -> Vec<String> {
    RECORD.with_borrow_mut(|record| std::mem::take(&mut record.notes))
}

/// The lines logged so far; and forgets them.
pub fn lines() -> Vec<(Level, String)> {
    RECORD.with_borrow_mut(|record| std::mem::take(&mut record.lines))
}

pub(crate) fn prompted(headline: &str, details: &str) -> Result<Verdict, Unanswered> {
    RECORD.with_borrow_mut(|record| {
        record.prompts.push((headline.to_owned(), details.to_owned()));
        record.answers.pop_front().unwrap_or(Err(Unanswered::Unavailable))
    })
}

pub(crate) fn noted(text: &str) {
    RECORD.with_borrow_mut(|record| record.notes.push(text.to_owned()));
}

pub(crate) fn logged_line(level: Level, message: &str) {
    RECORD.with_borrow_mut(|record| record.lines.push((level, message.to_owned())));
}
