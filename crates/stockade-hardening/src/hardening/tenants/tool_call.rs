//! The tools of an endpoint as operations.

use serde_json::{Map, Value};
use stockade_map::{ArgumentPlace, ToolInfo};
use stockade_routing::map::{RouteInfo, RouteMap};

use super::names::noun_of;
use super::operation::{Member, Param, members};
use crate::hardening::tools::message;
use crate::sample::Sample;

/// The call of a tool.
#[derive(Clone, Debug)]
pub(super) struct ToolCall {
    pub(super) name: String,
    /// The method and the path of its route.
    pub(super) route: String,
    /// The objects that its route contains.
    pub(super) noun: String,
    /// Samples of the required arguments.
    pub(super) arguments: Map<String, Value>,
}

impl ToolCall {
    pub(super) fn new(map: &RouteMap, tool: &ToolInfo, noun: String, route: String) -> Self {
        let arguments = match Sample::of(map).value(&tool.input_schema) {
            Some(Value::Object(arguments)) => arguments,
            _ => Map::new(),
        };
        Self { name: tool.name.clone(), route, noun, arguments }
    }

    /// Returns the result of a call: its structured content, or the data in its
    /// first text.
    pub(super) fn result(body: &Value) -> Value {
        let Some(result) = body.get("result") else { return Value::Null };
        if let Some(structured) = result.get("structuredContent") {
            return structured.clone();
        }
        let text = message::text_of(result);
        text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }

    /// Returns true if a call failed.
    pub(super) fn is_error(body: &Value) -> bool {
        body.get("error").is_some() || body.get("result").is_some_and(message::is_error)
    }
}

/// Returns the arguments of a tool as members. An argument in the path has the
/// objects of its parameter.
pub(super) fn arguments(map: &RouteMap, tool: &ToolInfo, params: &[Param]) -> Vec<Member> {
    let mut found = members(Sample::of(map), &tool.input_schema);
    for member in found.iter_mut().filter(|member| member.parents.is_empty()) {
        let argument = tool.arguments.iter().find(|argument| argument.name == member.name);
        let Some(argument) = argument else { continue };
        let param = params.iter().find(|param| param.name == argument.original);
        match param.filter(|_| argument.place == ArgumentPlace::Path) {
            Some(param) => member.noun.clone_from(&param.noun),
            None if argument.place == ArgumentPlace::Body => {}
            None => member.noun = noun_of(&argument.original),
        }
    }
    found
}

/// Returns the endpoint that offers the tools of a map.
pub(super) fn endpoint(map: &RouteMap) -> Option<&RouteInfo> {
    map.routes.iter().find(|route| route.mcp.is_some())
}
