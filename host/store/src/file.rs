//! Files that only their owner may read: grants say who may do what, and a log who did what.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use callgate_core::store::StoreError;

/// Opens a file to append to, made with mode 0600 in a folder made with mode 0700, where they are absent. A file that others may
/// read is closed to them.
pub(crate) fn open_private(path: &Path) -> Result<File, StoreError> {
    let failed = |error: io::Error| StoreError(format!("`{}` cannot be opened: {error}; check the folder and who owns it", path.display()));
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
    }
    let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() {
        return Err(failed(io::Error::other("it is no regular file")));
    }
    if metadata.permissions().mode() & 0o077 != 0 {
        file.set_permissions(Permissions::from_mode(0o600)).map_err(failed)?;
    }
    Ok(file)
}
