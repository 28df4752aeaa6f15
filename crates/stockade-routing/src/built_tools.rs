//! [`BuiltTools`]: the tools of a built application, in the form of their
//! protocol.

use std::any::Any;
use std::fmt;
use std::panic::Location;
use std::sync::{Arc, OnceLock};

use stockade_errors::{ConfigError, ConfigIssue};
use stockade_map::{McpInfo, Place, RouteMap, Tool};

/// The compiled tools of an application, in the form of the protocol.
pub type CompiledTools = Arc<dyn Any + Send + Sync>;

/// Adds the tools and the endpoint to a map. Returns the configuration errors.
pub type Describe = fn(&mut RouteMap, &ToolRoutes) -> Vec<ConfigIssue>;

/// Compiles the tools of a map that a [`Describe`] has completed.
pub type Compile = fn(&RouteMap, &ToolRoutes) -> Result<CompiledTools, ConfigError>;

/// Returns the request of a call: the name of the tool, and its arguments as
/// JSON text.
pub type Explain = fn(&CompiledTools, &str, &str) -> Result<ToolTarget, String>;

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
    pub(crate) describe: Describe,
    pub(crate) compile: Compile,
    pub(crate) explain: Explain,
    pub(crate) routes: ToolRoutes,
    pub(crate) compiled: OnceLock<CompiledTools>,
}

impl BuiltTools {
    /// Adds the tools to a map. The build has reported the configuration
    /// errors.
    pub(crate) fn describe(&self, map: &mut RouteMap) {
        (self.describe)(map, &self.routes);
    }

    /// Returns the compiled tools, which exist after the build.
    pub(crate) fn compiled(&self) -> Option<&CompiledTools> {
        self.compiled.get()
    }

    /// Checks and compiles the tools.
    pub(crate) fn compile(&self, map: &RouteMap) -> Result<(), ConfigError> {
        // The map has the tools already, so this repeats only the checks.
        let mut described = map.clone();
        ConfigError::check((self.describe)(&mut described, &self.routes))?;
        let compiled = (self.compile)(&described, &self.routes)?;
        self.compiled.get_or_init(|| compiled);
        Ok(())
    }
}

impl fmt::Debug for BuiltTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BuiltTools").field("routes", &self.routes).finish_non_exhaustive()
    }
}

/// Returns the place of a tool's declaration, or of its route.
#[must_use]
pub fn place_of(tool: &Tool, route: &Place) -> Place {
    tool.location.map_or_else(|| route.clone(), Place::from)
}
