//! [`with_timeout`]: limits the time of a route.

use std::time::Duration;

use http::StatusCode;
use stockade_core::middleware::form;
use stockade_core::{IntoMiddleware, IntoSetting, Middleware, Next, Request, Setting};
use stockade_errors::ApiError;
use tokio::time::error::Elapsed;

/// Cancels the middleware and the handler behind it when they give no response
/// in this time, and answers 503 `Service Unavailable`, or another
/// [`status`](Timeout::status).
///
/// The future of the handler is dropped where it waits. A handler that computes
/// without waiting cannot be cancelled. The time ends with the head of the
/// response, so a stream may take longer.
///
/// The cancelled middleware cannot add headers to the answer. Middleware whose
/// headers it needs, such as [`with_cors`](crate::with_cors), has to come
/// before. The headers of the router and the `cors` and `rate_limit` of an
/// entry are there.
///
/// The middleware needs tokio's timer, which runs wherever the own server does.
/// A time of zero is a mistake, which is reported when the router is built.
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
/// The specification has no timeouts. A 408 would say that the client was too
/// slow to send its request, and clients and proxies repeat that at once (RFC
/// 9110, section 15.5.9). A 504 is the answer of a gateway about another
/// server.
pub fn with_timeout(limit: Duration) -> Timeout {
    Timeout { limit, status: StatusCode::SERVICE_UNAVAILABLE.as_u16() }
}

/// The middleware of [`with_timeout`], and the `timeout` of an entry.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[must_use = "it limits nothing until a route or a router has it"]
pub struct Timeout {
    limit: Duration,
    status: u16,
}

impl Timeout {
    /// Sets the status of the answer: 408, 503 or 504. Any other one is a
    /// mistake, which is reported when the router is built. Default: 503.
    ///
    /// With 408 the answer closes a connection of HTTP/1, as the answer to a
    /// request that came too slowly does, and it is logged at debug level and
    /// not as an error.
    pub fn status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// Returns the error of a route that took too long.
    #[cold]
    fn error(self, elapsed: Elapsed) -> ApiError {
        let error = match self.status {
            // Its text is sent, and the time is not the client's business.
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
            doc.may_respond(self.status, "The answer takes too long");
            if self.limit.is_zero() {
                doc.issue("a timeout must not be 0");
            }
            if !matches!(self.status, 408 | 503 | 504) {
                doc.issue(format!(
                    "a timeout is answered with 408, 503 or 504, and not with {}",
                    self.status
                ));
            }
        })
    }
}
