//! Entity tags and conditional requests: clients do not receive unchanged data
//! again, and do not overwrite changes of others.
//!
//! [`with_etag`] handles requests that read. A handler that changes a resource
//! takes [`Preconditions`] and checks them first:
//!
//! ```
//! use stockade::middleware::{ETag, Preconditions, Validators};
//! use stockade::ApiError;
//!
//! async fn rename(preconditions: Preconditions) -> Result<&'static str, ApiError> {
//!     let current = ETag::of(b"the present state");
//!     preconditions.check(&Validators::etag(current))?;
//!     Ok("renamed")
//! }
//!
//! # use stockade::testing::TestClient;
//! # #[tokio::main]
//! # async fn main() {
//! let mut router = stockade::Router::new();
//! router.put("/name", rename);
//! let client = TestClient::new(router);
//! client.put("/name").header("if-match", "\"another\"").await.assert_status(412);
//! client.put("/name").await.assert_text("renamed");
//! # }
//! ```
//!
//! # Beyond the spec
//! The specification has no conditional requests. Source: RFC 9110, section 13.

// Where things are:
// - `etag`: `ETag`, its text, and the comparison of two tags.
// - `preconditions`: `Preconditions`, and the order of their evaluation.
// - `with_etag`: `with_etag`.

mod etag;
mod preconditions;
mod with_etag;

pub use etag::ETag;
#[cfg(feature = "compression")]
pub(crate) use etag::weaken;
pub use preconditions::{Outcome, Preconditions, Validators};
#[cfg(feature = "files")]
pub(crate) use preconditions::{describe_conditions, whole_seconds};
pub use with_etag::{EntityTags, with_etag};
