//! [`UserLifetime`]: the end of a login, for responses that outlive their request.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::BoxFuture;

/// A future that ends when the credentials of a request are no longer valid:
/// the token expires or is revoked, the session ends, or the API key or the
/// user is removed.
///
/// WebSockets and event streams end at that moment by themselves. A protocol
/// after an [`Upgrade`](crate::upgrade::Upgrade) ends at most 5 seconds later.
/// Take this argument and wait for it if a handler keeps another resource open
/// for a user, or must end its protocol cleanly.
///
/// It never ends if authentication found no user, or if the route may outlive
/// its user. It must be polled on a tokio runtime with time enabled.
///
/// ```
/// use stockade::extract::UserLifetime;
///
/// async fn watch(lifetime: UserLifetime) -> &'static str {
///     // In a program: next to the work, in `tokio::select!`.
///     lifetime.await;
///     "logged out"
/// }
/// # let _ = watch;
/// ```
#[must_use = "futures do nothing unless polled"]
pub struct UserLifetime {
    pub(crate) ended: BoxFuture<'static, ()>,
}

impl UserLifetime {
    /// Returns the lifetime of a user who is never logged out.
    pub(crate) fn endless() -> Self {
        Self { ended: Box::pin(std::future::pending()) }
    }
}

impl Future for UserLifetime {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.ended.as_mut().poll(cx)
    }
}

impl fmt::Debug for UserLifetime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UserLifetime")
    }
}
