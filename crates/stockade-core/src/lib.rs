//! The vocabulary of stockade: what handlers, middleware and hosts have in
//! common.
//!
//! Nothing here knows a server, a runtime or a router: a [`Request`] comes from
//! anywhere, an [`Endpoint`] answers it.
//!
//! # Where things are
//!
//! - `request`, `read`, `params`, `query`: [`Request`] and its parts, the body
//!   read once.
//! - `extract`: [`FromRequest`] and the arguments of handlers.
//! - `reply`: [`Reply`] and what handlers may return.
//! - `handler`: [`Handler`], the erasure of an `async fn`.
//! - `middleware`: [`Middleware`] in its three forms.
//! - `endpoint`: one route with everything that runs for it.
//! - `doc`: [`RouteDoc`], what a route says of itself when it is built.
//!
//! Spec: Request object; Handler contract; Middleware contract.

mod body;
mod doc;
mod endpoint;
pub mod extract;
mod handler;
mod media;
pub mod middleware;
mod params;
mod peer;
mod query;
mod read;
pub mod reply;
mod request;
mod state;
mod text;
mod validation;

pub use body::{BodyError, HttpBody};
pub use doc::{BodyKind, ParamShape, RouteDoc};
pub use endpoint::{Endpoint, ErrorContext, Running, Settings, error_of, run};
pub use extract::FromRequest;
pub use handler::{BoxFuture, Handler, Shape, Signature};
pub use middleware::{Flow, IntoMiddleware, IntoMiddlewareList, Middleware, Next};
pub use params::Params;
pub use peer::PeerAddr;
pub use reply::Reply;
pub use request::Request;
pub use state::States;
pub use stockade_errors::{ApiError, BoxError, ConfigError, FieldError, Mistake};
pub use validation::{Validated, Validation};

/// A response: that of the `http` crate, with our body.
pub type Response = http::Response<HttpBody>;
