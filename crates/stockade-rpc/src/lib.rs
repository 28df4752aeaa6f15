//! JSON-RPC 2.0: each method is a route without a path.
//!
//! [`Rpc`] collects methods into a route tree, which becomes part of the
//! application's tree. The handler of a method is an ordinary request handler:
//! it receives the parameters as a [`Body`](stockade_core::extract::Body), and
//! its return value is the result. A method can have middleware, limits and
//! documentation, and it is listed in the route map.
//!
//! Examples with `TestClient` need the feature `testing` of the crate
//! `stockade`.
//!
//! Source: <https://www.jsonrpc.org/specification>.

// Modules:
// - `rpc`, `method`: `Rpc` and `RpcMethod`, which declare methods.
// - `message`: parses a client's message with the reader of stockade-json. Hot.
// - `params`: converts the parameters of a call to the body for its handler.
//   Hot.
// - `response_object`, `error_object`: the response to a client. Hot. `error`:
//   `RpcError`.
// - `service`: the handler of the route: one call, or a batch (`batch`). Hot.
// - `web_socket`: calls in WebSocket messages; `notifier`: `Notifier`, which
//   sends messages that are not responses; `call_users`: the users of these
//   notifications.
// - `describe`: the body and the responses of the route, derived from its
//   methods; `openrpc`: the result of `rpc.discover`.

#![forbid(unsafe_code)]

mod batch;
mod call_users;
mod describe;
mod error;
mod error_object;
mod message;
mod method;
mod notifier;
mod openrpc;
mod params;
mod response_object;
mod rpc;
mod service;
mod web_socket;

pub use error::RpcError;
pub use method::{IntoRpcMethod, RpcMethod};
pub use notifier::Notifier;
pub use rpc::Rpc;
