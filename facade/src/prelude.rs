//! The names that almost every handler and route tree uses.
//!
//! There are at most 40, and each is documented in its own module. Import other
//! names from their modules: `stockade::middleware::with_timeout`,
//! `stockade::auth::KeyRing`.
//!
//! ```
//! use stockade::prelude::*;
//!
//! async fn hello(Path(name): Path<String>) -> Json<Value> {
//!     Json(json!({ "hello": name }))
//! }
//!
//! let api = routes! { "hello": { ":name": { GET: hello } } };
//! let app = create_router(api, RouterOptions::new()).build()?;
//! assert_eq!(app.routes().len(), 1);
//! # Ok::<(), ConfigError>(())
//! ```

#[doc(no_inline)]
pub use crate::auth::Secret;
#[doc(no_inline)]
pub use crate::bytes::Bytes;
#[cfg(feature = "multipart")]
#[doc(no_inline)]
pub use crate::extract::Multipart;
#[doc(no_inline)]
pub use crate::extract::{Body, Path, Query, State, User};
#[doc(no_inline)]
pub use crate::http::{Method, StatusCode, header};
#[doc(no_inline)]
pub use crate::middleware::rate_limit::MINUTE;
#[doc(no_inline)]
pub use crate::middleware::{Auth, RateLimit, with_auth};
#[cfg(feature = "openapi")]
#[doc(no_inline)]
pub use crate::openapi::WithOpenApi;
#[doc(no_inline)]
pub use crate::reply::{Html, Json};
#[doc(no_inline)]
pub use crate::serde_json::{Value, json};
#[cfg(feature = "server")]
#[doc(no_inline)]
pub use crate::server::{CreateServer, ServeError};
#[doc(no_inline)]
pub use crate::validation::{Schema, schema};
#[doc(no_inline)]
pub use crate::websockets::WebSocket;
#[doc(no_inline)]
pub use crate::{
    ApiError, App, BoxError, ConfigError, Middleware, Next, Reply, Request, Response, RouteTree,
    Router, RouterOptions, create_router, routes,
};
