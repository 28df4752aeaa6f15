//! The request that resolvers can access.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use http::{Extensions, HeaderMap};
use serde::de::DeserializeOwned;
use serde_json::Value;
use stockade_core::{ErrorContext, Request, RequestHead};
use stockade_errors::ApiError;

/// The request of an operation. Resolvers get it from their context. Clones
/// share the request.
///
/// ```
/// use stockade::graphql::{GraphQl, RequestContext, async_graphql as gql};
/// use stockade::prelude::*;
/// use stockade::testing::TestClient;
///
/// struct Query;
///
/// #[gql::Object(crate = "gql")]
/// impl Query {
///     async fn me(&self, ctx: &gql::Context<'_>) -> gql::Result<Option<String>> {
///         let caller = ctx.data::<RequestContext>()?;
///         Ok(caller.user().map(|user| user.to_string()))
///     }
/// }
///
/// # #[tokio::main]
/// # async fn main() {
/// let schema = gql::Schema::build(Query, gql::EmptyMutation, gql::EmptySubscription);
/// let api = routes! { "graphql": { ..GraphQl::new(schema).routes() } };
/// let client = TestClient::new(create_router(api, RouterOptions::new()));
/// let answer = client.post("/graphql").json(&json!({ "query": "{ me }" })).await;
/// answer.assert_json(&json!({ "data": { "me": null } }));
/// # }
/// ```
#[derive(Clone)]
pub struct RequestContext {
    head: Arc<RequestHead>,
}

impl RequestContext {
    pub(crate) fn of(req: Request) -> Self {
        Self { head: Arc::new(RequestHead::of(req)) }
    }

    /// Returns the authenticated user, if middleware has found one.
    #[must_use]
    pub fn user(&self) -> Option<&Value> {
        self.head.user()
    }

    /// Deserializes the user into your own type.
    ///
    /// # Errors
    /// Returns a 401 if the request is unauthenticated, or if the user does not
    /// match the type.
    pub fn user_as<T: DeserializeOwned>(&self) -> Result<T, ApiError> {
        self.head.user_as()
    }

    /// Returns the client's address, if the host provides it. Behind trusted
    /// proxies it is the address that the router determined, and otherwise the
    /// peer address.
    #[must_use]
    pub fn ip(&self) -> Option<IpAddr> {
        self.head.client_ip()
    }

    /// Returns the request id used in logs, if there is one.
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        self.head.context().id()
    }

    /// Returns the application state of type `T`.
    ///
    /// # Errors
    /// Returns a 500 if the application does not provide it. This is a bug in
    /// the program.
    pub fn state<T: Send + Sync + 'static>(&self) -> Result<Arc<T>, ApiError> {
        let missing = || {
            let name = std::any::type_name::<T>();
            ApiError::new(
                500,
                format!("a resolver needs the state `{name}`, but it is not provided"),
            )
        };
        self.head.state().ok_or_else(missing)
    }

    /// Returns the headers of the request. For a subscription over a WebSocket,
    /// returns the headers of its handshake.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        self.head.headers()
    }

    /// Returns the values that middleware has added to the request.
    #[must_use]
    pub fn extensions(&self) -> &Extensions {
        self.head.extensions()
    }

    pub(crate) fn context(&self) -> &ErrorContext {
        self.head.context()
    }
}

impl fmt::Debug for RequestContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestContext")
            .field("request_id", &self.request_id())
            .finish_non_exhaustive()
    }
}
