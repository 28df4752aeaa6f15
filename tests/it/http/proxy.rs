//! Streamed request bodies, request parts, and a reverse proxy that uses both.
// Spec: Request object › body; Limits › Body size.

use std::net::SocketAddr;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use stockade::extract::{Headers, Multipart};
use stockade::http::{self, HeaderMap, Uri};
use stockade::prelude::*;
use stockade::reply::Streamed;
use stockade::testing::TestClient;
use stockade::{HttpBody, PeerAddr};

use crate::support::{app_of, check, header_of, log, request, text_of};

async fn pieces(mut body: HttpBody) -> Result<String, ApiError> {
    let mut lengths = Vec::new();
    while let Some(chunk) = body.chunk().await? {
        lengths.push(chunk.len());
    }
    Ok(format!("{lengths:?}"))
}

/// Creates a POST with a body of these pieces. An `Err` breaks the body.
fn post(path: &str, pieces: &[Result<&'static str, &'static str>]) -> http::Request<HttpBody> {
    let pieces: Vec<_> = pieces.iter().map(|piece| piece.map_err(BoxError::from)).collect();
    http::Request::post(path).body(HttpBody::stream(stream::iter(pieces))).unwrap()
}

#[tokio::test]
async fn streams_a_body_within_its_limit() {
    async fn as_stream(body: HttpBody) -> Result<String, ApiError> {
        let lengths: Vec<usize> = body.map_ok(|chunk| chunk.len()).try_collect().await?;
        Ok(format!("{lengths:?}"))
    }
    let app = app_of(routes! {
        "chunks": { POST: { handler: pieces, max_body: 8 } },
        "stream": { POST: { handler: as_stream, max_body: 8 } },
    });
    for path in ["/chunks", "/stream"] {
        let cases: [(&[_], _); 4] = [
            (&[Ok("abc"), Ok("defgh")], "200 [3, 5]"),
            (&[], "200 []"),
            (&[Ok("abc"), Ok("defghi")], r#"413 {"error":"Request body too large"}"#),
            (&[Ok("abc"), Err("gone")], r#"400 {"error":"Malformed request body"}"#),
        ];
        for (sent, expected) in cases {
            let response = app.handle(post(path, sent)).await;
            assert_eq!(crate::support::show(response).await, expected, "{path} {sent:?}");
        }
    }
}

#[test]
fn parts_of_a_form_are_streams() {
    async fn parts(mut form: Multipart) -> Result<String, ApiError> {
        let mut seen = String::new();
        while let Some(mut part) = form.next().await? {
            let name = part.name().unwrap_or("?").to_owned();
            let mut length = 0;
            while let Some(chunk) = part.next().await {
                length += chunk?.len();
            }
            seen += &format!("{name}:{length} ");
        }
        Ok(seen)
    }
    let app = app_of(routes! { POST: { handler: parts, max_body: 400 } });
    let form = |text: &str| {
        let part = |name: &str, text: &str| {
            format!("--x\r\ncontent-disposition: form-data; name={name}\r\n\r\n{text}\r\n")
        };
        let body = part("a", text) + &part("b", "") + "--x--\r\n";
        format!("POST /\ncontent-type: multipart/form-data; boundary=x\n\n{body}")
    };
    check(&app, &form("hello"), "200 a:5 b:0 ");
    check(&app, &form(&"h".repeat(400)), r#"413 {"error":"Request body too large"}"#);
}

/// Calls `into_parts` on a request behind this middleware. Returns the content
/// length, the content type and the body.
async fn taken_apart(middleware: Middleware, text: &str) -> String {
    async fn show(req: Request) -> String {
        let (head, body) = req.into_parts();
        let header = |name: &str| match head.headers.get(name) {
            Some(value) => value.to_str().unwrap().to_owned(),
            None => "-".to_owned(),
        };
        let peer = head.extensions.get::<PeerAddr>().is_some();
        let head = format!("{} {} {peer}", header("content-length"), header("content-type"));
        format!("{head} {}", text_of(body).await)
    }
    let app = app_of(routes! {
        POST: { handler: show, middleware: [middleware.clone()] },
        GET: { handler: show, middleware: [middleware] },
    });
    crate::support::show(app.handle(request(text)).await).await
}

#[tokio::test]
async fn the_parts_of_a_request_agree_with_each_other() {
    let nothing = || Middleware::new(|_: &mut Request| ());
    let parses = || {
        Middleware::new(async |req: &mut Request| {
            req.body().await.unwrap()["a"] = json!(2);
        })
    };
    let looks = || {
        Middleware::new(async |req: &mut Request| {
            req.body().await.unwrap();
        })
    };
    let replaces = || Middleware::new(|req: &mut Request| req.set_body(json!([1, 2, 3])));
    let takes = || {
        Middleware::new(|req: &mut Request| {
            drop(req.take_stream());
        })
    };
    let post = "POST /\ncontent-length: 7\ncontent-type: application/json\n\n{\"a\":1}";
    let get = "GET /\naccept: */*";
    let cases = [
        (nothing(), post, r#"200 7 application/json true {"a":1}"#),
        // The body has the original bytes.
        (parses(), post, r#"200 7 application/json true {"a":1}"#),
        (replaces(), post, "200 7 application/json true [1,2,3]"),
        (replaces(), "POST /\ncontent-length: 1\n\nx", "200 7 application/json true [1,2,3]"),
        (takes(), post, "200 0 application/json true "),
        (nothing(), get, "200 - - true "),
        // The `{}` that represents an unparsed body is not forwarded.
        (looks(), get, "200 - - true "),
    ];
    for (index, (middleware, text, expected)) in cases.into_iter().enumerate() {
        assert_eq!(taken_apart(middleware, text).await, expected, "case {index}");
    }
}

#[test]
fn a_request_converts_to_http_and_back() {
    let sent = request("POST /x?q=1\nx-a: 1\n\nbody");
    let foreign: http::Request<HttpBody> = sent.into();
    assert_eq!(foreign.uri(), "/x?q=1");
    let back = Request::from(foreign);
    assert_eq!((back.path(), back.headers()["x-a"].to_str().unwrap()), ("/x", "1"));
    assert!(back.peer().is_some());
}

/// The upstream server's address and the proxy's client.
struct Upstream {
    address: SocketAddr,
    client: Client<HttpConnector, HttpBody>,
}

async fn proxy(upstream: State<Upstream>, mut req: Request) -> Result<Response, ApiError> {
    // `Connection` applies to only one connection.
    req.headers_mut().remove(header::CONNECTION);
    let (mut head, body) = req.into_parts();
    let path = head.uri.path_and_query().map_or("/", http::uri::PathAndQuery::as_str);
    let uri = format!("http://{}{path}", upstream.address);
    head.uri = uri.parse::<Uri>().map_err(ApiError::internal)?;
    let sent_on = http::Request::from_parts(head, body);
    let unreachable = |error| ApiError::new(502, "the upstream fails").with_source(error);
    let mut response = upstream.client.request(sent_on).await.map_err(unreachable)?;
    response.headers_mut().remove(header::TRANSFER_ENCODING);
    Ok(response.map(HttpBody::new))
}

/// Starts a server and returns its address.
async fn serve(router: Router) -> SocketAddr {
    let router = router.map_options(|options| options.rate_limit(false));
    let server = router.create_server().unwrap().bind("127.0.0.1:0").await.unwrap();
    let address = server.local_addr();
    tokio::spawn(server.serve());
    address
}

#[tokio::test]
async fn a_reverse_proxy_needs_no_conversions() {
    async fn echo(headers: Headers, bytes: Bytes) -> (HeaderMap, String) {
        let length = headers.get("content-length").map_or("-", |value| value.to_str().unwrap());
        let text = format!("{length} {}", bytes.len());
        (HeaderMap::from_iter([(header::ETAG, "\"up\"".parse().unwrap())]), text)
    }
    async fn streamed() -> Streamed {
        Streamed::new(stream::iter(["one ", "two"].map(Ok::<_, std::convert::Infallible>)))
    }
    let upstream = routes! {
        "echo": { POST: echo },
        "missing": { GET: async || Err::<(), _>(ApiError::not_found()) },
        "streamed": { GET: streamed },
    };
    let address = serve(upstream.into()).await;
    let client = Client::builder(TokioExecutor::new()).build_http();
    let front = routes! { "**": { GET: proxy, POST: { handler: proxy, max_body: 100_000 } } };
    let front = serve(Router::from(front).state(Upstream { address, client })).await;

    let client = TestClient::live(&format!("http://{front}"));
    let answer = client.post("/echo").body("x".repeat(90_000)).send().await;
    assert_eq!((answer.status().as_u16(), answer.text()), (200, "90000 90000"));
    answer.assert_header("etag", "\"up\"");
    let answer = client.get("/streamed").send().await;
    assert_eq!((answer.status().as_u16(), answer.text()), (200, "one two"));
    assert_eq!(client.get("/missing").send().await.status(), 404);
    let answer = client.post("/echo").body("x".repeat(100_001)).send().await;
    assert_eq!(answer.status(), 413);
}

#[test]
fn forwards_chunked_upstream_responses_without_a_warning() {
    log::watch();
    // Forwards the upstream's header, although the client has decoded the body.
    async fn passes_on(Path(coding): Path<String>) -> Result<Response, ApiError> {
        let response = http::Response::builder().header(header::TRANSFER_ENCODING, coding);
        response.body("decoded".into()).map_err(ApiError::internal)
    }
    let app = app_of(routes! { ":coding": { GET: passes_on } });
    let line = "removed Transfer-Encoding from a handler's response";
    for (coding, level) in [("Chunked", "DEBUG"), ("gzip", "ERROR"), ("gzip,chunked", "ERROR")] {
        // Other tests also log this line at error level.
        let count = || log::lines_with(&format!("{level} {line}")).len();
        let before = count();
        check(&app, &format!("GET /{coding}"), "200 decoded");
        assert!(count() > before, "{coding}");
        assert_eq!(header_of(&app, &format!("GET /{coding}"), "transfer-encoding"), "-");
    }
}
