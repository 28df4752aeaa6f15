//! [`App`] as a tower service: for hyper, axum's `nest_service`, tower layers,
//! AWS Lambda.
//!
//! Hot: a request without a body does not allocate here, and a request with a
//! body allocates one box.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http_body::Body;
use stockade_core::{HttpBody, Request, Response};
use stockade_errors::BoxError;
use tower_service::Service;

use crate::app::App;
use crate::dispatch::ResponseFuture;

/// Responds to requests with a body of any type. It is always ready, and never
/// fails.
///
/// All stages and all options of the router apply, as for [`App::handle`].
///
/// # Missing protections in another server
///
/// **The caller of this service reads the socket. So the following protections
/// are missing, unless the calling server provides them:**
///
/// | `create_server` | A plain hyper loop |
/// |---|---|
/// | disconnects slow clients: head, body, and an unread response | **they stay forever**; a head has 30 s if the builder has a `timer` |
/// | `max_connections`, `max_connections_per_client`, idle timeout | none |
/// | limits a head to 16 KiB and 100 lines | about 400 KiB on HTTP/1, 16 KiB on HTTP/2 |
/// | requires one well-formed `Host` that agrees with the target | not checked |
/// | rejects framing that other programs read differently (bare LF, two lengths, `Content_Length`) | only what hyper rejects |
/// | reads the unread rest of a body, up to a limit | the connection may be reset |
/// | the client is the peer of the socket | **all clients share one rate limit**, unless the extensions of each request contain a `PeerAddr` |
/// | WebSockets | 400, unless the extensions contain an `Upgrade`, and the `Switch` of the response is run on the connection |
/// | TLS: origins of `http://` cannot open a WebSocket | only if `TlsConnection` is in the extensions |
/// | HTTP/2: pings, resets, memory of responses | hyper's defaults |
/// | shutdown: `Readiness`, running requests, close frames | as the loop implements it |
///
/// To keep all of them, pass the sockets to the server instead of the requests:
/// `create_server` of an `App` listens on an open `TcpListener`, and on the
/// program's own acceptors (the trait `Listener` of the server).
///
/// If this is not possible, set the address of each connection (`LocalPeer` if
/// it does not have an address):
///
/// ```
/// use stockade::{PeerAddr, Router};
/// use tower_service::Service;
///
/// # let peer = std::net::SocketAddr::from(([192, 0, 2, 1], 50_000));
/// let app = Router::new().build()?;
/// // For hyper's `service_fn`, once for each accepted connection.
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
// Spec: Use inside a host framework.
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
