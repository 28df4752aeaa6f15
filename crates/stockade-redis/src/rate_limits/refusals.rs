//! Local memory of rejections that cannot change for some time.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use stockade_errors::locks::lock;

use super::MAX_REMEMBERED;

/// The rejections still in effect. Their number is bounded.
pub(super) struct Refusals(Mutex<Entries>);

struct Entries {
    refusals: HashMap<u128, Until>,
    /// The earliest time for the next sweep of a full table.
    next_sweep: Option<Instant>,
}

#[derive(Clone, Copy)]
struct Until {
    passes: Instant,
    reset: Instant,
}

/// The remaining time of a rejection.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Refusal {
    pub(super) retry_after: Duration,
    pub(super) reset: Duration,
}

impl Refusals {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Entries { refusals: HashMap::new(), next_sweep: None }))
    }

    /// Returns the rejection of a key if it is still in effect.
    pub(super) fn find(&self, name: u128, now: Instant) -> Option<Refusal> {
        let mut kept = lock(&self.0);
        let until = *kept.refusals.get(&name)?;
        if until.passes <= now {
            kept.refusals.remove(&name);
            return None;
        }
        let reset = until.reset.saturating_duration_since(now);
        Some(Refusal { retry_after: until.passes - now, reset })
    }

    /// Stores a rejection unless the table is full.
    pub(super) fn keep(&self, name: u128, passes: Instant, reset: Instant, now: Instant) {
        let mut kept = lock(&self.0);
        if kept.refusals.len() >= MAX_REMEMBERED {
            if kept.next_sweep.is_some_and(|next| now < next) {
                return;
            }
            kept.next_sweep = Some(now + BETWEEN_SWEEPS);
            kept.refusals.retain(|_, until| until.passes > now);
            if kept.refusals.len() >= MAX_REMEMBERED {
                return;
            }
        }
        kept.refusals.insert(name, Until { passes, reset });
    }
}

const BETWEEN_SWEEPS: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rejection_lasts_until_its_end() {
        let (refusals, start) = (Refusals::new(), Instant::now());
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        refusals.keep(7, at(2), at(60), start);
        let expected =
            Refusal { retry_after: Duration::from_secs(1), reset: Duration::from_secs(59) };
        assert_eq!(refusals.find(7, at(1)), Some(expected));
        assert_eq!(refusals.find(8, at(1)), None);
        assert_eq!(refusals.find(7, at(2)), None);
        assert!(lock(&refusals.0).refusals.is_empty());
    }

    #[test]
    fn rejections_are_bounded() {
        let (refusals, start) = (Refusals::new(), Instant::now());
        let end = start + Duration::from_secs(10);
        for name in 0..MAX_REMEMBERED as u128 + 1_000 {
            refusals.keep(name, end, end, start);
        }
        assert_eq!(lock(&refusals.0).refusals.len(), MAX_REMEMBERED);
        let later = end + Duration::from_secs(10);
        refusals.keep(u128::MAX, later, later, end);
        assert_eq!(lock(&refusals.0).refusals.len(), 1);
    }
}
