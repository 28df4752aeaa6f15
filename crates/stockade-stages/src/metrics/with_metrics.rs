//! [`with_metrics`]: counts the requests of a route.

use stockade_core::{Middleware, Next, Request};

use super::Metrics;
use crate::described::unseen;
use crate::observation::Observation;

/// Counts requests, and measures the time until the head of their response. A
/// request is in flight until the end of its response, including streams.
///
/// This middleware is for single routes and for other hosts. With the option
/// `metrics`, a router counts every request, including requests that no
/// middleware sees. Put this middleware first, so that it counts the rejections
/// of other middleware. If the client disconnects, no response is counted.
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
