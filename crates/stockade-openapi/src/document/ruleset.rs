//! The rules of a document for Spectral, a tool that judges documents.

use serde_json::{Value, json};
use stockade_errors::ConfigError;
use stockade_routing::map::RouteMap;

use super::{document, routes_by_id};
use crate::options::OpenApiOptions;

/// The rules of OWASP that ask each operation for a user.
const ASKS_FOR_USER: [&str; 2] =
    ["owasp:api2:2023-write-restricted", "owasp:api2:2023-read-restricted"];

/// Returns the ruleset of OWASP for Spectral, with an exception for each route
/// that says why it is public: for no other it can be forgotten.
pub(crate) fn ruleset(map: &RouteMap, options: &OpenApiOptions) -> Result<Value, ConfigError> {
    let document = document(map, options)?;
    let routes = routes_by_id(map);
    let is_public = |operation: &Value| {
        let id = operation.get("operationId").and_then(Value::as_str);
        id.and_then(|id| routes.get(id)).is_some_and(|route| route.access.public.is_some())
    };
    let operations = document.get("paths").and_then(Value::as_object).into_iter().flatten();
    let operations = operations.flat_map(|(path, item)| {
        let methods = item.as_object().into_iter().flatten();
        methods.filter(|(_, operation)| is_public(operation)).map(move |(method, _)| (path, method))
    });
    let exceptions = operations.map(|(path, method)| {
        // RFC 6901, section 3.
        let path = path.replace('~', "~0").replace('/', "~1");
        let rules = ASKS_FOR_USER.map(|rule| (rule.to_owned(), json!("off")));
        json!({
            "files": [format!("**#/paths/{path}/{method}")],
            "rules": Value::Object(rules.into_iter().collect()),
        })
    });
    let exceptions: Vec<Value> = exceptions.collect();
    let mut ruleset = json!({ "extends": ["@stoplight/spectral-owasp-ruleset"] });
    // Spectral takes no empty list.
    if !exceptions.is_empty() {
        ruleset["overrides"] = exceptions.into();
    }
    Ok(ruleset)
}
