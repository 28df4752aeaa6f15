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
pub use bytes::Bytes;
#[doc(no_inline)]
pub use http::{Method, StatusCode, header};
#[doc(no_inline)]
pub use serde_json::{Value, json};
#[doc(no_inline)]
pub use stockade_auth::Secret;
#[doc(no_inline)]
pub use stockade_core::extract::{Body, ClientIp, Path, Query, State, User};
#[doc(no_inline)]
pub use stockade_core::reply::{Event, Html, Json, Redirect, Sse};
#[doc(no_inline)]
pub use stockade_core::{Middleware, Next, Reply, Request, Response};
#[doc(no_inline)]
pub use stockade_errors::{ApiError, BoxError, ConfigError};
#[doc(no_inline)]
pub use stockade_macros::{ApiError, Reply, routes};
#[doc(no_inline)]
pub use stockade_middleware::rate_limit::MINUTE;
#[doc(no_inline)]
pub use stockade_middleware::{Auth, with_auth, with_rate_limit};
#[doc(no_inline)]
pub use stockade_routing::{App, RouteTree, Router, RouterOptions, create_router};
#[cfg(feature = "server")]
#[doc(no_inline)]
pub use stockade_server::CreateServer;
#[doc(no_inline)]
pub use stockade_validation::{Schema, schema};
#[doc(no_inline)]
pub use stockade_websockets::WebSocket;
