//! [`with_logging`]: a line in the log for each request and each response.
//!
//! Spec: Middleware helpers › `withLogging`.

use stockade_core::{Middleware, Next, Request};

use crate::observation::{AccessLogLine, Observation};

/// Logs each request when it comes, at debug level, and each response, at info
/// level, under the target `stockade::access`.
///
/// It is for single routes and for other hosts: the access log of a router
/// (`RouterOptions::access_log`) writes the same line for every request, also
/// for those that no middleware sees. Where both are on, there are two lines.
///
/// The key-values are those of [the access log](crate::observation#the-line);
/// the line of a request has `method`, `route`, `client` and `request_id` of
/// them. Without [`with_request_id`](crate::with_request_id) the last is the
/// header `X-Request-Id`, if it is up to 128 letters, digits and `-_.:+/=`. If
/// the logger does not want the info level, nothing is done at all.
///
/// Neither paths nor queries, other headers or bodies are logged: they may hold
/// secrets.
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
