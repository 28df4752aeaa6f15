//! `catch_panic`, `CatchPanic`: convert a panic of the application to an error.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::ApiError;

/// Calls a function of the application, and converts a panic to a 500.
///
/// After a panic, the caller must not read data that `call` changes, because
/// the change may be incomplete.
///
/// # Errors
/// Fails if `call` panics, with the message `panicked: ` and the panic message.
/// A panic with an [`ApiError`] of 5xx as its payload fails with this error, so
/// its status and source are not lost. Clients see only the status, as for each
/// 5xx.
pub fn catch_panic<T>(call: impl FnOnce() -> T) -> Result<T, ApiError> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|panic| panicked(panic.as_ref()))
}

/// Calls a poll function of the application, and returns a panic as an error
/// like [`catch_panic`].
///
/// Use it for streams and bodies, and [`CatchPanic`] for futures.
pub fn catch_panic_in_poll<T>(poll: impl FnOnce() -> Poll<T>) -> Poll<Result<T, ApiError>> {
    match catch_panic(poll) {
        Ok(polled) => polled.map(Ok),
        Err(panic) => Poll::Ready(Err(panic)),
    }
}

/// A future of the application that returns a panic as an error like
/// [`catch_panic`].
///
/// Pin a future that is not `Unpin` first: `CatchPanic::new(pin!(future))`.
#[derive(Debug)]
pub struct CatchPanic<F>(F);

impl<F: Future + Unpin> CatchPanic<F> {
    /// Wraps a future. It must not be polled again after a panic.
    pub fn new(future: F) -> Self {
        Self(future)
    }
}

impl<F: Future + Unpin> Future for CatchPanic<F> {
    type Output = Result<F::Output, ApiError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        catch_panic_in_poll(|| Pin::new(&mut self.0).poll(cx))
    }
}

/// Returns the error for a panic, with the panic message if there is one.
#[cold]
fn panicked(panic: &(dyn Any + Send)) -> ApiError {
    if let Some(error) = panic.downcast_ref::<ApiError>().filter(|error| error.status() >= 500) {
        return error.clone();
    }
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    ApiError::new(500, format!("panicked: {}", text.unwrap_or("no message")))
}

#[cfg(test)]
mod tests {
    use std::panic::panic_any;
    use std::pin::pin;
    use std::task::Waker;

    use super::*;

    #[track_caller]
    fn check(call: impl FnOnce() -> i32, expected: Result<i32, &str>) {
        let outcome = catch_panic(call);
        let outcome = outcome.as_ref().copied().map_err(ApiError::message);
        assert_eq!(outcome, expected);
    }

    #[test]
    fn keeps_the_panic_message() {
        check(|| 7, Ok(7));
        check(|| panic!("plain"), Err("panicked: plain"));
        let number = 7;
        check(|| panic!("number {number}"), Err("panicked: number 7"));
        check(|| panic_any(7), Err("panicked: no message"));
        assert_eq!(catch_panic(|| panic!("plain")).map(|()| 0).unwrap_err().status(), 500);
    }

    #[test]
    fn keeps_an_error_of_the_server() {
        let failed = |status| catch_panic(|| panic_any(ApiError::new(status, "lost"))).map(|()| 0);
        let error = failed(503).unwrap_err();
        assert_eq!((error.status(), error.message()), (503, "lost"));
        let error = failed(404).unwrap_err();
        assert_eq!((error.status(), error.message()), (500, "panicked: no message"));
    }

    #[test]
    fn a_panicking_future_resolves_to_an_error() {
        let mut cx = Context::from_waker(Waker::noop());
        let mut polls = 0;
        let future = std::future::poll_fn(|_| {
            polls += 1;
            match polls {
                1 => Poll::<i32>::Pending,
                _ => panic!("in poll {polls}"),
            }
        });
        let future = pin!(future);
        let mut caught = CatchPanic::new(future);
        assert!(Pin::new(&mut caught).poll(&mut cx).is_pending());
        let Poll::Ready(Err(error)) = Pin::new(&mut caught).poll(&mut cx) else {
            panic!("the panic is not an error")
        };
        assert_eq!((error.status(), error.message()), (500, "panicked: in poll 2"));
        let mut ready = CatchPanic::new(std::future::ready(7));
        assert!(matches!(Pin::new(&mut ready).poll(&mut cx), Poll::Ready(Ok(7))));
    }
}
