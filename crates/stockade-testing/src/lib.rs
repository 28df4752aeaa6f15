//! A test client, in process and without a port, or with the same calls over
//! one.
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
//! A failed assertion prints the whole exchange, request and response, with
//! credentials left out, and the line of the test.
//!
//! # What runs
//!
//! In process a request passes all of [`App::handle`]: the rate limit, CORS,
//! security headers, middleware. Its peer is [`DEFAULT_PEER`], unless the
//! request or the client sets another. Redirects are not followed. The parts of
//! a server are missing: limits of the head, timeouts of slow clients, the
//! header `Date`. [`TestClient::live`] connects to a running server.
//!
//! The client needs a tokio runtime with time, such as that of
//! `#[tokio::test]`.
//!
//! The client reads a whole response before the test sees it.
//! [`TestRequest::stream`] opens one without an end, such as server-sent
//! events. A response that takes more than 30 seconds
//! ([`TestClient::with_timeout`]) or has more than 64 MiB is a failure.
//!
//! # Hardening
//!
//! [`assert_hardened`] attacks an application by requests that are made of what
//! it knows about its routes, and fails if one of them gets through.
//! [`Hardening`] has the options and the report.
//!
//! # Contracts
//!
//! [`App::route_map`] lists the answers of each route, and documents say the
//! same to clients. With the feature `contract`, a client holds each answer of a
//! test against the map: [`TestClient::with_contract`]. So the tests that an
//! application has anyway prove that its documents are true.
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
//! Where an answer breaks the contract, either the handler or its description is
//! wrong. A handler that makes a bare `Response` says more by `RouteDocs::response`, a
//! reply of your own by `Reply::describe`, middleware by `Middleware::describing`.
//!
//! [`App::handle`]: stockade_routing::App::handle
//! [`App::route_map`]: stockade_routing::App::route_map

// Where things are:
// - `client`, `request`: `TestClient`, `TestRequest`, `TestError`.
// - `response`, `stream`: `TestResponse`, `TestStream`; `event`:
//   `TestEvent`.
// - `web_socket`: `TestWebSocket`.
// - `cookies`: the jar.
// - `transport`: in process, or over a port.
//
// The checks of an application are in stockade-hardening, with the messages of
// failed assertions.

mod client;
mod cookies;
mod error;
mod event;
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
pub use request::TestRequest;
pub use response::{IntoStatus, TestResponse};
#[cfg(feature = "conformance")]
#[cfg_attr(docsrs, doc(cfg(feature = "conformance")))]
#[doc(inline)]
pub use stockade_conformance as conformance;
#[doc(inline)]
pub use stockade_hardening::{
    AttackFamily, Credentials, FamilyCount, Hardening, HardeningFailure, HardeningReport, IntoApp,
    MultipartForm, NotAttacked, SkippedAttacks, TestClock, assert_hardened, assert_policy,
    assert_routes_lock,
};
#[cfg(feature = "contract")]
#[cfg_attr(docsrs, doc(cfg(feature = "contract")))]
#[doc(inline)]
pub use stockade_hardening::{Contract, ContractError};
#[cfg(feature = "proptest")]
#[cfg_attr(docsrs, doc(cfg(feature = "proptest")))]
#[doc(inline)]
pub use stockade_hardening::{
    NotChecked, Property, PropertyCheck, PropertyFailure, RouteReport, SchemaReport, check_schemas,
};
pub use stream::TestStream;
pub use web_socket::{TestMessage, TestWebSocket, TestWebSocketRequest};
