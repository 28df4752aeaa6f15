//! Schemas for a document that contains several of them: [`Definition`] with
//! its identity, and [`Export`], which lets the document name the definitions.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use serde_json::Value;

use crate::direction::Direction;
use crate::export::{self, Context};
use crate::inner::Key;
use crate::node::{self, Compiled};
use crate::schema::Schema;

/// The identity of a definition: its type and its direction.
///
/// Two schemas use the same id for the definition of the same type.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct DefinitionId {
    pub(crate) key: Key,
    pub(crate) direction: Direction,
}

/// A named rule that a schema refers to, usually the schema of a type.
#[derive(Clone)]
pub struct Definition {
    compiled: Arc<Compiled>,
    place: usize,
}

impl Definition {
    /// Returns the identity.
    #[must_use]
    pub fn id(&self) -> DefinitionId {
        id_of(self.inner())
    }

    /// Returns the short name, such as `User` or `Page_User`. Several types can
    /// share a short name.
    #[must_use]
    pub fn short_name(&self) -> &str {
        &self.inner().reference.name
    }

    /// Returns the type name as the compiler spells it, with modules. Empty for
    /// a definition of a document.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        self.inner().reference.type_name
    }

    /// Returns true if the author of the type set the short name with
    /// `#[schema(name = "…")]`.
    #[must_use]
    pub fn is_pinned(&self) -> bool {
        self.inner().reference.is_pinned
    }

    /// Returns true if the definition describes output, for responses.
    #[must_use]
    pub fn is_reply(&self) -> bool {
        self.inner().direction == Direction::Write
    }

    /// Returns the source location of the rule. For a derived schema this is
    /// the location of the type.
    #[must_use]
    pub fn location(&self) -> &'static Location<'static> {
        self.inner().location
    }

    /// Begins an export of this definition only.
    pub fn export(&self) -> Export<'_> {
        Export::of(&self.compiled, Some(self.place))
    }

    fn inner(&self) -> &node::Definition {
        &self.compiled.definitions[self.place]
    }
}

impl fmt::Debug for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Definition({})", self.short_name())
    }
}

/// An export of a schema or of a definition as JSON Schema, with its settings.
///
/// ```
/// use serde_json::json;
/// use stockade_validation::{Rule, Schema};
///
/// let schema = Rule::object([("name", Rule::string())]).build()?;
/// assert_eq!(
///     schema.export().closed(true).to_value(),
///     json!({
///         "type": "object",
///         "properties": { "name": { "type": "string" } },
///         "additionalProperties": false,
///     })
/// );
/// # Ok::<(), stockade_errors::ConfigError>(())
/// ```
#[derive(Clone, Copy)]
#[must_use = "an export does nothing until it is converted to a value"]
pub struct Export<'s> {
    compiled: &'s Compiled,
    /// The exported definition, or `None` for the whole schema.
    place: Option<usize>,
    references: Option<&'s dyn Fn(&DefinitionId) -> String>,
    closed: bool,
}

impl<'s> Export<'s> {
    pub(crate) fn of(compiled: &'s Compiled, place: Option<usize>) -> Self {
        Self { compiled, place, references: None, closed: false }
    }

    /// Sets the `$ref` text for each definition, such as
    /// `#/components/schemas/User`. The value then has no `$defs`.
    pub fn references(self, references: &'s dyn Fn(&DefinitionId) -> String) -> Self {
        Self { references: Some(references), ..self }
    }

    /// Rejects unlisted keys with `additionalProperties: false`, as validation
    /// does with `allow_unknown(false)`. Default: false.
    pub fn closed(self, closed: bool) -> Self {
        Self { closed, ..self }
    }

    /// Returns the export as JSON Schema 2020-12.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let Compiled { root, definitions, .. } = self.compiled;
        let name = |definition: &node::Definition| match self.references {
            Some(references) => references(&id_of(definition)),
            None => export::pointer(&definition.name),
        };
        let context = Context { definitions, reference: &name, closed: self.closed };
        match self.place {
            Some(place) => export::definition(place, self.references.is_none(), context),
            None if self.references.is_some() => export::rule(root, context),
            None => export::schema(root, context),
        }
    }
}

impl fmt::Debug for Export<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Export({})", self.to_value())
    }
}

impl Schema {
    /// Begins an export as JSON Schema, with settings for documents.
    pub fn export(&self) -> Export<'_> {
        Export::of(self.compiled(), None)
    }

    /// Returns the definitions that the schema refers to, directly or
    /// indirectly, in order of first use.
    #[must_use]
    pub fn definitions(&self) -> Vec<Definition> {
        let places = 0..self.compiled().definitions.len();
        places.map(|place| Definition { compiled: self.shared(), place }).collect()
    }
}

fn id_of(definition: &node::Definition) -> DefinitionId {
    DefinitionId { key: definition.reference.key.clone(), direction: definition.direction }
}
