//! [`fail`]: the one place where a test is ended.

use std::fmt::Display;

/// Ends the test with this message, at the line of whoever called.
#[cold]
#[track_caller]
#[expect(clippy::panic, reason = "this is how an assertion of a test fails")]
pub(crate) fn fail(message: impl Display) -> ! {
    panic!("{message}")
}

/// The value, or the end of the test.
#[track_caller]
pub(crate) fn or_fail<T, E: Display>(result: Result<T, E>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => fail(error),
    }
}
