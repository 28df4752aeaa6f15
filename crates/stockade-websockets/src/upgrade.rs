//! [`WebSocketUpgrade`]: a handshake that the handler responds to itself.

use std::fmt;
use std::future::Future;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use http::header::{SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_PROTOCOL, UPGRADE};
use http::{HeaderMap, HeaderValue};
use stockade_core::description::{HeaderDoc, ResponseDoc};
use stockade_core::extract::UserLifetime;
use stockade_core::headers::list_items;
use stockade_core::login_end::EndsItself;
use stockade_core::upgrade::{Upgrade, Upgraded};
use stockade_core::{
    BoxFuture, ErrorContext, FromRequest, Reply, Request, Response, RouteDescription,
};
use stockade_errors::ApiError;
use stockade_errors::locks::lock;

#[cfg(feature = "ws-compression")]
use crate::deflate::Agreed;
use crate::handshake::{Accepted, Rules};
use crate::limits::Permit;
use crate::session::Session;
use crate::socket::{DriverEnd, SocketId, WebSocket, pair};

/// A valid handshake without a response yet. The handler decides whether to
/// accept it.
///
/// The handler of a WebSocket route takes this argument instead of a
/// [`WebSocket`]. The handler runs before the response is sent and returns the
/// response: either [`on_upgrade`](Self::on_upgrade), or any other response,
/// which rejects the connection. Until then the connection counts against the
/// limits of the router.
///
/// ```
/// use stockade::extract::Path;
/// use stockade::websockets::{WebSocket, WebSocketUpgrade};
/// use stockade::{ApiError, Response};
///
/// async fn join(
///     Path(room): Path<String>,
///     upgrade: WebSocketUpgrade,
/// ) -> Result<Response, ApiError> {
///     if room != "lobby" {
///         return Err(ApiError::not_found());
///     }
///     Ok(upgrade.protocols(["chat.v2", "chat.v1"]).on_upgrade(async |socket: WebSocket| {
///         let _ = socket.send("welcome").await;
///     }))
/// }
/// # let _ = join;
/// ```
pub struct WebSocketUpgrade {
    /// Boxed, because most routes do not need the space.
    handshake: Box<Handshake>,
    /// The subprotocols that the client requests.
    requested: Vec<String>,
}

impl WebSocketUpgrade {
    /// Returns the subprotocols that the client requests, in its order of
    /// preference.
    pub fn requested_protocols(&self) -> impl Iterator<Item = &str> {
        self.requested.iter().map(String::as_str)
    }

    /// Returns the subprotocol of the response, if any.
    #[must_use]
    pub fn protocol(&self) -> Option<&str> {
        self.handshake.protocol()
    }

    /// Selects the first of these subprotocols that the client requests, if
    /// any. Overrides the route's
    /// [`protocols`](crate::WebSocketOptions#structfield.protocols).
    #[must_use]
    pub fn protocols<S: AsRef<str>>(mut self, protocols: impl IntoIterator<Item = S>) -> Self {
        let is_requested =
            |name: &S| self.requested.iter().any(|requested| requested == name.as_ref());
        let selected = protocols.into_iter().find(is_requested);
        // The client sent the name in a header, so it is a valid header value.
        self.handshake.protocol =
            selected.and_then(|name| HeaderValue::from_str(name.as_ref()).ok());
        self
    }

    /// Returns the response that accepts the connection, and runs `handler` on
    /// it.
    ///
    /// The connection lives as long as `handler` runs. `()` or a value ends the
    /// connection with 1000; an error or a panic ends it with 1011 and is
    /// logged. `handler` does not run if the response is not sent.
    pub fn on_upgrade<F, Fut>(self, handler: F) -> Response
    where
        F: FnOnce(WebSocket) -> Fut + Send + 'static,
        Fut: Future<Output: Reply> + Send + 'static,
    {
        let (socket, paired) = self.handshake.pair();
        paired.answer(async move { handler(socket).await.into_response() })
    }
}

impl fmt::Debug for WebSocketUpgrade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebSocketUpgrade")
            .field("requested", &self.requested)
            .field("protocol", &self.protocol())
            .finish_non_exhaustive()
    }
}

/// A handshake that passed the rules of its route, with everything its
/// connection needs.
pub(crate) struct Handshake {
    id: SocketId,
    client: Option<IpAddr>,
    route: Box<str>,
    rules: Arc<Rules>,
    upgrade: Upgrade,
    /// The value of `Sec-WebSocket-Accept`; `None` on HTTP/2.
    accept: Option<HeaderValue>,
    protocol: Option<HeaderValue>,
    #[cfg(feature = "ws-compression")]
    compression: Option<Agreed>,
    context: ErrorContext,
    permit: Permit,
    pub(crate) lifetime: LifetimeSlot,
}

impl Handshake {
    /// Counts the connection, and collects the data for the response.
    pub(crate) fn of(req: &mut Request) -> Result<Self, ApiError> {
        let accepted = req.extensions_mut().remove::<Accepted>();
        let Accepted { rules, negotiated } = accepted
            .ok_or_else(|| ApiError::new(500, "this request is not a WebSocket handshake"))?;
        let client = req.client_ip();
        let value = |text: String| HeaderValue::try_from(text).map_err(ApiError::internal);
        Ok(Self {
            permit: rules.connections.enter(client)?,
            context: ErrorContext::of(req),
            id: SocketId::random()?,
            client,
            // The route exists: its middleware has accepted the request.
            route: req.route().unwrap_or_default().into(),
            upgrade: negotiated.upgrade,
            accept: negotiated.accept.map(value).transpose()?,
            protocol: negotiated.protocol.map(value).transpose()?,
            #[cfg(feature = "ws-compression")]
            compression: negotiated.compression,
            rules,
            lifetime: LifetimeSlot::default(),
        })
    }

    pub(crate) fn rules(&self) -> &Rules {
        &self.rules
    }

    fn protocol(&self) -> Option<&str> {
        // A subprotocol is a token.
        self.protocol.as_ref().and_then(|protocol| protocol.to_str().ok())
    }

    /// Creates the connection for a handler, and the remainder for the
    /// response.
    fn pair(self) -> (WebSocket, Paired) {
        let (protocol, header) = (self.protocol().map(Into::into), self.protocol.clone());
        let (socket, ends) = pair(self.id, &self.rules.options, self.route, protocol, self.client);
        let paired = Paired {
            ends,
            rules: self.rules,
            upgrade: self.upgrade,
            accept: self.accept,
            protocol: header,
            #[cfg(feature = "ws-compression")]
            compression: self.compression,
            context: self.context,
            permit: self.permit,
            lifetime: self.lifetime,
        };
        (socket, paired)
    }
}

/// A handshake with its connection already passed to a handler.
pub(crate) struct Paired {
    ends: DriverEnd,
    rules: Arc<Rules>,
    upgrade: Upgrade,
    accept: Option<HeaderValue>,
    protocol: Option<HeaderValue>,
    #[cfg(feature = "ws-compression")]
    compression: Option<Agreed>,
    context: ErrorContext,
    permit: Permit,
    lifetime: LifetimeSlot,
}

impl Paired {
    /// Returns the response to the handshake, with the function that runs
    /// `handling` on the connection.
    pub(crate) fn answer(
        self,
        handling: impl Future<Output = Result<Response, ApiError>> + Send + 'static,
    ) -> Response {
        #[cfg(feature = "ws-compression")]
        let compression = self.compression;
        let Self { ends, rules, upgrade, accept, protocol, context, permit, lifetime, .. } = self;
        let mut response = upgrade.switch(move |upgraded: Upgraded| {
            let handling: BoxFuture<'static, _> = Box::pin(handling);
            let (max, user) = (rules.max_payload, lifetime.take());
            let session = Session::start(upgraded, ends, handling, max, context, permit, user);
            #[cfg(feature = "ws-compression")]
            let session = session.compressed(compression);
            session
        });
        response.extensions_mut().insert(EndsItself);
        let headers: &mut HeaderMap = response.headers_mut();
        if let Some(accept) = accept {
            headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
            headers.insert(SEC_WEBSOCKET_ACCEPT, accept);
        }
        if let Some(protocol) = protocol {
            headers.insert(SEC_WEBSOCKET_PROTOCOL, protocol);
        }
        #[cfg(feature = "ws-compression")]
        if let Some(parameters) = compression.map(|agreed| agreed.to_string())
            && let Ok(parameters) = HeaderValue::try_from(parameters)
        {
            headers.insert(http::header::SEC_WEBSOCKET_EXTENSIONS, parameters);
        }
        response
    }
}

/// A slot for the lifetime of the user, which is known once all handler
/// arguments are extracted. Clones share the slot.
#[derive(Clone, Default)]
pub(crate) struct LifetimeSlot(Arc<Mutex<Option<UserLifetime>>>);

impl LifetimeSlot {
    pub(crate) fn set(&self, lifetime: Option<UserLifetime>) {
        *lock(&self.0) = lifetime;
    }

    fn take(&self) -> Option<UserLifetime> {
        lock(&self.0).take()
    }
}

/// The handshake in the request's extensions, until an argument takes it.
/// Extensions must be `Clone`.
#[derive(Clone)]
pub(crate) struct Pending(Arc<Mutex<Step>>);

/// The argument that took the handshake.
enum Step {
    /// None yet.
    Waiting(Handshake),
    /// The [`WebSocket`].
    Paired(Paired),
    /// The [`WebSocketUpgrade`].
    Decides,
}

impl Pending {
    pub(crate) fn new(handshake: Handshake) -> Self {
        Self(Arc::new(Mutex::new(Step::Waiting(handshake))))
    }

    /// Returns the remainder of the handshake after extraction, or `None` if
    /// the handler took all of it and decides.
    pub(crate) fn into_paired(self) -> Option<Paired> {
        match self.replace(Step::Decides) {
            Step::Waiting(handshake) => Some(handshake.pair().1),
            Step::Paired(paired) => Some(paired),
            Step::Decides => None,
        }
    }

    fn replace(&self, step: Step) -> Step {
        std::mem::replace(&mut *lock(&self.0), step)
    }

    /// Creates the connection for a handshake from [`take`](Self::take).
    pub(crate) fn open(&self, handshake: Handshake) -> WebSocket {
        let (socket, paired) = handshake.pair();
        self.replace(Step::Paired(paired));
        socket
    }

    /// Takes the pending handshake out of a request.
    pub(crate) fn take(req: &mut Request) -> Result<(Self, Handshake), ApiError> {
        let pending = req.extensions_mut().remove::<Self>();
        let taken = pending.map(|pending| (pending.replace(Step::Decides), pending));
        match taken {
            Some((Step::Waiting(handshake), pending)) => Ok((pending, handshake)),
            _ => Err(ApiError::new(500, "this route does not accept WebSockets")),
        }
    }
}

impl FromRequest for WebSocket {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        let (pending, handshake) = Pending::take(req)?;
        Ok(pending.open(handshake))
    }

    fn describe(doc: &mut RouteDescription) {
        describe_upgrade(doc, false);
        doc.sends_no_reply();
    }
}

impl FromRequest for WebSocketUpgrade {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        let (_, handshake) = Pending::take(req)?;
        let requested = list_items(req.headers(), &SEC_WEBSOCKET_PROTOCOL).map(str::to_owned);
        Ok(Self { requested: requested.collect(), handshake: Box::new(handshake) })
    }

    fn describe(doc: &mut RouteDescription) {
        describe_upgrade(doc, true);
    }
}

/// Documents the response that accepts the connection. With `selects`, the
/// handler may select a subprotocol itself.
pub(crate) fn describe_upgrade(doc: &mut RouteDescription, selects: bool) {
    doc.takes_upgrade();
    let meaning = "The connection is a WebSocket from here on; on HTTP/2 the status is 200";
    let mut answer = ResponseDoc::new(101).meaning(meaning);
    let mut names = vec![
        ("Upgrade", "The protocol of the connection"),
        ("Connection", "The protocol upgrade"),
        ("Sec-WebSocket-Accept", "The response to the client's key"),
    ];
    if selects || !doc.web_socket().subprotocols.is_empty() {
        names.push(("Sec-WebSocket-Protocol", "The selected subprotocol, if any"));
    }
    let rules = doc.common_mut().get::<Arc<Rules>>();
    if rules.is_some_and(|rules| rules.compresses()) {
        names.push(("Sec-WebSocket-Extensions", "The compression, if the client offers it"));
    }
    for (name, meaning) in names {
        // HTTP/2 sends none of the first three.
        answer = answer.header(HeaderDoc::new(name, meaning).sometimes());
    }
    doc.responds(answer);
}
