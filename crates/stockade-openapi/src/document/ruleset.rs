//! The ruleset of a document for Spectral, an OpenAPI linter.

use serde_json::{Map, Value, json};
use stockade_errors::ConfigError;
use stockade_routing::__internal::encode_component;
use stockade_routing::map::{RouteInfo, RouteMap};

use super::{document, routes_by_id};
use crate::options::OpenApiOptions;

/// Returns the OWASP ruleset for Spectral, with an exception for each route
/// that declares a reason. Other routes cannot bypass a rule by accident.
pub(crate) fn ruleset(map: &RouteMap, options: &OpenApiOptions) -> Result<Value, ConfigError> {
    let document = document(map, options)?;
    let routes = routes_by_id(map);
    let mut exceptions = Vec::new();
    for (path, item) in document.get("paths").and_then(Value::as_object).into_iter().flatten() {
        for (method, operation) in item.as_object().into_iter().flatten() {
            let id = operation.get("operationId").and_then(Value::as_str);
            let Some(route) = id.and_then(|id| routes.get(id)) else { continue };
            let rules: Map<String, Value> =
                rules_not_for(route).map(|rule| (rule.to_owned(), json!("off"))).collect();
            // Spectral rejects empty lists.
            if !rules.is_empty() {
                let path = in_fragment(path);
                let files = [format!("**#/paths/{path}/{method}")];
                exceptions.push(json!({ "files": files, "rules": rules }));
            }
        }
    }
    let mut ruleset = json!({ "extends": ["@stoplight/spectral-owasp-ruleset"] });
    if !exceptions.is_empty() {
        ruleset["overrides"] = exceptions.into();
    }
    Ok(ruleset)
}

/// Returns a path as one step of a JSON Pointer in a URI fragment (RFC 6901,
/// section 6). Spectral compares pointers as text in this encoding.
fn in_fragment(path: &str) -> String {
    encode_component(&path.replace('~', "~0").replace('/', "~1"))
}

/// Returns the OWASP rules that a route cannot satisfy.
fn rules_not_for(route: &RouteInfo) -> impl Iterator<Item = &'static str> {
    // These rules require security for each operation.
    let public: &[_] = match route.access.public {
        Some(_) => &["owasp:api2:2023-write-restricted", "owasp:api2:2023-read-restricted"],
        None => &[],
    };
    // This rule requires rate limit headers in each response.
    let uncounted = route.limits.rate_exempt_reason.is_some();
    let uncounted = uncounted.then_some("owasp:api4:2023-rate-limit");
    // This rule requires a CORS header in each response, but a WebSocket
    // handshake does not have one.
    let handshake = route.web_socket.is_some();
    let handshake = handshake.then_some("owasp:api8:2023-define-cors-origin");
    public.iter().copied().chain(uncounted).chain(handshake)
}
