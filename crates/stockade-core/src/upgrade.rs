//! Connections that leave HTTP, such as for a WebSocket.
//!
//! A host that supports upgrades adds an [`Upgrade`] to the extensions of a
//! request that asks for one. The handler takes it, calls [`Upgrade::switch`]
//! with a function for the connection, and returns the resulting response. The
//! host sends the response, takes the [`Switch`] out of it, and runs the
//! function on the [`Upgraded`] connection.
//!
//! A test does not need a server: it passes one end of a pipe.
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

/// A bidirectional connection of any kind.
pub trait Io: AsyncRead + AsyncWrite + Send + Unpin + 'static {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin + 'static> Io for T {}

/// A connection that has left HTTP.
pub struct Upgraded {
    /// The connection.
    pub io: Box<dyn Io>,
    /// The bytes that the client sent after its request and that were read
    /// together with it.
    pub read: Bytes,
    /// Ends when the host begins to shut down. The function on the connection
    /// should then finish. It never ends if the host does not announce its
    /// shutdown.
    pub shutdown: BoxFuture<'static, ()>,
}

impl Upgraded {
    /// Creates a connection without buffered bytes, for a host that does not
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

/// A mark in the extensions of a request from a host that supports upgrades.
///
/// ```
/// use stockade::upgrade::{Switch, Upgrade, Upgraded};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// // The request handler:
/// let mut response = Upgrade::http1().switch(async |connection: Upgraded| drop(connection));
/// assert_eq!(response.status(), 101);
///
/// // The host, or a test instead:
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
    /// Creates an upgrade with `Upgrade` and 101, as in HTTP/1.1.
    #[must_use]
    pub fn http1() -> Self {
        Self { extended_connect: false }
    }

    /// Creates an upgrade with an extended CONNECT to `websocket` and 200, as
    /// in HTTP/2 (RFC 8441).
    #[must_use]
    pub fn extended_connect() -> Self {
        Self { extended_connect: true }
    }

    /// Returns true if the request is an extended CONNECT.
    #[must_use]
    pub fn is_extended_connect(self) -> bool {
        self.extended_connect
    }

    /// Returns the response that passes the connection to `protocol`.
    ///
    /// The caller adds the headers that identify the protocol, such as
    /// `Upgrade`.
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

/// A mark in the extensions of a request that arrived over TLS.
/// Protocols such as WebSockets can then require an `https` origin.
///
/// The built-in server and actix-web set it for requests that ask for another
/// protocol. axum cannot detect TLS: a program that serves axum on TLS adds the
/// mark with a layer, `axum::Extension(TlsConnection)`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TlsConnection;

type Run = Box<dyn FnOnce(Upgraded) -> BoxFuture<'static, ()> + Send>;

/// The function in a response that waits for the connection. Extensions must be
/// `Clone`.
#[derive(Clone)]
struct Offer(Arc<Mutex<Option<Run>>>);

/// Makes the protocol of an upgrade response end with the login of its user.
/// The protocol has [`GRACE`] to end by itself.
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

/// The time that a protocol has to end after the user's login ends.
const GRACE: Duration = Duration::from_secs(5);

/// A function that runs on a connection after the response is sent.
pub struct Switch {
    run: Run,
}

impl Switch {
    /// Takes the function out of an upgrade response. Returns `None` for any
    /// other response.
    #[must_use]
    pub fn take(response: &mut Response) -> Option<Self> {
        if !switches(response) {
            return None;
        }
        let Offer(run) = response.extensions_mut().remove()?;
        let run = lock(&run).take()?;
        Some(Self { run })
    }

    /// Runs the function to its end.
    pub fn run(self, upgraded: Upgraded) -> BoxFuture<'static, ()> {
        (self.run)(upgraded)
    }
}

impl fmt::Debug for Switch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Switch")
    }
}

/// Returns true for an upgrade response. Middleware can reject the upgrade by
/// replacing the status.
#[must_use]
pub fn switches(response: &Response) -> bool {
    matches!(response.status(), StatusCode::SWITCHING_PROTOCOLS | StatusCode::OK)
        && response.extensions().get::<Offer>().is_some()
}
