//! The core types of stockade, shared by handlers, middleware and hosts.
//!
//! This crate does not depend on a server, a runtime or a router. A [`Request`]
//! can come from any host, and an [`Endpoint`] handles it.
//!
//! Examples with `TestClient` need the feature `testing` of the crate
//! `stockade`.
#![cfg_attr(docsrs, feature(doc_cfg))]

// Spec: Request object; Handler contract; Middleware contract.

// Modules:
// - `request`, `params`, `peer`, `lazy_user`: `Request` and its parts.
// - `request_head`: a request without its body, which can be shared.
// - `body`: `HttpBody`, the bytes of a message, buffered or streamed.
// - `child`: requests for the parts of a request.
// - `read`, `media`: the request body, read once and parsed by its content
//   type.
// - `accepts`: `Accepts`, the media types that a body may have.
// - `query`, `text`: pairs of text, and typed values from them.
// - `extract`: `FromRequest` and the arguments of handlers.
// - `reply`: `Reply` and the types that handlers may return.
// - `header_map_pool`: reuse of header maps for responses.
// - `handler`: `Handler`, a type-erased `async fn`.
// - `middleware`: `Middleware` in its three forms.
// - `authentication`: the value of the setting `auth`.
// - `challenge`: `Request::unauthorized`, the 401 with the authentication
//   methods of a route.
// - `known_types`: the types of all routes, to validate other descriptions of
//   them.
// - `marked`: read-only and write-only marks, applied to requests and
//   responses.
// - `validation`: `Validation`, the validation of a route before its handler.
// - `endpoint`: one route with everything that runs for it.
// - `error_handler`: `ErrorHandler`, custom error responses.
// - `problem_details`: the option for problem details and their base.
// - `languages`: the languages of error messages; `i18n`: their catalogs.
// - `bug`: the 500 for bugs in stockade itself.
// - `upgrade`: `Upgrade`, connections that leave HTTP.
// - `log_text`: untrusted text in a log.
// - `outgoing`: requests of the program to addresses that users chose.
// - `boxed_or`: parts of a route that rarely differ from their default.
// - `state`: the values that the application provides, by type.
// - `route_description`: `RouteDescription`, the description of a route at
//   build time. Its component types are in `stockade-map`.

mod accepts;
mod authentication;
mod body;
mod body_kind;
mod box_future;
#[doc(hidden)]
pub mod boxed_or;
mod bug;
mod built_in;
mod challenge;
mod child;
#[doc(hidden)]
pub mod client;
mod clock;
#[doc(hidden)]
pub mod completion;
mod completions;
mod endpoint;
#[doc(hidden)]
pub mod endpoint_settings;
mod error_handler;
#[doc(hidden)]
pub mod error_settings;
pub mod extract;
mod handler;
mod handler_inputs;
#[doc(hidden)]
pub mod handler_progress;
mod header_map_pool;
#[doc(hidden)]
pub mod headers;
#[cfg(feature = "i18n")]
pub mod i18n;
mod kept_head;
#[doc(hidden)]
pub mod known_types;
mod languages;
mod lazy_user;
#[doc(hidden)]
pub mod lent_request;
mod limits;
#[doc(hidden)]
pub mod log_text;
#[doc(hidden)]
pub mod login_end;
#[doc(hidden)]
pub mod marked;
mod media;
pub mod middleware;
pub mod outgoing;
#[doc(hidden)]
pub mod page_headers;
mod params;
mod peer;
mod problem_details;
mod query;
mod read;
pub mod reply;
mod request;
mod request_head;
#[doc(hidden)]
pub mod route_context;
mod route_description;
mod setting;
mod state;
#[doc(hidden)]
pub mod type_check;
pub mod upgrade;
mod user_lifetime;
mod validation;

pub use accepts::Accepts;
pub use authentication::{Authentication, IntoAuthentication};
pub use body::{BodyError, HttpBody};
pub use body_kind::BodyKind;
pub use box_future::BoxFuture;
pub(crate) use bug::bug;
pub use clock::Clock;
pub use endpoint::{Endpoint, ErrorContext, error_of};
pub use error_handler::{
    ErrorHandler, ErrorHandlerOptions, ErrorReply, IntoErrorHandler, IntoErrorHandling,
};
pub use extract::FromRequest;
pub use handler::{Arguments, Handler, HandlerFn, HandlerSignature};
pub use languages::Languages;
pub(crate) use log_text::escaped;
pub use middleware::{Control, IntoMiddleware, IntoMiddlewareList, Middleware, Next};
pub(crate) use params::Params;
pub use peer::{LocalPeer, PeerAddr, PeerCredentials};
pub use problem_details::ProblemDetails;
pub use reply::Reply;
pub use request::Request;
pub use request_head::RequestHead;
pub use route_description::RouteDescription;
pub use setting::{IntoSetting, Setting};
pub(crate) use state::States;
pub use stockade_errors::{ApiError, BoxError, ConfigError, ConfigIssue, ErrorKind, FieldError};
#[doc(inline)]
pub use stockade_map::{RouteDocs, Tag, description};
pub use validation::{IntoSchema, Validation};

/// Items for the other crates of stockade, without a promise of stability.
#[doc(hidden)]
pub mod __internal {
    pub use crate::challenge::unauthorized;
    pub use crate::handler_inputs::example_issues;
    pub use crate::header_map_pool::response as pooled_response;
    pub use crate::params::{HostParams, Params};
    pub use crate::read::is_not_json;
    pub use crate::route_description::contradictions;
    pub use crate::state::{LateState, States};
}

/// A response: `http::Response` with stockade's body type.
pub type Response = http::Response<HttpBody>;

#[doc(hidden)]
pub mod download_internals {
    pub use super::reply::download::{SANDBOX, described, disposition, safe_media_type};
}

#[doc(hidden)]
pub mod endpoint_internals {
    pub use super::endpoint::{
        EndpointKind, EndpointParts, Overloaded, RunningHandler, UserAfter, answer_bug, run,
        run_from, user_after,
    };
}

#[doc(hidden)]
pub mod error_handler_internals {
    pub use super::error_handler::{finish_form, keep_form};
}

#[doc(hidden)]
pub mod request_internals {
    pub use super::params::decode as decode_component;
    pub use super::request::UserWatch;
}

#[doc(hidden)]
pub mod setting_internals {
    pub use super::setting::Inherit;
}
