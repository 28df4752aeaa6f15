//! [`Tools`]: the tools of an application, compiled when its router is built.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method};
use serde_json::{Map, Value, json};
use stockade_core::Request;
use stockade_errors::{ConfigError, ConfigIssue};
use stockade_map::schemas::schema_name;
use stockade_map::{ArgumentPlace, McpInfo, RouteInfo, RouteMap, ToolInfo};
use stockade_path::Pattern;
use stockade_routing::RouteEntry;
use stockade_routing::subrequest::{ReceivingApp, ToolLabels};
use stockade_routing::tool_internals::UrlPattern;
use stockade_routing::tool_internals::{
    CompiledTools, ToolInspector, ToolRoutes, ToolServer, ToolTarget,
};

use super::arguments::{FORWARDED, body_type, credential_headers};
use super::describe::describe;
use super::visibility::{Audience, FoundTool, Visible, VisibleSets};

/// Makes an entry the endpoint that offers the tools of its router.
pub(crate) fn serving(entry: RouteEntry, info: McpInfo) -> RouteEntry {
    let inspector = ToolInspector::NEW;
    entry.offering_tools(ToolServer { info, describe, compile, explain, inspector })
}

/// The tools of an application.
#[derive(Debug)]
pub(crate) struct Tools {
    /// Sorted by name.
    tools: Vec<CompiledTool>,
    sets: VisibleSets,
}

/// A tool and its route.
#[derive(Debug)]
pub(crate) struct CompiledTool {
    pub(super) name: Box<str>,
    /// Its name and its route, for the log and the metrics.
    pub(super) labels: ToolLabels,
    /// The index of the route in the map.
    pub(super) route: usize,
    pub(super) method: Method,
    pub(super) path: UrlPattern,
    pub(super) arguments: Vec<CompiledArgument>,
    /// The headers that the call takes from the request of the client.
    pub(super) forwarded: Vec<HeaderName>,
    /// The media type of the body; `None` if the route does not read one.
    pub(super) body_type: Option<HeaderValue>,
    pub(super) is_structured: bool,
    /// In bytes.
    pub(super) max_result: u64,
    audience: Audience,
    /// The tool in the list, as JSON.
    definition: String,
}

/// An argument and its place in the request.
#[derive(Debug)]
pub(super) struct CompiledArgument {
    pub(super) name: Box<str>,
    pub(super) original: Box<str>,
    pub(super) place: ArgumentPlace,
    /// True for an object in the query with a pair for each property.
    pub(super) is_deep: bool,
}

impl Tools {
    /// Returns the tools of the application that received a request. The
    /// request must belong to the endpoint.
    pub(crate) fn of(req: &Request) -> Option<Arc<Self>> {
        ReceivingApp::of(req)?.tools()
    }

    /// Returns the tools that the sender of a request may call.
    pub(crate) fn visible_to(&self, req: &Request) -> Visible {
        self.sets.of_caller(req)
    }

    /// Returns the list of tools as a JSON array, sorted by name.
    pub(crate) fn list(&self, visible: &Visible) -> Bytes {
        self.sets.list(visible, |members| {
            let members = members.iter().zip(&self.tools).filter(|(is_visible, _)| **is_visible);
            let members: Vec<&str> = members.map(|(_, tool)| &*tool.definition).collect();
            format!("[{}]", members.join(",")).into()
        })
    }

    /// Returns true if the list depends on the caller, so caches must not share
    /// it.
    pub(crate) fn depends_on_caller(&self) -> bool {
        self.sets.depends_on_caller()
    }

    /// Finds a tool by its name.
    pub(crate) fn find(&self, name: &str, visible: &Visible) -> FoundTool<'_> {
        match self.index(name) {
            Some(index) if self.sets.includes(visible, index) => {
                FoundTool::Found(&self.tools[index])
            }
            Some(index) => visible.hidden(&self.tools[index]),
            None => FoundTool::Unknown,
        }
    }

    fn index(&self, name: &str) -> Option<usize> {
        self.tools.binary_search_by(|tool| (*tool.name).cmp(name)).ok()
    }
}

impl CompiledTool {
    pub(super) fn audience(&self) -> &Audience {
        &self.audience
    }

    /// Returns its name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    fn of(
        index: usize,
        route: &RouteInfo,
        info: &ToolInfo,
        map: &RouteMap,
        max: u64,
    ) -> Option<Self> {
        let pattern = Pattern::parse(&route.path).ok()?;
        let mut forwarded = Vec::from(FORWARDED.map(HeaderName::from_static));
        for name in credential_headers(route) {
            let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
            if !forwarded.contains(&name) {
                forwarded.push(name);
            }
        }
        let arguments = info.arguments.iter().map(|argument| CompiledArgument {
            name: argument.name.as_str().into(),
            original: argument.original.as_str().into(),
            place: argument.place,
            is_deep: argument.place == ArgumentPlace::Query
                && is_deep(map, route, &argument.original),
        });
        let body_type = body_type(route).and_then(|it| HeaderValue::from_str(it).ok());
        Some(Self {
            name: info.name.as_str().into(),
            labels: ToolLabels::new(Some(&route.path), &info.name),
            route: index,
            method: Method::from_bytes(route.method.as_bytes()).ok()?,
            path: UrlPattern::new(pattern),
            arguments: arguments.collect(),
            forwarded,
            body_type,
            is_structured: info.output_schema.is_some(),
            max_result: max,
            audience: Audience::of(route),
            definition: definition(info),
        })
    }
}

/// Returns true if a key of the query is an object with a pair for each
/// property.
fn is_deep(map: &RouteMap, route: &RouteInfo, name: &str) -> bool {
    let query = route.query.as_ref();
    let property = query.and_then(|query| query.get("properties")?.get(name));
    let property = property.map(|property| {
        let target = schema_name(property).and_then(|name| map.schemas.get(name));
        (property, target.unwrap_or(property))
    });
    property.is_some_and(|(own, target)| {
        [own, target].iter().any(|it| it.get("x-style").is_some_and(|style| style == "deepObject"))
    })
}

/// Returns a tool as it appears in the list.
///
/// Source: <https://modelcontextprotocol.io/specification/2026-07-28/server/tools>.
fn definition(info: &ToolInfo) -> String {
    let mut tool = Map::new();
    let mut put = |key: &str, value: Value| drop(tool.insert(key.to_owned(), value));
    put("name", json!(info.name));
    if let Some(title) = &info.title {
        put("title", json!(title));
    }
    put("description", json!(info.description));
    put("inputSchema", info.input_schema.clone());
    if let Some(schema) = &info.output_schema {
        put("outputSchema", schema.clone());
    }
    let hints = info.hints;
    put(
        "annotations",
        json!({
            "readOnlyHint": hints.read_only,
            "destructiveHint": hints.destructive,
            "idempotentHint": hints.idempotent,
            "openWorldHint": hints.open_world,
        }),
    );
    Value::Object(tool).to_string()
}

/// Compiles the tools of a map.
fn compile(map: &RouteMap, routes: &ToolRoutes) -> Result<CompiledTools, ConfigError> {
    let mut tools = Vec::new();
    for (index, route) in map.routes.iter().enumerate() {
        let Some(tool) = &route.tool else { continue };
        let compiled = CompiledTool::of(index, route, tool, map, routes.info.max_result);
        let bug = || {
            let text = "this is a bug in stockade: the tool cannot be compiled";
            ConfigIssue::new(text).on(format!("{} {}", route.method, route.path))
        };
        tools.push(compiled.ok_or_else(bug)?);
    }
    tools.sort_by(|one, other| one.name.cmp(&other.name));
    let sets = VisibleSets::of(&tools);
    Ok(Arc::new(Tools { tools, sets }))
}

/// Returns the request of a call, for an explanation.
fn explain(compiled: &CompiledTools, name: &str, arguments: &str) -> Result<ToolTarget, String> {
    let tools = compiled.downcast_ref::<Tools>();
    let tool = tools.and_then(|tools| Some(&tools.tools[tools.index(name)?]));
    let Some(tool) = tool else { return Err(format!("no tool has the name {name:?}")) };
    let arguments = if arguments.is_empty() { "{}" } else { arguments };
    let arguments: Map<String, Value> = serde_json::from_str(arguments)
        .map_err(|error| format!("the arguments must be a JSON object: {error}"))?;
    let path = tool.path_of(&arguments).map_err(|failure| failure.to_string())?;
    Ok(ToolTarget { route: tool.route, method: tool.method.to_string(), path })
}
