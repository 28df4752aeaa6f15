//! [`with_logging`]: a line in the log for each request and each response.
//!
//! Spec: Middleware helpers › `withLogging`.

use serde::{Deserialize, Deserializer};
use stockade_core::middleware::form;
use stockade_core::{IntoMiddleware, Middleware, Next, Request};

use crate::described::unseen;
use crate::observation::{AccessLogLine, Observation};

/// Logs each request when it comes, at debug level, and each response, at info
/// level, under the target `stockade::access`.
///
/// This middleware is for single routes and for other hosts. The access log of
/// a router (`RouterOptions::access_log`) writes the same line for every
/// request, also for those that no middleware sees. Where both are on, there
/// are two lines.
///
/// # The line
///
/// Any logger shows the text of a line:
///
/// ```text
/// GET /users/:id 200 1.374ms 192.0.2.7 [7f3a]
/// ```
///
/// It has the method, the pattern of the route, the status, the time until the
/// last byte, the client and the id of the request. `-` stands for a route or a
/// client that is not known, and a request without an id has no brackets. After
/// the status, or in its place, `aborted` says that the client has not got the
/// whole answer. With [`path`](AccessLog::path) the path follows the pattern:
/// `GET /users/:id (/users/7) 200 …`.
///
/// The same and more is in the key-values of the line, for a logger that writes
/// JSON (`examples/json_logs.rs`):
///
/// | key | value |
/// |---|---|
/// | `method` | the method, as it was sent |
/// | `route` | the pattern, such as `/users/:id` |
/// | `path` | the path, with [`path`](AccessLog::path) alone |
/// | `status` | the status of the answer |
/// | `duration_us` | microseconds until the last byte of the answer was handed over |
/// | `bytes` | bytes of the answer's body that were handed over |
/// | `client` | the address of the client, also behind trusted proxies |
/// | `request_id` | the id of the request |
/// | `trace_id` | the id in a valid `traceparent` |
/// | `aborted` | true if the client left before it had the whole response, or the response broke off; a stream of events that a shutdown ends is whole |
///
/// A value that is not known is null. An answer that is whole when it is made
/// gets its line then; a stream gets its line when it ends. The line of a
/// request has `method`, `route`, `path`, `client` and `request_id`.
///
/// Without [`with_request_id`](crate::with_request_id), `request_id` is the
/// header `X-Request-Id`, if that is up to 128 letters, digits and `-_.:+/=`.
/// Characters that could begin a line of their own, or steer a terminal, are
/// written as escapes.
///
/// Queries, other headers and bodies are never logged, and paths only when they
/// are asked for: they may hold secrets. If the logger does not want the info
/// level, nothing is done at all.
///
/// ```
/// use stockade::Middleware;
/// use stockade::middleware::with_logging;
///
/// assert_eq!(Middleware::new(with_logging().path(true)).name(), "with_logging");
/// ```
///
/// Spec: Middleware helpers › `withLogging`.
#[doc(alias = "withLogging")]
pub fn with_logging() -> AccessLog {
    AccessLog { is_on: true, path: false }
}

/// The middleware of [`with_logging`], and the option `access_log` of a router.
///
/// A file has `true`, `false`, or an object with `path`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[must_use = "it logs nothing until a route or a router has it"]
pub struct AccessLog {
    is_on: bool,
    path: bool,
}

impl AccessLog {
    /// Logs the path of a request beside the pattern of its route if true. It
    /// is as the client sent it, without the query. Default: false, because a
    /// path may hold secrets and names of people.
    pub fn path(mut self, shows: bool) -> Self {
        self.path = shows;
        self
    }

    /// Returns true if there is a line for each request.
    pub(crate) fn is_on(self) -> bool {
        self.is_on
    }

    pub(crate) fn shows_path(self) -> bool {
        self.path
    }
}

/// An access log as [`with_logging`] makes it, or none.
impl From<bool> for AccessLog {
    fn from(is_on: bool) -> Self {
        Self { is_on, ..with_logging() }
    }
}

impl IntoMiddleware<form::Ready> for AccessLog {
    fn into_middleware(self) -> Middleware {
        let around = move |req: Request, next: Next| async move {
            if !self.is_on || !AccessLogLine::is_wanted() {
                return next.try_run(req).await;
            }
            let line = AccessLogLine::of(&req, self);
            line.log_request();
            let observation = Observation::begin(req.method()).logging(Some(line));
            observation.observed(next.try_run(req).await)
        };
        Middleware::new(around).named("with_logging").describing(unseen)
    }
}

impl<'de> Deserialize<'de> for AccessLog {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        Ok(match AccessLogNotation::deserialize(source)? {
            AccessLogNotation::Switch(is_on) => is_on.into(),
            AccessLogNotation::Options(options) => with_logging().path(options.path),
        })
    }
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "true, false, or an object with path")]
enum AccessLogNotation {
    Switch(bool),
    Options(AccessLogOptions),
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct AccessLogOptions {
    path: bool,
}
