//! [`Names`]: unique names for the definitions in a document of many schemas.
//!
//! A name depends only on the set of definitions, not on their order. Types are
//! distinguished by identity, so two types with the same name are never
//! confused.

mod candidate;
mod resolve;

use std::collections::{BTreeMap, HashMap};

use stockade_errors::ConfigError;

use self::candidate::candidates;
pub(crate) use self::candidate::plain;
use self::resolve::resolve;
use crate::document::{Definition, DefinitionId};

/// A set of unique names for the definitions in a document of many schemas.
///
/// - A type gets its short name if no other type has the same one.
/// - If several types share a short name, all are prefixed with the last
///   segment of their module (`QualityCreatePolicy`), or with more segments,
///   until they differ. Types that still share a name are numbered.
/// - `#[schema(name = "…")]` pins the name of a type.
/// - If input and output differ, the output definition has the plain name and
///   the input definition has the suffix `Input`. Otherwise both are one
///   definition.
///
/// ```
/// use stockade_validation::{HasSchema, Names, Rule};
///
/// struct User;
///
/// impl HasSchema for User {
///     fn rule() -> Rule {
///         Rule::object([("name", Rule::string().trim().required())])
///     }
///
///     fn field_rule() -> Rule {
///         Rule::of::<Self>()
///     }
/// }
///
/// let (read, written) = (Vec::<User>::schema()?, User::reply_schema()?);
/// let names = Names::of([&read, &written].into_iter().flat_map(|schema| schema.definitions()))?;
/// let reference = |id: &_| format!("#/components/schemas/{}", names.get(id).unwrap_or("unknown"));
///
/// let items = &read.export().references(&reference).to_value()["items"];
/// assert_eq!(items["$ref"], "#/components/schemas/UserInput");
/// let whole = written.export().references(&reference).to_value();
/// assert_eq!(whole["$ref"], "#/components/schemas/User");
/// let all: Vec<&str> = names.iter().map(|(name, _)| name).collect();
/// assert_eq!(all, ["User", "UserInput"]);
/// # Ok::<(), stockade_errors::ConfigError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Names {
    names: HashMap<DefinitionId, String>,
    definitions: BTreeMap<String, Definition>,
}

impl Names {
    /// Names these definitions, which may contain duplicates.
    ///
    /// # Errors
    /// Fails if two types are pinned to the same name. The error lists both
    /// with their source locations.
    pub fn of(definitions: impl IntoIterator<Item = Definition>) -> Result<Self, ConfigError> {
        let mut all: HashMap<DefinitionId, Definition> = HashMap::new();
        for definition in definitions {
            all.entry(definition.id()).or_insert(definition);
        }
        let mut candidates = candidates(&all);
        resolve(&mut candidates)?;
        let mut names = Self::default();
        for candidate in candidates {
            for definition in &candidate.definitions {
                let name = candidate.name(definition.is_reply());
                names.names.insert(definition.id(), name.clone());
                names.definitions.entry(name).or_insert_with(|| definition.clone());
            }
        }
        Ok(names)
    }

    /// Returns the name of a definition, or `None` if the definition is
    /// unknown.
    #[must_use]
    pub fn get(&self, id: &DefinitionId) -> Option<&str> {
        self.names.get(id).map(String::as_str)
    }

    /// Returns each name with its definition, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Definition)> {
        self.definitions.iter().map(|(name, definition)| (name.as_str(), definition))
    }
}
