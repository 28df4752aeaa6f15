//! [`ContentSchema`]: the schema of a body while its route is described.

use std::any::{TypeId, type_name};
use std::fmt;

use serde_json::Value;
use stockade_errors::ConfigError;
use stockade_validation::marks::{Mark, Marks};
use stockade_validation::{HasSchema, Rule, Schema};

/// The schema of a body's content.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ContentSchema {
    /// Any value.
    Any,
    /// Text.
    Text,
    /// Bytes.
    Bytes,
    /// A value of this type.
    Of(SchemaOf),
    /// A value of a schema that the program creates at run time. Documents
    /// still use the names of the types in it.
    Made(Schema),
    /// A JSON Schema.
    Json(Value),
}

/// A reference to the schema of a type. [`schema`](Self::schema) generates the
/// schema.
///
/// It consists of a few pointers, so a description is cheap.
///
/// ```
/// use stockade::description::SchemaOf;
///
/// let schema = SchemaOf::reply::<Vec<u8>>();
/// assert_eq!(schema.schema()?.to_json_schema()["type"], "array");
/// # Ok::<(), stockade::ConfigError>(())
/// ```
#[derive(Clone, Copy)]
pub struct SchemaOf {
    id: fn() -> TypeId,
    name: fn() -> &'static str,
    schema: fn() -> Result<Schema, ConfigError>,
    rule: fn() -> Rule,
}

impl SchemaOf {
    /// Returns the schema of serialized values of `T`.
    #[must_use]
    pub fn reply<T: HasSchema>() -> Self {
        Self {
            id: TypeId::of::<T>,
            name: type_name::<T>,
            schema: T::reply_schema,
            rule: T::field_rule,
        }
    }

    /// Returns the identity of the type.
    #[must_use]
    pub fn type_id(&self) -> TypeId {
        (self.id)()
    }

    /// Generates the schema.
    ///
    /// # Errors
    /// Fails if the schema of the type is invalid. The error contains all
    /// configuration errors in it.
    pub fn schema(&self) -> Result<Schema, ConfigError> {
        (self.schema)()
    }

    /// Returns the marked places of deserialized and of serialized values. An
    /// invalid schema does not have any.
    #[doc(hidden)]
    pub fn marks(&self) -> impl Iterator<Item = Marks> {
        let rule = (self.rule)();
        let schemas = [rule.clone().build(), rule.for_replies().build()];
        schemas.into_iter().flatten().map(|schema| Marks::of(&schema))
    }

    /// Returns true if a place is marked as write-only, even if the mark has no
    /// effect.
    #[doc(hidden)]
    #[must_use]
    pub fn may_be_marked(&self) -> bool {
        let rule = (self.rule)();
        rule.has_marked_part(Mark::WriteOnly) || rule.shown().is_some()
    }

    /// Generates the schema without the write-only places. Returns `None` if
    /// the type does not have any.
    #[doc(hidden)]
    #[must_use]
    pub fn shown(&self) -> Option<Result<Schema, ConfigError>> {
        (self.rule)().shown().map(|rule| rule.for_replies().build())
    }
}

impl fmt::Debug for SchemaOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SchemaOf({})", (self.name)())
    }
}
