//! [`ToolInfo`]: a route as a tool for AI agents, and [`McpInfo`]: the endpoint
//! that offers the tools.
//!
//! Source: <https://modelcontextprotocol.io/specification/2026-07-28/>, pages
//! `server/tools` and `basic/authorization`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Place;

/// A route that the MCP endpoint offers as a tool.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ToolInfo {
    /// Its name, such as `orders_list`.
    pub name: String,
    /// Its name for people; `None` if the route does not declare one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The text that a model reads to select the tool.
    pub description: String,
    /// The JSON Schema of its arguments. Its root is an object, and it does not
    /// contain references.
    pub input_schema: Value,
    /// The JSON Schema of its structured result; `None` if the result is only
    /// text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// The hints for the consent of the user.
    pub hints: ToolHints,
    /// The names of the hints that the program declares weaker than the default
    /// of the method, such as `destructive`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loosened: Vec<String>,
    /// The arguments, in the order of the schema.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<ToolArgument>,
    /// The source location that declares the tool.
    pub location: Place,
}

/// The hints of a tool. A client uses them to decide if the user must agree to
/// a call.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "the protocol defines four independent hints")]
pub struct ToolHints {
    /// True if a call does not change anything.
    pub read_only: bool,
    /// True if a call may delete or overwrite data.
    pub destructive: bool,
    /// True if a repeated call does not have an additional effect.
    pub idempotent: bool,
    /// True if a call may reach systems outside of the application.
    pub open_world: bool,
}

impl ToolHints {
    /// Creates hints.
    #[must_use]
    #[expect(clippy::fn_params_excessive_bools, reason = "the protocol defines four hints")]
    pub fn new(read_only: bool, destructive: bool, idempotent: bool, open_world: bool) -> Self {
        Self { read_only, destructive, idempotent, open_world }
    }
}

/// An argument of a tool, and the part of the request that it becomes.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ToolArgument {
    /// Its name for the agent.
    pub name: String,
    /// The part of the request that contains it.
    #[serde(rename = "in")]
    pub place: ArgumentPlace,
    /// Its name in the request: a parameter, a key of the query, a header or a
    /// member of the body. Empty for the whole body.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub original: String,
}

impl ToolArgument {
    /// Creates an argument from its name, its place, and its name in the
    /// request.
    #[must_use]
    pub fn new(name: impl Into<String>, place: ArgumentPlace, original: impl Into<String>) -> Self {
        Self { name: name.into(), place, original: original.into() }
    }
}

/// The part of a request that an argument of a tool becomes.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ArgumentPlace {
    /// A parameter of the path.
    Path,
    /// A key of the query.
    #[default]
    Query,
    /// A header.
    Header,
    /// The whole body.
    Body,
    /// A member of a JSON body.
    BodyField,
}

/// The endpoint that offers routes as tools.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct McpInfo {
    /// The name of the server.
    pub name: String,
    /// The version of the server.
    pub version: String,
    /// The text about all tools that a model reads; `None` if the endpoint does
    /// not have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// The public URL of the endpoint; `None` if it is not declared. Tokens
    /// must name it as their audience.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The issuers of tokens.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub authorization_servers: Vec<String>,
    /// The origins of pages that may call the endpoint.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_origins: Vec<String>,
    /// The maximum number of tools.
    pub max_tools: u64,
    /// The largest result in bytes.
    pub max_result: u64,
    /// The time in milliseconds for which clients may reuse the list of tools.
    pub list_ttl_ms: u64,
    /// True if the endpoint also serves clients of the earlier protocol
    /// versions.
    pub legacy: bool,
}

impl McpInfo {
    /// Describes an endpoint by its name and its version.
    #[must_use]
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self { name: name.into(), version: version.into(), ..Self::default() }
    }
}
