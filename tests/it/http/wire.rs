//! Bytes that a server itself sends or reads, and their log lines and metrics.

use std::net::SocketAddr;
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use stockade::middleware::{Metrics, with_compression};
use stockade::prelude::*;
use stockade::reply::{Event, Sse};
use stockade::server::ServerHandle;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tower_http::services::ServeDir;

use crate::support::{block_on, log};

/// Fails the test if a future takes far too long.
async fn soon<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(Duration::from_secs(30), future).await.unwrap()
}

async fn serve(router: Router) -> (SocketAddr, ServerHandle, JoinHandle<()>) {
    let server = router.create_server().unwrap().bind(0).await.unwrap();
    let (address, handle) = (server.local_addr(), server.handle());
    let served = tokio::spawn(async { server.serve().await.unwrap() });
    (address, handle, served)
}

/// Sends bytes on a new connection and reads to its end.
async fn exchange(address: SocketAddr, bytes: impl AsRef<[u8]>) -> String {
    let mut stream = soon(TcpStream::connect(address)).await.unwrap();
    soon(stream.write_all(bytes.as_ref())).await.unwrap();
    let mut read = Vec::new();
    // The server may reset a connection if it has not read everything.
    let _ = soon(stream.read_to_end(&mut read)).await;
    String::from_utf8_lossy(&read).into_owned()
}

#[test]
fn rejected_heads_are_logged_and_counted() {
    log::watch();
    block_on(async {
        let metrics = Metrics::new();
        let options = RouterOptions::new().rate_limit(false).access_log(true);
        let tree = routes! { "hello": { GET: async || "hello" } };
        let router = create_router(tree, options.metrics(&metrics));
        let (address, _handle, _served) = serve(router).await;
        let long = format!("GET / HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n", "x".repeat(20_000));
        let many = format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", "X: y\r\n".repeat(101));
        let heads = [
            ("nonsense\r\n\r\n", 400),
            ("GET / HTTP/1.1\nHost: a\n\n", 400),
            ("GET /#x HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n", 400),
            (&long, 431),
            (&many, 431),
        ];
        for (head, status) in heads {
            let count = || log::lines_with("INFO - - ").len();
            let before = count();
            let answer = exchange(address, head).await;
            assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{head}: {answer}");
            // The line is logged after the response.
            soon(async {
                while count() == before {
                    tokio::task::yield_now().await;
                }
            })
            .await;
            let lines = log::lines_with("INFO - - ");
            let line = log::without_durations(&lines[before]);
            let text = format!("INFO - - {status} 127.0.0.1 method=- route=- status={status} ");
            assert!(line.starts_with(&text), "{line}");
        }
        let text = metrics.text();
        for line in [
            "http_rejections_total{method=\"OTHER\",route=\"(none)\",reason=\"bad_request\"} 4",
            "http_rejections_total{method=\"OTHER\",route=\"(none)\",reason=\"headers_too_large\"} 2",
        ] {
            assert!(text.contains(line), "{text}");
        }
        // A client that disconnects within a request head is not counted.
        let mut stream = soon(TcpStream::connect(address)).await.unwrap();
        soon(stream.write_all(b"GET / HTTP/1.1\r\nHost")).await.unwrap();
        drop(stream);
        exchange(address, "GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await;
        assert_eq!(log::lines_with("INFO - - ").len(), heads.len());
    });
}

/// The path is selected when the server is compiled: `cargo xtask hyper --plain`
/// runs these tests on the plain path, which writes the headers of the built-in
/// stages after the handler's headers.
#[test]
fn these_tests_run_on_the_selected_path() {
    block_on(async {
        let (address, _handle, _served) =
            serve(Router::from(routes! { "hello": { GET: async || "hello" } })).await;
        let request = "GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        let text = exchange(address, request).await;
        let position = |name: &str| text.find(name).unwrap();
        let is_plain = position("\r\nx-content-type-options:") > position("\r\ncontent-type:");
        assert_eq!(is_plain, option_env!("STOCKADE_PLAIN_PATH_BUILD").is_some(), "{text}");
    });
}

#[test]
fn event_stream_ended_by_a_shutdown_is_not_aborted() {
    log::watch();
    block_on(async {
        let tree = routes! {
            "ticks": { GET: async || {
                let events = stream::iter([Ok::<_, ApiError>(Event::data("tick"))]);
                Sse::new(events.chain(stream::pending()))
            } },
        };
        let options = RouterOptions::new().rate_limit(false).access_log(true);
        let (address, handle, served) = serve(create_router(tree, options)).await;
        for leaves in [true, false] {
            let mut stream = soon(TcpStream::connect(address)).await.unwrap();
            soon(stream.write_all(b"GET /ticks HTTP/1.1\r\nHost: a\r\n\r\n")).await.unwrap();
            let mut read = Vec::new();
            while !read.ends_with(b"data: tick\n\n\r\n") {
                assert!(soon(stream.read_buf(&mut read)).await.unwrap() > 0);
            }
            if leaves {
                drop(stream);
                continue;
            }
            handle.shutdown();
            soon(stream.read_to_end(&mut read)).await.unwrap();
            assert!(read.ends_with(b"\r\n0\r\n\r\n"));
        }
        soon(served).await.unwrap();
        let lines = log::lines_with("INFO GET /ticks ");
        assert_eq!(lines.len(), 2, "{lines:?}");
        let aborted = lines.iter().filter(|line| line.contains("aborted")).count();
        // Only the client that disconnected before the shutdown.
        assert_eq!(aborted, 1, "{lines:?}");
    });
}

#[test]
fn partial_file_has_the_vary_header_of_the_full_file() {
    let folder = std::env::temp_dir().join(format!("stockade-wire-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("a.css"), "a { color: red }\n".repeat(1_000)).unwrap();
    std::fs::write(folder.join("small.css"), "a { color: red }\n").unwrap();
    std::fs::write(folder.join("a.png"), "x".repeat(10_000)).unwrap();
    block_on(async {
        let tree = routes! {
            "files": { mount: { ServeDir::new(&folder), middleware: [with_compression()] } },
        };
        let router = create_router(tree, RouterOptions::new().rate_limit(false));
        let (address, _handle, _served) = serve(router).await;
        for (name, expected) in [("a.css", true), ("small.css", false), ("a.png", false)] {
            for range in ["", "Range: bytes=0-9\r\n", "Range: bytes=-1\r\n"] {
                for accepts in ["", "Accept-Encoding: gzip\r\n"] {
                    let lines = format!("Host: a\r\nConnection: close\r\n{range}{accepts}\r\n");
                    let request = format!("GET /files/{name} HTTP/1.1\r\n{lines}");
                    let answer = exchange(address, request).await.to_lowercase();
                    let status = if range.is_empty() { 200 } else { 206 };
                    assert!(answer.starts_with(&format!("http/1.1 {status} ")), "{answer}");
                    let varies = answer.contains("\r\nvary: accept-encoding\r\n");
                    assert_eq!(varies, expected, "{name} {range} {accepts}: {answer}");
                }
            }
        }
    });
    let _ = std::fs::remove_dir_all(&folder);
}

#[test]
fn client_does_not_send_a_body_that_is_not_read() {
    #[derive(serde::Deserialize, Schema)]
    struct Page {
        #[schema(min = 1)]
        #[expect(dead_code, reason = "only its check counts")]
        page: i32,
    }
    block_on(async {
        let tree = routes! {
            "hello": { GET: async || "hello" },
            "typed": { POST: async |Body(body): Body<Value>| body },
            "paged": { POST: async |Body(body): Body<Value>, _: Query<Page>| body },
            "untyped": { POST: async |mut req: Request| {
                let body = req.body().await?.clone();
                Ok::<_, ApiError>(body)
            } },
        };
        let options = RouterOptions::new().rate_limit(false);
        let (address, _handle, _served) = serve(create_router(tree, options)).await;
        let large = "Content-Length: 2000000000\r\nContent-Type: application/json";
        let png = "Content-Length: 2\r\nContent-Type: image/png";
        let json = "Content-Length: 2\r\nContent-Type: application/json";
        for (path, lines, expected) in [
            ("/nowhere", json, 404),
            ("/hello", json, 405),
            ("/typed", large, 413),
            ("/typed", png, 415),
            ("/typed", "Transfer-Encoding: chunked", 415),
            ("/untyped", png, 415),
            ("/paged?page=1", png, 415),
            ("/paged?page=0", json, 400),
            ("/paged", json, 400),
            ("/typed", json, 100),
            ("/paged?page=1", json, 100),
            ("/untyped", json, 100),
        ] {
            let mut stream = soon(TcpStream::connect(address)).await.unwrap();
            let lines = format!("Host: a\r\n{lines}\r\nExpect: 100-continue\r\n\r\n");
            let request = format!("POST {path} HTTP/1.1\r\n{lines}");
            soon(stream.write_all(request.as_bytes())).await.unwrap();
            let mut read = Vec::new();
            while read.len() < "HTTP/1.1 100".len() {
                assert!(soon(stream.read_buf(&mut read)).await.unwrap() > 0);
            }
            let status = String::from_utf8_lossy(&read[9..12]).into_owned();
            assert_eq!(status, expected.to_string(), "{request}");
        }
        // The content type of an empty body does not matter.
        let chunked = "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
        let answer =
            exchange(address, format!("POST /untyped HTTP/1.1\r\nHost: a\r\n{chunked}")).await;
        assert!(answer.ends_with("\r\n\r\n{}"), "{answer}");
    });
}
