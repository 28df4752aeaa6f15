//! Cross-origin resource sharing (CORS): the origins that may read a response.
//!
//! A router and [`with_cors`] take [`CorsOptions`]. `Cors` is prepared once
//! from these options, and writes the headers of responses and preflights.
// Spec: Response headers › CORS rules.

// Files:
// - `options`: `CorsOptions` and `CorsOrigin`.
// - `policy`: `Cors`, `CorsDecided`, `is_preflight` and `origin_of`.
// - `origin`: the syntax of an origin.
// - `with_cors`: `with_cors`.

mod options;
mod origin;
pub(crate) mod policy;
mod with_cors;

pub use options::{CorsOptions, CorsOrigin, cors_setting};
pub use origin::is_origin;
pub use policy::CorsDecided;
pub(crate) use policy::{Cors, is_preflight, origin_of};
pub use with_cors::with_cors;

#[doc(hidden)]
pub mod policy_internals {
    pub use super::policy::{Cors, PageNames, is_preflight, origin_of};
}
