//! Requests with responses: one at a time on each HTTP/1.1 connection, and many
//! on each HTTP/2 connection.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use bench_common::workload::MESSAGE;
use bench_scenarios::{BoxError, Scenario, content, tls};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper::header::{CONTENT_TYPE, HOST};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::spawn_local;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

use super::Target;
use super::tally::Tally;

/// The number of HTTP/1.1 connections.
const CONNECTIONS: usize = 64;

/// The number of connections that request a file.
const FILE_CONNECTIONS: usize = 8;

/// The number of HTTP/2 connections, and of concurrent requests on each.
const HTTP2_CONNECTIONS: usize = 4;
const STREAMS: usize = 100;

/// Opens the connections of a scenario with consecutive requests.
pub(super) async fn open(target: Target<'_>, tally: &Rc<Tally>) -> Result<(), BoxError> {
    let exchange = Rc::new(Exchange::of(target.scenario));
    let config = tls::client(target.folder, target.scenario)?;
    let connector = TlsConnector::from(Arc::new(config));
    for _ in 0..connections(target.scenario) {
        for mut sender in connect(target, &connector).await? {
            let (tally, exchange) = (Rc::clone(tally), Rc::clone(&exchange));
            exchange.compare(&mut sender).await?;
            spawn_local(async move { tally.ended(exchange.repeat(&mut sender, &tally).await) });
        }
    }
    Ok(())
}

fn connections(scenario: Scenario) -> usize {
    match scenario {
        Scenario::Http2 => HTTP2_CONNECTIONS,
        Scenario::File => FILE_CONNECTIONS,
        _ => CONNECTIONS,
    }
}

/// Opens a connection and returns a sender for each concurrent request.
async fn connect(target: Target<'_>, connector: &TlsConnector) -> Result<Vec<Sender>, BoxError> {
    let stream = tcp(target).await?;
    let Some(protocol) = target.scenario.protocol() else {
        return Ok(vec![Sender::Http1(http1_over(stream).await?)]);
    };
    let stream = connector.connect(ServerName::try_from(tls::NAME)?, stream).await?;
    if stream.get_ref().1.alpn_protocol() != Some(protocol) {
        return Err("the server has chosen another protocol".into());
    }
    if target.scenario != Scenario::Http2 {
        return Ok(vec![Sender::Http1(http1_over(stream).await?)]);
    }
    let executor = TokioExecutor::new();
    let (sender, connection) = http2::handshake(executor, TokioIo::new(stream)).await?;
    spawn_local(connection);
    Ok((0..STREAMS).map(|_| Sender::Http2(sender.clone())).collect())
}

/// Opens a TCP connection.
pub(super) async fn tcp(target: Target<'_>) -> Result<TcpStream, BoxError> {
    let stream = TcpStream::connect(target.address).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Starts HTTP/1.1 on a connection.
pub(super) async fn http1_over(
    stream: impl AsyncRead + AsyncWrite + Unpin + 'static,
) -> Result<http1::SendRequest<Full<Bytes>>, BoxError> {
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    spawn_local(connection);
    Ok(sender)
}

/// A request sender for a connection of either version.
enum Sender {
    Http1(http1::SendRequest<Full<Bytes>>),
    Http2(http2::SendRequest<Full<Bytes>>),
}

impl Sender {
    async fn send(&mut self, request: Request<Full<Bytes>>) -> hyper::Result<Response<Incoming>> {
        match self {
            Self::Http1(sender) => {
                sender.ready().await?;
                sender.send_request(request).await
            }
            Self::Http2(sender) => {
                sender.ready().await?;
                sender.send_request(request).await
            }
        }
    }
}

/// A request and the body of its response.
struct Exchange {
    method: Method,
    /// The target, which includes the host for HTTP/2.
    target: String,
    body: Bytes,
    expected: Bytes,
}

impl Exchange {
    fn of(scenario: Scenario) -> Self {
        let orders = Bytes::from(content::orders());
        let message = Bytes::from_static(MESSAGE.as_bytes());
        let none = Bytes::new();
        let (method, target, body, expected) = match scenario {
            Scenario::Large => (Method::POST, "/orders", orders.clone(), orders),
            Scenario::File => (Method::GET, "/file", none, content::file().into()),
            Scenario::Http2 => (Method::GET, "https://localhost/json", none, message),
            _ => (Method::GET, "/json", none, message),
        };
        Self { method, target: target.to_owned(), body, expected }
    }

    fn request(&self) -> Result<Request<Full<Bytes>>, BoxError> {
        let mut request = Request::builder().method(&self.method).uri(&self.target);
        if self.target.starts_with('/') {
            request = request.header(HOST, tls::NAME);
        }
        if !self.body.is_empty() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        Ok(request.body(Full::new(self.body.clone()))?)
    }

    /// Sends one request and compares the whole response.
    async fn compare(&self, sender: &mut Sender) -> Result<(), BoxError> {
        let response = sender.send(self.request()?).await?;
        let status = response.status();
        let body = response.into_body().collect().await?.to_bytes();
        if status != StatusCode::OK || body != self.expected {
            let beginning = String::from_utf8_lossy(&body[..body.len().min(200)]).into_owned();
            return Err(format!("{status}, {} bytes: {beginning}", body.len()).into());
        }
        Ok(())
    }

    /// Repeats the request until the connection closes. Each part of a body
    /// counts as that fraction of a request, so large bodies are counted
    /// accurately.
    async fn repeat(&self, sender: &mut Sender, tally: &Tally) -> Result<(), BoxError> {
        let whole = self.expected.len();
        loop {
            let request = self.request()?;
            let start = Instant::now();
            let response = sender.send(request).await?;
            if response.status() != StatusCode::OK {
                return Err(response.status().to_string().into());
            }
            let (mut body, mut length) = (response.into_body(), 0);
            while let Some(frame) = body.frame().await {
                let part = frame?.into_data().map_or(0, |data| data.len());
                length += part;
                tally.add(part as f64 / whole as f64);
            }
            if length != whole {
                return Err(format!("{length} bytes instead of {whole}").into());
            }
            tally.took(start);
        }
    }
}
