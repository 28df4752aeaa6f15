//! [`OpenFile`]: the file of a database, and if it still stands at its path.

use std::io;
use std::path::{Path, PathBuf};

use crate::SqlError;

/// The file that was opened, by which a file that was moved is found out.
///
/// SQLite goes on to write to a file without a name, and nothing of that is there
/// after a restart.
pub(super) struct OpenFile {
    path: PathBuf,
    identity: Option<Identity>,
}

/// The number of the device, and that of the file on it.
type Identity = (u64, u64);

impl OpenFile {
    /// Notes the file that stands at a path.
    pub(super) fn at(path: &Path) -> Result<Self, SqlError> {
        let identity = identity(path).map_err(SqlError::failed)?;
        Ok(Self { path: path.to_owned(), identity })
    }

    /// Fails unless the same file stands at the path.
    pub(super) fn check(&self) -> Result<(), SqlError> {
        match identity(&self.path) {
            Ok(now) if now == self.identity => Ok(()),
            Ok(_) => Err(self.lost("another file stands in its place")),
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

/// Elsewhere a file that is open cannot be moved, or nothing tells it.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "as on Unix")]
fn identity(_: &Path) -> io::Result<Option<Identity>> {
    Ok(None)
}
