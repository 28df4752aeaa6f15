//! [`with_logging`]: an access log line for each request and each response.
// Spec: Middleware helpers › `withLogging`.

use serde::{Deserialize, Deserializer};
use stockade_core::middleware::form;
use stockade_core::{IntoMiddleware, Middleware, Next, Request};

use crate::described::unseen;
use crate::observation::{AccessLogLine, Observation};

/// Logs each request at debug level when it arrives, and each response at info
/// level, with the target `stockade::access`.
///
/// This middleware is for single routes and for other hosts. The access log of
/// a router (`RouterOptions::access_log`) writes the same line for every
/// request, including requests that no middleware sees. If both are on, there
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
/// It contains the method, the pattern of the route, the status, the time until
/// the last byte, the client and the request id. `-` means an unknown route or
/// client, and a request without an id has no brackets. `aborted`, after the
/// status or instead of it, means that the client did not receive the whole
/// response. With [`path`](AccessLog::path) the path follows the pattern: `GET
/// /users/:id (/users/7) 200 …`.
///
/// The key-values of the line contain the same data and more, for structured
/// logging (`examples/json_logs.rs`):
///
/// | key | value |
/// |---|---|
/// | `method` | the method, as it was sent |
/// | `route` | the pattern, such as `/users/:id` |
/// | `path` | the path, only with [`path`](AccessLog::path) |
/// | `status` | the status of the response |
/// | `duration_us` | microseconds until the last byte of the response was sent |
/// | `bytes` | bytes of the response body that were sent |
/// | `client` | the client's address, also behind trusted proxies |
/// | `request_id` | the request id |
/// | `trace_id` | the id in a valid `traceparent` |
/// | `aborted` | true if the client disconnected before it had the whole response, or if the response ended with an error; an event stream that a shutdown ends is complete |
///
/// A call of a tool for AI agents has a second line, with the route of the tool
/// and the same request id. It ends with `tool=orders_show` and has two further
/// keys: `tool`, and `mcp_client`, at most 64 characters of the name and the
/// version that the client claims.
///
/// An unknown value is null. A complete response gets its line immediately; a
/// stream gets its line when it ends. The line of a request has `method`,
/// `route`, `path`, `client` and `request_id`.
///
/// Without [`with_request_id`](crate::with_request_id), `request_id` is the
/// header `X-Request-Id`, if it consists of up to 128 letters, digits and
/// `-_.:+/=`. Characters that could begin a new line or control a terminal are
/// escaped.
///
/// Queries, other headers and bodies are never logged, and paths only on
/// request, because they may contain secrets. If the logger ignores the info
/// level, no work is done at all.
///
/// ```
/// use stockade::Middleware;
/// use stockade::middleware::with_logging;
///
/// assert_eq!(Middleware::new(with_logging().path(true)).name(), "with_logging");
/// ```
// Spec: Middleware helpers › `withLogging`.
#[doc(alias = "withLogging")]
pub fn with_logging() -> AccessLog {
    AccessLog { is_on: true, path: false }
}

/// The middleware of [`with_logging`], and the option `access_log` of a router.
///
/// In a file it is `true`, `false`, or an object with `path`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[must_use = "it does nothing until a route or a router uses it"]
pub struct AccessLog {
    is_on: bool,
    path: bool,
}

impl AccessLog {
    /// Sets whether the path of a request is logged in addition to the pattern
    /// of its route. The path is logged as the client sent it, without the
    /// query. Default: false, because a path may contain secrets and personal
    /// names.
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

/// The access log of [`with_logging`], or none.
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
