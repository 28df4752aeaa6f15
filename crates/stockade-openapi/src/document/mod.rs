//! Makes an OpenAPI document of a map of routes.
//!
//! Source: OpenAPI 3.1.1.

mod components;
mod operation;
mod paths;
mod responses;
mod ruleset;
mod schemas;
mod security;

use serde_json::{Map, Value, json};
use stockade_errors::{ConfigError, Mistake};
use stockade_routing::App;
use stockade_routing::map::RouteMap;

use self::paths::Paths;
pub(crate) use self::paths::routes_by_id;
pub(crate) use self::ruleset::ruleset;
pub(crate) use self::security::demand;
use crate::options::{ApiInfo, OpenApiOptions, Webhook, WebhookBody};

/// Makes the OpenAPI document of an application.
///
/// It says what the routes say: paths, parameters, bodies, the answers of
/// handlers and of everything in front of them, headers, and who may call. The
/// same application gives the same text, with its paths in the order of the
/// tree.
///
/// Left out are routes that are hidden, routes of any method and mounts, whose
/// methods nobody knows, and methods that OpenAPI 3.1 has no word for.
///
/// # Errors
/// When two routes would be the same operation, because they differ only in the
/// expressions of their parameters, or when two operations have the same name.
pub fn open_api(app: &App, options: &OpenApiOptions) -> Result<Value, ConfigError> {
    document(&app.route_map(), options)
}

/// Makes the OpenAPI document of a map, as [`open_api`] does of an application.
///
/// # Errors
/// As [`open_api`].
pub fn document(map: &RouteMap, options: &OpenApiOptions) -> Result<Value, ConfigError> {
    let mut mistakes: Vec<Mistake> = map.mistakes.iter().map(Mistake::new).collect();
    let paths = Paths::of(map, options, &mut mistakes);
    let mut document = Map::new();
    document.insert("openapi".to_owned(), json!("3.1.1"));
    document.insert("info".to_owned(), info(&options.info));
    // The default, which some tools want to see.
    let default = ["/".to_owned()];
    let servers = if options.servers.is_empty() { &default[..] } else { &options.servers };
    let servers = servers.iter();
    let servers = servers.map(|url| json!({ "url": url, "x-internal": options.internal_servers }));
    document.insert("servers".to_owned(), servers.collect());
    let tags = paths.tags(map, options, &mut mistakes);
    if !tags.is_empty() {
        document.insert("tags".to_owned(), tags.into());
    }
    document.insert("paths".to_owned(), paths.into_value());
    if !options.webhooks.is_empty() {
        let webhooks = options.webhooks.iter();
        let webhooks = webhooks.map(|(name, webhook)| (name.clone(), webhook_item(name, webhook)));
        document.insert("webhooks".to_owned(), Value::Object(webhooks.collect()));
    }
    document.insert("components".to_owned(), components(map));
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

fn components(map: &RouteMap) -> Value {
    let mut components = Map::new();
    components.insert("schemas".to_owned(), schemas::all(map));
    components.insert("responses".to_owned(), responses::shared(map));
    let headers = responses::headers(map);
    if !headers.is_empty() {
        components.insert("headers".to_owned(), Value::Object(headers));
    }
    let schemes = security::schemes(map);
    if !schemes.is_empty() {
        components.insert("securitySchemes".to_owned(), Value::Object(schemes));
    }
    Value::Object(components)
}

fn webhook_item(name: &str, webhook: &Webhook) -> Value {
    let schema = match &webhook.body {
        WebhookBody::Of(schema) => {
            // Of a schema that cannot work nothing is known.
            schema.schema().map_or(Value::Bool(true), |schema| schema.to_json_schema())
        }
        WebhookBody::Json(schema) => schema.clone(),
    };
    let mut operation = json!({
        "operationId": name,
        "requestBody": {
            "required": true,
            "content": { "application/json": { "schema": schema } },
        },
        "responses": { "2XX": { "description": "It was taken" } },
    });
    if let Some(summary) = &webhook.summary {
        operation["summary"] = json!(summary);
    }
    if let Some(description) = &webhook.description {
        operation["description"] = json!(description);
    }
    json!({ "post": operation })
}
