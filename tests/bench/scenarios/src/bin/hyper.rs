//! A handwritten hyper server without a router or a framework. It is the
//! baseline for all other servers.

use std::convert::Infallible;
use std::io;
use std::path::Path;
use std::sync::Arc;

use bench_common::{mode, workload};
use bench_scenarios::content::{self, MAX_ORDERS, Orders};
use bench_scenarios::{BoxError, Scenario, Start, tls};
use bytes::Bytes;
use futures_util::{SinkExt as _, StreamExt as _, TryStreamExt as _};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Either, Full, Limited, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::{
    CACHE_CONTROL, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, SEC_WEBSOCKET_ACCEPT,
    SEC_WEBSOCKET_KEY, UPGRADE,
};
use hyper::rt::{Read, Write};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::broadcast::{self, Receiver, Sender};
use tokio_rustls::TlsAcceptor;
use tokio_stream::wrappers::BroadcastStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::Role;
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};
use tokio_util::io::ReaderStream;

/// A small body or a streamed body.
type Body = Either<Full<Bytes>, UnsyncBoxBody<Bytes, io::Error>>;

type Answer = Response<Body>;

fn main() -> Result<(), BoxError> {
    let start = Start::from_args()?;
    start.runtime()?.block_on(serve(start))
}

/// State that the connections share.
struct Site {
    start: Start,
    news: Sender<&'static str>,
}

async fn serve(start: Start) -> Result<(), BoxError> {
    let acceptor = match start.scenario.protocol() {
        Some(_) => Some(TlsAcceptor::from(Arc::new(tls::server(&start.folder, start.scenario)?))),
        None => None,
    };
    let site = Arc::new(Site { start, news: broadcast::channel(16).0 });
    let listener = TcpListener::from_std(mode::listener()?)?;
    mode::announce(listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(connection(stream, acceptor.clone(), Arc::clone(&site)));
    }
}

async fn connection(stream: TcpStream, acceptor: Option<TlsAcceptor>, site: Arc<Site>) {
    let Some(acceptor) = acceptor else {
        return speak(TokioIo::new(stream), site).await;
    };
    if let Ok(stream) = acceptor.accept(stream).await {
        speak(TokioIo::new(stream), site).await;
    }
}

/// Serves a connection; an error ends only this connection.
async fn speak(io: impl Read + Write + Unpin + Send + 'static, site: Arc<Site>) {
    let scenario = site.start.scenario;
    let service = service_fn(move |request| {
        let site = Arc::clone(&site);
        async move { Ok::<_, Infallible>(answer(&site, request).await) }
    });
    let _ = match scenario {
        Scenario::Http2 => {
            http2::Builder::new(TokioExecutor::new()).serve_connection(io, service).await
        }
        Scenario::Broadcast => {
            http1::Builder::new().serve_connection(io, service).with_upgrades().await
        }
        _ => http1::Builder::new().serve_connection(io, service).await,
    };
}

async fn answer(site: &Site, request: Request<Incoming>) -> Answer {
    match (request.method(), request.uri().path()) {
        (&Method::GET, "/json") => json(StatusCode::OK, workload::MESSAGE),
        (&Method::POST, "/orders") => orders(request).await,
        (&Method::GET, "/events") => events(site.news.subscribe()),
        (&Method::POST, "/publish") => {
            // It is not an error if there are no receivers.
            let _ = site.news.send(content::NEWS);
            empty(StatusCode::NO_CONTENT)
        }
        (&Method::GET, "/live") => live(request, site.news.subscribe()),
        (&Method::GET, "/file") => match file(&site.start.folder).await {
            Ok(answer) => answer,
            Err(_) => empty(StatusCode::INTERNAL_SERVER_ERROR),
        },
        _ => empty(StatusCode::NOT_FOUND),
    }
}

fn empty(status: StatusCode) -> Answer {
    let mut answer = Response::new(Either::Left(Full::default()));
    *answer.status_mut() = status;
    answer
}

fn json(status: StatusCode, body: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Either::Left(Full::new(body.into())));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

async fn orders(request: Request<Incoming>) -> Answer {
    let Ok(body) = Limited::new(request.into_body(), 1_048_576).collect().await else {
        return empty(StatusCode::PAYLOAD_TOO_LARGE);
    };
    match serde_json::from_slice::<Orders>(&body.to_bytes()) {
        Ok(read) if read.orders.len() <= MAX_ORDERS => {
            json(StatusCode::OK, serde_json::to_vec(&read).unwrap_or_default())
        }
        _ => empty(StatusCode::BAD_REQUEST),
    }
}

fn events(news: Receiver<&'static str>) -> Answer {
    let frames = BroadcastStream::new(news)
        .map_ok(|news| Frame::data(Bytes::from(format!("data: {news}\n\n"))))
        .map_err(io::Error::other);
    let mut answer = Response::new(Either::Right(StreamBody::new(frames).boxed_unsync()));
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    answer
}

fn live(request: Request<Incoming>, news: Receiver<&'static str>) -> Answer {
    let key = request.headers().get(SEC_WEBSOCKET_KEY);
    let accept = key.map(|key| derive_accept_key(key.as_bytes()));
    let Some(Ok(accept)) = accept.map(HeaderValue::try_from) else {
        return empty(StatusCode::BAD_REQUEST);
    };
    tokio::spawn(async move {
        if let Ok(upgraded) = hyper::upgrade::on(request).await {
            let io = TokioIo::new(upgraded);
            member(WebSocketStream::from_raw_socket(io, Role::Server, None).await, news).await;
        }
    });
    let mut answer = empty(StatusCode::SWITCHING_PROTOCOLS);
    let headers = answer.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(SEC_WEBSOCKET_ACCEPT, accept);
    answer
}

/// Sends the news to a member until it disconnects.
async fn member(
    mut socket: WebSocketStream<TokioIo<hyper::upgrade::Upgraded>>,
    mut news: Receiver<&'static str>,
) {
    if socket.send(Message::text(content::WELCOME)).await.is_err() {
        return;
    }
    loop {
        tokio::select! {
            Ok(news) = news.recv() => {
                let text = Message::Text(Utf8Bytes::from_static(news));
                if socket.send(text).await.is_err() {
                    return;
                }
            }
            Some(Ok(_)) = socket.next() => {}
            else => return,
        }
    }
}

async fn file(folder: &Path) -> io::Result<Answer> {
    let file = tokio::fs::File::open(content::file_in(folder)).await?;
    let length = file.metadata().await?.len();
    let frames = ReaderStream::with_capacity(file, 65_536).map_ok(Frame::data);
    let mut answer = Response::new(Either::Right(StreamBody::new(frames).boxed_unsync()));
    let headers = answer.headers_mut();
    headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    Ok(answer)
}
