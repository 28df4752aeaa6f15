//! [`Segment`]: the part of a pattern between two slashes.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::fmt;

use crate::Constraint;
use crate::encoding::encoded;

/// The parameter name of `*` and `**`.
pub const SPLAT: &str = "splat";

/// The part of a pattern between two slashes.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Segment {
    /// Text that the segment must equal; empty between the slashes of `//`. It
    /// is the declared text without the backslashes of `\:` and `\*`.
    /// [`encoded`](crate::encoded) returns the form that requests use.
    Literal(String),
    /// Parameters and the text around them.
    ///
    /// Invariant: contains a parameter; no two parameters or texts are
    /// adjacent.
    Parts(Vec<SegmentPart>),
    /// `*`: any non-empty segment.
    Any,
    /// `**`: this segment, which may be empty, and all following segments.
    Rest,
}

/// A piece of a segment.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum SegmentPart {
    /// Text, never empty; see [`Segment::Literal`].
    Literal(String),
    /// A parameter.
    Param(Param),
}

/// A parameter: `:name`, `:name(expr)`, `:name?` or `:name(expr)?`.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub struct Param {
    /// The name, without the `:`.
    pub name: String,
    /// The expression that the value must match. `None` matches one or more
    /// characters.
    pub constraint: Option<Constraint>,
    /// True if the parameter may be absent. Always `false` in a
    /// [`Variant`](crate::Variant).
    pub optional: bool,
}

/// The precedence of a segment. If two segments match, the lesser one wins.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Precedence {
    rank: u8,
    /// The number of characters of encoded text. More text has precedence.
    text: Reverse<usize>,
    /// The last criterion. It makes the order total.
    shape: String,
}

impl Segment {
    /// Returns the notation without the names of parameters and with
    /// [encoded](crate::encoded) text.
    ///
    /// Segments of the same shape match the same text.
    #[must_use]
    pub fn shape(&self) -> String {
        let mut shape = String::new();
        // Writing to a `String` cannot fail.
        let _ = self.write(&mut shape, false);
        shape
    }

    /// Returns the precedence among segments that match the same text.
    ///
    /// Text comes first, then a segment with an expression, one with parameters
    /// and text, a plain parameter, `*`, `**`. See the [crate docs](crate).
    #[must_use]
    pub fn precedence(&self) -> Precedence {
        let plain = |rank| Precedence { rank, text: Reverse(0), shape: String::new() };
        match self {
            Self::Literal(_) => plain(0),
            Self::Parts(_) if self.is_constrained() => {
                Precedence { rank: 1, text: Reverse(self.text_chars()), shape: self.shape() }
            }
            Self::Parts(parts) if parts.len() > 1 => {
                Precedence { rank: 2, text: Reverse(self.text_chars()), shape: self.shape() }
            }
            Self::Parts(_) => plain(3),
            Self::Any => plain(4),
            Self::Rest => plain(5),
        }
    }

    /// Returns the parameters in order. `*` and `**` do not have any.
    pub fn params(&self) -> impl Iterator<Item = &Param> {
        let params = self.parts().iter().filter_map(|part| match part {
            SegmentPart::Param(param) => Some(param),
            SegmentPart::Literal(_) => None,
        });
        // Collected into a list to hide the type of the iterator chain.
        // Otherwise, this type would appear in the names of many other types
        // and in the debug information of every program.
        params.collect::<Vec<_>>().into_iter()
    }

    /// Returns the names of the captured parameters in order, each with a flag
    /// that is true if the parameter may be absent.
    pub(crate) fn names(&self) -> Vec<(&str, bool)> {
        let splat = matches!(self, Self::Any | Self::Rest).then_some((SPLAT, false));
        self.params().map(|param| (param.name.as_str(), param.optional)).chain(splat).collect()
    }

    /// Returns true if the segment is a single optional parameter. When absent,
    /// its slash is omitted too.
    #[must_use]
    pub fn is_optional(&self) -> bool {
        matches!(self.parts(), [SegmentPart::Param(param)] if param.optional)
    }

    fn is_constrained(&self) -> bool {
        self.params().any(|param| param.constraint.is_some())
    }

    fn parts(&self) -> &[SegmentPart] {
        match self {
            Self::Parts(parts) => parts,
            Self::Literal(_) | Self::Any | Self::Rest => &[],
        }
    }

    fn text_chars(&self) -> usize {
        let chars = |part: &SegmentPart| match part {
            SegmentPart::Literal(text) => encoded(text).chars().count(),
            SegmentPart::Param(_) => 0,
        };
        self.parts().iter().map(chars).sum()
    }

    fn write(&self, to: &mut impl fmt::Write, with_names: bool) -> fmt::Result {
        match self {
            Self::Literal(text) => write_text(to, text, with_names),
            Self::Any => to.write_str("*"),
            Self::Rest => to.write_str("**"),
            Self::Parts(parts) => parts.iter().try_for_each(|part| match part {
                SegmentPart::Literal(text) => write_text(to, text, with_names),
                SegmentPart::Param(param) => param.write(to, with_names),
            }),
        }
    }
}

/// Writes text in the notation: as declared, or in the encoded form that all
/// its spellings share.
fn write_text(to: &mut impl fmt::Write, text: &str, as_declared: bool) -> fmt::Result {
    let text = if as_declared { Cow::Borrowed(text) } else { encoded(text) };
    text.chars().try_for_each(|character| match character {
        ':' | '*' => write!(to, "\\{character}"),
        _ => to.write_char(character),
    })
}

impl Param {
    fn write(&self, to: &mut impl fmt::Write, with_names: bool) -> fmt::Result {
        to.write_char(':')?;
        if with_names {
            to.write_str(&self.name)?;
        }
        if let Some(constraint) = &self.constraint {
            write!(to, "({})", constraint.as_str())?;
        }
        if self.optional { to.write_char('?') } else { Ok(()) }
    }
}

/// Writes the notation.
impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, true)
    }
}
