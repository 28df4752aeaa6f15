//! The names that almost every handler and its tree of routes write.
//!
//! They are 40 at most; what is used now and then is imported from its module,
//! such as `stockade::middleware::with_timeout` or `stockade::auth::KeyRing`.
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

pub use bytes::Bytes;
pub use http::{Method, StatusCode, header};
pub use serde_json::{Value, json};
pub use stockade_auth::Secret;
pub use stockade_core::extract::{Body, ClientIp, Path, Query, State, User};
pub use stockade_core::reply::{Event, Html, Json, Redirect, Sse};
pub use stockade_core::{Middleware, Next, Reply, Request, Response};
pub use stockade_errors::{ApiError, BoxError, ConfigError};
pub use stockade_macros::{ApiError, Reply, routes};
pub use stockade_middleware::rate_limit::MINUTE;
pub use stockade_middleware::{Auth, with_auth, with_rate_limit};
pub use stockade_routing::{App, RouteTree, Router, RouterOptions, create_router};
#[cfg(feature = "server")]
pub use stockade_server::CreateServer;
pub use stockade_validation::{Schema, schema};
pub use stockade_websockets::WebSocket;
