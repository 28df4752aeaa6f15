//! The promises of an API, as data.
//!
//! [`RouteMap`] describes all routes of an application. Documents,
//! explanations, [policies](policy) and [locks](lock) read it.
//!
//! While a router is built, the middleware, the extractors and the return type
//! of each route add to its [`description`].
#![cfg_attr(docsrs, feature(doc_cfg))]

// Contents of the modules:
// - `route`: `RouteMap` and its parts; `response`, `idempotency`, `route_docs`,
//   `signature`, `tag`: more parts.
// - `tool`: routes as tools for AI agents, and the endpoint that offers them;
//   `tool_declaration`: `Tool`, which declares a tool.
// - `authentication`: how a request is authenticated.
// - `configuration`: the settings under a configuration file.
// - `problem`: the problem types of errors; `problems`: their schemas.
// - `by_status`, `questions`, `text`: queries on a map; `schemas`: references
//   to its schemas.
// - `policy_info`: `PolicyInfo`, the policy of a router in a map.
// - `description`: the same facts while a route is described, with schemas that
//   are not exported yet.
// - `trailing_slash`: `TrailingSlash`.
// - `policy`: `Policy`, rules over all routes.
// - `lock`: `Lock`, the file `routes.lock`, and the comparison of two locks.

mod authentication;
mod by_status;
mod configuration;
pub mod description;
mod idempotency;
#[cfg(feature = "lock")]
pub mod lock;
mod password;
#[cfg(feature = "policy")]
pub mod policy;
mod policy_info;
mod problem;
mod problems;
mod questions;
mod response;
mod route;
mod route_docs;
#[doc(hidden)]
pub mod schemas;
mod signature;
mod tag;
mod text;
mod tool;
mod tool_declaration;
mod trailing_slash;

pub use authentication::{
    CookieInfo, CrossOriginInfo, MethodInfo, MethodKind, RevocationCheck, SessionInfo, TokenInfo,
};
pub use configuration::{ConfigurationInfo, ConfiguredSecret};
pub use idempotency::IdempotencyInfo;
pub use password::PasswordInfo;
pub use policy_info::PolicyInfo;
pub use problem::{MemberInfo, ProblemInfo};
pub use response::{BodyDoc, ContentInfo, HeaderDoc, ResponseInfo, StatusDoc, UnknownStatus};
pub use route::{
    BodyInfo, CorsInfo, FieldInfo, GraphQlInfo, HostInfo, Limits, MiddlewareInfo, MiddlewareLevel,
    Need, ParamInfo, Place, QuotaInfo, RouteAccess, RouteInfo, RouteKind, RouteMap, RouterInfo,
    SchemeInfo, WebSocketInfo,
};
pub use route_docs::RouteDocs;
pub use signature::SignatureInfo;
pub use tag::Tag;
pub use tool::{ArgumentPlace, McpInfo, ToolArgument, ToolHints, ToolInfo};
pub use tool_declaration::Tool;
pub use trailing_slash::TrailingSlash;

/// Items for the other crates of stockade. They are exempt from semantic
/// versioning.
#[doc(hidden)]
pub mod __internal {
    pub use crate::idempotency::millis;
}
