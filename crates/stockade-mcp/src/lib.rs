//! Routes as tools for AI agents: the Model Context Protocol (MCP).
//!
//! [`Mcp`] creates the endpoint for agents. A route becomes a tool with the key
//! `tool`; no other route is one. A call of a tool is a request to its route:
//! middleware, authentication, limits and validation apply as for other
//! clients.
//!
//! Examples with `TestClient` need the feature `testing` of the crate
//! `stockade`.
//!
//! Source: <https://modelcontextprotocol.io/specification/2026-07-28/> and
//! <https://modelcontextprotocol.io/specification/2025-11-25/>.

// Modules:
// - `mcp`: `Mcp`, which declares the endpoint. `describe`: its description.
// - `guard`: `Origin` and `Host`, and the challenge of a 401. `metadata`: the
//   document with the authorization servers.
// - `message`: parses a message. `era`: the protocol version of a message.
//   `protocol_error`: errors of the protocol. Hot.
// - `service`: the request handler of the endpoint. `tool_call`: the call of a
//   tool, with its progress. Hot.
// - `progress`: `Progress`, an argument of handlers.
// - `stdio`: messages on standard input and output.
// - `tools`: routes as tools.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod describe;
mod era;
mod guard;
mod mcp;
mod message;
mod metadata;
mod progress;
mod protocol_error;
mod service;
mod stdio;
mod tool_call;
mod tools;

pub use mcp::Mcp;
pub use progress::Progress;
#[doc(inline)]
pub use stockade_map::Tool;
