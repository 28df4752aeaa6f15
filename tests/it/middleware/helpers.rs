//! Middleware helpers that transform, limit, log and respond.
// Spec: Middleware helpers; Errors › Response rules, rule 4; Limits ›
// `withRateLimit`.

use std::collections::{BTreeMap, BTreeSet};
use std::future::pending;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use stockade::middleware::cors::CorsDecided;
use stockade::middleware::health::{Readiness, live, ready};
use stockade::middleware::rate_limit::HOUR;
use stockade::middleware::with_rate_limit;
use stockade::middleware::{
    DeserializeHelpers, DeserializeRequest, ErrorHandlerOptions, Metrics, RateLimit,
    SerializeHelpers, SerializeResponse, create_api_middleware, create_error_handler, error_of,
    with_cors, with_error_handling, with_logging, with_sanitization, with_serialization,
    with_timeout,
};
use stockade::prelude::*;
use stockade::reply::ResponseWriter;
use stockade::serialization::{CustomSerialization, SerializationOptions};

use crate::support::{app, app_of, block_on, call, check, header_of, log, request, show};

// with_sanitization

async fn echo(mut req: Request) -> Result<Value, ApiError> {
    let body = if req.has_readable_body() { req.body().await?.take() } else { Value::Null };
    Ok(json!({ "params": req.param_values(), "query": req.query()?, "body": body }))
}

fn sanitized() -> App {
    app_of(routes! {
        middleware: [with_sanitization()],
        ":name": { GET: echo, POST: echo, DELETE: echo },
        "bytes/:name": { POST: async |bytes: Bytes| bytes },
        "typed/:name": { POST: async |Body(body): Body<Option<Value>>| json!(body) },
    })
}

#[test]
fn texts_of_body_query_and_params_are_escaped() {
    let app = sanitized();
    check(
        &app,
        "POST /%3Cb%3E?q=%22x%22&q=%26amp;&__proto__=1\ncontent-type: application/json\n\n\
         {\"a\":[\"<i>\",{\"__proto__\":{\"x\":1},\"b\":\"it's\"}],\"n\":1}",
        r#"200 {"params":{"name":"&lt;b&gt;"},"query":{"q":["&quot;x&quot;","&amp;"]},"body":{"a":["&lt;i&gt;",{"b":"it&#x27;s"}],"n":1}}"#,
    );
    let form = "content-type: application/x-www-form-urlencoded";
    check(
        &app,
        &format!("POST /a\n{form}\n\nx=%3Cb%3E&__proto__=1"),
        r#"200 {"params":{"name":"a"},"query":{},"body":{"x":"&lt;b&gt;"}}"#,
    );
    check(
        &app,
        "POST /a\ncontent-type: text/plain\n\n<b>",
        r#"200 {"params":{"name":"a"},"query":{},"body":"&lt;b&gt;"}"#,
    );
}

#[test]
fn leaves_other_bodies_unchanged() {
    let app = sanitized();
    let json = "content-type: application/json";
    let untouched = r#"200 {"params":{"name":"a"},"query":{},"body":null}"#;
    check(&app, &format!("GET /a\n{json}\n\nnot json"), untouched);
    check(&app, "POST /a\ncontent-type: image/png\n\n<", untouched);
    check(&app, "POST /a\ncontent-type: multipart/form-data; boundary=x\n\n--x", untouched);
    check(&app, "POST /a\n\n<", untouched);
    check(&app, "DELETE /a", untouched);
    check(&app, &format!("POST /a\n{json}\n\n{{"), r#"400 {"error":"Invalid JSON body"}"#);
    check(&app, "POST /bytes/a\ncontent-type: image/png\n\n<", "200 <");
    // Raw bytes stay unchanged.
    check(&app, &format!("POST /bytes/a\n{json}\n\n\"<\""), "200 \"<\"");
    // A missing body stays missing.
    check(&app, &format!("POST /typed/a\n{json}"), "200 null");
    check(&app, &format!("POST /typed/a\n{json}\n\n\"<\""), r#"200 "&lt;""#);
}

#[test]
fn sanitizing_again_changes_nothing() {
    let app = app_of(routes! {
        middleware: [with_sanitization(), with_sanitization()],
        ":name": { GET: echo },
    });
    let once = r#"200 {"params":{"name":"a&amp;b"},"query":{"q":"&lt;"},"body":null}"#;
    check(&app, "GET /a&b?q=%3C", once);
}

// with_serialization

async fn dates(req: Request) -> Result<String, ApiError> {
    let query = req.query()?;
    let date: SystemTime = req.deserialize().date(query["at"].as_str().unwrap_or_default())?;
    Ok(date.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis().to_string())
}

async fn maps(res: ResponseWriter) -> Result<(), ApiError> {
    let map = res.serialize().map(&BTreeMap::from([((1, 2), "x")]))?;
    res.json(&map).await
}

async fn sets(
    serialize: SerializeHelpers,
    deserialize: DeserializeHelpers,
) -> Result<Value, ApiError> {
    let set: BTreeSet<u8> = deserialize.set(json!([2, 1, 2]))?;
    Ok(serialize.set(&set)?)
}

fn serializing<M>(middleware: impl stockade::middleware::IntoMiddlewareList<M>) -> App {
    let mut router = Router::with_options(RouterOptions::new().expose_errors(true));
    router.use_(middleware);
    router.get("/dates", dates);
    router.get("/maps", maps);
    router.get("/sets", sets);
    app(router)
}

#[test]
fn request_and_writer_have_their_helpers() {
    for app in [serializing(()), serializing(with_serialization(SerializationOptions::new()))] {
        check(&app, "GET /dates?at=1970-01-01T00:00:01.500Z", "200 1500");
        check(&app, "GET /maps", r#"200 {"[1,2]":"x"}"#);
        check(&app, "GET /sets", "200 [1,2]");
        let unreadable = call(&app, "GET /dates?at=soon");
        assert!(block_on(unreadable).starts_with("400 "));
    }
}

#[test]
fn a_disabled_helper_names_its_option() {
    let options =
        SerializationOptions::new().enable_date(false).enable_map(false).enable_set(false);
    let app = serializing(with_serialization(options));
    for (path, option) in [("dates?at=1970-01-01", "date"), ("maps", "map"), ("sets", "set")] {
        let expected = format!(r#"500 {{"error":"disabled by the option `enable_{option}`"}}"#);
        check(&app, &format!("GET /{path}"), &expected);
    }
}

#[test]
fn a_custom_function_replaces_a_helper() {
    let custom = CustomSerialization::new()
        .serialize_set(|items| Ok::<_, ApiError>(json!({ "set": items })));
    let app = serializing(with_serialization(SerializationOptions::new().custom(custom)));
    check(&app, "GET /sets", r#"200 {"set":[1,2]}"#);
}

// create_api_middleware

#[test]
fn errors_and_panics_reach_the_error_handler() {
    static SEEN: Mutex<Vec<String>> = Mutex::new(Vec::new());
    async fn watches(req: Request, next: Next) -> Result<Response, ApiError> {
        let outcome = next.try_run(req).await;
        outcome.inspect_err(|error| SEEN.lock().unwrap().push(error.to_string()))
    }
    async fn fails(req: Request, next: Next) -> Result<Response, ApiError> {
        match req.path() {
            "/fails" => Err(ApiError::conflict()),
            "/panics" => panic!("inside"),
            _ => Ok(next.run(req).await),
        }
    }
    let app = app_of(routes! {
        middleware: [watches, create_api_middleware(fails)],
        ":what": { GET: async || "handler" },
    });
    check(&app, "GET /passes", "200 handler");
    check(&app, "GET /fails", r#"409 {"error":"Resource conflict"}"#);
    check(&app, "GET /panics", r#"500 {"error":"Internal Server Error"}"#);
    assert_eq!(*SEEN.lock().unwrap(), ["Resource conflict", "panicked: inside"]);
}

// with_rate_limit

/// A clock that a test sets.
#[derive(Clone)]
struct Clock(Arc<Mutex<Instant>>);

impl Clock {
    fn new() -> Self {
        Self(Arc::new(Mutex::new(Instant::now())))
    }

    fn read(&self) -> impl Fn() -> Instant + Send + Sync + 'static {
        let now = Arc::clone(&self.0);
        move || *now.lock().unwrap()
    }

    fn forward(&self, seconds: u64) {
        *self.0.lock().unwrap() += Duration::from_secs(seconds);
    }
}

const REFUSED: &str = r#"429 {"error":"Too Many Requests"}"#;

/// Creates an application with the routes that `define` registers.
fn limited(define: impl FnOnce(&mut Router)) -> App {
    let mut router = Router::with_options(RouterOptions::new().expose_errors(false));
    define(&mut router);
    app(router)
}

/// Returns the header's item for the policy with this name.
fn said_of(response: &Response, header: &str, policy: &str) -> Option<String> {
    let lines = response.headers().get_all(header).iter();
    let lines: Vec<&str> = lines.map(|line| line.to_str().unwrap()).collect();
    let all = lines.join(", ");
    all.split(", ").find(|item| item.starts_with(&format!("\"{policy}\""))).map(str::to_owned)
}

#[test]
fn a_route_can_have_a_separate_limit() {
    let clock = Clock::new();
    let limit = with_rate_limit(2 / MINUTE).clock(clock.read());
    let app = limited(|router| {
        router.get("/limited", async || "ok").middleware(limit);
        router.get("/free", async || "free");
    });
    let get = || block_on(app.handle(request("GET /limited")));
    let first = get();
    assert_eq!(said_of(&first, "ratelimit-policy", "route").unwrap(), "\"route\";q=2;w=60");
    assert_eq!(said_of(&first, "ratelimit", "route").unwrap(), "\"route\";r=1;t=60");
    check(&app, "GET /limited", "200 ok");
    clock.forward(1);
    let refused = get();
    assert_eq!(said_of(&refused, "ratelimit", "route").unwrap(), "\"route\";r=0;t=59");
    assert_eq!(refused.headers()["retry-after"], "59");
    assert_eq!(block_on(show(refused)), REFUSED);
    check(&app, "GET /free", "200 free");
    clock.forward(58);
    check(&app, "GET /limited", REFUSED);
    // A client that waits for the announced time is allowed again.
    clock.forward(1);
    check(&app, "GET /limited", "200 ok");
}

#[test]
fn error_responses_report_the_remaining_requests() {
    let app = limited(|router| {
        let limits = (
            with_rate_limit(RateLimit::from(5 / MINUTE).name("outer")),
            with_rate_limit(RateLimit::from(3 / HOUR).name("inner")),
        );
        router.get("/x", async || Err::<(), _>(ApiError::conflict())).middleware(limits);
    });
    let response = block_on(app.handle(request("GET /x")));
    assert_eq!(response.status(), 409);
    assert_eq!(said_of(&response, "ratelimit", "outer").unwrap(), "\"outer\";r=4;t=60");
    assert_eq!(said_of(&response, "ratelimit", "inner").unwrap(), "\"inner\";r=2;t=3600");
}

#[test]
fn exactly_as_many_of_concurrent_requests_pass() {
    let app = limited(|router| {
        router.get("/x", async || "ok").middleware(with_rate_limit(100 / HOUR));
    });
    let passed: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..10)
            .map(|_| {
                scope.spawn(|| {
                    let answers = (0..50).map(|_| block_on(app.handle(request("GET /x"))));
                    answers.filter(|answer| answer.status() == 200).count()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(passed, 100);
}

#[test]
fn the_key_distinguishes_clients() {
    let by_user = RateLimit::from(1 / MINUTE).key_generator(|req| {
        let user = req.headers().get("x-user").and_then(|user| user.to_str().ok());
        user.map(str::to_owned).ok_or_else(|| ApiError::new(400, "no user"))
    });
    let app = limited(|router| {
        router.get("/x", async || "ok").middleware(with_rate_limit(by_user));
    });
    check(&app, "GET /x\nx-user: ann", "200 ok");
    check(&app, "GET /x\nx-user: ben", "200 ok");
    check(&app, "GET /x\nx-user: ann", REFUSED);
}

#[test]
fn the_build_reports_errors_of_limits() {
    let mut router = Router::new();
    router.get("/a", async || "").middleware(with_rate_limit(0 / MINUTE));
    router.get("/b", async || "").rate_limit(1 / MINUTE).timeout(Duration::ZERO);
    let error = router.build().unwrap_err().to_string();
    assert!(error.contains("with_rate_limit: the limit of a rate limit must not be 0"), "{error}");
    assert!(error.contains("a timeout must not be 0"), "{error}");
}

// The route options `rate_limit` and `timeout`

#[test]
fn limits_of_an_entry_run_between_inherited_and_own_middleware() {
    let names = |app: &App| -> Vec<String> {
        let middleware = app.routes()[0].middleware().iter();
        middleware.map(|one| one.name().rsplit("::").next().unwrap().to_owned()).collect()
    };
    let note = |name: &'static str| stockade::Middleware::new(|_: &mut Request| {}).named(name);
    let expected = ["global", "node", "with_rate_limit", "with_timeout", "own"];

    let tree = routes! {
        middleware: [note("node")],
        GET: {
            timeout: Duration::from_secs(5),
            middleware: [note("own")],
            handler: async || "ok",
            rate_limit: 10 / MINUTE,
        },
    };
    let options = || RouterOptions::new().middleware([note("global")]);
    assert_eq!(names(&app(create_router(tree, options()))), expected);

    let mut router = Router::with_options(options());
    router.use_([note("node")]);
    let second = Duration::from_secs(1);
    let route = router.get("/", async || "ok").middleware([note("own")]);
    // The last value of each option wins.
    route.timeout(second).rate_limit(1 / MINUTE).timeout(second).rate_limit(2 / MINUTE);
    let app = app(router);
    assert_eq!(names(&app), expected);
    let response = block_on(app.handle(request("GET /")));
    assert_eq!(said_of(&response, "ratelimit-policy", "route").unwrap(), "\"route\";q=2;w=60");
}

// with_timeout

/// Runs a future on a clock that advances whenever every task waits.
fn on_paused_clock<F: Future>(future: F) -> F::Output {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_time().start_paused(true).build().unwrap().block_on(future)
}

#[test]
fn a_slow_handler_is_dropped_with_a_503() {
    log::watch();
    struct Dropped(Arc<Mutex<bool>>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            *self.0.lock().unwrap() = true;
        }
    }
    let dropped = Arc::new(Mutex::new(false));
    let flag = Arc::clone(&dropped);
    let hangs = move || {
        let guard = Dropped(Arc::clone(&flag));
        async move {
            pending::<()>().await;
            drop(guard);
        }
    };
    let app = app_of(routes! {
        "hangs": { GET: { handler: hangs, timeout: Duration::from_millis(30) } },
        "waits": { GET: {
            handler: async || tokio::time::sleep(Duration::from_secs(9)).await,
            middleware: [with_timeout(Duration::from_secs(10))],
        } },
    });
    let answer = on_paused_clock(call(&app, "GET /hangs"));
    assert_eq!(answer, r#"503 {"error":"Service Unavailable"}"#);
    assert!(*dropped.lock().unwrap());
    assert_eq!(on_paused_clock(call(&app, "GET /waits")), "204");
    assert_eq!(log::lines_with("no response within 30ms").len(), 1);
}

#[test]
fn a_timeout_has_the_configured_status() {
    log::watch();
    let metrics = Metrics::new();
    let after = |status| with_timeout(Duration::from_millis(31)).status(status);
    let tree = routes! {
        "408": { POST: { handler: pending::<()>, timeout: after(408) } },
        "504": { GET: { handler: pending::<()>, middleware: [after(504)] } },
    };
    let options = RouterOptions::new().expose_errors(false).metrics(&metrics);
    let app = app(create_router(tree, options));
    let answer = on_paused_clock(app.handle(request("POST /408")));
    // The server does not read the rest of the request.
    assert_eq!(answer.headers()["connection"], "close");
    assert_eq!(on_paused_clock(show(answer)), r#"408 {"error":"Request Timeout"}"#);
    assert!(log::lines_with("/408").iter().all(|line| line.starts_with("DEBUG")));
    let answer = on_paused_clock(call(&app, "GET /504"));
    assert_eq!(answer, r#"504 {"error":"Gateway Timeout"}"#);
    assert_eq!(log::lines_with("no response within 31ms").len(), 1);
    let text = metrics.text();
    assert_eq!(text.matches(r#"reason="timeout"} 1"#).count(), 2, "{text}");

    let mut router = Router::new();
    router.get("/odd", async || "").timeout(after(200));
    let error = router.build().unwrap_err().to_string();
    assert!(error.contains("must be 408, 503 or 504, found 200"), "{error}");
}

// with_cors

#[test]
fn cors_applies_to_errors_and_preflights_of_a_route() {
    let mut router = Router::with_options(RouterOptions::new().expose_errors(false));
    router.use_(with_cors(["https://app.example"]));
    router.get("/x", async || Err::<(), _>(ApiError::conflict()));
    router.options("/x", async || "no preflight");
    let app = app(router);
    let origin = "origin: https://app.example";
    let response = block_on(app.handle(request(&format!("GET /x\n{origin}"))));
    assert_eq!(response.status(), 409);
    assert_eq!(response.headers()["access-control-allow-origin"], "https://app.example");
    assert_eq!(response.headers()["access-control-allow-credentials"], "true");
    assert!(response.extensions().get::<CorsDecided>().is_some());
    assert!(error_of(&response).is_some());

    let preflight = format!("OPTIONS /x\n{origin}\naccess-control-request-method: PUT");
    check(&app, &preflight, "204");
    let methods = header_of(&app, &preflight, "access-control-allow-methods");
    assert_eq!(methods, "GET, POST, PUT, DELETE, PATCH, OPTIONS");
    check(&app, &format!("OPTIONS /x\n{origin}"), "200 no preflight");
}

// with_logging

#[test]
fn requests_and_responses_are_logged_without_secrets() {
    log::watch();
    let app = app_of(routes! {
        middleware: [with_logging()],
        "logged/:token": {
            GET: async || "four",
            PUT: async || Err::<(), _>(ApiError::conflict()),
        },
    });
    let secret = "authorization: Bearer s3cr3t-header\nx-request-id: id-1";
    check(&app, &format!("GET /logged/s3cr3t-path?key=s3cr3t-query\n{secret}"), "200 four");
    check(&app, "PUT /logged/a\nx-request-id: a b", r#"409 {"error":"Resource conflict"}"#);

    let lines = log::lines_with("/logged/:token");
    let access = |text: &str| {
        let found = lines.iter().filter(|line| line.contains(text) && line.contains(" method="));
        let found: Vec<String> = found.map(|line| log::without_durations(line)).collect();
        assert_eq!(found.len(), 1, "{lines:?}");
        found[0].clone()
    };
    let place = "method=GET route=/logged/:token";
    let who = "client=192.0.2.7 request_id=id-1";
    assert_eq!(
        access("DEBUG GET"),
        format!("DEBUG GET /logged/:token 192.0.2.7 [id-1] {place} {who}")
    );
    assert_eq!(
        access("INFO GET"),
        format!("INFO GET /logged/:token 200 192.0.2.7 [id-1] {place} status=200 bytes=4 {who}"),
    );
    assert_eq!(
        access("INFO PUT"),
        "INFO PUT /logged/:token 409 192.0.2.7 method=PUT route=/logged/:token status=409 \
         client=192.0.2.7",
    );
    assert!(lines.iter().all(|line| !line.contains("s3cr3t")), "{lines:?}");
}

// create_error_handler, with_error_handling

async fn breaks() -> Result<(), ApiError> {
    let cause = std::io::Error::other("connection reset");
    Err(ApiError::new(503, "db-7 is down").with_source(cause).with_header("retry-after", "5"))
}

async fn conflicts() -> Result<(), ApiError> {
    Err(ApiError::conflict().with_details(json!({ "id": 7 })))
}

fn handling<M>(expose: bool, middleware: impl stockade::middleware::IntoMiddlewareList<M>) -> App {
    let mut router = Router::with_options(RouterOptions::new().expose_errors(expose));
    router.use_(middleware);
    router.get("/breaks", breaks);
    router.get("/conflicts", conflicts);
    router.get("/panics", async || -> () { panic!("inside") });
    router.get("/fine", async || "fine");
    app(router)
}

#[test]
fn errors_keep_their_shape_and_status() {
    let app = handling(false, create_error_handler(ErrorHandlerOptions::new()));
    check(&app, "GET /breaks", r#"503 {"error":"Service Unavailable"}"#);
    assert_eq!(header_of(&app, "GET /breaks", "retry-after"), "5");
    let conflict = r#"409 {"error":"Resource conflict","details":{"id":7}}"#;
    check(&app, "GET /conflicts", conflict);
    check(&app, "GET /panics", r#"500 {"error":"Internal Server Error"}"#);
    check(&app, "GET /fine", "200 fine");
    let response = block_on(app.handle(request("GET /conflicts")));
    assert_eq!(error_of(&response).map(ApiError::status), Some(409));
}

#[test]
fn exposed_errors_have_their_causes_if_wanted() {
    let stack = ErrorHandlerOptions::new().include_stack(true);
    let exposed = r#"503 {"error":"db-7 is down","stack":["db-7 is down","connection reset"]}"#;
    check(&handling(true, with_error_handling(stack.clone())), "GET /breaks", exposed);
    let app = handling(false, with_error_handling(stack.clone()));
    check(&app, "GET /breaks", r#"503 {"error":"Service Unavailable"}"#);
    check(&handling(false, with_error_handling(stack.expose_errors(true))), "GET /breaks", exposed);
}

#[test]
fn transform_also_formats_errors_of_inner_layers() {
    let transform =
        || {
            with_error_handling(ErrorHandlerOptions::new().transform(
                |error, body| json!({ "ok": false, "code": error.status(), "was": body }),
            ))
        };
    async fn around(req: Request, next: Next) -> Response {
        let mut response = next.run(req).await;
        response.headers_mut().insert("x-around", 1.into());
        response
    }
    let conflict =
        r#"409 {"ok":false,"code":409,"was":{"error":"Resource conflict","details":{"id":7}}}"#;
    check(&handling(false, transform()), "GET /conflicts", conflict);
    let app = handling(false, (transform(), around));
    check(&app, "GET /conflicts", conflict);
    assert_eq!(header_of(&app, "GET /conflicts", "x-around"), "1");

    async fn page(req: Request, next: Next) -> Response {
        let response = next.run(req).await;
        let mut page = Html("a page").into_response().unwrap();
        *page.status_mut() = response.status();
        *page.extensions_mut() = response.extensions().clone();
        page
    }
    check(&handling(false, (transform(), page)), "GET /conflicts", "409 a page");
}

#[test]
fn a_custom_logger_replaces_the_log() {
    log::watch();
    static SEEN: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let options = ErrorHandlerOptions::new().logger(|error, context| {
        let route = context.route().unwrap_or_default();
        SEEN.lock().unwrap().push(format!("{} {route} {error}", context.method()));
    });
    let mut router = Router::with_options(RouterOptions::new().expose_errors(false));
    router.use_(with_error_handling(options));
    router.get("/own-logger", breaks);
    check(&app(router), "GET /own-logger", r#"503 {"error":"Service Unavailable"}"#);
    assert_eq!(*SEEN.lock().unwrap(), ["GET /own-logger db-7 is down"]);
    assert!(log::lines_with("/own-logger").is_empty());
}

#[test]
fn the_error_handler_formats_limit_errors() {
    let transform = ErrorHandlerOptions::new().transform(|error, _| json!(error.status()));
    let app = limited(|router| {
        router.use_(with_error_handling(transform));
        router.get("/x", async || "ok").rate_limit(1 / MINUTE);
    });
    check(&app, "GET /x", "200 ok");
    check(&app, "GET /x", "429 429");
    let response = block_on(app.handle(request("GET /x")));
    assert_eq!(said_of(&response, "ratelimit", "route").unwrap(), "\"route\";r=0;t=60");
    assert!(response.headers().contains_key("retry-after"));
}

// health

#[test]
fn readiness_returns_the_value_that_was_set() {
    let readiness = Readiness::new();
    let tree = routes! { "health": { "live": { GET: live }, "ready": { GET: ready } } };
    let app = app(create_router(tree, RouterOptions::new()).state(readiness.clone()));
    check(&app, "GET /health/live", r#"200 {"status":"ok"}"#);
    check(&app, "GET /health/ready", r#"200 {"status":"ok"}"#);
    assert_eq!(header_of(&app, "GET /health/ready", "cache-control"), "no-store");
    readiness.set(false);
    check(&app, "GET /health/ready", r#"503 {"status":"unavailable"}"#);
    check(&app, "GET /health/live", r#"200 {"status":"ok"}"#);
    readiness.set(true);
    check(&app, "GET /health/ready", r#"200 {"status":"ok"}"#);
}

#[test]
fn readiness_watches_and_only_critical_parts_decide() {
    let away = Arc::new(AtomicU64::new(0));
    let of = |away: &Arc<AtomicU64>| {
        let away = Arc::clone(away);
        move || Some(away.load(Ordering::Relaxed)).filter(|time| *time > 0).map(Duration::from_secs)
    };
    let tree = || routes! { "live": { GET: live }, "ready": { GET: ready } };
    let app_with =
        |readiness| app(create_router(tree(), RouterOptions::new()).state::<Readiness>(readiness));
    let watching = Readiness::new().watching("redis", of(&away));
    let quiet = app_with(watching.clone());
    let told = app_with(watching.details(true));
    let critical = app_with(Readiness::new().critical("redis", of(&away)).details(true));
    for app in [&quiet, &told, &critical] {
        check(app, "GET /ready", r#"200 {"status":"ok"}"#);
    }
    for (seconds, status, text) in [(1, 200, "ok"), (9, 200, "ok"), (10, 503, "unavailable")] {
        away.store(seconds, Ordering::Relaxed);
        check(&quiet, "GET /ready", r#"200 {"status":"ok"}"#);
        check(&told, "GET /ready", r#"200 {"status":"ok","degraded":["redis"]}"#);
        let expected = format!(r#"{status} {{"status":"{text}","degraded":["redis"]}}"#);
        check(&critical, "GET /ready", &expected);
        check(&critical, "GET /live", r#"200 {"status":"ok"}"#);
    }
}
