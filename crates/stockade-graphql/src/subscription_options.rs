//! [`SubscriptionOptions`]: the options of operations by a WebSocket, and their setters
//! of a [`GraphQl`].

use std::time::Duration;

use serde_json::Value;
use stockade_middleware::__internal::ValueLookup;
use stockade_middleware::{IntoUser, Lookup};
use stockade_websockets::WebSocketOptions;

use crate::graphql::GraphQl;

/// The options of operations by a WebSocket.
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
    /// Sets if operations may come by a WebSocket at the same path too, by the protocol
    /// `graphql-transport-ws`; queries and mutations as well as subscriptions. Needs
    /// `RouterOptions::enable_web_sockets`. Default: false.
    ///
    /// A client that does not read stops its streams, and all of them end with the
    /// connection. The server sends `complete` for each before it shuts down.
    /// Subscriptions come by POST with `Accept: text/event-stream` too, without this.
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

    /// Sets the options of the WebSocket, such as the origins that may connect; its
    /// subprotocol is that of GraphQL in any case. Default: those of the router.
    pub fn web_socket_options(mut self, options: WebSocketOptions) -> Self {
        self.subscriptions.web_socket_options = options;
        self
    }

    /// Sets the function that finds the user by the payload of `connection_init`, such
    /// as a token in it: the page of a browser cannot set headers of a handshake. It
    /// takes an object, or null where the client sent none, and is any function that
    /// [`Auth::bearer`](stockade_middleware::Auth::bearer) takes, with its extractors. A
    /// connection without a user, and one whose function fails with an error below 500,
    /// ends with 4403; any other error is logged, and ends it with 4500. The function is
    /// called again from time to time, and the connection ends with 4401 once it finds no
    /// user. Default: none,
    /// and the user is that of the handshake.
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

    /// Sets the time from the handshake until `connection_init` must have come and be
    /// accepted; then the connection ends with 4408. Default: 10 s.
    pub fn init_timeout(mut self, timeout: Duration) -> Self {
        self.subscriptions.init_timeout = timeout;
        self
    }

    /// Sets the largest number of operations that run at a time on a WebSocket; one
    /// more is refused, and the others go on. Default: 50.
    pub fn max_operations(mut self, operations: usize) -> Self {
        self.subscriptions.max_operations = operations;
        self
    }
}
