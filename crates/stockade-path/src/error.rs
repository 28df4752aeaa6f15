//! [`PatternError`]: the errors in the path of a route.

use std::fmt;
use std::ops::Range;

/// A path that cannot become a [`Pattern`](crate::Pattern).
///
/// The error is found when a route is made, never while a request is served.
/// Each variant has the path as it was given, and the bytes at fault.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum PatternError {
    /// Two parameters have no text between them, so that the end of the first
    /// is unknown.
    AdjacentParameters {
        /// The path as given.
        path: String,
        /// The second parameter.
        at: Range<usize>,
    },
    /// The expression of a parameter is not one that the matcher can run.
    BadConstraint {
        /// The path as given.
        path: String,
        /// The part of the expression that is at fault.
        at: Range<usize>,
        /// The reason.
        message: String,
    },
    /// Two parameters have the same name; `*` and `**` are named `splat`.
    DuplicateName {
        /// The path as given.
        path: String,
        /// The second parameter.
        at: Range<usize>,
        /// The name.
        name: String,
    },
    /// A `:` has no name after it: a letter, `_` or `$`, then also digits.
    EmptyName {
        /// The path as given.
        path: String,
        /// The `:`.
        at: Range<usize>,
    },
    /// A `*` stands in a segment with something else.
    MixedWildcard {
        /// The path as given.
        path: String,
        /// The `*`.
        at: Range<usize>,
    },
    /// Something follows `**`, which takes the rest of the path.
    RestNotLast {
        /// The path as given.
        path: String,
        /// The part that follows.
        at: Range<usize>,
    },
    /// The path is longer than 4,096 bytes.
    TooLong {
        /// The path as given.
        path: String,
        /// The part beyond the limit.
        at: Range<usize>,
    },
    /// The path has more than 8 optional parameters, each of which doubles its
    /// variants.
    TooManyOptional {
        /// The path as given.
        path: String,
        /// The ninth.
        at: Range<usize>,
    },
    /// The parenthesis that begins an expression is never closed.
    UnbalancedParenthesis {
        /// The path as given.
        path: String,
        /// The opening parenthesis.
        at: Range<usize>,
    },
    /// A character that no path of a request can have.
    UnsupportedCharacter {
        /// The path as given.
        path: String,
        /// The character.
        at: Range<usize>,
        /// The text to write instead.
        hint: &'static str,
    },
}

impl PatternError {
    /// Returns the bytes of the given path that are at fault. The range is
    /// within the path and on character boundaries, so that a diagnostic can
    /// underline it.
    #[must_use]
    pub fn at(&self) -> Range<usize> {
        match self {
            Self::AdjacentParameters { at, .. }
            | Self::BadConstraint { at, .. }
            | Self::DuplicateName { at, .. }
            | Self::EmptyName { at, .. }
            | Self::MixedWildcard { at, .. }
            | Self::RestNotLast { at, .. }
            | Self::TooLong { at, .. }
            | Self::TooManyOptional { at, .. }
            | Self::UnbalancedParenthesis { at, .. }
            | Self::UnsupportedCharacter { at, .. } => at.clone(),
        }
    }

    /// Returns the path as it was given.
    #[must_use]
    pub fn path(&self) -> &str {
        match self {
            Self::AdjacentParameters { path, .. }
            | Self::BadConstraint { path, .. }
            | Self::DuplicateName { path, .. }
            | Self::EmptyName { path, .. }
            | Self::MixedWildcard { path, .. }
            | Self::RestNotLast { path, .. }
            | Self::TooLong { path, .. }
            | Self::TooManyOptional { path, .. }
            | Self::UnbalancedParenthesis { path, .. }
            | Self::UnsupportedCharacter { path, .. } => path,
        }
    }
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path();
        // An excerpt: the ranges are within the path by construction.
        let text = path.get(self.at()).unwrap_or_default();
        match self {
            Self::AdjacentParameters { .. } => {
                write!(f, "path {path:?} needs text between {text:?} and the parameter before it")
            }
            Self::BadConstraint { message, .. } => {
                write!(f, "path {path:?} has a bad expression at {text:?}: {message}")
            }
            Self::DuplicateName { name, .. } => {
                write!(f, "path {path:?} has two parameters named {name:?}")
            }
            Self::EmptyName { at, .. } => {
                write!(f, "path {path:?} has no name after `:` at byte {}", at.start)
            }
            Self::MixedWildcard { .. } => {
                write!(f, "path {path:?} mixes `*` with text; `*` and `**` are whole segments")
            }
            Self::RestNotLast { .. } => {
                write!(f, "path {path:?} has {text:?} after `**`, which must be last")
            }
            Self::TooLong { .. } => write!(f, "path {path:?} is longer than 4096 bytes"),
            Self::TooManyOptional { .. } => {
                write!(f, "path {path:?} has more than 8 optional parameters")
            }
            Self::UnbalancedParenthesis { at, .. } => {
                write!(f, "path {path:?} never closes the parenthesis at byte {}", at.start)
            }
            Self::UnsupportedCharacter { hint, .. } => {
                write!(f, "path {path:?} cannot contain {text:?}: {hint}")
            }
        }
    }
}

impl std::error::Error for PatternError {}
