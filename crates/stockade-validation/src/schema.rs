//! [`Schema`]: a compiled, immutable schema that is cheap to clone.
// Spec: Validation schemas.

use std::any::TypeId;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use serde_json::Value;
use stockade_errors::{ApiError, ConfigError, FieldError};

use crate::build;
use crate::check;
use crate::node::Compiled;
use crate::options::ValidationOptions;
use crate::rule::Rule;

/// A compiled schema. Clones share the same data.
///
/// It is created once, from JSON in either notation ([`from_value`], [`rule`],
/// [`fields`], [`schema!`](crate::schema!)) or from a [`Rule`].
///
/// [`from_value`]: Self::from_value
/// [`rule`]: Self::rule
/// [`fields`]: Self::fields
// Spec: Validation schemas.
#[derive(Clone)]
pub struct Schema {
    compiled: Arc<Compiled>,
    type_id: Option<TypeId>,
}

impl Schema {
    /// Reads a schema in either notation, detected at each node.
    ///
    /// A node is a *rule* if any key is a known keyword with a value of the
    /// keyword's kind that is not an object (`type: "string"`, `min: 1`). If
    /// only keywords with object values match (`items`, `properties`,
    /// `additionalProperties`, `not`, `default`, `const`), it is a rule only if
    /// no other key has an object value. Otherwise a non-empty object is a
    /// *field map*. An empty object is a rule that allows everything.
    ///
    /// A field map cannot contain a field named like a keyword for
    /// alternatives, conditions or references, such as `not`, `if` or `$ref`;
    /// use [`fields`](Self::fields) instead. Fields named `type`, `items` or
    /// `default` are allowed.
    ///
    /// # Errors
    /// Fails if the schema is invalid. The error lists every configuration
    /// error with the path of its field, the JSON pointer of its keyword, and
    /// the file and line of this call. An unknown keyword is a configuration
    /// error.
    ///
    /// # Beyond the spec
    ///
    /// A document with `$schema` at the root is read like [`rule`](Self::rule)
    /// reads it.
    #[track_caller]
    pub fn from_value(value: &Value) -> Result<Self, ConfigError> {
        build::read(value, Location::caller()).build()
    }

    /// Reads a JSON-Schema-style object: this node and every node in it is a
    /// rule, without detection of the notation.
    ///
    /// # Errors
    /// See [`from_value`](Self::from_value).
    #[track_caller]
    pub fn rule(value: &Value) -> Result<Self, ConfigError> {
        build::read_rule(value, Location::caller()).build()
    }

    /// Reads a field map: every key is the name of a field. The rules of the
    /// fields are read as in [`from_value`](Self::from_value).
    ///
    /// # Errors
    /// See [`from_value`](Self::from_value).
    #[track_caller]
    pub fn fields(value: &Value) -> Result<Self, ConfigError> {
        build::read_fields(value, Location::caller()).build()
    }

    /// Returns the errors of `data` without changing it.
    ///
    /// Valid data needs no allocation, with these exceptions: the data is
    /// changed on the way (by `trim`, `transform` or a conversion), a `custom`
    /// rule is called, a long or nested array must have unique items, or the
    /// schema contains `propertyNames` or `unevaluated…`.
    ///
    /// # Errors
    /// Fails with a 500 if a `transform` or `custom` function fails or panics.
    pub fn check(
        &self,
        data: &Value,
        options: &ValidationOptions,
    ) -> Result<Vec<FieldError>, ApiError> {
        if check::accepts(&self.compiled, data, options, false) {
            return Ok(Vec::new());
        }
        check::check(&self.compiled, data, options)
    }

    /// Returns the schema as JSON Schema 2020-12.
    ///
    /// String formats used as types become `type: string` with a `format`.
    /// `nullable` becomes the type `null`, `min` and `max` become the keywords
    /// of each type, and `required: true` becomes an entry in the parent's
    /// list. Keywords that JSON Schema does not have (`custom`, `message`,
    /// `transform`, a default function) are omitted. Rules of types become
    /// `$defs` with the names of the types.
    ///
    /// Numbers have the bounds of the type that they are read as. A text with
    /// `trim` is described without the surrounding white space, and a `pattern`
    /// describes its minimum length. A `pattern` uses the syntax of ECMA-262.
    #[must_use]
    pub fn to_json_schema(&self) -> Value {
        self.export().to_value()
    }

    /// Returns the type of this schema if
    /// [`HasSchema::schema`](crate::HasSchema::schema) created it.
    pub(crate) fn type_id(&self) -> Option<TypeId> {
        self.type_id
    }

    /// Returns true if every value passes unchanged.
    #[must_use]
    pub fn is_any(&self) -> bool {
        self.compiled.root.is_any()
    }

    pub(crate) fn of(compiled: Compiled) -> Self {
        Self { compiled: Arc::new(compiled), type_id: None }
    }

    pub(crate) fn for_type(self, type_id: TypeId) -> Self {
        Self { type_id: Some(type_id), ..self }
    }

    pub(crate) fn compiled(&self) -> &Compiled {
        &self.compiled
    }

    pub(crate) fn shared(&self) -> Arc<Compiled> {
        Arc::clone(&self.compiled)
    }
}

/// Compiles the rule, like [`Rule::build`].
impl TryFrom<Rule> for Schema {
    type Error = ConfigError;

    fn try_from(rule: Rule) -> Result<Self, ConfigError> {
        rule.build()
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Schema({})", self.to_json_schema())
    }
}
