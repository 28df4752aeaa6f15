//! [`with_timeout`]: so long, and no longer.

use std::time::Duration;

use stockade_core::{Middleware, Next, Request};
use stockade_errors::ApiError;

/// Ends what comes after it when there is no response in this time, and answers
/// 503 `Service Unavailable`.
///
/// The future of the handler is dropped where it waits. What has begun is not
/// ended: the time is that until the head of the response, and a stream may
/// take longer. A handler that computes without waiting cannot be ended.
///
/// What comes after it has not answered, so the 503 has no header of it: what
/// must stand in that too, such as the rules of [`with_cors`](crate::with_cors),
/// comes before. The headers of the router and the `cors` and `rate_limit` of an
/// entry are there.
///
/// It needs tokio's timer, which runs wherever the own server does. No time at
/// all is a mistake, which is reported when the router is built.
///
/// ```
/// use std::time::Duration;
/// use stockade_middleware::with_timeout;
///
/// assert_eq!(with_timeout(Duration::from_secs(5)).name(), "with_timeout");
/// ```
///
/// # Beyond the spec
///
/// The specification has no timeouts. The status is 503 and not 408, which says
/// that the client was too slow to send its request, and which clients and
/// proxies therefore repeat at once (RFC 9110, section 15.5.9); and not 504,
/// which a gateway says of another server.
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
