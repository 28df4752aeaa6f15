//! [`TrailingSlash`]: the treatment of a trailing slash in a path.

use serde::{Deserialize, Serialize};

/// The treatment of requests with a path that differs from a route only by a
/// trailing slash.
///
/// `RouterOptions::trailing_slash` sets it. In a configuration file, it is
/// `"trailingSlash": "redirect"`.
#[derive(
    Clone, Copy, Debug, Default, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize,
)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum TrailingSlash {
    /// The two paths are different: the undeclared path is a 404.
    #[default]
    Strict,
    /// The undeclared path is a 308 to the declared path, with the query.
    Redirect,
    /// The route handles both paths.
    Ignore,
}

impl TrailingSlash {
    /// Returns true for the default.
    #[must_use]
    pub fn is_strict(&self) -> bool {
        *self == Self::Strict
    }
}
