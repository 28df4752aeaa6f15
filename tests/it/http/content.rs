//! Combinations of content middleware: compression, entity tags, sanitization
//! and timeouts.

use std::time::Duration;

use stockade::middleware::{
    Coding, InputRule, with_compression, with_cors, with_decompression, with_etag,
    with_input_validation, with_rate_limit, with_sanitization, with_validation,
};
use stockade::prelude::*;
use stockade::validation::Unchecked;
use stockade_errors::random::Random;

use crate::support::{app, block_on, check, request, show};

#[test]
fn decompression_must_precede_body_readers() {
    let schema = schema!({ "a": { "min": 1 } });
    let readers = [
        ("with_sanitization", with_sanitization()),
        ("with_validation", Middleware::new(with_validation(schema))),
        ("with_input_validation", with_input_validation([("a", InputRule::default())])),
    ];
    for (name, reader) in readers {
        let mut router = Router::with_options(RouterOptions::new().middleware(reader));
        router.post("/x", async |_: Bytes| ()).middleware(with_decompression());
        let error = router.build().unwrap_err().to_string();
        let expected = format!(
            "`{name}` reads the body before `with_decompression` has decoded it: \
             put `with_decompression` first"
        );
        assert!(error.contains(&expected), "{error}");
    }
    // In the opposite order, sanitization cleans the decompressed body.
    let options = RouterOptions::new().middleware((with_decompression(), with_sanitization()));
    let mut router = Router::with_options(options);
    router.post("/x", async |Body(body): Body<Unchecked<Value>>| Json(body.0));
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, br#"{"a":"<b>"}"#).unwrap();
    let request = stockade::http::Request::post("/x")
        .header("content-type", "application/json")
        .header("content-encoding", "gzip")
        .body(packed.finish().unwrap())
        .unwrap();
    let response = block_on(app(router).handle(request));
    assert_eq!(block_on(show(response)), r#"200 {"a":"&lt;b&gt;"}"#);
}

/// Returns the status and headers, sorted and without the body.
fn head(app: &App, text: &str) -> Vec<String> {
    let response = block_on(app.handle(request(text)));
    let size = response.body().as_bytes().map(|bytes| bytes.len());
    let has_length = response.headers().contains_key("content-length");
    let mut lines: Vec<String> = response
        .headers()
        .iter()
        .filter(|(name, _)| *name != "ratelimit")
        .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
        .collect();
    // A host adds the length of a body with a known size.
    if let Some(size) = size.filter(|_| !has_length && text.starts_with("GET")) {
        lines.push(format!("content-length: {size}"));
    }
    lines.push(response.status().to_string());
    lines.sort();
    lines
}

#[test]
fn head_has_the_headers_of_get_under_compression() {
    let middleware = (with_compression().codings([Coding::Gzip]), with_etag().strong());
    let mut router = Router::with_options(RouterOptions::new().middleware(middleware));
    router.get("/large", async || "text ".repeat(1_000));
    router.get("/small", async || "text");
    router.get("/random", async || {
        let mut random = Random::new(1);
        let mut next = || char::from(b'!' + u8::try_from(random.below(94)).unwrap());
        (0..2_000).map(|_| next()).collect::<String>()
    });
    let app = app(router);
    for path in ["/large", "/small", "/random", "/nowhere"] {
        for accepts in ["", "\naccept-encoding: gzip", "\naccept-encoding: identity"] {
            let of_get = head(&app, &format!("GET {path}{accepts}"));
            assert_eq!(head(&app, &format!("HEAD {path}{accepts}")), of_get);
        }
    }
    let large = head(&app, "HEAD /large\naccept-encoding: gzip");
    assert!(large.contains(&"content-encoding: gzip".to_owned()), "{large:?}");
    assert!(!large.contains(&"content-length: 5000".to_owned()), "{large:?}");
}

#[test]
fn a_custom_head_route_sends_no_uncompressed_length() {
    let mut router = Router::with_options(RouterOptions::new().middleware(with_compression()));
    router.head("/x", async || {
        let response = Response::default().map(|_| stockade::HttpBody::empty());
        let (mut parts, body) = response.into_parts();
        parts.headers.insert("content-type", header::HeaderValue::from_static("text/plain"));
        parts.headers.insert("content-length", 5_000.into());
        parts.headers.insert("etag", header::HeaderValue::from_static("\"1\""));
        Response::from_parts(parts, body)
    });
    let app = app(router);
    let asked = |text: &str| {
        let response = block_on(app.handle(request(text)));
        ["content-length", "content-encoding", "etag", "vary"].map(|name| {
            let value = response.headers().get(name);
            value.map_or("-".to_owned(), |value| value.to_str().unwrap().to_owned())
        })
    };
    assert_eq!(asked("HEAD /x"), ["5000", "-", "\"1\"", "accept-encoding"]);
    let expected = ["-", "gzip", "W/\"1\"", "accept-encoding"];
    assert_eq!(asked("HEAD /x\naccept-encoding: gzip"), expected);
}

#[test]
fn a_412_keeps_headers_about_the_exchange() {
    async fn tagged() -> Result<Response, ApiError> {
        let mut response = Json("content").into_response()?;
        for (name, value) in [
            ("cache-control", "max-age=60"),
            ("content-disposition", "inline"),
            ("content-language", "de"),
            ("etag", "\"1\""),
            ("last-modified", "Sun, 06 Nov 1994 08:49:37 GMT"),
            ("set-cookie", "a=1"),
            ("vary", "accept-language"),
        ] {
            response.headers_mut().insert(name, value.parse().unwrap());
        }
        Ok(response)
    }
    let options = RouterOptions::new().cors_origin("https://router.example");
    let mut router = Router::with_options(options.enable_security_headers(false));
    let list = (with_etag(), with_cors("https://route.example"), with_rate_limit(5 / MINUTE));
    router.group("", list, |group| {
        group.get("/x", tagged);
    });
    let response = block_on(app(router).handle(request("GET /x\nif-match: \"2\"")));
    let mut names: Vec<&str> = response.headers().keys().map(header::HeaderName::as_str).collect();
    names.sort_unstable();
    let expected = [
        "access-control-allow-credentials",
        "access-control-allow-origin",
        "access-control-expose-headers",
        "content-type",
        "etag",
        "ratelimit",
        "ratelimit-policy",
        "set-cookie",
        "vary",
    ];
    assert_eq!(names, expected);
    let said = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
    assert_eq!(said("access-control-allow-origin"), "https://route.example");
    assert_eq!(said("ratelimit-policy"), r#""default";q=100;w=60, "route";q=5;w=60"#);
    assert_eq!(said("content-type"), "application/json");
    assert_eq!(block_on(show(response)), r#"412 {"error":"Precondition Failed"}"#);
}

#[test]
fn a_503_has_the_headers_of_outer_stages() {
    let mut router = Router::with_options(RouterOptions::new().expose_errors(false));
    router
        .get("/x", std::future::pending::<()>)
        .timeout(Duration::from_millis(1))
        .rate_limit(5 / MINUTE)
        .cors("https://route.example");
    let app = app(router);
    let response = block_on(app.handle(request("GET /x")));
    let said = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
    assert_eq!(said("access-control-allow-origin"), "https://route.example");
    assert_eq!(said("ratelimit-policy"), r#""default";q=100;w=60, "route";q=5;w=60"#);
    check(&app, "GET /x", r#"503 {"error":"Service Unavailable"}"#);
}
