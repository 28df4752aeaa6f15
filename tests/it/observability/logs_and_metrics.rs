//! Request ids, the access log, metrics and health checks.

use std::convert::Infallible;
use std::task::Poll;
use std::time::Duration;

use futures_util::stream;
use stockade::http;
use stockade::middleware::health::Readiness;
use stockade::middleware::{Metrics, RequestId, with_logging, with_request_id};
use stockade::prelude::*;
use stockade::reply::Streamed;
use stockade::routing::health_routes;

use crate::support::{app, block_on, call, check, header_of, log, request, text_of};

const TRACE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

fn api() -> RouteTree {
    async fn fails() -> Result<(), ApiError> {
        Err(ApiError::internal("boom\nERROR forged"))
    }
    async fn pieces() -> Streamed {
        let pieces = ["one", "two"].map(Ok::<_, Infallible>);
        Streamed::new(stream::iter(pieces))
    }
    routes! {
        "seen": { ":id": { GET: async || "four", POST: async |_: Bytes| () } },
        "named": { GET: async |id: RequestId| id.to_string() },
        "fails": { GET: fails },
        "pieces": { GET: pieces },
        "waits": { GET: std::future::pending::<()> },
        "slow": { GET: { handler: std::future::pending::<()>, timeout: Duration::from_millis(1) } },
        "checked": { POST: { handler: async |_: Body<Value>| (), validation: schema!({ "a": { "type": "string", "required": true } }) } },
        "guarded": { GET: { handler: async || (), middleware: [with_auth(Auth::verify(async |_: &mut Request| None::<Value>))] } },
    }
}

fn with(options: RouterOptions) -> App {
    app(create_router(api(), options.expose_errors(false)))
}

/// Requests that do not reach a handler, or that make the handler fail.
const REFUSED: [(&str, u16); 6] = [
    ("GET /nowhere", 404),
    ("PUT /seen/1", 405),
    ("POST /seen/1\ncontent-length: 9\n\n123456789", 413),
    ("GET /fails", 500),
    ("OPTIONS /seen/1\norigin: http://a\naccess-control-request-method: GET", 204),
    ("OPTIONS *", 204),
];

/// Adds headers to a request.
fn adding(text: &str, headers: &str) -> String {
    let (head, body) = text.split_once("\n\n").map_or((text, None), |(a, b)| (a, Some(b)));
    body.map_or(format!("{head}\n{headers}"), |body| format!("{head}\n{headers}\n\n{body}"))
}

#[test]
fn every_response_has_the_ids_of_its_request() {
    let app = with(RouterOptions::new().max_body_size(4).request_id(with_request_id()));
    let names = format!("x-request-id: id-7\ntraceparent: {TRACE}");
    for (text, status) in REFUSED.into_iter().chain([("GET /seen/1", 200)]) {
        let text = adding(text, &names);
        let response = block_on(app.handle(request(&text)));
        assert_eq!(response.status(), status, "{text}");
        assert_eq!(response.headers()["x-request-id"], "id-7", "{text}");
        assert_eq!(response.headers()["traceparent"], TRACE, "{text}");
    }
    // A client without an id gets a new id, but no trace.
    assert_eq!(header_of(&app, "GET /nowhere", "x-request-id").len(), 32);
    assert_eq!(header_of(&app, "GET /nowhere", "traceparent"), "-");
    check(&app, "GET /named\nx-request-id: id-8", "200 id-8");
    let limited = with(RouterOptions::new().rate_limit(1 / MINUTE).request_id(with_request_id()));
    block_on(call(&limited, "GET /seen/1"));
    let response = block_on(limited.handle(request("GET /seen/1\nx-request-id: id-9")));
    assert_eq!(
        (response.status(), &response.headers()["x-request-id"]),
        (StatusCode::TOO_MANY_REQUESTS, &"id-9".parse().unwrap())
    );
    let off = with(RouterOptions::new());
    assert_eq!(header_of(&off, "GET /seen/1\nx-request-id: id-9", "x-request-id"), "-");
}

#[test]
fn a_repeated_request_id_middleware_keeps_the_id() {
    let mut router = Router::with_options(RouterOptions::new().request_id(with_request_id()));
    let strict = with_request_id().believe_client(false);
    router.get("/named", async |id: RequestId| id.to_string()).middleware(strict);
    let app = app(router);
    let response = block_on(app.handle(request("GET /named\nx-request-id: id-1")));
    assert_eq!(response.headers()["x-request-id"], "id-1");
    assert_eq!(block_on(text_of(response.into_body())), "id-1");
}

#[test]
fn request_ids_can_be_enabled_and_disabled() {
    let file = |text: &str| -> RouterOptions {
        serde_json::from_str(&format!(r#"{{"requestId":{text}}}"#)).unwrap()
    };
    let standard = RouterOptions::new();
    for (options, has_id) in [
        (standard.clone(), false),
        (standard.clone().request_id(true), true),
        (standard.clone().request_id(with_request_id()).request_id(false), false),
        (standard.request_id(with_request_id()), true),
        (file("true"), true),
        (file("false"), false),
        (file(r#"{"begin_traces":true}"#), true),
    ] {
        let label = format!("{options:?}");
        let response = block_on(with(options).handle(request("GET /seen/1")));
        assert_eq!(response.headers().contains_key("x-request-id"), has_id, "{label}");
    }
    assert!(serde_json::from_str::<RouterOptions>(r#"{"requestId":{"x":1}}"#).is_err());
}

/// Returns the only access line that contains `text`, without the durations.
#[track_caller]
fn access_line(text: &str) -> String {
    let lines = log::lines_with(text);
    let lines: Vec<_> = lines.iter().filter(|line| line.contains(" duration_us=")).collect();
    let [line] = lines[..] else { panic!("{text}: {lines:?}") };
    log::without_durations(line)
}

#[test]
fn every_request_logs_one_line_without_secrets() {
    log::watch();
    let options = RouterOptions::new().max_body_size(4).access_log(true);
    let app = with(options.request_id(with_request_id()));
    for (index, (text, status)) in REFUSED.into_iter().enumerate() {
        let text = text.replacen(" /nowhere", " /s3cret?key=s3cret", 1);
        block_on(call(&app, &adding(&text, &format!("x-request-id: line-{index}"))));
        let line = access_line(&format!("request_id=line-{index}"));
        assert!(line.contains(&format!(" status={status} ")), "{line}");
        assert!(line.contains("client=192.0.2.7") && !line.contains("s3cret"), "{line}");
    }
    let text = format!(
        "GET /seen/s3cret?key=s3cret\nx-request-id: line-a\ntraceparent: {TRACE}\nauthorization: s3cret"
    );
    check(&app, &text, "200 four");
    let expected = "INFO GET /seen/:id 200 192.0.2.7 [line-a] method=GET route=/seen/:id status=200 bytes=4 \
                    client=192.0.2.7 request_id=line-a trace_id=4bf92f3577b34da6a3ce929d0e0e4736";
    assert_eq!(access_line("request_id=line-a"), expected);
    check(&app, "HEAD /seen/1\nx-request-id: line-b", "200");
    assert!(access_line("request_id=line-b").contains(" bytes=0 "));
    // The line of a rejected request names the route.
    let app = with(RouterOptions::new().rate_limit(1 / MINUTE).access_log(true));
    block_on(call(&app, "GET /seen/1"));
    block_on(call(&app, "GET /seen/1\nx-request-id: line-c"));
    assert!(access_line("request_id=line-c").starts_with("INFO GET /seen/:id 429 "));
}

#[test]
fn a_line_is_readable_without_its_key_values() {
    log::watch();
    let app = with(RouterOptions::new().access_log(with_logging().path(true)));
    block_on(call(&app, "GET /seen/text-1?key=s3cret\nx-request-id: text-1"));
    let [line] = &log::lines_with("(/seen/text-1)")[..] else { panic!("not one line") };
    let (text, pairs) = line.split_once(" method=").unwrap();
    let [duration] = text
        .strip_prefix("INFO GET /seen/:id (/seen/text-1) 200 ")
        .and_then(|rest| rest.strip_suffix(" 192.0.2.7 [text-1]"))
        .map(|duration| [duration])
        .unwrap_or_else(|| panic!("{text}"));
    let millis: f64 = duration.strip_suffix("ms").unwrap().parse().unwrap();
    let pair = format!(" duration_us={:.0} ", millis * 1_000.0);
    assert!(pairs.contains(&pair) && pairs.contains(" path=/seen/text-1 "), "{duration}: {pairs}");
    assert!(!line.contains("s3cret"));
    // Without an id and a client, the line has fewer fields.
    let bare = http::Request::get("/seen/text-2").body(()).unwrap();
    block_on(app.handle(bare));
    let line = access_line("(/seen/text-2)");
    assert!(line.starts_with("INFO GET /seen/:id (/seen/text-2) 200 - method=GET "), "{line}");
}

#[test]
fn an_access_log_is_read_from_a_file() {
    let read = |text: &str| {
        let options = serde_json::from_str::<RouterOptions>(&format!(r#"{{"accessLog":{text}}}"#));
        options.map(|options| format!("{options:?}"))
    };
    for (text, expected) in [
        ("true", "AccessLog { is_on: true, path: false }"),
        ("false", "AccessLog { is_on: false, path: false }"),
        (r#"{"path":true}"#, "AccessLog { is_on: true, path: true }"),
    ] {
        assert!(read(text).unwrap().contains(expected), "{text}");
    }
    assert!(read(r#"{"query":true}"#).unwrap_err().to_string().contains("an object with path"));
}

/// Client input cannot inject text into a log line.
#[test]
fn an_access_log_entry_is_one_line() {
    log::watch();
    let mut router = Router::with_options(RouterOptions::new());
    let naming = |req: &mut Request| req.set_id("own\nINFO forged-7\u{1b}[2J");
    router.get("/x/:id", async || "x").middleware((naming, with_logging().path(true)));
    let app = app(router);
    block_on(app.handle(http::Request::get("/x/é").body(()).unwrap()));
    let expected = r"GET /x/:id (/x/é) 200 - [own\nINFO forged-7\u{1b}[2J] method=GET";
    let line = access_line("forged-7");
    assert!(line.contains(expected), "{line}");
    assert!(line.contains(r" request_id=own\nINFO forged-7\u{1b}[2J"), "{line}");
}

#[test]
fn counts_the_bytes_of_a_stream_until_its_end() {
    log::watch();
    let app = with(RouterOptions::new().access_log(true));
    let ask = |id: &str| request(&format!("GET /pieces\nx-request-id: {id}"));
    let response = block_on(app.handle(ask("stream-a")));
    assert!(log::lines_with("request_id=stream-a").is_empty(), "not at its end");
    assert_eq!(block_on(text_of(response.into_body())), "onetwo");
    assert!(access_line("request_id=stream-a").contains(" status=200 bytes=6 client"));

    drop(block_on(app.handle(ask("stream-b"))));
    let line = access_line("request_id=stream-b");
    assert!(
        line.starts_with("INFO GET /pieces 200 aborted ") && line.contains(" bytes=0 "),
        "{line}"
    );
    assert!(line.ends_with(" aborted=true"), "{line}");
    // The stream of a HEAD response is never sent, which is not an abort.
    check(&app, "HEAD /pieces\nx-request-id: stream-c", "200");
    let line = access_line("request_id=stream-c");
    assert!(line.contains(" bytes=0 ") && !line.contains("aborted"), "{line}");
}

/// Polls a response once, then drops it.
fn leave(app: &App, text: &str, meanwhile: impl FnOnce()) {
    let mut future = Box::pin(app.handle(request(text)));
    block_on(std::future::poll_fn(|cx| {
        assert!(future.as_mut().poll(cx).is_pending());
        Poll::Ready(())
    }));
    meanwhile();
}

#[test]
fn a_disconnect_is_logged_and_ends_the_request() {
    log::watch();
    let metrics = Metrics::new();
    let app = with(RouterOptions::new().access_log(true).metrics(&metrics));
    let in_flight = |route: &str, count: u64| {
        let line = format!(r#"http_requests_in_flight{{method="GET",route="{route}"}} {count}"#);
        metrics.text().lines().any(|other| other == line)
    };
    leave(&app, "GET /waits\nx-request-id: left", || assert!(in_flight("/waits", 1)));
    assert!(!in_flight("/waits", 1));
    let expected = "INFO GET /waits aborted 192.0.2.7 [left] method=GET route=/waits client=192.0.2.7 \
                    request_id=left aborted=true";
    assert_eq!(access_line("request_id=left"), expected);
    let response = block_on(app.handle(request("GET /pieces")));
    assert!(in_flight("/pieces", 1), "until the end of the stream");
    drop(response);
    assert!(in_flight("/pieces", 0));
}

#[test]
fn counts_rejections_by_reason_and_groups_unknown_paths() {
    let metrics = Metrics::new();
    let options = RouterOptions::new().max_body_size(4).metrics(&metrics);
    let app = with(options.rate_limit(30 / MINUTE));
    let json = "content-type: application/json";
    for text in [
        "GET /seen/1",
        "PUT /seen/1",
        "POST /seen/1\n\n12345",
        "GET /fails",
        "GET /slow",
        "GET /guarded",
        &format!("POST /checked\n{json}\n\n{{}}"),
        &format!("POST /checked\n{json}\n\n{{"),
        "OPTIONS /seen/1\norigin: http://a\naccess-control-request-method: GET",
    ] {
        block_on(call(&app, text));
    }
    (0..22).for_each(|number| drop(block_on(call(&app, &format!("GET /scan/{number}")))));
    block_on(call(&app, "GET /seen/1"));
    let text = metrics.text();
    for (name, labels, count) in [
        ("requests", r#"method="GET",route="/seen/:id",status="200""#, 1),
        ("requests", r#"method="OPTIONS",route="(none)",status="204""#, 1),
        ("rejections", r#"method="PUT",route="(none)",reason="method_not_allowed""#, 1),
        ("rejections", r#"method="POST",route="/seen/:id",reason="body_too_large""#, 1),
        ("rejections", r#"method="GET",route="/fails",reason="server_error""#, 1),
        ("rejections", r#"method="GET",route="/slow",reason="timeout""#, 1),
        ("rejections", r#"method="GET",route="/guarded",reason="unauthorized""#, 1),
        ("rejections", r#"method="POST",route="/checked",reason="validation""#, 1),
        ("rejections", r#"method="POST",route="/checked",reason="bad_request""#, 1),
        ("rejections", r#"method="GET",route="(none)",reason="not_found""#, 22),
        ("rejections", r#"method="GET",route="/seen/:id",reason="rate_limit""#, 1),
    ] {
        let line = format!("http_{name}_total{{{labels}}} {count}");
        assert!(text.lines().any(|other| other == line), "{line} in {text}");
    }
    assert!(!text.contains("scan"));
    let in_flight = text.lines().filter(|line| line.starts_with("http_requests_in_flight{"));
    assert!(in_flight.clone().count() > 5 && in_flight.clone().all(|line| line.ends_with(" 0")));
}

#[test]
fn errors_are_logged_on_one_line_with_the_request_id() {
    log::watch();
    let app = with(RouterOptions::new().request_id(with_request_id()));
    block_on(call(&app, "GET /fails\nx-request-id: error-1"));
    let expected =
        r"ERROR GET /fails (/fails) [error-1]: 500 boom\nERROR forged request_id=error-1";
    assert_eq!(log::lines_with("[error-1]"), [expected]);
    assert!(log::lines_with("ERROR forged").iter().all(|line| !line.contains('\n')));
}

#[test]
fn rejections_of_the_host_are_recorded() {
    log::watch();
    let metrics = Metrics::new();
    let options = RouterOptions::new().access_log(true).metrics(&metrics);
    let app = with(options.request_id(with_request_id()));
    let refused = request("GET /seen/1\nx-request-id: host-1");
    let error = ApiError::new(400, "Malformed Host header");
    let response = block_on(app.refuse(refused, error));
    assert_eq!(response.headers()["x-request-id"], "host-1");
    let expected = "INFO GET - 400 192.0.2.7 [host-1] method=GET route=- status=400 bytes=33 client=192.0.2.7 \
                    request_id=host-1";
    assert_eq!(access_line("request_id=host-1"), expected);
    assert_eq!(log::lines_with("DEBUG GET - (/seen/1) [host-1]: 400").len(), 1);
    let line = r#"http_rejections_total{method="GET",route="(none)",reason="bad_request"} 1"#;
    assert!(metrics.text().contains(line));
}

#[test]
fn health_checks_are_not_charged_and_report_readiness() {
    let readiness = Readiness::new();
    let options = RouterOptions::new().rate_limit(1 / MINUTE);
    let mut router = create_router(health_routes(), options).state(readiness.clone());
    router.get("/own", async || "own").rate_limit(false);
    router.get("/again", async || "again").rate_limit(1 / MINUTE).rate_limit(false);
    router.get("/limited", async || "limited").rate_limit(false).rate_limit(true);
    let app = app(router);
    for _ in 0..3 {
        check(&app, "GET /health/live", r#"200 {"status":"ok"}"#);
        check(&app, "HEAD /health/ready", "200");
        check(&app, "GET /own", "200 own");
        check(&app, "GET /again", "200 again");
    }
    assert_eq!(header_of(&app, "GET /own", "ratelimit"), "-");
    readiness.set(false);
    check(&app, "GET /health/ready", r#"503 {"status":"unavailable"}"#);
    // Everything else counts, including other methods of the same path.
    check(&app, "PUT /own", r#"405 {"error":"Method Not Allowed"}"#);
    check(&app, "GET /limited", r#"429 {"error":"Too Many Requests"}"#);
    check(&app, "GET /nowhere", r#"429 {"error":"Too Many Requests"}"#);
    // The macro accepts the option too, and the other limits still apply.
    let tree = routes! {
        "x": { POST: { handler: async |_: Bytes| (), rate_limit: false, max_body: 1 } },
    };
    let app = crate::support::app(create_router(tree, RouterOptions::new().rate_limit(1 / MINUTE)));
    for _ in 0..2 {
        check(&app, "POST /x\n\n1", "204");
        check(&app, "POST /x\n\n12", r#"413 {"error":"Request body too large"}"#);
    }
}
