//! [`with_metrics`]: counts what passes.

use stockade_core::{Middleware, Next, Request};

use super::Metrics;
use crate::observation::Observation;

/// Counts the requests that pass, and how long they take until the head of
/// their answer is there. A request is in flight until the end of its answer,
/// a stream included.
///
/// It is for single routes and for other hosts: a router counts every request
/// by its option `metrics`, also those that no middleware sees. It should come
/// first, so that it sees what other middleware refuses. A request whose client
/// leaves is not counted as answered.
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
    Middleware::new(around).named("with_metrics")
}
