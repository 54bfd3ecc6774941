//! What outlives the process: grants and pins in one SQLite file, and a plain log of decisions.
//!
//! A store that cannot answer, or cannot write what it must, says so, and the call is denied; nothing is answered from a cache.

mod clock;
mod decision_log;
mod event_line;
mod file;
mod grant_row;
mod grants;
mod log_writer;
mod pins;
mod schema;
mod sqlite;

pub use decision_log::DecisionLog;
pub use sqlite::{SqliteStore, default_path};
