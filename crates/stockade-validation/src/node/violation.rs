//! [`Violation`], a rule that a value breaks, with its message.

use std::borrow::Cow;

use stockade_errors::short_name::short_name;

use crate::depth::MAX_DEPTH;

/// A rule that a value breaks.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Violation<'b> {
    /// The value is missing; the message names it.
    Required,
    Type {
        expected: &'b str,
        got: &'static str,
    },
    /// A rule by its name, with its message.
    Rule(&'static str, &'static str),
    /// The same with a message of the schema.
    Shown(&'static str, &'b str),
    /// A member that is not allowed, by its name.
    Unknown(&'b str),
    /// Too many levels.
    Depth,
    /// The search for a pattern took too many steps.
    PatternLimit,
}

impl Violation<'_> {
    pub(crate) fn rule(self) -> &'static str {
        match self {
            Self::Required => "required",
            Self::Type { .. } => "type",
            Self::Rule(rule, _) | Self::Shown(rule, _) => rule,
            Self::Unknown(_) => "additionalProperties",
            Self::Depth => "depth",
            Self::PatternLimit => "patternLimit",
        }
    }

    /// Returns the usual message.
    pub(crate) fn message(self) -> Cow<'static, str> {
        match self {
            Self::Required => "Required value is missing".into(),
            Self::Type { expected, got } => format!("Expected {expected}, got {got}").into(),
            Self::Rule(_, message) => message.into(),
            Self::Shown(_, message) => message.to_owned().into(),
            Self::Unknown(name) => unknown_field(name).into(),
            Self::Depth => format!("Value is nested more than {MAX_DEPTH} levels deep").into(),
            Self::PatternLimit => {
                "Text cannot be checked: its pattern takes too many steps; send a shorter text"
                    .into()
            }
        }
    }

    /// Returns true if a message of the schema stands in for the usual one.
    pub(crate) fn accepts_message(self) -> bool {
        !matches!(self, Self::Unknown(_) | Self::Depth | Self::PatternLimit)
    }
}

/// Returns the message for a member that is not allowed.
pub(crate) fn unknown_field(name: &str) -> String {
    format!("Unknown field '{}'", short_name(name))
}
