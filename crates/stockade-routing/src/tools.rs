//! [`ToolServer`]: an endpoint that offers routes as tools, and the routes that
//! are its tools.
//!
//! The protocol is in another crate. This crate collects the routes with the
//! key `tool`, and lets the protocol describe and compile them.

use std::any::Any;
use std::fmt;
use std::panic::Location;
use std::sync::{Arc, OnceLock};

use stockade_errors::{ConfigError, ConfigIssue};
use stockade_map::{McpInfo, Place, RouteMap, Tool};

use crate::app::Resolved;
use crate::compile::Compiler;
use crate::entry::RouteEntry;
use crate::map::Inspector;

/// The compiled tools of an application, in the form of the protocol.
pub type CompiledTools = Arc<dyn Any + Send + Sync>;

/// The functions of a protocol that offers routes as tools.
#[derive(Clone, Debug)]
pub struct ToolServer {
    /// The options of the endpoint.
    pub info: McpInfo,
    /// Adds the tools and the endpoint to a map. Returns the configuration
    /// errors.
    pub describe: fn(&mut RouteMap, &ToolRoutes) -> Vec<ConfigIssue>,
    /// Compiles the tools of a map that `describe` has completed.
    pub compile: fn(&RouteMap, &ToolRoutes) -> Result<CompiledTools, ConfigError>,
    /// Returns the request of a call: the name of the tool, and its arguments
    /// as JSON text.
    pub explain: fn(&CompiledTools, &str, &str) -> Result<ToolTarget, String>,
    /// Creates the function that compiles the tools at the end of the build.
    pub inspector: ToolInspector,
}

/// A pointer to the function that compiles tools. The build refers to maps only
/// through it, which keeps their code out of programs without tools.
#[derive(Clone, Copy, Debug)]
pub struct ToolInspector(fn() -> Inspector);

impl ToolInspector {
    /// The only value.
    pub const NEW: Self = Self(|| Inspector::new(|app, map| compile_tools(&app.resolved, map)));
}

/// The routes of an application that are tools, and their endpoint. The numbers
/// are indexes in the routes of the map.
#[derive(Debug)]
pub struct ToolRoutes {
    /// The endpoint.
    pub endpoint: usize,
    /// The options of the endpoint.
    pub info: McpInfo,
    /// The place that declares the endpoint.
    pub location: &'static Location<'static>,
    /// The routes with their declarations, in the order of registration.
    pub tools: Vec<(usize, Tool)>,
}

/// The request of a call, for an explanation.
#[derive(Debug)]
pub struct ToolTarget {
    /// The index of the route.
    pub route: usize,
    /// The method.
    pub method: String,
    /// The path.
    pub path: String,
}

/// The tools of a built application.
pub(crate) struct BuiltTools {
    pub(crate) server: ToolServer,
    pub(crate) routes: ToolRoutes,
    compiled: OnceLock<CompiledTools>,
}

impl BuiltTools {
    /// Adds the tools to a map. The build has reported the configuration
    /// errors.
    pub(crate) fn describe(&self, map: &mut RouteMap) {
        (self.server.describe)(map, &self.routes);
    }

    /// Returns the compiled tools, which exist after the build.
    pub(crate) fn compiled(&self) -> Option<&CompiledTools> {
        self.compiled.get()
    }

    /// Checks and compiles the tools.
    fn compile(&self, map: &RouteMap) -> Result<(), ConfigError> {
        // The map has the tools already, so this repeats only the checks.
        let mut described = map.clone();
        ConfigError::check((self.server.describe)(&mut described, &self.routes))?;
        let compiled = (self.server.compile)(&described, &self.routes)?;
        self.compiled.get_or_init(|| compiled);
        Ok(())
    }
}

impl fmt::Debug for BuiltTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BuiltTools").field("routes", &self.routes).finish_non_exhaustive()
    }
}

/// The tools of a router during its build.
#[derive(Default)]
pub(crate) struct WaitingTools {
    server: Option<WaitingServer>,
    tools: Vec<(usize, Tool)>,
}

/// The endpoint of a router during its build.
struct WaitingServer {
    endpoint: usize,
    server: ToolServer,
    location: &'static Location<'static>,
}

/// The parts of an entry that concern tools.
pub(crate) struct ToolParts {
    tool: Option<Box<Tool>>,
    server: Option<Box<ToolServer>>,
    location: &'static Location<'static>,
}

impl ToolParts {
    /// Removes the parts from an entry.
    pub(crate) fn of(entry: &mut RouteEntry) -> Self {
        let location = entry.location;
        Self { tool: entry.tool.take(), server: entry.tool_server.take(), location }
    }
}

impl WaitingTools {
    /// Returns the tools, if there is an endpoint that offers them.
    pub(crate) fn built(self) -> Option<Box<BuiltTools>> {
        let WaitingServer { endpoint, server, location } = self.server?;
        let info = server.info.clone();
        let routes = ToolRoutes { endpoint, info, location, tools: self.tools };
        Some(Box::new(BuiltTools { server, routes, compiled: OnceLock::new() }))
    }
}

impl Compiler<'_> {
    /// Adds the parts of the route at an index. Returns the configuration error
    /// of an endpoint.
    pub(crate) fn add_tools(&mut self, route: usize, parts: ToolParts) -> Option<String> {
        let ToolParts { tool, server, location } = parts;
        self.tools.tools.extend(tool.map(|tool| (route, *tool)));
        let server = *server?;
        if self.is_hosted {
            return Some(IN_HOST.to_owned());
        }
        if let Some(earlier) = &self.tools.server {
            let place = earlier.location;
            let (file, line) = (place.file(), place.line());
            return Some(format!(
                "a router can have only one endpoint for tools, and {file}:{line} declares another"
            ));
        }
        self.inspectors.push((server.inspector.0)());
        self.tools.server = Some(WaitingServer { endpoint: route, server, location });
        None
    }
}

fn compile_tools(app: &Resolved, map: &RouteMap) -> Result<(), ConfigError> {
    app.routes.tools.as_ref().map_or(Ok(()), |tools| tools.compile(map))
}

impl RouteEntry {
    /// Makes the route the endpoint that offers the tools of its router.
    #[doc(hidden)]
    pub fn offering_tools(mut self, server: ToolServer) -> Self {
        self.tool_server = Some(Box::new(server));
        self.with_parts()
    }
}

/// Returns the place of a tool's declaration, or of its route.
#[must_use]
pub fn place_of(tool: &Tool, route: &Place) -> Place {
    tool.location.map_or_else(|| route.clone(), Place::from)
}

const IN_HOST: &str = "the routes of another host cannot offer tools, because calls use stockade's \
                       router: mount the whole application instead";
