//! Rows about the cost of sharing: leases of a busy key, the time that an exact
//! limit adds to a request, and a room with many members. Only the long form
//! runs them, because other work on the machine changes the times.
//!
//! The goals assume a separate processor for each program.
//! The expected figures must be reached even if two processors run all
//! programs, including the clients.

use std::thread;
use std::time::{Duration, Instant};

use crate::Row;
use crate::client::{Load, flood};
use crate::rows::scripts;
use crate::site::Site;
use crate::socket::{Socket, send};

/// The number of crowd members at each node, and of messages to the crowd.
const CROWD: u32 = 1_000;
const MESSAGES: u32 = 50;

/// The time between two messages to the crowd. Ten messages per second produce
/// 30,000 texts per second; a machine with two processors cannot handle
/// 300,000.
const BEAT: Duration = Duration::from_millis(100);

/// The load for timing a limit: 1,000 requests per second. At 5,000, the
/// programs of the table and their clients use two processors completely.
const CONNECTIONS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(20);

/// Floods a window with a leased limit: 3,000 requests, at most 100 of
/// them accepted.
pub fn leased(site: &mut Site) -> Result<Row, String> {
    site.settle()?;
    site.windows += 1;
    let passed = flood(&site.address, "/offers", site.windows)?;
    // Each of the three processes may hold back 1/16 of the limit.
    let least = 100 - 3 * 6;
    Ok(Row {
        name: "3,000 requests of a client with a leased limit of 100".to_owned(),
        wanted: format!("{least} to 100 pass"),
        found: format!("{passed} pass"),
        holds: (least..=100).contains(&passed),
    })
}

/// Floods a leased window without exhausting it.
pub fn leased_busy(site: &mut Site) -> Result<Row, String> {
    site.windows += 1;
    let before = scripts(site)?;
    let passed = flood(&site.address, "/deals", site.windows)?;
    let commands = scripts(site)? - before;
    Ok(Row {
        name: "3,000 requests of a client with a leased limit of 90,000".to_owned(),
        wanted: "3000 pass, 1 to 300 commands".to_owned(),
        found: format!("{passed} pass, {commands} commands"),
        holds: passed == 3_000 && (1..=300).contains(&commands),
    })
}

/// Measures requests with and without an exact limit, alternately.
pub fn added(site: &mut Site) -> Result<Row, String> {
    site.settle()?;
    let mut rounds = Vec::new();
    for _ in 0..3 {
        let without = measure(site, "/free")?;
        let with = measure(site, "/catalog")?;
        rounds.push([
            with.median - without.median,
            with.slow - without.slow,
            with.processor - without.processor,
        ]);
    }
    let median = |index: usize| {
        let mut figures: Vec<f64> = rounds.iter().map(|round| round[index]).collect();
        figures.sort_by(f64::total_cmp);
        figures[figures.len() / 2]
    };
    let (half, slow, processor) = (median(0), median(1), median(2));
    Ok(Row {
        name: "latency that an exact limit adds to a request, at 1,000 a second".to_owned(),
        wanted: "p50 1 ms, p99 5 ms, 150 µs of the processes (goals 0.2, 2, 15)".to_owned(),
        found: format!("p50 {half:.2} ms, p99 {slow:.2} ms, {processor:.1} µs"),
        holds: half <= 1.0 && slow <= 5.0 && processor <= 150.0,
    })
}

/// The duration of a request in milliseconds, and the processor time of the
/// three processes per request in microseconds.
struct Cost {
    median: f64,
    slow: f64,
    processor: f64,
}

fn measure(site: &Site, path: &'static str) -> Result<Cost, String> {
    let before = site.processor_time()?;
    let load = Load::start(&site.address, path, CONNECTIONS, PAUSE);
    thread::sleep(Duration::from_secs(4));
    let samples = load.end()?;
    let processor = site.processor_time()? - before;
    if let Some(failed) = samples.iter().find(|it| it.is_failure()) {
        return Err(format!("{path} fails: {:?}", failed.response.as_ref().map(|it| it.status)));
    }
    let took: Vec<_> = samples.iter().map(|it| it.took).collect();
    let (median, slow) = percentiles(took)?;
    let processor = processor.as_secs_f64() * 1e6 / samples.len() as f64;
    Ok(Cost { median, slow, processor })
}

/// Returns the median and the 99th percentile in milliseconds.
fn percentiles(mut took: Vec<Duration>) -> Result<(f64, f64), String> {
    took.sort_unstable();
    let at = |part: usize| took.get(took.len() * part / 100).map(|it| it.as_secs_f64() * 1e3);
    at(50).zip(at(99)).ok_or("nothing was measured".to_owned())
}

/// Sends messages to 3,000 members on three nodes.
pub fn crowd(site: &mut Site) -> Result<Row, String> {
    site.settle()?;
    let begin = Instant::now();
    let (mut senders, mut readers) = (Vec::new(), Vec::new());
    for (node, address) in site.addresses.iter().enumerate() {
        for member in 0..CROWD {
            let client = 1_000 * u32::try_from(node).unwrap_or_default() + member;
            let (socket, _) = Socket::open(address, "/live/crowd", client)?;
            if member == 0 {
                senders.push(socket.sender()?);
            }
            readers.push(thread::spawn(move || listen(socket, begin)));
        }
    }
    for message in 0..MESSAGES {
        let stream = &mut senders[message as usize % 3];
        send(stream, &format!("at {}", begin.elapsed().as_micros()))?;
        thread::sleep(BEAT);
    }
    send(&mut senders[0], "end")?;
    let mut took = Vec::new();
    for reader in readers {
        took.extend(reader.join().map_err(|_| "a member panicked")?);
    }
    let (heard, all) = (took.len(), (3 * CROWD * MESSAGES) as usize);
    let (median, slow) = percentiles(took)?;
    Ok(Row {
        name: format!("{MESSAGES} messages to a room with 3 x {CROWD} sockets, 10 a second"),
        wanted: format!("p50 100 ms, p99 250 ms (goals 3, 25), {all} heard"),
        found: format!("p50 {median:.1} ms, p99 {slow:.1} ms, {heard} heard"),
        holds: median <= 100.0 && slow <= 250.0 && heard == all,
    })
}

/// Receives until the end. Returns the delivery time of each message.
fn listen(mut socket: Socket, begin: Instant) -> Vec<Duration> {
    let mut took = Vec::new();
    while let Ok(text) = socket.next() {
        if text.starts_with("end") {
            break;
        }
        let sent = text.strip_prefix("at ").and_then(|it| it.split(':').next()?.parse().ok());
        took.extend(sent.map(|sent| begin.elapsed().saturating_sub(Duration::from_micros(sent))));
    }
    took
}
