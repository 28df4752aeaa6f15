//! The webhooks: requests that an API sends to other servers.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use stockade_errors::ConfigIssue;
use stockade_map::schemas::PLACE as SCHEMAS;
use stockade_routing::map::RouteMap;
use stockade_validation::{DefinitionId, Export, Names, Schema};

use super::paths::{label, routes_by_id};
use crate::options::{OpenApiOptions, Webhook, WebhookBody};

/// Returns the webhooks of a document, and the schemas that the map does not
/// contain.
pub(super) fn of(
    map: &RouteMap,
    options: &OpenApiOptions,
    mistakes: &mut Vec<ConfigIssue>,
) -> (Map<String, Value>, Map<String, Value>) {
    let mut compiled = Vec::new();
    for (name, webhook) in &options.webhooks {
        let schema = match &webhook.body {
            WebhookBody::Of(schema) => schema.schema().map(Some),
            WebhookBody::Json(_) => Ok(None),
        };
        let place = format!("webhook {name}");
        mistakes.extend(schema.as_ref().err().into_iter().flat_map(|error| {
            error.issues().iter().map(|mistake| mistake.clone().on(&place)).collect::<Vec<_>>()
        }));
        // The error is reported, and no document is created.
        compiled.push(schema.ok().flatten());
    }
    let definitions = compiled.iter().flatten().flat_map(Schema::definitions);
    let names = Names::of(definitions).unwrap_or_else(|error| {
        mistakes.extend(error.issues().iter().cloned());
        // As above.
        Names::default()
    });
    let events = Events::of(map, &names);
    let operations = routes_by_id(map);
    let mut webhooks = Map::new();
    for ((name, webhook), schema) in options.webhooks.iter().zip(&compiled) {
        let body = match (&webhook.body, schema) {
            (WebhookBody::Json(schema), _) => schema.clone(),
            (_, Some(schema)) => events.value(schema.export()),
            (_, None) => Value::Bool(true),
        };
        if let Some(route) = operations.get(name) {
            let operation = label(route);
            mistakes.push(ConfigIssue::new(format!(
                "the webhook {name:?} has the same name as {operation}"
            )));
        }
        if webhooks.insert(name.clone(), item(name, webhook, &body)).is_some() {
            mistakes.push(ConfigIssue::new(format!("duplicate webhook name {name:?}")));
        }
    }
    (webhooks, events.into_schemas())
}

/// The types of webhooks. A name must not refer to one type here and to another
/// in the map.
struct Events<'n> {
    names: &'n Names,
    /// New names for types with a name that belongs to another schema in the
    /// map. The new names are not in use elsewhere.
    renamed: BTreeMap<String, String>,
}

impl<'n> Events<'n> {
    fn of(map: &RouteMap, names: &'n Names) -> Self {
        let mut events = Self { names, renamed: BTreeMap::new() };
        let errors = [false, true].map(|it| (map.error_schema_name(it), map.error_schema(it)));
        let known = |name: &str| {
            let error = errors.iter().find(|(known, _)| *known == name);
            map.schemas.get(name).or_else(|| error.map(|(_, schema)| schema))
        };
        // A type that refers to a renamed type becomes a different schema too.
        loop {
            let found = names.iter().find(|(name, definition)| {
                let differs = |known: &Value| *known != events.value(definition.export());
                !events.renamed.contains_key(*name) && known(name).is_some_and(differs)
            });
            let Some((name, _)) = found else { return events };
            let is_free =
                |new: &String| known(new).is_none() && names.iter().all(|(it, _)| it != new);
            let mut new = format!("{name}Event");
            while !is_free(&new) {
                new.push('2');
            }
            events.renamed.insert(name.to_owned(), new);
        }
    }

    /// Returns the name of a type in the document.
    fn name(&self, name: &str) -> String {
        self.renamed.get(name).map_or(name, String::as_str).to_owned()
    }

    fn value(&self, export: Export<'_>) -> Value {
        let reference = |id: &DefinitionId| {
            // All definitions have names unless there is an error.
            let name = self.names.get(id).unwrap_or("unknown");
            format!("{SCHEMAS}{}", self.name(name))
        };
        export.references(&reference).to_value()
    }

    fn into_schemas(self) -> Map<String, Value> {
        let named = self.names.iter();
        named.map(|(name, it)| (self.name(name), self.value(it.export()))).collect()
    }
}

fn item(name: &str, webhook: &Webhook, schema: &Value) -> Value {
    let mut operation = json!({
        "operationId": name,
        "requestBody": {
            "required": true,
            "content": { "application/json": { "schema": schema } },
        },
        "responses": { "2XX": { "description": "The receiver accepted it" } },
        // The receiver does not use the schemes of this document, and tools
        // report a missing field as an oversight.
        "security": [],
    });
    if let Some(summary) = &webhook.summary {
        operation["summary"] = json!(summary);
    }
    if let Some(description) = &webhook.description {
        operation["description"] = json!(description);
    }
    json!({ "post": operation })
}
