//! The stockade framework inside axum.
//!
//! There are two ways. You can use the whole application as one service. It
//! responds to every request that it receives, with all its stages:
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
//! Or each route becomes a route of an [`axum::Router`], and axum handles the
//! rest:
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
//! | rate limit, CORS, security headers, preflights | stockade's | none; the host's layers, or `with_rate_limit` and `with_cors` |
//! | unknown path, wrong method | stockade's: JSON, `Allow` | axum's; stockade's if axum's path matches more than the route's path, such as `/{from_to}` for `/:from-:to` |
//! | announced body above the limit | immediate 413 | 413 when the body is read |
//! | `max_body_size`, `expose_errors`, `trust_proxy` | apply | apply |
//! | middleware, validation, handlers, WebSockets | the same | the same |
//!
//! In both cases the extensions of an error response contain its `ApiError`,
//! which axum layers can read:
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
//! The client address is known if axum provides `ConnectInfo`: use
//! `into_make_service_with_connect_info::<SocketAddr>()`. Otherwise all clients
//! share one rate limit.
//!
//! `stockade::axum::axum` re-exports the supported axum version.
// Spec: Use inside a host framework; Router construction and members › toHostRouter.

// Modules:
// - `service`: `AxumService`, the whole application.
// - `router`: the individual routes.
// - `connection`: converts the peer address and upgrades from axum's types.

mod connection;
mod router;
mod service;

// The axum version in the public API of this crate.
#[doc(no_inline)]
pub use axum;
pub use connection::AxumResponseFuture;
pub use service::AxumService;
use stockade_errors::ConfigError;
use stockade_routing::{HostRoutes, Router};

/// An extension trait that runs a router inside axum.
// Spec: Use inside a host framework.
pub trait ToAxum: Sized {
    /// Creates an axum router with the routes, for any state type.
    ///
    /// axum matches the path, and responds to requests that do not match a
    /// route. Stockade's middleware, validation, handlers and all path syntax
    /// work as usual. The rate limit, CORS, the security headers and the
    /// immediate 413 of the router do not apply; one warning lists these
    /// options if they are set. Preflights get a response if the route has
    /// `with_cors`.
    ///
    /// In [`nest`](axum::Router::nest), paths are relative to axum's prefix,
    /// which `generate_url` does not know.
    ///
    /// axum panics if a route with the same method and path is added twice,
    /// whether from stockade or from axum.
    ///
    /// # Errors
    /// Fails with all configuration errors of the routes.
    // Spec: Router construction and members › toHostRouter.
    #[doc(alias = "toHostRouter")]
    fn to_host_router<S>(self) -> Result<axum::Router<S>, ConfigError>
    where
        S: Clone + Send + Sync + 'static;

    /// Creates a service of the whole application, for
    /// [`nest_service`](axum::Router::nest_service) and
    /// [`fallback_service`](axum::Router::fallback_service).
    ///
    /// # Errors
    /// Fails with all configuration errors of the routes.
    // Spec: Router construction and members › handle.
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
