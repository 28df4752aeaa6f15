//! Compression, entity tags, cookies, metrics and request ids.
//!
//! The specification does not cover these. The helpers' documentation lists the
//! sources.

use std::io::{Read as _, Write as _};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http_body_util::BodyExt as _;
use stockade::extract::Headers;
use stockade::http::HeaderMap;
use stockade::http::Request as HttpRequest;
use stockade::middleware::{
    Coding, CookieError, Cookies, ETag, IfMatch, Metrics, Preconditions, RequestId, SameSite,
    SetCookie, TraceContext, Validators, WithETag, with_compression, with_decompression, with_etag,
    with_metrics, with_request_id,
};
use stockade::prelude::*;
use stockade::reply::Streamed;
use stockade::reply::{Event, Sse};
use stockade_errors::random::Random;

use crate::support::{app, app_of, block_on, call, check, header_of, request, show};

/// Returns 20,000 bytes that compress well, but not to almost nothing.
fn text() -> String {
    let words = (0..).map(|number: u32| format!("line {} of a text\n", number * 7919 % 1_000));
    words.flat_map(String::into_bytes).take(20_000).map(char::from).collect()
}

/// Decodes a body with another library.
fn unpack(coding: &str, bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    match coding {
        "gzip" => flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut plain).unwrap(),
        "br" => brotli::Decompressor::new(bytes, 4_096).read_to_end(&mut plain).unwrap(),
        "zstd" => zstd::Decoder::new(bytes).unwrap().read_to_end(&mut plain).unwrap(),
        _ => bytes.take(u64::MAX).read_to_end(&mut plain).unwrap(),
    };
    plain
}

/// Encodes a body with another library.
fn pack(coding: &str, bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    match coding {
        "gzip" => {
            let mut encoder = flate2::write::GzEncoder::new(&mut packed, <_>::default());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap();
        }
        "br" => {
            let mut encoder = brotli::CompressorWriter::new(&mut packed, 4_096, 5, 20);
            encoder.write_all(bytes).unwrap();
        }
        "zstd" => packed = zstd::encode_all(bytes, 3).unwrap(),
        _ => packed.extend_from_slice(bytes),
    }
    packed
}

fn compressing() -> App {
    app_of(routes! {
        middleware: [with_compression()],
        "text": { GET: async || text() },
        "small": { GET: async || "a".repeat(1_023) },
        "edge": { GET: async || "a".repeat(1_024) },
        "large": { GET: async || "0123456789".repeat(100_000) },
        "stream": { GET: async || Streamed::new(Slow::of(&["one ", "two"])).content_type("text/csv") },
        "image": { GET: async || typed("image/png", &[]) },
        "events": { GET: async || Sse::new(Events(3)) },
        "kept": { GET: async || typed("text/plain", &[("cache-control", "max-age=1, no-transform")]) },
        "coded": { GET: async || typed("text/plain", &[("content-encoding", "deflate")]) },
        "tagged": { GET: async || typed("text/plain", &[("etag", "\"1\""), ("vary", "origin"), ("content-length", "20000")]) },
        "part": { GET: async || (StatusCode::PARTIAL_CONTENT, text()) },
        "nothing": { GET: async || () },
        "random": { GET: async || (typed_headers("text/plain"), noise()) },
        "unchanged": { GET: async || (StatusCode::NOT_MODIFIED, typed("text/plain", &[("etag", "\"1\"")])) },
    })
}

fn typed_headers(media: &'static str) -> HeaderMap {
    HeaderMap::from_iter([(header::CONTENT_TYPE, media.parse().unwrap())])
}

fn typed(media: &'static str, headers: &[(&'static str, &'static str)]) -> impl Reply + use<> {
    let mut map = typed_headers(media);
    for (name, value) in headers {
        map.append(*name, value.parse().unwrap());
    }
    (map, text())
}

/// Returns bytes that no content coding makes smaller.
fn noise() -> Bytes {
    let mut random = Random::new(1);
    (0..2_000).map(|_| random.bits().to_le_bytes()[3]).collect()
}

/// A stream that is pending once before each piece.
struct Slow {
    pieces: std::vec::IntoIter<&'static str>,
    waits: bool,
}

impl Slow {
    fn of(pieces: &[&'static str]) -> Self {
        let pieces = pieces.to_vec();
        Self { pieces: pieces.into_iter(), waits: false }
    }
}

impl futures_util::Stream for Slow {
    type Item = Result<Bytes, BoxError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.waits = !self.waits;
        if self.waits {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(self.pieces.next().map(|piece| Ok(Bytes::from(piece))))
    }
}

/// A stream of this many events, all ready immediately.
struct Events(u32);

impl futures_util::Stream for Events {
    type Item = Result<Event, BoxError>;

    fn poll_next(mut self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let left = self.0.checked_sub(1);
        self.0 = left.unwrap_or(0);
        Poll::Ready(left.map(|left| Ok(Event::data(left.to_string()))))
    }
}

/// Returns the content coding, `Vary`, and the body's bytes.
fn fetch(app: &App, target: &str, accept: &str) -> (String, String, Vec<u8>) {
    let get = request(&format!("GET {target}\naccept-encoding: {accept}"));
    let response = block_on(app.handle(get));
    let header = |name| {
        let value = response.headers().get(name);
        value.map_or("-", |value| value.to_str().unwrap()).to_owned()
    };
    let (coding, vary) = (header("content-encoding"), header("vary"));
    let body = block_on(response.into_body().collect(u64::MAX)).unwrap();
    (coding, vary, body.into())
}

#[test]
fn responses_use_a_coding_that_the_client_accepts() {
    let app = compressing();
    for (accept, expected) in [
        ("gzip", "gzip"),
        ("br", "br"),
        ("zstd", "zstd"),
        ("gzip, br;q=0.9", "gzip"),
        ("gzip, deflate, br, zstd", "zstd"),
        ("identity", "-"),
        ("gzip;q=0", "-"),
        ("nonsense", "-"),
    ] {
        let (coding, vary, bytes) = fetch(&app, "/text", accept);
        assert_eq!((coding.as_str(), vary.as_str()), (expected, "accept-encoding"), "{accept}");
        assert_eq!(unpack(&coding, &bytes), text().into_bytes(), "{accept}");
        assert!(coding == "-" || bytes.len() < 5_000, "{accept}: {}", bytes.len());
    }
    // Large bodies are compressed while they are sent, and streams as their
    // pieces arrive.
    for coding in ["gzip", "br", "zstd"] {
        let large = fetch(&app, "/large", coding);
        assert_eq!(unpack(&large.0, &large.2), b"0123456789".repeat(100_000));
        let stream = fetch(&app, "/stream", coding);
        assert_eq!((stream.0.as_str(), unpack(coding, &stream.2)), (coding, b"one two".to_vec()));
    }
}

#[test]
fn does_not_compress_unsuitable_responses() {
    let app = compressing();
    for (target, coding, vary) in [
        ("/small", "-", "-"),
        ("/edge", "gzip", "accept-encoding"),
        ("/image", "-", "-"),
        ("/kept", "-", "-"),
        ("/coded", "deflate", "-"),
        ("/part", "-", "accept-encoding"),
        ("/nothing", "-", "-"),
        ("/random", "-", "accept-encoding"),
    ] {
        let fetched = fetch(&app, target, "gzip");
        assert_eq!((fetched.0.as_str(), fetched.1.as_str()), (coding, vary), "{target}");
    }
}

#[test]
fn compression_adjusts_the_response_headers() {
    let app = compressing();
    let gzip = "GET /tagged\naccept-encoding: gzip";
    assert_eq!(header_of(&app, gzip, "etag"), "W/\"1\"");
    assert_eq!(header_of(&app, gzip, "content-length"), "-");
    assert_eq!(header_of(&app, "GET /tagged", "etag"), "\"1\"");
    let response = block_on(app.handle(request(gzip)));
    let vary: Vec<_> = response.headers().get_all("vary").iter().collect();
    assert_eq!(vary, ["origin", "accept-encoding"]);
    // A 304 repeats the client's tag.
    let known = |tag| format!("GET /unchanged\nif-none-match: {tag}");
    assert_eq!(header_of(&app, &known("W/\"1\""), "etag"), "W/\"1\"");
    assert_eq!(header_of(&app, &known("\"1\""), "etag"), "\"1\"");
    assert_eq!(header_of(&app, &known("\"1\""), "content-encoding"), "-");
}

#[test]
fn compressed_events_arrive_immediately() {
    let app = compressing();
    for coding in ["gzip", "br", "zstd"] {
        let get = request(&format!("GET /events\naccept-encoding: {coding}"));
        let mut body = block_on(app.handle(get)).into_body();
        let mut packed = Vec::new();
        for event in ["data: 2\n\n", "data: 1\n\n", "data: 0\n\n"] {
            let before = begun(coding, &packed).len();
            let piece = block_on(body.frame()).unwrap().unwrap().into_data().unwrap();
            packed.extend_from_slice(&piece);
            assert_eq!(&begun(coding, &packed)[before..], event.as_bytes(), "{coding}");
        }
    }
    // A stream is flushed whenever its next piece is not ready.
    let mut body = block_on(app.handle(request("GET /stream\naccept-encoding: gzip"))).into_body();
    let piece = block_on(body.frame()).unwrap().unwrap().into_data().unwrap();
    assert_eq!(begun("gzip", &piece), b"one ");
}

/// Decodes as much of an incomplete body as possible.
fn begun(coding: &str, bytes: &[u8]) -> Vec<u8> {
    let mut reader: Box<dyn std::io::Read + '_> = match coding {
        "gzip" => Box::new(flate2::read::GzDecoder::new(bytes)),
        "br" => Box::new(brotli::Decompressor::new(bytes, 4_096)),
        _ => Box::new(zstd::Decoder::new(bytes).unwrap()),
    };
    let mut plain = Vec::new();
    let mut room = [0; 1];
    while let Ok(1) = reader.read(&mut room) {
        plain.push(room[0]);
    }
    plain
}

fn decompressing() -> App {
    let options = RouterOptions::new().expose_errors(false).max_body_size(100_000);
    let mut router = create_router(RouteTree::default(), options.middleware(with_decompression()));
    router.post("/json", async |Body(value): Body<Value>| value);
    router.post("/length", async |bytes: Bytes| bytes.len().to_string());
    router.post("/stream", async |body: stockade::HttpBody| {
        Ok::<_, BoxError>(body.collect(u64::MAX).await?.len().to_string())
    });
    router.post("/headers", async |headers: Headers| {
        { headers.contains_key("content-encoding") || headers.contains_key("content-length") }
            .to_string()
    });
    app(router)
}

fn post(app: &App, target: &str, coding: &str, media: &str, body: Vec<u8>) -> String {
    let request = HttpRequest::post(target)
        .header("content-encoding", coding)
        .header("content-type", media)
        .header("content-length", body.len())
        .body(body);
    let request = Request::from(request.unwrap());
    block_on(async { show(app.handle(request).await).await })
}

#[test]
fn decompresses_requests() {
    let app = decompressing();
    let json = json!({ "a": [1, 2, 3], "b": "text" }).to_string();
    for coding in ["gzip", "br", "zstd", "identity", "GZIP"] {
        let packed = pack(&coding.to_lowercase(), json.as_bytes());
        let answer = post(&app, "/json", coding, "application/json", packed);
        assert_eq!(answer, format!("200 {json}"), "{coding}");
    }
    let packed = pack("gzip", b"x");
    assert_eq!(post(&app, "/headers", "gzip", "text/plain", packed), "200 false");
}

#[test]
fn the_limit_applies_to_decompressed_bytes() {
    let app = decompressing();
    let too_large = r#"413 {"error":"Request body too large"}"#;
    for coding in ["gzip", "br", "zstd"] {
        for target in ["/length", "/stream"] {
            let check = |length: usize, expected: &str| {
                let packed = pack(coding, &vec![0; length]);
                assert!(packed.len() < 100_000, "{coding} {}", packed.len());
                let answer = post(&app, target, coding, "text/plain", packed);
                assert_eq!(answer, expected, "{coding} {target} {length}");
            };
            check(100_000, "200 100000");
            check(100_001, too_large);
            check(5_000_000, too_large);
        }
    }
}

#[test]
fn rejects_bodies_that_cannot_be_decompressed() {
    let app = decompressing();
    let unsupported = r#"415 {"error":"Unsupported Media Type"}"#;
    assert_eq!(post(&app, "/length", "deflate", "text/plain", b"x".to_vec()), unsupported);
    assert_eq!(post(&app, "/length", "gzip, br", "text/plain", b"x".to_vec()), unsupported);
    let accepts = header_of(&app, "POST /length\ncontent-encoding: x", "accept-encoding");
    assert_eq!(accepts, "zstd, br, gzip");
    let broken = r#"400 {"error":"Malformed request body"}"#;
    for coding in ["gzip", "br", "zstd"] {
        assert_eq!(post(&app, "/length", coding, "text/plain", b"plain".to_vec()), broken);
        let mut cut = pack(coding, text().as_bytes());
        cut.pop();
        assert_eq!(post(&app, "/length", coding, "text/plain", cut), broken, "{coding}");
    }
}

fn tagging() -> App {
    app_of(routes! {
        middleware: [with_etag()],
        "text": { GET: async || (HeaderMap::from_iter([(header::CACHE_CONTROL, "max-age=9".parse().unwrap())]), "text") },
        "own": { GET: async || typed("text/plain", &[("etag", "\"own\""), ("last-modified", "Sun, 06 Nov 1994 08:49:37 GMT")]) },
        "dated": { GET: async || typed("text/plain", &[("last-modified", "Sun, 06 Nov 1994 08:49:37 GMT")]) },
        "stream": { GET: async || Streamed::new(Slow::of(&["one "])) },
        "fails": { GET: async || Err::<(), _>(ApiError::conflict()) },
        "item": {
            PUT: async |preconditions: Preconditions| {
                let current = Validators::etag(ETag::new("7").unwrap()).and_modified(changed());
                preconditions.check(&current).map(|()| "changed")
            },
        },
    })
}

/// Returns the time 1994-11-06 08:49:37.
fn changed() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777)
}

#[test]
fn an_unchanged_response_is_a_304() {
    let app = tagging();
    let tag = header_of(&app, "GET /text", "etag");
    assert!(tag.starts_with("W/\"") && tag.len() == 36, "{tag}");
    assert_eq!(tag, header_of(&app, "HEAD /text", "etag"));
    let again = format!("GET /text\nif-none-match: \"x\", {tag}");
    check(&app, &again, "304");
    for (name, value) in [
        ("etag", tag.as_str()),
        ("cache-control", "max-age=9"),
        ("content-type", "-"),
        ("content-length", "-"),
    ] {
        assert_eq!(header_of(&app, &again, name), value, "{name}");
    }
    check(&app, "GET /text\nif-none-match: \"x\"", "200 text");
    check(&app, "HEAD /text\nif-none-match: *", "304");
    check(&app, "GET /own\nif-none-match: W/\"own\"", "304");
    assert_eq!(header_of(&app, "GET /own\nif-none-match: \"own\"", "last-modified"), "-");
    check(&app, "GET /dated\nif-modified-since: Sun, 06 Nov 1994 08:49:37 GMT", "304");
    check(&app, "GET /stream\nif-none-match: *", "304");
    assert_eq!(header_of(&app, "GET /stream", "etag"), "-");
    check(&app, "GET /fails\nif-none-match: *", r#"409 {"error":"Resource conflict"}"#);
}

#[test]
fn a_failed_condition_is_a_412() {
    let app = tagging();
    let failed = r#"412 {"error":"Precondition Failed"}"#;
    check(&app, "GET /own\nif-match: \"other\"", failed);
    check(&app, "GET /dated\nif-unmodified-since: Sun, 06 Nov 1994 08:49:36 GMT", failed);
    check(&app, "PUT /item", "200 changed");
    check(&app, "PUT /item\nif-match: \"7\"", "200 changed");
    check(&app, "PUT /item\nif-match: \"6\"", failed);
    check(&app, "PUT /item\nif-none-match: *", failed);
    check(&app, "PUT /item\nif-unmodified-since: Sun, 06 Nov 1994 08:49:36 GMT", failed);
    check(&app, "PUT /item\nif-modified-since: Sun, 06 Nov 1994 08:49:37 GMT", "200 changed");
}

#[test]
fn strong_tags_of_compressed_responses_become_weak() {
    let app = app_of(routes! {
        middleware: [with_compression().codings([Coding::Gzip]), with_etag().strong()],
        "text": { GET: async || text() },
    });
    let gzip = "GET /text\naccept-encoding: gzip";
    let (plain, packed) = (header_of(&app, "GET /text", "etag"), header_of(&app, gzip, "etag"));
    assert_eq!(packed, format!("W/{plain}"));
    let again = format!("{gzip}\nif-none-match: {packed}");
    check(&app, &again, "304");
    assert_eq!(header_of(&app, &again, "etag"), packed);
    assert_eq!(header_of(&app, &again, "vary"), "accept-encoding");
}

#[test]
fn compressed_resource_can_be_changed_with_its_tag() {
    let update = async |version: IfMatch| version.check("a,b").map(|()| "changed");
    let weak = || ETag::new("a,b").unwrap().weak();
    let app = app_of(routes! {
        middleware: [with_compression().codings([Coding::Gzip])],
        "text": { GET: async || WithETag("a,b", text()), PUT: update },
        "weak": { PUT: async move |version: IfMatch| version.check(weak()) },
    });
    let status = |request: &str| block_on(call(&app, request))[..3].to_owned();
    let tag = header_of(&app, "GET /text\naccept-encoding: gzip", "etag");
    assert_eq!(tag, "W/\"a,b\"");
    check(&app, &format!("PUT /text\nif-match: {tag}"), "200 changed");
    check(&app, &format!("PUT /text\nif-match: \"W/\"\nif-match: \"c\", {tag}"), "200 changed");
    check(&app, &format!("GET /text\nif-match: {tag}"), &format!("200 {}", text()));
    assert_eq!(status("PUT /text\nif-match: W/\"a\""), "412");
    assert_eq!(status("PUT /text\nif-match: W/a"), "400");
    // The resource's own tag is weak.
    assert_eq!(status(&format!("PUT /weak\nif-match: {tag}")), "412");
}

#[test]
fn reads_sets_and_removes_cookies() {
    let app = app_of(routes! {
        "show": { GET: async |cookies: Cookies| {
            let pairs: Vec<String> = cookies.iter().map(|(name, value)| format!("{name}:{value}")).collect();
            format!("{} first {}", pairs.join(" "), cookies.get("a").unwrap_or("-"))
        } },
        "set": { GET: async || (
            vec![SetCookie::from_static("__Host-a", "1"), SetCookie::removal("b")],
            (SetCookie::from_static("c", "3").same_site(SameSite::None).http_only(false), "set"),
        ) },
        "wrong": { GET: async || (SetCookie::from_static("__Host-a", "1").path("/x"), "set") },
    });
    check(&app, "GET /show\ncookie: a=1; b=x y\ncookie: a=2;=; c", "200 a:1 b:x y a:2 first 1");
    check(&app, "GET /show", "200  first -");
    let response = block_on(app.handle(request("GET /set")));
    let set: Vec<_> = response.headers().get_all("set-cookie").iter().collect();
    assert_eq!(
        set,
        [
            "c=3; Path=/; Secure; SameSite=None",
            "__Host-a=1; Path=/; Secure; HttpOnly; SameSite=Lax",
            "b=; Path=/; Max-Age=0; Secure; HttpOnly; SameSite=Lax",
        ]
    );
    check(&app, "GET /wrong", r#"500 {"error":"Internal Server Error"}"#);
    let wrong = SetCookie::from_static("__Host-a", "1").domain("example.org");
    assert_eq!(wrong.to_header_value(), Err(CookieError::HostPrefix));
}

#[test]
fn an_invalid_cookie_value_is_an_error_in_the_setter() {
    async fn plain(Body(value): Body<String>) -> Result<(SetCookie, ()), ApiError> {
        let set = SetCookie::new("a", value)?;
        Ok((set, ()))
    }
    async fn encoded(Body(value): Body<String>) -> Result<(SetCookie, ()), CookieError> {
        let set = SetCookie::encoded("a", value)?;
        Ok((set, ()))
    }
    let app = app_of(routes! {
        "plain": { POST: plain },
        "encoded": { POST: encoded, GET: async |cookies: Cookies| {
            cookies.decoded("a").unwrap_or_default().into_owned()
        } },
    });
    let post = |path: &str, value: &str| {
        format!("POST {path}\ncontent-type: application/json\n\n{}", json!(value))
    };
    check(&app, &post("/plain", "dark"), "204");
    let forbidden = r#"400 {"error":"A cookie value contains a forbidden character"}"#;
    let hostile = ["a b", "a; Domain=example.org", "a\r\nset-cookie: b=1", "\"", "\\", "é", "\0"];
    for value in hostile {
        check(&app, &post("/plain", value), forbidden);
        let set = header_of(&app, &post("/encoded", value), "set-cookie");
        let (pair, rest) = set.split_once("; ").unwrap();
        assert_eq!(rest, "Path=/; Secure; HttpOnly; SameSite=Lax");
        let response = block_on(app.handle(request(&format!("GET /encoded\ncookie: {pair}"))));
        let body = block_on(response.into_body().collect(u64::MAX)).unwrap();
        assert_eq!(body, value.as_bytes(), "{pair}");
    }
    let long = r#"400 {"error":"A cookie value is too long"}"#;
    check(&app, &post("/plain", &"a".repeat(4_096)), long);
    check(&app, &post("/encoded", &"é".repeat(1_000)), long);
    check(&app, "GET /encoded\ncookie: a=%zz", "200 %zz");
}

#[test]
fn requests_are_counted_by_route() {
    let metrics = Metrics::new();
    let app = app_of(routes! {
        "metrics": { GET: metrics.handler() },
        "users": { ":id": {
            middleware: [with_metrics(metrics.clone())],
            GET: async |Path(id): Path<u32>| match id {
                1 => Ok("ada"),
                2 => Err(ApiError::not_found()),
                _ => panic!("a mistake"),
            },
        } },
    });
    for target in ["/users/1", "/users/1", "/users/2", "/users/3", "/users/x"] {
        block_on(call(&app, &format!("GET {target}")));
    }
    metrics.observe(&Method::GET, None, StatusCode::NOT_FOUND, Duration::ZERO);
    let text = block_on(call(&app, "GET /metrics"));
    for line in [
        r#"http_requests_total{method="GET",route="/users/:id",status="200"} 2"#,
        r#"http_requests_total{method="GET",route="/users/:id",status="400"} 1"#,
        r#"http_rejections_total{method="GET",route="/users/:id",reason="not_found"} 1"#,
        r#"http_rejections_total{method="GET",route="/users/:id",reason="server_error"} 1"#,
        r#"http_rejections_total{method="GET",route="(none)",reason="not_found"} 1"#,
        r#"http_request_duration_seconds_count{method="GET",route="/users/:id"} 5"#,
        r#"http_requests_in_flight{method="GET",route="/users/:id"} 0"#,
    ] {
        assert!(text.lines().any(|other| other == line), "{line} in {text}");
    }
    let media = header_of(&app, "GET /metrics", "content-type");
    assert_eq!(media, "text/plain; version=0.0.4; charset=utf-8");
}

#[test]
fn counts_requests_in_flight_until_the_client_disconnects() {
    let metrics = Metrics::new();
    let app = app_of(routes! {
        middleware: [with_metrics(metrics.clone())],
        "waits": { GET: std::future::pending::<()> },
    });
    let mut future = Box::pin(app.handle(request("GET /waits")));
    let in_flight = |count| {
        let line = format!(r#"http_requests_in_flight{{method="GET",route="/waits"}} {count}"#);
        metrics.text().contains(&line)
    };
    block_on(std::future::poll_fn(|cx| {
        assert!(future.as_mut().poll(cx).is_pending());
        Poll::Ready(())
    }));
    assert!(in_flight(1));
    drop(future);
    assert!(!in_flight(1) && !metrics.text().contains("http_requests_total{"));
}

#[test]
fn each_request_has_an_id() {
    let app = app_of(routes! {
        "named": {
            middleware: [with_request_id()],
            GET: async |id: RequestId, headers: Headers| {
                assert_eq!(headers["x-request-id"], id.as_str());
                id.to_string()
            },
            "fails": { GET: async || Err::<(), _>(ApiError::conflict()) },
        },
        "strict": {
            middleware: [with_request_id().believe_client(false)],
            GET: async |id: RequestId| id.to_string(),
        },
        "unnamed": { GET: async |id: RequestId| id.to_string() },
    });
    check(&app, "GET /named\nx-request-id: a-1", "200 a-1");
    assert_eq!(header_of(&app, "GET /named\nx-request-id: a-1", "x-request-id"), "a-1");
    assert_eq!(header_of(&app, "GET /named/fails\nx-request-id: a-1", "x-request-id"), "a-1");
    for unbelievable in ["a b".to_owned(), "a".repeat(129), "ä".to_owned()] {
        let get = format!("GET /named\nx-request-id: {unbelievable}");
        let answer = block_on(call(&app, &get));
        assert!(answer.len() == 36 && !answer.contains(&unbelievable), "{answer}");
    }
    assert_eq!(block_on(call(&app, "GET /strict\nx-request-id: a-1")).len(), 36);
    check(&app, "GET /unnamed", r#"500 {"error":"Internal Server Error"}"#);
}

#[test]
fn only_a_valid_trace_is_passed_on() {
    async fn trace(trace: TraceContext, headers: Headers) -> String {
        let parent = trace.parent().map(ToString::to_string).unwrap_or_default();
        let sent = headers.get("traceparent").map_or("", |value| value.to_str().unwrap());
        assert_eq!(parent, sent);
        format!("{parent} {}", trace.state().unwrap_or("-"))
    }
    let app = app_of(routes! {
        "passes": { middleware: [with_request_id()], GET: trace },
        "begins": { middleware: [with_request_id().begin_traces(true)], GET: trace },
    });
    let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let valid = format!("traceparent: {parent}\ntracestate: a=1\ntracestate: b=2");
    check(&app, &format!("GET /passes\n{valid}"), &format!("200 {parent} a=1,b=2"));
    check(&app, &format!("GET /begins\n{valid}"), &format!("200 {parent} a=1,b=2"));
    let invalid = valid.replace("00f067aa0ba902b7", "0000000000000000");
    check(&app, &format!("GET /passes\n{invalid}"), "200  -");
    check(&app, "GET /passes", "200  -");
    let begun = block_on(call(&app, &format!("GET /begins\n{invalid}")));
    assert!(begun.starts_with("200 00-") && begun.ends_with("-00 -"), "{begun}");
}
