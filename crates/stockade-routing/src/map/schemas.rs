//! The schemas of a map. A schema of a named type appears once, and routes
//! refer to it.

use std::any::TypeId;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde_json::{Value, json};
use stockade_core::description::{ContentSchema, DescribedRoute, InputFrom, SchemaOf};
use stockade_core::{Endpoint, RouteDescription};
use stockade_errors::ConfigError;
use stockade_map::schemas::{PLACE as SCHEMAS, references, schema_name};
use stockade_validation::{Definition, DefinitionId, Export, Names, Schema};

use super::build::{InputSchema, input_schemas};
use super::{Place, RouteInfo};

/// The suffix of a definition that rejects unlisted members, if the same
/// definition accepts them elsewhere.
const STRICT: &str = "Strict";

/// The schemas of some routes, with their names.
#[derive(Default)]
pub(crate) struct Schemas {
    names: Names,
    /// The names of definitions that reject unlisted members, by their original
    /// names.
    closed: BTreeMap<String, String>,
    /// The names of definitions that accept unlisted members.
    open: HashSet<String>,
    /// The definitions as JSON, by their names in references.
    written: BTreeMap<String, Value>,
    /// The schemas of serialized types, as JSON.
    replies: HashMap<TypeId, Value>,
    /// The configuration errors in the schemas of responses, and in names.
    pub(super) mistakes: Vec<String>,
}

impl Schemas {
    /// Collects and names the schemas of these routes.
    pub(super) fn of<'r>(
        routes: impl Iterator<Item = (&'r Endpoint, &'r RouteDescription)>,
    ) -> Self {
        let mut schemas = Self::default();
        let mut definitions = Vec::new();
        let mut closed = Vec::new();
        let mut replied: HashMap<TypeId, Result<Schema, ConfigError>> = HashMap::new();
        for (endpoint, doc) in routes {
            let facts = doc.facts();
            for from in [InputFrom::Params, InputFrom::Query, InputFrom::Body] {
                for input_schema in input_schemas(endpoint, &facts.inputs, from) {
                    let list = if input_schema.is_closed { &mut closed } else { &mut definitions };
                    list.extend(input_schema.schema.definitions());
                }
            }
            definitions.extend(made(facts).flat_map(Schema::definitions));
            for reply in replies(facts) {
                let compiled = replied.entry(reply.type_id()).or_insert_with(|| {
                    let compiled = reply.schema();
                    definitions.extend(compiled.iter().flat_map(Schema::definitions));
                    compiled
                });
                if let Err(error) = compiled {
                    let (method, path) = (endpoint.method(), endpoint.pattern());
                    let place = Place::from(endpoint.location());
                    let told = error.issues().iter();
                    let told = told.map(|it| format!("{method} {path} ({place}): {it}"));
                    schemas.mistakes.extend(told);
                }
            }
        }
        match Names::of(definitions.iter().chain(&closed).cloned()) {
            Ok(names) => {
                schemas.names = names;
                schemas.close(&definitions, &closed);
                schemas.written = schemas.definitions();
            }
            Err(error) => {
                schemas.mistakes.extend(error.issues().iter().map(ToString::to_string));
            }
        }
        let value = |compiled: Result<Schema, ConfigError>| match compiled {
            Ok(schema) => schemas.exported(schema.export(), false),
            // The configuration errors of the schema are in `mistakes`.
            Err(_) => Value::Bool(true),
        };
        let replied = replied.into_iter().map(|(id, compiled)| (id, value(compiled)));
        schemas.replies = replied.collect();
        schemas
    }

    /// Names the definitions that reject unlisted members. They keep their
    /// name, or get the suffix `Strict` if the same definition accepts unlisted
    /// members elsewhere.
    fn close(&mut self, open: &[Definition], closed: &[Definition]) {
        let name = |it: &Definition| self.names.get(&it.id()).map(str::to_owned);
        let open: HashSet<String> = open.iter().filter_map(name).collect();
        let mut given: BTreeMap<String, String> = BTreeMap::new();
        for name in closed.iter().filter_map(name) {
            let mut own = name.clone();
            let is_taken = |own: &String| self.names.iter().any(|(known, _)| known == own);
            if open.contains(&name) {
                own += STRICT;
                while is_taken(&own) {
                    own += STRICT;
                }
            }
            given.insert(name, own);
        }
        (self.open, self.closed) = (open, given);
    }

    /// Returns a schema as JSON, with references to named schemas.
    pub(super) fn value(&self, input_schema: InputSchema<'_>) -> Value {
        self.exported(input_schema.schema.export(), input_schema.is_closed)
    }

    /// Returns a schema as JSON, inlined, with references to other schemas.
    pub(super) fn value_in_place(&self, input_schema: InputSchema<'_>) -> Value {
        let value = self.value(input_schema);
        self.definition(&value).cloned().unwrap_or(value)
    }

    /// Returns the target of a reference, or the value itself.
    pub(super) fn in_place<'v>(&'v self, value: &'v Value) -> &'v Value {
        self.definition(value).unwrap_or(value)
    }

    fn definition(&self, reference: &Value) -> Option<&Value> {
        self.written.get(schema_name(reference)?)
    }

    /// Returns the definitions as JSON, by their names in references. A
    /// definition that rejects unlisted members is separate from the same
    /// definition that accepts them.
    fn definitions(&self) -> BTreeMap<String, Value> {
        let mut definitions = BTreeMap::new();
        for (name, definition) in self.names.iter() {
            let closed = self.closed.get(name);
            if closed.is_none() || self.open.contains(name) {
                definitions.insert(name.to_owned(), self.exported(definition.export(), false));
            }
            if let Some(closed) = closed {
                definitions.insert(closed.clone(), self.exported(definition.export(), true));
            }
        }
        definitions
    }

    /// Returns the schema of a response or of a message, as JSON.
    pub(super) fn described(&self, schema: &ContentSchema) -> Value {
        match schema {
            ContentSchema::Text => json!({ "type": "string" }),
            ContentSchema::Of(schema) => self.of_reply(*schema),
            ContentSchema::Made(schema) => self.exported(schema.export(), false),
            ContentSchema::Json(schema) => schema.clone(),
            _ => Value::Bool(true),
        }
    }

    /// Returns the schema of a serialized type, as JSON.
    fn of_reply(&self, schema: SchemaOf) -> Value {
        // This is never missing: all response types were compiled.
        self.replies.get(&schema.type_id()).cloned().unwrap_or(Value::Bool(true))
    }

    fn exported(&self, export: Export<'_>, is_closed: bool) -> Value {
        let reference = |id: &DefinitionId| match self.names.get(id) {
            Some(name) => {
                let closed = self.closed.get(name).filter(|_| is_closed);
                format!("{SCHEMAS}{}", closed.map_or(name, String::as_str))
            }
            // All definitions have a name, unless there is a configuration
            // error.
            None => format!("{SCHEMAS}unknown"),
        };
        export.closed(is_closed).references(&reference).to_value()
    }

    /// Returns the schemas that routes use, directly or through other schemas.
    pub(super) fn used_by<'r>(
        &self,
        routes: impl Iterator<Item = &'r RouteInfo>,
    ) -> BTreeMap<String, Value> {
        let mut names = BTreeSet::new();
        for route in routes {
            route.values().for_each(|value| references(value, SCHEMAS, &mut names));
        }
        let mut used: BTreeMap<String, Value> = BTreeMap::new();
        while let Some(name) = names.pop_first() {
            if let Some(value) = self.written.get(&name)
                && !used.contains_key(&name)
            {
                references(value, SCHEMAS, &mut names);
                used.insert(name, value.clone());
            }
        }
        used
    }
}

/// Returns the schemas of a route's responses, with their problem types.
fn contents(facts: &DescribedRoute) -> impl Iterator<Item = &ContentSchema> {
    facts.answers.iter().flat_map(|answer| {
        let members = answer.problem.iter().flat_map(|problem| &problem.members);
        let contents = answer.body.contents().iter().map(|content| &content.schema);
        contents.chain(members.map(|member| &member.schema))
    })
}

/// Returns the schemas of the messages that a route reads, and the response
/// schemas that the program created itself.
fn made(facts: &DescribedRoute) -> impl Iterator<Item = &Schema> {
    let made = contents(facts).filter_map(|schema| match schema {
        ContentSchema::Made(schema) => Some(schema),
        _ => None,
    });
    facts.receives.iter().chain(made)
}

/// Returns the schemas of a route's responses, and of the messages that it
/// sends.
fn replies(facts: &DescribedRoute) -> impl Iterator<Item = SchemaOf> {
    let replies = contents(facts).filter_map(|schema| match schema {
        ContentSchema::Of(schema) => Some(*schema),
        _ => None,
    });
    replies.chain(facts.sends)
}
