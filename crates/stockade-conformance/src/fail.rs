//! [`fail`]: fails a test.

use std::fmt::Display;

/// Fails the test with this message, at the line of the caller.
#[cold]
#[track_caller]
#[expect(clippy::panic, reason = "this is how an assertion of a test fails")]
pub(crate) fn fail(message: impl Display) -> ! {
    panic!("{message}")
}

/// Returns the value, or fails the test.
#[track_caller]
pub(crate) fn or_fail<T, E: Display>(result: Result<T, E>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => fail(error),
    }
}
