//! Tests bodies over a TCP port: they are read on demand, and the limit applies
//! while they arrive.

use std::net::SocketAddr;

use actix_web::{App, HttpServer, web};
use stockade_actix::ToActix;
use stockade_core::extract::Body;
use stockade_core::reply::Streamed;
use stockade_core::{ApiError, HttpBody, Request, Response};
use stockade_routing::{Router, RouterOptions};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

fn api() -> Router {
    let mut router = Router::with_options(RouterOptions::new().max_body_size(1_000));
    router.post("/read", async |Body(text): Body<String>| text.len().to_string());
    router.post("/deaf", async || "not read");
    // The request is still being read while its response is sent.
    router.post("/mirror", async |mut req: Request| -> Result<Response, ApiError> {
        Ok(Response::new(HttpBody::new(req.take_stream())))
    });
    router.get("/stream", async || {
        Streamed::new(futures_util::stream::iter(["a", "b"].map(Ok::<_, std::io::Error>)))
    });
    router
}

/// Serves a router on a free port, as a service and as routes.
pub(crate) fn serve(router: impl Fn() -> Router) -> SocketAddr {
    let whole = router().to_actix_service().unwrap();
    let routes = router().to_actix_routes().unwrap();
    let server = HttpServer::new(move || {
        App::new()
            .service(web::scope("/whole").default_service(whole.clone()))
            .service(web::scope("/routes").service(routes.clone()))
    });
    let server = server.workers(1).disable_signals().bind("127.0.0.1:0").unwrap();
    let address = server.addrs()[0];
    actix_web::rt::spawn(server.run());
    address
}

/// Sends bytes and returns the response, head and body.
async fn send(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    // A reset connection has already delivered its data.
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8_lossy(&answer).to_lowercase()
}

fn post(path: &str, framing: &str, body: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: text/plain\r\n\
         {framing}\r\n\r\n{body}"
    )
}

#[actix_web::test]
async fn body_limit_applies_while_reading() {
    let address = serve(api);
    let chunk = format!("1f4\r\n{}\r\n", "x".repeat(500));
    let chunked = |count: usize| chunk.repeat(count) + "0\r\n\r\n";
    for way in ["/whole", "/routes"] {
        let path = format!("{way}/read");
        let answer = send(address, &post(&path, "transfer-encoding: chunked", &chunked(2))).await;
        assert!(answer.starts_with("http/1.1 200") && answer.ends_with("1000"), "{answer}");
        let answer = send(address, &post(&path, "transfer-encoding: chunked", &chunked(3))).await;
        assert!(answer.starts_with("http/1.1 413"), "{answer}");
        let answer = send(address, &post(&path, "content-length: 1001", &"x".repeat(1_001))).await;
        assert!(answer.starts_with("http/1.1 413"), "{answer}");
        assert!(answer.contains("connection: close"), "{answer}");
    }
}

#[actix_web::test]
async fn body_of_an_upgrade_request_ends_at_its_length() {
    let address = serve(api);
    let sent = |framing: &str, body: &str| {
        let framing = format!("upgrade: websocket\r\n{framing}");
        ["/whole/read", "/routes/read"].map(|path| post(path, &framing, body))
    };
    for request in sent("content-length: 4", "wikipedia") {
        let answer = send(address, &request).await;
        assert!(answer.starts_with("http/1.1 200") && answer.contains("\r\n\r\n4"), "{answer}");
    }
    for request in sent("x-length: none", "wikipedia") {
        let answer = send(address, &request).await;
        assert!(answer.starts_with("http/1.1 400"), "{answer}");
        assert!(answer.contains("request body is required"), "{answer}");
    }
    for request in sent("transfer-encoding: chunked", "4\r\nwiki\r\n0\r\n\r\n") {
        let answer = send(address, &request).await;
        assert!(answer.starts_with("http/1.1 200") && answer.contains("\r\n\r\n4"), "{answer}");
    }
}

#[actix_web::test]
async fn rejects_a_too_long_announced_body_immediately() {
    let address = serve(api);
    for path in ["/whole/read", "/routes/read"] {
        let answer = send(address, &post(path, "content-length: 1001", "x")).await;
        assert!(answer.starts_with("http/1.1 413"), "{answer}");
    }
}

#[actix_web::test]
async fn built_in_stages_check_the_announced_length() {
    let address = serve(api);
    let announced =
        |way: &str| post(&format!("{way}/deaf"), "content-length: 1001", &"x".repeat(1_001));
    assert!(send(address, &announced("/whole")).await.starts_with("http/1.1 413"));
    assert!(send(address, &announced("/routes")).await.starts_with("http/1.1 200"));
}

#[actix_web::test]
async fn bodies_stream_in_both_directions() {
    let address = serve(api);
    for way in ["/whole", "/routes"] {
        let body = "4\r\nwiki\r\n5\r\npedia\r\n0\r\n\r\n";
        let mirror = post(&format!("{way}/mirror"), "transfer-encoding: chunked", body);
        let answer = send(address, &mirror).await;
        assert!(answer.contains("wiki") && answer.contains("pedia"), "{answer}");
        let get = format!("GET {way}/stream HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        let answer = send(address, &get).await;
        assert!(answer.contains("transfer-encoding: chunked"), "{answer}");
        assert!(answer.ends_with("0\r\n\r\n"), "{answer}");
    }
}

#[actix_web::test]
async fn head_has_the_length_of_get() {
    let address = serve(|| {
        let mut router = Router::new();
        router.get("/five", async || "12345");
        router
    });
    for way in ["/whole", "/routes"] {
        let head = format!("HEAD {way}/five HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        let answer = send(address, &head).await;
        assert!(answer.contains("content-length: 5\r\n"), "{answer}");
        assert!(answer.ends_with("\r\n\r\n"), "{answer}");
    }
}
