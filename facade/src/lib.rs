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
//! | [`prelude`] | the names that most programs use |
//!
//! The modules of optional features name their feature.
//!
//! # The book
//!
//! [`databases`] explains blocking work, pools, transactions, migrations and
//! tests, with excerpts from a complete backend: `examples/conduit`. The
//! features `sqlite` and `postgres` store REST resources in SQLite and
//! PostgreSQL; for their guide, see `databases::sql`.
//!
//! # Scaling to several processes with Redis
//!
//! `many_processes` (feature `redis`) explains how processes share rate limits,
//! sessions, revoked tokens and rooms in Redis or Valkey, and what happens when
//! it is unavailable.
//!
//! # REST resources
//!
//! `rest_resources` (feature `rest`) explains how to generate the routes for a
//! type with a store: access, scopes, hidden fields, versions, lists.
//!
//! # JSON-RPC
//!
//! [`json_rpc`] (feature `rpc`) explains how to declare, call and limit
//! methods.
//!
//! # Idempotency keys
//!
//! `idempotency_keys` (feature `idempotency`) explains how a client can safely
//! repeat a POST.
//!
//! # Sessions
//!
//! `sessions` (feature `sessions`) explains login and logout, and how to store
//! and change session data.
//!
//! # GraphQL
//!
//! `graphql_schemas` (feature `graphql`) explains how to serve a schema:
//! authentication, errors, limits, persisted documents, files.
//!
//! # The specification
//!
//! The [`specification`] defines the behavior. In the source code, a comment
//! such as `// Spec: Errors › Response rules` names one of its sections.
#![cfg_attr(docsrs, feature(doc_cfg))]

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
pub use stockade_core::{description, extract, reply, upgrade};
#[doc(inline)]
pub use stockade_errors as errors;
#[cfg(feature = "graphql")]
#[doc(inline)]
pub use stockade_graphql as graphql;
#[doc(inline)]
pub use stockade_map::policy;
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

#[doc = include_str!("../docs/coming-from.md")]
pub mod coming_from {
    #[doc = include_str!("../docs/coming-from-actix-web.md")]
    pub mod actix_web {}
    #[doc = include_str!("../docs/coming-from-axum.md")]
    pub mod axum {}
    #[doc = include_str!("../docs/axum-examples.md")]
    pub mod axum_examples {}
    #[doc = include_str!("../docs/coming-from-express.md")]
    pub mod express {}
    #[doc = include_str!("../docs/coming-from-fastify.md")]
    pub mod fastify {}
}

#[doc = include_str!("../docs/clients.md")]
pub mod clients {}

#[doc = include_str!("../docs/databases.md")]
pub mod databases {
    #[cfg(feature = "sql")]
    #[doc = include_str!("../docs/sql.md")]
    pub mod sql {}
}

#[doc = include_str!("../docs/problems.md")]
pub mod problems {}

#[cfg(feature = "i18n")]
#[doc = include_str!("../docs/languages.md")]
pub mod languages {}

#[doc = include_str!("../docs/guarding.md")]
pub mod guarding {
    #[doc = include_str!("../docs/routes-lock.md")]
    pub mod lock {}
}

#[cfg(feature = "redis")]
#[doc = include_str!("../docs/many-processes.md")]
pub mod many_processes {}

#[cfg(feature = "rest")]
#[doc = include_str!("../docs/rest.md")]
pub mod rest_resources {}

#[cfg(feature = "idempotency")]
#[doc = include_str!("../docs/idempotency.md")]
pub mod idempotency_keys {}

#[cfg(feature = "sessions")]
#[doc = include_str!("../docs/sessions.md")]
pub mod sessions {}

#[doc = include_str!("../docs/in-production.md")]
pub mod in_production {}

#[cfg(feature = "graphql")]
#[doc = include_str!("../docs/graphql.md")]
pub mod graphql_schemas {}

#[cfg(feature = "rpc")]
#[doc = include_str!("../docs/rpc.md")]
pub mod json_rpc {}

/// The specification of the framework. Comments in the source code that begin
/// with `Spec:` name its sections.
///
/// It is language-neutral. Its `camelCase` names are the `snake_case` names in
/// Rust: `createRouter` is [`create_router`], `withAuth` is
/// [`with_auth`](crate::middleware::with_auth). You can search this
/// documentation for both.
///
/// ---
///
#[doc = include_str!("../docs/SPECIFICATION.md")]
pub mod specification {}

pub mod prelude;

/// Crates that macro expansions refer to. Not part of the public API.
#[doc(hidden)]
pub mod __private {
    pub use stockade_core as core;
    pub use stockade_errors as errors;
    pub use stockade_routing as routing;
    pub use stockade_validation as validation;
}
