//! The two directions of a rule: the input that serde reads, and the output
//! that it writes.
//!
//! One [`Rule`] describes both. Differences are explicit: a [`FieldPresence`]
//! of a property, or a rule that replaces this one in responses. The compiler
//! turns each rule to the direction that it compiles.

use crate::inner::InnerRule;
use crate::rule::{Additional, Rule};

/// The direction in which a schema is compiled.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub(crate) enum Direction {
    /// From a request to a value.
    #[default]
    Read,
    /// From a value to a response.
    Write,
}

/// The presence of a property, or of a flattened rule, in both directions.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum FieldPresence {
    /// Written as it is read; the default for a property of a hand-written
    /// rule.
    #[default]
    AsRead,
    /// Read, and always written.
    Always,
    /// Read, and sometimes written.
    Sometimes,
    /// Read, and omitted instead of written as null.
    UnlessNull,
    /// Read, and never written.
    ReadOnly,
    /// Always written, and never read.
    WriteOnly,
    /// Sometimes written, and never read.
    WriteOnlySometimes,
}

impl Direction {
    pub(crate) fn is_read(self) -> bool {
        self == Self::Read
    }
}

impl FieldPresence {
    /// Returns true if the property does not exist in this direction.
    pub(crate) fn is_none(self, direction: Direction) -> bool {
        match direction {
            Direction::Read => matches!(self, Self::WriteOnly | Self::WriteOnlySometimes),
            Direction::Write => self == Self::ReadOnly,
        }
    }

    /// Returns true if a response may omit the property.
    pub(crate) fn is_sometimes(self) -> bool {
        matches!(self, Self::Sometimes | Self::UnlessNull | Self::WriteOnlySometimes)
    }
}

impl Rule {
    /// Sets a different rule for the value in responses.
    ///
    /// Keywords with plain values that are set afterwards apply to both rules.
    /// In responses, `trim`, `default`, `transform` and `custom` have no
    /// effect, and unknown keys are never rejected.
    ///
    /// ```
    /// use serde_json::json;
    /// use stockade_validation::{HasSchema, Rule};
    ///
    /// /// A price: read from a string or a number, written as a string.
    /// struct Price;
    ///
    /// impl HasSchema for Price {
    ///     fn rule() -> Rule {
    ///         Rule::kinds(["string", "number"]).in_replies(Rule::string())
    ///     }
    /// }
    ///
    /// assert_eq!(Price::schema()?.to_json_schema(), json!({ "type": ["string", "number"] }));
    /// assert_eq!(Price::reply_schema()?.to_json_schema(), json!({ "type": "string" }));
    /// # Ok::<(), stockade_errors::ConfigError>(())
    /// ```
    pub fn in_replies(self, written: Self) -> Self {
        Self { written: Some(Box::new(written)), ..self }
    }

    /// Marks this as the rule for output: [`build`](Self::build) then builds
    /// the response schema.
    #[doc(hidden)]
    pub fn for_replies(self) -> Self {
        Self { direction: Direction::Write, ..self }
    }

    /// Allows null if the type has a value for it.
    pub(crate) fn or_null(self) -> Self {
        let keeps_null = self.keywords.get("nullable") == Some(&true.into());
        Self { keeps_null, ..self.nullable() }
    }

    /// Reduces the rule to one direction. Does nothing if the rule is already
    /// turned.
    pub(crate) fn turn(&mut self, direction: Direction) {
        match direction {
            Direction::Read => {
                self.written = None;
                let Some(properties) = &mut self.properties else {
                    return;
                };
                properties.retain(|(_, rule)| !rule.presence.is_none(direction));
                for (_, rule) in properties {
                    rule.presence = FieldPresence::AsRead;
                }
            }
            Direction::Write => {
                self.replace();
                // serde chooses a variant only when it reads.
                if let Some(InnerRule::FirstOf(union)) = &mut self.inner {
                    union.choice = None;
                }
                self.forget_validating();
                self.turn_properties();
            }
        }
    }

    /// Replaces this rule with its rule for responses.
    fn replace(&mut self) {
        while let Some(written) = self.written.take() {
            let (presence, keeps_null) = (self.presence, self.keeps_null);
            *self = Self { presence, keeps_null, ..*written };
        }
    }

    /// Removes the keywords that only process input.
    fn forget_validating(&mut self) {
        for keyword in ["trim", "default"] {
            self.keywords.remove(keyword);
        }
        // The list form names the keys that are always present.
        if self.keywords.get("required").is_some_and(serde_json::Value::is_boolean) {
            self.keywords.remove("required");
        }
        (self.custom, self.transform, self.default) = (None, None, None);
        // A client must still work when a later version writes an additional
        // key.
        if matches!(self.additional, Some(Additional::Allowed(false))) {
            self.additional = None;
        }
    }

    fn turn_properties(&mut self) {
        let Some(properties) = &mut self.properties else {
            return;
        };
        let is_said = |rule: &Self| rule.presence != FieldPresence::AsRead;
        let said: Vec<&str> = properties
            .iter()
            .filter(|(_, rule)| is_said(rule))
            .map(|(name, _)| name.as_str())
            .collect();
        self.required_fields.retain(|name| !said.contains(&name.as_str()));
        properties.retain(|(_, rule)| !rule.presence.is_none(Direction::Write));
        for (name, rule) in properties {
            rule.replace();
            rule.aliases.clear();
            let was_required = rule.keywords.get("required") == Some(&true.into());
            let is_there = match rule.presence {
                FieldPresence::AsRead => was_required && !self.required_fields.contains(name),
                presence => !presence.is_sometimes(),
            };
            if rule.presence == FieldPresence::UnlessNull && !rule.keeps_null {
                rule.keywords.remove("nullable");
            }
            if is_there {
                self.required_fields.push(name.clone());
            }
            // A second turn must change nothing.
            rule.presence = FieldPresence::AsRead;
            rule.keywords.remove("required");
        }
    }
}
