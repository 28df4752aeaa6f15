//! Two applications side by side: the processor's time of the one as a ratio to that
//! of the other, formed within each round, so that what the machine does besides
//! falls on both.

// Each bench takes what it needs.
#![allow(dead_code)]

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use bench_common::client::Client;
use cpu_time::{ProcessTime, ThreadTime};
use stockade::prelude::*;
use stockade::{HttpBody, http};
use tokio::runtime::{Builder, Runtime};

/// A request, and the application that answers it by 200.
pub struct Side {
    pub app: App,
    pub target: &'static str,
    /// The JSON of a POST; without it the request is a GET.
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

    /// Writes the request as a client sends it.
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

/// Prints a ratio beside its goal.
pub fn show(name: &str, goal: f64, found: &Beside) {
    let Beside { ratio, times: [own, other] } = found;
    println!("{name}: {ratio:.3} (goal {goal:.2}), {own} ns beside {other} ns");
}

/// Measures two sides in `rounds` rounds of `requests` requests each, in process, one
/// request after the other.
pub fn in_process(sides: [&Side; 2], rounds: usize, requests: u64) -> Beside {
    let runtime = runtime();
    median(rounds, || sides.map(|side| called(&runtime, side, requests) / requests))
}

/// Measures two sides that use threads of their own: the time of the whole process,
/// with [`TASKS`] requests at a time.
pub fn with_threads(sides: [&Arc<Side>; 2], rounds: usize, requests: u64) -> Beside {
    let runtime = runtime();
    median(rounds, || sides.map(|side| called_at_once(&runtime, side, requests) / requests))
}

/// Measures two sides in `rounds` rounds of `requests` requests each, on a server that
/// clients ask from other threads: what is measured is the time of the server's
/// thread.
pub fn over_http(sides: [&Side; 2], rounds: usize, requests: u64) -> Beside {
    median(rounds, || sides.map(|side| served(side, requests) / requests))
}

/// Returns the round in the middle by its ratio.
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

/// Makes the runtime of a side, on the thread that is measured.
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

/// The connections of the client, which has a request on each of them at a time: so
/// many that the server need not wait.
const CONNECTIONS: u64 = 32;

/// Returns the time of the thread of a server of stockade.
pub fn served(side: &Side, requests: u64) -> u64 {
    let bind = async || {
        let server = side.app.clone().create_server().expect("options that fit");
        let server = server.bind("127.0.0.1:0").await.expect("a port");
        (server.local_addr(), async { drop(server.serve().await) })
    };
    served_by(bind, side.written(), requests)
}

/// Returns the time of the thread of a server, which `bind` gives with its address,
/// while clients on another thread send a request again and again.
pub fn served_by<F: Future<Output = ()>>(
    bind: impl AsyncFnOnce() -> (SocketAddr, F),
    request: Vec<u8>,
    requests: u64,
) -> u64 {
    runtime().block_on(async {
        let (address, serve) = bind().await;
        let (sender, done) = tokio::sync::oneshot::channel();
        thread::spawn(move || sender.send(ask(address, &request, requests / CONNECTIONS)));
        let begin = ThreadTime::now();
        tokio::select! {
            () = serve => panic!("the server has ended"),
            done = done => done.expect("a client that asks to its end"),
        }
        nanoseconds(begin.elapsed())
    })
}

/// Sends a request on each connection, and then reads the answers, so many times.
fn ask(address: SocketAddr, request: &[u8], times: u64) {
    let client = |_| Client::connect(address).expect("a server");
    let mut clients: Vec<Client> = (0..CONNECTIONS).map(client).collect();
    for _ in 0..times {
        for client in &mut clients {
            client.send(request).expect("a connection");
        }
        for client in &mut clients {
            assert_eq!(client.receive().expect("an answer").status, 200);
        }
    }
}
