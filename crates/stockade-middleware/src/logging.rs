//! [`with_logging`]: a line in the log for each request and each response.
//!
//! Spec: Middleware helpers › `withLogging`.

use stockade_core::{Middleware, Next, Request};

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
/// | key | value |
/// |---|---|
/// | `method` | the method, as it was sent |
/// | `route` | the pattern, such as `/users/:id`, and never the path |
/// | `status` | the status of the answer |
/// | `duration_us` | microseconds until the last byte of the answer was handed over |
/// | `bytes` | bytes of the answer's body that were handed over |
/// | `client` | the address of the client, also behind trusted proxies |
/// | `request_id` | the id of the request |
/// | `trace_id` | the id in a valid `traceparent` |
/// | `aborted` | true where the client left before it had the whole answer, or the answer broke off |
///
/// A value that is not known is null. An answer that is whole when it is made
/// gets its line then; a stream gets its line when it ends. The line of a
/// request has `method`, `route`, `client` and `request_id`.
///
/// Without [`with_request_id`](crate::with_request_id), `request_id` is the
/// header `X-Request-Id`, if that is up to 128 letters, digits and `-_.:+/=`.
///
/// Paths, queries, other headers and bodies are not logged: they may hold
/// secrets. If the logger does not want the info level, nothing is done at all.
///
/// ```
/// use stockade::middleware::with_logging;
///
/// assert_eq!(with_logging().name(), "with_logging");
/// ```
///
/// Spec: Middleware helpers › `withLogging`.
#[doc(alias = "withLogging")]
#[must_use]
pub fn with_logging() -> Middleware {
    Middleware::new(|req: Request, next: Next| async move {
        if !AccessLogLine::is_wanted() {
            return next.try_run(req).await;
        }
        let line = AccessLogLine::of(&req);
        line.log_request();
        let observation = Observation::begin(req.method()).logging(Some(line));
        match next.try_run(req).await {
            Ok(mut response) => {
                observation.leave(&mut response);
                Ok(response)
            }
            Err(error) => {
                observation.fail(&error);
                Err(error)
            }
        }
    })
    .named("with_logging")
}
