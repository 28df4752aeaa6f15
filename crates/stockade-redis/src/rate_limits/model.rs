//! A Rust model of the three rate-limit scripts, with the time as a parameter.
//! The test `rate_limit_model` compares it with a real server.

use std::collections::HashMap;

/// The script of an algorithm.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    Fixed,
    Sliding,
    Gcra,
}

/// The keys of one algorithm in Redis. Times are microseconds of the server's
/// clock.
#[derive(Debug)]
pub(crate) struct Model {
    kind: Kind,
    keys: HashMap<u64, Key>,
}

/// A charge with the arguments of a script.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Charge {
    pub(crate) key: u64,
    pub(crate) limit: u64,
    /// Milliseconds for fixed windows, microseconds for the other algorithms.
    pub(crate) window: u64,
    pub(crate) want: u64,
    /// The minimum number to grant.
    pub(crate) least: u64,
    pub(crate) now: u64,
}

#[derive(Debug)]
struct Key {
    state: State,
    /// The expiry in milliseconds. `None` if the expiry was lost.
    dies: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Fixed { used: u64 },
    Sliding { end: u64, current: u64, previous: u64 },
    Gcra { back: u64, period: u64 },
}

impl Charge {
    /// Returns the number of granted requests if `left` requests are available.
    fn granted(&self, left: u64) -> u64 {
        let granted = self.want.min(left);
        if granted < self.least { 0 } else { granted }
    }
}

impl Model {
    pub(crate) fn new(kind: Kind) -> Self {
        Self { kind, keys: HashMap::new() }
    }

    /// Runs the script and returns its result.
    pub(crate) fn charge(&mut self, charge: &Charge) -> Vec<u64> {
        let millis = charge.now / 1_000;
        if self.keys.get(&charge.key).is_some_and(|key| key.dies.is_some_and(|at| at <= millis)) {
            self.keys.remove(&charge.key);
        }
        match self.kind {
            Kind::Fixed => self.fixed(charge, millis),
            Kind::Sliding => self.sliding(charge, millis),
            Kind::Gcra => self.gcra(charge, millis),
        }
    }

    /// Removes a key, as if the server lost it.
    pub(crate) fn lose(&mut self, key: u64) {
        self.keys.remove(&key);
    }

    /// Removes the expiry of a key.
    pub(crate) fn lose_expiry(&mut self, key: u64) {
        if let Some(key) = self.keys.get_mut(&key) {
            key.dies = None;
        }
    }

    fn fixed(&mut self, charge: &Charge, millis: u64) -> Vec<u64> {
        let known = match self.keys.get(&charge.key) {
            Some(Key { state: State::Fixed { used }, dies: Some(dies) }) => Some((*used, *dies)),
            _ => None,
        };
        let (used, dies) = known.unwrap_or((0, millis + charge.window));
        let dies = dies.min(millis + charge.window);
        let granted = charge.granted(charge.limit.saturating_sub(used));
        self.set(charge.key, State::Fixed { used: used + granted }, Some(dies));
        vec![granted, used + granted, dies - millis]
    }

    /// Counts in integers. The script's doubles have the same values while
    /// limit × window is below 2^53.
    fn sliding(&mut self, charge: &Charge, millis: u64) -> Vec<u64> {
        let &Charge { key, limit, window, now, .. } = charge;
        let (end, current, previous) = match self.keys.get(&key).map(|it| it.state) {
            Some(State::Sliding { end, current, previous }) if now < end => {
                (end, current, previous)
            }
            Some(State::Sliding { end, current, .. }) if now < end + window => {
                (end + window, 0, current)
            }
            _ => (now + window, 0, 0),
        };
        let end = end.min(now + window);
        let left = end - now;
        let counted = current + (previous * left).div_ceil(window);
        let granted = charge.granted(limit.saturating_sub(counted));
        let current = current + granted;
        if granted > 0 {
            let dies = millis + (left + window).div_ceil(1_000);
            self.set(key, State::Sliding { end, current, previous }, Some(dies));
        }
        vec![granted, current, previous, left]
    }

    fn gcra(&mut self, charge: &Charge, millis: u64) -> Vec<u64> {
        let &Charge { key, limit, window, now, .. } = charge;
        let period = window.div_ceil(limit);
        let burst = period * limit;
        let (back, known) = match self.keys.get(&key).map(|it| it.state) {
            Some(State::Gcra { back, period }) => (back, period),
            _ => (0, period),
        };
        let back = back.max(now);
        let back = match known == period {
            true => back.min(now + burst),
            false => now + (back - now).div_ceil(known).min(limit) * period,
        };
        let granted = charge.granted((now + burst - back) / period);
        let back = back + granted * period;
        if granted > 0 {
            let dies = millis + (back - now).div_ceil(1_000);
            self.set(key, State::Gcra { back, period }, Some(dies));
        }
        vec![granted, back - now]
    }

    fn set(&mut self, key: u64, state: State, dies: Option<u64>) {
        self.keys.insert(key, Key { state, dies });
    }
}
