//! Entity tags and conditional requests: what has not changed is not sent, and
//! what has changed is not overwritten.
//!
//! [`with_etag`] does the reading side by itself. A handler that changes
//! something takes [`Preconditions`] and checks them before it does:
//!
//! ```
//! use stockade_core::{ApiError, Handler};
//! use stockade_middleware::{ETag, Preconditions, Validators};
//!
//! async fn rename(preconditions: Preconditions) -> Result<&'static str, ApiError> {
//!     let current = ETag::of(b"the present state");
//!     preconditions.check(&Validators::etag(current))?;
//!     Ok("renamed")
//! }
//! let handler = Handler::new(rename);
//! # let _ = handler;
//! ```
//!
//! # Where things are
//!
//! - `etag`: [`ETag`], its text, and how two of them are compared.
//! - `preconditions`: [`Preconditions`], and the order of their evaluation.
//! - `with_etag`: [`with_etag`].
//!
//! # Beyond the spec
//! The specification names none of it. Source: RFC 9110, section 13.

mod etag;
mod preconditions;
mod with_etag;

pub use etag::ETag;
#[cfg(feature = "compression")]
pub(crate) use etag::weaken;
pub use preconditions::{Outcome, Preconditions, Validators};
pub use with_etag::{EntityTags, with_etag};
