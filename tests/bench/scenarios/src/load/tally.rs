//! [`Tally`]: the units that are done, and how long they took.

use std::cell::{Cell, RefCell};
use std::time::Instant;

use bench_scenarios::BoxError;
use hdrhistogram::Histogram;

/// What the tasks of a load have done since the last reset.
#[derive(Debug)]
pub(super) struct Tally {
    units: Cell<f64>,
    /// In nanoseconds.
    latencies: RefCell<Histogram<u64>>,
    /// The first thing that went wrong.
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

    /// Adds units, or a part of one.
    pub(super) fn add(&self, units: f64) {
        self.units.set(self.units.get() + units);
    }

    /// Adds the time from here to now.
    pub(super) fn took(&self, since: Instant) {
        let nanos = u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.latencies.borrow_mut().saturating_record(nanos);
    }

    /// Notes the end of a task, which fails the measurement.
    pub(super) fn ended(&self, outcome: Result<(), BoxError>) {
        let text = match outcome {
            Ok(()) => "a connection has ended".to_owned(),
            Err(error) => error.to_string(),
        };
        self.failure.borrow_mut().get_or_insert(text);
    }

    /// Returns the units, if nothing went wrong and there are some.
    pub(super) fn units(&self) -> Result<f64, BoxError> {
        match (&*self.failure.borrow(), self.units.get()) {
            (Some(failure), _) => Err(failure.as_str().into()),
            (None, 0.0) => Err("nothing was answered".into()),
            (None, units) => Ok(units),
        }
    }

    /// Returns the time in microseconds that this share of the latencies is below.
    pub(super) fn latency(&self, share: f64) -> f64 {
        self.latencies.borrow().value_at_quantile(share) as f64 / 1_000.0
    }
}
