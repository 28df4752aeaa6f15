//! [`RouteMap`]: everything that a built application knows about its routes.
//!
//! It is computed when it is asked for; a request costs nothing for it.
//!
//! ```
//! use stockade::prelude::*;
//!
//! let api = routes! {
//!     "users": { ":id": { GET: { handler: async |Path(id): Path<u64>| id.to_string(), name: "users.show" } } },
//! };
//! let map = create_router(api, RouterOptions::new()).build()?.route_map();
//! let route = &map.routes[0];
//! assert_eq!((route.method.as_str(), route.path.as_str()), ("GET", "/users/:id"));
//! assert_eq!(route.templates, ["/users/{id}"]);
//! assert!(route.answers.iter().any(|answer| answer.status == "400"));
//! # Ok::<(), ConfigError>(())
//! ```

mod answers;
pub(crate) mod asked_route;
mod build;
mod explain;
mod inspect;
pub(crate) mod path;
pub(crate) mod schemas;

pub(crate) use build::map_of;
pub(crate) use explain::explain;
pub use explain::{ExplainError, Explanation, Miss, Step, StepKind};
pub(crate) use inspect::Inspector;
pub use stockade_map::{
    Access, BodyDoc, BodyInfo, ContentInfo, CorsInfo, FieldInfo, GraphQlInfo, HeaderDoc,
    IdempotencyInfo, Limits, MiddlewareInfo, MiddlewareLevel, Need, ParamInfo, Place, QuotaInfo,
    ResponseInfo, RouteInfo, RouteKind, RouteMap, RouterInfo, SchemeInfo, StatusDoc, WebSocketInfo,
};
