//! Combinations of options: of a router, a call and a route, in code and in
//! files.
// Spec: Router options; Use inside a host framework, rule 2.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use stockade::extract::ClientIp;
use stockade::middleware::{CorsOptions, RateLimit, with_cors, with_rate_limit};
use stockade::prelude::*;
use stockade::server::ServerOptions;
use stockade::{Clock, HostOptions};

use crate::support::{app, block_on, header_of, request};

fn with(options: RouterOptions) -> App {
    let mut router = Router::with_options(options);
    router.get("/x", async || "x");
    router.get("/own", async || "own").cors("https://own.example");
    app(router)
}

/// Returns the values of some headers, with `-` for an absent header.
fn values(response: &Response, names: &[&str]) -> String {
    let value = |name: &&str| match response.headers().get(*name) {
        Some(value) => value.to_str().unwrap().to_owned(),
        None => "-".to_owned(),
    };
    names.iter().map(value).collect::<Vec<_>>().join(" | ")
}

fn called(app: &App, options: &HostOptions, text: &str, names: &[&str]) -> String {
    values(&block_on(app.with_options(options.clone()).unwrap().handle(request(text))), names)
}

fn read(json: &str) -> HostOptions {
    serde_json::from_str(json).unwrap()
}

/// Returns the error for an unknown key in the object at a key.
fn error_for<T: serde::de::DeserializeOwned>(template: &str, key: &str) -> String {
    let file = template.replace("KEY", &format!(r#""{key}": {{ "?": 0 }}"#));
    serde_json::from_str::<T>(&file).err().map(|error| error.to_string()).unwrap_or_default()
}

/// Returns the keys of an object in a file, from the error for an unknown key.
fn keys_of<T: serde::de::DeserializeOwned>(template: &str) -> Vec<String> {
    let error = error_for::<T>(template, "?");
    let (unknown, known) = error.split_once("expected").unwrap_or_default();
    assert!(unknown.starts_with("unknown field `?`"), "{template}: {error}");
    known.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Converts `max_body` to `maxBody`.
fn in_camel_case(key: &str) -> String {
    let mut words = key.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| name + &word[..1].to_uppercase() + &word[1..])
}

#[track_caller]
fn check_keys<T: serde::de::DeserializeOwned>(template: &str, least: usize) {
    let keys = keys_of::<T>(template);
    assert!(keys.len() >= least, "{template}: {keys:?}");
    for key in keys.iter().filter(|key| key.contains('_')) {
        let name = in_camel_case(key);
        let error = error_for::<T>(template, &name);
        assert!(!error.contains(&format!("`{name}`")), "{template}: {error}");
    }
}

#[test]
fn each_key_of_a_file_has_a_name_in_camel_case() {
    check_keys::<RouterOptions>("{ KEY }", 20);
    check_keys::<RouterOptions>(r#"{ "rateLimit": { KEY } }"#, 5);
    check_keys::<RouterOptions>(r#"{ "cors": { KEY } }"#, 5);
    check_keys::<RouterOptions>(r#"{ "requestId": { KEY } }"#, 2);
    check_keys::<RouterOptions>(r#"{ "tracing": { KEY } }"#, 2);
    check_keys::<ServerOptions>("{ KEY }", 20);
    check_keys::<ServerOptions>(r#"{ "call": { KEY } }"#, 5);

    let file = r#"{ "headerReadTimeoutMs": 1500, "maxConnections": 7, "tcpNotsentLowat": false,
        "call": { "maxBody": 9 } }"#;
    let options = format!("{:?}", serde_json::from_str::<ServerOptions>(file).unwrap());
    for expected in ["header_read_timeout: 1.5s", "max_connections: 7", "tcp_notsent_lowat: None"] {
        assert!(options.contains(expected), "{options}");
    }
    let both = r#"{ "maxConnections": 7, "max_connections": 8 }"#;
    let error = serde_json::from_str::<ServerOptions>(both).unwrap_err().to_string();
    assert!(error.starts_with("duplicate field `max_connections`"), "{error}");
}

const PREFLIGHT: &str = "OPTIONS /x\norigin: https://a.example\naccess-control-request-method: GET";
const ORIGIN: &str = "access-control-allow-origin";

#[test]
fn a_host_origin_changes_only_the_origin() {
    let cors = CorsOptions::new("https://app.example")
        .methods(["GET"])
        .allowed_headers(["X-A"])
        .exposed_headers(["X-B"])
        .max_age(5);
    let (one, two) = (with(RouterOptions::new().cors(cors)), with(RouterOptions::new()));
    let options = HostOptions::new().cors_origin("https://a.example");
    let names = [
        ORIGIN,
        "access-control-allow-methods",
        "access-control-allow-headers",
        "access-control-max-age",
    ];
    // The options can be reused for another router.
    for _ in 0..2 {
        let expected = "https://a.example | GET | X-A | 5";
        assert_eq!(called(&one, &options, PREFLIGHT, &names), expected);
        let expected = "https://a.example | GET, POST, PUT, DELETE, PATCH, OPTIONS | \
                        Content-Type, Authorization | 600";
        assert_eq!(called(&two, &options, PREFLIGHT, &names), expected);
    }
    let exposed = called(&one, &options, "GET /x", &[ORIGIN, "access-control-expose-headers"]);
    assert_eq!(exposed, "https://a.example | X-B");
    // A route with its own rules keeps them.
    assert_eq!(called(&one, &options, "GET /own", &[ORIGIN]), "https://own.example");
}

#[test]
fn a_host_origin_does_not_enable_cors() {
    let off = with(RouterOptions::new().cors(false));
    let options = HostOptions::new().cors_origin("https://a.example");
    for text in ["GET /x", PREFLIGHT] {
        assert_eq!(called(&off, &options, text, &[ORIGIN]), "-", "{text}");
    }
}

#[test]
fn the_last_origin_counts() {
    let rules = || CorsOptions::new("https://rules.example").max_age(5);
    let no_origin = CorsOptions::default().max_age(5);
    for (options, expected) in [
        (RouterOptions::new().cors_origin("https://a.example").cors(rules()), "rules"),
        (RouterOptions::new().cors(rules()).cors_origin("https://a.example"), "a"),
        (RouterOptions::new().cors_origin("https://a.example").cors(no_origin), "a"),
    ] {
        let app = with(options);
        let expected = format!("https://{expected}.example");
        assert_eq!(header_of(&app, "GET /x", ORIGIN), expected);
        assert_eq!(header_of(&app, PREFLIGHT, "access-control-max-age"), "5");
    }
}

#[test]
fn rejects_cors_together_with_its_short_form_in_a_file() {
    for cors in ["false", "true", "\"https://b.example\"", "[]", r#"{ "maxAge": 5 }"#, "null"] {
        for name in ["corsOrigin", "cors_origin"] {
            let json = format!(r#"{{ "{name}": "https://a.example", "cors": {cors} }}"#);
            let error = serde_json::from_str::<RouterOptions>(&json).unwrap_err().to_string();
            let expected = "`cors` and `cors_origin` are both set: remove `cors_origin`";
            assert!(error.contains(expected), "{json}: {error}");
        }
    }
    let json = r#"{ "enableSecurityHeaders": true, "security_headers": false }"#;
    let error = serde_json::from_str::<RouterOptions>(json).unwrap_err().to_string();
    assert!(error.contains("remove `enable_security_headers`"), "{error}");
}

/// Checks each way to switch a feature off or on, in code and in a file.
#[test]
fn false_disables_and_true_is_the_default() {
    const FRAME: &str = "x-frame-options";
    const LIMIT: &str = "ratelimit-policy";
    let file = |json: &str| serde_json::from_str::<RouterOptions>(json).unwrap();
    let seen = |options: RouterOptions| {
        let app = with(options);
        [ORIGIN, FRAME, LIMIT].map(|name| header_of(&app, "GET /x", name))
    };
    let all = [r#"http://localhost:3000"#, "DENY", r#""default";q=100;w=60"#];
    let off = RouterOptions::new().cors(false).security_headers(false).rate_limit(false);
    assert_eq!(seen(off.clone()), ["-"; 3]);
    assert_eq!(seen(off.cors(true).security_headers(true).rate_limit(true)), all);
    assert_eq!(seen(RouterOptions::new().enable_security_headers(false)), [all[0], "-", all[2]]);
    for json in [
        r#"{ "cors": false, "security_headers": false, "rate_limit": false }"#,
        r#"{ "cors": false, "securityHeaders": false, "rateLimit": false }"#,
        r#"{ "cors": false, "enableSecurityHeaders": false, "rateLimit": false }"#,
    ] {
        assert_eq!(seen(file(json)), ["-"; 3], "{json}");
        assert_eq!(seen(file(&json.replace("false", "true"))), all, "{json}");
    }
    assert!(serde_json::from_str::<RouterOptions>(r#"{ "enableCors": false }"#).is_err());
    assert!(serde_json::from_str::<RouterOptions>(r#"{ "maxBodySize": false }"#).is_err());
    assert!(serde_json::from_str::<RouterOptions>(r#"{ "max_body": true }"#).is_err());
}

#[test]
fn cors_accepts_an_origin_a_list_rules_or_false() {
    let allowed = |options| header_of(&with(options), "GET /x", ORIGIN);
    let file = |json: &str| serde_json::from_str::<RouterOptions>(json).unwrap();
    let one = "https://a.example";
    for options in [
        RouterOptions::new().cors(one),
        RouterOptions::new().cors(one.to_owned()),
        RouterOptions::new().cors(CorsOptions::new(one)),
        RouterOptions::new().cors_origin(one),
        // The last call counts.
        RouterOptions::new().cors(false).cors_origin(one),
        file(r#"{ "cors": "https://a.example" }"#),
        file(r#"{ "cors": { "origin": "https://a.example" } }"#),
        file(r#"{ "corsOrigin": "https://a.example" }"#),
    ] {
        assert_eq!(allowed(options), one);
    }
    assert_eq!(allowed(RouterOptions::new().cors_origin(one).cors(false)), "-");
    for options in [
        RouterOptions::new().cors([one, "https://b.example"]),
        RouterOptions::new().cors(vec![one, "https://b.example"]),
        file(r#"{ "cors": ["https://a.example", "https://b.example"] }"#),
    ] {
        let app = with(options);
        let get = "GET /x\norigin: https://b.example";
        assert_eq!(header_of(&app, get, ORIGIN), "https://b.example");
        assert_eq!(header_of(&app, "GET /x\norigin: https://c.example", ORIGIN), "-");
    }
}

#[test]
fn a_malformed_origin_in_a_file_is_unset_with_a_warning() {
    crate::support::log::watch();
    let name = ["access-control-allow-origin", "access-control-allow-credentials"];
    let development = "http://localhost:3000 | -";
    let own = with(RouterOptions::new().cors_origin("https://a.example"));
    for odd in ["420042", "true", "null", r#"["https://a.example",420043]"#, r#"{"420044":1}"#] {
        let json = format!(r#"{{ "corsOrigin": {odd} }}"#);
        let before = warned_of(odd);
        let read_options: RouterOptions = serde_json::from_str(&json).unwrap();
        assert_eq!(called(&with(read_options), &read("{}"), "GET /x", &name), development, "{odd}");
        assert_eq!(called(&own, &read(&json), "GET /x", &name), development, "{odd}");
        // One warning for the router and one for the call.
        assert_eq!(warned_of(odd) - before, 2, "{odd}");
    }
    // The same values of `cors`, except for booleans and rules.
    for odd in ["420045", "null", r#"["https://a.example",420046]"#] {
        let before = warned_of(odd);
        let read_options: RouterOptions =
            serde_json::from_str(&format!(r#"{{ "cors": {odd} }}"#)).unwrap();
        assert_eq!(called(&with(read_options), &read("{}"), "GET /x", &name), development, "{odd}");
        assert_eq!(warned_of(odd) - before, 1, "{odd}");
    }
    for (index, options) in [
        RouterOptions::new().cors("https://bad.example/path-1"),
        RouterOptions::new().cors_origin("https://bad.example/path-2"),
        serde_json::from_str(r#"{ "cors": "https://bad.example/path-3" }"#).unwrap(),
        serde_json::from_str(r#"{ "corsOrigin": "https://bad.example/path-4" }"#).unwrap(),
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(called(&with(options), &read("{}"), "GET /x", &name), development);
        assert_eq!(warned_of(&format!("[\"https://bad.example/path-{}\"]", index + 1)), 1);
    }
    for unset in [RouterOptions::new(), serde_json::from_str("{}").unwrap()] {
        assert_eq!(called(&with(unset), &read("{}"), "GET /x", &name), development);
    }
}

#[test]
fn warns_of_origins_in_addition_to_the_star() {
    crate::support::log::watch();
    let allowed = |options| header_of(&with(options), "GET /x", "access-control-allow-origin");
    let beside = ["*", "https://beside.example"];
    assert_eq!(allowed(RouterOptions::new().cors_origin(beside)), "*");
    assert_eq!(allowed(RouterOptions::new().cors_origin("*")), "*");
    assert_eq!(allowed(RouterOptions::new().cors_origin(["*"])), "*");
    let warned = |origins: &str| {
        let line = format!("WARN only * in cors_origin {origins} has an effect");
        crate::support::log::lines_with(&line).len()
    };
    assert_eq!(warned(r#"["*", "https://beside.example"]"#), 1);
    assert_eq!(warned(r#"["*"]"#), 0);
}

/// Returns the number of warnings about this malformed origin so far.
fn warned_of(origin: &str) -> usize {
    crate::support::log::lines_with(&format!("WARN cors_origin {origin} is malformed")).len()
}

#[test]
fn true_in_a_file_is_the_routers_limit_or_the_default() {
    let own = with(RouterOptions::new().rate_limit(RateLimit::new().max_requests(7)));
    let none = with(RouterOptions::new().rate_limit(false));
    let name = ["ratelimit-policy"];
    for (json, at_own, at_none) in [
        ("{}", "\"default\";q=7;w=60", "-"),
        (r#"{ "rateLimit": true }"#, "\"default\";q=7;w=60", "\"default\";q=100;w=60"),
        (r#"{ "rateLimit": false }"#, "-", "-"),
        (
            r#"{ "rateLimit": { "maxRequests": 5 } }"#,
            "\"default\";q=5;w=60",
            "\"default\";q=5;w=60",
        ),
    ] {
        assert_eq!(called(&own, &read(json), "GET /x", &name), at_own, "{json}");
        assert_eq!(called(&none, &read(json), "GET /x", &name), at_none, "{json}");
    }
    assert!(serde_json::from_str::<HostOptions>(r#"{ "rateLimit": 5 }"#).is_err());
}

#[test]
fn true_in_a_file_trusts_one_proxy() {
    let app = |options: RouterOptions| {
        let mut router = Router::with_options(options);
        router.get("/ip", async |ClientIp(ip): ClientIp| ip.to_string());
        app(router)
    };
    let text = "GET /ip\nx-forwarded-for: 1.1.1.1, 2.2.2.2";
    let ask = |app: &App, json: &str| {
        let response = block_on(app.with_options(read(json)).unwrap().handle(request(text)));
        block_on(crate::support::show(response))
    };
    let (two, nobody) = (app(RouterOptions::new().trust_proxy(2)), app(RouterOptions::new()));
    assert_eq!(ask(&two, "{}"), "200 1.1.1.1");
    assert_eq!(ask(&two, r#"{ "trustProxy": true }"#), "200 2.2.2.2");
    assert_eq!(ask(&two, r#"{ "trustProxy": 1 }"#), "200 2.2.2.2");
    assert_eq!(ask(&two, r#"{ "trustProxy": false }"#), "200 192.0.2.7");
    assert_eq!(ask(&nobody, r#"{ "trustProxy": true }"#), "200 2.2.2.2");
    assert_eq!(ask(&nobody, "{}"), "200 192.0.2.7");
}

/// A clock far from the system clock that a test advances, in milliseconds.
fn clock() -> (Arc<AtomicU64>, Clock) {
    let start = Instant::now() + Duration::from_secs(1_000_000);
    let millis = Arc::new(AtomicU64::new(0));
    let hand = Arc::clone(&millis);
    (millis, Clock::new(move || start + Duration::from_millis(hand.load(Ordering::Relaxed))))
}

#[test]
fn every_limit_uses_the_clock_of_the_router() {
    let (millis, clock) = clock();
    let mut router = Router::with_options(RouterOptions::new().clock(clock).rate_limit(false));
    router.get("/entry", async || "ok").rate_limit(1 / MINUTE);
    router.group("/group", with_rate_limit(1 / MINUTE), |group| {
        group.get("/x", async || "ok");
    });
    router.get("/x", async || "ok");
    let app = app(router);
    let hosted = app.with_options(HostOptions::new().rate_limit(1 / MINUTE)).unwrap();
    let ask = |path: &str, app: &App| {
        block_on(app.handle(request(&format!("GET {path}")))).status().as_u16()
    };
    for (path, app) in [("/entry", &app), ("/group/x", &app), ("/x", &hosted)] {
        let begin = millis.load(Ordering::Relaxed);
        assert_eq!((ask(path, app), ask(path, app)), (200, 429), "{path}");
        millis.store(begin + 59_999, Ordering::Relaxed);
        assert_eq!(ask(path, app), 429, "{path}");
        millis.store(begin + 60_000, Ordering::Relaxed);
        assert_eq!(ask(path, app), 200, "{path}");
    }
}

#[test]
fn clones_of_host_options_share_a_limit() {
    let mut router = Router::with_options(RouterOptions::new().rate_limit(4 / MINUTE));
    router.get("/x", async || "x");
    let app = app(router);
    let ask = |app: &App| {
        let response = block_on(app.handle(request("GET /x")));
        (response.status().as_u16(), values(&response, &["ratelimit"]))
    };
    let options = HostOptions::new().rate_limit(2 / MINUTE);
    let one = app.with_options(options.clone()).unwrap();
    let two = app.with_options(options).unwrap();
    let other = app.with_options(HostOptions::new().rate_limit(2 / MINUTE)).unwrap();
    let same = app.with_options(HostOptions::new().expose_errors(true)).unwrap();
    let left = |left: u32| format!("\"default\";r={left};t=60");
    assert_eq!(ask(&one), (200, left(1)));
    assert_eq!(ask(&two), (200, left(0)));
    assert_eq!(ask(&one), (429, left(0)));
    assert_eq!(ask(&other), (200, left(1)));
    // Without their own limit, they share the limit of the router.
    assert_eq!(ask(&app), (200, left(3)));
    assert_eq!(ask(&same), (200, left(2)));
}

#[test]
fn host_options_can_be_stacked() {
    let outer = with(RouterOptions::new().cors_origin("https://a.example"));
    let inner = outer.with_options(HostOptions::new().cors_origin(["https://b.example"])).unwrap();
    let last = inner.with_options(HostOptions::new().rate_limit(false)).unwrap();
    let text = "GET /x\norigin: https://b.example";
    let seen = |app: &App| called(app, &HostOptions::new(), text, &[ORIGIN, "ratelimit"]);
    assert!(seen(&outer).starts_with("https://a.example | \"default\""), "{}", seen(&outer));
    assert!(seen(&inner).starts_with("https://b.example | \"default\""), "{}", seen(&inner));
    assert_eq!(seen(&last), "https://b.example | -");
}

#[test]
fn cors_exposes_the_older_headers_if_enabled() {
    const NAME: &str = "access-control-expose-headers";
    const USUAL: &str = "RateLimit, RateLimit-Policy, Retry-After, X-Request-Id";
    const ALL: &str = "RateLimit, RateLimit-Policy, Retry-After, X-Request-Id, \
                       X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset";
    let legacy = || RateLimit::new().legacy_headers(true);
    assert_eq!(header_of(&with(RouterOptions::new()), "GET /x", NAME), USUAL);
    let options = RouterOptions::new().rate_limit(legacy());
    assert_eq!(header_of(&with(options.clone()), "GET /x", NAME), ALL);
    assert_eq!(header_of(&with(options.clone()), "GET /own", NAME), ALL);
    // Without exposed rate limit headers, the legacy ones are not exposed
    // either.
    let cors = CorsOptions::new("*").exposed_headers(["X-B"]);
    assert_eq!(header_of(&with(options.cors(cors)), "GET /x", NAME), "X-B");
    let mut router = Router::with_options(RouterOptions::new());
    router.get("/limited", async || "x").rate_limit(legacy());
    router.group("", (with_cors("*"), with_rate_limit(legacy())), |group| {
        group.get("/inside", async || "x");
    });
    router.get("/free", async || "x");
    let app = app(router);
    assert_eq!(header_of(&app, "GET /limited", NAME), ALL);
    assert_eq!(header_of(&app, "GET /inside", NAME), ALL);
    assert_eq!(header_of(&app, "GET /free", NAME), USUAL);
}

/// The tables in `book/src/how-to/rate-limiting.md` contain these values.
#[test]
fn the_defaults_match_the_guide() {
    let shown = format!("{:?} {:?}", RouterOptions::new(), ServerOptions::new());
    for default in [
        "rate_limit: Value(Placed { value: RateLimit { window: 60s, max_requests: 100, ",
        "max_body: Some(1048576), ",
        "max_connections: 10000, max_connections_per_client: None, ",
        "min_read_rate: 500, ",
        "write_stall_timeout: 75s, min_write_rate: 500, ",
        "tcp_notsent_lowat: Some(524288), tcp_send_buffer: None, ",
        "max_json_values: Some(100000), ",
        "ws_max_connections: 10000, ws_max_connections_per_client: 100 ",
        "idle_timeout: 60s, ",
        "shutdown_timeout: 10s, ",
        "shutdown_delay: 0ns, ",
    ] {
        assert!(shown.contains(default), "{default} is not in {shown}");
    }
}
