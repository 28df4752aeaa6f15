//! The stockade framework inside actix-web.
//!
//! There are two ways in. The whole application as the default service of a
//! scope answers every request that it is given, with all its stages:
//!
//! ```
//! use actix_web::{App, web};
//! use stockade_actix::ToActix;
//! use stockade_routing::Router;
//!
//! let mut api = Router::new();
//! api.get("/users/:id", async || "a user");
//! let api = api.to_actix_service()?;
//!
//! // In the closure of `HttpServer::new`, which runs for each worker:
//! let app = App::new()
//!     .route("/", web::get().to(async || "the page"))
//!     .service(web::scope("/api").default_service(api.clone()));
//! # Ok::<(), stockade_errors::ConfigError>(())
//! ```
//!
//! Or each route becomes one of actix-web, which does the rest:
//!
//! ```
//! use actix_web::{App, web};
//! use stockade_actix::ToActix;
//! use stockade_routing::Router;
//!
//! let mut api = Router::new();
//! api.get("/flights/:from-:to", async || "a flight");
//! let api = api.to_actix_routes()?;
//!
//! let app = App::new()
//!     .route("/", web::get().to(async || "the page"))
//!     .service(web::scope("/api").service(api.clone()));
//! # Ok::<(), stockade_errors::ConfigError>(())
//! ```
//!
//! | | `to_actix_service` | `to_actix_routes` |
//! |---|---|---|
//! | rate limit, CORS, security headers, preflights | ours | none; the host's, or `with_rate_limit` and `with_cors` |
//! | unknown path | ours: JSON | the host's default service |
//! | wrong method | ours: 405 with `Allow` | the same, as an error of actix-web |
//! | an error | a response | an error of actix-web: [`HostError`] |
//! | announced body above the limit | 413 at once | 413 when something reads the body |
//! | `max_body_size`, `expose_errors`, `trust_proxy` | apply | apply |
//! | middleware, validation, handlers, WebSockets | the same | the same |
//!
//! Build both outside of the closure, so that the workers share one rate limit.
//! A body is read from actix-web when something asks for it, piece by piece,
//! and counted on the way; `PayloadConfig` has no part in it.
//!
//! # Where things are
//!
//! - `service`: [`ActixService`], the whole application.
//! - `routes`: [`ActixRoutes`], the routes one by one.
//! - `host_error`: [`HostError`], our errors as errors of actix-web.
//! - `path`: the raw path below a scope.
//! - `request`, `request_body`, `response`: from actix-web's types to ours and
//!   back.
//! - `upgraded`: a connection that leaves HTTP.
//!
//! Spec: Use inside a host framework; Router members › toHostRouter.

mod host_error;
mod path;
mod request;
mod request_body;
mod response;
mod routes;
mod service;
mod upgraded;

// In the version whose types our interface has.
#[doc(no_inline)]
pub use actix_web;
pub use host_error::HostError;
pub use routes::ActixRoutes;
pub use service::{ActixService, ResponseFuture};
use stockade_errors::ConfigError;
use stockade_routing::{HostRoutes, Router};

/// Puts a router into actix-web.
///
/// Spec: Use inside a host framework.
pub trait ToActix: Sized {
    /// The routes, for `service` of an application, a scope or a
    /// `ServiceConfig`.
    ///
    /// actix-web finds the path, and answers what no route has; our middleware,
    /// validation and handlers run as everywhere, and all forms of paths mean
    /// the same. Neither the rate limit nor CORS, the security headers or the
    /// early 413 of our router apply; where options of them were set, one
    /// warning names those. A preflight is answered where the route has
    /// `with_cors`.
    ///
    /// In a scope the paths begin after the scope's, and `generate_url` does not
    /// know that. What shares a path with one of our routes is registered before
    /// them: actix-web takes the first that matches.
    ///
    /// # Errors
    /// Every mistake in the routes.
    ///
    /// Spec: Router members › toHostRouter.
    #[doc(alias = "toHostRouter")]
    fn to_actix_routes(self) -> Result<ActixRoutes, ConfigError>;

    /// The whole application as a service, for `default_service` of a scope or
    /// of an application.
    ///
    /// # Errors
    /// Every mistake in the routes.
    ///
    /// Spec: Router members › handle.
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
