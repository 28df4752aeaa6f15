//! [`with_logging`]: a line in the log for each request and each response.
//!
//! Spec: Middleware helpers › `withLogging`.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use http_body::Body as _;
use log::Level;
use log::kv::Value;
use stockade_core::{ErrorContext, Middleware, Next, Request, Response};
use stockade_errors::ApiError;

/// Logs each request when it comes, at debug level, and each response, at info
/// level, under the target `stockade::access`.
///
/// The key-values of both are `method`, `route` (the pattern, such as
/// `/users/:id`), `client` (the address) and `request_id` (the header
/// `X-Request-Id`, if it is up to 128 letters, digits and `-_.:+/=`); those of a
/// response also `status`, `duration_us` (microseconds until the head of the
/// response) and `bytes` (the length of the body, where it is known). What is
/// not known is null. If the logger does not want the info level, nothing is
/// done at all.
///
/// Neither paths nor queries, other headers or bodies are logged: they may hold
/// secrets. A request whose client goes away has no line of a response.
///
/// ```
/// use stockade_middleware::with_logging;
///
/// assert_eq!(with_logging().name(), "with_logging");
/// ```
///
/// Spec: Middleware helpers › `withLogging`.
#[doc(alias = "withLogging")]
#[must_use]
pub fn with_logging() -> Middleware {
    Middleware::new(|req: Request, next: Next| async move {
        if !log::log_enabled!(target: TARGET, Level::Info) {
            return next.try_run(req).await;
        }
        let started = Instant::now();
        let line = Line::of(&req);
        line.log_request();
        let outcome = next.try_run(req).await;
        line.log_response(&outcome, started.elapsed());
        outcome
    })
    .named("with_logging")
}

/// What is known of a request before it is handed on.
struct Line {
    context: ErrorContext,
    client: Option<IpAddr>,
    request_id: Option<String>,
}

impl Line {
    fn of(req: &Request) -> Self {
        let request_id = req.headers().get("x-request-id").and_then(|id| id.to_str().ok());
        Self {
            context: ErrorContext::of(req),
            client: req.client_ip(),
            request_id: request_id.filter(|id| is_plain(id)).map(str::to_owned),
        }
    }

    fn log_request(&self) {
        let (method, route) = self.place();
        log::debug!(
            target: TARGET,
            method = method,
            route = route,
            client = self.client.as_ref().map(Value::from_display),
            request_id = self.request_id.as_deref();
            "{method} {route}"
        );
    }

    fn log_response(&self, outcome: &Result<Response, ApiError>, duration: Duration) {
        let (method, route) = self.place();
        let (status, bytes) = match outcome {
            Ok(response) => (response.status().as_u16(), response.body().size_hint().exact()),
            Err(error) => (error.status(), None),
        };
        log::info!(
            target: TARGET,
            method = method,
            route = route,
            status = status,
            duration_us = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX),
            bytes = bytes,
            client = self.client.as_ref().map(Value::from_display),
            request_id = self.request_id.as_deref();
            "{method} {route} {status}"
        );
    }

    fn place(&self) -> (&str, &str) {
        (self.context.method().as_str(), self.context.route().unwrap_or("-"))
    }
}

/// Whether an id can be nothing but an id: a client wrote it.
fn is_plain(id: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:+/=".contains(&byte);
    id.len() <= MAX_ID_BYTES && !id.is_empty() && id.bytes().all(is_plain)
}

const TARGET: &str = "stockade::access";
const MAX_ID_BYTES: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_short_and_plain() {
        for id in ["0af7651916cd43dd8448eb211c80319c", "a-b_c.d:e+f/g=", &"a".repeat(128)] {
            assert!(is_plain(id), "{id:?}");
        }
        for id in ["", "a b", "a\"b", "ä", "a\nb", "a,b", &"a".repeat(129)] {
            assert!(!is_plain(id), "{id:?}");
        }
    }
}
