//! The result of `rpc.discover`: an OpenRPC document of the methods, derived
//! from the route map.
//!
//! Source: <https://spec.open-rpc.org>, version 1.3.2.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};
use stockade_map::schemas::{PLACE as SCHEMAS, references};
use stockade_routing::map::{RouteInfo, RouteMap};

use crate::describe::{name_of, params, result};

/// The codes and messages of errors, by method name.
pub(crate) type MethodErrors = BTreeMap<String, Vec<(i32, Cow<'static, str>)>>;

/// Creates the document of the methods with this `info` object.
pub(crate) fn document(
    info: &Value,
    methods: &[&RouteInfo],
    errors: &MethodErrors,
    map: &RouteMap,
) -> Value {
    let listed = methods.iter().filter(|method| method.docs.hidden.is_none());
    let mut methods: Vec<Value> =
        listed.map(|method| method_object(method, &map.schemas)).collect();
    for method in &mut methods {
        if let Some(errors) = method["name"].as_str().and_then(|name| errors.get(name)) {
            let errors = errors.iter();
            let errors = errors.map(|(code, message)| json!({ "code": code, "message": message }));
            method["errors"] = errors.collect();
        }
    }
    let mut document = json!({ "openrpc": "1.3.2", "info": info, "methods": methods });
    let schemas = used(&document, &map.schemas);
    if !schemas.is_empty() {
        document["components"] = json!({ "schemas": schemas });
    }
    point(&mut document);
    document
}

fn method_object(method: &RouteInfo, schemas: &BTreeMap<String, Value>) -> Value {
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| drop(object.insert(key.to_owned(), value));
    put("name", json!(name_of(method)));
    let docs = &method.docs;
    docs.summary.iter().for_each(|text| put("summary", json!(text)));
    docs.description.iter().for_each(|text| put("description", json!(text)));
    if !docs.tags.is_empty() {
        put("tags", docs.tags.iter().map(|name| json!({ "name": name })).collect());
    }
    if docs.deprecated {
        put("deprecated", json!(true));
    }
    let (structure, params) = descriptors(method, schemas);
    put("paramStructure", json!(structure));
    put("params", params.into());
    put("result", json!({ "name": "result", "schema": result(method) }));
    if !method.access.roles.is_empty() {
        put("x-required-roles", json!(method.access.roles));
    }
    Value::Object(object)
}

/// Returns the structure of the parameters, and a descriptor of each.
fn descriptors(
    method: &RouteInfo,
    schemas: &BTreeMap<String, Value>,
) -> (&'static str, Vec<Value>) {
    let Some((schema, is_required)) = params(method) else { return ("either", Vec::new()) };
    let named = schema.get("$ref").and_then(Value::as_str);
    let named = named.and_then(|text| schemas.get(text.strip_prefix(SCHEMAS)?));
    let schema = named.unwrap_or(schema);
    let descriptor = |name: &str, required: bool, schema: &Value| {
        let mut descriptor = json!({ "name": name, "required": required, "schema": schema });
        if let Some(text) = schema.get("description") {
            descriptor["description"] = text.clone();
        }
        descriptor
    };
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        let required = schema.get("required").and_then(Value::as_array);
        let is_needed = |name: &str| {
            is_required && required.is_some_and(|all| all.iter().any(|known| known == name))
        };
        let all = properties.iter().map(|(name, schema)| descriptor(name, is_needed(name), schema));
        return ("either", all.collect());
    }
    if let Some(items) = schema.get("prefixItems").and_then(Value::as_array) {
        let items = items.iter().enumerate();
        let all = items.map(|(index, schema)| descriptor(&format!("param{index}"), true, schema));
        return ("by-position", all.collect());
    }
    // OpenRPC cannot describe a variable number of parameters, so one
    // descriptor represents all of them.
    let schema = schema.get("items").unwrap_or(schema);
    ("by-position", vec![descriptor("param0", false, schema)])
}

/// Returns the schemas that a document refers to, directly or indirectly.
fn used(document: &Value, schemas: &BTreeMap<String, Value>) -> Map<String, Value> {
    let mut names = BTreeSet::new();
    references(document, SCHEMAS, &mut names);
    let mut found = Map::new();
    while let Some(name) = names.pop_first() {
        if let Some(schema) = schemas.get(&name).filter(|_| !found.contains_key(&name)) {
            references(schema, SCHEMAS, &mut names);
            found.insert(name, schema.clone());
        }
    }
    found
}

/// Changes each reference to point to the schemas in the document.
fn point(value: &mut Value) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                match value {
                    Value::String(text) if key == "$ref" && text.starts_with(SCHEMAS) => {
                        *text = format!("#/components/schemas/{}", &text[SCHEMAS.len()..]);
                    }
                    value => point(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(point),
        _ => {}
    }
}
