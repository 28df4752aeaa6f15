//! Entity tags and conditional requests: clients do not download unchanged data
//! again, and do not overwrite each other's changes.
//!
//! A resource with a version returns [`WithETag`], and a handler that changes
//! it takes [`IfMatch`]:
//!
//! ```
//! use stockade::middleware::{IfMatch, WithETag};
//! use stockade::prelude::*;
//!
//! #[derive(serde::Serialize, Schema)]
//! struct Org { version: u64, name: String }
//!
//! # fn load() -> Org { Org { version: 7, name: "acme".to_owned() } }
//! async fn show() -> WithETag<u64, Org> {
//!     let org = load();
//!     WithETag(org.version, org)
//! }
//!
//! async fn rename(version: IfMatch) -> Result<WithETag<u64, Org>, ApiError> {
//!     let org = load();
//!     version.check(org.version)?;
//!     Ok(WithETag(org.version + 1, Org { version: org.version + 1, ..org }))
//! }
//!
//! # use stockade::testing::TestClient;
//! # #[tokio::main]
//! # async fn main() {
//! let api = routes! { "org": { GET: show, PATCH: rename } };
//! # let client = TestClient::new(create_router(api, RouterOptions::new()));
//! client.get("/org").header("if-none-match", "\"7\"").await.assert_status(304);
//! client.patch("/org").header("if-match", "\"6\"").await.assert_status(412);
//! client.patch("/org").header("if-match", "\"7\"").await.assert_status(200);
//! # }
//! ```
//!
//! [`with_etag`] tags responses without a version with a hash of their bytes. A
//! handler that compares dates takes [`Preconditions`].
//!
//! # Beyond the spec
//! The specification does not define conditional requests. Source: RFC 9110,
//! section 13.

// Files:
// - `etag`: `ETag`, its text, and the comparison of two tags.
// - `preconditions`: `Preconditions`, and the order of their evaluation.
// - `with_etag`: `with_etag`.
// - `versioned`: `WithETag` and `IfMatch`.

mod etag;
mod preconditions;
mod versioned;
mod with_etag;

pub use etag::ETag;
#[cfg(feature = "compression")]
pub(crate) use etag::{strengthen, weaken};
pub use preconditions::{Outcome, Preconditions, Validators};
#[cfg(feature = "files")]
pub(crate) use preconditions::{describe_conditions, whole_seconds};
pub use versioned::{IfMatch, IntoETag, WithETag};
pub use with_etag::{EntityTags, with_etag};
