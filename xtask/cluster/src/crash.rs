//! The row about a process that dies inside a handler with an idempotency key.

use std::thread;
use std::time::{Duration, Instant};

use crate::Row;
use crate::client::Connection;
use crate::engine::until;
use crate::sharing::{joined, numbers};
use crate::site::Site;

/// Kills a process during a payment, and retries the payment on the other
/// processes.
pub fn killed_in_a_handler(site: &mut Site) -> Result<Row, String> {
    site.settle()?;
    site.windows += 1;
    let line = format!("Idempotency-Key: \"killed {}\"\r\n", site.windows);
    let (address, slow) = (site.addresses[KILLED].clone(), format!("{line}X-Millis: 60000\r\n"));
    let before = made_by(&address)?;
    let first = thread::spawn(move || Connection::open(&address)?.send("POST", PATH, &slow));
    until("the handler", || Ok(made_by(&site.addresses[KILLED])? > before))?;
    site.kill_node(KILLED)?;
    let begin = Instant::now();
    let was_answered = first.join().map_err(|_| "a client panicked")?.is_ok();
    let others: Vec<String> = site
        .addresses
        .iter()
        .enumerate()
        .filter(|(node, _)| *node != KILLED)
        .map(|(_, address)| address.clone())
        .collect();
    let made = || others.iter().map(|address| made_by(address)).sum::<Result<u64, String>>();
    let before = made()?;
    let again = |client: usize| {
        let (address, line) = (others[client % others.len()].clone(), line.clone());
        thread::spawn(move || paid(&address, &line))
    };
    let answers = joined((0..CLIENTS).map(again).collect())?;
    let times = answers.iter().map(|(_, at)| at.saturating_duration_since(begin).as_millis());
    let (soonest, last) = (times.clone().min().unwrap_or(0), times.max().unwrap_or(0));
    let ran = made()? - before;
    let different = answers.iter().filter(|(body, _)| *body != answers[0].0).count();
    site.restart_node(KILLED)?;
    site.settle()?;
    let most = u128::from(site.scale.lease) * 1_000 + 1_000;
    Ok(Row {
        name: format!(
            "kill -9 of a process in a handler with an idempotency key and a lease of {} s",
            site.scale.lease
        ),
        wanted: format!(
            "the handler runs once more, {CLIENTS} identical responses within {most} ms"
        ),
        found: format!(
            "{ran} more, {different} different responses, the first after {soonest} ms, the \
             last after {last} ms"
        ),
        holds: !was_answered && ran == 1 && different == 0 && last <= most,
    })
}

/// Sends a payment until it gets a response, while another request may still
/// hold its key.
fn paid(address: &str, line: &str) -> Result<(String, Instant), String> {
    let begin = Instant::now();
    let mut node = Connection::open(address)?;
    loop {
        let response = node.send("POST", PATH, line)?;
        match response.status {
            200 => return Ok((response.body, Instant::now())),
            // The handler is still running, or the store is slow.
            409 | 503 if begin.elapsed() < Duration::from_secs(60) => {}
            status => {
                return Err(format!("a payment has the response {status}: {}", response.body));
            }
        }
        thread::sleep(Duration::from_millis(20));
    }
}

fn made_by(address: &str) -> Result<u64, String> {
    let made = numbers(std::slice::from_ref(&address.to_owned()), "/payments/made")?;
    made.first().copied().ok_or_else(|| "no response".to_owned())
}

/// The index of the killed process.
const KILLED: usize = 1;
/// The number of clients that retry the payment.
const CLIENTS: usize = 10;
const PATH: &str = "/payments/slow";
