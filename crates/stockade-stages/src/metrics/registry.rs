//! [`Metrics`]: the counters of all routes.
//!
//! Hot: finding the counters of a route takes a hash and usually one
//! comparison. It takes no lock, and allocates only the first time.

use std::fmt;
use std::future::{Ready, ready};
use std::hash::BuildHasher as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use foldhash::fast::RandomState;
use http::{HeaderValue, Method, StatusCode, header};
use stockade_core::description::{Content, ContentSchema, ResponseDoc};
use stockade_core::{ApiError, HttpBody, Reply, Response, RouteDescription};
use stockade_errors::locks::lock;

use super::exposition;
use super::reason::Reason;
use super::series::Series;
use super::source::{MetricsSource, MetricsWriter};
use super::usage::{Resource, Usages};

/// Counters of requests by method and route; clones share them.
///
/// There are at most [`max_series`](Self::max_series) pairs of a method and a
/// route, each of about 800 bytes. Further pairs are counted by method, with
/// the route `(other)`. Methods outside RFC 9110, except PATCH, count as
/// `OTHER`.
///
/// See the [module docs](super) for an example.
#[derive(Clone)]
pub struct Metrics {
    registry: Arc<Registry>,
}

struct Registry {
    max_series: usize,
    taken: AtomicUsize,
    hasher: RandomState,
    /// An open-addressing table that only grows. Its length is a power of two.
    /// It is at most half full, apart from pairs that are added at the same
    /// time.
    slots: Box<[OnceLock<Series>]>,
    /// The series of pairs that do not fit into the table, one for each of
    /// [`METHODS`].
    others: Box<[Series]>,
    sources: Mutex<Vec<Arc<dyn MetricsSource>>>,
    /// The names of the metrics that the sources announced.
    families: Mutex<Vec<&'static str>>,
    usages: Usages,
}

/// The index of a pair's counters in the registry.
#[derive(Clone, Copy, Debug)]
enum SeriesIndex {
    Slot(usize),
    Other(usize),
}

impl Metrics {
    /// Creates metrics for at most 1,000 pairs of a method and a route.
    #[must_use]
    pub fn new() -> Self {
        Self::with_max_series(DEFAULT_MAX_SERIES)
    }

    /// Creates metrics for at most this many pairs of a method and a route.
    /// Values above 65,536 count as 65,536.
    #[must_use]
    pub fn with_max_series(max_series: usize) -> Self {
        let max_series = max_series.min(MAX_SERIES);
        let slots = (0..(max_series * 2).next_power_of_two()).map(|_| OnceLock::new());
        let others = METHODS.map(|method| Series::new(method, "(other)"));
        let registry = Registry {
            max_series,
            taken: AtomicUsize::new(0),
            hasher: RandomState::default(),
            slots: slots.collect(),
            others: others.into(),
            sources: Mutex::default(),
            families: Mutex::default(),
            usages: Usages::default(),
        };
        Self { registry: Arc::new(registry) }
    }

    /// Returns the maximum number of pairs of a method and a route.
    #[must_use]
    pub fn max_series(&self) -> usize {
        self.registry.max_series
    }

    /// Counts a request with its status and its duration. Use it for requests
    /// that neither a router nor [`with_metrics`](super::with_metrics) sees,
    /// because a host responds to them itself.
    pub fn observe(
        &self,
        method: &Method,
        pattern: Option<&str>,
        status: StatusCode,
        duration: Duration,
    ) {
        let index = self.index_of(method, pattern);
        self.record(index, status, Reason::of_status(status), duration);
    }

    /// Returns all metrics in the Prometheus text format.
    #[must_use]
    pub fn text(&self) -> String {
        let registry = &*self.registry;
        let known = registry.slots.iter().filter_map(OnceLock::get);
        let mut series: Vec<&Series> = known.chain(&registry.others).collect();
        series.sort_by_key(|series| (&*series.route, series.method));
        let mut text = exposition::write(&series);
        // A list is always consistent, even after a panic.
        let sources = lock(&registry.sources).clone();
        let mut writer = MetricsWriter::default();
        registry.usages.collect(&mut writer);
        sources.iter().for_each(|source| source.collect(&mut writer));
        writer.append_to(&mut text);
        text
    }

    /// Adds the metrics of another part of the program, after the request
    /// metrics.
    pub fn add_source<S: MetricsSource>(&self, source: S) {
        lock(&self.registry.families).extend(S::families());
        let mut sources = lock(&self.registry.sources);
        sources.push(Arc::new(source));
    }

    /// Returns true if a source announced a metric with this name.
    #[doc(hidden)]
    #[must_use]
    pub fn announces(&self, name: &str) -> bool {
        lock(&self.registry.families).contains(&name)
    }

    /// Adds a resource with a limit. `read` returns the used part and the
    /// limit, or `None` if the resource no longer exists.
    #[doc(hidden)]
    pub fn add_usage(
        &self,
        resource: Resource,
        read: impl Fn() -> Option<(usize, usize)> + Send + Sync + 'static,
    ) {
        self.registry.usages.add(resource, Box::new(read));
    }

    /// Returns a handler that responds with [`text`](Self::text), for a route
    /// such as `/metrics`. The route decides who may read it.
    pub fn handler(&self) -> impl Fn() -> Ready<MetricsText> + Clone + Send + Sync + 'static {
        let metrics = self.clone();
        move || ready(MetricsText(metrics.text()))
    }

    /// Counts a request as in flight until the returned guard is dropped.
    pub(crate) fn begin(&self, method: &Method, pattern: Option<&str>) -> InFlight {
        let index = self.index_of(method, pattern);
        if let Some(series) = self.at(index) {
            series.in_flight.fetch_add(1, Ordering::Relaxed);
        }
        InFlight { metrics: self.clone(), index }
    }

    /// Returns the index of a pair, and adds the pair if it is new.
    fn index_of(&self, method: &Method, pattern: Option<&str>) -> SeriesIndex {
        let registry = &*self.registry;
        let method = METHODS.iter().position(|known| *known == method.as_str());
        let method = method.unwrap_or(METHODS.len() - 1);
        let name = METHODS.get(method).copied().unwrap_or("OTHER");
        let route = pattern.unwrap_or("(none)");
        let is_it = |series: &Series| series.method == name && *series.route == *route;

        let last = registry.slots.len() - 1;
        // The table needs only the lower bits of the hash.
        #[expect(clippy::cast_possible_truncation, reason = "the upper bits are not needed")]
        let first = registry.hasher.hash_one((name, route)) as usize & last;
        for step in 0..=last {
            let at = (first + step) & last;
            let Some(slot) = registry.slots.get(at) else { break };
            // Checked again: every pair counted in `taken` is in its slot by
            // now.
            if slot.get().is_none()
                && registry.taken.load(Ordering::Acquire) >= registry.max_series
                && slot.get().is_none()
            {
                break;
            }
            let mut is_new = false;
            let series = slot.get_or_init(|| {
                is_new = true;
                Series::new(name, route)
            });
            if is_new {
                registry.taken.fetch_add(1, Ordering::Release);
            }
            if is_it(series) {
                return SeriesIndex::Slot(at);
            }
        }
        SeriesIndex::Other(method)
    }

    fn record(
        &self,
        index: SeriesIndex,
        status: StatusCode,
        reason: Option<Reason>,
        duration: Duration,
    ) {
        if let Some(series) = self.at(index) {
            series.record(status, reason, duration);
        }
    }

    fn at(&self, index: SeriesIndex) -> Option<&Series> {
        match index {
            SeriesIndex::Slot(at) => self.registry.slots.get(at)?.get(),
            SeriesIndex::Other(method) => self.registry.others.get(method),
        }
    }
}

/// A guard for a request in flight. The request ends when the guard is dropped,
/// also if its client disconnects.
#[derive(Debug)]
pub(crate) struct InFlight {
    metrics: Metrics,
    index: SeriesIndex,
}

impl InFlight {
    /// Counts the response.
    pub(crate) fn record(&self, status: StatusCode, reason: Option<Reason>, duration: Duration) {
        self.metrics.record(self.index, status, reason, duration);
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        if let Some(series) = self.metrics.at(self.index) {
            series.in_flight.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let taken = self.registry.taken.load(Ordering::Relaxed);
        f.debug_struct("Metrics").field("series", &taken).finish_non_exhaustive()
    }
}

/// The response of [`Metrics::handler`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MetricsText(pub String);

impl Reply for MetricsText {
    fn into_response(self) -> Result<Response, ApiError> {
        let mut response = Response::new(HttpBody::from(self.0));
        let media = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
        response.headers_mut().insert(header::CONTENT_TYPE, media);
        Ok(response)
    }

    fn describe(doc: &mut RouteDescription) {
        let text = Content::new("text/plain", ContentSchema::Text);
        doc.responds(
            ResponseDoc::new(200).meaning("The metrics, as text for Prometheus").content(text),
        );
    }
}

const METHODS: [&str; 10] =
    ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE", "OTHER"];
const DEFAULT_MAX_SERIES: usize = 1_000;
const MAX_SERIES: usize = 65_536;

#[cfg(test)]
mod tests {
    use super::*;

    fn count(metrics: &Metrics, method: &str, route: &str) {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        metrics.observe(&method, Some(route), StatusCode::OK, Duration::ZERO);
    }

    #[test]
    fn counts_excess_series_together() {
        for max_series in [0, 1, 7] {
            let metrics = Metrics::with_max_series(max_series);
            for number in 0..100 {
                count(&metrics, "GET", &format!("/{number}"));
                count(&metrics, "GET", &format!("/{number}"));
            }
            let text = metrics.text();
            let lines = text.lines().filter(|line| line.starts_with("http_requests_total{"));
            assert_eq!(lines.count(), max_series + 1);
            let left = 200 - 2 * max_series;
            let other = format!(r#"method="GET",route="(other)",status="200"}} {left}"#);
            assert!(text.contains(&other), "{text}");
        }
    }

    #[test]
    fn unknown_methods_are_counted_as_other() {
        let metrics = Metrics::new();
        ["BREW", "WHEN", "get"].into_iter().for_each(|method| count(&metrics, method, "/x"));
        let line = r#"http_requests_total{method="OTHER",route="/x",status="200"} 3"#;
        assert!(metrics.text().contains(line));
    }

    #[test]
    fn counting_allocates_nothing() {
        let metrics = Metrics::with_max_series(1);
        let request = |route: Option<&str>, status: StatusCode| {
            let running = metrics.begin(&Method::GET, route);
            running.record(status, Reason::of_status(status), Duration::from_millis(3));
        };
        request(Some("/users/:id"), StatusCode::OK);
        // Known, rejected, and beyond the maximum number of routes.
        let counted = allocation_counter::measure(|| {
            request(Some("/users/:id"), StatusCode::OK);
            request(Some("/users/:id"), StatusCode::NOT_FOUND);
            request(Some("/orders"), StatusCode::OK);
            request(None, StatusCode::NOT_FOUND);
        });
        assert_eq!(counted.count_total, 0);
        let all = "http_request_duration_seconds_count";
        let text = metrics.text();
        for (route, count) in [("/users/:id", 3), ("(other)", 2)] {
            let line = format!(r#"{all}{{method="GET",route="{route}"}} {count}"#);
            assert!(text.contains(&line), "{text}");
        }
    }

    #[test]
    fn threads_share_the_counters() {
        let metrics = Metrics::with_max_series(10);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for number in 0..1_000 {
                        count(&metrics, "GET", &format!("/{}", number % 10));
                    }
                });
            }
        });
        let text = metrics.text();
        for number in 0..10 {
            let line = format!(r#"method="GET",route="/{number}",status="200"}} 400"#);
            assert!(text.contains(&line), "{text}");
        }
    }
}
