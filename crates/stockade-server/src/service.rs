//! One request: from hyper to the application and back.
//!
//! Hot: a request without a body allocates nothing here, and a request with a
//! body allocates one box.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::header::{CONNECTION, CONTENT_LENGTH, HeaderValue};
use http::request::Parts;
use http::{HeaderMap, Method, StatusCode, Version};
use hyper::body::{Body, Incoming};
use hyper::upgrade::OnUpgrade;
use stockade_core::completion::Completions;
use stockade_core::headers::has_token;
use stockade_core::reply::EndsAtShutdown;
use stockade_core::reply::sse_internals::EndOfStream;
use stockade_core::upgrade::Switch;
use stockade_core::{
    BoxFuture, HttpBody, LocalPeer, PeerAddr, PeerCredentials, Request, Response, error_of,
};
use stockade_errors::ApiError;
use stockade_routing::__internal::{HeadSink, poll_into};
use stockade_routing::{App, ResponseFuture};
use stockade_stages::health::Readiness;
use tokio::sync::watch;

use crate::accept::Stage;
use crate::clients::Capacity;
use crate::connection_record::{Command, ConnectionRecord, InFlight};
use crate::request_body::RequestBody;
use crate::response_body::{ResponseBody, until_shutdown};
use crate::time_budget::StallPolicy;
use crate::{framing, head, host, upgraded};

/// The peer of a connection, as passed to its requests.
#[derive(Clone, Copy)]
pub(crate) struct Client {
    /// The address, if the connection has one.
    pub(crate) address: Option<SocketAddr>,
    pub(crate) is_tls: bool,
}

/// Returns the number of open connections and their limit.
pub(crate) type ReadConnections = Box<dyn Fn() -> Option<(usize, usize)> + Send + Sync>;

/// Handles requests: an application, or a function in a test.
pub(crate) trait AppService: Send + Sync + 'static {
    /// The future of a response.
    type Future: Send + Unpin;

    /// Handles a request of a client.
    fn call(&self, head: Parts, body: HttpBody, client: Client) -> Self::Future;

    /// Polls a response, and writes it to `slot`. Some of its headers may be
    /// written to `sink`, if the connection has one.
    fn poll_into(
        future: &mut Self::Future,
        cx: &mut Context<'_>,
        slot: &mut Poll<Response>,
        sink: Option<&HeadSink>,
    );

    /// Returns the response to a request that is rejected before it reaches the
    /// application.
    fn refuse(&self, request: Request, error: ApiError) -> Self::Future;

    /// Returns true if connections come from proxies instead of clients.
    fn trusts_proxy(&self) -> bool {
        false
    }

    /// Returns false if the application needs to know its clients, but does not
    /// trust peers without an address.
    fn trusts_local_peer(&self) -> bool {
        true
    }

    /// Gives the application a function that returns the number of open
    /// connections and their limit, or `None` after the server has ended.
    fn count_connections(&self, read: ReadConnections) {
        drop(read);
    }

    /// Notifies the application that a shutdown begins.
    fn leaving(&self) {}

    /// Returns the handlers that continue without their clients.
    fn completions(&self) -> Option<&Completions> {
        None
    }
}

impl AppService for App {
    type Future = ResponseFuture;

    fn call(&self, head: Parts, body: HttpBody, client: Client) -> ResponseFuture {
        self.handle(request_of(head, body, client))
    }

    fn poll_into(
        future: &mut ResponseFuture,
        cx: &mut Context<'_>,
        slot: &mut Poll<Response>,
        sink: Option<&HeadSink>,
    ) {
        poll_into(future, cx, slot, sink);
    }

    #[cold]
    fn refuse(&self, request: Request, error: ApiError) -> ResponseFuture {
        self.refuse(request, error)
    }

    fn trusts_proxy(&self) -> bool {
        self.trusts_proxy()
    }

    fn trusts_local_peer(&self) -> bool {
        self.trusts_local_peer()
    }

    fn count_connections(&self, read: ReadConnections) {
        self.count_connections(read);
    }

    fn leaving(&self) {
        if let Some(readiness) = self.state::<Readiness>() {
            readiness.set(false);
        }
    }

    fn completions(&self) -> Option<&Completions> {
        Some(Self::completions(self))
    }
}

/// The values shared by the requests of one connection.
///
/// Each connection has a separate `Peer`, because a shared reference count
/// would cause contention between cores.
pub(crate) struct Peer<A> {
    pub(crate) app: Arc<A>,
    pub(crate) record: Arc<ConnectionRecord>,
    /// The client's address, if it has one.
    pub(crate) address: Option<SocketAddr>,
    /// The client's process, if the connection is a Unix socket.
    pub(crate) credentials: Option<PeerCredentials>,
    /// The stage of the server, from running to ended.
    pub(crate) stage: watch::Receiver<Stage>,
    /// Extracts the connection from hyper's upgrade.
    pub(crate) open: upgraded::Unwrap,
    pub(crate) is_tls: bool,
    /// The stall policy for request bodies.
    pub(crate) body_terms: StallPolicy,
    pub(crate) max_headers: usize,
    /// The remaining capacity for connections.
    pub(crate) capacity: Capacity,
}

impl<A> Peer<A> {
    /// Ends the connection if connections are scarce. A client that exceeds a
    /// rate limit must not occupy a connection that others need, and the
    /// response would otherwise make the connection count as used.
    #[cold]
    fn end_if_scarce(&self, http2: bool) {
        if !self.capacity.is_scarce() {
            return;
        }
        if http2 {
            self.record.tell(Command::Finish);
        } else {
            self.record.http1.close_after();
        }
    }

    /// Switches the connection to another protocol if the response requests it.
    #[cold]
    fn give_away(&self, on_upgrade: OnUpgrade, response: &mut Response, http2: bool) {
        if let Some(switch) = Switch::take(response) {
            let (record, stage) = (Arc::clone(&self.record), self.stage.clone());
            tokio::spawn(upgraded::run(on_upgrade, switch, self.open, record, http2, stage));
        }
    }
}

/// Serves a request.
///
/// Work that does not wait is done before the future is created, because hyper
/// moves the future.
pub(crate) fn serve<A: AppService>(
    peer: &Arc<Peer<A>>,
    mut request: http::Request<Incoming>,
) -> ServeFuture<A> {
    let in_flight = InFlight::begin(&peer.record);
    let version = request.version();
    let http2 = version == Version::HTTP_2;
    let on_upgrade = upgraded::wanted(&mut request, peer.is_tls);
    let (mut head, body) = request.into_parts();
    let is_ended = body.is_end_stream();
    let early = head::EarlyHeaders::of(&head.headers);
    let outcome = check(&head, early, http2, is_ended, peer);
    if early.has_connection && lists_close(&head.headers) {
        // hyper does not find `close` in a line that also contains non-ASCII
        // bytes.
        peer.record.http1.close_after();
        peer.record.http1.exchanges.pin();
    } else if head.version == Version::HTTP_10 {
        peer.record.http1.exchanges.pin();
    }
    let body = if is_ended {
        HttpBody::empty()
    } else {
        let record = Arc::clone(&peer.record);
        HttpBody::new(RequestBody::new(body, &head, peer.body_terms, record))
    };
    if peer.address.is_none() {
        head.extensions.insert(LocalPeer);
        peer.credentials.map(|peer| head.extensions.insert(peer));
    }
    let client = Client { address: peer.address, is_tls: peer.is_tls };
    let future = match outcome {
        Ok(()) => peer.app.call(head, body, client),
        Err(error) => peer.app.refuse(request_of(head, body, client), error),
    };
    ServeFuture { future, on_upgrade, in_flight: Some(in_flight), peer: Arc::clone(peer), version }
}

/// Creates a request from a head with framing that hyper has read.
pub(crate) fn request_of(head: Parts, body: HttpBody, client: Client) -> Request {
    let request = Request::framed(head, body).on_tls(client.is_tls);
    match client.address {
        Some(address) => request.with_peer(PeerAddr(address)),
        None => request,
    }
}

/// The future of [`serve`].
pub(crate) struct ServeFuture<A: AppService> {
    future: A::Future,
    on_upgrade: Option<OnUpgrade>,
    /// `None` once the response is returned.
    in_flight: Option<InFlight>,
    peer: Arc<Peer<A>>,
    version: Version,
}

impl<A: AppService> Future for ServeFuture<A> {
    type Output = Result<http::Response<ResponseBody>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let http2 = this.version == Version::HTTP_2;
        let mut slot = Poll::Pending;
        A::poll_into(&mut this.future, cx, &mut slot, this.peer.record.http1.head_sink());
        let Poll::Ready(mut response) = slot else { return Poll::Pending };
        // hyper does not poll again after the response.
        let Some(in_flight) = this.in_flight.take() else { return Poll::Pending };
        if let Some(on_upgrade) = this.on_upgrade.take() {
            this.peer.give_away(on_upgrade, &mut response, http2);
        }
        // An error handler may have changed the status.
        let error = error_of(&response).map(ApiError::status);
        if response.status() == StatusCode::TOO_MANY_REQUESTS || error == Some(429) {
            this.peer.end_if_scarce(http2);
        }
        // The start of the next request is unknown. HTTP/2 does not have this
        // header; hyper resets the stream instead.
        let is_last = !http2
            && (in_flight.record().http1.closes_after() || announces_close(response.headers()));
        if is_last && response.status() != StatusCode::SWITCHING_PROTOCOLS {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        if this.version == Version::HTTP_10 {
            close_http10(&mut response);
        }
        let end = response.extensions().get::<EndsAtShutdown>().map(|_| end_of(&response));
        if let Some(end) = end.as_ref().filter(|_| http2) {
            let (end, stage) = (end.clone(), this.peer.stage.clone());
            response = response.map(|body| until_shutdown(body, stage, end));
        }
        if !http2 {
            let exchanges = &in_flight.record().http1.exchanges;
            exchanges.set_flushed(false);
            if is_last {
                exchanges.pin();
            }
        }
        let (head, body) = response.into_parts();
        let announces = body.as_bytes().is_none() && announces_length(&head.headers, &body);
        let body = ResponseBody::new(body, in_flight, http2, end).announcing(announces);
        Poll::Ready(Ok(http::Response::from_parts(head, body)))
    }
}

/// Returns true if a response lists `close` in `Connection`.
#[inline]
fn announces_close(headers: &HeaderMap) -> bool {
    // A response has few headers here; comparing their names costs less than a
    // hash.
    headers.keys().any(|name| *name == CONNECTION) && lists_close(headers)
}

/// Returns true if a message lists `close` in `Connection`. `keep-alive` and `upgrade` do
/// not end the connection.
///
/// Source: RFC 9112, section 9.6.
#[cold]
fn lists_close(headers: &HeaderMap) -> bool {
    // Compares bytes, because a line may contain a non-ASCII item.
    let is_close = |item: &[u8]| item.trim_ascii().eq_ignore_ascii_case(b"close");
    let mut values = headers.get_all(CONNECTION).iter();
    values.any(|value| value.as_bytes().split(|byte| *byte == b',').any(is_close))
}

/// Returns true if the response announces the length of its body.
fn announces_length(headers: &HeaderMap, body: &HttpBody) -> bool {
    body.size_hint().exact().is_some() || headers.contains_key(CONTENT_LENGTH)
}

/// Returns the flag that records the end of a stream by a shutdown.
#[cold]
fn end_of(response: &Response) -> EndOfStream {
    response.extensions().get::<EndOfStream>().cloned().unwrap_or_default()
}

/// Closes an HTTP/1.0 connection after this response, if the end of the
/// connection is the end of the body, or if the response requests it.
///
/// Otherwise hyper adds `keep-alive` if the client requested it. It does not
/// change an HTTP/1.0 response.
#[cold]
fn close_http10(response: &mut Response) {
    let is_close = has_token(response.headers(), &CONNECTION, "close");
    if is_close || !announces_length(response.headers(), response.body()) {
        *response.version_mut() = Version::HTTP_10;
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
}

/// Counts and logs a request that hyper has rejected because its head cannot be
/// read. The application creates the response, which is dropped.
///
/// Only the client of the request is known, so its method is `-`.
pub(crate) fn note_rejected<A: AppService>(peer: &Peer<A>, status: u16) -> BoxFuture<'static, ()> {
    let (mut head, ()) = http::Request::new(()).into_parts();
    // The name is valid.
    head.method = Method::from_bytes(b"-").unwrap_or_default();
    let client = Client { address: peer.address, is_tls: peer.is_tls };
    if peer.address.is_none() {
        head.extensions.insert(LocalPeer);
    }
    let request = request_of(head, HttpBody::empty(), client);
    let error = ApiError::new(status, "The head of the request cannot be read");
    let mut future = peer.app.refuse(request, error);
    let mut slot = Poll::Pending;
    Box::pin(std::future::poll_fn(move |cx| {
        A::poll_into(&mut future, cx, &mut slot, None);
        if slot.is_ready() { Poll::Ready(()) } else { Poll::Pending }
    }))
}

/// Returns the error of a request that must not reach the application.
fn check<A>(
    head: &Parts,
    early: head::EarlyHeaders,
    http2: bool,
    is_ended: bool,
    peer: &Peer<A>,
) -> Result<(), ApiError> {
    // On HTTP/1, hyper has already counted them.
    if http2 && head.headers.len() > peer.max_headers {
        return Err(ApiError::new(431, ""));
    }
    // On HTTP/1, any transfer coding implies a body. On HTTP/2, h2 rejects all
    // transfer codings.
    if !http2 && !is_ended {
        framing::check(&head.headers).map_err(|message| {
            // The start of the next request is ambiguous.
            peer.record.http1.close_after();
            ApiError::new(400, message)
        })?;
    }
    head::check(head, early).map_err(|(status, message)| ApiError::new(status, message))?;
    host::check(head).map_err(|message| ApiError::new(400, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_close_in_every_line_of_connection() {
        // Lines are separated by `|`.
        let check = |lines: &[u8], expected: bool| {
            let mut headers = HeaderMap::new();
            for line in lines.split(|byte| *byte == b'|').filter(|line| !line.is_empty()) {
                headers.append(CONNECTION, HeaderValue::from_bytes(line).unwrap());
            }
            assert_eq!(announces_close(&headers), expected, "{headers:?}");
        };
        check(b"", false);
        check(b"keep-alive", false);
        check(b"upgrade, closed", false);
        check(b"keep-alive|te", false);
        check(b"close", true);
        check(b"Close", true);
        check(b"te ,\tclose", true);
        check(b"keep-alive|close", true);
        check(b"\xff,close", true);
    }
}
