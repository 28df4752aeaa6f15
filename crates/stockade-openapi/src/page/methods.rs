//! JSON-RPC methods, which share the path of their route. The document
//! describes only that route.

use serde_json::Value;
use stockade_map::schemas::schema_name;
use stockade_routing::map::{BodyDoc, RouteInfo, RouteKind, RouteMap};

use super::html::Html;
use super::operation::value;
use super::schema::View;
use super::{Contents, markdown};
use crate::example::Direction;

/// The number of levels at which named schemas are inlined.
const DEPTH: usize = 4;

/// A method with the schemas of its parameters and its result.
pub(super) struct Method {
    /// The path of its route.
    path: String,
    name: String,
    summary: Option<String>,
    description: Option<String>,
    parameters: Option<Value>,
    result: Option<Value>,
}

/// Returns the methods that are not hidden.
pub(super) fn of(map: &RouteMap) -> Vec<Method> {
    let methods = map
        .routes
        .iter()
        .filter(|route| route.kind == RouteKind::RpcMethod && route.docs.hidden.is_none());
    methods.filter_map(|route| method(map, route)).collect()
}

fn method(map: &RouteMap, route: &RouteInfo) -> Option<Method> {
    let (path, name) = route.path.split_once('#')?;
    let parameters = route.body.iter().flat_map(|body| &body.content).next();
    let results = route.answers.iter().filter(|answer| answer.status.is_success());
    let mut results = results.filter_map(|answer| match &answer.body {
        BodyDoc::Content(content) => content.first(),
        _ => None,
    });
    Some(Method {
        path: path.to_owned(),
        name: name.to_owned(),
        summary: route.docs.summary.clone(),
        description: route.docs.description.clone(),
        parameters: parameters.map(|content| inlined(map, &content.schema, DEPTH)),
        result: results.next().map(|content| inlined(map, &content.schema, DEPTH)),
    })
}

/// Returns a schema with the named schemas that it refers to.
fn inlined(map: &RouteMap, schema: &Value, depth: usize) -> Value {
    let named = schema_name(schema).and_then(|name| map.schemas.get(name));
    match (named, schema) {
        (Some(_), _) if depth == 0 => Value::Bool(true),
        (Some(named), _) => inlined(map, named, depth - 1),
        (None, Value::Object(object)) => {
            let members = object.iter();
            members.map(|(name, value)| (name.clone(), inlined(map, value, depth))).collect()
        }
        (None, Value::Array(items)) => items.iter().map(|it| inlined(map, it, depth)).collect(),
        (None, other) => other.clone(),
    }
}

/// Adds the methods of a route.
pub(super) fn add(html: &mut Html, contents: &Contents<'_>, route: &RouteInfo) {
    let mut own = contents.methods.iter().filter(|method| method.path == route.path).peekable();
    // Only POST requests call methods.
    if route.method != "POST" || own.peek().is_none() {
        return;
    }
    html.markup("<h4>JSON-RPC methods</h4>");
    for method in own {
        html.markup("<details><summary><code>").text(&method.name).markup("</code> ");
        html.text(method.summary.as_deref().unwrap_or_default()).markup("</summary>");
        if let Some(description) = &method.description {
            markdown::add(html, description);
        }
        for (title, schema, direction) in [
            ("Parameters: ", &method.parameters, Direction::Request),
            ("Result: ", &method.result, Direction::Response),
        ] {
            if let Some(schema) = schema {
                html.markup("<p>").markup(title);
                value(
                    html,
                    View { schemas: contents.schemas(), direction: Some(direction) },
                    schema,
                );
            }
        }
        html.markup("</details>");
    }
}
