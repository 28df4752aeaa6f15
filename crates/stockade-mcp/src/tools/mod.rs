//! Routes as tools: from the map of a router to the tools of its endpoint, and
//! from a call to a request for the route.

// Modules:
// - `call`: the request of a call. Hot.
// - `outcome`: the result of a call, from the response of the route. Hot.
// - `visibility`: the tools that a caller sees.
// - `compile`: `Tools`, created from the map when the router is built.
// - `describe`: `ToolInfo` of each route with the key `tool`; `names`: its
//   texts; `arguments`: its arguments; `schema`: the schemas for agents.

mod arguments;
mod call;
mod compile;
mod describe;
mod names;
mod outcome;
mod schema;
mod visibility;

pub(crate) use call::{RunningTool, ToolFailure};
pub(crate) use compile::{CompiledTool, Tools, serving};
pub(crate) use outcome::{CallResult, Outcome};
pub(crate) use visibility::{FoundTool, Visible};

// Interface for the protocol:
//
// serving(entry: RouteEntry, info: McpInfo) -> RouteEntry
//     Makes the POST entry the endpoint that offers the tools of its router.
//     `info` has the options of `Mcp`.
// Tools::of(req: &Request) -> Option<Arc<Tools>>
//     The tools of the App that received the request; None only if `serving`
//     was not called for the entry.
// tools.visible_to(req: &Request) -> Visible
// tools.list(&Visible) -> Bytes                   the text `[{"name":…},…]`
// tools.depends_on_caller() -> bool               `cacheScope` is private
// tools.find(name, &Visible) -> FoundTool<'_>     Found(&CompiledTool), LoginRequired, Unknown
// tool.name() -> &str
// tool.child(parent: &Request, arguments: Map<String, Value>) -> Result<Request, ToolFailure>
//     Add extensions (such as the sink of Progress) to the child before `run`.
// tool.run(parent: &Request, child: Request) -> Result<RunningTool, ToolFailure>
//     RunningTool: Future<Output = Response> + Unpin + Send
// tool.result(response: Response).await -> Outcome
//     Outcome::Result(CallResult), or Outcome::Unauthorized(Response) for a 401
//     of the child.
// CallResult { content: String (text of the JSON array), structured: Option<String>
//     (JSON text), is_error: bool, status: Option<u16> }
// CallResult::from(ToolFailure), CallResult::error(text: &str)
