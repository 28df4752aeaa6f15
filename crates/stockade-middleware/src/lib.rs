//! Middleware that runs before, around or instead of a request handler
//! ([`Middleware`]), the helpers that the specification names, and the built-in
//! stages of a router from the crate `stockade-stages`.
//!
//! Examples with `TestClient` need the feature `testing` of the crate
//! `stockade`.
//!
//! # Forms
//!
//! There are three forms, which differ in their signature:
//!
//! | form | signature | allocations a request |
//! |---|---|--:|
//! | synchronous | `fn(&mut Request) -> impl IntoControl` | 0 |
//! | style A | `async fn(…, &mut Request) -> impl IntoControl` | 1 |
//! | style B | `async fn(…, Request, Next) -> impl IntoMiddlewareResponse` | 1 |
//!
//! The first two run before the handler: nothing (or `None`) continues, a value
//! is the response and skips the rest, and an error becomes an error response.
//! Style B decides if and when the rest runs, and sees its response.
//!
//! Closures of the asynchronous forms may capture values. Each request gets a
//! clone, which may move the captured values into its future: `async move |req:
//! Request, next: Next| …`.
//!
//! ```
//! use stockade::{ApiError, Middleware, Next, Request, Response};
//!
//! fn only_json(req: &mut Request) -> Result<(), ApiError> {
//!     match req.headers().contains_key("accept") {
//!         true => Ok(()),
//!         false => Err(ApiError::new(406, "say what you accept")),
//!     }
//! }
//!
//! async fn tag(req: Request, next: Next) -> Response {
//!     let mut response = next.run(req).await;
//!     response.headers_mut().insert("x-tag", "seen".parse().expect("a header value"));
//!     response
//! }
//!
//! let list = [Middleware::new(only_json), Middleware::new(tag)];
//! assert!(list[1].name().ends_with("tag"));
//! ```
//!
//! # Extractors
//!
//! The asynchronous forms accept up to eight extractors at `…`, like a request
//! handler. They are extracted before the function is called, and their errors
//! become the response. Their requirements are checked when the router is
//! built: a [`State`](stockade_core::extract::State) that the application does
//! not provide is a configuration error. Arguments that would take the request,
//! the body stream or the response from the handler are configuration errors
//! too.
//!
//! ```
//! use stockade::extract::State;
//! use stockade::{ApiError, Middleware, Next, Request, Response};
//!
//! struct Visits(std::sync::atomic::AtomicU64);
//! struct Closed(bool);
//!
//! async fn count(State(visits): State<Visits>, req: Request, next: Next) -> Response {
//!     visits.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
//!     next.run(req).await
//! }
//!
//! async fn open(closed: State<Closed>, _req: &mut Request) -> Result<(), ApiError> {
//!     if closed.0.0 { Err(ApiError::new(503, "closed for today")) } else { Ok(()) }
//! }
//!
//! let list = [Middleware::new(count), Middleware::new(open)];
//! assert!(list[1].name().ends_with("open"));
//! ```
//!
//! # Descriptions
//!
//! The route map and the API documents list the possible responses to a
//! request. Each helper describes itself: its responses, the headers that it
//! reads and adds, its users, limits and schemas. Your own middleware is
//! opaque, because it may respond with anything, until you describe it. The
//! attribute `#[stockade::middleware]` documents the errors of a function at
//! its definition. Use the name of the function in lists:
//!
//! ```
//! use stockade::{ApiError, Request, Router};
//!
//! #[stockade::middleware(may_respond(402, "No credit"))]
//! fn has_credit(req: &mut Request) -> Result<(), ApiError> {
//!     match req.headers().contains_key("x-credit") {
//!         true => Ok(()),
//!         false => Err(ApiError::new(402, "No credit")),
//!     }
//! }
//!
//! let mut router = Router::new();
//! router.get("/reports", async || "a report").middleware(has_credit);
//! let map = router.build()?.route_map();
//! assert!(map.routes[0].answers.iter().any(|it| it.status == 402 && it.meaning == "No credit"));
//! # Ok::<(), stockade::ConfigError>(())
//! ```
//!
//! [`Middleware::describing`] also describes headers and everything else:
//!
//! ```
//! use stockade::description::{HeaderDoc, ResponseDoc};
//! use stockade::{ApiError, Middleware, Request, Router};
//!
//! fn has_credit(req: &mut Request) -> Result<(), ApiError> {
//!     match req.headers().contains_key("x-credit") {
//!         true => Ok(()),
//!         false => Err(ApiError::new(402, "No credit").with_header("x-price", "5")),
//!     }
//! }
//!
//! let paid = Middleware::new(has_credit).named("has_credit").describing(|doc| {
//!     doc.reads_header("X-Credit", true);
//!     let price = HeaderDoc::new("X-Price", "The price of the request");
//!     doc.responds(ResponseDoc::error(402).meaning("No credit").header(price));
//! });
//!
//! let mut router = Router::new();
//! router.use_(paid);
//! router.get("/reports", async || "a report");
//! assert!(router.build().is_ok());
//! ```
//!
//! Middleware that authenticates users declares it with
//! [`finds_user`](stockade_core::RouteDescription::finds_user), and the headers
//! that it adds to inner responses with
//! [`adds_header`](stockade_core::RouteDescription::adds_header). A description
//! is not compared with the behavior of the function. Write a test that sends a
//! request for each described response.
//!
//! # Helpers
//!
//! | helper | effect |
//! |---|---|
//! | [`with_auth`] | authenticates the user |
//! | [`with_role`], [`with_permission`] | allow only some users; [`named`] names a permission |
//! | [`with_validation`] | validates the body with a schema |
//! | [`with_query_validation`] | validates the query with a schema |
//! | [`with_params_validation`] | validates the path parameters with a schema |
//! | [`with_input_validation`] | simple checks of body fields |
//! | [`with_sanitization`] | escapes HTML in body, query and parameters |
//! | [`with_serialization`] | helpers for dates, maps and sets |
//! | [`with_rate_limit`] | limits the request rate of a route |
//! | [`with_timeout`] | limits the time of a route |
//! | [`with_concurrency_limit`] | limits the requests in flight |
//! | [`with_body_hooks`] | shows bodies to the program, for example to log them |
//! | [`with_cors`] | CORS rules of a route |
//! | [`with_cross_origin_protection`] | protects against cross-site request forgery (CSRF) |
//! | [`with_logging`] | logs requests and responses |
//! | [`layered`] | converts a tower layer into middleware |
//! | [`create_error_handler`], [`with_error_handling`] | custom error responses |
//! | [`create_api_middleware`] | creates middleware from a style B function |
//! | [`health`] | health check handlers |
//! | [`with_request_id`] | assigns request ids |
//! | `with_etag` (feature `conditional`) | responds with 304 if the client has the current state |
//! | `with_idempotency` (feature `idempotency`) | runs a request with a key once and answers retries from the record |
//! | `with_compression`, `with_decompression` (feature `compression`) | compresses responses, decompresses requests |
//! | `with_metrics` (feature `metrics`) | counts requests for Prometheus |
//! | `with_tracing` (feature `tracing`) | creates a span for each request |
//!
//! | argument or part of a response | meaning |
//! |---|---|
//! | `Cookies`, `SetCookie` (feature `cookies`) | cookies of a request, and of a response |
//! | `FileRequest` (feature `files`) | opens a file with the range and conditions of a request |
//! | `IdempotencyKey` (feature `idempotency`) | the client's key for retries of a request |
//! | `WithETag` (feature `conditional`) | a response with its version, for 304 |
//! | `IfMatch` (feature `conditional`) | the version that a client wants to change, else 428 or 412 |
//! | `Preconditions` (feature `conditional`) | the conditions for a change by the handler |
//! | `Session`, `SetSession` (feature `sessions`) | the session of a request, and the cookie that begins or ends one |
//! | [`Signed`] | the body of a webhook, after its signature was verified |
//! | [`RequestId`], [`TraceContext`] | the id of a request, and its trace |
#![cfg_attr(docsrs, feature(doc_cfg))]

// Spec: Middleware helpers; Response headers; Limits.

mod accept_encoding;
mod api_middleware;
pub mod auth;
mod body_hooks;
#[cfg(feature = "compression")]
pub mod compression;
#[cfg(feature = "conditional")]
pub mod conditional;
#[cfg(feature = "cookies")]
pub mod cookies;
mod cross_origin_protection;
mod described;
#[cfg(any(feature = "idempotency", feature = "sessions"))]
mod expiring_table;
#[cfg(any(feature = "idempotency", feature = "sessions"))]
mod expiry;
#[cfg(feature = "files")]
pub mod files;
#[cfg(any(feature = "idempotency", feature = "sessions"))]
mod hashed;
#[cfg(feature = "compression")]
mod headers;
#[cfg(feature = "idempotency")]
pub mod idempotency;
mod input_validation;
mod layered;
mod sanitization;
mod serialization;
#[cfg(feature = "sessions")]
pub mod sessions;
mod signed;
#[cfg(any(feature = "idempotency", feature = "sessions"))]
mod store_fault;
mod validation;

pub use api_middleware::create_api_middleware;
pub use auth::{
    Auth, CurrentSession, IntoAuth, IntoDecision, IntoRoles, IntoUser, Lookup, NamedPermission,
    Permission, SameSite, SessionCookie, UserKey, WholeRequest, hash_password_async,
    hash_password_with_async, named, verify_password_async, with_auth, with_permission, with_role,
};
pub use body_hooks::{BodyHooks, BodyPiece, with_body_hooks};
#[cfg(feature = "compression")]
pub use compression::{Coding, Compression, Decompression, with_compression, with_decompression};
#[cfg(feature = "conditional")]
pub use conditional::{
    ETag, EntityTags, IfMatch, IntoETag, Outcome, Preconditions, Validators, WithETag, with_etag,
};
#[cfg(feature = "cookies")]
pub use cookies::{CookieError, Cookies, SetCookie};
pub use cross_origin_protection::{CrossOriginProtection, with_cross_origin_protection};
#[cfg(feature = "files")]
pub use files::{FileReply, FileRequest};
#[cfg(feature = "idempotency")]
pub use idempotency::{Idempotency, IdempotencyKey, with_idempotency};
pub use input_validation::{
    InputRule, InputRules, InputType, IntoInputRules, with_input_validation,
};
pub use layered::{InnerFuture, InnerService, layered};
pub use sanitization::with_sanitization;
pub use serialization::{
    DeserializeHelpers, DeserializeRequest, SerializeHelpers, SerializeResponse, with_serialization,
};
#[cfg(feature = "sessions")]
pub use sessions::{Session, Sessions, SetSession};
pub use signed::Signed;
#[doc(inline)]
pub use stockade_core::middleware::*;
#[doc(inline)]
pub use stockade_core::{
    ErrorHandler, ErrorHandlerOptions, ErrorReply, IntoErrorHandler, IntoErrorHandling,
};
#[doc(inline)]
pub use stockade_stages::*;
pub use validation::{SchemaCheck, with_params_validation, with_query_validation, with_validation};

/// Items for the other stockade crates, without a stability guarantee.
#[doc(hidden)]
pub mod __internal {
    pub use crate::accept_encoding::refuses_gzip;
    pub use crate::auth::{ValueLookup, no_user};
    pub use crate::input_validation::form;
}
