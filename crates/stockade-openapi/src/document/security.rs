//! The security schemes and requirements of a document.

use serde_json::{Map, Value, json};
use stockade_routing::map::{Need, RouteAccess, RouteMap, SchemeInfo};

use super::paths::is_listed;

/// Returns the security schemes of the listed routes.
pub(super) fn schemes(map: &RouteMap) -> Map<String, Value> {
    let mut schemes = Map::new();
    let listed = map.routes.iter().filter(|route| is_listed(route));
    for scheme in listed.flat_map(|route| &route.access.schemes) {
        schemes.entry(scheme.name()).or_insert_with(|| scheme_object(scheme));
    }
    schemes
}

fn scheme_object(scheme: &SchemeInfo) -> Value {
    match scheme {
        SchemeInfo::Http { scheme, bearer_format, .. } => {
            let mut object = json!({ "type": "http", "scheme": scheme.to_ascii_lowercase() });
            if let Some(format) = bearer_format {
                // Only this scheme supports the field (OpenAPI 3.1, "Security
                // Scheme Object").
                if scheme.eq_ignore_ascii_case("bearer") {
                    object["bearerFormat"] = json!(format);
                }
                object["description"] = json!("A signed token (RFC 7519; RFC8725)");
            }
            object
        }
        SchemeInfo::Header { header, .. } => {
            json!({ "type": "apiKey", "in": "header", "name": header })
        }
        SchemeInfo::Cookie { cookie, .. } => {
            json!({ "type": "apiKey", "in": "cookie", "name": cookie })
        }
        other => json!({
            "type": "apiKey",
            "in": "header",
            "name": "Authorization",
            "description": match other {
                SchemeInfo::Other { text, .. } => text.as_str(),
                _ => "",
            },
        }),
    }
}

/// Returns the security requirements of an operation: empty for a public one,
/// or one alternative for each authentication method. Returns `None` if a user
/// is required but no method is described.
///
/// Roles are not scopes: a client needs all listed scopes, but only one of the
/// listed roles.
pub(super) fn of(access: &RouteAccess) -> Option<Value> {
    let schemes = access.schemes.iter().map(|scheme| json!({ scheme.name(): [] }));
    match access.user {
        Need::Required if access.schemes.is_empty() => None,
        Need::Required => Some(schemes.collect()),
        Need::Optional => Some([json!({})].into_iter().chain(schemes).collect()),
        _ => Some(json!([])),
    }
}

/// Returns the requirements for access, for the text of a 403.
pub(crate) fn demand(access: &RouteAccess) -> Option<String> {
    let mut words: Vec<String> = access
        .roles
        .iter()
        .map(|roles| match roles.as_slice() {
            [role] => format!("the role {role}"),
            roles => format!("one of the roles {}", roles.join(", ")),
        })
        .collect();
    words.extend(access.permissions.iter().map(|name| match name {
        Some(name) => format!("the permission \"{name}\""),
        None => "a permission".to_owned(),
    }));
    (!words.is_empty()).then(|| format!("Requires {}", words.join(" and ")))
}
