//! [`with_metrics`]: counts what passes.

use std::time::Instant;

use stockade_core::{Middleware, Next, Request};

use super::Metrics;
use super::registry::Place;

/// Counts the requests that pass, and how long they take until the head of
/// their answer is there; a body that is streamed takes longer than that.
///
/// It should come first, so that it sees what other middleware refuses. A
/// request whose client leaves is not counted as answered.
///
/// See the [module docs](super) for an example.
#[must_use]
pub fn with_metrics(metrics: Metrics) -> Middleware {
    let around = move |req: Request, next: Next| {
        let metrics = metrics.clone();
        async move {
            let begin = Instant::now();
            let place = metrics.place(req.method(), req.route());
            let running = Running::new(&metrics, place);
            let response = next.run(req).await;
            drop(running);
            metrics.record(place, response.status(), begin.elapsed());
            response
        }
    };
    Middleware::new(around).named("with_metrics")
}

/// Counts as running until it is dropped, also when the client leaves.
struct Running<'m> {
    metrics: &'m Metrics,
    place: Place,
}

impl<'m> Running<'m> {
    fn new(metrics: &'m Metrics, place: Place) -> Self {
        metrics.begin(place);
        Self { metrics, place }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.metrics.end(self.place);
    }
}
