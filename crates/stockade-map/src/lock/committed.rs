//! [`CommittedLock`]: the comparison of a lock with the committed file.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::time::SystemTime;

use super::{Changes, Lock, LockError, RouterLocks};

/// The result of comparing a lock file with the lock of the routes.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq)]
pub enum CommittedLock {
    /// The file does not exist.
    Missing,
    /// The file contains the text of the lock.
    Same,
    /// The file describes the same routes with different text.
    OtherForm,
    /// The routes have changed.
    Changed(Changes),
}

impl Lock {
    /// Compares a file with this newer lock. `now` is compared with the
    /// `sunset` of routes. Windows line endings are not a difference.
    ///
    /// # Errors
    /// Fails if the file cannot be read, or if it is not a lock.
    #[doc(hidden)]
    pub fn compare_file(&self, path: &Path, now: SystemTime) -> Result<CommittedLock, LockError> {
        compare(path, &self.to_string(), &|text| Ok(Self::read(text)?.changes_to(self, now)))
    }
}

impl RouterLocks {
    /// Compares a file with these newer locks, like [`Lock::compare_file`].
    ///
    /// # Errors
    /// Fails if the file cannot be read, or if it is not a lock.
    #[doc(hidden)]
    pub fn compare_file(&self, path: &Path, now: SystemTime) -> Result<CommittedLock, LockError> {
        compare(path, &self.to_string(), &|text| Ok(Self::read(text)?.changes_to(self, now)))
    }
}

/// Compares a file with the text of newer locks. `changes` reads the text of
/// the file.
fn compare(
    path: &Path,
    current: &str,
    changes: &dyn Fn(&str) -> Result<Changes, LockError>,
) -> Result<CommittedLock, LockError> {
    let unreadable = |error: &dyn std::fmt::Display| {
        LockError::new(format!("cannot read {}: {error}", path.display()))
    };
    let text = match fs::read_to_string(path) {
        Ok(text) => text.replace("\r\n", "\n"),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(CommittedLock::Missing),
        Err(error) => return Err(unreadable(&error)),
    };
    let changes = changes(&text).map_err(|error| unreadable(&error))?;
    Ok(match changes.is_empty() {
        _ if text == current => CommittedLock::Same,
        true => CommittedLock::OtherForm,
        false => CommittedLock::Changed(changes),
    })
}
