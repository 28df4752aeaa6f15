//! Hooks that inspect request and response bodies.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use futures_util::stream;
use stockade::middleware::{BodyHooks, BodyPiece, with_body_hooks};
use stockade::prelude::*;
use stockade::reply::Streamed;
use stockade::{HttpBody, http};

use crate::support::{app, block_on, check, log, request, show, text_of};

/// The pieces that hooks have received, as `direction offset text`. `…` means
/// that the body continues.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<String>>>);

impl Seen {
    fn hook(&self, direction: &'static str) -> impl Fn(&BodyPiece<'_>) + Send + Sync + 'static {
        let lines = Arc::clone(&self.0);
        move |piece| {
            let end = if piece.is_cut() { "…" } else { "" };
            let line = format!("{direction} {} {}{end}", piece.offset(), piece.text());
            lines.lock().unwrap().push(line);
        }
    }

    fn hooks(&self) -> BodyHooks {
        with_body_hooks().on_request(self.hook("<-")).on_response(self.hook("->"))
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

async fn pieces() -> Streamed {
    Streamed::new(stream::iter(["one", "two"].map(Ok::<_, Infallible>)))
}

fn with(hooks: BodyHooks) -> App {
    let api = routes! {
        middleware: [hooks],
        "echo": { GET: async || "whole", POST: async |Body(body): Body<Value>| body },
        "bytes": { POST: async |bytes: Bytes| bytes.len().to_string() },
        "ignored": { POST: async || () },
        "pieces": { GET: pieces },
        "fails": { GET: async || Err::<(), _>(ApiError::conflict()) },
    };
    app(create_router(api, RouterOptions::new().rate_limit(false).max_body_size(16)))
}

/// Creates a request with a body in several pieces.
fn in_pieces(target: &str, pieces: &[&'static str]) -> Request {
    let pieces: Vec<_> = pieces.iter().map(|piece| Ok::<_, Infallible>(*piece)).collect();
    let request = http::Request::post(target).header("content-type", "application/json");
    Request::from(request.body(HttpBody::stream(stream::iter(pieces))).unwrap())
}

#[test]
fn a_hook_receives_each_piece_and_changes_nothing() {
    let seen = Seen::default();
    let app = with(seen.hooks());
    check(&app, "POST /echo\ncontent-type: application/json\n\n[1]", "200 [1]");
    assert_eq!(seen.take(), ["<- 0 [1]", "-> 0 [1]"]);
    let answer =
        block_on(async { show(app.handle(in_pieces("/echo", &["[1", ",2]"])).await).await });
    assert_eq!(answer, "200 [1,2]");
    assert_eq!(seen.take(), ["<- 0 [1", "<- 2 ,2]", "-> 0 [1,2]"]);
    check(&app, "GET /echo", "200 whole");
    assert_eq!(seen.take(), ["-> 0 whole"]);

    // The hook sees a stream when it is sent.
    let response = block_on(app.handle(request("GET /pieces")));
    assert!(seen.take().is_empty());
    assert_eq!(block_on(text_of(response.into_body())), "onetwo");
    assert_eq!(seen.take(), ["-> 0 one", "-> 3 two"]);

    // The hook receives nothing for these requests.
    for text in ["HEAD /echo", "HEAD /pieces", "GET /fails", "GET /nowhere"] {
        block_on(app.handle(request(text)));
        assert!(seen.take().is_empty(), "{text}");
    }
    block_on(app.handle(in_pieces("/ignored", &["x"])));
    assert!(seen.take().is_empty());
}

#[test]
fn a_hook_receives_a_bounded_number_of_bytes() {
    let seen = Seen::default();
    let app = with(seen.hooks().max_bytes(4));
    let ask = |pieces: &[&'static str]| {
        let request = in_pieces("/bytes", pieces);
        block_on(async { show(app.handle(request).await).await })
    };
    assert_eq!(ask(&["123", "456", "789"]), "200 9");
    assert_eq!(seen.take(), ["<- 0 123", "<- 3 4…", "-> 0 9"]);
    assert_eq!(ask(&["1234"]), "200 4");
    assert_eq!(seen.take(), ["<- 0 1234", "-> 0 4"]);
    assert_eq!(ask(&["1234", "5"]), "200 5");
    assert_eq!(seen.take(), ["<- 0 1234", "<- 4 …", "-> 0 5"]);
    check(&app, "GET /echo", "200 whole");
    assert_eq!(seen.take(), ["-> 0 whol…"]);
    // The body size limit still applies.
    let answer = ask(&["0123456789", "0123456789"]);
    assert_eq!(answer, r#"413 {"error":"Request body too large"}"#);
    assert_eq!(seen.take(), ["<- 0 0123…"]);
}

#[test]
fn text_of_a_client_stays_on_one_line_and_a_panic_is_logged() {
    log::watch();
    let seen = Seen::default();
    let app = with(seen.hooks());
    check(&app, "POST /bytes\n\na\nb\u{1b}[2J", "200 7");
    assert_eq!(seen.take()[0], r"<- 0 a\nb\u{1b}[2J");
    let app = with(with_body_hooks().on_request(|_| panic!("a hook that panics")));
    check(&app, "POST /bytes\n\nabc", "200 3");
    let lines = log::lines_with("a hook that panics");
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].starts_with("ERROR a hook of `with_body_hooks`"), "{lines:?}");
}

#[test]
fn a_hook_knows_the_request() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&lines);
    let hook = move |piece: &BodyPiece<'_>| {
        let route = piece.route().unwrap().to_owned();
        let id = piece.request_id().unwrap().to_owned();
        kept.lock().unwrap().push((piece.method().clone(), route, id, piece.bytes().to_vec()));
    };
    let mut router = Router::with_options(
        RouterOptions::new().request_id(stockade::middleware::with_request_id()),
    );
    router.get("/users/:id", async || "x").middleware(with_body_hooks().on_response(hook));
    let app = app(router);
    check(&app, "GET /users/7\nx-request-id: id-1", "200 x");
    let expected = (Method::GET, "/users/:id".to_owned(), "id-1".to_owned(), b"x".to_vec());
    assert_eq!(lines.lock().unwrap()[..], [expected]);
}
