//! Compares the time to reject tokens and passwords with a wrong first byte and
//! with a wrong last byte.
//!
//! ```text
//! cargo run --release -p stockade-auth --example timing
//! ```
//!
//! Each round measures both kinds once, in random order. The table compares the
//! medians. The noise is the difference between two halves of the same kind.
//! The example does not check the times, because results vary with the load. A
//! comparison that stops at the first wrong byte would take some 10 ns longer
//! for 32 bytes that differ only in the last one.

use std::error::Error;
use std::hint::black_box;
use std::io::{self, Write};
use std::time::Instant;

use stockade_auth::{
    ApiKey, ApiKeyHash, Secret, SessionId, SessionKeys, generate_jwt, hash_password,
    verify_password, verify_token,
};

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    writeln!(out, "{:<14} {:>9} {:>9} {:>11} {:>9}", "ns", "early", "late", "difference", "noise")?;

    let secret = Secret::new([7; 32])?;
    let token = generate_jwt(std::collections::BTreeMap::from([("sub", "7")]), "1h", &secret)?;
    let signature = token.rfind('.').map_or(0, |dot| dot + 1);
    // The last character has unused bits. The character before it belongs
    // entirely to the signature.
    let (early, late) = (flip(&token, signature), flip(&token, token.len() - 2));
    let refused = |token: &str| verify_token(token, &secret).is_none();
    report(&mut out, "signature", 20_000, &early, &late, &refused)?;

    let keys = SessionKeys::new("session", &secret);
    let signed = SessionId::generate()?.sign(&keys);
    let (early, late) = (flip(&signed, 44), flip(&signed, signed.len() - 2));
    let refused = |signed: &str| SessionId::verify(signed, &keys).is_none();
    report(&mut out, "session", 20_000, &early, &late, &refused)?;

    let stored = ApiKey::generate("")?.hash().to_string();
    let (early, late) = (flip_hex(&stored, 0), flip_hex(&stored, stored.len() - 1));
    let real: ApiKeyHash = stored.parse()?;
    let refused = |stored: &str| stored.parse().is_ok_and(|other: ApiKeyHash| other != real);
    report(&mut out, "api key hash", 20_000, &early, &late, &refused)?;

    let stored = hash_password("correct horse")?;
    let (early, late) = (flip_hex(&stored, 33), flip_hex(&stored, stored.len() - 1));
    let refused = |stored: &str| !verify_password("correct horse", stored);
    report(&mut out, "password hash", 150, &early, &late, &refused)?;
    Ok(())
}

/// Measures both kinds `rounds` times and prints their medians.
fn report(
    out: &mut impl Write,
    name: &str,
    rounds: usize,
    early: &str,
    late: &str,
    refused: &impl Fn(&str) -> bool,
) -> io::Result<()> {
    let mut times = [Vec::with_capacity(rounds), Vec::with_capacity(rounds)];
    let mut order = 1_u64;
    for _ in 0..rounds {
        order = order.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let first = usize::from(order >> 63 == 1);
        for kind in [first, 1 - first] {
            let text = if kind == 0 { early } else { late };
            let start = Instant::now();
            let outcome = refused(black_box(text));
            let elapsed = start.elapsed().as_nanos();
            assert!(outcome, "the input must be rejected");
            times[kind].push(elapsed);
        }
    }
    let noise = times.iter().map(|times| {
        let (one, other) = times.split_at(times.len() / 2);
        median(one).abs_diff(median(other))
    });
    let noise = noise.max().unwrap_or_default();
    let (early, late) = (median(&times[0]), median(&times[1]));
    let difference = early.abs_diff(late);
    writeln!(out, "{name:<14} {early:>9} {late:>9} {difference:>11} {noise:>9}")
}

fn median(times: &[u128]) -> u128 {
    let mut times = times.to_vec();
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// Returns the base64url text with one character changed.
fn flip(text: &str, at: usize) -> String {
    replace(text, at, if text[at..].starts_with('A') { "B" } else { "A" })
}

/// Returns the hex text with one character changed.
fn flip_hex(text: &str, at: usize) -> String {
    replace(text, at, if text[at..].starts_with('0') { "1" } else { "0" })
}

fn replace(text: &str, at: usize, with: &str) -> String {
    let mut changed = text.to_owned();
    changed.replace_range(at..=at, with);
    changed
}
