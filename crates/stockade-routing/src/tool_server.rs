//! [`ToolServer`]: an endpoint that offers routes as tools.
//!
//! The protocol is in another crate, which describes and compiles the tools.

use stockade_errors::ConfigError;
use stockade_map::{McpInfo, RouteMap};

use crate::app::Resolved;
use crate::built_tools::{Compile, Describe, Explain};
use crate::map::Inspector;

/// The functions of a protocol that offers routes as tools.
#[derive(Clone, Debug)]
pub struct ToolServer {
    /// The options of the endpoint.
    pub info: McpInfo,
    /// Adds the tools and the endpoint to a map. Returns the configuration
    /// errors.
    pub describe: Describe,
    /// Compiles the tools of a map that `describe` has completed.
    pub compile: Compile,
    /// Returns the request of a call: the name of the tool, and its arguments
    /// as JSON text.
    pub explain: Explain,
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

    pub(crate) fn create(self) -> Inspector {
        (self.0)()
    }
}

fn compile_tools(app: &Resolved, map: &RouteMap) -> Result<(), ConfigError> {
    app.routes.tools.as_ref().map_or(Ok(()), |tools| tools.compile(map))
}
