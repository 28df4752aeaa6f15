//! WebSocket routes: registration and compilation.
//!
//! Experimental.
// Spec: Router construction and members › addWebSocketRoute; WebSocket routes.

use stockade_core::{
    HandlerFn, HandlerSignature, IntoSetting, Middleware, RouteDescription, Setting,
};
use stockade_websockets::__internal::{Connections, web_socket_handler};
use stockade_websockets::WebSocketOptions;
use stockade_websockets::handshake::{RouterRules, Rules};

use crate::entry::{RouteEntry, RouteRef};
use crate::options::RouterOptions;
use crate::router::Router;

impl Router {
    /// Adds a WebSocket route. `handler` is an `async fn` with a `WebSocket`
    /// and extractors, or with a `WebSocketUpgrade` if it decides before the
    /// response to the handshake. Needs [`RouterOptions::enable_web_sockets`].
    ///
    /// A route for GET may have the same path. A handshake uses the WebSocket
    /// route, and other requests use the GET route. `validation` validates each
    /// message that is read as JSON; `query` and `params` validate the
    /// handshake.
    ///
    /// Experimental.
    ///
    /// ```
    /// use stockade::websockets::{WebSocket, WebSocketOptions};
    /// use stockade::{ApiError, Router, RouterOptions};
    ///
    /// async fn echo(mut socket: WebSocket) -> Result<(), ApiError> {
    ///     while let Some(text) = socket.recv_text().await {
    ///         socket.send(text?).await?;
    ///     }
    ///     Ok(())
    /// }
    ///
    /// let mut router = Router::with_options(RouterOptions::new().enable_web_sockets(true));
    /// router.add_web_socket_route("/echo", echo, WebSocketOptions::new()).name("echo");
    /// assert!(router.build().is_ok());
    /// ```
    #[doc(alias = "websocket")]
    // Spec: Router construction and members › addWebSocketRoute.
    #[track_caller]
    #[doc(alias = "addWebSocketRoute")]
    pub fn add_web_socket_route<F, Args>(
        &mut self,
        path: &str,
        handler: F,
        options: WebSocketOptions,
    ) -> RouteRef<'_>
    where
        F: HandlerFn<Args>,
        F::Signature: HandlerSignature<Args = Args, Output = F::Output>,
        F::Future: Send,
        Args: Send + 'static,
    {
        self.add(http::Method::GET, path, RouteEntry::web_socket(handler).options(options))
    }
}

impl RouteEntry {
    /// Creates the entry of a WebSocket. The handler is an `async fn` with a
    /// `WebSocket` and extractors.
    ///
    /// Experimental.
    #[track_caller]
    pub fn web_socket<F, Args>(handler: F) -> Self
    where
        F: HandlerFn<Args>,
        F::Signature: HandlerSignature<Args = Args, Output = F::Output>,
        F::Future: Send,
        Args: Send + 'static,
    {
        let mut entry = Self::of(web_socket_handler(handler));
        entry.web_socket = Some(Box::new(WebSocketOptions::new()));
        entry
    }

    /// Sets the options of a WebSocket. They are a configuration error on
    /// another route.
    pub fn options(mut self, options: WebSocketOptions) -> Self {
        self.web_socket_only |= self.web_socket.is_none();
        self.web_socket = self.web_socket.map(|_| Box::new(options));
        self
    }

    /// Sets [`WebSocketOptions::allowed_origins`]: a list, or `false` for the
    /// same origin only. It is a configuration error on another route.
    pub fn allowed_origins(mut self, origins: impl IntoSetting<Vec<String>>) -> Self {
        self.web_socket_only |= self.web_socket.is_none();
        self.web_socket = self.web_socket.map(|it| Box::new(it.allowed_origins(origins)));
        self
    }
}

/// Returns the WebSocket rules in the options of a router.
pub(crate) fn router_rules(options: &RouterOptions) -> RouterRules {
    RouterRules {
        allowed_origins: options.ws_allowed_origins.clone(),
        max_payload: options.ws_max_payload,
        #[cfg(feature = "ws-compression")]
        compression: options.ws_compression,
        connections: Connections::new(
            options.ws_max_connections as usize,
            options.ws_max_connections_per_client as usize,
        ),
    }
}

/// Adds the number of open WebSockets to the metrics of the router.
#[cfg(feature = "metrics")]
pub(crate) fn count(options: &RouterOptions, rules: &RouterRules) {
    let Some(metrics) = options.metrics.as_ref().filter(|_| options.enable_web_sockets) else {
        return;
    };
    // The application owns the connections, and may be dropped first.
    let connections = std::sync::Arc::downgrade(&rules.connections);
    let read = move || connections.upgrade().map(|open| (open.count(), open.max()));
    metrics.add_usage(stockade_stages::metrics::Resource::WebSockets, read);
}

/// Checks the entry of a WebSocket and returns the middleware that runs before
/// all other middleware. Turns its validation into the validation of messages.
pub(crate) fn compile(
    entry: &mut RouteEntry,
    options: &RouterOptions,
    router: &RouterRules,
    faults: &mut Vec<String>,
) -> Option<Middleware> {
    if entry.web_socket_only {
        faults.push("`options` and `allowed_origins` are only for WebSockets".to_owned());
    }
    let mut own = *entry.web_socket.take()?;
    if !options.enable_web_sockets {
        faults.push("WebSocket routing is disabled".to_owned());
    }
    let settings = &mut entry.settings.endpoint;
    if settings.max_body.is_some() {
        faults.push(
            "`max_body` is set, but a WebSocket has no body: use `max_payload` in its options"
                .to_owned(),
        );
    }
    if settings.accepts.value().is_some() {
        faults.push("`accepts` is set, but a WebSocket has no body".to_owned());
    }
    settings.accepts = Setting::Inherit;
    if settings.max_json_values.is_some() {
        let own = "`max_json_values` is set, but a WebSocket has no body: use `max_json_values` \
                   in its options";
        faults.push(own.to_owned());
    }
    if entry.validation.body.is_some() {
        own.validation = entry.validation.make_mut().body.take();
        own.validation_options = entry.validation.options.clone();
    }
    let rules = Rules::new(own, router);
    faults.extend(rules.issues());
    Some(rules.guard())
}

/// Returns the configuration error in the arguments of a handler, if there is
/// one.
pub(crate) fn misplaced(is_web_socket: bool, doc: &RouteDescription) -> Option<String> {
    match (is_web_socket, doc.upgrades()) {
        (true, 1) if doc.has_writer() => Some(
            "the handler has a `ResponseWriter` argument, but the server writes the response to \
             a handshake"
                .to_owned(),
        ),
        (true, 1) | (false, 0) => None,
        (true, 0) => Some("the handler does not have a `WebSocket` argument: add one".to_owned()),
        (true, _) => {
            Some("the handler has two `WebSocket` arguments: remove one of them".to_owned())
        }
        (false, _) => Some(
            "the handler has a `WebSocket` argument: add the route with `add_web_socket_route` \
             or `ws:`"
                .to_owned(),
        ),
    }
}
