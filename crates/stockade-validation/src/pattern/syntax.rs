//! [`Syntax`]: the parsed form of a pattern.

use regex_syntax::hir::ClassUnicode;

/// A parsed pattern or a part of one. Its classes contain the code points that
/// match, so later steps interpret neither flags nor class names.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Syntax {
    /// One code point of a set.
    Class(ClassUnicode),
    At(Place),
    Around(Box<Around>),
    /// A capture group, by its number from 1.
    Group(usize, Box<Self>),
    /// The text of a capture group.
    Reference(usize),
    Concat(Vec<Self>),
    Alternation(Vec<Self>),
    Repeat(Box<Repeat>),
}

/// A position without look-around.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Place {
    Start,
    End,
    WordBoundary,
    NotWordBoundary,
}

/// A look-ahead or a look-behind.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Around {
    pub(super) side: Side,
    pub(super) is_negative: bool,
    pub(super) inner: Syntax,
}

/// The direction in which a pattern is matched.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Side {
    Ahead,
    Behind,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Repeat {
    pub(super) inner: Syntax,
    pub(super) least: u32,
    pub(super) most: Option<u32>,
    pub(super) is_greedy: bool,
}

impl Syntax {
    /// Returns true if `regex_automata` can search for the pattern.
    ///
    /// It cannot search for `\B`, whose empty matches can be within a character.
    pub(super) fn is_regular(&self) -> bool {
        !self.any(&|part| {
            matches!(part, Self::At(Place::NotWordBoundary) | Self::Around(_) | Self::Reference(_))
        })
    }

    pub(super) fn has_references(&self) -> bool {
        self.any(&|part| matches!(part, Self::Reference(_)))
    }

    /// Returns the pattern without its look-around and back references.
    pub(super) fn without_look_around(&self) -> Self {
        let all = |parts: &[Self]| parts.iter().map(Self::without_look_around).collect();
        match self {
            Self::At(Place::NotWordBoundary) | Self::Around(_) | Self::Reference(_) => {
                Self::Concat(Vec::new())
            }
            Self::Class(_) | Self::At(_) => self.clone(),
            Self::Group(_, inner) => inner.without_look_around(),
            Self::Concat(parts) => Self::Concat(all(parts)),
            Self::Alternation(parts) => Self::Alternation(all(parts)),
            Self::Repeat(repeat) => {
                let inner = repeat.inner.without_look_around();
                Self::Repeat(Box::new(Repeat { inner, ..**repeat }))
            }
        }
    }

    /// Collects the numbers of the capture groups.
    pub(super) fn groups(&self, found: &mut Vec<usize>) {
        match self {
            Self::Class(_) | Self::At(_) | Self::Reference(_) => {}
            Self::Around(around) => around.inner.groups(found),
            Self::Group(number, inner) => {
                found.push(*number);
                inner.groups(found);
            }
            Self::Concat(parts) | Self::Alternation(parts) => {
                parts.iter().for_each(|part| part.groups(found));
            }
            Self::Repeat(repeat) => repeat.inner.groups(found),
        }
    }

    /// Returns true if `is_wanted` is true for this part or a part of it.
    fn any(&self, is_wanted: &dyn Fn(&Self) -> bool) -> bool {
        is_wanted(self)
            || match self {
                Self::Class(_) | Self::At(_) | Self::Reference(_) => false,
                Self::Around(around) => around.inner.any(is_wanted),
                Self::Group(_, inner) => inner.any(is_wanted),
                Self::Concat(parts) | Self::Alternation(parts) => {
                    parts.iter().any(|part| part.any(is_wanted))
                }
                Self::Repeat(repeat) => repeat.inner.any(is_wanted),
            }
    }
}

/// Returns true for the characters of `\w`.
pub(super) fn is_word(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '_'
}

impl Place {
    /// Returns true if `position` matches. `position` must be a character
    /// boundary.
    pub(super) fn is_at(self, text: &str, position: usize) -> bool {
        let (before, after) = text.split_at_checked(position).unwrap_or((text, ""));
        let is_boundary = || {
            before.chars().next_back().is_some_and(is_word)
                != after.chars().next().is_some_and(is_word)
        };
        match self {
            Self::Start => before.is_empty(),
            Self::End => after.is_empty(),
            Self::WordBoundary => is_boundary(),
            Self::NotWordBoundary => !is_boundary(),
        }
    }
}
