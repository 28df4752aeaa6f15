//! The counters of one method and route.
//!
//! Hot: a request costs only a few atomic additions.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::StatusCode;

use super::reason::Reason;

/// Returns the route of a series that counts the calls of a tool. A pattern
/// never contains the separator.
pub(crate) fn tool_series(route: Option<&str>, tool: &str) -> String {
    format!("{}{TOOL}{tool}", route.unwrap_or("(none)"))
}

/// The separator of a route and a tool.
const TOOL: char = '\0';

/// The counters of one method and route.
#[derive(Debug)]
pub(super) struct Series {
    pub(super) method: &'static str,
    /// The pattern; for calls of a tool, with the tool at its end.
    pub(super) route: Box<str>,
    pub(super) in_flight: AtomicU64,
    /// Requests by the index in [`STATUSES`]; then by class, from 1xx to 5xx.
    statuses: [AtomicU64; STATUSES.len() + 5],
    /// Rejections by [`Reason`].
    rejections: [AtomicU64; Reason::ALL.len()],
    /// Durations by the index in [`BUCKETS`]; the last one counts longer
    /// durations. Each request counts in one bucket.
    buckets: [AtomicU64; BUCKETS.len() + 1],
    sum_micros: AtomicU64,
}

impl Series {
    pub(super) fn new(method: &'static str, route: &str) -> Self {
        Self {
            method,
            route: route.into(),
            in_flight: AtomicU64::new(0),
            statuses: std::array::from_fn(|_| AtomicU64::new(0)),
            rejections: std::array::from_fn(|_| AtomicU64::new(0)),
            buckets: std::array::from_fn(|_| AtomicU64::new(0)),
            sum_micros: AtomicU64::new(0),
        }
    }

    /// Returns the pattern of the route, and the tool that requests call.
    pub(super) fn route_and_tool(&self) -> (&str, Option<&str>) {
        match self.route.split_once(TOOL) {
            Some((route, tool)) => (route, Some(tool)),
            None => (&self.route, None),
        }
    }

    pub(super) fn record(&self, status: StatusCode, reason: Option<Reason>, duration: Duration) {
        if let Some(counter) = self.statuses.get(place_of(status.as_u16())) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
        if let Some(counter) = reason.and_then(|reason| self.rejections.get(reason as usize)) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
        // Durations above 500,000 years do not occur.
        let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        let bucket = BUCKETS.partition_point(|(bound, _)| *bound < micros);
        if let Some(counter) = self.buckets.get(bucket) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
        self.sum_micros.fetch_add(micros, Ordering::Relaxed);
    }

    /// Returns the observed statuses with their counts.
    pub(super) fn statuses(&self) -> impl Iterator<Item = (Status, u64)> {
        self.statuses.iter().enumerate().filter_map(|(place, counter)| {
            let count = counter.load(Ordering::Relaxed);
            let status = match STATUSES.get(place) {
                Some(code) => Status::Code(*code),
                None => Status::Class(place - STATUSES.len() + 1),
            };
            (count > 0).then_some((status, count))
        })
    }

    /// Returns the reasons for rejections with their counts.
    pub(super) fn rejections(&self) -> impl Iterator<Item = (Reason, u64)> {
        let counts = self.rejections.iter().map(|counter| counter.load(Ordering::Relaxed));
        Reason::ALL.into_iter().zip(counts).filter(|(_, count)| *count > 0)
    }

    /// Returns the number of requests within each bound of [`BUCKETS`], and in
    /// total.
    pub(super) fn cumulated(&self) -> [u64; BUCKETS.len() + 1] {
        let mut sum = 0;
        self.buckets.each_ref().map(|counter| {
            sum += counter.load(Ordering::Relaxed);
            sum
        })
    }

    pub(super) fn sum_micros(&self) -> u64 {
        self.sum_micros.load(Ordering::Relaxed)
    }
}

/// A status as a label.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Status {
    Code(u16),
    /// A class of unregistered statuses; 4 for 4xx.
    Class(usize),
}

fn place_of(status: u16) -> usize {
    let class = usize::from(status / 100).clamp(1, 5);
    STATUSES.binary_search(&status).unwrap_or(STATUSES.len() + class - 1)
}

/// The bounds of the histogram, in microseconds and as text in seconds.
pub(super) const BUCKETS: [(u64, &str); 13] = [
    (1_000, "0.001"),
    (2_500, "0.0025"),
    (5_000, "0.005"),
    (10_000, "0.01"),
    (25_000, "0.025"),
    (50_000, "0.05"),
    (100_000, "0.1"),
    (250_000, "0.25"),
    (500_000, "0.5"),
    (1_000_000, "1"),
    (2_500_000, "2.5"),
    (5_000_000, "5"),
    (10_000_000, "10"),
];

/// The registered statuses, in order.
const STATUSES: [u16; 59] = [
    101, 103, 200, 201, 202, 203, 204, 205, 206, 207, 208, 226, 300, 301, 302, 303, 304, 305, 307,
    308, 400, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417,
    421, 422, 423, 424, 425, 426, 428, 429, 431, 451, 500, 501, 502, 503, 504, 505, 506, 507, 508,
    510, 511,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_sorted_and_unusual_ones_count_by_class() {
        assert!(STATUSES.is_sorted());
        let series = Series::new("GET", "/");
        for status in [200, 404, 404, 418, 499, 599, 999] {
            let status = StatusCode::from_u16(status).unwrap();
            series.record(status, None, Duration::ZERO);
        }
        let counted: Vec<_> = series.statuses().collect();
        let expected = [
            (Status::Code(200), 1),
            (Status::Code(404), 2),
            (Status::Class(4), 2),
            (Status::Class(5), 2),
        ];
        assert_eq!(counted, expected);
    }

    #[test]
    fn a_duration_on_a_bound_is_within_it() {
        let series = Series::new("GET", "/");
        for micros in [0, 1_000, 1_001, 10_000_000, 10_000_001] {
            series.record(StatusCode::OK, None, Duration::from_micros(micros));
        }
        series.record(StatusCode::OK, None, Duration::from_micros(20_000_000));
        let cumulated = series.cumulated();
        assert_eq!((cumulated[0], cumulated[1], cumulated[12], cumulated[13]), (2, 3, 4, 6));
        assert_eq!(series.sum_micros(), 40_002_002);
    }
}
