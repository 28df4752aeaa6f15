//! [`with_timeout`]: limits the time of a route.

use std::time::Duration;

use http::StatusCode;
use stockade_core::middleware::form;
use stockade_core::{IntoMiddleware, IntoSetting, Middleware, Next, Request, Setting};
use stockade_errors::ApiError;
use tokio::time::error::Elapsed;

/// Cancels the inner middleware and the handler if they do not respond within
/// this time. The response is then 503 `Service Unavailable`, or another
/// [`status`](Timeout::status).
///
/// The future of the handler is dropped at an await point. A handler that
/// computes without waiting cannot be cancelled. The time ends with the head of
/// the response, so a stream may take longer.
///
/// The cancelled middleware cannot add headers to the response. Put middleware
/// with necessary headers, such as [`with_cors`](crate::with_cors), before the
/// timeout. The headers of the router, and of `cors` and `rate_limit` in the
/// route options, are always added.
///
/// The middleware needs tokio's timer, which the stockade server always runs. A
/// time of zero is a configuration error.
///
/// ```
/// use std::time::Duration;
///
/// use stockade::Middleware;
/// use stockade::middleware::with_timeout;
///
/// let patient = with_timeout(Duration::from_secs(5)).status(504);
/// assert_eq!(Middleware::new(patient).name(), "with_timeout");
/// ```
///
/// # Beyond the spec
///
/// The specification does not define timeouts. A 408 would mean that the client
/// sent its request too slowly, and clients and proxies repeat such requests
/// immediately (RFC 9110, section 15.5.9). A 504 is the response of a gateway
/// about another server.
pub fn with_timeout(limit: Duration) -> Timeout {
    Timeout { limit, status: StatusCode::SERVICE_UNAVAILABLE.as_u16() }
}

/// The middleware of [`with_timeout`], and the route option `timeout`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[must_use = "it does nothing until a route or a router uses it"]
pub struct Timeout {
    limit: Duration,
    status: u16,
}

impl Timeout {
    /// Sets the status of the response: 408, 503 or 504. Any other status is a
    /// configuration error. Default: 503.
    ///
    /// A 408 response closes an HTTP/1 connection, like the response to a
    /// request that arrived too slowly. It is logged at debug level rather than
    /// as an error.
    pub fn status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// Returns the error of a route that took too long.
    #[cold]
    fn error(self, elapsed: Elapsed) -> ApiError {
        let error = match self.status {
            // The text is sent, and the client need not know the time limit.
            408 => ApiError::new(408, "Request Timeout"),
            status => ApiError::new(status, format!("no response within {:?}", self.limit)),
        };
        error.with_source(elapsed)
    }
}

/// A timeout with the status 503.
impl From<Duration> for Timeout {
    fn from(limit: Duration) -> Self {
        with_timeout(limit)
    }
}

impl IntoSetting<Self> for Timeout {
    fn into_setting(self) -> Setting<Self> {
        Setting::Value(self)
    }
}

impl IntoSetting<Timeout> for Duration {
    fn into_setting(self) -> Setting<Timeout> {
        with_timeout(self).into_setting()
    }
}

impl IntoMiddleware<form::Ready> for Timeout {
    fn into_middleware(self) -> Middleware {
        let around = move |req: Request, next: Next| async move {
            match tokio::time::timeout(self.limit, next.try_run(req)).await {
                Ok(outcome) => outcome,
                Err(elapsed) => Err(self.error(elapsed)),
            }
        };
        Middleware::new(around).named("with_timeout").describing(move |doc| {
            doc.times_out(self.limit, self.status);
            doc.may_respond(self.status, "The response takes too long");
            if self.limit.is_zero() {
                doc.issue("a timeout must not be 0");
            }
            if !matches!(self.status, 408 | 503 | 504) {
                doc.issue(format!(
                    "the status of a timeout must be 408, 503 or 504, found {}",
                    self.status
                ));
            }
        })
    }
}
