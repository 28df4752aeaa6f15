//! [`Names`]: the names of definitions in a document of many schemas.
//!
//! A name depends on the set of definitions alone, not on their order. Types
//! are told apart by their identity, so that two types of one name are never
//! taken for one.

mod candidate;
mod resolve;

use std::collections::{BTreeMap, HashMap};

use stockade_errors::ConfigError;

use self::candidate::candidates;
pub(crate) use self::candidate::plain;
use self::resolve::resolve;
use crate::document::{Definition, DefinitionId};

/// The names of definitions in a document of many schemas.
///
/// - The short name, if one type has it.
/// - If several have it, all get the last segment of their module in front
///   (`QualityCreatePolicy`), or more segments, until they differ. Types that
///   nothing tells apart are numbered.
/// - `#[schema(name = "…")]` pins the name of a type.
/// - Where reading and writing differ, what is written has the name, and what is
///   read has it with `Input` behind. Else both are one definition.
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
    /// Names these definitions, each of which may come several times.
    ///
    /// # Errors
    /// When two types are pinned to the same name: each with its place.
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

    /// Returns the name of a definition; `None` if it is not among them.
    #[must_use]
    pub fn get(&self, id: &DefinitionId) -> Option<&str> {
        self.names.get(id).map(String::as_str)
    }

    /// Returns each name with its definition, in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Definition)> {
        self.definitions.iter().map(|(name, definition)| (name.as_str(), definition))
    }
}
