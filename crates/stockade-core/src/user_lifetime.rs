//! [`UserLifetime`]: the end of a login, for responses that outlive their request.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::BoxFuture;

/// A future that ends when the credentials of a request stop being valid: the token
/// expires or is revoked, the session ends, or the API key or the user is removed.
///
/// WebSockets and event streams end at that moment by themselves. A protocol behind an
/// [`Upgrade`](crate::upgrade::Upgrade) ends 5 seconds later at the latest. A handler
/// that keeps something else open for a user, or that ends its protocol properly, takes
/// this as an argument and waits for it.
/// It never ends if authentication found no user, or if the route is allowed to
/// outlive its user. Must be polled on a tokio runtime with time.
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
