//! [`with_timeout`]: limits the time of a route.

use std::time::Duration;

use stockade_core::{Middleware, Next, Request};
use stockade_errors::ApiError;

/// Cancels the middleware and the handler behind it when they give no response
/// in this time, and answers 503 `Service Unavailable`.
///
/// The future of the handler is dropped where it waits. A handler that computes
/// without waiting cannot be cancelled. The time ends with the head of the
/// response, so a stream may take longer.
///
/// The cancelled middleware cannot add headers to the 503. Middleware whose
/// headers the 503 needs, such as [`with_cors`](crate::with_cors), has to come
/// before. The headers of the router and the `cors` and `rate_limit` of an
/// entry are there.
///
/// The middleware needs tokio's timer, which runs wherever the own server does.
/// A time of zero is a mistake, which is reported when the router is built.
///
/// ```
/// use std::time::Duration;
///
/// use stockade::middleware::with_timeout;
///
/// assert_eq!(with_timeout(Duration::from_secs(5)).name(), "with_timeout");
/// ```
///
/// # Beyond the spec
///
/// The specification has no timeouts. A 408 would say that the client was too
/// slow to send its request, and clients and proxies repeat that at once (RFC
/// 9110, section 15.5.9). A 504 is the answer of a gateway about another
/// server.
#[must_use]
pub fn with_timeout(limit: Duration) -> Middleware {
    Middleware::new(move |req: Request, next: Next| async move {
        match tokio::time::timeout(limit, next.try_run(req)).await {
            Ok(outcome) => outcome,
            Err(elapsed) => {
                let text = format!("no response within {limit:?}");
                Err(ApiError::new(503, text).with_source(elapsed))
            }
        }
    })
    .named("with_timeout")
    .describing(move |doc| {
        if limit.is_zero() {
            doc.mistake("a timeout must not be 0");
        }
    })
}
