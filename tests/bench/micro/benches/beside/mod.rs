//! Comparison of two applications: the ratio of their processor times within
//! each round, so that other work on the machine affects both.

// Each benchmark uses only a part of this module.
#![allow(dead_code)]

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use bench_common::client::Client;
use cpu_time::{ProcessTime, ThreadTime};
use stockade::prelude::*;
use stockade::{HttpBody, http};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;

/// A request, and the application that responds with 200.
pub struct Side {
    pub app: App,
    pub target: &'static str,
    /// The JSON of a POST; without it, the request is a GET.
    pub body: Option<String>,
}

impl Side {
    pub fn get(app: App, target: &'static str) -> Self {
        Self { app, target, body: None }
    }

    async fn ask(&self) {
        let request = match &self.body {
            None => http::Request::get(self.target).body(HttpBody::empty()),
            Some(body) => http::Request::post(self.target)
                .header("content-type", "application/json")
                .body(HttpBody::from(body.clone())),
        };
        let response = self.app.handle(request.expect("a request")).await;
        assert_eq!(response.status(), 200);
    }

    /// Binds a port for the application.
    pub async fn bind(&self) -> Server {
        let server = self.app.clone().create_server().expect("options that fit");
        let server = server.bind("127.0.0.1:0").await.expect("a port");
        let address = server.local_addr();
        let serve = Box::pin(async { drop(server.serve().await) });
        Server { address, serve, request: self.written() }
    }

    /// Returns the request in the form that a client sends.
    pub fn written(&self) -> Vec<u8> {
        let target = self.target;
        let (method, content, body) = match &self.body {
            None => ("GET", String::new(), ""),
            Some(body) => ("POST", content_of(body), &**body),
        };
        let head = format!("{method} {target} HTTP/1.1\r\nHost: 127.0.0.1\r\n{content}\r\n");
        [head, body.to_owned()].concat().into_bytes()
    }
}

fn content_of(body: &str) -> String {
    format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len())
}

/// The median of the rounds, and the times of one request in that round, in
/// nanoseconds.
pub struct Beside {
    pub ratio: f64,
    pub times: [u64; 2],
}

/// Prints a ratio with its goal.
pub fn show(name: &str, goal: f64, found: &Beside) {
    let Beside { ratio, times: [own, other] } = found;
    println!("{name}: {ratio:.3} (goal {goal:.2}), {own} ns beside {other} ns");
}

/// Measures two sides in process, one request at a time, in `rounds` rounds of
/// `requests` requests each.
pub fn in_process(sides: [&Side; 2], rounds: usize, requests: u64) -> Beside {
    let runtime = runtime();
    median(rounds, || sides.map(|side| called(&runtime, side, requests) / requests))
}

/// Measures two sides that use additional threads: the time of the whole
/// process, with [`TASKS`] requests at a time.
pub fn with_threads(sides: [&Arc<Side>; 2], rounds: usize, requests: u64) -> Beside {
    let runtime = runtime();
    median(rounds, || sides.map(|side| called_at_once(&runtime, side, requests) / requests))
}

/// Measures two sides with [`servers`].
pub fn over_http(sides: [&Side; 2], rounds: usize, requests: u64) -> Beside {
    servers(async || [sides[0].bind().await, sides[1].bind().await], rounds, requests)
}

/// Returns the round with the median ratio.
pub fn median(rounds: usize, mut round: impl FnMut() -> [u64; 2]) -> Beside {
    let mut rounds: Vec<Beside> = (0..rounds)
        .map(|_| {
            let times = round();
            #[expect(clippy::cast_precision_loss, reason = "times are short")]
            Beside { ratio: times[0] as f64 / times[1] as f64, times }
        })
        .collect();
    rounds.sort_by(|one, other| one.ratio.total_cmp(&other.ratio));
    rounds.swap_remove(rounds.len() / 2)
}

/// Creates the runtime of a side on the measured thread.
pub fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime")
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).expect("a short time")
}

fn called(runtime: &Runtime, side: &Side, requests: u64) -> u64 {
    let begin = ThreadTime::now();
    runtime.block_on(async {
        for _ in 0..requests {
            side.ask().await;
        }
    });
    nanoseconds(begin.elapsed())
}

const TASKS: u64 = 16;

fn called_at_once(runtime: &Runtime, side: &Arc<Side>, requests: u64) -> u64 {
    let begin = ProcessTime::now();
    runtime.block_on(async {
        let tasks: Vec<_> = (0..TASKS)
            .map(|_| {
                let side = Arc::clone(side);
                tokio::spawn(async move {
                    for _ in 0..requests / TASKS {
                        side.ask().await;
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.expect("answers");
        }
    });
    nanoseconds(begin.elapsed())
}

/// The number of client connections, with one request on each at a time. It is
/// high enough that the server never waits.
const CONNECTIONS: u64 = 32;

/// A listening server, and the request that it receives.
pub struct Server {
    pub address: SocketAddr,
    pub serve: Pin<Box<dyn Future<Output = ()>>>,
    pub request: Vec<u8>,
}

/// Measures two servers in `rounds` rounds of `requests` requests each. Both
/// servers run on one thread, which is the measured one. Clients on another
/// thread send requests to one server and then to the other, in reverse order
/// in every second round.
///
/// Both servers run for the whole time, and a round is short. Other work on the
/// machine therefore affects both, and their start is not measured.
pub fn servers(start: impl AsyncFnOnce() -> [Server; 2], rounds: usize, requests: u64) -> Beside {
    runtime().block_on(async {
        let [one, other] = start().await;
        let asked = [(one.address, one.request), (other.address, other.request)];
        let (clock, mut readers) = mpsc::unbounded_channel::<Reader>();
        let asking = thread::spawn(move || ask_both(&asked, rounds, requests, &clock));
        let begin = ThreadTime::now();
        let read = async {
            while let Some(reader) = readers.recv().await {
                reader.send(nanoseconds(begin.elapsed())).expect("clients");
            }
        };
        tokio::select! {
            _ = async { tokio::join!(one.serve, other.serve) } => panic!("a server has ended"),
            () = read => asking.join().expect("clients that ask to their end"),
        }
    })
}

/// Waits for the time of the server thread, in nanoseconds.
type Reader = std::sync::mpsc::Sender<u64>;

fn ask_both(
    asked: &[(SocketAddr, Vec<u8>); 2],
    rounds: usize,
    requests: u64,
    clock: &mpsc::UnboundedSender<Reader>,
) -> Beside {
    let connect = |(address, _): &(SocketAddr, Vec<u8>)| -> Vec<Client> {
        (0..CONNECTIONS).map(|_| Client::connect(*address).expect("a server")).collect()
    };
    let mut clients = [connect(&asked[0]), connect(&asked[1])];
    let now = || {
        let (reader, time) = std::sync::mpsc::channel();
        clock.send(reader).expect("the thread of the servers");
        time.recv().expect("its time")
    };
    let mut slice = |side: usize| {
        let begin = now();
        for _ in 0..requests / CONNECTIONS {
            ask(&mut clients[side], &asked[side].1);
        }
        (now() - begin) / requests
    };
    // These unmeasured rounds warm up both servers.
    for side in [0, 1, 0, 1] {
        slice(side);
    }
    let mut turned = false;
    median(rounds, || {
        turned = !turned;
        let mut times = [0; 2];
        for side in if turned { [0, 1] } else { [1, 0] } {
            times[side] = slice(side);
        }
        times
    })
}

/// Sends a request on each connection, then reads the responses.
fn ask(clients: &mut [Client], request: &[u8]) {
    for client in &mut *clients {
        client.send(request).expect("a connection");
    }
    for client in clients {
        assert_eq!(client.receive().expect("an answer").status, 200);
    }
}
