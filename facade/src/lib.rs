//! A framework for HTTP APIs: routes as one tree, with validation,
//! authentication, OpenAPI documents and security checks derived from it.
//!
//! ```no_run
//! use stockade::prelude::*;
//!
//! #[derive(serde::Deserialize, Schema)]
//! struct NewUser {
//!     #[schema(trim, min_length = 2)]
//!     name: String,
//!     #[schema(kind = "email")]
//!     email: String,
//! }
//!
//! async fn show(Path(id): Path<u64>) -> Value {
//!     json!({ "user": id })
//! }
//!
//! async fn create(Body(user): Body<NewUser>) -> (StatusCode, Value) {
//!     (StatusCode::CREATED, json!({ "created": user.name, "email": user.email }))
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), ServeError> {
//!     let api = routes! {
//!         "users": {
//!             POST: create,
//!             ":id": { GET: { show, name: "users.show" } },
//!         },
//!     };
//!     Router::from(api).listen(3000).await
//! }
//! ```
//!
//! # Where to start
//!
//! | item | content |
//! |---|---|
//! | [`routes!`] | the tree of routes and the options of each route |
//! | [`RouterOptions`] | the options of a router, with their defaults |
//! | [`extract`], [`reply`] | arguments and results of request handlers |
//! | [`validation`] | schemas, and the attributes of `#[derive(Schema)]` |
//! | [`middleware`](mod@middleware) | authentication, rate limits, sessions and other middleware |
//! | [`ApiError`](struct@ApiError), [`errors`] | errors and their responses |
//! | [`policy`] | rules for all routes |
//! | [`outgoing`] | requests to addresses that users chose |
//! | [`prelude`] | the names that most programs use |
//!
//! The modules of optional features name their feature. Examples with
//! `TestClient` need the feature `testing`.
//!
//! # The book
//!
//! This documentation is the reference of all items. [`book`] lists the
//! chapters that explain tasks and concepts.
#![cfg_attr(docsrs, feature(doc_cfg))]
// Features of other crates that this crate always enables.
#![cfg_attr(docsrs, doc(auto_cfg(hide(feature = "derive"))))]
#![cfg_attr(docsrs, doc(auto_cfg(hide(feature = "lock"))))]
#![cfg_attr(docsrs, doc(auto_cfg(hide(feature = "policy"))))]
#![cfg_attr(docsrs, doc(auto_cfg(hide(feature = "write"))))]

#[cfg(feature = "actix")]
#[doc(inline)]
pub use stockade_actix as actix;
// Not inlined: the examples on their pages use the crate's own name, for
// programs that do not depend on this crate.
#[doc(no_inline)]
pub use stockade_auth as auth;
#[cfg(feature = "axum")]
#[doc(inline)]
pub use stockade_axum as axum;
#[cfg(feature = "i18n")]
#[doc(inline)]
pub use stockade_core::i18n;
#[doc(inline)]
pub use stockade_core::{description, extract, outgoing, reply, upgrade};
#[doc(inline)]
pub use stockade_errors as errors;
// Not inlined: rustdoc would also inline all pages of async-graphql.
#[cfg(feature = "graphql")]
#[doc(no_inline)]
pub use stockade_graphql as graphql;
#[doc(inline)]
pub use stockade_map::policy;
#[cfg(feature = "mcp")]
#[doc(inline)]
pub use stockade_mcp as mcp;
#[doc(inline)]
pub use stockade_middleware as middleware;
#[cfg(feature = "openapi")]
#[doc(inline)]
pub use stockade_openapi as openapi;
#[doc(inline)]
pub use stockade_path as path;
#[cfg(feature = "redis")]
#[doc(inline)]
pub use stockade_redis as redis;
#[cfg(feature = "rest")]
#[doc(inline)]
pub use stockade_rest as rest;
#[doc(inline)]
pub use stockade_routing as routing;
#[cfg(feature = "rpc")]
#[doc(inline)]
pub use stockade_rpc as rpc;
#[doc(inline)]
pub use stockade_serialization as serialization;
#[cfg(feature = "server")]
#[doc(inline)]
pub use stockade_server as server;
#[cfg(feature = "sql")]
#[doc(inline)]
pub use stockade_sql as sql;
#[cfg(feature = "testing")]
#[doc(inline)]
pub use stockade_testing as testing;
#[doc(no_inline)]
pub use stockade_validation as validation;
#[doc(inline)]
pub use stockade_websockets as websockets;

// The types of the `http` crate, in the version that the public API uses.
#[doc(no_inline)]
pub use {bytes, http, serde_json};

#[doc(inline)]
pub use stockade_core::{
    Accepts, Authentication, BodyError, BodyKind, BoxFuture, Endpoint, ErrorContext, ErrorHandler,
    ErrorHandlerOptions, ErrorReply, FromRequest, Handler, HttpBody, IntoAuthentication,
    IntoSchema, IntoSetting, Languages, LocalPeer, Middleware, Next, PeerAddr, PeerCredentials,
    ProblemDetails, Reply, Request, RequestHead, Response, RouteDescription, RouteDocs, Setting,
    Tag, Validation, error_of,
};
#[doc(inline)]
pub use stockade_errors::{
    ApiError, BoxError, ConfigError, ConfigIssue, ErrorKind, ErrorText, FieldError,
    InvalidProblemBase, ParamValue, ProblemBase, StoreError,
};
#[doc(inline)]
pub use stockade_macros::{ApiError, middleware, routes};
#[doc(inline)]
pub use stockade_routing::{
    App, Clock, HostOptions, OriginalUri, RouteEntry, RouteTree, Router, RouterOptions,
    TrailingSlash, create_router,
};

pub mod book;
pub mod prelude;

/// Crates that macro expansions refer to. Not part of the public API.
#[doc(hidden)]
pub mod __private {
    pub use stockade_core as core;
    pub use stockade_errors as errors;
    pub use stockade_routing as routing;
    pub use stockade_validation as validation;
}
