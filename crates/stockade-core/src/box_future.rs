//! [`BoxFuture`]: the future of a handler or of middleware.

use std::pin::Pin;

/// A future in a box, as handlers and middleware return it.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
