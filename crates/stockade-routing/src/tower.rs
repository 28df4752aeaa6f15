//! [`App`] as a tower service: for hyper, axum's `nest_service`, tower's
//! layers, AWS Lambda.
//!
//! Hot: nothing is allocated here for a request without a body, and one box for
//! one with a body.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http_body::Body;
use stockade_core::{HttpBody, Request, Response};
use stockade_errors::BoxError;
use tower_service::Service;

use crate::app::App;
use crate::dispatch::ResponseFuture;

/// Answers requests with a body of any type. It is always ready, and never
/// fails.
///
/// All stages and all options of the router apply, as they do to
/// [`App::handle`].
///
/// # What is lost in another server
///
/// **Whoever calls this service reads the socket. So nothing of this is there, unless
/// that server has it itself:**
///
/// | Of `create_server` | In a plain loop of hyper |
/// |---|---|
/// | slow clients end: head, body, and an answer that is not read | **they stay for ever**; a head has 30 s if the builder has a `timer` |
/// | `max_connections`, `max_connections_per_client`, idle connections end | none |
/// | a head has 16 KiB and 100 lines | some 400 KiB on HTTP/1, 16 KiB on HTTP/2 |
/// | `Host` is there, once and well-formed, and agrees with the target | not looked at |
/// | framing that other programs read differently is refused (bare LF, two lengths, `Content_Length`) | what hyper refuses |
/// | the unread rest of a body is read, to a bound | the connection may be reset |
/// | the client is the other end of the socket | **all clients share one rate limit**, until a `PeerAddr` is in the extensions of each request |
/// | WebSockets | 400, until an `Upgrade` is in the extensions, and the `Switch` of the answer is run on the connection |
/// | TLS, so that pages of `http://` open no WebSocket | until `TlsConnection` is in the extensions |
/// | HTTP/2: pings, resets, memory of answers | hyper's defaults |
/// | shutdown: `Readiness`, requests that run, close frames | as the loop says |
///
/// To keep all of it, give the server the sockets and not the requests: `create_server`
/// of an `App` listens on a `TcpListener` that is open, and on acceptors of a
/// program's own (the trait `Listener` of the server).
///
/// Where that cannot be, each connection tells its address (`LocalPeer` if it has none):
///
/// ```
/// use stockade::{PeerAddr, Router};
/// use tower_service::Service;
///
/// # let peer = std::net::SocketAddr::from(([192, 0, 2, 1], 50_000));
/// let app = Router::new().build()?;
/// // For hyper's `service_fn`, once for each connection that was accepted.
/// let service = move |mut request: stockade::http::Request<String>| {
///     request.extensions_mut().insert(PeerAddr(peer));
///     app.clone().call(request)
/// };
/// # drop(service(stockade::http::Request::new(String::new())));
/// # Ok::<(), stockade::ConfigError>(())
/// ```
///
/// # Examples
///
/// ```
/// use std::convert::Infallible;
///
/// use stockade::{App, Router};
/// use tower_service::Service;
///
/// fn serves<B>(_: &impl Service<stockade::http::Request<B>, Error = Infallible>) {}
///
/// let app = Router::new().build()?;
/// serves::<String>(&app);
/// # Ok::<(), stockade::ConfigError>(())
/// ```
///
/// Spec: Use inside a host framework.
impl<B> Service<http::Request<B>> for App
where
    B: Body + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response;
    type Error = Infallible;
    type Future = AppFuture;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<B>) -> AppFuture {
        let (head, body) = request.into_parts();
        AppFuture { response: self.handle(Request::new(head, HttpBody::new(body))) }
    }
}

/// The future of an [`App`] as a tower service.
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct AppFuture {
    response: ResponseFuture,
}

impl Future for AppFuture {
    type Output = Result<Response, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(Ok(ready!(Pin::new(&mut self.response).poll(cx))))
    }
}
