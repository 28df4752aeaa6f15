//! Connections that leave HTTP, such as for a WebSocket.
//!
//! A host that can give its connection away puts an [`Upgrade`] into the
//! extensions of a request that asks for one. The handler that takes it calls
//! [`Upgrade::switch`] with the function for the connection, and answers with
//! the response that this returns. The host sends the response, takes the
//! [`Switch`] out of it, and runs the function on the [`Upgraded`] connection.
//!
//! So a test needs no server: it hands over one end of a pipe.
//!
//! Source: RFC 9110, section 7.8 (Upgrade); RFC 8441 (extended CONNECT).

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use stockade_errors::locks::lock;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::sleep;

use crate::user_lifetime::UserLifetime;
use crate::{BoxFuture, HttpBody, Response};

/// A connection in both directions, of any kind.
pub trait Io: AsyncRead + AsyncWrite + Send + Unpin + 'static {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin + 'static> Io for T {}

/// A connection that has left HTTP.
pub struct Upgraded {
    /// The connection.
    pub io: Box<dyn Io>,
    /// The bytes that the client sent behind its request, and that were read with it.
    pub read: Bytes,
    /// Ends when the host begins to shut down: then the function on the connection
    /// should come to an end. Never, if the host does not say.
    pub shutdown: BoxFuture<'static, ()>,
}

impl Upgraded {
    /// Makes a connection on which no byte was read, of a host that does not
    /// announce its shutdown.
    #[must_use]
    pub fn new(io: impl Io) -> Self {
        Self { io: Box::new(io), read: Bytes::new(), shutdown: Box::pin(std::future::pending()) }
    }

    /// Sets [`read`](Self#structfield.read).
    #[must_use]
    pub fn with_read(mut self, read: Bytes) -> Self {
        self.read = read;
        self
    }

    /// Sets [`shutdown`](Self#structfield.shutdown).
    #[must_use]
    pub fn with_shutdown(mut self, shutdown: impl Future<Output = ()> + Send + 'static) -> Self {
        self.shutdown = Box::pin(shutdown);
        self
    }
}

impl fmt::Debug for Upgraded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upgraded").field("read", &self.read.len()).finish_non_exhaustive()
    }
}

/// A mark in the extensions of a request whose host can give the connection
/// away.
///
/// ```
/// use stockade::upgrade::{Switch, Upgrade, Upgraded};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// // Who answers the request:
/// let mut response = Upgrade::http1().switch(async |connection: Upgraded| drop(connection));
/// assert_eq!(response.status(), 101);
///
/// // The host, or a test in its place:
/// let (_client, server) = tokio::io::duplex(1024);
/// let switch = Switch::take(&mut response).expect("a connection is wanted");
/// switch.run(Upgraded::new(server)).await;
/// # }
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Upgrade {
    extended_connect: bool,
}

impl Upgrade {
    /// Makes an upgrade by `Upgrade` and 101, as in HTTP/1.1.
    #[must_use]
    pub fn http1() -> Self {
        Self { extended_connect: false }
    }

    /// Makes an upgrade by an extended CONNECT to `websocket` and 200, as in
    /// HTTP/2 (RFC 8441).
    #[must_use]
    pub fn extended_connect() -> Self {
        Self { extended_connect: true }
    }

    /// Returns true if the request is an extended CONNECT.
    #[must_use]
    pub fn is_extended_connect(self) -> bool {
        self.extended_connect
    }

    /// Returns the response that gives the connection to `protocol`.
    ///
    /// The caller adds the headers that identify the protocol, such as `Upgrade`.
    #[must_use]
    pub fn switch<F, Fut>(self, protocol: F) -> Response
    where
        F: FnOnce(Upgraded) -> Fut + Send + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let mut response = Response::new(HttpBody::empty());
        if !self.extended_connect {
            *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
            let connection = HeaderValue::from_static("upgrade");
            response.headers_mut().insert(header::CONNECTION, connection);
        }
        let run: Run = Box::new(|upgraded| Box::pin(protocol(upgraded)));
        response.extensions_mut().insert(Offer(Arc::new(Mutex::new(Some(run)))));
        response
    }
}

/// Returns the upgrade that a request asks for, if any. `protocol` is the
/// `:protocol` of an extended CONNECT.
#[must_use]
pub fn requested_upgrade(
    method: &Method,
    headers: &HeaderMap,
    protocol: Option<&str>,
) -> Option<Upgrade> {
    if *method == Method::CONNECT {
        (protocol == Some("websocket")).then(Upgrade::extended_connect)
    } else {
        headers.contains_key(header::UPGRADE).then(Upgrade::http1)
    }
}

/// A mark in the extensions of a request that came on a TLS connection. With it
/// a protocol such as WebSockets can require an `https` origin.
///
/// The own server and actix-web set it for requests that ask for another
/// protocol. axum does not know: a program that serves axum on TLS adds it by a
/// layer, `axum::Extension(TlsConnection)`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TlsConnection;

type Run = Box<dyn FnOnce(Upgraded) -> BoxFuture<'static, ()> + Send>;

/// The function that waits in a response for the connection. Extensions must be
/// `Clone`.
#[derive(Clone)]
struct Offer(Arc<Mutex<Option<Run>>>);

/// Ends the protocol of a response that gives the connection away with the login of its
/// user. The protocol has [`GRACE`] to end by itself.
pub(crate) fn end_with_user(response: &mut Response, lifetime: UserLifetime) {
    let Some(Offer(place)) = response.extensions().get() else { return };
    let mut place = lock(place);
    let Some(run) = place.take() else { return };
    *place = Some(Box::new(|upgraded| {
        Box::pin(async move {
            let mut protocol = run(upgraded);
            let mut end = pin!(async {
                lifetime.await;
                sleep(GRACE).await;
            });
            poll_fn(|cx| match protocol.as_mut().poll(cx) {
                Poll::Ready(()) => Poll::Ready(()),
                Poll::Pending => end.as_mut().poll(cx),
            })
            .await;
        })
    }));
}

/// The time that a protocol has to end after the login of its user has ended.
const GRACE: Duration = Duration::from_secs(5);

/// A function that runs on a connection, once the response is sent.
pub struct Switch {
    run: Run,
}

impl Switch {
    /// Takes it out of a response that gives the connection away; `None` for
    /// every other response.
    #[must_use]
    pub fn take(response: &mut Response) -> Option<Self> {
        if !switches(response) {
            return None;
        }
        let Offer(run) = response.extensions_mut().remove()?;
        let run = lock(&run).take()?;
        Some(Self { run })
    }

    /// Runs it to its end.
    pub fn run(self, upgraded: Upgraded) -> BoxFuture<'static, ()> {
        (self.run)(upgraded)
    }
}

impl fmt::Debug for Switch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Switch")
    }
}

/// Returns true if a response gives the connection away. Middleware that replaced
/// the status of one has refused it.
#[must_use]
pub fn switches(response: &Response) -> bool {
    matches!(response.status(), StatusCode::SWITCHING_PROTOCOLS | StatusCode::OK)
        && response.extensions().get::<Offer>().is_some()
}
