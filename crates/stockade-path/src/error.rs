//! [`PatternError`]: an error in the path of a route.

use std::fmt;
use std::ops::Range;

/// A path that cannot become a [`Pattern`](crate::Pattern).
///
/// The error is found when a route is created, never while a request is served.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PatternError {
    kind: PatternErrorKind,
    path: String,
    /// Invariant: within the path, on character boundaries.
    at: Range<usize>,
}

/// The kind of a [`PatternError`]. Each variant describes the range that the
/// error reports.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum PatternErrorKind {
    /// Two parameters have no text between them, so the end of the first is
    /// ambiguous. The range is the second parameter.
    AdjacentParameters,
    /// The expression of a parameter is invalid or unsupported, for this
    /// reason. The range is the failing part of the expression.
    BadConstraint(String),
    /// Two parameters have this name; `*` and `**` are named `splat`. The range
    /// is the second parameter.
    DuplicateName(String),
    /// No name follows a `:`. A name starts with a letter, `_` or `$`; digits
    /// may follow. The range is the `:`.
    EmptyName,
    /// A segment contains `*` and other text. The range is the `*`.
    MixedWildcard,
    /// A segment follows `**`, which matches the rest of the path. The range is
    /// the part after `**`.
    RestNotLast,
    /// The path is longer than 4,096 bytes. The range is the excess part.
    TooLong,
    /// The path has more than 8 optional parameters; each doubles the number of
    /// variants. The range is the ninth.
    TooManyOptional,
    /// The parenthesis that begins an expression is never closed. The range is
    /// the parenthesis.
    UnbalancedParenthesis,
    /// A segment ends with a parameter of this name directly after a letter or
    /// a digit, as in `/users:batch`. The author may have meant the text
    /// `:batch`, which is written `\:batch`. The range is the parameter.
    UnclearParameter(String),
    /// A character that cannot occur in a request path; the text names its
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

    /// Returns the failing byte range of the path. It is within the path and on
    /// character boundaries, so a diagnostic can underline it.
    #[must_use]
    pub fn at(&self) -> Range<usize> {
        self.at.clone()
    }

    /// Returns the original path.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use PatternErrorKind as Kind;
        let Self { kind, path, at } = self;
        // The invariant of `at` keeps the excerpt within the path.
        let text = path.get(self.at()).unwrap_or_default();
        write!(f, "path {path:?} ")?;
        match kind {
            Kind::AdjacentParameters => {
                write!(f, "requires text between {text:?} and the parameter before it")
            }
            Kind::BadConstraint(message) => {
                write!(f, "has an invalid expression at {text:?}: {message}")
            }
            Kind::DuplicateName(name) => write!(f, "has a duplicate parameter {name:?}"),
            Kind::EmptyName => write!(f, "is missing a name after `:` at byte {}", at.start),
            Kind::MixedWildcard => {
                f.write_str("mixes `*` with text: `*` and `**` must be whole segments")
            }
            Kind::RestNotLast => write!(f, "has {text:?} after `**`, which must be last"),
            Kind::TooLong => f.write_str("is longer than 4096 bytes"),
            Kind::TooManyOptional => f.write_str("has more than 8 optional parameters"),
            Kind::UnbalancedParenthesis => {
                write!(f, "does not close the parenthesis at byte {}", at.start)
            }
            Kind::UnclearParameter(name) => write!(
                f,
                "has {text:?} directly after a letter or digit: use `\\:{name}` for this text, or \
                 `:{name}(.+)` for a parameter"
            ),
            Kind::UnsupportedCharacter(hint) => write!(f, "cannot contain {text:?}: {hint}"),
        }
    }
}

impl std::error::Error for PatternError {}
