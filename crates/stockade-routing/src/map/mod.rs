//! [`RouteMap`]: the description of all routes of a built application.
//!
//! It is computed on demand. Requests do not pay for it.
//!
//! ```
//! use stockade::prelude::*;
//!
//! let api = routes! {
//!     "users": { ":id": { GET: { async |Path(id): Path<u64>| id.to_string(), name: "users.show" } } },
//! };
//! let map = create_router(api, RouterOptions::new()).build()?.route_map();
//! let route = &map.routes[0];
//! assert_eq!((route.method.as_str(), route.path.as_str()), ("GET", "/users/:id"));
//! assert_eq!(route.templates, ["/users/{id}"]);
//! assert!(route.answers.iter().any(|answer| answer.status == "400"));
//! # Ok::<(), ConfigError>(())
//! ```

use crate::app::App;

mod answers;
#[doc(hidden)]
pub mod asked_route;
mod build;
mod explain;
#[doc(hidden)]
pub mod failed_route;
mod inspect;
#[doc(hidden)]
pub mod own_middleware;
#[doc(hidden)]
pub mod path;
pub(crate) mod schemas;

pub(crate) use build::map_of;
pub(crate) use explain::explain;
#[doc(hidden)]
pub use explain::steps_of;
pub use explain::{ExplainError, Explanation, Miss, Step, StepKind};
pub(crate) use inspect::Inspector;
pub use stockade_map::{
    BodyDoc, BodyInfo, ContentInfo, CookieInfo, CorsInfo, CrossOriginInfo, FieldInfo, GraphQlInfo,
    HeaderDoc, HostInfo, IdempotencyInfo, Limits, MethodInfo, MethodKind, MiddlewareInfo,
    MiddlewareLevel, Need, ParamInfo, PasswordInfo, Place, QuotaInfo, ResponseInfo,
    RevocationCheck, RouteAccess, RouteInfo, RouteKind, RouteMap, RouterInfo, SchemeInfo,
    SessionInfo, StatusDoc, TokenInfo, WebSocketInfo,
};

impl App {
    /// Returns the map of all routes. Each call computes it again, which takes
    /// about 2 ms for 100 routes.
    #[must_use]
    pub fn route_map(&self) -> RouteMap {
        map_of(&self.resolved, false)
    }

    /// Explains a request such as `POST /users/7`: its route with everything
    /// that runs before the handler, or the routes that nearly match. `WS
    /// /chat` is a WebSocket, and `TOOL orders_cancel {"id": 7}` the call of a
    /// tool.
    ///
    /// It uses the lookup for real requests, but does not run a handler or
    /// middleware.
    ///
    /// ```
    /// use stockade::prelude::*;
    ///
    /// let api = routes! { "users": { GET: async || "all", POST: async || "new" } };
    /// let app = create_router(api, RouterOptions::new()).build()?;
    /// let found = app.explain("GET /users").map_err(|error| error.to_string()).unwrap();
    /// assert_eq!(found.route.as_ref().map(|route| route.path.as_str()), Some("/users"));
    ///
    /// let missed = app.explain("DELETE /users").map_err(|error| error.to_string()).unwrap();
    /// assert_eq!((missed.status, missed.misses[0].method.as_str()), (Some(405), "GET"));
    /// # Ok::<(), ConfigError>(())
    /// ```
    ///
    /// Its text is for readers. A program that prints it from the command line
    /// builds its `App` as usual, without a listener or a database connection:
    ///
    /// ```no_run
    /// use stockade::prelude::*;
    ///
    /// fn router() -> Router {
    ///     create_router(routes! { "users": { GET: async || "all" } }, RouterOptions::new())
    /// }
    ///
    /// #[tokio::main]
    /// async fn main() -> Result<(), BoxError> {
    ///     let words: Vec<String> = std::env::args().skip(1).collect();
    ///     match words.as_slice() {
    ///         // `my-program explain DELETE /users`
    ///         [word, line @ ..] if word == "explain" => {
    ///             print!("{}", router().build()?.explain(&line.join(" "))?);
    ///         }
    ///         _ => router().listen(3000).await?,
    ///     }
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// Fails if the line is not a method and a path.
    pub fn explain(&self, line: &str) -> Result<Explanation, ExplainError> {
        explain(&self.resolved, line)
    }
}
