//! Table tests of the handshake: a change to a valid one, and the outcome.

use http::request::Builder;
use http::{Method, Request as HttpRequest};

use super::*;

const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";

fn rules(options: WebSocketOptions) -> Arc<Rules> {
    let router = RouterRules {
        allowed_origins: Setting::Inherit,
        max_payload: 1_048_576,
        #[cfg(feature = "ws-compression")]
        compression: Setting::Off,
        connections: Connections::new(10, 10),
    };
    Rules::new(options, &router)
}

/// Returns a valid handshake without the headers in `without`.
fn good(without: &[&str]) -> Builder {
    let headers = [
        ("host", "example.com"),
        ("connection", "keep-alive, Upgrade"),
        ("upgrade", "websocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", KEY),
    ];
    let kept = headers.into_iter().filter(|(name, _)| !without.contains(name));
    kept.fold(HttpRequest::get("/"), |request, (name, value)| request.header(name, value))
}

fn validated(request: Builder, options: WebSocketOptions) -> Result<Negotiated, ApiError> {
    let mut request = Request::from(request.body(()).unwrap());
    request.extensions_mut().insert(Upgrade::http1());
    validate(&request, &rules(options))
}

/// Validates a handshake with these headers replaced.
#[track_caller]
fn check(changed: &[(&str, &str)], expected: u16) {
    let names: Vec<&str> = changed.iter().map(|(name, _)| *name).collect();
    let values = changed.iter().filter(|(_, value)| !value.is_empty());
    let request = values.fold(good(&names), |request, (name, value)| request.header(*name, *value));
    let status =
        validated(request, WebSocketOptions::new()).map_or_else(|error| error.status(), |_| 101);
    assert_eq!(status, expected, "{changed:?}");
}

#[test]
fn finds_tokens_in_lists_and_in_any_case() {
    check(&[], 101);
    check(&[("upgrade", "WebSocket")], 101);
    check(&[("upgrade", "h2c, websocket")], 101);
    check(&[("connection", "keep-alive"), ("connection", "UPGRADE")], 101);
    check(&[("upgrade", "")], 426);
    check(&[("upgrade", "h2c")], 426);
    check(&[("upgrade", "websockets")], 426);
    check(&[("connection", "")], 400);
    check(&[("connection", "keep-alive")], 400);
}

// HEAD falls back to the GET route; it used to switch protocols.
#[test]
fn only_get_opens_a_connection() {
    for method in [Method::HEAD, Method::POST, Method::OPTIONS] {
        let error = validated(good(&[]).method(&method), WebSocketOptions::new()).unwrap_err();
        assert_eq!(error.status(), 400, "{method}");
        let error = validated(good(&["upgrade"]).method(&method), WebSocketOptions::new());
        assert_eq!(error.unwrap_err().status(), 426, "{method}");
    }
}

#[test]
fn accepts_only_version_13() {
    for version in ["", "8", "12", "14", "013", "13, 8"] {
        check(&[("sec-websocket-version", version)], 426);
    }
}

#[test]
fn a_426_names_the_protocol() {
    let version = ("Sec-WebSocket-Version", "13");
    for missing in ["sec-websocket-version", "upgrade"] {
        let error = validated(good(&[missing]), WebSocketOptions::new()).unwrap_err();
        let expected = [version, ("Upgrade", "websocket"), ("Connection", "Upgrade")];
        assert_eq!(error.headers().collect::<Vec<_>>(), expected, "{missing}");
    }
    let request = HttpRequest::connect("https://example.com/").body(()).unwrap();
    let mut request = Request::from(request);
    request.extensions_mut().insert(Upgrade::extended_connect());
    let error = validate(&request, &rules(WebSocketOptions::new())).unwrap_err();
    assert_eq!(error.headers().collect::<Vec<_>>(), [version]);
}

#[test]
fn the_key_is_16_bytes() {
    for key in ["", "dGhl", "dGhlIHNhbXBsZSBub25jZQ", "dGhlIHNhbXBsZSBub25jZ!==", "x"] {
        check(&[("sec-websocket-key", key)], 400);
    }
    check(&[("sec-websocket-key", KEY), ("sec-websocket-key", KEY)], 400);
    // RFC 6455, section 1.3.
    let negotiated = validated(good(&[]), WebSocketOptions::new()).unwrap();
    assert_eq!(negotiated.accept.as_deref(), Some("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
}

#[test]
fn rejects_other_origins() {
    check(&[("origin", "https://example.com")], 101);
    check(&[("origin", "https://evil.com")], 403);
    check(&[("origin", "null")], 403);
    check(&[("origin", "https://example.com"), ("origin", "https://example.com")], 403);
    check(&[("origin", "https://example.com"), ("host", "")], 403);
}

#[test]
fn requires_an_https_origin_on_tls() {
    for (origin, target, tls, expected) in [
        ("https://example.com", "/", true, true),
        ("http://example.com", "/", true, false),
        ("http://example.com:443", "/", true, false),
        ("http://example.com", "/", false, true),
        ("https://example.com", "https://example.com/", false, true),
        ("http://example.com", "https://example.com/", false, false),
        ("http://example.com", "http://example.com/", false, true),
    ] {
        let request = good(&[]).header("origin", origin).uri(target);
        let mut request = Request::from(request.body(()).unwrap());
        request.extensions_mut().insert(Upgrade::http1());
        if tls {
            request.extensions_mut().insert(TlsConnection);
        }
        let validated = validate(&request, &rules(WebSocketOptions::new()));
        assert_eq!(validated.is_ok(), expected, "{origin} at {target}, TLS {tls}");
    }
}

/// The rules have an order: the first violation determines the response.
#[test]
fn responds_with_the_first_error() {
    check(&[("upgrade", ""), ("sec-websocket-version", "8")], 426);
    check(&[("connection", ""), ("sec-websocket-version", "8")], 400);
    check(&[("sec-websocket-version", "8"), ("sec-websocket-key", "")], 426);
    check(&[("sec-websocket-key", ""), ("origin", "null")], 400);
}

#[test]
fn rejects_a_body_or_an_old_version() {
    check(&[("content-length", "0")], 101);
    check(&[("content-length", "5")], 400);
    check(&[("transfer-encoding", "chunked")], 400);
    let old = validated(good(&[]).version(Version::HTTP_10), WebSocketOptions::new());
    assert_eq!(old.unwrap_err().status(), 400);
}

#[test]
fn reports_a_host_without_upgrades_last() {
    let request = Request::from(good(&[]).body(()).unwrap());
    let error = validate(&request, &rules(WebSocketOptions::new())).unwrap_err();
    // Not a 5xx: each would write an error-level log line.
    assert_eq!(error.status(), 400);
}

#[test]
fn selects_the_first_of_our_subprotocols() {
    let negotiated = |theirs: &str| {
        let request = good(&[]).header("sec-websocket-protocol", theirs);
        let options = WebSocketOptions::new().protocols(["v2", "v1"]);
        validated(request, options).unwrap().protocol
    };
    assert_eq!(negotiated("v1, v2").as_deref(), Some("v2"));
    assert_eq!(negotiated("v0,v1").as_deref(), Some("v1"));
    assert_eq!(negotiated("V1"), None);
}

#[test]
fn an_extended_connect_needs_neither_key_nor_tokens() {
    let request = |origin: &str| {
        let request = HttpRequest::builder()
            .method(Method::CONNECT)
            .version(Version::HTTP_2)
            .uri("https://example.com/")
            .header("sec-websocket-version", "13")
            .header("origin", origin);
        let mut request = Request::from(request.body(()).unwrap());
        request.extensions_mut().insert(Upgrade::extended_connect());
        validate(&request, &rules(WebSocketOptions::new()))
    };
    let negotiated = request("https://example.com").unwrap();
    assert_eq!((negotiated.accept, negotiated.upgrade.is_extended_connect()), (None, true));
    assert_eq!(request("https://evil.com").unwrap_err().status(), 403);
}

#[test]
fn unusable_options_are_configuration_errors() {
    let options = WebSocketOptions::new()
        .allowed_origins(["example.com"])
        .protocols(["a b"])
        .max_rate(Some(0))
        .idle_timeout(Some(std::time::Duration::ZERO));
    assert_eq!(rules(options).issues().len(), 4);
    assert!(rules(WebSocketOptions::new()).issues().is_empty());
}
