//! The metrics of a link: commands, counted by kind and outcome.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use stockade_stages::metrics::{HistogramValue, MetricsSource, MetricsWriter};

use crate::error::LinkError;
use crate::health::Health;
use crate::link::Redis;

/// The counters of a link. Each command costs three atomic additions.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    kinds: [KindCounts; KINDS.len()],
    /// The number of connections made.
    connections: AtomicU64,
    /// The number of the last connection, plus 1.
    last: AtomicU64,
}

/// The counters for one kind of command.
#[derive(Debug, Default)]
struct KindCounts {
    outcomes: [AtomicU64; OUTCOMES.len()],
    buckets: [AtomicU64; BOUNDS.len() + 1],
    sum_micros: AtomicU64,
}

impl Counts {
    /// Counts a command. The prefix and the kind come first in its key.
    pub(crate) fn note(&self, prefix: &str, key: &str, error: Option<&LinkError>, took: Duration) {
        let Some(kind) = self.kinds.get(kind_of(prefix, key)) else { return };
        let outcome = match error {
            None => 0,
            Some(LinkError::Down(_)) => 1,
            Some(LinkError::Late(_)) => 2,
            Some(LinkError::Full) => 3,
            Some(_) => 4,
        };
        kind.outcomes[outcome].fetch_add(1, Ordering::Relaxed);
        let bucket = BOUNDS.partition_point(|bound| *bound < took.as_secs_f64());
        kind.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        kind.sum_micros.fetch_add(micros, Ordering::Relaxed);
    }

    /// Counts each connection once by its number, because the same connection
    /// is reported again when the breaker closes.
    pub(crate) fn note_connection(&self, number: u64) {
        if self.last.swap(number + 1, Ordering::Relaxed) != number + 1 {
            self.connections.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Returns the index of a key's kind.
fn kind_of(prefix: &str, key: &str) -> usize {
    let rest = key.strip_prefix(prefix).and_then(|rest| rest.strip_prefix(':')).unwrap_or("");
    let name = rest.split(':').next().unwrap_or("").trim_matches(['{', '}']);
    KINDS.iter().position(|(in_keys, _)| *in_keys == name).unwrap_or(KINDS.len() - 1)
}

/// Exports the link's metrics: `metrics.add_source(redis.clone())`.
///
/// | metric | kind | labels |
/// |---|---|---|
/// | `stockade_redis_commands_total` | counter | engine, kind, outcome |
/// | `stockade_redis_command_duration_seconds` | histogram | engine, kind |
/// | `stockade_redis_up` | gauge | engine |
/// | `stockade_redis_breaker_open` | gauge | engine |
/// | `stockade_redis_reconnects_total` | counter | engine |
///
/// `kind` is `rate_limit`, `revocation`, `idempotency`, `session`, `room` or
/// `other`. `outcome` is `ok`, `down` (not connected), `late`, `full` (too many
/// waiting commands) or `error`. The breaker is open while a connection exists
/// but does not respond.
impl MetricsSource for Redis {
    fn collect(&self, to: &mut MetricsWriter) {
        let (engine, counts) = (self.address(), self.counts());
        for ((_, kind), of_kind) in KINDS.iter().zip(&counts.kinds) {
            let buckets = of_kind.buckets.each_ref().map(|count| count.load(Ordering::Relaxed));
            if buckets.iter().all(|count| *count == 0) {
                continue;
            }
            for (outcome, count) in OUTCOMES.iter().zip(&of_kind.outcomes) {
                let labels = [("engine", &*engine), ("kind", kind), ("outcome", outcome)];
                let count = count.load(Ordering::Relaxed);
                to.counter(
                    "stockade_redis_commands_total",
                    "Commands that were sent to Redis, or not sent.",
                    &labels,
                    count,
                );
            }
            let sum = Duration::from_micros(of_kind.sum_micros.load(Ordering::Relaxed));
            to.histogram(
                "stockade_redis_command_duration_seconds",
                "Time until the response of Redis, or the failure.",
                &[("engine", &engine), ("kind", kind)],
                HistogramValue { bounds: &BOUNDS, counts: &buckets, sum: sum.as_secs_f64() },
            );
        }
        let labels = [("engine", &*engine)];
        let is_up = f64::from(u8::from(self.health() == Health::Up));
        to.gauge("stockade_redis_up", "Redis responds.", &labels, is_up);
        let is_open = f64::from(u8::from(self.is_breaker_open()));
        to.gauge(
            "stockade_redis_breaker_open",
            "The connection does not respond and is not used.",
            &labels,
            is_open,
        );
        let again = counts.connections.load(Ordering::Relaxed).saturating_sub(1);
        to.counter(
            "stockade_redis_reconnects_total",
            "Connections after the first one.",
            &labels,
            again,
        );
    }

    fn families() -> &'static [&'static str] {
        &[
            "stockade_redis_commands_total",
            "stockade_redis_command_duration_seconds",
            "stockade_redis_up",
            "stockade_redis_breaker_open",
            "stockade_redis_reconnects_total",
        ]
    }
}

/// The kinds: the name in keys and the label.
const KINDS: [(&str, &str); 6] = [
    ("rate", "rate_limit"),
    ("revoked", "revocation"),
    ("idempotency", "idempotency"),
    ("session", "session"),
    ("rooms", "room"),
    ("", "other"),
];
const OUTCOMES: [&str; 5] = ["ok", "down", "late", "full", "error"];
/// The bounds of the histogram, in seconds.
const BOUNDS: [f64; 12] =
    [0.0001, 0.000_25, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prefix_of_a_key_gives_its_kind() {
        for (key, expected) in [
            ("shop:rate:fixed:1:2:default:a", "rate_limit"),
            ("shop:{revoked}", "revocation"),
            ("shop:{revoked}:01ff", "revocation"),
            ("shop:{session}:7", "session"),
            ("shop:rooms:{all}", "room"),
            ("shop:else", "other"),
            ("market:rate:x", "other"),
        ] {
            assert_eq!(KINDS[kind_of("shop", key)].1, expected, "{key}");
        }
    }
}
