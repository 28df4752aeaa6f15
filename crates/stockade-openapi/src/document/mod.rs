//! Creates an OpenAPI document from a route map.
//!
//! Source: OpenAPI 3.1.1.

mod components;
mod examples;
mod operation;
mod paths;
mod responses;
mod ruleset;
mod schemas;
mod security;
mod shared;
mod webhooks;

use serde_json::{Map, Value, json};
use stockade_errors::{ConfigError, ConfigIssue};
use stockade_routing::App;
use stockade_routing::map::RouteMap;

pub(crate) use self::examples::is_json;
use self::paths::Paths;
pub(crate) use self::paths::routes_by_id;
pub(crate) use self::responses::is_of_stage;
pub(crate) use self::ruleset::ruleset;
pub(crate) use self::security::demand;
use self::shared::Shared;
use crate::options::{ApiInfo, OpenApiOptions};

/// Creates the OpenAPI document of an application.
///
/// It describes paths, parameters, bodies, headers, access, and the responses
/// of handlers, middleware and built-in stages. The result is deterministic,
/// with paths in the order of the tree.
///
/// Some routes are left out: hidden routes, routes for any method and mounts
/// with unknown methods, and methods that OpenAPI 3.1 does not support.
///
/// # Errors
/// Fails if two routes would be the same operation because only their hosts or
/// the constraints of their parameters differ, or if two operations have the
/// same name.
pub fn open_api(app: &App, options: &OpenApiOptions) -> Result<Value, ConfigError> {
    document(&app.route_map(), options)
}

/// Creates the OpenAPI document of a map, as [`open_api`] does for an
/// application.
///
/// # Errors
/// Fails as [`open_api`] does.
pub fn document(map: &RouteMap, options: &OpenApiOptions) -> Result<Value, ConfigError> {
    let mut mistakes: Vec<ConfigIssue> = map.mistakes.iter().map(ConfigIssue::new).collect();
    let shared = Shared::of(map);
    let paths = Paths::of(map, options, &shared, &mut mistakes);
    let (webhooks, events) = webhooks::of(map, options, &mut mistakes);
    let mut document = Map::new();
    document.insert("openapi".to_owned(), json!("3.1.1"));
    document.insert("info".to_owned(), info(&options.info));
    // This server is the default, but some tools require it.
    let default = ["/".to_owned()];
    let servers = if options.servers.is_empty() { &default[..] } else { &options.servers };
    let servers = servers.iter();
    let servers = servers.map(|url| json!({ "url": url, "x-internal": options.internal_servers }));
    document.insert("servers".to_owned(), servers.collect());
    let tags = paths.tags(map, options, &mut mistakes);
    if !tags.is_empty() {
        document.insert("tags".to_owned(), tags.into());
    }
    let (shared, names) = shared.into_parts();
    let mut paths = paths.into_value();
    shared::rename(&mut paths, &names);
    document.insert("paths".to_owned(), paths);
    if !webhooks.is_empty() {
        document.insert("webhooks".to_owned(), webhooks.into());
    }
    document.insert("components".to_owned(), components(map, shared, events));
    ConfigError::check(mistakes)?;
    let mut document = Value::Object(document);
    schemas::point_to_components(&mut document);
    components::keep_used(&mut document);
    Ok(document)
}

fn info(info: &ApiInfo) -> Value {
    let mut value = json!({ "title": info.title, "version": info.version });
    if let Some(description) = &info.description {
        value["description"] = json!(description);
    }
    if let Some(license) = &info.license {
        value["license"] = json!({ "name": license });
    }
    if let Some(contact) = &info.contact {
        let key = if contact.contains("://") { "url" } else { "email" };
        value["contact"] = json!({ key: contact });
    }
    value
}

/// Returns the components of a document, including the schemas of its webhooks.
fn components(
    map: &RouteMap,
    shared: [(&'static str, Map<String, Value>); 2],
    events: Map<String, Value>,
) -> Value {
    let mut components = Map::new();
    let mut schemas = schemas::all(map);
    schemas.extend(events);
    components.insert("schemas".to_owned(), schemas.into());
    for (kind, parts) in shared {
        components.insert(kind.to_owned(), parts.into());
    }
    let schemes = security::schemes(map);
    if !schemes.is_empty() {
        components.insert("securitySchemes".to_owned(), Value::Object(schemes));
    }
    Value::Object(components)
}
