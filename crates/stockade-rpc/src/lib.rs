//! JSON-RPC 2.0, where a method is a route without a path.
//!
//! [`Rpc`] collects methods and makes a tree of them, which stands in the tree of an
//! application as any other. The handler of a method is that of a route: its
//! parameters are a [`Body`](stockade_core::extract::Body), its result is a reply, and
//! it has middleware, limits, documentation and a place in the map of the routes.
//!
//! Source: <https://www.jsonrpc.org/specification>.

// Where things are:
// - `rpc`, `method`: `Rpc` and `RpcMethod`, by which methods are declared.
// - `message`: what a client sends, taken apart by the reader of stockade-json. Hot.
// - `params`: the parameters of a call as the body that its handler reads. Hot.
// - `response_object`, `error_object`: the response to a client. Hot. `error`: `RpcError`.
// - `service`: the handler of the route: one call, or a batch (`batch`). Hot.
// - `web_socket`: calls by the messages of a WebSocket; `notifier`: `Notifier`, which
//   sends messages that no call has asked for; `call_users`: the users for whom it does.
// - `describe`: the body and the answers of the route, made of its methods; `openrpc`:
//   the answer of `rpc.discover`.

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
