//! The built-in stages, tested from outside: every row of Response headers,
//! CORS rules, Limits and Statuses.
// Spec: Response headers; Response headers › CORS rules; Limits; Errors ›
// Statuses.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use stockade::extract::ClientIp;
use stockade::middleware::{RateLimit, SecurityHeaders, TrustProxy, with_cors, with_logging};
use stockade::prelude::*;
use stockade::{Clock, HostOptions, LocalPeer, PeerAddr};

use crate::support::{app, block_on, request};

/// Returns the status and the values of some headers as `200
/// name=value;name=-`.
fn seen(app: &App, text: &str, names: &[&str]) -> String {
    seen_of(block_on(app.handle(request(text))), names)
}

fn seen_of(response: Response, names: &[&str]) -> String {
    let values = names.iter().map(|name| {
        let values: Vec<&str> =
            response.headers().get_all(*name).iter().map(|value| value.to_str().unwrap()).collect();
        if values.is_empty() { format!("{name}=-") } else { format!("{name}={}", values.join("|")) }
    });
    format!("{} {}", response.status().as_u16(), values.collect::<Vec<_>>().join(";"))
}

fn api() -> RouteTree {
    async fn fails() -> Result<(), ApiError> {
        Err(ApiError::internal("boom"))
    }
    routes! {
        "text": { GET: async || "text", POST: async |_: Bytes| () },
        "nothing": { DELETE: async || () },
        "fails": { GET: fails },
        "panics": { GET: async || -> () { panic!("boom") } },
        "own": { GET: async || (StatusCode::OK, Html("<p>").into_response().map(|mut it| {
            it.headers_mut().insert("content-security-policy", header::HeaderValue::from_static("default-src 'self'"));
            it
        })) },
    }
}

fn with(options: RouterOptions) -> App {
    app(create_router(api(), options.expose_errors(false)))
}

const SECURITY: [(&str, &str); 8] = [
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("x-xss-protection", "0"),
    ("strict-transport-security", "max-age=31536000; includeSubDomains"),
    (
        "content-security-policy",
        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
];

#[test]
fn every_response_carries_the_security_headers() {
    let app = with(RouterOptions::new().max_body_size(4));
    let names = SECURITY.map(|(name, _)| name);
    let values: Vec<String> =
        SECURITY.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let values = values.join(";");
    for (text, status) in [
        ("GET /text", 200),
        ("HEAD /text", 200),
        ("DELETE /nothing", 204),
        ("GET /nowhere", 404),
        ("PUT /text", 405),
        ("POST /text\ncontent-length: 5\n\n12345", 413),
        ("GET /fails", 500),
        ("GET /panics", 500),
        ("GET *", 400),
        ("OPTIONS /text\norigin: http://a\naccess-control-request-method: GET", 204),
        ("OPTIONS /nowhere\norigin: http://a\naccess-control-request-method: GET", 204),
        ("OPTIONS *", 204),
    ] {
        assert_eq!(seen(&app, text, &names), format!("{status} {values}"), "{text}");
    }
    let none = with(RouterOptions::new().enable_security_headers(false));
    let absent: Vec<String> = names.iter().map(|name| format!("{name}=-")).collect();
    assert_eq!(seen(&none, "GET /text", &names), format!("200 {}", absent.join(";")));
}

#[test]
fn each_security_header_can_be_changed_or_omitted() {
    let headers = SecurityHeaders::default().without("x-frame-options");
    let headers = headers.set("referrer-policy", "same-origin").unwrap();
    let app = with(RouterOptions::new().security_headers(headers));
    let names = ["x-frame-options", "referrer-policy", "x-content-type-options"];
    let expected =
        "200 x-frame-options=-;referrer-policy=same-origin;x-content-type-options=nosniff";
    assert_eq!(seen(&app, "GET /text", &names), expected);
    // A handler's own header stays.
    let own = "200 content-security-policy=default-src 'self'";
    assert_eq!(seen(&app, "GET /own", &["content-security-policy"]), own);
}

#[test]
fn the_five_rules_of_cors() {
    const NAMES: [&str; 3] =
        ["access-control-allow-origin", "access-control-allow-credentials", "vary"];
    let check = |origin: Option<&[&str]>, asked: &str, expected: [&str; 3]| {
        let options = match origin {
            None => RouterOptions::new(),
            Some([one]) => RouterOptions::new().cors_origin(*one),
            Some(list) => RouterOptions::new()
                .cors_origin(list.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>()),
        };
        let header = if asked.is_empty() { String::new() } else { format!("\norigin: {asked}") };
        let [allowed, credentials, vary] = expected;
        let expected =
            format!("{}={allowed};{}={credentials};{}={vary}", NAMES[0], NAMES[1], NAMES[2]);
        let app = with(options);
        for (text, status) in [("GET /text", 200), ("GET /nowhere", 404), ("GET /fails", 500)] {
            let seen = seen(&app, &format!("{text}{header}"), &NAMES);
            assert_eq!(seen, format!("{status} {expected}"), "{origin:?} {asked} {text}");
        }
    };
    let development = ["http://localhost:3000", "-", "-"];
    check(None, "", development);
    check(None, "https://evil.example", development);
    check(
        Some(&["https://app.example"]),
        "https://evil.example",
        ["https://app.example", "true", "-"],
    );
    check(Some(&["*"]), "https://evil.example", ["*", "-", "-"]);
    let list: &[&str] = &["https://app.example", "https://two.example"];
    check(Some(list), "https://app.example", ["https://app.example", "true", "Origin"]);
    check(Some(list), "https://two.example", ["https://two.example", "true", "Origin"]);
    for refused in
        ["https://evil.example", "https://APP.example", "https://app.example.", "null", ""]
    {
        check(Some(list), refused, ["-", "-", "Origin"]);
    }
    check(Some(&["*", "https://app.example"]), "https://app.example", ["*", "-", "-"]);
    for malformed in ["", "app.example", "https://app.example/", "null"] {
        check(Some(&[malformed]), "https://app.example", development);
    }
}

#[test]
fn preflights_are_handled_first() {
    let options = RouterOptions::new()
        .cors_origin(["https://app.example", "https://two.example"])
        .rate_limit(RateLimit::new().max_requests(1))
        .middleware(|_: &mut Request| StatusCode::FORBIDDEN);
    let app = with(options);
    let names = [
        "access-control-allow-origin",
        "access-control-allow-methods",
        "access-control-allow-headers",
        "access-control-max-age",
        "ratelimit",
    ];
    let ask = |path: &str, origin: &str| {
        let text = format!("OPTIONS {path}\norigin: {origin}\naccess-control-request-method: PUT");
        seen(&app, &text, &names)
    };
    let allowed = "204 access-control-allow-origin=https://app.example;\
        access-control-allow-methods=GET, POST, PUT, DELETE, PATCH, OPTIONS;\
        access-control-allow-headers=Content-Type, Authorization;access-control-max-age=600;ratelimit=-";
    let refused = "204 access-control-allow-origin=-;access-control-allow-methods=-;\
        access-control-allow-headers=-;access-control-max-age=-;ratelimit=-";
    for _ in 0..3 {
        assert_eq!(ask("/text", "https://app.example"), allowed);
        assert_eq!(ask("/nowhere", "https://app.example"), allowed);
        assert_eq!(ask("/text", "https://evil.example"), refused);
    }
    // A registered OPTIONS route runs for preflights and counts against the
    // limit.
    let mut router =
        Router::with_options(RouterOptions::new().rate_limit(RateLimit::new().max_requests(9)));
    router.options("/own", async || "own");
    let own = crate::support::app(router);
    let text = "OPTIONS /own\norigin: https://a.example\naccess-control-request-method: PUT";
    assert_eq!(seen(&own, text, &["ratelimit"]), r#"200 ratelimit="default";r=8;t=60"#);
}

/// Returns a clock and its time in milliseconds, which a test can change.
fn clock() -> (Arc<AtomicU64>, Clock) {
    let (start, millis) = (Instant::now(), Arc::new(AtomicU64::new(0)));
    let hand = Arc::clone(&millis);
    (millis, Clock::new(move || start + Duration::from_millis(hand.load(Ordering::Relaxed))))
}

#[test]
fn the_rate_limit_is_a_hundred_a_minute_for_each_client() {
    let (millis, clock) = clock();
    let app = with(RouterOptions::new().clock(clock));
    let names = ["ratelimit-policy", "ratelimit", "retry-after"];
    let paths = ["GET /text", "GET /nowhere", "HEAD /text", "PUT /text"];
    for index in 0..100 {
        let status = [200, 404, 200, 405][index % 4];
        let expected = format!(
            r#"{status} ratelimit-policy="default";q=100;w=60;ratelimit="default";r={};t=60;retry-after=-"#,
            99 - index
        );
        assert_eq!(seen(&app, paths[index % 4], &names), expected);
    }
    millis.store(59_001, Ordering::Relaxed);
    let expected =
        r#"429 ratelimit-policy="default";q=100;w=60;ratelimit="default";r=0;t=1;retry-after=1"#;
    assert_eq!(seen(&app, "GET /text", &names), expected);
    let body = block_on(crate::support::call(&app, "GET /text"));
    assert_eq!(body, r#"429 {"error":"Too Many Requests"}"#);
    // Another client has a separate limit of 100 requests.
    let other = request("GET /text").with_peer(PeerAddr("198.51.100.1:1".parse().unwrap()));
    assert_eq!(
        seen_of(block_on(app.handle(other)), &["ratelimit"]),
        r#"200 ratelimit="default";r=99;t=60"#
    );
    // A client that waits for the announced time is allowed again.
    millis.store(60_001, Ordering::Relaxed);
    assert_eq!(seen(&app, "GET /text", &["ratelimit"]), r#"200 ratelimit="default";r=99;t=60"#);
}

#[test]
fn finds_the_client_of_a_trusted_peer_without_an_address() {
    let unix = TrustProxy::networks(["unix:"]).unwrap();
    let other = TrustProxy::networks(["0.0.0.0/0"]).unwrap();
    // The trusted proxies, and the remaining requests of the second and third
    // client.
    for (trust, expected) in [
        (TrustProxy::none(), ["98", "97"]),
        (other, ["98", "97"]),
        (TrustProxy::hops(1), ["99", "99"]),
        (unix, ["99", "99"]),
    ] {
        let app = with(RouterOptions::new().trust_proxy(trust.clone()));
        // Clients without a known address share one limit.
        let first = left(&app, "192.0.2.1");
        assert_eq!(first, "99");
        assert_eq!([left(&app, "198.51.100.1"), left(&app, "203.0.113.7")], expected, "{trust:?}");
    }
}

/// Returns the remaining requests of a client behind a proxy on a Unix socket.
fn left(app: &App, client: &str) -> String {
    let request = stockade::http::Request::get("/text")
        .header("host", "a")
        .header("x-forwarded-for", client)
        .extension(LocalPeer)
        .body(())
        .unwrap();
    let response = block_on(app.handle(request));
    let limit = response.headers()["ratelimit"].to_str().unwrap();
    limit.split("r=").nth(1).and_then(|rest| rest.split(';').next()).unwrap().to_owned()
}

#[test]
fn a_rejected_request_runs_nothing_and_its_body_is_not_read() {
    let limit = RateLimit::new().max_requests(1);
    let never = |_: &mut Request| -> Result<(), ApiError> { panic!("it ran") };
    // Use a fixed clock, because a panic report can take a second.
    let options = RouterOptions::new().rate_limit(limit).expose_errors(false).clock(clock().1);
    let mut router = Router::with_options(options);
    router.post("/x", async |_: Bytes| ()).middleware(never);
    let app = app(router);
    assert_eq!(seen(&app, "POST /x\n\nbody", &[]), "500 ");
    assert_eq!(seen(&app, "POST /x\n\nbody", &["retry-after"]), "429 retry-after=60");
    let off = with(RouterOptions::new().rate_limit(false));
    for _ in 0..200 {
        assert_eq!(seen(&off, "GET /text", &["ratelimit"]), "200 ratelimit=-");
    }
}

#[test]
fn finds_the_client_behind_trusted_proxies() {
    let mut router = Router::with_options(RouterOptions::new().trust_proxy(2));
    router.get("/ip", async |ClientIp(ip): ClientIp| ip.to_string());
    let app = app(router);
    let ask = |lines: &str| block_on(crate::support::call(&app, &format!("GET /ip{lines}")));
    assert_eq!(ask("\nx-forwarded-for: 1.1.1.1, 2.2.2.2, 3.3.3.3"), "200 2.2.2.2");
    assert_eq!(ask("\nx-forwarded-for: 1.1.1.1\nx-forwarded-for: 2.2.2.2, 3.3.3.3"), "200 2.2.2.2");
    assert_eq!(ask("\nx-forwarded-for: 3.3.3.3"), "200 192.0.2.7");
    assert_eq!(ask("\nx-forwarded-for: 1.1.1.1, nonsense, 3.3.3.3"), "200 192.0.2.7");
    assert_eq!(ask(""), "200 192.0.2.7");
}

#[test]
fn host_options_override_router_options() {
    let app = with(RouterOptions::new().cors_origin("https://app.example"));
    let options = HostOptions::new()
        .cors_origin("*")
        .trust_proxy(TrustProxy::hops(1))
        .rate_limit(RateLimit::new().max_requests(1));
    let hosted = app.with_options(options).unwrap();
    let ask = |text: &str| seen(&hosted, text, &["access-control-allow-origin", "ratelimit"]);
    let expected = r#"200 access-control-allow-origin=*;ratelimit="default";r=0;t=60"#;
    assert_eq!(ask("GET /text"), expected);
    assert_eq!(ask("GET /text\nx-forwarded-for: 1.1.1.1"), expected);
    assert!(ask("GET /text").starts_with("429 "));
    let zero = HostOptions::new().rate_limit(0 / MINUTE);
    let mistake = zero.issue().unwrap().to_string();
    assert!(mistake.starts_with("rate_limit: the limit"), "{mistake}");
    assert_eq!(app.with_options(zero).unwrap_err().to_string(), mistake);
    let read = serde_json::from_str::<HostOptions>(r#"{"rateLimit":{"max":0}}"#);
    assert!(read.unwrap_err().to_string().starts_with("rate_limit: "));
    let read: HostOptions = serde_json::from_str(
        r#"{"corsOrigin":["https://a.example"],"rateLimit":false,"trustProxy":true}"#,
    )
    .unwrap();
    let hosted = app.with_options(read).unwrap();
    assert_eq!(seen(&hosted, "GET /text", &["vary", "ratelimit"]), "200 vary=Origin;ratelimit=-");
}

#[test]
fn the_build_reports_errors_in_the_stages() {
    let zero = RouterOptions::new().rate_limit(RateLimit::new().max_requests(0));
    let text = create_router(api(), zero).build().unwrap_err().to_string();
    assert!(text.starts_with("rate_limit: "), "{text}");
    let read: Result<RouterOptions, _> = serde_json::from_str(
        r#"{"rateLimit":{"windowMs":1000,"maxRequests":5},"corsOrigin":"*","trustProxy":1}"#,
    );
    let read = read.unwrap();
    let names = ["ratelimit-policy", "access-control-allow-origin"];
    let expected = r#"200 ratelimit-policy="default";q=5;w=1;access-control-allow-origin=*"#;
    assert_eq!(seen(&with(read), "GET /text", &names), expected);
    assert!(serde_json::from_str::<RouterOptions>(r#"{"rateLimits":false}"#).is_err());
}

#[test]
fn a_route_can_have_separate_cors_rules() {
    let api = routes! {
        "open": { GET: { handler: async || "open", cors: "*" }, PUT: async || () },
    };
    let app = app(create_router(api, RouterOptions::new().cors_origin("https://app.example")));
    let names = ["access-control-allow-origin", "access-control-allow-credentials"];
    let open = "access-control-allow-origin=*;access-control-allow-credentials=-";
    let own =
        "access-control-allow-origin=https://app.example;access-control-allow-credentials=true";
    assert_eq!(seen(&app, "GET /open", &names), format!("200 {open}"));
    assert_eq!(seen(&app, "HEAD /open", &names), format!("200 {open}"));
    assert_eq!(seen(&app, "PUT /open", &names), format!("204 {own}"));
    let preflight = |method: &str| {
        format!("OPTIONS /open\norigin: https://x.example\naccess-control-request-method: {method}")
    };
    assert_eq!(seen(&app, &preflight("GET"), &names), format!("204 {open}"));
    assert_eq!(seen(&app, &preflight("HEAD"), &names), format!("204 {open}"));
    assert_eq!(seen(&app, &preflight("PUT"), &names), format!("204 {own}"));
}

#[test]
fn the_innermost_cors_rules_count() {
    async fn own() -> Result<Response, ApiError> {
        let mut response = Json("own").into_response()?;
        let anyone = header::HeaderValue::from_static("*");
        response.headers_mut().insert("access-control-allow-origin", anyone);
        Ok(response)
    }
    let api = routes! {
        "group": {
            middleware: [with_cors("*")],
            "admin": {
                middleware: [with_cors(["https://admin.example", "https://b.example"])],
                GET: async || "in",
                POST: { handler: async || "in", cors: ["https://post.example"] },
            },
        },
        "own": { GET: own },
        "own-below": { middleware: [with_cors(["https://b.example"])], GET: own },
    };
    let list = RouterOptions::new().cors_origin(["https://app.example", "https://two.example"]);
    let app = app(create_router(api, list));
    let names = ["access-control-allow-origin", "access-control-allow-credentials"];
    let from =
        |path: &str, origin: &str| seen(&app, &format!("GET {path}\norigin: {origin}"), &names);
    let none = "200 access-control-allow-origin=-;access-control-allow-credentials=-";
    assert_eq!(from("/group/admin", "https://evil.example"), none);
    let admin = "200 access-control-allow-origin=https://admin.example;access-control-allow-credentials=true";
    assert_eq!(from("/group/admin", "https://admin.example"), admin);
    // A preflight follows the same rules.
    let asked = |path: &str, method: &str, origin: &str| {
        let asked = format!("access-control-request-method: {method}");
        seen(&app, &format!("OPTIONS {path}\norigin: {origin}\n{asked}"), &names[..1])
    };
    let answered = |path: &str, method: &str, origin: &str| {
        seen(&app, &format!("{method} {path}\norigin: {origin}"), &names[..1])
    };
    for (path, method, origin, allowed) in [
        ("/group/admin", "GET", "https://admin.example", "https://admin.example"),
        ("/group/admin", "GET", "https://post.example", "-"),
        ("/group/admin", "GET", "https://app.example", "-"),
        ("/group/admin", "POST", "https://post.example", "https://post.example"),
        ("/group/admin", "POST", "https://admin.example", "-"),
        ("/own-below", "GET", "https://b.example", "https://b.example"),
        ("/own-below", "GET", "https://app.example", "-"),
        ("/own", "GET", "https://app.example", "https://app.example"),
    ] {
        let expected = format!("access-control-allow-origin={allowed}");
        let asked = asked(path, method, origin);
        assert_eq!(asked, format!("204 {expected}"), "{method} {path} from {origin}");
        let answered = answered(path, method, origin);
        assert_eq!(answered, format!("200 {expected}"), "{method} {path} from {origin}");
    }
    // A header from the handler does not bypass the CORS rules.
    assert_eq!(from("/own", "https://evil.example"), none);
    assert_eq!(from("/own-below", "https://evil.example"), none);
}

#[test]
fn with_cors_on_a_single_route_is_an_error() {
    let rules = || with_cors(["https://a.example", "https://b.example"]);
    let mut router = Router::new();
    router.get("/named", async || "x").middleware(rules().named("mine"));
    router.routes(routes! {
        "tree": { middleware: [with_logging()], PUT: { handler: async || "x", middleware: [rules()] } },
    });
    router.group("/group", rules(), |group| {
        group.get("/fine", async || "x").middleware(with_logging());
        group.post("/bad", async || "x").middleware((with_logging(), rules()));
    });
    router.options("/fine", async || "x").middleware(rules());
    let error = router.build().unwrap_err();
    let said = error.issues().iter().map(|mistake| {
        assert!(mistake.message().contains("use `cors`"), "{mistake}");
        assert!(mistake.location().is_some_and(|place| place.file().ends_with("stages.rs")));
        mistake.to_string().split(':').next().unwrap().to_owned()
    });
    let said: Vec<String> = said.collect();
    assert_eq!(said.len(), 3, "{said:?}");
    for route in ["GET /named", "PUT /tree", "POST /group/bad"] {
        assert!(error.to_string().contains(route), "{error}");
    }
}

#[test]
fn ignores_duplicate_origins() {
    let list = ["https://a.example", "https://b.example"];
    let names = ["access-control-allow-origin", "vary"];
    let app = app(create_router(api(), RouterOptions::new().cors_origin(list)));
    for head in ["GET /nowhere", "OPTIONS /nowhere\naccess-control-request-method: GET"] {
        let text = format!("{head}\norigin: https://a.example\norigin: https://evil.example");
        let seen = seen(&app, &text, &names);
        assert!(seen.ends_with(" access-control-allow-origin=-;vary=Origin"), "{seen}");
    }
}

#[test]
fn a_rejected_preflight_has_no_cors_headers() {
    let app = with(RouterOptions::new().cors_origin("https://app.example"));
    let text = "OPTIONS /text\norigin: https://app.example\naccess-control-request-method: GET\n\
                access-control-request-private-network: true";
    let names = ["access-control-allow-origin", "access-control-allow-credentials"];
    let refused = "204 access-control-allow-origin=-;access-control-allow-credentials=-";
    assert_eq!(seen(&app, text, &names), refused);
}

#[test]
fn trusts_no_header_without_a_peer() {
    let limit = RateLimit::new().max_requests(1);
    let app = with(RouterOptions::new().trust_proxy(1).rate_limit(limit));
    let ask = |ip: &str| {
        let builder = stockade::http::Request::get("/text").header("x-forwarded-for", ip);
        block_on(app.handle(builder.body(()).unwrap())).status()
    };
    assert_eq!(ask("1.1.1.1"), 200);
    assert_eq!(ask("2.2.2.2"), 429);
}
