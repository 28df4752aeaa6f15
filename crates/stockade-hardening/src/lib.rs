//! Checks that compare an application with its own route map.
//!
//! - [`assert_hardened`] attacks an application with requests generated from
//!   its map. It fails if an attack succeeds. For options and the report, see
//!   [`Hardening`].
//! - `Contract` (feature `contract`) fails if the map does not list a response.
//! - `check_schemas` (feature `proptest`) sends valid and invalid input
//!   generated from the schemas.
//! - [`assert_policy`] fails if a route violates a policy rule.
//! - [`assert_posture`] checks a configuration file with the same rules.
//! - [`assert_routes_lock`] fails if the routes differ from a committed file.
//!
//! The test client of `stockade-testing` uses the `Contract` of this crate and
//! re-exports all items.
#![cfg_attr(docsrs, feature(doc_cfg))]

// Modules:
// - `hardening`: `assert_hardened`, `Hardening`.
// - `contract`: `Contract`, which checks responses against the route map.
// - `properties`: `check_schemas`.
// - `policy`: `assert_policy`; `posture`: `assert_posture`.
// - `lock`: `assert_routes_lock`.
// - `into_app`: `IntoApp`; `into_routers`: `IntoRouters`; `test_clock`:
//   `TestClock`.
// - `header_names`: texts in the sources of the package that may name a header.
// - `sample`: generates one valid request for a route from the map.
// - `shot`: a request of `hardening` and `properties`; `credentials`: its user;
//   `idempotency_key`: its key; `any_version`: its `If-Match`; `form`:
//   `MultipartForm`; `header`: its headers.
// - `exchange`, `redact`, `difference`, `fail`: the messages of failed
//   assertions.

mod any_version;
#[cfg(feature = "contract")]
mod contract;
mod credentials;
#[doc(hidden)]
pub mod difference;
#[doc(hidden)]
pub mod exchange;
#[doc(hidden)]
pub mod fail;
mod form;
mod hardening;
#[doc(hidden)]
pub mod header;
mod header_names;
mod idempotency_key;
mod into_app;
mod into_routers;
mod lock;
mod policy;
mod posture;
#[cfg(feature = "proptest")]
mod properties;
mod redact;
mod sample;
mod shot;
mod test_clock;

#[cfg(feature = "contract")]
pub use contract::{Contract, ContractError};
pub use credentials::Credentials;
pub use form::MultipartForm;
pub use hardening::{
    AccountRequest, AttackFamily, FamilyCount, Hardening, HardeningFailure, HardeningReport,
    NotAttacked, SkippedAttacks, assert_hardened,
};
pub use into_app::IntoApp;
pub use into_routers::IntoRouters;
pub use lock::assert_routes_lock;
pub use policy::assert_policy;
pub use posture::assert_posture;
#[cfg(feature = "proptest")]
pub use properties::{
    NotChecked, Property, PropertyCheck, PropertyFailure, RouteReport, SchemaReport, check_schemas,
};
pub use test_clock::TestClock;
