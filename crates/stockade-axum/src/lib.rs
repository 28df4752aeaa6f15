//! The stockade framework inside axum.
//!
//! There are two ways. The whole application as one service answers every
//! request that it gets, with all its stages:
//!
//! ```
//! use stockade::Router;
//! use stockade::axum::ToAxum;
//!
//! let mut api = Router::new();
//! api.get("/users/:id", async || "a user");
//!
//! let app: axum::Router = axum::Router::new()
//!     .route("/", axum::routing::get(async || "the page"))
//!     .nest_service("/api", api.to_axum_service()?);
//! # Ok::<(), stockade::ConfigError>(())
//! ```
//!
//! Or each route becomes a route of an [`axum::Router`], which does the rest:
//!
//! ```
//! use stockade::Router;
//! use stockade::axum::ToAxum;
//!
//! let mut api = Router::new();
//! api.get("/flights/:from-:to", async || "a flight");
//!
//! let app: axum::Router = axum::Router::new()
//!     .route("/", axum::routing::get(async || "the page"))
//!     .merge(api.to_host_router()?);
//! # Ok::<(), stockade::ConfigError>(())
//! ```
//!
//! | | `to_axum_service` | `to_host_router` |
//! |---|---|---|
//! | rate limit, CORS, security headers, preflights | ours | none; the host's layers, or `with_rate_limit` and `with_cors` |
//! | unknown path, wrong method | ours: JSON, `Allow` | axum's; ours where axum's path takes more than our path does, such as `/{from_to}` for `/:from-:to` |
//! | announced body above the limit | 413 at once | 413 when something reads the body |
//! | `max_body_size`, `expose_errors`, `trust_proxy` | apply | apply |
//! | middleware, validation, handlers, WebSockets | the same | the same |
//!
//! Either way a response that answers an error has the `ApiError` in its
//! extensions, where axum's layers find it:
//!
//! ```
//! use axum::response::{IntoResponse, Response};
//! use stockade::ApiError;
//!
//! /// For `axum::middleware::map_response`.
//! async fn in_our_own_words(response: Response) -> Response {
//!     match response.extensions().get::<ApiError>() {
//!         Some(error) => (response.status(), format!("sorry: {error}")).into_response(),
//!         None => response,
//!     }
//! }
//! ```
//!
//! The address of the client is known where axum hands over its `ConnectInfo`:
//! `into_make_service_with_connect_info::<SocketAddr>()`. Without it all clients
//! share one rate limit.
//!
//! The version of axum that this is for is `stockade::axum::axum`.
//!
//! Spec: Use inside a host framework; Router construction and members › toHostRouter.

// Where things are:
// - `service`: `AxumService`, the whole application.
// - `router`: the routes one by one.
// - `connection`: the peer's address and upgrades, from axum's types to ours.

mod connection;
mod router;
mod service;

// The version of axum whose types stand in the interface of this crate.
#[doc(no_inline)]
pub use axum;
pub use connection::AxumResponseFuture;
pub use service::AxumService;
use stockade_errors::ConfigError;
use stockade_routing::{HostRoutes, Router};

/// Puts a router into axum.
///
/// Spec: Use inside a host framework.
pub trait ToAxum: Sized {
    /// Makes a router of axum with the routes, for any state of that router.
    ///
    /// axum finds the path, and answers requests for which there is no route. Our
    /// middleware, validation and handlers run as everywhere, and all forms of
    /// paths mean the same. The rate limit, CORS, the security headers and the
    /// early 413 of our router do not apply; one warning names their options that
    /// were set. A preflight is answered where the route has `with_cors`.
    ///
    /// In [`nest`](axum::Router::nest) the paths begin after axum's prefix, which
    /// `generate_url` does not know.
    ///
    /// axum panics when a route of the same method and path is added twice, ours
    /// or its own.
    ///
    /// # Errors
    /// Every mistake in the routes.
    ///
    /// Spec: Router construction and members › toHostRouter.
    #[doc(alias = "toHostRouter")]
    fn to_host_router<S>(self) -> Result<axum::Router<S>, ConfigError>
    where
        S: Clone + Send + Sync + 'static;

    /// Makes a service of the whole application, for
    /// [`nest_service`](axum::Router::nest_service) and
    /// [`fallback_service`](axum::Router::fallback_service).
    ///
    /// # Errors
    /// Every mistake in the routes.
    ///
    /// Spec: Router construction and members › handle.
    fn to_axum_service(self) -> Result<AxumService, ConfigError>;
}

impl ToAxum for Router {
    fn to_host_router<S>(self) -> Result<axum::Router<S>, ConfigError>
    where
        S: Clone + Send + Sync + 'static,
    {
        Ok(router::of(&HostRoutes::build(self)?))
    }

    fn to_axum_service(self) -> Result<AxumService, ConfigError> {
        self.build().map(AxumService::new)
    }
}
