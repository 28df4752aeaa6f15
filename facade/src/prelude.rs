//! The names that almost every handler and its tree of routes write.
//!
//! They are 40 at most, and each has its page in its own module. Other names are
//! imported from there: `stockade::middleware::with_timeout`,
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
#[doc(no_inline)]
pub use crate::extract::{Body, ClientIp, Path, Query, State, User};
#[doc(no_inline)]
pub use crate::http::{Method, StatusCode, header};
#[doc(no_inline)]
pub use crate::middleware::rate_limit::MINUTE;
#[doc(no_inline)]
pub use crate::middleware::{Auth, with_auth, with_rate_limit};
#[cfg(feature = "openapi")]
#[doc(no_inline)]
pub use crate::openapi::WithOpenApi;
#[doc(no_inline)]
pub use crate::reply::{Html, Json, Redirect};
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
