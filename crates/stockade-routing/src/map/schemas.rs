//! The schemas of a map: those of types with a name stand once, and routes
//! point to them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use stockade_core::__internal::RouteDocExt as _;
use stockade_core::description::{AnswerBody, ContentSchema, InputFrom, SchemaOf};
use stockade_core::{Endpoint, RouteDoc};
use stockade_validation::{Definition, DefinitionId, Export, Names, Schema};

use super::RouteInfo;
use super::build::schema_of;

/// The place of schemas in a map.
const PLACE: &str = "#/schemas/";

/// The schemas of some routes, with their names.
#[derive(Default)]
pub(crate) struct Schemas {
    names: Names,
    /// The mistakes in the schemas of replies, and in names.
    pub(super) mistakes: Vec<String>,
}

impl Schemas {
    /// Names the schemas of these routes.
    pub(crate) fn of<'r>(routes: impl Iterator<Item = (&'r Endpoint, &'r RouteDoc)>) -> Self {
        let mut schemas = Self::default();
        let mut definitions = Vec::new();
        for (endpoint, doc) in routes {
            for from in [InputFrom::Params, InputFrom::Query, InputFrom::Body] {
                let schema = schema_of(endpoint, doc.facts(), from);
                definitions.extend(schema.into_iter().flat_map(Schema::definitions));
            }
            let web_socket = doc.facts().web_socket.as_ref();
            let messages = web_socket.and_then(|fact| fact.receives.as_ref());
            definitions.extend(messages.into_iter().flat_map(Schema::definitions));
            for schema in replies(doc) {
                match schema.schema() {
                    Ok(schema) => definitions.extend(schema.definitions()),
                    Err(error) => {
                        let label = format!("{} {}", endpoint.method(), endpoint.pattern());
                        let mistakes = error.mistakes().iter();
                        schemas.mistakes.extend(mistakes.map(|it| format!("{label}: {it}")));
                    }
                }
            }
        }
        match Names::of(definitions) {
            Ok(names) => schemas.names = names,
            Err(error) => {
                schemas.mistakes.extend(error.mistakes().iter().map(ToString::to_string));
            }
        }
        schemas
    }

    /// Returns a schema as JSON, with references to those that have a name.
    pub(super) fn value(&self, schema: &Schema) -> Value {
        self.exported(schema.export())
    }

    /// Returns a schema as JSON, itself written out, with references to others.
    pub(super) fn value_in_place(&self, schema: &Schema) -> Value {
        let value = self.value(schema);
        let name = value.get("$ref").and_then(Value::as_str);
        let name = name.and_then(|reference| reference.strip_prefix(PLACE));
        let mut all = self.names.iter();
        match name.and_then(|name| all.find(|(known, _)| *known == name)) {
            Some((_, definition)) => self.exported(definition.export()),
            None => value,
        }
    }

    /// Returns the schema of a type that is written, as JSON.
    pub(super) fn of_reply(&self, schema: SchemaOf) -> Value {
        // Its mistakes are kept since the names were given.
        schema.schema().map_or(Value::Bool(true), |schema| self.value(&schema))
    }

    fn exported(&self, export: Export<'_>) -> Value {
        let reference = |id: &DefinitionId| match self.names.get(id) {
            Some(name) => format!("{PLACE}{name}"),
            // All definitions were named, or there is a mistake.
            None => format!("{PLACE}unknown"),
        };
        export.references(&reference).to_value()
    }

    /// Returns the schemas that routes point to, and those that these point to.
    pub(super) fn used_by<'r>(
        &self,
        routes: impl Iterator<Item = &'r RouteInfo>,
    ) -> BTreeMap<String, Value> {
        let all: BTreeMap<&str, &Definition> = self.names.iter().collect();
        let mut names = BTreeSet::new();
        for route in routes {
            route.values().for_each(|value| references(value, PLACE, &mut names));
        }
        let mut used: BTreeMap<String, Value> = BTreeMap::new();
        while let Some(name) = names.pop_first() {
            if let Some(definition) = all.get(name.as_str())
                && !used.contains_key(&name)
            {
                let value = self.exported(definition.export());
                references(&value, PLACE, &mut names);
                used.insert(name, value);
            }
        }
        used
    }
}

/// Returns the schemas of the replies of a route, and of messages that it sends.
fn replies(doc: &RouteDoc) -> impl Iterator<Item = SchemaOf> {
    let contents = doc.facts().answers.iter().flat_map(|answer| match &answer.body {
        AnswerBody::Content(contents) => contents.as_slice(),
        _ => &[],
    });
    let replies = contents.filter_map(|content| match content.schema {
        ContentSchema::Of(schema) => Some(schema),
        _ => None,
    });
    replies.chain(doc.facts().web_socket.iter().filter_map(|fact| fact.sends))
}

/// Adds the names behind `place` that a value points to by `$ref`.
pub fn references(value: &Value, place: &str, names: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                match value {
                    Value::String(text) if key == "$ref" => {
                        names.extend(text.strip_prefix(place).map(str::to_owned));
                    }
                    value => references(value, place, names),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, place, names)),
        _ => {}
    }
}
