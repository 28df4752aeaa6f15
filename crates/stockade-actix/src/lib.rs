//! The stockade framework inside actix-web.
//!
//! There are two ways. You can use the whole application as the default service
//! of a scope. It responds to every request that it receives, with all its
//! stages:
//!
//! ```
//! use actix_web::{App, web};
//! use stockade::Router;
//! use stockade::actix::ToActix;
//!
//! let mut api = Router::new();
//! api.get("/users/:id", async || "a user");
//! let api = api.to_actix_service()?;
//!
//! // In the closure of `HttpServer::new`, which runs for each worker:
//! let app = App::new()
//!     .route("/", web::get().to(async || "the page"))
//!     .service(web::scope("/api").default_service(api.clone()));
//! # Ok::<(), stockade::ConfigError>(())
//! ```
//!
//! Or each route becomes an actix-web resource, and actix-web handles the rest:
//!
//! ```
//! use actix_web::{App, web};
//! use stockade::Router;
//! use stockade::actix::ToActix;
//!
//! let mut api = Router::new();
//! api.get("/flights/:from-:to", async || "a flight");
//! let api = api.to_actix_routes()?;
//!
//! let app = App::new()
//!     .route("/", web::get().to(async || "the page"))
//!     .service(web::scope("/api").service(api.clone()));
//! # Ok::<(), stockade::ConfigError>(())
//! ```
//!
//! | | `to_actix_service` | `to_actix_routes` |
//! |---|---|---|
//! | rate limit, CORS, security headers, preflights | stockade's | none; the host's, or `with_rate_limit` and `with_cors` |
//! | unknown path | stockade's: JSON | the host's default service |
//! | wrong method | stockade's: 405 with `Allow` | the same, as an actix-web error |
//! | an error | a response | an actix-web error: [`HostError`] |
//! | announced body above the limit | immediate 413 | 413 when the body is read |
//! | `max_body_size`, `expose_errors`, `trust_proxy` | apply | apply |
//! | middleware, validation, handlers, WebSockets | the same | the same |
//!
//! Build the service or the routes outside the closure, so that the workers
//! share one rate limit. A body is read from actix-web on demand, one chunk at
//! a time. Stockade's limit applies: `PayloadConfig` has no effect.
//!
//! `stockade::actix::actix_web` re-exports the supported actix-web version.
// Spec: Use inside a host framework; Router construction and members › toHostRouter.

// Modules:
// - `service`: `ActixService`, the whole application.
// - `routes`: `ActixRoutes`, the individual routes.
// - `host_error`: `HostError`, stockade errors as actix-web errors.
// - `path`: the raw path below a scope.
// - `request`, `request_body`, `response`: conversions between the types of
//   actix-web and stockade.
// - `upgraded`: an upgraded connection.

mod host_error;
mod path;
mod request;
mod request_body;
mod response;
mod routes;
mod service;
mod upgraded;

// The actix-web version in the public API of this crate.
#[doc(no_inline)]
pub use actix_web;
pub use host_error::HostError;
pub use routes::ActixRoutes;
pub use service::{ActixResponseFuture, ActixService};
use stockade_errors::ConfigError;
use stockade_routing::{HostRoutes, Router};

/// An extension trait that runs a router inside actix-web.
// Spec: Use inside a host framework.
pub trait ToActix: Sized {
    /// Creates the routes for `service` of an application, a scope or a
    /// `ServiceConfig`.
    ///
    /// actix-web matches the path, and responds to requests that do not match a
    /// route. Stockade's middleware, validation, handlers and all path syntax
    /// work as usual. The rate limit, CORS, the security headers and the
    /// immediate 413 of the router do not apply; one warning lists these
    /// options if they are set. Preflights get a response if the route has
    /// `with_cors`.
    ///
    /// In a scope, paths are relative to the scope, which `generate_url` does
    /// not know. If a resource shares a path with one of these routes, register
    /// it first, because actix-web uses the first match.
    ///
    /// # Errors
    /// Fails with all configuration errors of the routes.
    // Spec: Router construction and members › toHostRouter.
    #[doc(alias = "toHostRouter")]
    fn to_actix_routes(self) -> Result<ActixRoutes, ConfigError>;

    /// Creates a service of the whole application, for `default_service` of a
    /// scope or an application.
    ///
    /// # Errors
    /// Fails with all configuration errors of the routes.
    // Spec: Router construction and members › handle.
    fn to_actix_service(self) -> Result<ActixService, ConfigError>;
}

impl ToActix for Router {
    fn to_actix_routes(self) -> Result<ActixRoutes, ConfigError> {
        HostRoutes::build(self).map(ActixRoutes::new)
    }

    fn to_actix_service(self) -> Result<ActixService, ConfigError> {
        self.build().map(ActixService::new)
    }
}
