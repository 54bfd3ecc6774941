//! Questions on one terminal, one after the other: an answer to one must not be read by another.

use std::fs::{File, Metadata, create_dir_all, metadata, remove_file};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use callgate::core::extension::PromptError;
use callgate::store::default_path;
use rustix::process::getsid;

/// The right to ask on the controlling terminal, among all processes of this user. Given back when it is dropped or the process ends.
pub(super) struct Turn {
    path: PathBuf,
    _locked: File,
}

impl Turn {
    /// Waits for it. A session has one controlling terminal, and a terminal controls one session.
    pub(super) fn wait() -> Result<Self, PromptError> {
        let failed = |error: io::Error| PromptError::Other(format!("no turn at the terminal: {error}"));
        let no_folder = || PromptError::Other("neither XDG_STATE_HOME nor HOME is set".to_owned());
        let session = getsid(None).map_err(|error| failed(error.into()))?.as_raw_nonzero();
        let path = default_path().ok_or_else(no_folder)?.with_file_name(format!("terminal-{session}.lock"));
        Self::wait_for(path).map_err(failed)
    }

    fn wait_for(path: PathBuf) -> io::Result<Self> {
        path.parent().map_or(Ok(()), create_dir_all)?;
        loop {
            let file = File::options().create(true).append(true).open(&path)?;
            file.lock()?;
            // The one before has removed what it locked, and this may be that.
            if is_at(&file.metadata()?, &path) {
                return Ok(Self { path, _locked: file });
            }
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let _left_behind = remove_file(&self.path);
    }
}

fn is_at(file: &Metadata, path: &Path) -> bool {
    metadata(path).is_ok_and(|there| (there.dev(), there.ino()) == (file.dev(), file.ino()))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::Turn;

    #[test]
    fn only_one_has_the_turn() {
        let path = std::env::temp_dir().join(format!("callgate-turn-{}/terminal.lock", std::process::id()));
        let asking = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        let _turn = Turn::wait_for(path.clone()).unwrap();
                        assert_eq!(asking.fetch_add(1, Ordering::SeqCst), 0);
                        std::thread::sleep(Duration::from_micros(100));
                        asking.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert!(!path.exists(), "nothing is left behind");
        std::fs::remove_dir(path.parent().unwrap()).unwrap();
    }
}
