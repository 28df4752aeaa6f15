//! The names that almost every application writes.
//!
//! ```
//! use stockade::prelude::*;
//!
//! async fn hello(Path(name): Path<String>) -> Json<serde_json::Value> {
//!     Json(json!({ "hello": name }))
//! }
//!
//! let api = routes! { "hello": { ":name": { GET: hello } } };
//! let app = create_router(api, RouterOptions::new()).build()?;
//! assert_eq!(app.routes().len(), 1);
//! # Ok::<(), stockade::ConfigError>(())
//! ```

pub use bytes::Bytes;
pub use http::{HeaderMap, Method, StatusCode, header};
pub use serde_json::{self, Value, json};
#[cfg(feature = "actix")]
pub use stockade_actix::ToActix;
pub use stockade_auth::{
    KeyRing, Secret, generate_jwt, generate_token, hash_password, verify_password, verify_token,
};
#[cfg(feature = "axum")]
pub use stockade_axum::ToAxum;
#[cfg(feature = "multipart")]
pub use stockade_core::extract::Multipart;
pub use stockade_core::extract::{Body, ClientIp, Headers, Path, Query, State, User};
pub use stockade_core::reply::{
    Event, Html, Json, JsonText, Redirect, ResponseWriter, Sse, Streamed,
};
pub use stockade_core::{Docs, FromRequest, Middleware, Next, Reply, Request, Response};
pub use stockade_errors::{ApiError, BoxError, ConfigError, FieldError};
pub use stockade_macros::{ApiError, Reply, routes};
pub use stockade_middleware::rate_limit::{HOUR, MINUTE, SECOND};
pub use stockade_middleware::{
    Auth, SessionCookie, hash_password_async, verify_password_async, with_auth, with_permission,
    with_role,
};
pub use stockade_middleware::{
    CorsOptions, RateLimit, with_cors, with_cross_origin_protection, with_logging, with_rate_limit,
    with_sanitization, with_timeout,
};
pub use stockade_middleware::{
    DeserializeHelpers, DeserializeRequest, SerializeHelpers, SerializeResponse, with_serialization,
};
pub use stockade_middleware::{
    ErrorHandler, ErrorHandlerOptions, create_api_middleware, create_error_handler,
    with_error_handling,
};
pub use stockade_middleware::{
    InputRule, InputType, with_input_validation, with_params_validation, with_query_validation,
    with_validation,
};
pub use stockade_routing::{
    App, CallOptions, RouteEntry, RouteTree, Router, RouterOptions, create_router,
};
pub use stockade_serialization::SerializationOptions;
#[cfg(feature = "server")]
pub use stockade_server::{CreateServer, ServerOptions};
pub use stockade_validation::{
    HasSchema, Rule, Schema, Unchecked, ValidationOptions, schema, validate_against_schema,
};
pub use stockade_websockets::{Rooms, WebSocket, WebSocketOptions};
