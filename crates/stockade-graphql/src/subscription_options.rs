//! The options of operations over a WebSocket, and their setters on
//! [`GraphQl`].

use std::time::Duration;

use serde_json::Value;
use stockade_middleware::__internal::ValueLookup;
use stockade_middleware::{IntoUser, Lookup};
use stockade_websockets::WebSocketOptions;

use crate::graphql::GraphQl;

/// The options of operations over a WebSocket.
#[derive(Clone, Debug)]
pub(crate) struct SubscriptionOptions {
    pub(crate) web_socket: bool,
    pub(crate) web_socket_options: WebSocketOptions,
    pub(crate) on_init: Option<ValueLookup<Value>>,
    pub(crate) init_timeout: Duration,
    pub(crate) max_operations: usize,
}

impl Default for SubscriptionOptions {
    fn default() -> Self {
        Self {
            web_socket: false,
            web_socket_options: WebSocketOptions::new(),
            on_init: None,
            init_timeout: Duration::from_secs(10),
            max_operations: 50,
        }
    }
}

impl GraphQl {
    /// Enables operations over a WebSocket at the same path, with the
    /// `graphql-transport-ws` protocol: queries, mutations and subscriptions.
    /// Requires `RouterOptions::enable_web_sockets`. Default: false.
    ///
    /// If a client stops reading, its streams pause. All streams end with the
    /// connection. The server sends `complete` for each before it shuts down.
    /// Subscriptions over POST with `Accept: text/event-stream` do not need
    /// this option.
    ///
    /// ```
    /// use stockade::graphql::{GraphQl, async_graphql as gql};
    /// use stockade::prelude::*;
    /// # use stockade::testing::TestClient;
    ///
    /// struct Query;
    ///
    /// #[gql::Object(crate = "gql")]
    /// impl Query {
    ///     async fn hello(&self) -> &str {
    ///         "hello"
    ///     }
    /// }
    ///
    /// # #[tokio::main]
    /// # async fn main() {
    /// let schema = gql::Schema::build(Query, gql::EmptyMutation, gql::EmptySubscription);
    /// let graphql = GraphQl::new(schema).web_socket(true);
    /// let api = routes! { "graphql": { ..graphql.routes() } };
    /// let options = RouterOptions::new().enable_web_sockets(true);
    /// let client = TestClient::new(create_router(api, options));
    /// let mut socket = client.websocket("/graphql").protocol("graphql-transport-ws").connect().await;
    /// socket.send_json(json!({ "type": "connection_init" })).await;
    /// assert_eq!(socket.receive_text().await, r#"{"type":"connection_ack"}"#);
    /// # }
    /// ```
    pub fn web_socket(mut self, web_socket: bool) -> Self {
        self.subscriptions.web_socket = web_socket;
        self
    }

    /// Sets the options of the WebSocket, such as the allowed origins. The
    /// subprotocol is always the GraphQL one. Default: the router's options.
    pub fn web_socket_options(mut self, options: WebSocketOptions) -> Self {
        self.subscriptions.web_socket_options = options;
        self
    }

    /// Sets the function that authenticates the user from the payload of
    /// `connection_init`, such as a token. Browsers need this because a page
    /// cannot set handshake headers. The function receives an object, or null
    /// if the client sent no payload. It can be any function that
    /// [`Auth::bearer`](stockade_middleware::Auth::bearer) accepts, with its
    /// extractors.
    ///
    /// The connection closes with 4403 if the function finds no user or returns
    /// an error below 500. Any other error is logged and closes it with 4500.
    /// The function runs again periodically, and the connection closes with
    /// 4401 once it finds no user. Default: none; the user comes from the
    /// handshake.
    ///
    /// ```
    /// use stockade::auth::verify_token;
    /// use stockade::graphql::{GraphQl, async_graphql as gql};
    /// use stockade::prelude::*;
    ///
    /// # struct Query;
    /// # #[gql::Object(crate = "gql")]
    /// # impl Query {
    /// #     async fn hello(&self) -> &str {
    /// #         "hello"
    /// #     }
    /// # }
    /// # fn main() -> Result<(), BoxError> {
    /// let secret = Secret::new("a secret of thirty-two bytes or more")?;
    /// let schema = gql::Schema::build(Query, gql::EmptyMutation, gql::EmptySubscription);
    /// let graphql = GraphQl::new(schema).web_socket(true).on_init(move |payload: Value| {
    ///     let token = payload["authorization"].as_str()?;
    ///     verify_token(token, &secret).map(|claims| claims.into_value())
    /// });
    /// # let _ = graphql.routes();
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_init<M>(mut self, lookup: impl Lookup<Value, M, Output: IntoUser>) -> Self {
        self.subscriptions.on_init = Some(ValueLookup::new(lookup));
        self
    }

    /// Sets the time from the handshake within which `connection_init` must
    /// arrive and be accepted. Otherwise the connection closes with 4408.
    /// Default: 10 s.
    pub fn init_timeout(mut self, timeout: Duration) -> Self {
        self.subscriptions.init_timeout = timeout;
        self
    }

    /// Sets the maximum number of concurrent operations on a WebSocket. Further
    /// operations are rejected, and the running ones continue. Default: 50.
    pub fn max_operations(mut self, operations: usize) -> Self {
        self.subscriptions.max_operations = operations;
        self
    }
}
