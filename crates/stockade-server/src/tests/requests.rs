//! Tests valid requests and invalid heads.

use stockade_core::Request;

use super::{app, get, options, start, text};

#[tokio::test]
async fn pipelined_requests_get_responses_in_order() {
    let server = start(options(), async |request: Request| {
        text(200, format!("{} {}", request.path(), request.peer().is_some()))
    })
    .await;
    let mut client = server.connect().await;
    client.send([get("/a"), get("/b"), get("/c")].concat()).await;
    for path in ["/a", "/b", "/c"] {
        assert_eq!(client.answer().await.body, format!("{path} true"));
    }
    client.send(get("/d")).await;
    let answer = client.answer().await;
    assert_eq!(answer.body, "/d true");
    assert!(answer.head.contains("\r\ndate: "), "{answer:?}");
    assert!(!answer.head.contains("\r\nserver: "), "{answer:?}");
    assert!(!answer.head.contains("\r\nconnection: "), "{answer:?}");
}

#[tokio::test]
async fn the_response_to_head_has_the_length_and_no_body() {
    let server = start(options(), async |_| {
        let mut response = text(200, "");
        response.headers_mut().insert("content-length", 5.into());
        response
    })
    .await;
    let mut client = server.connect().await;
    client.send("HEAD /hello HTTP/1.1\r\nHost: a\r\n\r\n").await;
    let head = client.head().await;
    assert!(head.contains("\r\ncontent-length: 5\r\n"), "{head}");
    client.send("HEAD /hello HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert!(client.head().await.starts_with("http/1.1 200 "));
    assert_eq!(client.read, b"");
}

#[tokio::test]
async fn an_invalid_host_is_400_and_the_connection_stays() {
    let server = start(options(), app).await;
    let mut client = server.connect().await;
    let cases = [
        ("", "Missing Host header"),
        ("Host: a\r\nHost: a\r\n", "More than one Host header"),
        ("Host: a/b\r\n", "Malformed Host header"),
        ("Host:\r\n", "Malformed Host header"),
    ];
    for (hosts, message) in cases {
        client.send(format!("GET /hello HTTP/1.1\r\n{hosts}\r\n")).await;
        let answer = client.answer().await;
        assert_eq!((answer.status, answer.body), (400, format!(r#"{{"error":"{message}"}}"#)));
        assert!(answer.head.contains("\r\ncontent-type: application/json\r\n"), "{}", answer.head);
    }
    client.send(get("/hello")).await;
    assert_eq!(client.answer().await.body, "hello");
}

#[tokio::test]
async fn http_1_0_needs_no_host_and_closes() {
    let server = start(options(), app).await;
    let mut client = server.connect().await;
    client.send("GET /hello HTTP/1.0\r\n\r\n").await;
    assert_eq!(client.answer().await.body, "hello");
    client.closed().await;
}

#[tokio::test]
async fn heads_above_the_limits_are_431() {
    for max_headers in [100, 20] {
        let server = start(options().max_headers(max_headers), app).await;
        let lines = "X: y\r\n".repeat(max_headers);
        let mut client = server.connect().await;
        client.send(format!("GET /hello HTTP/1.1\r\nHost: a\r\n{lines}\r\n")).await;
        let answer = client.answer().await;
        assert_eq!(answer.status, 431, "{max_headers} headers");
        client.closed().await;

        let lines = "X: y\r\n".repeat(max_headers - 1);
        let mut client = server.connect().await;
        client.send(format!("GET /hello HTTP/1.1\r\nHost: a\r\n{lines}\r\n")).await;
        assert_eq!(client.answer().await.status, 200);
    }
    let server = start(options().max_header_bytes(1_000), app).await;
    for (length, status) in [(900, 200), (1_000, 431)] {
        let mut client = server.connect().await;
        let value = "y".repeat(length);
        client.send(format!("GET /hello HTTP/1.1\r\nHost: a\r\nX: {value}\r\n\r\n")).await;
        assert_eq!(client.answer().await.status, status, "{length} bytes");
    }
}

#[tokio::test]
async fn a_request_that_is_not_http_is_400() {
    let server = start(options(), app).await;
    for nonsense in ["\0\0\0\0\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n", "GET\r\n\r\n"] {
        let mut client = server.connect().await;
        client.send(nonsense).await;
        assert_eq!(client.answer().await.status, 400, "{nonsense:?}");
        client.closed().await;
    }
}

#[tokio::test]
async fn a_panic_ends_only_its_connection() {
    let server = start(options(), async |request: Request| match request.path() {
        "/panic" => panic!("on purpose"),
        _ => text(200, "alive"),
    })
    .await;
    let mut client = server.connect().await;
    client.send(get("/panic")).await;
    client.closed().await;
    assert_eq!(server.get("/").await.body, "alive");
}

#[tokio::test]
async fn a_body_that_could_be_framed_in_two_ways_ends_the_connection() {
    let server = start(options(), app).await;
    let refused = r#"{"error":"Unsupported Transfer-Encoding"}"#;
    let cases = [
        ("Transfer-Encoding: gzip, chunked\r\n", 400, refused),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", 400, refused),
        // hyper's own response: no request can be trusted.
        ("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", 400, ""),
        ("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", 400, ""),
    ];
    for (headers, status, body) in cases {
        let mut client = server.connect().await;
        // Bytes after the body are never treated as a request.
        let rest = "0\r\n\r\nGET /hello HTTP/1.1\r\nHost: a\r\n\r\n";
        client.send(format!("POST /hello HTTP/1.1\r\nHost: a\r\n{headers}\r\n{rest}")).await;
        let answer = client.answer().await;
        assert_eq!((answer.status, answer.body.as_str()), (status, body), "{headers}");
        client.closed().await;
    }
}
