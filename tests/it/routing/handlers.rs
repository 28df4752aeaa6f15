//! Request handlers: their arguments and return values.
// Spec: Handler contract.

use std::borrow::Cow;
use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use futures_util::stream;
use http_body_util::BodyExt as _;
use serde::Deserialize;
use stockade::extract::{ClientIp, Headers};
use stockade::http::{HeaderMap, HeaderValue};
use stockade::middleware::SetCookie;
use stockade::prelude::*;
use stockade::reply::{Accepted, Created, Redirect, ResponseWriter, Status, Streamed};
use stockade::reply::{Event, Sse};
use stockade::{FromRequest, HttpBody, http};

use crate::support::{app, app_of, block_on, check, header_of, request, text_of};

#[test]
fn closures_move_captured_values_into_their_future() {
    let name = String::from("Ada");
    let (moved, lent, taken) = (name.clone(), name.clone(), name);
    let app = app_of(routes! {
        "moved": { GET: move || async move { moved } },
        "lent": { GET: async move || lent.clone() },
        ":id": { GET: move |Path(id): Path<u8>| async move { format!("{taken} {id}") } },
    });
    // Each request gets its own clone.
    for _ in 0..2 {
        check(&app, "GET /moved", "200 Ada");
        check(&app, "GET /lent", "200 Ada");
        check(&app, "GET /7", "200 Ada 7");
    }
}

#[test]
fn the_return_value_determines_the_response() {
    #[derive(serde::Serialize, Schema)]
    struct Point {
        x: u8,
    }
    let app = app_of(routes! {
        "json": { GET: async || json!({ "a": 1 }) },
        "typed": { GET: async || Json(vec![1, 2]) },
        "derived": { GET: async || Point { x: 1 } },
        "text": { GET: async || "text" },
        "string": { GET: async || String::from("string") },
        "cow": { GET: async || Cow::Borrowed("cow") },
        "html": { GET: async || Html("<p>") },
        "bytes": { GET: async || Bytes::from_static(b"bytes") },
        "nothing": { GET: async || () },
        "none": { GET: async || None::<Point> },
        "some": { GET: async || Some(Point { x: 2 }) },
        "status": { GET: async || StatusCode::ACCEPTED },
        "pair": { GET: async || (StatusCode::CREATED, Point { x: 3 }) },
        "created": { GET: async || Created::new(Point { x: 4 }).location("/points/4") },
        "accepted": { GET: async || Accepted("soon") },
        "teapot": { GET: async || Status::<418, _>("short") },
        "nocontent": { GET: async || Status::<204, _>("dropped") },
        "redirect": { GET: async || Redirect::to("/text") },
        "response": { GET: async || http::Response::new(HttpBody::from("whole")) },
        "ok": { GET: async || Ok::<_, ApiError>("fine") },
        "err": { GET: async || Err::<(), _>(ApiError::conflict()) },
    });
    let cases = [
        ("json", r#"200 {"a":1}"#, "application/json"),
        ("typed", "200 [1,2]", "application/json"),
        ("derived", r#"200 {"x":1}"#, "application/json"),
        ("text", "200 text", "text/plain; charset=utf-8"),
        ("string", "200 string", "text/plain; charset=utf-8"),
        ("cow", "200 cow", "text/plain; charset=utf-8"),
        ("html", "200 <p>", "text/html; charset=utf-8"),
        ("bytes", "200 bytes", "application/octet-stream"),
        ("nothing", "204", "-"),
        ("created", r#"201 {"x":4}"#, "application/json"),
        ("accepted", "202 soon", "text/plain; charset=utf-8"),
        ("teapot", "418 short", "text/plain; charset=utf-8"),
        ("nocontent", "204", "-"),
        ("none", "204", "-"),
        ("some", r#"200 {"x":2}"#, "application/json"),
        ("status", "202", "-"),
        ("pair", r#"201 {"x":3}"#, "application/json"),
        ("redirect", "303", "-"),
        ("response", "200 whole", "-"),
        ("ok", "200 fine", "text/plain; charset=utf-8"),
        ("err", r#"409 {"error":"Resource conflict"}"#, "application/json"),
    ];
    for (path, expected, content_type) in cases {
        let request = format!("GET /{path}");
        check(&app, &request, expected);
        assert_eq!(header_of(&app, &request, "content-type"), content_type, "{path}");
    }
    assert_eq!(header_of(&app, "GET /redirect", "location"), "/text");
    assert_eq!(header_of(&app, "GET /created", "location"), "/points/4");
}

#[test]
fn pairs_are_headers() {
    const BAD: &str = r#"500 {"error":"Internal Server Error"}"#;
    let app = app_of(routes! {
        "list": { GET: async || ([("x-a", "1"), ("X-B", "2")], "text") },
        "typed": { GET: async || (
            StatusCode::CREATED,
            [(header::CONTENT_TYPE, "text/csv"), (header::VARY, "accept")],
            "a,b",
        ) },
        "many": { GET: async || ([("set-cookie", "a=1"), ("set-cookie", "b=2")], "text") },
        "vec": { GET: async || (vec![(String::from("x-a"), 7_u64)], Created::new(())) },
        "three": { GET: async || ([("x-a", "1")], StatusCode::ACCEPTED, "text") },
        "name": { GET: async || ([("a name", "1")], "text") },
        "value": { GET: async || ([("x-a", "1\r\nx-b: 2")], "text") },
        "location": { GET: async || Created::new("text").location("/a\r\nx-b: 2") },
    });
    check(&app, "GET /list", "200 text");
    assert_eq!(header_of(&app, "GET /list", "x-a"), "1");
    assert_eq!(header_of(&app, "GET /list", "x-b"), "2");
    assert_eq!(header_of(&app, "GET /list", "content-type"), "text/plain; charset=utf-8");
    check(&app, "GET /typed", "201 a,b");
    assert_eq!(header_of(&app, "GET /typed", "content-type"), "text/csv");
    check(&app, "GET /vec", "201");
    assert_eq!(header_of(&app, "GET /vec", "x-a"), "7");
    check(&app, "GET /three", "202 text");
    for path in ["name", "value", "location"] {
        check(&app, &format!("GET /{path}"), BAD);
        assert_eq!(header_of(&app, &format!("GET /{path}"), "x-b"), "-");
    }
    let response = block_on(app.handle(request("GET /many")));
    let cookies: Vec<_> = response.headers().get_all("set-cookie").iter().collect();
    assert_eq!(cookies, ["a=1", "b=2"]);
}

#[test]
fn parts_add_their_cookies() {
    let list = [(header::SET_COOKIE, "list=1"), (header::VARY, "a")];
    let map = HeaderMap::from_iter([
        (header::SET_COOKIE, HeaderValue::from_static("map=1")),
        (header::VARY, HeaderValue::from_static("b")),
    ]);
    let (other_list, other_map) = (list.clone(), map.clone());
    let cookie = || SetCookie::from_static("set", "1");
    let app = app_of(routes! {
        "list": { GET: async move || (list, (cookie(), map, "text")) },
        "map": { GET: async move || (other_map, (other_list, cookie(), "text")) },
    });
    for (path, vary, expected) in
        [("list", "a", ["map=1", "set=1", "list=1"]), ("map", "b", ["set=1", "list=1", "map=1"])]
    {
        let response = block_on(app.handle(request(&format!("GET /{path}"))));
        let cookies = response.headers().get_all("set-cookie").iter();
        let pairs = cookies.map(|cookie| cookie.to_str().unwrap().split(';').next().unwrap());
        assert_eq!(pairs.collect::<Vec<_>>(), expected);
        assert_eq!(header_of(&app, &format!("GET /{path}"), "vary"), vary);
    }
}

#[test]
fn an_unserializable_value_is_a_500() {
    struct Never;
    impl serde::Serialize for Never {
        fn serialize<S: serde::Serializer>(&self, _serializer: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("secret reason"))
        }
    }
    let app =
        app_of(routes! { "x": { GET: async || Json(stockade::validation::Unchecked(Never)) } });
    check(&app, "GET /x", r#"500 {"error":"Internal Server Error"}"#);
    // A line break in the location would start another header.
    let app = app_of(routes! { "x": { GET: async || Redirect::to("/a\r\nx: y") } });
    check(&app, "GET /x", r#"500 {"error":"Internal Server Error"}"#);
}

#[test]
fn arguments_can_be_in_any_order() {
    #[expect(clippy::too_many_arguments, reason = "the maximum for a handler")]
    async fn all(
        req: Request,
        Path(id): Path<u32>,
        headers: Headers,
        Body(body): Body<Value>,
        Query(query): Query<Vec<(String, String)>>,
        state: State<String>,
        ClientIp(ip): ClientIp,
        raw: Bytes,
    ) -> String {
        let header = headers["x-a"].to_str().unwrap_or("?").to_owned();
        let length = raw.len();
        format!("{} {id} {header} {body} {query:?} {} {ip} {length}", req.method(), *state)
    }
    let router = Router::from(routes! { ":id": { POST: all } });
    let app = app(router.state(String::from("state")));
    let text = "POST /7?a=1&b=2\nx-a: h\ncontent-type: application/json\n\n[1]";
    check(&app, text, r#"200 POST 7 h [1] [("a", "1"), ("b", "2")] state 192.0.2.7 3"#);
}

#[test]
fn paths_fill_values_tuples_and_structs() {
    #[derive(Deserialize, Schema)]
    struct Flight {
        to: String,
        from: String,
    }
    #[derive(Deserialize, Schema)]
    struct Shelf {
        kind: Option<Kind>,
        page: Option<u8>,
    }
    #[derive(Debug, Deserialize, Schema)]
    #[serde(rename_all = "lowercase")]
    enum Kind {
        Tea,
        Coffee,
    }
    let app = app_of(routes! {
        "n/:id": { GET: async |Path(id): Path<u8>| id.to_string() },
        "s/:name": { GET: async |Path(name): Path<String>| name },
        "t/:a-:b": { GET: async |Path((a, b)): Path<(f64, bool)>| format!("{a} {b}") },
        "f/:from-:to": { GET: async |Path(f): Path<Flight>| format!("{} {}", f.from, f.to) },
        "k/:kind?/:page?": { GET: async |Path(s): Path<Shelf>| format!("{:?} {:?}", s.kind, s.page) },
    });
    check(&app, "GET /n/255", "200 255");
    check(&app, "GET /s/a%20b", "200 a b");
    check(&app, "GET /t/1.5-true", "200 1.5 true");
    check(&app, "GET /f/OSL-LHR", "200 OSL LHR");
    check(&app, "GET /k", "200 None None");
    check(&app, "GET /k/tea", "200 Some(Tea) None");
    check(&app, "GET /k/coffee/7", "200 Some(Coffee) Some(7)");

    let refused = |field: &str, message: &str, rule: &str| {
        let error = json!({ "field": field, "message": message, "rule": rule });
        format!("400 {}", json!({ "error": "Validation failed", "details": { "errors": [error] } }))
    };
    check(&app, "GET /n/256", &refused("id", "Number must be at most 255", "maximum"));
    check(&app, "GET /n/x", &refused("id", "Expected integer, got string", "type"));
    check(&app, "GET /t/inf-true", &refused("a", "Expected number, got string", "type"));
    check(&app, "GET /t/1-yes", &refused("b", "Expected boolean, got string", "type"));
    check(&app, "GET /k/milk", &refused("kind", r#"Must be one of: "tea", "coffee""#, "enum"));
}

#[test]
fn queries_fill_structs() {
    #[derive(Debug, Deserialize, Schema)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code, reason = "read through Debug")]
    struct Search {
        q: String,
        page: Option<u32>,
        #[serde(default)]
        tag: Vec<String>,
        #[serde(default)]
        exact: bool,
    }
    let app = app_of(routes! { "s": { GET: async |Query(s): Query<Search>| format!("{s:?}") } });
    let shown = |q: &str, rest: &str| format!("200 Search {{ q: {q:?}, {rest} }}");
    check(&app, "GET /s?q=a+b", &shown("a b", "page: None, tag: [], exact: false"));
    let all = "GET /s?tag=x&q=&page=2&tag=y&exact=true";
    check(&app, all, &shown("", r#"page: Some(2), tag: ["x", "y"], exact: true"#));

    let refused = |field: &str, message: &str, rule: &str| {
        let error = json!({ "field": field, "message": message, "rule": rule });
        format!("400 {}", json!({ "error": "Validation failed", "details": { "errors": [error] } }))
    };
    check(&app, "GET /s", &refused("q", "Required field 'q' is missing", "required"));
    check(&app, "GET /s?q=a&q=b", &refused("q", "Expected string, got array", "type"));
    check(&app, "GET /s?q=a&x=1", &refused("x", "Unknown field 'x'", "additionalProperties"));
    check(&app, "GET /s?q=a&page=-1", &refused("page", "Number must be at least 0", "minimum"));
    let many = format!("GET /s?{}", vec!["a=1"; 1_001].join("&"));
    check(&app, &many, r#"400 {"error":"Too many parameters"}"#);
}

#[test]
fn custom_extractors_can_wait_and_reject() {
    struct Tenant(String);
    impl FromRequest for Tenant {
        async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
            tokio::task::yield_now().await;
            let tenant = req.headers().get("x-tenant").and_then(|value| value.to_str().ok());
            tenant.map(|name| Self(name.to_owned())).ok_or_else(ApiError::authorization)
        }
    }
    let app = app_of(routes! { "x": { GET: async |Tenant(name): Tenant| name } });
    check(&app, "GET /x\nx-tenant: acme", "200 acme");
    check(&app, "GET /x", r#"403 {"error":"Access denied"}"#);
}

#[test]
fn closures_can_capture() {
    let count = Arc::new(AtomicUsize::new(0));
    let shared = Arc::clone(&count);
    let mut router = Router::new();
    router.get("/count", move || {
        let count = Arc::clone(&shared);
        async move { count.fetch_add(1, Ordering::Relaxed).to_string() }
    });
    let app = app(router);
    check(&app, "GET /count", "200 0");
    check(&app, "GET /count", "200 1");
}

#[test]
fn streams_and_events_are_sent_immediately() {
    async fn numbers() -> Streamed {
        let pieces = stream::iter(["1,", "2,", "3"].map(Ok::<_, Infallible>));
        Streamed::new(pieces).content_type("text/csv")
    }
    async fn events() -> Sse {
        let events = [Event::data("one").name("n"), Event::data("two")];
        Sse::new(stream::iter(events.map(Ok::<_, Infallible>)))
    }
    async fn breaks() -> Streamed {
        Streamed::new(stream::iter([Ok("a"), Err(BoxError::from("lost"))]))
    }
    async fn panics() -> Streamed {
        Streamed::new(stream::poll_fn(|_| -> std::task::Poll<Option<Result<&str, Infallible>>> {
            panic!("in the stream")
        }))
    }
    let app = app_of(routes! {
        "numbers": { GET: numbers },
        "events": { GET: events },
        "breaks": { GET: breaks },
        "panics": { GET: panics },
    });
    check(&app, "GET /numbers", "200 1,2,3");
    assert_eq!(header_of(&app, "GET /numbers", "content-type"), "text/csv");
    check(&app, "GET /events", "200 event: n\ndata: one\n\ndata: two\n\n");
    assert_eq!(header_of(&app, "GET /events", "content-type"), "text/event-stream");
    check(&app, "GET /breaks", "200 a<error>");
    check(&app, "GET /panics", "200 <error>");
    // A stream does not have a length, and HEAD does not start it.
    check(&app, "HEAD /panics", "200");
    assert_eq!(header_of(&app, "HEAD /numbers", "content-length"), "-");
}

#[test]
fn a_handler_can_write_the_response() {
    async fn whole(mut res: ResponseWriter) -> Result<(), ApiError> {
        res.status(201).header("x-a", "1")?;
        res.write("one ").await?;
        res.write("two").await
    }
    async fn only_head(mut res: ResponseWriter) -> Result<StatusCode, ApiError> {
        res.header("x-a", "1")?;
        Ok(StatusCode::ACCEPTED)
    }
    async fn status_of_a_value(mut res: ResponseWriter) -> Json<u8> {
        res.status(203);
        Json(7)
    }
    async fn ended(mut res: ResponseWriter) -> Result<(), ApiError> {
        res.status(206);
        res.end().await
    }
    async fn sends_json(res: ResponseWriter) -> Result<(), ApiError> {
        res.json(&json!({ "a": 1 })).await
    }
    async fn untouched(_res: ResponseWriter) {}
    async fn fails_first(mut res: ResponseWriter) -> Result<(), ApiError> {
        res.status(201);
        Err(ApiError::conflict())
    }
    async fn fails_late(mut res: ResponseWriter) -> Result<(), ApiError> {
        res.write("begun").await?;
        tokio::task::yield_now().await;
        Err(ApiError::conflict())
    }
    async fn fails_at_once(mut res: ResponseWriter) -> Result<(), ApiError> {
        res.write("begun").await?;
        Err(ApiError::conflict())
    }
    async fn panics_late(mut res: ResponseWriter) -> Result<(), ApiError> {
        res.write("begun").await?;
        tokio::task::yield_now().await;
        panic!("late")
    }
    async fn moved_away(mut res: ResponseWriter) {
        tokio::spawn(async move {
            tokio::task::yield_now().await;
            res.write("from elsewhere").await
        });
    }
    let app = app_of(routes! {
        "whole": { GET: whole },
        "only-head": { GET: only_head },
        "status": { GET: status_of_a_value },
        "ended": { GET: ended },
        "json": { GET: sends_json },
        "untouched": { GET: untouched },
        "fails-first": { GET: fails_first },
        "fails-late": { GET: fails_late },
        "fails-at-once": { GET: fails_at_once },
        "panics-late": { GET: panics_late },
        "moved": { GET: moved_away },
    });
    check(&app, "GET /whole", "201 one two");
    assert_eq!(header_of(&app, "GET /whole", "x-a"), "1");
    check(&app, "GET /only-head", "202");
    assert_eq!(header_of(&app, "GET /only-head", "x-a"), "1");
    check(&app, "GET /status", "203 7");
    check(&app, "GET /ended", "206");
    check(&app, "GET /json", r#"200 {"a":1}"#);
    assert_eq!(header_of(&app, "GET /json", "content-type"), "application/json");
    check(&app, "GET /untouched", "204");
    check(&app, "GET /fails-first", r#"409 {"error":"Resource conflict"}"#);
    check(&app, "GET /fails-late", "200 begun<error>");
    // Data written before the error is always sent.
    check(&app, "GET /fails-at-once", "200 begun<error>");
    check(&app, "GET /panics-late", "200 begun<error>");
    check(&app, "GET /moved", "200 from elsewhere");
}

#[test]
fn an_abandoned_write_leaves_the_head_to_the_next_write() {
    async fn given_up(mut res: ResponseWriter) -> Result<(), ApiError> {
        res.status(201);
        poll_fn(|cx| {
            // With the budget used up, a write waits although there is room.
            while pin!(tokio::task::coop::consume_budget()).poll(cx).is_ready() {}
            assert!(pin!(res.write("given up")).poll(cx).is_pending());
            Poll::Ready(())
        })
        .await;
        res.write("written").await
    }
    check(&app_of(routes! { "x": { GET: given_up } }), "GET /x", "201 written");
}

#[test]
fn pieces_are_sent_immediately_and_wait_for_a_slow_client() {
    static WRITTEN: AtomicUsize = AtomicUsize::new(0);
    async fn endless(mut res: ResponseWriter) -> Result<(), ApiError> {
        loop {
            res.write("x").await?;
            WRITTEN.fetch_add(1, Ordering::Relaxed);
        }
    }
    let app = app_of(routes! { "x": { GET: endless } });
    block_on(async {
        let response = app.handle(request("GET /x")).await;
        let mut body = response.into_body();
        for _ in 0..100 {
            let frame = body.frame().await.unwrap().unwrap();
            assert_eq!(frame.data_ref().unwrap(), "x");
        }
        let written = WRITTEN.load(Ordering::Relaxed);
        assert!((100..120).contains(&written), "{written} pieces were written for 100 read");
        // The client disconnects, so writing stops.
        drop(body);
        tokio::task::yield_now().await;
        assert_eq!(WRITTEN.load(Ordering::Relaxed), written);
    });
}

#[test]
fn bodies_can_be_streamed_in() {
    async fn count(body: HttpBody) -> String {
        text_of(body).await.len().to_string()
    }
    let app = app_of(routes! { "x": { POST: count } });
    check(&app, "POST /x\n\n12345", "200 5");
}

#[test]
fn a_response_cannot_contradict_itself() {
    fn one_header(name: &'static str, value: &'static str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(name, value.parse().unwrap());
        headers
    }
    let app = app_of(routes! {
        "interim": { GET: async || StatusCode::SWITCHING_PROTOCOLS },
        "unknown": { GET: async || StatusCode::from_u16(999).unwrap() },
        "no-content": { GET: async || (StatusCode::NO_CONTENT, "body") },
        "reset": { GET: async || (StatusCode::RESET_CONTENT, "body") },
        "not-modified": { GET: async || (StatusCode::NOT_MODIFIED, "body") },
        "length": { GET: async || (one_header("content-length", "3"), "too long") },
        "coding": { GET: async || (one_header("transfer-encoding", "gzip"), "plain") },
    });
    check(&app, "GET /interim", r#"500 {"error":"Internal Server Error"}"#);
    check(&app, "GET /unknown", r#"500 {"error":"Internal Server Error"}"#);
    check(&app, "GET /no-content", "204");
    assert_eq!(header_of(&app, "GET /no-content", "content-type"), "-");
    check(&app, "GET /reset", "205");
    check(&app, "GET /not-modified", "304");
    check(&app, "GET /length", "200 too long");
    assert_eq!(header_of(&app, "GET /length", "content-length"), "-");
    check(&app, "GET /coding", "200 plain");
    assert_eq!(header_of(&app, "GET /coding", "transfer-encoding"), "-");
}

#[test]
fn a_writer_continues_after_its_task_budget_ends() {
    // Each tokio task has a budget. Once it is used up, channels return
    // "pending" regardless of their content.
    async fn many(mut res: ResponseWriter) -> Result<(), ApiError> {
        for _ in 0..1_000 {
            res.write("x").await?;
        }
        Ok(())
    }
    let app = app_of(routes! { "x": { GET: many } });
    for used_up in 0..20 {
        block_on(async {
            for _ in 0..used_up {
                tokio::task::consume_budget().await;
            }
            let text = text_of(app.handle(request("GET /x")).await.into_body()).await;
            assert_eq!(text.len(), 1_000, "after {used_up}");
        });
    }
}
