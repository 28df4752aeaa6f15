//! Measures the time of a token check and the memory of revocations.
//!
//! ```text
//! cargo run --release -p stockade-auth --example revocations
//! ```
//!
//! It asserts nothing, because results vary with the load. Read the table.

use std::error::Error;
use std::future::Future;
use std::hint::black_box;
use std::io::{self, Write};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant, SystemTime};

use serde_json::json;
use stockade_auth::{Revocations, Secret, TokenVerifier, generate_jwt};

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    let secret = Secret::new([7; 32])?;
    let payload = json!({ "sub": "user:7", "jti": "0198a1b2-c3d4-7e5f-8a6b-1c2d3e4f5a6b",
        "iss": "https://login.example", "aud": "shop", "role": "editor" });
    let token = generate_jwt(payload, "1h", &secret)?;
    let claims = TokenVerifier::new().verify(&token, &secret)?;
    let revocations = Revocations::in_memory();
    let until = SystemTime::now() + Duration::from_secs(3_600);
    writeln!(out, "{:<28} {:>9} {:>9}", "revoked", "ns/check", "MB")?;
    for (tokens, subjects) in [(0, 0), (1, 0), (1, 1), (999_000, 1), (999_000, 1_000)] {
        for number in 0..tokens {
            now(revocations.revoke_id(None, &format!("other {number}"), until))?;
        }
        for number in 0..subjects {
            now(revocations.revoke_before(None, &format!("other {number}"), SystemTime::now()))?;
        }
        let mut best = Duration::MAX;
        for _ in 0..10 {
            let begin = Instant::now();
            for _ in 0..100_000 {
                black_box(revocations.check(black_box(&claims)));
            }
            best = best.min(begin.elapsed());
        }
        let label = format!("{tokens} tokens, {subjects} subjects");
        writeln!(out, "{label:<28} {:>9.1} {:>9}", best.as_nanos() as f64 / 1e5, memory_mb())?;
    }
    let begin = Instant::now();
    for _ in 0..100_000 {
        black_box(TokenVerifier::new().verify(black_box(&token), &secret)?);
    }
    let verify = begin.elapsed().as_nanos() as f64 / 1e5;
    writeln!(out, "{:<28} {verify:>9.1}", "(verifying the token)")?;
    Ok(())
}

/// The in-memory store never waits.
fn now<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return value;
        }
    }
}

/// Returns the memory of this process in megabytes, if the system reports it.
fn memory_mb() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kilobytes.map_or_else(|| "-".to_owned(), |kilobytes| (kilobytes / 1_000).to_string())
}
