//! [`Tally`]: completed units and their durations.

use std::cell::{Cell, RefCell};
use std::time::Instant;

use bench_scenarios::BoxError;
use hdrhistogram::Histogram;

/// The work of a load's tasks since the last reset.
#[derive(Debug)]
pub(super) struct Tally {
    units: Cell<f64>,
    /// The latencies, in nanoseconds.
    latencies: RefCell<Histogram<u64>>,
    /// The first error.
    failure: RefCell<Option<String>>,
}

impl Tally {
    pub(super) fn new() -> Result<Self, BoxError> {
        let latencies = Histogram::new_with_bounds(1, 60_000_000_000, 3)?;
        Ok(Self {
            units: Cell::default(),
            latencies: RefCell::new(latencies),
            failure: RefCell::default(),
        })
    }

    pub(super) fn reset(&self) {
        self.units.set(0.0);
        self.latencies.borrow_mut().reset();
    }

    /// Adds units, or a fraction of one.
    pub(super) fn add(&self, units: f64) {
        self.units.set(self.units.get() + units);
    }

    /// Adds the time from `since` until now.
    pub(super) fn took(&self, since: Instant) {
        let nanos = u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.latencies.borrow_mut().saturating_record(nanos);
    }

    /// Records the end of a task, which fails the measurement.
    pub(super) fn ended(&self, outcome: Result<(), BoxError>) {
        let text = match outcome {
            Ok(()) => "a connection has ended".to_owned(),
            Err(error) => error.to_string(),
        };
        self.failure.borrow_mut().get_or_insert(text);
    }

    /// Returns the number of units, or an error if a task failed or there are
    /// none.
    pub(super) fn units(&self) -> Result<f64, BoxError> {
        match (&*self.failure.borrow(), self.units.get()) {
            (Some(failure), _) => Err(failure.as_str().into()),
            (None, 0.0) => Err("nothing was answered".into()),
            (None, units) => Ok(units),
        }
    }

    /// Returns a percentile of the latencies, in microseconds.
    pub(super) fn latency(&self, share: f64) -> f64 {
        self.latencies.borrow().value_at_quantile(share) as f64 / 1_000.0
    }
}
