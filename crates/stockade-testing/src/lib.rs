//! A test client that calls an application in process, without a port, or over
//! a port with the same API.
//!
//! ```
//! # use std::time::Duration;
//! # use stockade::serde_json::Value;
//! use stockade::extract::{Body, Path};
//! use stockade::serde_json::json;
//! use stockade::testing::{TestClient, TestClock};
//! use stockade::validation::Unchecked;
//! use stockade::{Router, RouterOptions};
//!
//! let mut router = Router::new();
//! router.get("/users/:id", async |Path(id): Path<u64>| json!({ "id": id, "name": "Ada" }));
//! router.post("/users", async |Body(user): Body<Unchecked<Value>>| user.0);
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let client = TestClient::new(router);
//! let user = client.get("/users/7").bearer("a token").await;
//! user.assert_status(200).assert_json(json!({ "id": 7, "name": "Ada" }));
//! assert_eq!(user.json::<Value>()["name"], "Ada");
//!
//! client.post("/users").json(json!({ "name": "Bob" })).await.assert_json_contains(json!({}));
//! client.get("/nowhere").await.assert_status(404).assert_error("Not Found");
//! # });
//! ```
//!
//! A failed assertion prints the complete request and response, with
//! credentials redacted, and the line of the test.
//!
//! # In-process requests
//!
//! An in-process request runs through all of [`App::handle`]: the rate limit,
//! CORS, security headers and middleware. Its client address is
//! [`DEFAULT_PEER`] unless the request or the client sets another. Redirects
//! are not followed. Server features are missing: limits of the request head,
//! timeouts of slow clients, and the header `Date`. [`TestClient::live`]
//! connects to a running server.
//!
//! The client needs a tokio runtime with timers, such as `#[tokio::test]`.
//!
//! The client reads a whole response before it returns. [`TestRequest::stream`]
//! opens an endless response, such as server-sent events. A response fails if
//! it takes more than 30 seconds ([`TestClient::with_timeout`]) or has more
//! than 64 MiB.
//!
//! # Hardening
//!
//! [`assert_hardened`] attacks an application with requests generated from its
//! routes, and fails if an attack succeeds. For options and the report, see
//! [`Hardening`].
//!
//! # Contracts
//!
//! [`App::route_map`] lists the responses of each route, and OpenAPI documents
//! describe them to clients. With the feature `contract`,
//! [`TestClient::with_contract`] checks each response in a test against the
//! map. Your existing tests then prove that your documents are correct.
//!
//! ```
//! use stockade::prelude::*;
//! use stockade::testing::TestClient;
//!
//! #[derive(Debug, ApiError)]
//! enum Failure {
//!     #[status(404, "there is no such tea")]
//!     Missing,
//! }
//!
//! async fn show(Path(id): Path<u64>) -> Result<Json<u64>, Failure> {
//!     if id < 10 { Ok(Json(id)) } else { Err(Failure::Missing) }
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let api = routes! { "teas": { ":id": { GET: show } } };
//! let client = TestClient::new(create_router(api, RouterOptions::new())).with_contract();
//! client.get("/teas/7").await.assert_json(7);
//! client.get("/teas/10").await.assert_status(404);
//! # });
//! ```
//!
//! If a response violates the contract, either the handler or its description
//! is wrong. Add missing descriptions with `RouteDocs::response` for a handler
//! that returns a bare `Response`, with `Reply::describe` for your own reply
//! type, and with `Middleware::describing` for middleware.
//!
//! [`App::handle`]: stockade_routing::App::handle
//! [`App::route_map`]: stockade_routing::App::route_map
#![cfg_attr(docsrs, feature(doc_cfg))]

// Modules:
// - `client`, `request`: `TestClient`, `TestRequest`, `TestError`.
// - `response`, `stream`: `TestResponse`, `TestStream`; `event`: `TestEvent`.
// - `web_socket`: `TestWebSocket`. `mcp`: `TestAgent`, which calls tools.
// - `cookies`: the jar.
// - `transport`: in process, or over a port.
//
// stockade-hardening contains the checks of an application and the messages of
// failed assertions.

mod client;
mod cookies;
mod error;
mod event;
#[cfg(feature = "mcp")]
mod mcp;
mod request;
mod response;
mod stream;
mod transport;
mod web_socket;

#[cfg(test)]
mod tests;

pub use client::{DEFAULT_PEER, DEFAULT_TIMEOUT, TestClient};
pub use error::TestError;
pub use event::TestEvent;
#[cfg(feature = "mcp")]
pub use mcp::{TestAgent, TestToolResult, TestTools};
pub use request::TestRequest;
pub use response::{IntoStatus, TestResponse};
#[cfg(feature = "conformance")]
#[doc(inline)]
pub use stockade_conformance as conformance;
#[doc(inline)]
pub use stockade_hardening::{
    AccountRequest, AttackFamily, Credentials, FamilyCount, Hardening, HardeningFailure,
    HardeningReport, IntoApp, IntoRouters, MultipartForm, NotAttacked, SkippedAttacks, TestClock,
    assert_hardened, assert_policy, assert_posture, assert_routes_lock,
};
#[cfg(feature = "contract")]
#[doc(inline)]
pub use stockade_hardening::{Contract, ContractError};
#[cfg(feature = "proptest")]
#[doc(inline)]
pub use stockade_hardening::{
    NotChecked, Property, PropertyCheck, PropertyFailure, RouteReport, SchemaReport, check_schemas,
};
pub use stream::TestStream;
pub use web_socket::{TestMessage, TestWebSocket, TestWebSocketRequest};
