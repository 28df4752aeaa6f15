//! Allocations per request, from the request to the response.
//!
//! The counts repeat exactly, so a difference of one comes from the code. Each
//! count includes allocations that we cannot save. The map of response headers
//! takes two if there are headers. Sharing the bytes of a path takes one here,
//! while a socket already shares them. The box of a request is created earlier
//! and does not count.
//!
//! This is a separate binary, because tests that log change the cost of an
//! error.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "tests; clippy.toml knows only functions with `#[test]`"
)]

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use stockade::prelude::*;
use stockade::{PeerAddr, http};

fn app(router: Router) -> App {
    router.build().unwrap()
}

fn request(text: &str) -> Request {
    let (method, target) = text.split_once(' ').unwrap();
    let request = http::Request::builder().method(method).uri(target).body(()).unwrap();
    Request::from(request).with_peer(PeerAddr(([192, 0, 2, 7], 4711).into()))
}

/// Runs a future that never waits, without a runtime that would allocate.
fn now<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it waits"),
    }
}

#[track_caller]
fn check(app: &App, request_text: &str, expected: u64) {
    let request = request(request_text);
    let counted = allocation_counter::measure(|| drop(now(app.handle(request))));
    assert_eq!(counted.count_total, expected, "{request_text}");
}

#[test]
fn a_request_allocates_only_the_future_of_its_handler() {
    fn synchronous(_req: &mut Request) {}
    async fn style_a(_req: &mut Request) {}
    async fn style_b(req: Request, next: Next) -> Response {
        next.run(req).await
    }
    let api = routes! {
        "nothing": { GET: async || () },
        "text": { GET: async || "text" },
        "sync": { middleware: [synchronous, synchronous], GET: async || "text" },
        "a": { middleware: [style_a], GET: async || "text" },
        "b": { middleware: [style_b], GET: async || "text" },
        "users/:id/posts/:post": { GET: async |Path((_, _)): Path<(u32, u32)>| "text" },
    };
    let bare = RouterOptions::new().rate_limit(false).cors(false).enable_security_headers(false);
    let app = app(create_router(api, bare));
    check(&app, "GET /nothing", 1 + 1);
    check(&app, "GET /text", 1 + 3);
    check(&app, "GET /sync", 1 + 3);
    check(&app, "GET /a", 2 + 3);
    check(&app, "GET /b", 2 + 3);
    check(&app, "GET /users/42/posts/1337", 1 + 3);
}

#[test]
fn the_defaults_need_three_more_allocations() {
    let mut router = Router::new();
    router.get("/text", async || "text");
    // The first request of a client creates its entry in the rate limit.
    let app = app(router);
    drop(now(app.handle(request("GET /text"))));
    check(&app, "GET /text", 1 + 3 + 3);
}

#[test]
fn rejections_are_prepared() {
    let secret = Secret::new("a secret that has thirty-two bytes").unwrap();
    let mut router = Router::new();
    router.use_(with_auth(Auth::secret(secret)));
    router.get("/text", async || "text");
    let app = app(router);
    // The first responses create data that later responses copy.
    drop(now(app.handle(request("GET /text"))));
    drop(now(app.handle(request("GET /nowhere"))));
    // The response map and its copy, the text of `RateLimit`, the error in the
    // extensions, and the bytes of the path. If no route matches, there is also
    // a box.
    check(&app, "GET /text", 4 + 1 + 3 + 1);
    check(&app, "GET /nowhere", 4 + 1 + 3 + 1 + 1);
}
