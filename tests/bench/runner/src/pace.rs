//! The request rate of a paced workload: the rate that keeps hyper busy for
//! four fifths of the time.
//!
//! This is less than four fifths of its maximum rate. A saturated server
//! handles several requests at each wake-up, so each request costs less.

use std::ops::RangeInclusive;

use bench_common::workload::Workload;

use crate::Outcome;
use crate::contestant::Contestant;
use crate::sample::Sample;

/// The intended processor load of hyper.
pub(crate) const BUSY: f64 = 0.8;

/// The loads that are close enough.
const NEAR: RangeInclusive<f64> = 0.77..=0.83;

/// The maximum number of tries; after that, the closest rate is used.
const TRIES: usize = 6;

/// The length of each try, in seconds.
const SECONDS: f64 = 0.5;

/// Finds the number of requests per second by trying rates on hyper.
pub(crate) fn find(hyper: Contestant, workload: &Workload) -> Outcome<f64> {
    let saturated = Sample::take(hyper, workload, SECONDS, None)?;
    let mut search = Search::begin(saturated.cpu);
    while let Some(rate) = search.next() {
        let sample = Sample::take(hyper, workload, SECONDS, Some(rate))?;
        println!("  at {rate:.0}/s {hyper} is busy for {:.0} % of the time", sample.busy * 100.0);
        search.tried.push(Try { rate, busy: sample.busy });
    }
    Ok(search.best())
}

/// The rates tried so far.
#[derive(Debug)]
struct Search {
    /// The first rate to try.
    first: f64,
    tried: Vec<Try>,
}

#[derive(Clone, Copy, Debug)]
struct Try {
    /// Requests per second.
    rate: f64,
    /// The processor load of the server.
    busy: f64,
}

impl Try {
    fn distance(&self) -> f64 {
        (self.busy - BUSY).abs()
    }
}

impl Search {
    /// Starts at the right rate for a server that needs this number of
    /// microseconds per request at any load.
    fn begin(cpu: f64) -> Self {
        Self { first: BUSY * 1_000_000.0 / cpu, tried: Vec::new() }
    }

    /// Returns the next rate to try, or `None` if one is close enough.
    fn next(&self) -> Option<f64> {
        let Some(nearest) = self.nearest() else { return Some(self.first) };
        if NEAR.contains(&nearest.busy) || self.tried.len() == TRIES {
            return None;
        }
        let (less, more): (Vec<Try>, Vec<Try>) =
            self.tried.iter().partition(|tried| tried.busy < BUSY);
        let less = less.into_iter().max_by(|a, b| a.rate.total_cmp(&b.rate));
        let more = more.into_iter().min_by(|a, b| a.rate.total_cmp(&b.rate));
        Some(match (less, more) {
            // Interpolates between both, but does not repeat either of them.
            (Some(less), Some(more)) => {
                let share = (BUSY - less.busy) / (more.busy - less.busy);
                less.rate + (more.rate - less.rate) * share.clamp(0.2, 0.8)
            }
            _ => nearest.rate * (BUSY / nearest.busy).clamp(0.5, 1.5),
        })
    }

    /// Returns the closest rate.
    fn best(&self) -> f64 {
        self.nearest().map_or(self.first, |nearest| nearest.rate)
    }

    fn nearest(&self) -> Option<Try> {
        self.tried.iter().copied().min_by(|a, b| a.distance().total_cmp(&b.distance()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches on a server with a known load at each rate. Returns the rate
    /// and the number of tries.
    fn search(cpu: f64, busy: impl Fn(f64) -> f64) -> (f64, usize) {
        let mut search = Search::begin(cpu);
        while let Some(rate) = search.next() {
            search.tried.push(Try { rate, busy: busy(rate) });
        }
        (search.best(), search.tried.len())
    }

    #[test]
    fn finds_a_server_with_constant_cost_immediately() {
        let (rate, tries) = search(10.0, |rate| rate * 10.0 / 1_000_000.0);
        assert_eq!((rate.round(), tries), (80_000.0, 1));
    }

    #[test]
    fn finds_a_server_that_costs_more_at_lower_load() {
        // 6 µs per request, and up to 6 µs for a wake-up that fewer requests
        // share at a lower rate.
        let busy = |rate: f64| {
            let share = rate / 160_000.0;
            (rate * (6.0 + 6.0 * (1.0 - share).max(0.0)) / 1_000_000.0).min(1.0)
        };
        assert!(busy(0.8 * 160_000.0) > 0.9);
        let (rate, tries) = search(6.0, busy);
        assert!(NEAR.contains(&busy(rate)), "{rate} {}", busy(rate));
        assert!(tries <= 4, "{tries}");
    }

    #[test]
    fn an_overshoot_is_corrected() {
        // Flat, then steep: a proportional step overshoots.
        let busy = |rate: f64| if rate < 70_000.0 { 0.5 } else { rate / 80_000.0 * 0.8 };
        let (rate, _) = search(8.0, busy);
        assert!(NEAR.contains(&busy(rate)), "{rate}");
    }

    #[test]
    fn a_search_ends_with_the_nearest_rate() {
        // Never close: the machine is busy with other work.
        let (rate, tries) = search(10.0, |rate| if rate < 50_000.0 { 0.1 } else { 0.95 });
        assert_eq!(tries, TRIES);
        assert!(rate >= 50_000.0, "{rate}");
    }
}
