//! Checks that the database file is still at its path.

use std::io;
use std::path::{Path, PathBuf};

use crate::SqlError;

/// The opened file, which detects when the file at its path changes.
///
/// SQLite keeps writing to a removed file, and these changes are lost after a
/// restart.
pub(super) struct OpenFile {
    path: PathBuf,
    identity: Option<Identity>,
}

/// The device number and the file's inode number.
type Identity = (u64, u64);

impl OpenFile {
    /// Records the identity of the file at a path.
    pub(super) fn at(path: &Path) -> Result<Self, SqlError> {
        let identity = identity(path).map_err(SqlError::failed)?;
        Ok(Self { path: path.to_owned(), identity })
    }

    /// Returns an error unless the same file is at the path.
    pub(super) fn check(&self) -> Result<(), SqlError> {
        match identity(&self.path) {
            Ok(now) if now == self.identity => Ok(()),
            Ok(_) => Err(self.lost("another file has replaced it")),
            Err(error) => Err(self.lost(&error.to_string())),
        }
    }

    fn lost(&self, reason: &str) -> SqlError {
        let path = self.path.display();
        SqlError::unavailable(format!("{path}: the file was moved or removed ({reason})"))
    }
}

#[cfg(unix)]
fn identity(path: &Path) -> io::Result<Option<Identity>> {
    use std::os::unix::fs::MetadataExt as _;
    let file = path.metadata()?;
    Ok(Some((file.dev(), file.ino())))
}

/// On other systems an open file cannot be moved, or its identity is not
/// available.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "as on Unix")]
fn identity(_: &Path) -> io::Result<Option<Identity>> {
    Ok(None)
}
