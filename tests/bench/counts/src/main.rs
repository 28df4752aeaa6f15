//! Counts the allocations per request of hyper and stockade. Prints one line
//! for each mode and workload: `<server> <mode> <workload> <allocations>`.
//!
//! The server runs in this thread, on a single-threaded runtime, and only this
//! thread counts allocations. The client is another thread with one connection.
//! The cost of a request is the difference between two runs. The second run has
//! twice as many requests, so one-time costs cancel out.

use std::error::Error;
use std::net::SocketAddr;
use std::thread;

use bench_common::Mode;
use bench_common::client::Client;
use bench_common::workload::{self, Workload};
use tokio::runtime::Builder;
use tokio::sync::oneshot;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> Outcome<()> {
    for server in [Server::Hyper, Server::Stockade] {
        for mode in Mode::ALL {
            if server == Server::Hyper && mode == Mode::Defaults {
                continue;
            }
            for workload in workload::all().iter().filter(|workload| workload.runs_in(mode)) {
                let [once, twice] =
                    [1, 2].map(|times| server.count(mode, workload, times * REQUESTS));
                let each = (twice? - once?) as f64 / REQUESTS as f64;
                println!("{} {} {} {each:.2}", server.name(), mode.name(), workload.name);
            }
        }
    }
    Ok(())
}

/// The number of requests in the first run; the second has twice as many.
const REQUESTS: u64 = 1_000;

#[derive(Clone, Copy, Eq, PartialEq)]
enum Server {
    Hyper,
    Stockade,
}

impl Server {
    fn name(self) -> &'static str {
        match self {
            Self::Hyper => "hyper",
            Self::Stockade => "stockade",
        }
    }

    /// Returns the allocations of a server for this number of requests.
    fn count(self, mode: Mode, workload: &Workload, requests: u64) -> Outcome<u64> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let mut outcome = Ok(());
        let info = allocation_counter::measure(|| {
            outcome = runtime.block_on(self.serve(mode, workload, requests));
        });
        outcome?;
        Ok(info.count_total)
    }

    async fn serve(self, mode: Mode, workload: &Workload, requests: u64) -> Outcome<()> {
        match self {
            Self::Hyper => {
                let listener = bench_hyper::bind()?;
                let done = client(listener.local_addr()?, mode, workload, requests);
                tokio::select! {
                    outcome = bench_hyper::serve(listener, mode) => Ok(outcome?),
                    outcome = done => outcome?,
                }
            }
            Self::Stockade => {
                let server = bench_stockade::bind(mode).await?;
                let done = client(server.local_addr(), mode, workload, requests);
                tokio::select! {
                    outcome = server.serve() => Ok(outcome?),
                    outcome = done => outcome?,
                }
            }
        }
    }
}

/// Sends requests from a separate thread and signals when it is done.
fn client(
    address: SocketAddr,
    mode: Mode,
    workload: &Workload,
    requests: u64,
) -> oneshot::Receiver<Outcome<()>> {
    let (sender, receiver) = oneshot::channel();
    let workload = workload.clone();
    thread::spawn(move || {
        // The receiver no longer exists if the server failed.
        let _ = sender.send(ask(address, mode, &workload, requests));
    });
    receiver
}

fn ask(address: SocketAddr, mode: Mode, workload: &Workload, requests: u64) -> Outcome<()> {
    let mut client = Client::connect(address)?;
    for _ in 0..requests {
        let answer = client.ask(&workload.request)?;
        workload.check(mode, &answer).map_err(|error| format!("{}: {error}", workload.name))?;
    }
    Ok(())
}
