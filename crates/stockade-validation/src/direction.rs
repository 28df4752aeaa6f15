//! The two directions of a rule: what serde reads, and what it writes.
//!
//! One [`Rule`] has both. Only where they differ does it say so: by a
//! [`FieldPresence`] of a property, or by a rule that replaces it in replies. The
//! compiler turns each rule to the direction that is compiled.

use crate::inner::InnerRule;
use crate::rule::{Additional, Rule};

/// The direction in which a schema is compiled.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub(crate) enum Direction {
    /// From a request to a value.
    #[default]
    Read,
    /// From a value to a reply.
    Write,
}

/// The presence of a property, or of a flattened rule, in both directions.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum FieldPresence {
    /// It is written as it is read: the rule of a property written by hand.
    #[default]
    AsRead,
    /// It is read, and always written.
    Always,
    /// It is read, and written or left out.
    Sometimes,
    /// It is read, and left out instead of being written as null.
    UnlessNull,
    /// It is read, and never written.
    ReadOnly,
    /// It is always written, and never read.
    WriteOnly,
    /// It is written or left out, and never read.
    WriteOnlySometimes,
}

impl Direction {
    pub(crate) fn is_read(self) -> bool {
        self == Self::Read
    }
}

impl FieldPresence {
    /// Returns true if there is nothing of it in this direction.
    pub(crate) fn is_none(self, direction: Direction) -> bool {
        match direction {
            Direction::Read => matches!(self, Self::WriteOnly | Self::WriteOnlySometimes),
            Direction::Write => self == Self::ReadOnly,
        }
    }

    /// Returns true if it may be left out of a reply.
    pub(crate) fn is_sometimes(self) -> bool {
        matches!(self, Self::Sometimes | Self::UnlessNull | Self::WriteOnlySometimes)
    }
}

impl Rule {
    /// Sets the rule of what is written, in a reply, where that is not what is
    /// read.
    ///
    /// Keywords with plain values that are set afterwards hold for both. In
    /// replies no rule has `trim`, `default`, `transform` or `custom`, and none
    /// refuses unknown keys.
    ///
    /// ```
    /// use serde_json::json;
    /// use stockade_validation::{HasSchema, Rule};
    ///
    /// /// It is read from a text or a number, and written as a text.
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

    /// Makes it the rule of what is written: [`build`](Self::build) then makes
    /// the schema of replies.
    #[doc(hidden)]
    pub fn for_replies(self) -> Self {
        Self { direction: Direction::Write, ..self }
    }

    /// Allows null where a type has a value for it.
    pub(crate) fn or_null(self) -> Self {
        let keeps_null = self.keywords.get("nullable") == Some(&true.into());
        Self { keeps_null, ..self.nullable() }
    }

    /// Keeps what the rule says of one direction. A rule that is turned already
    /// stays as it is.
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

    /// Puts the rule of what is written in the place of this one.
    fn replace(&mut self) {
        while let Some(written) = self.written.take() {
            let (presence, keeps_null) = (self.presence, self.keeps_null);
            *self = Self { presence, keeps_null, ..*written };
        }
    }

    /// Drops the work on data that comes in.
    fn forget_validating(&mut self) {
        for keyword in ["trim", "default"] {
            self.keywords.remove(keyword);
        }
        // The list form says which keys are there.
        if self.keywords.get("required").is_some_and(serde_json::Value::is_boolean) {
            self.keywords.remove("required");
        }
        (self.custom, self.transform, self.default) = (None, None, None);
        // A client must go on when a later version writes a further key.
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
            // So that turning it again changes nothing.
            rule.presence = FieldPresence::AsRead;
            rule.keywords.remove("required");
        }
    }
}
