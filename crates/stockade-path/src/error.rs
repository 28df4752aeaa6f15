//! [`PatternError`]: the errors in the path of a route.

use std::fmt;
use std::ops::Range;

/// A path that cannot become a [`Pattern`](crate::Pattern).
///
/// The error is found when a route is made, never while a request is served.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PatternError {
    kind: PatternErrorKind,
    path: String,
    /// Invariant: within the path, on character boundaries.
    at: Range<usize>,
}

/// The kind of a [`PatternError`]. The range of the error is given for each.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum PatternErrorKind {
    /// Two parameters have no text between them, so that the end of the first
    /// is unknown. The range is the second parameter.
    AdjacentParameters,
    /// The matcher cannot run the expression of a parameter, for this reason.
    /// The range is the part of the expression at fault.
    BadConstraint(String),
    /// Two parameters have this name; `*` and `**` are named `splat`. The range
    /// is the second parameter.
    DuplicateName(String),
    /// A `:` has no name after it: a letter, `_` or `$`, then also digits. The
    /// range is the `:`.
    EmptyName,
    /// A `*` stands in a segment with other text. The range is the `*`.
    MixedWildcard,
    /// A segment follows `**`, which takes the rest of the path. The range is
    /// the part that follows.
    RestNotLast,
    /// The path is longer than 4,096 bytes. The range is the part beyond.
    TooLong,
    /// The path has more than 8 optional parameters, each of which doubles its
    /// variants. The range is the ninth.
    TooManyOptional,
    /// The parenthesis that begins an expression is never closed. The range is
    /// the parenthesis.
    UnbalancedParenthesis,
    /// A segment ends with a parameter of this name directly after a letter or a digit, as
    /// in `/users:batch`. It may be meant as the text `:batch`, which is written `\:batch`.
    /// The range is the parameter.
    UnclearParameter(String),
    /// A character that no path of a request can have; the text names its
    /// replacement. The range is the character.
    UnsupportedCharacter(&'static str),
}

impl PatternError {
    pub(crate) fn new(kind: PatternErrorKind, path: &str, at: Range<usize>) -> Self {
        Self { kind, path: path.to_owned(), at }
    }

    /// Returns the kind of the error.
    #[must_use]
    pub fn kind(&self) -> &PatternErrorKind {
        &self.kind
    }

    /// Returns the bytes of the given path that are at fault. The range is
    /// within the path and on character boundaries, so that a diagnostic can
    /// underline it.
    #[must_use]
    pub fn at(&self) -> Range<usize> {
        self.at.clone()
    }

    /// Returns the path as it was given.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use PatternErrorKind as Kind;
        let Self { kind, path, at } = self;
        // An excerpt: the range is within the path by its invariant.
        let text = path.get(self.at()).unwrap_or_default();
        write!(f, "path {path:?} ")?;
        match kind {
            Kind::AdjacentParameters => {
                write!(f, "needs text between {text:?} and the parameter before it")
            }
            Kind::BadConstraint(message) => {
                write!(f, "has a bad expression at {text:?}: {message}")
            }
            Kind::DuplicateName(name) => write!(f, "has two parameters named {name:?}"),
            Kind::EmptyName => write!(f, "has no name after `:` at byte {}", at.start),
            Kind::MixedWildcard => {
                f.write_str("mixes `*` with text; `*` and `**` are whole segments")
            }
            Kind::RestNotLast => write!(f, "has {text:?} after `**`, which must be last"),
            Kind::TooLong => f.write_str("is longer than 4096 bytes"),
            Kind::TooManyOptional => f.write_str("has more than 8 optional parameters"),
            Kind::UnbalancedParenthesis => {
                write!(f, "never closes the parenthesis at byte {}", at.start)
            }
            Kind::UnclearParameter(name) => write!(
                f,
                "has {text:?} directly after a letter or digit: write `\\:{name}` for this text, \
                 or `:{name}(.+)` for a parameter"
            ),
            Kind::UnsupportedCharacter(hint) => write!(f, "cannot contain {text:?}: {hint}"),
        }
    }
}

impl std::error::Error for PatternError {}
