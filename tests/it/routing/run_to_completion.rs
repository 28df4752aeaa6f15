//! Handlers that finish after their clients disconnect.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Waker};
use std::time::Duration;

use futures_util::stream;
use stockade::HttpBody;
use stockade::http;
use stockade::middleware::with_timeout;
use stockade::prelude::*;
use stockade::reply::ResponseWriter;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{advance, timeout};

use crate::support::{app_of, call, log};

/// A handler that waits for a signal. It counts the runs that started, finished
/// and were dropped.
#[derive(Clone)]
struct Job {
    begun: Arc<AtomicUsize>,
    finished: Arc<AtomicUsize>,
    dropped: Arc<AtomicUsize>,
    go: watch::Sender<bool>,
}

/// Counts a run if it is dropped before its end.
struct Guard(Arc<AtomicUsize>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Job {
    fn new() -> Self {
        let go = watch::Sender::new(false);
        Self { begun: Arc::default(), finished: Arc::default(), dropped: Arc::default(), go }
    }

    async fn run(self) -> &'static str {
        self.begun.fetch_add(1, Ordering::SeqCst);
        let guard = Guard(Arc::clone(&self.dropped));
        self.go.subscribe().wait_for(|go| *go).await.unwrap();
        std::mem::forget(guard);
        self.finished.fetch_add(1, Ordering::SeqCst);
        "done"
    }

    /// Returns the number of runs that started, finished and were dropped.
    fn counts(&self) -> [usize; 3] {
        [&self.begun, &self.finished, &self.dropped].map(|it| it.load(Ordering::SeqCst))
    }

    async fn go(&self) {
        self.go.send_replace(true);
        settle().await;
    }
}

/// Lets background tasks run as far as possible.
async fn settle() {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

fn post(path: &str) -> http::Request<HttpBody> {
    http::Request::post(path).body(HttpBody::empty()).unwrap()
}

/// Starts a request and drops it, as a server does when the client disconnects.
async fn begin_and_leave(app: &App, request: http::Request<HttpBody>) {
    let mut sent = Box::pin(app.handle(request));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(sent.as_mut().poll(&mut cx).is_pending());
    drop(sent);
    settle().await;
}

#[tokio::test(start_paused = true)]
async fn a_handler_finishes_after_its_client_disconnected() {
    let job = Job::new();
    let [kept, lost] = [job.clone(), Job::new()];
    let other = lost.clone();
    let app = app_of(routes! {
        "pay": { POST: { move || kept.run(), run_to_completion: true } },
        "other": { POST: move || other.run() },
    });
    begin_and_leave(&app, post("/pay")).await;
    begin_and_leave(&app, post("/other")).await;
    assert_eq!(job.counts(), [1, 0, 0]);
    assert_eq!(lost.counts(), [1, 0, 1]);
    job.go().await;
    assert_eq!(job.counts(), [1, 1, 0]);
    assert_eq!(call(&app, "POST /pay").await, "200 done");
}

#[tokio::test(start_paused = true)]
async fn a_timeout_responds_and_the_handler_finishes() {
    let job = Job::new();
    let [own, listed] = [job.clone(), job.clone()];
    let five = Duration::from_secs(5);
    let app = app_of(routes! {
        "own": { POST: { move || own.run(), run_to_completion: true, timeout: five } },
        "listed": {
            middleware: with_timeout(five),
            run_to_completion: true,
            POST: move || listed.run(),
        },
    });
    assert!(call(&app, "POST /own").await.starts_with("503 "));
    assert!(call(&app, "POST /listed").await.starts_with("503 "));
    assert_eq!(job.counts(), [2, 0, 0]);
    job.go().await;
    assert_eq!(job.counts(), [2, 2, 0]);
}

#[tokio::test(start_paused = true)]
async fn a_handler_does_not_run_forever() {
    for (time, seconds) in [(None, 30), (Some(90), 90)] {
        let job = Job::new();
        let run = job.clone();
        let entry = stockade::RouteEntry::new(move || run.run());
        let entry = match time {
            None => entry.run_to_completion(true),
            Some(seconds) => entry.run_to_completion(Duration::from_secs(seconds)),
        };
        let app = app_of(RouteTree::new().method(Method::POST, entry));
        begin_and_leave(&app, post("/")).await;
        advance(Duration::from_secs(seconds - 1)).await;
        settle().await;
        assert_eq!(job.counts(), [1, 0, 0]);
        advance(Duration::from_secs(1)).await;
        settle().await;
        assert_eq!(job.counts(), [1, 0, 1]);
    }
}

#[tokio::test(start_paused = true)]
async fn false_drops_the_handler_with_its_client() {
    let job = Job::new();
    let [off, on] = [job.clone(), job.clone()];
    let app = app_of(routes! {
        run_to_completion: true,
        "off": { POST: { move || off.run(), run_to_completion: false } },
        "on": { POST: move || on.run() },
    });
    begin_and_leave(&app, post("/off")).await;
    assert_eq!(job.counts(), [1, 0, 1]);
    begin_and_leave(&app, post("/on")).await;
    assert_eq!(job.counts(), [2, 0, 1]);
}

/// A client that disconnects during its upload has not made a complete request.
#[tokio::test(start_paused = true)]
async fn a_request_is_dropped_until_its_arguments_are_extracted() {
    let job = Job::new();
    let run = job.clone();
    let handler = move |_: Bytes| run.run();
    let app = app_of(routes! { "x": { POST: { handler, run_to_completion: true } } });
    let body = HttpBody::stream(stream::once(pending::<Result<Bytes, BoxError>>()));
    begin_and_leave(&app, http::Request::post("/x").body(body).unwrap()).await;
    assert_eq!(job.counts(), [0, 0, 0]);
    begin_and_leave(&app, post("/x")).await;
    job.go().await;
    assert_eq!(job.counts(), [1, 1, 0]);
}

#[tokio::test(start_paused = true)]
async fn at_most_1024_handlers_run_without_clients() {
    log::watch();
    let job = Job::new();
    let [one, other] = [job.clone(), job.clone()];
    let app = app_of(routes! {
        run_to_completion: true,
        "crowd": {
            "one": { POST: move || one.run() },
            "other": { POST: move || other.run() },
        },
    });
    for number in 0..1_030 {
        let path = if number % 2 == 0 { "/crowd/one" } else { "/crowd/other" };
        begin_and_leave(&app, post(path)).await;
    }
    assert_eq!(job.counts(), [1_030, 0, 6]);
    // Clients cannot flood the log: there is at most one line per second.
    let lines = log::lines_with("was dropped when its client disconnected");
    let of_job = lines.iter().filter(|line| line.contains("/crowd/")).count();
    assert!((1..=3).contains(&of_job), "{lines:?}");
    job.go().await;
    assert_eq!(job.counts(), [1_030, 1_024, 6]);
    // Their slots are free again.
    job.go.send_replace(false);
    begin_and_leave(&app, post("/crowd/one")).await;
    assert_eq!(job.counts(), [1_031, 1_024, 6]);
}

#[tokio::test]
async fn a_panic_is_a_500_and_ends_the_handler() {
    let handler = async || -> &'static str {
        tokio::task::yield_now().await;
        panic!("a panic of the handler")
    };
    let app = app_of(routes! { "x": { POST: { handler, run_to_completion: true } } });
    assert!(call(&app, "POST /x").await.starts_with("500 "));
    assert_eq!(app.completions().count(), 0);
}

/// A handler that panics after the disconnect frees its slot, and its panic is
/// logged.
#[tokio::test(start_paused = true)]
async fn a_panic_frees_the_place() {
    log::watch();
    let go = watch::Sender::new(false);
    let wait = go.clone();
    let handler = async move || {
        let is_going = *wait.subscribe().wait_for(|go| *go).await.unwrap();
        assert!(!is_going, "a panic of the handler");
        "x"
    };
    let app =
        app_of(routes! { "panic-of-the-lost": { POST: { handler, run_to_completion: true } } });
    for _ in 0..3 {
        go.send_replace(false);
        begin_and_leave(&app, post("/panic-of-the-lost")).await;
        go.send_replace(true);
        settle().await;
    }
    assert_eq!(app.completions().count(), 0);
    let line = "ERROR POST /panic-of-the-lost failed after its client disconnected: panicked: a \
                panic of the handler";
    assert_eq!(log::lines_with("/panic-of-the-lost"), [line; 3]);
}

#[test]
fn streams_and_web_sockets_are_configuration_errors() {
    use stockade::reply::{Event, Sse, Streamed};

    async fn events() -> Sse {
        Sse::new(stream::empty::<Result<Event, BoxError>>())
    }
    async fn pieces() -> Streamed {
        Streamed::new(stream::empty::<Result<Bytes, BoxError>>())
    }
    async fn writes(_: ResponseWriter) {}
    async fn talks(_: WebSocket) {}

    let refused = |api: RouteTree| {
        let options = RouterOptions::new().enable_web_sockets(true);
        let built = create_router(api, options).build();
        built.err().map(|error| error.to_string()).unwrap_or_default()
    };
    for api in [
        routes! { "x": { POST: { events, run_to_completion: true } } },
        routes! { "x": { POST: { pieces, run_to_completion: true } } },
        routes! { "x": { POST: { writes, run_to_completion: Duration::from_secs(1) } } },
        routes! { "x": { ws: { talks, run_to_completion: true } } },
    ] {
        let error = refused(api);
        assert!(error.contains("`run_to_completion` is set, but"), "{error}");
    }
    let zero = refused(routes! {
        "x": { POST: { async || "x", run_to_completion: Duration::ZERO } },
    });
    assert!(zero.contains("`run_to_completion` must not be 0; use `false`"), "{zero}");
    // They ignore inherited values, and `false` is always valid.
    let inherited = refused(routes! {
        run_to_completion: true,
        "a": { GET: events },
        "b": { GET: pieces },
        "c": { GET: writes },
        "d": { ws: talks },
        "e": { GET: { events, run_to_completion: false } },
    });
    assert_eq!(inherited, "");
}

async fn soon<F: Future>(future: F) -> F::Output {
    timeout(Duration::from_secs(10), future).await.expect("it takes too long")
}

/// The server drops the request when the socket closes, and waits for the
/// handler during shutdown.
#[tokio::test]
async fn a_shutdown_waits_for_handlers_without_clients() {
    let job = Job::new();
    let run = job.clone();
    let api = routes! { "pay": { POST: { move || run.run(), run_to_completion: true } } };
    let router = create_router(api, RouterOptions::new());
    let server = router.create_server().unwrap().bind(0).await.unwrap();
    let (address, handle) = (server.local_addr(), server.handle());
    let app_end = tokio::spawn(server.serve());
    let mut stream = soon(TcpStream::connect(address)).await.unwrap();
    let head = b"POST /pay HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n";
    soon(stream.write_all(head)).await.unwrap();
    soon(async {
        while job.counts()[0] == 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    drop(stream);
    handle.shutdown();
    // The listener is closed, but the server still runs.
    soon(async {
        while TcpStream::connect(address).await.is_ok() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert!(!app_end.is_finished());
    assert_eq!(job.counts(), [1, 0, 0]);
    job.go.send_replace(true);
    soon(app_end).await.unwrap().unwrap();
    assert_eq!(job.counts(), [1, 1, 0]);
}

/// `shutdown_timeout` bounds the wait, and `shutdown_now` ends it.
#[tokio::test]
async fn a_shutdown_does_not_wait_forever() {
    use stockade::server::ServerOptions;

    for is_now in [true, false] {
        let job = Job::new();
        let run = job.clone();
        let api = routes! { "pay": { POST: { move || run.run(), run_to_completion: true } } };
        let router = create_router(api, RouterOptions::new());
        let time = if is_now { Duration::from_secs(60) } else { Duration::from_millis(50) };
        let options = ServerOptions::new().shutdown_timeout(time);
        let server = router.create_server_with(options).unwrap().bind(0).await.unwrap();
        let (address, handle) = (server.local_addr(), server.handle());
        let served = tokio::spawn(server.serve());
        let mut stream = soon(TcpStream::connect(address)).await.unwrap();
        let head = b"POST /pay HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n";
        soon(stream.write_all(head)).await.unwrap();
        soon(async {
            while job.counts()[0] == 0 {
                tokio::task::yield_now().await;
            }
        })
        .await;
        drop(stream);
        handle.shutdown();
        if is_now {
            handle.shutdown_now();
        }
        soon(served).await.unwrap().unwrap();
        assert_eq!(job.counts()[1], 0);
    }
}
