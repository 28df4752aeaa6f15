//! The command `lock`, which prints a lock or compares it with a file.

use std::fs;
use std::time::SystemTime;

use stockade_errors::BoxError;
use stockade_map::lock::{Lock, LockError};
use stockade_routing::App;

/// The file that is compared where none is named.
const FILE: &str = "routes.lock";

/// Returns the lock of an application.
pub(crate) fn print(app: &App) -> Result<String, BoxError> {
    Ok(Lock::of(&app.route_map())?.to_string())
}

/// Compares the lock of an application with a file.
///
/// # Errors
/// When they differ: all changes. When the file is no lock.
pub(crate) fn check(app: &App, path: Option<&str>) -> Result<String, BoxError> {
    let path = path.unwrap_or(FILE);
    let lock = Lock::of(&app.route_map())?;
    let text =
        fs::read_to_string(path).map_err(|error| LockError::new(format!("{path}: {error}")))?;
    let text = text.replace("\r\n", "\n");
    let locked = Lock::read(&text).map_err(|error| LockError::new(format!("{path}: {error}")))?;
    if text == lock.to_string() {
        return Ok(format!("the routes are as {path} says\n"));
    }
    let changes = locked.changes_to(&lock, SystemTime::now());
    if changes.is_empty() {
        let message = format!("{path} says the same in another form: write it anew");
        return Err(LockError::new(message).into());
    }
    Err(LockError::new(format!("the routes are not as {path} says\n\n{changes}")).into())
}
