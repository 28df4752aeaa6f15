//! [`Violation`]: a rule that a value breaks, with its message.

use std::borrow::Cow;

use stockade_errors::FieldError;
use stockade_errors::short_name::short_name;

use super::limits::Limit;
use crate::depth::MAX_DEPTH;
use crate::format::Format;

/// The message of `oneOf` if there is more than one match.
pub(crate) const SEVERAL: &str = "Value matches more than one of the alternatives";

/// A rule that a value breaks.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Violation<'b> {
    /// A missing value; the message names it.
    Required,
    Type {
        expected: &'b str,
        got: &'static str,
    },
    /// A rule, with its name and message.
    Rule(&'static str, &'static str),
    /// A bound of a number or a count.
    Bound(&'b Limit),
    /// A bound of the number of items that match `contains`.
    Contained {
        rule: &'static str,
        limit: usize,
        message: &'b str,
    },
    /// A member that another member requires.
    Dependent {
        other: &'b str,
        message: &'b str,
    },
    /// A rule with a message from the schema.
    Shown(&'static str, &'b str),
    /// A forbidden member, by its name.
    Unknown(&'b str),
    /// A member that no rule describes, by its name.
    Unevaluated(&'b str),
    /// The alternatives of a schema took too many steps.
    SchemaLimit,
    /// A property that the object has under two names.
    Twice(&'b str),
    /// Too many levels.
    Depth,
    /// The search for a pattern took too many steps.
    PatternLimit,
}

impl Violation<'_> {
    pub(crate) fn rule(self) -> &'static str {
        match self {
            Self::Required => "required",
            Self::Rule(rule, _) | Self::Shown(rule, _) | Self::Contained { rule, .. } => rule,
            Self::Bound(limit) => limit.rule(),
            Self::Dependent { .. } => "dependentRequired",
            Self::Type { .. } | Self::Twice(_) => "type",
            Self::Unknown(_) => "additionalProperties",
            Self::Unevaluated(_) => "unevaluatedProperties",
            Self::SchemaLimit => "schemaLimit",
            Self::Depth => "depth",
            Self::PatternLimit => "patternLimit",
        }
    }

    /// Returns the default message.
    pub(crate) fn message(self) -> Cow<'static, str> {
        match self {
            Self::Required => "Required value is missing".into(),
            Self::Type { expected, got } => format!("Expected {expected}, got {got}").into(),
            Self::Rule(_, message) => message.into(),
            Self::Shown(_, message)
            | Self::Contained { message, .. }
            | Self::Dependent { message, .. } => message.to_owned().into(),
            Self::Bound(limit) => limit.message().to_owned().into(),
            Self::SchemaLimit => {
                "Value cannot be checked: its schema takes too many steps; send a smaller value"
                    .into()
            }
            Self::Unknown(name) | Self::Unevaluated(name) => unknown_field(name).into(),
            Self::Twice(name) => format!("Duplicate field '{name}'").into(),
            Self::Depth => format!("Value is nested more than {MAX_DEPTH} levels deep").into(),
            Self::PatternLimit => {
                "Text cannot be checked: its pattern takes too many steps; send a shorter text"
                    .into()
            }
        }
    }

    /// Adds the parameters of the rule to its error.
    pub(crate) fn add_params(self, error: FieldError) -> FieldError {
        match self {
            Self::Bound(limit) => limit.add_params(error),
            Self::Type { expected, got } => {
                error.with_param("expected", type_name(expected)).with_param("got", got)
            }
            Self::Rule("format", message) => error.with_param("format", format_name(message)),
            // The only bounds that are not keywords of the schema.
            Self::Rule("minProperties" | "maxProperties", _) => error.with_param("limit", 1),
            Self::Contained { limit, .. } => error.with_param("limit", limit),
            Self::Dependent { other, .. } => error.with_param("other", other.to_owned()),
            Self::Shown("enum", message) => {
                error.with_param("values", behind("Must be one of: ", message))
            }
            Self::Shown("oneOf", message) => {
                error.with_param("values", behind("Must have only one of: ", message))
            }
            Self::Shown("const", message) => error.with_param("value", behind("Must be ", message)),
            Self::Depth => error.with_param("limit", MAX_DEPTH),
            Self::Required
            | Self::Rule(..)
            | Self::Shown(..)
            | Self::Twice(_)
            | Self::Unknown(_)
            | Self::Unevaluated(_)
            | Self::SchemaLimit
            | Self::PatternLimit => error,
        }
    }

    /// Returns the id of the default message in the language catalogs.
    pub(crate) fn text_id(self) -> &'static str {
        match self {
            Self::Bound(limit) => limit.text_id(),
            Self::Rule("oneOf", SEVERAL) => "oneOf-several",
            Self::Shown("oneOf", _) => "oneOf-keys",
            Self::Twice(_) => "duplicate",
            // `contains` and `minContains` share a message.
            Self::Contained { rule: "contains", .. } => "minContains",
            broken => broken.rule(),
        }
    }

    /// Returns true if a message of the schema replaces the default message.
    pub(crate) fn accepts_message(self) -> bool {
        !matches!(self, Self::Unknown(_) | Self::Unevaluated(_) | Self::Twice(_))
            && self.undecided().is_none()
    }

    /// Returns the violation if it leaves open whether the value matches the
    /// schema. In that case, neither `not` nor an alternative can accept the
    /// value.
    pub(crate) fn undecided(self) -> Option<Violation<'static>> {
        match self {
            Self::Depth => Some(Violation::Depth),
            Self::PatternLimit => Some(Violation::PatternLimit),
            Self::SchemaLimit => Some(Violation::SchemaLimit),
            _ => None,
        }
    }

    /// Returns the rule with this name if it leaves the outcome open.
    pub(crate) fn undecided_by(rule: &str) -> Option<Violation<'static>> {
        let open = [Violation::Depth, Violation::PatternLimit, Violation::SchemaLimit];
        open.into_iter().find(|it| it.rule() == rule)
    }
}

/// Returns the name of a type, without an allocation for common types.
fn type_name(expected: &str) -> Cow<'static, str> {
    let usual = ["string", "number", "integer", "boolean", "array", "object", "null"];
    let usual = usual.into_iter().find(|name| *name == expected);
    usual.map_or_else(|| expected.to_owned().into(), Cow::Borrowed)
}

/// Returns the name of the format with this message. A text type does not have
/// a format name, but its message describes the error.
fn format_name(message: &'static str) -> &'static str {
    let format = Format::ALL.iter().find(|format| format.message() == message);
    format
        .map_or_else(|| message.strip_prefix("Invalid ").unwrap_or(message), |format| format.name())
}

/// Returns the part of a message after `start`.
fn behind(start: &str, message: &str) -> String {
    message.strip_prefix(start).unwrap_or(message).to_owned()
}

/// Returns the message for a forbidden member.
pub(crate) fn unknown_field(name: &str) -> String {
    format!("Unknown field '{}'", short_name(name))
}
