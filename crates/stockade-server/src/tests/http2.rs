//! Tests HTTP/2 with prior knowledge, with hyper's client.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::{BodyExt, Empty, Full};
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper_util::rt::{TokioExecutor, TokioIo};
use stockade_core::{HttpBody, Request, Response};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::slow::Ticks;
use super::{Client, Running, app, ms, options, soon, start, text};

type Sender = SendRequest<Full<Bytes>>;

/// Returns a client, and the task that ends with its connection.
pub(super) async fn speak(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
) -> (Sender, JoinHandle<hyper::Result<()>>) {
    let io = TokioIo::new(stream);
    let (sender, connection) = soon(handshake(TokioExecutor::new(), io)).await.unwrap();
    (sender, tokio::spawn(connection))
}

async fn client(server: &Running) -> (Sender, JoinHandle<hyper::Result<()>>) {
    speak(server.connect().await.stream).await
}

pub(super) fn get(path: &str) -> http::Request<Full<Bytes>> {
    http::Request::get(format!("http://a.example{path}")).body(Full::default()).unwrap()
}

/// Sends one hand-written request and returns the frames of its response. "end"
/// marks the last frame.
///
/// Source: RFC 9113, section 4.1 (frames); RFC 7541, appendix A (the numbers of
/// the header fields).
pub(super) async fn frames(
    client: &mut Client<TcpStream>,
    method: &str,
    path: &str,
) -> Vec<String> {
    frames_of(client, method, path, &[]).await
}

/// Sends a request like [`frames`], with more headers.
async fn frames_of(
    client: &mut Client<TcpStream>,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
) -> Vec<String> {
    let field = |name: u8, value: &str| {
        [&[name, u8::try_from(value.len()).unwrap()], value.as_bytes()].concat()
    };
    let (scheme, authority) = (vec![0x86], field(1, "a.example"));
    let more = headers.iter().map(|(name, value)| [field(0, name), field(0, value)[1..].into()]);
    let fields = [field(2, method), scheme, field(4, path), authority].into_iter();
    let fields = fields.chain(more.flatten()).collect::<Vec<_>>().concat();
    let length = u8::try_from(fields.len()).unwrap();
    let settings = [0, 0, 0, 0x4, 0, 0, 0, 0, 0];
    // END_STREAM and END_HEADERS.
    let headers = [0, 0, length, 0x1, 0x1 | 0x4, 0, 0, 0, 1];
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    client.send([preface, &settings[..], &headers, &fields].concat()).await;

    let mut frames = Vec::new();
    loop {
        while client.read.len() < 9 {
            client.more().await;
        }
        let head: Vec<u8> = client.read.drain(..9).collect();
        let length = usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2]);
        while client.read.len() < length {
            client.more().await;
        }
        client.read.drain(..length);
        let (kind, flags, stream) = (head[3], head[4], &head[5..]);
        if stream != [0, 0, 0, 1] {
            continue;
        }
        let kind = match kind {
            0x0 => "DATA",
            0x1 => "HEADERS",
            0x3 => return vec!["RST_STREAM".to_owned()],
            0x8 => continue, // WINDOW_UPDATE
            other => panic!("a frame of type {other}"),
        };
        if flags & 0x1 != 0 {
            frames.push(format!("{kind}, end"));
            return frames;
        }
        frames.push(kind.to_owned());
    }
}

/// The server does not check for a transfer coding on HTTP/2, because h2
/// rejects it as malformed.
///
/// Source: RFC 9113, section 8.2.2.
#[tokio::test]
async fn hyper_rejects_a_transfer_coding() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let server = start(options(), move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        async { text(200, "") }
    })
    .await;
    for value in ["chunked", "gzip"] {
        let headers = [("transfer-encoding", value)];
        let frames = frames_of(&mut server.connect().await, "GET", "/", &headers).await;
        assert_eq!(frames, ["RST_STREAM"], "{value}");
    }
    let headers = [("x-transfer-encoding", "chunked")];
    frames_of(&mut server.connect().await, "GET", "/", &headers).await;
    assert_eq!(calls.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn requests_run_concurrently_on_one_connection() {
    let server = start(options(), app).await;
    let (mut sender, _connection) = client(&server).await;
    let hanging = sender.send_request(get("/hang"));
    let hello = soon(sender.send_request(get("/hello"))).await.unwrap();
    assert_eq!((hello.version(), hello.status().as_u16()), (http::Version::HTTP_2, 200));
    assert_eq!(hello.into_body().collect().await.unwrap().to_bytes(), "hello");
    drop(hanging);

    let echo = http::Request::post("http://a.example/echo").body(Full::from("ping")).unwrap();
    let echo = soon(sender.send_request(echo)).await.unwrap();
    assert_eq!(echo.into_body().collect().await.unwrap().to_bytes(), "ping");
}

#[tokio::test]
async fn a_large_response_arrives_completely() {
    let server = start(options(), async |_| Response::new(vec![b'x'; 3_000_000].into())).await;
    let (mut sender, _connection) = client(&server).await;
    let large = soon(sender.send_request(get("/"))).await.unwrap();
    assert_eq!(large.headers()["content-length"], "3000000");
    assert_eq!(soon(large.into_body().collect()).await.unwrap().to_bytes().len(), 3_000_000);
}

#[tokio::test]
async fn a_request_with_an_unread_body_gets_a_response() {
    let server = start(options(), app).await;
    let (mut sender, _connection) = client(&server).await;
    let body = Full::from(vec![b'x'; 4_194_304]);
    let post = http::Request::post("http://a.example/413").body(body).unwrap();
    assert_eq!(soon(sender.send_request(post)).await.unwrap().status(), 413);
    let hello = soon(sender.send_request(get("/hello"))).await.unwrap();
    assert_eq!(hello.status(), 200);
}

/// A body that receives its bytes from a test.
struct Sent(mpsc::Receiver<Bytes>);

impl http_body::Body for Sent {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, Self::Error>>> {
        self.0.poll_recv(cx).map(|bytes| bytes.map(|bytes| Ok(http_body::Frame::data(bytes))))
    }
}

/// Clients that are still sending treat a reset after the response as a
/// failure.
#[tokio::test]
async fn a_client_may_send_the_rest_after_an_early_response() {
    let server = start(options(), app).await;
    let io = TokioIo::new(server.connect().await.stream);
    let (mut sender, connection) = soon(handshake(TokioExecutor::new(), io)).await.unwrap();
    let _connection = tokio::spawn(connection);
    let uri = |path: &str| format!("http://a.example{path}");
    let (bytes, body) = mpsc::channel(1);
    bytes.send(Bytes::from_static(&[b'x'; 1_000])).await.unwrap();
    let post = http::Request::post(uri("/413")).body(Sent(body)).unwrap();
    let answer = soon(sender.send_request(post)).await.unwrap();
    assert_eq!(answer.status(), 413);
    assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), "unread");
    for _ in 0..10 {
        // A reset would precede this response.
        let (_, body) = mpsc::channel(1);
        let hello = http::Request::get(uri("/hello")).body(Sent(body)).unwrap();
        assert_eq!(soon(sender.send_request(hello)).await.unwrap().status(), 200);
        soon(bytes.send(Bytes::from_static(&[b'x'; 1_000]))).await.unwrap();
    }
}

#[tokio::test]
async fn host_and_the_number_of_headers_are_checked() {
    let server = start(options().max_headers(10), app).await;
    let (mut sender, _connection) = client(&server).await;
    let mut other = get("/hello");
    other.headers_mut().insert("host", "b.example".parse().unwrap());
    let other = soon(sender.send_request(other)).await.unwrap();
    assert_eq!(other.status(), 400);
    let body = other.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(body, r#"{"error":"Host and :authority differ"}"#);

    let mut many = get("/hello");
    for _ in 0..11 {
        many.headers_mut().append("x", "y".parse().unwrap());
    }
    assert_eq!(soon(sender.send_request(many)).await.unwrap().status(), 431);
}

#[tokio::test]
async fn an_idle_connection_is_closed_and_a_busy_one_is_not() {
    let timeouts = options().idle_timeout(ms(200)).header_read_timeout(ms(200));
    let server = start(timeouts, async |_| {
        tokio::time::sleep(ms(1_000)).await;
        text(200, "done")
    })
    .await;
    let (mut sender, connection) = client(&server).await;
    let answer = soon(sender.send_request(get("/"))).await.unwrap();
    assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), "done");
    soon(connection).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_client_that_does_not_read_is_disconnected() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&dropped);
    let server = start(options().write_stall_timeout(ms(300)), move |_| {
        let guard = Counted(Arc::clone(&counter));
        async move {
            let body = Full::new(Bytes::from(vec![b'x'; 64 * 1_048_576]));
            Response::new(HttpBody::new(body.map_frame(move |frame| {
                let _ = &guard;
                frame
            })))
        }
    })
    .await;
    let (mut sender, _connection) = client(&server).await;
    let unread = soon(sender.send_request(get("/"))).await.unwrap();
    let gone = async {
        while dropped.load(Ordering::Relaxed) == 0 {
            tokio::time::sleep(ms(5)).await;
        }
    };
    soon(gone).await;
    drop(unread);
}

/// Unread responses, on a connection with other responses that are read.
#[tokio::test]
async fn only_unread_responses_of_many_are_reset() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&dropped);
    let server = start(options().write_stall_timeout(ms(600)), move |request: Request| {
        let guard = (request.path() == "/").then(|| Counted(Arc::clone(&counter)));
        async move {
            let Some(guard) = guard else { return text(200, "tiny") };
            let body = Full::new(Bytes::from(vec![b'x'; 4 * 1_048_576]));
            Response::new(HttpBody::new(body.map_frame(move |frame| {
                let _ = &guard;
                frame
            })))
        }
    })
    .await;
    let (mut sender, _connection) = client(&server).await;
    let mut unread = Vec::new();
    for _ in 0..2 {
        unread.push(soon(sender.send_request(get("/"))).await.unwrap());
    }
    let all_gone = async {
        while dropped.load(Ordering::Relaxed) < 2 {
            tokio::time::sleep(ms(20)).await;
        }
    };
    let mut all_gone = std::pin::pin!(soon(all_gone));
    let mut tiny = 0;
    loop {
        tokio::select! {
            () = &mut all_gone => break,
            answer = sender.send_request(get("/tiny")) => {
                let body = soon(answer.unwrap().into_body().collect()).await.unwrap();
                assert_eq!(body.to_bytes(), "tiny");
                tiny += 1;
                tokio::time::sleep(ms(50)).await;
            }
        }
    }
    assert!(tiny > 1);
    for unread in unread {
        let error = soon(unread.into_body().collect()).await.unwrap_err();
        let reset = std::error::Error::source(&error).unwrap().to_string();
        assert!(reset.contains("stream error received"), "{reset}");
    }
    let tiny = soon(sender.send_request(get("/tiny"))).await.unwrap();
    assert_eq!(tiny.status(), 200);
}

/// A response without pending bytes is not unread.
#[tokio::test]
async fn a_pausing_response_is_not_reset() {
    let timeouts = options().write_stall_timeout(ms(100));
    let server = start(timeouts, async |_| Response::new(HttpBody::new(Ticks::new(3)))).await;
    let (mut sender, _connection) = client(&server).await;
    let answer = soon(sender.send_request(get("/"))).await.unwrap();
    let body = soon(answer.into_body().collect()).await.unwrap().to_bytes();
    assert_eq!(body, "tickticktick");
}

/// 80 MiB exceed the amount that a connection may hold for long, whatever the
/// timeout.
#[tokio::test]
async fn large_unread_responses_have_little_time() {
    let server = start(options(), async |request: Request| match request.path() {
        "/tiny" => text(200, "tiny"),
        _ => Response::new(vec![b'x'; 40 * 1_048_576].into()),
    })
    .await;
    let (mut sender, _connection) = client(&server).await;
    let first = soon(sender.send_request(get("/"))).await.unwrap();
    let second = soon(sender.send_request(get("/"))).await.unwrap();
    let read = async |unread: http::Response<hyper::body::Incoming>| {
        // The bytes before the reset fit into the window.
        tokio::time::sleep(ms(8_000)).await;
        soon(unread.into_body().collect()).await.map(|body| body.to_bytes().len())
    };
    let (first, second) = tokio::join!(read(first), read(second));
    assert!(first.is_err() || second.is_err(), "{first:?}, {second:?}");
    assert_eq!(soon(sender.send_request(get("/tiny"))).await.unwrap().status(), 200);
}

struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[tokio::test]
async fn a_shutdown_lets_requests_finish_until_its_deadline() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&dropped);
    let server = start(options().shutdown_timeout(ms(700)), move |request: Request| {
        let guard = Counted(Arc::clone(&counter));
        async move {
            let _guard = guard;
            if request.path() == "/hang" {
                std::future::pending::<()>().await;
            }
            tokio::time::sleep(ms(200)).await;
            text(200, "done")
        }
    })
    .await;
    let (mut sender, connection) = client(&server).await;
    let slow = sender.send_request(get("/slow"));
    let hang = sender.send_request(get("/hang"));
    // Both have arrived when a later request gets its response.
    soon(sender.send_request(get("/first"))).await.unwrap();
    server.shutdown();
    assert_eq!(soon(slow).await.unwrap().status(), 200);
    assert!(soon(hang).await.is_err());
    let _ = soon(connection).await.unwrap();
    server.ended().await;
    let gone = async {
        while dropped.load(Ordering::Relaxed) < 3 {
            tokio::time::sleep(ms(5)).await;
        }
    };
    soon(gone).await;
}

#[tokio::test]
async fn http2_can_be_disabled() {
    let server = start(options().http2(false), app).await;
    let io = TokioIo::new(server.connect().await.stream);
    let refused = async {
        let (mut sender, connection) = handshake(TokioExecutor::new(), io).await?;
        let request = http::Request::get("http://a.example/").body(Empty::<Bytes>::new()).unwrap();
        let (answer, _) = tokio::join!(sender.send_request(request), connection);
        answer.map(|_| ())
    };
    assert!(soon(refused).await.is_err());
    assert_eq!(server.get("/hello").await.body, "hello");
}
