//! The routes with the key `tool`, and their endpoint, during the build of a
//! router.

use std::panic::Location;
use std::sync::OnceLock;

use stockade_map::Tool;

use crate::built_tools::{BuiltTools, ToolRoutes};
use crate::compile::Compiler;
use crate::entry::RouteEntry;
use crate::tool_server::ToolServer;

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
        let ToolServer { info, describe, compile, explain, .. } = server;
        let routes = ToolRoutes { endpoint, info, location, tools: self.tools };
        let compiled = OnceLock::new();
        Some(Box::new(BuiltTools { describe, compile, explain, routes, compiled }))
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
        self.inspectors.push(server.inspector.create());
        self.tools.server = Some(WaitingServer { endpoint: route, server, location });
        None
    }
}

impl RouteEntry {
    /// Makes the route the endpoint that offers the tools of its router.
    #[doc(hidden)]
    pub fn offering_tools(mut self, server: ToolServer) -> Self {
        self.tool_server = Some(Box::new(server));
        self.with_parts()
    }
}

const IN_HOST: &str = "the routes of another host cannot offer tools, because calls use stockade's \
                       router: mount the whole application instead";
