//! The stockade framework inside actix-web.
//!
//! There are two ways. The whole application as the default service of a scope
//! answers every request that it gets, with all its stages:
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
//! Or each route becomes a resource of actix-web, which does the rest:
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
//! | rate limit, CORS, security headers, preflights | ours | none; the host's, or `with_rate_limit` and `with_cors` |
//! | unknown path | ours: JSON | the host's default service |
//! | wrong method | ours: 405 with `Allow` | the same, as an error of actix-web |
//! | an error | a response | an error of actix-web: [`HostError`] |
//! | announced body above the limit | 413 at once | 413 when something reads the body |
//! | `max_body_size`, `expose_errors`, `trust_proxy` | apply | apply |
//! | middleware, validation, handlers, WebSockets | the same | the same |
//!
//! Build either outside of the closure, so that the workers share one rate limit.
//! A body is read from actix-web only when it is asked for, piece by piece, and
//! its limit is ours: `PayloadConfig` has no effect.
//!
//! The version of actix-web that this is for is `stockade::actix::actix_web`.
//!
//! Spec: Use inside a host framework; Router construction and members › toHostRouter.

// Where things are:
// - `service`: `ActixService`, the whole application.
// - `routes`: `ActixRoutes`, the routes one by one.
// - `host_error`: `HostError`, our errors as errors of actix-web.
// - `path`: the raw path below a scope.
// - `request`, `request_body`, `response`: from actix-web's types to ours and
//   back.
// - `upgraded`: an upgraded connection.

mod host_error;
mod path;
mod request;
mod request_body;
mod response;
mod routes;
mod service;
mod upgraded;

// The version of actix-web whose types stand in the interface of this crate.
#[doc(no_inline)]
pub use actix_web;
pub use host_error::HostError;
pub use routes::ActixRoutes;
pub use service::{ActixResponseFuture, ActixService};
use stockade_errors::ConfigError;
use stockade_routing::{HostRoutes, Router};

/// Puts a router into actix-web.
///
/// Spec: Use inside a host framework.
pub trait ToActix: Sized {
    /// Makes the routes, for `service` of an application, a scope or a
    /// `ServiceConfig`.
    ///
    /// actix-web finds the path, and answers requests for which there is no
    /// route. Our middleware, validation and handlers run as everywhere, and all
    /// forms of paths mean the same. The rate limit, CORS, the security headers
    /// and the early 413 of our router do not apply; one warning names their
    /// options that were set. A preflight is answered where the route has
    /// `with_cors`.
    ///
    /// In a scope the paths begin after that of the scope, which `generate_url`
    /// does not know. Register resources that share a path with one of our routes
    /// before these routes: actix-web takes the first that matches.
    ///
    /// # Errors
    /// Every mistake in the routes.
    ///
    /// Spec: Router construction and members › toHostRouter.
    #[doc(alias = "toHostRouter")]
    fn to_actix_routes(self) -> Result<ActixRoutes, ConfigError>;

    /// Makes a service of the whole application, for `default_service` of a scope
    /// or of an application.
    ///
    /// # Errors
    /// Every mistake in the routes.
    ///
    /// Spec: Router construction and members › handle.
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
