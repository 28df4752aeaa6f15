//! [`TrailingSlash`]: the treatment of a slash at the end of a path.

use serde::{Deserialize, Serialize};

/// The treatment of requests whose path differs from a route only by a slash at its end.
///
/// `RouterOptions::trailing_slash` sets it, and a configuration file has
/// `"trailingSlash": "redirect"`.
#[derive(
    Clone, Copy, Debug, Default, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize,
)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum TrailingSlash {
    /// The two paths are different, and the other one is a 404.
    #[default]
    Strict,
    /// The other path is a 308 to the declared path, with the query.
    Redirect,
    /// The route runs for both paths.
    Ignore,
}

impl TrailingSlash {
    /// Returns true for the default.
    #[must_use]
    pub fn is_strict(&self) -> bool {
        *self == Self::Strict
    }
}
