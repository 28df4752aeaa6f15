//! [`PatternError`]: what can be wrong with a route's path.

use std::fmt;
use std::ops::Range;

/// A path that cannot become a [`Pattern`](crate::Pattern).
///
/// It is found when a route is made, never while a request is served. Each
/// variant has the path as it was given, and the bytes of it that are at fault.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum PatternError {
    /// Two parameters have nothing between them, so that nobody could tell
    /// where the first ends: put text between them.
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
        /// What is wrong with it.
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
        /// What follows.
        at: Range<usize>,
    },
    /// The path is longer than 4,096 bytes.
    TooLong {
        /// The path as given.
        path: String,
        /// What is beyond the limit.
        at: Range<usize>,
    },
    /// There are more than 8 optional parameters; each doubles what the path
    /// stands for.
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
        /// What to write instead.
        hint: &'static str,
    },
}

impl PatternError {
    /// The bytes of the given path that are at fault: never beyond its end, and
    /// on character boundaries, so that a diagnostic can underline them.
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

    /// The path as it was given.
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
