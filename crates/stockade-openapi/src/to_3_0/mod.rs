//! [`to_3_0`]: converts an OpenAPI 3.1 document to 3.0, for tools that only
//! support 3.0.
//!
//! Source: OpenAPI 3.0.3; OpenAPI 3.1.1; JSON Schema 2020-12.

mod numbers;
mod schema;
mod types;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// Converts an OpenAPI 3.1 document to OpenAPI 3.0.3. Also returns the parts
/// that 3.0 cannot express, each as a line with its JSON pointer in the 3.1
/// document.
///
/// | 3.1 | 3.0 |
/// |---|---|
/// | null | `nullable` |
/// | `const` | an `enum` of one value |
/// | an exclusive bound | a bound and a flag |
/// | a list of types | `anyOf` |
/// | a tuple | an array of any of its elements |
/// | a `$ref` with siblings | `allOf` |
///
/// A union of a type and null becomes a `nullable` schema with `allOf`, which
/// client generators support.
///
/// ```
/// use stockade::openapi::to_3_0;
/// use stockade::serde_json::json;
///
/// let (document, lost) = to_3_0(&json!({
///     "openapi": "3.1.1",
///     "info": { "title": "Tea", "version": "1" },
///     "webhooks": { "sold": {} },
///     "components": { "schemas": { "Name": { "type": ["string", "null"] } } },
/// }));
/// let name = json!({ "type": "string", "nullable": true });
/// assert_eq!(document["components"]["schemas"]["Name"], name);
/// assert_eq!(lost, ["#/webhooks: OpenAPI 3.0 does not support webhooks"]);
/// ```
#[must_use]
pub fn to_3_0(document: &Value) -> (Value, Vec<String>) {
    let mut converter = Converter {
        source: document,
        lost: Vec::new(),
        lifted: BTreeMap::new(),
        pending: Vec::new(),
    };
    let converted = converter.document();
    (converted, converter.lost)
}

/// The methods of a path item.
const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

struct Converter<'d> {
    source: &'d Value,
    lost: Vec<String>,
    /// The component names of schemas outside the components, by reference.
    lifted: BTreeMap<String, String>,
    /// The references in `lifted` to schemas that are not yet converted.
    pending: Vec<String>,
}

/// A function that converts a part of a document.
type Part<'d> = fn(&mut Converter<'d>, &Value, &str) -> Value;

impl Converter<'_> {
    fn document(&mut self) -> Value {
        let mut out = Map::new();
        for (key, value) in members(self.source) {
            let path = at("#", key);
            match key.as_str() {
                "openapi" => {
                    out.insert(key.clone(), json!("3.0.3"));
                }
                "info" => {
                    out.insert(key.clone(), self.info(value, &path));
                }
                "webhooks" => self.lose(&path, "OpenAPI 3.0 does not support webhooks"),
                "jsonSchemaDialect" => self.lose(&path, "OpenAPI 3.0 has only one schema dialect"),
                "paths" => {
                    let paths = self.each_but_extensions(value, &path, Self::path_item);
                    out.insert(key.clone(), paths);
                }
                "components" => {
                    let components = self.components(value, &path);
                    out.insert(key.clone(), components);
                }
                "security" => {
                    let security = self.security(value, &path);
                    out.insert(key.clone(), security);
                }
                _ => {
                    out.insert(key.clone(), value.clone());
                }
            }
        }
        out.entry("paths").or_insert_with(|| json!({}));
        self.lift(&mut out);
        Value::Object(out)
    }

    /// Adds the schemas from places that do not exist in 3.0.
    fn lift(&mut self, out: &mut Map<String, Value>) {
        while let Some(reference) = self.pending.pop() {
            let Some(name) = self.lifted.get(&reference).cloned() else { continue };
            let schema = reference.strip_prefix('#').and_then(|path| self.source.pointer(path));
            let schema = match schema {
                Some(schema) => self.schema(schema, &reference),
                None => json!({}),
            };
            let components = out.entry("components").or_insert_with(|| json!({})).as_object_mut();
            let schemas = components.map(|it| it.entry("schemas").or_insert_with(|| json!({})));
            if let Some(schemas) = schemas.and_then(Value::as_object_mut) {
                schemas.insert(name, schema);
            }
        }
    }

    fn info(&mut self, info: &Value, path: &str) -> Value {
        let mut out = info.clone();
        if let Some(out) = out.as_object_mut()
            && out.remove("summary").is_some()
        {
            self.lose(&at(path, "summary"), "OpenAPI 3.0 does not support a summary of the API");
        }
        let license = out.get_mut("license").and_then(Value::as_object_mut);
        if license.is_some_and(|license| license.remove("identifier").is_some()) {
            self.lose(
                &format!("{path}/license/identifier"),
                "OpenAPI 3.0 does not support license identifiers",
            );
        }
        out
    }

    fn components(&mut self, components: &Value, path: &str) -> Value {
        let mut out = Map::new();
        for (key, value) in members(components) {
            let path = at(path, key);
            let part: Part<'_> = match key.as_str() {
                "schemas" => Self::schema,
                "responses" => Self::response,
                "parameters" | "headers" => Self::parameter,
                "requestBodies" => Self::with_content,
                "callbacks" => Self::callback,
                "securitySchemes" => Self::security_scheme,
                // References to them are inlined.
                "pathItems" => continue,
                _ => |_, value, _| value.clone(),
            };
            let converted = self.each(value, &path, part);
            out.insert(key.clone(), converted);
        }
        Value::Object(out)
    }

    fn path_item(&mut self, item: &Value, path: &str) -> Value {
        let named = item.get("$ref").and_then(Value::as_str);
        let named = named.filter(|reference| reference.starts_with("#/components/pathItems/"));
        let source = self.source;
        // A path item that refers to another reference is not resolved.
        let item = named.and_then(|reference| source.pointer(&reference[1..])).unwrap_or(item);
        let mut out = Map::new();
        for (key, value) in members(item) {
            let path = at(path, key);
            let converted = match key.as_str() {
                "parameters" => self.list(value, &path, Self::parameter),
                key if METHODS.contains(&key) => self.operation(value, &path),
                "$ref" | "summary" | "description" | "servers" => value.clone(),
                key if key.starts_with("x-") => value.clone(),
                _ => {
                    self.lose(&path, "OpenAPI 3.0 does not support this method");
                    continue;
                }
            };
            out.insert(key.clone(), converted);
        }
        Value::Object(out)
    }

    fn operation(&mut self, operation: &Value, path: &str) -> Value {
        let mut out = Map::new();
        for (key, value) in members(operation) {
            let path = at(path, key);
            let converted = match key.as_str() {
                "parameters" => self.list(value, &path, Self::parameter),
                "requestBody" => self.with_content(value, &path),
                "responses" => self.each_but_extensions(value, &path, Self::response),
                "callbacks" => self.each(value, &path, Self::callback),
                "security" => self.security(value, &path),
                _ => value.clone(),
            };
            out.insert(key.clone(), converted);
        }
        // OpenAPI 3.0 requires responses.
        out.entry("responses").or_insert_with(|| json!({ "default": { "description": "" } }));
        Value::Object(out)
    }

    fn callback(&mut self, callback: &Value, path: &str) -> Value {
        match self.reference(callback, path) {
            Some(reference) => reference,
            None => self.each_but_extensions(callback, path, Self::path_item),
        }
    }

    /// Converts a response with its headers and bodies.
    fn response(&mut self, response: &Value, path: &str) -> Value {
        let mut out = self.with_content(response, path);
        if let Some(headers) = response.get("headers").filter(|_| out.get("$ref").is_none()) {
            out["headers"] = self.each(headers, &at(path, "headers"), Self::parameter);
        }
        out
    }

    /// Converts a parameter or a header.
    fn parameter(&mut self, parameter: &Value, path: &str) -> Value {
        let mut out = self.with_content(parameter, path);
        if let Some(schema) = parameter.get("schema").filter(|_| out.get("$ref").is_none()) {
            out["schema"] = self.schema(schema, &at(path, "schema"));
        }
        out
    }

    fn with_content(&mut self, value: &Value, path: &str) -> Value {
        if let Some(reference) = self.reference(value, path) {
            return reference;
        }
        let mut out = value.clone();
        if let Some(content) = value.get("content") {
            out["content"] = self.each(content, &at(path, "content"), Self::media_type);
        }
        out
    }

    fn media_type(&mut self, media_type: &Value, path: &str) -> Value {
        let mut out = media_type.clone();
        if let Some(schema) = media_type.get("schema") {
            out["schema"] = self.schema(schema, &at(path, "schema"));
        }
        for (name, encoding) in media_type.get("encoding").into_iter().flat_map(members) {
            if let Some(headers) = encoding.get("headers") {
                let path = format!("{}/headers", at(&at(path, "encoding"), name));
                out["encoding"][name]["headers"] = self.each(headers, &path, Self::parameter);
            }
        }
        out
    }

    fn security_scheme(&mut self, scheme: &Value, path: &str) -> Value {
        let mut out = scheme.clone();
        if scheme["type"] == "mutualTLS" {
            self.lose(path, "client certificates become an HTTP scheme");
            out["type"] = json!("http");
            out["scheme"] = json!("mutualTLS");
        }
        out
    }

    /// Converts the security requirements of an operation: only schemes with
    /// scopes have a non-empty list.
    fn security(&mut self, security: &Value, path: &str) -> Value {
        let mut out = security.clone();
        let requirements = out.as_array_mut().into_iter().flatten().enumerate();
        for (index, requirement) in requirements {
            for (name, roles) in requirement.as_object_mut().into_iter().flatten() {
                let kind = &self.source["components"]["securitySchemes"][name]["type"];
                let has_scopes = kind == "oauth2" || kind == "openIdConnect";
                if !has_scopes && roles.as_array().is_some_and(|roles| !roles.is_empty()) {
                    let place = at(&at(path, &index.to_string()), name);
                    self.lost.push(format!("{place}: only OAuth 2 schemes can require scopes"));
                    *roles = json!([]);
                }
            }
        }
        out
    }

    /// Returns a reference without its siblings; `None` for other values.
    fn reference(&mut self, value: &Value, path: &str) -> Option<Value> {
        let reference = value.get("$ref")?;
        for key in ["summary", "description"].iter().filter(|key| value.get(key).is_some()) {
            self.lose(&at(path, key), "a reference cannot have other members");
        }
        Some(json!({ "$ref": reference }))
    }

    /// Converts each member of an object.
    fn each(
        &mut self,
        object: &Value,
        path: &str,
        part: fn(&mut Self, &Value, &str) -> Value,
    ) -> Value {
        let converted =
            members(object).map(|(key, value)| (key.clone(), part(self, value, &at(path, key))));
        Value::Object(converted.collect())
    }

    /// Converts each member of an object except extensions.
    fn each_but_extensions(
        &mut self,
        object: &Value,
        path: &str,
        part: fn(&mut Self, &Value, &str) -> Value,
    ) -> Value {
        let converted = members(object).map(|(key, value)| {
            let converted = match key.starts_with("x-") {
                true => value.clone(),
                false => part(self, value, &at(path, key)),
            };
            (key.clone(), converted)
        });
        Value::Object(converted.collect())
    }

    /// Converts each element of an array.
    fn list(
        &mut self,
        array: &Value,
        path: &str,
        part: fn(&mut Self, &Value, &str) -> Value,
    ) -> Value {
        let elements = array.as_array().into_iter().flatten().enumerate();
        elements.map(|(index, value)| part(self, value, &at(path, &index.to_string()))).collect()
    }

    fn lose(&mut self, path: &str, what: &str) {
        self.lost.push(format!("{path}: {what}"));
    }
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

/// Returns the JSON pointer of a member (RFC 6901).
fn at(path: &str, key: &str) -> String {
    format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"))
}
