//! [`health_routes`]: the health check routes for monitoring.

use http::Method;
use stockade_stages::health::{live, ready};

use crate::{RouteEntry, RouteTree};

/// Creates `GET /health/live` and `GET /health/ready`, to be spread into a
/// tree. They are exempt from rate limits, because monitoring polls often, and
/// from concurrency limits. Both declare the reason why they are public.
///
/// The second route needs a [`Readiness`](stockade_stages::health::Readiness)
/// as state. The built-in server sets it to false when a shutdown begins.
///
/// ```
/// use stockade::middleware::health::Readiness;
/// use stockade::routing::health_routes;
/// use stockade::{RouteTree, RouterOptions, create_router};
///
/// let api = RouteTree::new().spread(health_routes());
/// let app = create_router(api, RouterOptions::new()).state(Readiness::new()).build()?;
/// assert_eq!(app.routes()[0].pattern(), "/health/live");
/// # Ok::<(), stockade::ConfigError>(())
/// ```
///
/// # Beyond the spec
/// The specification does not have such routes.
#[doc(alias = "healthz")]
#[track_caller]
pub fn health_routes() -> RouteTree {
    let unlimited = |entry: RouteEntry| {
        let mut entry = entry.rate_limit(false).concurrency_limit(false);
        entry.has_any_host = true;
        entry.rate_exempt_reason = Some("monitoring systems send frequent requests");
        entry.public("monitoring systems do not have an account")
    };
    let live = RouteEntry::new(live).docs("Reports that the program is running");
    let ready = RouteEntry::new(ready).docs("Reports if the program accepts requests");
    let live = RouteTree::new().method(Method::GET, unlimited(live));
    let ready = RouteTree::new().method(Method::GET, unlimited(ready));
    let both = RouteTree::new().segment("live", live).segment("ready", ready);
    RouteTree::new().segment("health", both)
}
