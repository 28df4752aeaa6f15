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
//! wrong. A handler that makes a bare `Response` says more by `Docs::response`, a
//! reply of your own by `Reply::describe`, middleware by `Middleware::describing`.
//!
//! [`App::handle`]: stockade_routing::App::handle
//! [`App::route_map`]: stockade_routing::App::route_map

// Where things are:
// - `client`, `request`: `TestClient`, `TestRequest`, `TestError`.
// - `response`, `stream`: `TestResponse`, `TestStream`; `event`:
//   `TestEvent`.
// - `web_socket`: `TestWebSocket`.
// - `policy`: `assert_policy`.
// - `lock`: `assert_routes_lock`.
// - `form`: `MultipartForm`; `cookies`: the jar; `test_clock`: `TestClock`.
// - `contract`: `Contract`, answers against the map of the routes.
// - `transport`: in process, or over a port.
// - `hardening`: `assert_hardened`, `Hardening`.
// - `sample`: one valid request for a route, made of the map.
// - `properties`: `check_schemas`.
// - `idempotency_key`: keys for requests of `hardening` and `properties`.
// - `exchange`, `redact`, `difference`, `fail`: the messages of failed
//   assertions.

mod client;
#[cfg(feature = "contract")]
mod contract;
mod cookies;
mod credentials;
mod difference;
mod error;
mod event;
mod exchange;
mod fail;
mod form;
mod hardening;
mod idempotency_key;
mod lock;
mod policy;
#[cfg(feature = "proptest")]
mod properties;
mod redact;
mod request;
mod response;
mod sample;
mod stream;
mod test_clock;
mod transport;
mod web_socket;

#[cfg(test)]
mod tests;

pub use client::{DEFAULT_PEER, DEFAULT_TIMEOUT, IntoApp, TestClient};
#[cfg(feature = "contract")]
#[cfg_attr(docsrs, doc(cfg(feature = "contract")))]
pub use contract::{Contract, ContractError};
pub use credentials::Credentials;
pub use error::TestError;
pub use event::TestEvent;
pub use form::MultipartForm;
pub use hardening::{
    AttackFamily, FamilyCount, Hardening, HardeningFailure, HardeningReport, NotAttacked,
    SkippedAttacks, assert_hardened,
};
pub use lock::assert_routes_lock;
pub use policy::assert_policy;
#[cfg(feature = "proptest")]
#[cfg_attr(docsrs, doc(cfg(feature = "proptest")))]
pub use properties::{
    NotChecked, Property, PropertyFailure, RouteReport, SchemaCheck, SchemaReport, check_schemas,
};
pub use request::TestRequest;
pub use response::{IntoStatus, TestResponse};
#[cfg(feature = "conformance")]
#[cfg_attr(docsrs, doc(cfg(feature = "conformance")))]
#[doc(inline)]
pub use stockade_conformance as conformance;
pub use stream::TestStream;
pub use test_clock::TestClock;
pub use web_socket::{TestMessage, TestWebSocket, TestWebSocketRequest};
