//! The schemas of a map: those of types with a name stand once, and routes
//! point to them.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde_json::Value;
use stockade_core::__internal::RouteDocExt as _;
use stockade_core::Endpoint;
use stockade_core::description::{AnswerBody, ContentSchema, InputFrom, SchemaOf};
use stockade_validation::{Definition, DefinitionId, Export, Names, Schema};

use super::answers::Told;
use super::build::{Judging, judging};
use super::{Place, RouteInfo};

/// The place of schemas in a map.
pub const PLACE: &str = "#/schemas/";

/// The end of the name of a definition that refuses members which it does not
/// list, where it does not refuse them elsewhere.
const STRICT: &str = "Strict";

/// The schemas of some routes, with their names.
#[derive(Default)]
pub(crate) struct Schemas {
    names: Names,
    /// The names of definitions where members that they do not list are refused,
    /// by their names.
    closed: BTreeMap<String, String>,
    /// The names of definitions where such members are not refused.
    open: HashSet<String>,
    /// The mistakes in the schemas of replies, and in names.
    pub(super) mistakes: Vec<String>,
}

impl Schemas {
    /// Names the schemas of these routes.
    pub(super) fn of<'r>(routes: impl Iterator<Item = (&'r Endpoint, &'r Told)>) -> Self {
        let mut schemas = Self::default();
        let mut definitions = Vec::new();
        let mut closed = Vec::new();
        for (endpoint, told) in routes {
            let doc = &told.doc;
            for from in [InputFrom::Params, InputFrom::Query, InputFrom::Body] {
                for judging in judging(endpoint, doc.facts(), from) {
                    let list = if judging.is_closed { &mut closed } else { &mut definitions };
                    list.extend(judging.schema.definitions());
                }
            }
            let web_socket = doc.facts().web_socket.as_ref();
            let messages = web_socket.and_then(|fact| fact.receives.as_ref());
            definitions.extend(messages.into_iter().flat_map(Schema::definitions));
            for schema in replies(told) {
                match schema.schema() {
                    Ok(schema) => definitions.extend(schema.definitions()),
                    Err(error) => {
                        let (method, path) = (endpoint.method(), endpoint.pattern());
                        let place = Place::from(endpoint.location());
                        let told = error.mistakes().iter();
                        let told = told.map(|it| format!("{method} {path} ({place}): {it}"));
                        schemas.mistakes.extend(told);
                    }
                }
            }
        }
        match Names::of(definitions.iter().chain(&closed).cloned()) {
            Ok(names) => {
                schemas.names = names;
                schemas.close(&definitions, &closed);
            }
            Err(error) => {
                schemas.mistakes.extend(error.mistakes().iter().map(ToString::to_string));
            }
        }
        schemas
    }

    /// Names the definitions that refuse members which they do not list: by the
    /// same name, or by one with `Strict` behind it where they do not refuse
    /// them elsewhere.
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

    /// Returns a schema as JSON, with references to those that have a name.
    pub(super) fn value(&self, judging: Judging<'_>) -> Value {
        self.exported(judging.schema.export(), judging.is_closed)
    }

    /// Returns a schema as JSON, itself written out, with references to others.
    pub(super) fn value_in_place(&self, judging: Judging<'_>) -> Value {
        self.in_place(self.value(judging))
    }

    /// Returns the schema that a reference points to, or the value itself.
    pub(super) fn in_place(&self, value: Value) -> Value {
        let definition = schema_name(&value)
            .and_then(|wanted| self.definitions().find(|(name, ..)| *name == wanted));
        match definition {
            Some((_, definition, is_closed)) => self.exported(definition.export(), is_closed),
            None => value,
        }
    }

    /// Returns each definition with a name that references have for it, and with
    /// true if it refuses members that it does not list.
    fn definitions(&self) -> impl Iterator<Item = (&str, &Definition, bool)> {
        self.names.iter().flat_map(|(name, definition)| {
            let closed = self.closed.get(name);
            let is_open = closed.is_none() || self.open.contains(name);
            let open = is_open.then_some((name, definition, false));
            open.into_iter().chain(closed.map(|closed| (closed.as_str(), definition, true)))
        })
    }

    /// Returns the schema of a type that is written, as JSON.
    pub(super) fn of_reply(&self, schema: SchemaOf) -> Value {
        // Its mistakes are kept since the names were given.
        let open = |schema: &Schema| self.exported(schema.export(), false);
        schema.schema().map_or(Value::Bool(true), |schema| open(&schema))
    }

    fn exported(&self, export: Export<'_>, is_closed: bool) -> Value {
        let reference = |id: &DefinitionId| match self.names.get(id) {
            Some(name) => {
                let closed = self.closed.get(name).filter(|_| is_closed);
                format!("{PLACE}{}", closed.map_or(name, String::as_str))
            }
            // All definitions were named, or there is a mistake.
            None => format!("{PLACE}unknown"),
        };
        export.closed(is_closed).references(&reference).to_value()
    }

    /// Returns the schemas that routes point to, and those that these point to.
    pub(super) fn used_by<'r>(
        &self,
        routes: impl Iterator<Item = &'r RouteInfo>,
    ) -> BTreeMap<String, Value> {
        let all = self.definitions();
        let all: BTreeMap<&str, (&Definition, bool)> =
            all.map(|(name, definition, is_closed)| (name, (definition, is_closed))).collect();
        let mut names = BTreeSet::new();
        for route in routes {
            route.values().for_each(|value| references(value, PLACE, &mut names));
        }
        let mut used: BTreeMap<String, Value> = BTreeMap::new();
        while let Some(name) = names.pop_first() {
            if let Some((definition, is_closed)) = all.get(name.as_str())
                && !used.contains_key(&name)
            {
                let value = self.exported(definition.export(), *is_closed);
                references(&value, PLACE, &mut names);
                used.insert(name, value);
            }
        }
        used
    }
}

/// Returns the schemas of the replies of a route, and of messages that it sends.
fn replies(told: &Told) -> impl Iterator<Item = SchemaOf> {
    let contents = told.answers.iter().flat_map(|answer| match &answer.body {
        AnswerBody::Content(contents) => contents.as_slice(),
        _ => &[],
    });
    let replies = contents.filter_map(|content| match content.schema {
        ContentSchema::Of(schema) => Some(schema),
        _ => None,
    });
    replies.chain(told.doc.facts().web_socket.iter().filter_map(|fact| fact.sends))
}

/// Returns the name of the schema of a map that a schema refers to.
#[must_use]
pub fn schema_name(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()?.strip_prefix(PLACE)
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
