//! [`with_metrics`]: counts the requests of a route.

use stockade_core::{Middleware, Next, Request};

use super::Metrics;
use crate::described::unseen;
use crate::observation::Observation;

/// Counts requests, and the time until the head of their response. A request is
/// in flight until the end of its response, a stream included.
///
/// This middleware is for single routes and for other hosts. A router counts
/// every request by its option `metrics`, also those that no middleware sees.
/// The middleware should come first, so that it sees the refusals of other
/// middleware. A request whose client leaves is not counted as answered.
///
/// See the [module docs](super) for an example.
#[must_use]
pub fn with_metrics(metrics: Metrics) -> Middleware {
    let around = move |req: Request, next: Next| {
        let observation = Observation::begin(req.method());
        let observation = observation.counting(&metrics, req.method(), req.route());
        async move {
            let mut response = next.run(req).await;
            observation.leave(&mut response);
            response
        }
    };
    Middleware::new(around).named("with_metrics").describing(unseen)
}
