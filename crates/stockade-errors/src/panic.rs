//! [`catch_panic`]: makes an error of a panic of the application.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::ApiError;

/// Calls a function of the application, and makes a 500 of its panic.
///
/// After a panic the caller must not read data that `call` changes, because the
/// change may be incomplete.
///
/// # Errors
/// Fails for a panic, with the message `panicked: ` and the text of the panic.
pub fn catch_panic<T>(call: impl FnOnce() -> T) -> Result<T, ApiError> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|panic| panicked(panic.as_ref()))
}

/// Makes an error of a panic, with its text if it has one.
#[cold]
fn panicked(panic: &(dyn Any + Send)) -> ApiError {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    ApiError::new(500, format!("panicked: {}", text.unwrap_or("no message")))
}

#[cfg(test)]
mod tests {
    use std::panic::panic_any;

    use super::*;

    #[track_caller]
    fn check(call: impl FnOnce() -> i32, expected: Result<i32, &str>) {
        let outcome = catch_panic(call);
        let outcome = outcome.as_ref().copied().map_err(ApiError::message);
        assert_eq!(outcome, expected);
    }

    #[test]
    fn the_text_of_a_panic_is_kept() {
        check(|| 7, Ok(7));
        check(|| panic!("plain"), Err("panicked: plain"));
        let number = 7;
        check(|| panic!("number {number}"), Err("panicked: number 7"));
        check(|| panic_any(7), Err("panicked: no message"));
        assert_eq!(catch_panic(|| panic!("plain")).map(|()| 0).unwrap_err().status(), 500);
    }
}
