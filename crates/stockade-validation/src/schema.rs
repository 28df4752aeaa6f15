//! [`Schema`]: compiled, immutable, cheap to clone.
//!
//! Spec: Validation schemas.

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

/// A compiled schema; a clone shares it.
///
/// It is made once, from JSON in either notation ([`from_value`], [`rule`],
/// [`fields`], [`schema!`](crate::schema!)) or from a [`Rule`].
///
/// [`from_value`]: Self::from_value
/// [`rule`]: Self::rule
/// [`fields`]: Self::fields
///
/// Spec: Validation schemas.
#[derive(Clone)]
pub struct Schema {
    compiled: Arc<Compiled>,
    type_id: Option<TypeId>,
}

impl Schema {
    /// Reads a schema in either notation, told apart at each node.
    ///
    /// A node is a *rule* if some key is a known keyword whose value has the
    /// keyword's kind and is not an object (`type: "string"`, `min: 1`). If
    /// only keywords that hold objects match (`items`, `properties`,
    /// `additionalProperties`, `not`, `default`, `const`), it is a rule only if no
    /// other key holds an object. Otherwise a non-empty object is a *field
    /// map*. An empty object is a rule that allows everything.
    ///
    /// A field map cannot have a field whose name is a keyword for alternatives, conditions
    /// or references, such as `not`, `if` or `$ref`: use [`fields`](Self::fields). Fields may
    /// be called `type`, `items` or `default`.
    ///
    /// # Errors
    /// If the schema cannot work: every mistake, with the path of its field, the JSON pointer
    /// of its keyword, and the file and line of this call. An unknown keyword is a mistake.
    ///
    /// # Beyond the spec
    ///
    /// With `$schema` at the root it is read as [`rule`](Self::rule) reads it.
    #[track_caller]
    pub fn from_value(value: &Value) -> Result<Self, ConfigError> {
        build::read(value, Location::caller()).build()
    }

    /// Reads a JSON-Schema-style object: this node and every node in it is a
    /// rule, and nothing is guessed.
    ///
    /// # Errors
    /// As [`from_value`](Self::from_value).
    #[track_caller]
    pub fn rule(value: &Value) -> Result<Self, ConfigError> {
        build::read_rule(value, Location::caller()).build()
    }

    /// Reads a field map: every key is the name of a field. The rules of the
    /// fields are read as [`from_value`](Self::from_value) does.
    ///
    /// # Errors
    /// As [`from_value`](Self::from_value).
    #[track_caller]
    pub fn fields(value: &Value) -> Result<Self, ConfigError> {
        build::read_fields(value, Location::caller()).build()
    }

    /// Returns the errors of `data`, which stays as it is.
    ///
    /// Nothing is allocated for valid data, unless it is changed on the way (by
    /// `trim`, `transform` or a conversion), a `custom` rule is called, a long or nested
    /// array must have unique items, or the schema has `propertyNames` or `unevaluated…`.
    ///
    /// # Errors
    /// 500 when a `transform` or `custom` function fails or panics.
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
    /// String formats used as types become `type: string` with a `format`,
    /// `nullable` becomes the type `null`, `min` and `max` the keywords of each
    /// type, `required: true` an entry in the list of the parent. Keywords that
    /// JSON Schema does not have (`custom`, `message`, `transform`, a function as
    /// default) are left out. Rules of types become `$defs`, named as the types.
    ///
    /// Numbers have the bounds of the type that they are read as. A text with
    /// `trim` is described as it is without the white space, and has a `pattern`
    /// for its least length. A `pattern` is in the syntax of ECMA-262.
    #[must_use]
    pub fn to_json_schema(&self) -> Value {
        self.export().to_value()
    }

    /// Returns the type that this is the schema of, if it was made by
    /// [`HasSchema::schema`](crate::HasSchema::schema).
    pub(crate) fn type_id(&self) -> Option<TypeId> {
        self.type_id
    }

    /// Returns true if any value passes, and stays as it is.
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

/// Compiles the rule, as [`Rule::build`] does.
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
