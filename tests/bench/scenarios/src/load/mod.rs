//! The load generator: it keeps a server busy, compares its responses, and
//! measures it.

mod http;
mod members;
mod tally;

use std::net::SocketAddr;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use bench_common::usage::Usage;
use bench_runner::Outcome;
use bench_scenarios::{BoxError, Scenario};
use tokio::runtime::Builder;
use tokio::task::LocalSet;
use tokio::time::{sleep, timeout};

use self::tally::Tally;

/// The measurements of one server in one turn.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sample {
    /// Processor time of the server per unit, in microseconds.
    pub(crate) cpu: f64,
    /// Units per second.
    pub(crate) rate: f64,
    /// Latencies in microseconds: of a request, or from a publication to its
    /// last delivery.
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    /// The number of processors that the server and the load used.
    pub(crate) busy: f64,
    pub(crate) load_busy: f64,
}

/// The server under load.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target<'a> {
    pub(crate) scenario: Scenario,
    pub(crate) address: SocketAddr,
    /// The process id.
    pub(crate) process: u32,
    /// The folder with the certificate.
    pub(crate) folder: &'a Path,
}

/// Warms up a server, then measures it. Both times are in seconds. The first
/// response on each connection is compared byte for byte, and the others by
/// their length.
pub(crate) fn measure(target: Target<'_>, warm_up: f64, seconds: f64) -> Outcome<Sample> {
    let work = async {
        let tally = Rc::new(Tally::new()?);
        timeout(PATIENCE, open(target, &tally)).await.map_err(|_| "the server is silent")??;
        sleep(Duration::from_secs_f64(warm_up)).await;
        let own = std::process::id();
        // Only the load runs until the second reading.
        tally.reset();
        let before = [Usage::of(target.process)?, Usage::of(own)?];
        let start = Instant::now();
        sleep(Duration::from_secs_f64(seconds)).await;
        let seconds = start.elapsed().as_secs_f64();
        let [server, load] = [Usage::of(target.process)? - before[0], Usage::of(own)? - before[1]];
        let units = tally.units()?;
        Ok::<_, BoxError>(Sample {
            cpu: server.cpu / units,
            rate: units / seconds,
            p50: tally.latency(0.5),
            p99: tally.latency(0.99),
            busy: server.cpu / seconds / 1_000_000.0,
            load_busy: load.cpu / seconds / 1_000_000.0,
        })
    };
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    LocalSet::new().block_on(&runtime, work).map_err(|error| error.to_string())
}

/// Opens all connections, which continue as tasks on this thread.
async fn open(target: Target<'_>, tally: &Rc<Tally>) -> Result<(), BoxError> {
    match target.scenario {
        Scenario::Events => members::open_events(target, tally).await,
        Scenario::Broadcast => members::open_sockets(target, tally).await,
        _ => http::open(target, tally).await,
    }
}

/// The timeout for all connections together.
const PATIENCE: Duration = Duration::from_secs(30);
