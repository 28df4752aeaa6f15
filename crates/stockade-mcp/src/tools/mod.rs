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

pub(crate) use compile::{Tools, serving};
pub(crate) use outcome::{CallResult, Outcome, essence};
pub(crate) use visibility::FoundTool;
