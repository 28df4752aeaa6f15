//! `fail`: fails a test.

use std::fmt::Display;

/// Fails the test with this message, at the line of the caller.
///
/// # Panics
/// Always.
#[cold]
#[track_caller]
#[expect(clippy::panic, reason = "this is how an assertion of a test fails")]
pub fn fail(message: impl Display) -> ! {
    panic!("{message}")
}

/// Returns the value, or fails the test.
///
/// # Panics
/// If the result is an error.
#[track_caller]
pub fn or_fail<T, E: Display>(result: Result<T, E>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => fail(error),
    }
}
