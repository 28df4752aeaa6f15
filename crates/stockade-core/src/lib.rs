//! The vocabulary of stockade: the types that handlers, middleware and hosts
//! share.
//!
//! Nothing here knows a server, a runtime or a router: a [`Request`] comes from
//! anywhere, an [`Endpoint`] answers it.
//!
//! Spec: Request object; Handler contract; Middleware contract.

// Where things are:
// - `request`, `params`, `peer`, `lazy_user`: `Request` and its parts.
// - `request_head`: a request without its body, for those who share it.
// - `body`: `HttpBody`, the bytes of a message, whole or as they come.
// - `child`: requests for the parts of a request.
// - `read`, `media`: a request's body, read once and parsed by its content
//   type.
// - `accepts`: `Accepts`, the types that a body may have.
// - `query`, `text`: pairs of text, and typed values from them.
// - `extract`: `FromRequest` and the arguments of handlers.
// - `reply`: `Reply` and the types that handlers may return.
// - `header_map_pool`: the header map of one request for the response of the next.
// - `handler`: `Handler`, the erasure of an `async fn`.
// - `middleware`: `Middleware` in its three forms.
// - `authentication`: the value of the setting `auth`.
// - `challenge`: `Request::unauthorized`, the 401 with the ways of a route.
// - `known_types`: the types of all routes, for checks of other descriptions of them.
// - `marked`: the marks of the types of a route, applied to its requests and responses.
// - `validation`: `Validation`, the checks of a route before its handler.
// - `endpoint`: one route with everything that runs for it.
// - `error_handler`: `ErrorHandler`, the answers to errors that an
//   application chooses.
// - `problem_details`: the option for problem details and their base.
// - `languages`: the languages of error messages; `i18n`: their catalogs.
// - `bug`: the 500 where stockade itself is wrong.
// - `upgrade`: `Upgrade`, how a connection leaves HTTP.
// - `log_text`: texts from outside in a log.
// - `boxed_or`: parts of a route that have their default in most routes.
// - `state`: the values that the application provides, by type.
// - `route_description`: `RouteDescription`, the description of a route while the
//   router is built. The types that it consists of are in `stockade-map`.

mod accepts;
mod authentication;
mod body;
mod body_kind;
mod box_future;
#[doc(hidden)]
pub mod boxed_or;
mod bug;
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

/// Items for the other crates of stockade. They carry no promise of stability.
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

/// A response: that of the `http` crate, with our body.
pub type Response = http::Response<HttpBody>;

#[doc(hidden)]
pub mod endpoint_internals {
    pub use super::endpoint::{
        EndpointKind, EndpointParts, Overloaded, RunningHandler, answer_bug, run, run_from,
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
