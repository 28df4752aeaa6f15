//! [`BoxFuture`]: the future of a handler or middleware.

use std::pin::Pin;

/// A boxed future, as returned by handlers and middleware.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
