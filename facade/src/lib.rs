#![doc = include_str!("../README.md")]
//!
//! # From another framework
//!
//! [`coming_from`] has the words of axum, actix-web, Express and Fastify beside
//! ours.
//!
//! # Before it is open to the world
//!
//! [`in_production`] says what to set: addresses, proxies, limits, logs,
//! shutdown, secrets, memory.
//!
//! # Rules over all routes
//!
//! [`guarding`] says how a program checks its own routes: rules that keep it
//! from being built, and the list of who may call what.
//!
//! # Clients
//!
//! [`clients`] says how they are generated: in TypeScript by two generators, and
//! in other languages.
//!
//! # With a database
//!
//! [`databases`] says how: work that blocks, pools, transactions, migrations,
//! tests. It shows parts of a whole backend, `examples/conduit`. Resources keep
//! their items in SQLite and PostgreSQL by the features `sqlite` and `postgres`,
//! whose guide is `databases::sql`.
//!
//! # Many processes
//!
//! `many_processes`, with the feature `redis`, says how rate limits, sessions,
//! revoked tokens and rooms are shared on Valkey or Redis, and what happens when that is
//! gone.
//!
//! # REST resources
//!
//! `rest_resources`, with the feature `rest`, says how the routes of a type over a
//! store are made: who may do what, scopes, hidden fields, versions, lists.
//!
//! # Methods of JSON-RPC
//!
//! [`json_rpc`] says how methods are declared, called and limited, with the feature
//! `rpc`.
//!
//! # Requests that run once
//!
//! `idempotency_keys`, with the feature `idempotency`, says how a client may send a
//! POST again without doing it twice.
//!
//! # Sessions
//!
//! `sessions`, with the feature `sessions`, says how people log in and out, and how
//! their data are kept and changed.
//!
//! # GraphQL
//!
//! `graphql_schemas`, with the feature `graphql`, says how a schema is served: who
//! asks, errors, limits, documents by hash, files.
//!
//! # The specification
//!
//! A line such as "Spec: Errors › Response rules" names a section of the
//! [`specification`], where the behaviour is laid down.
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "actix")]
#[doc(inline)]
pub use stockade_actix as actix;
// Not inlined: the examples on their pages use their own names, for programs
// that do not depend on this crate.
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

// The vocabulary of HTTP, in the version that our types use.
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

/// The specification of the framework: lines of the documentation that begin
/// with "Spec:" name its sections.
///
/// It is written for any language. Its names in `camelCase` are in Rust the
/// same names in `snake_case`: `createRouter` is [`create_router`], `withAuth`
/// is [`with_auth`](crate::middleware::with_auth); the search of this
/// documentation finds both.
///
/// ---
///
#[doc = include_str!("../docs/SPECIFICATION.md")]
pub mod specification {}

pub mod prelude;

/// Crates that expanded macros name. Not part of the public interface.
#[doc(hidden)]
pub mod __private {
    pub use stockade_core as core;
    pub use stockade_errors as errors;
    pub use stockade_routing as routing;
    pub use stockade_validation as validation;
}
