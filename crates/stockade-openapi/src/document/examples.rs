//! The examples in the documentation of a route.

use serde_json::{Map, Value, json};
use stockade_routing::map::RouteInfo;

/// Adds examples to the JSON body and the JSON responses of an operation.
/// Shared responses do not get examples.
pub(super) fn add(operation: &mut Map<String, Value>, route: &RouteInfo) {
    let docs = &route.docs;
    if let Some(body) = operation.get_mut("requestBody") {
        add_to(body, &docs.example.iter().collect::<Vec<_>>());
    }
    let responses = operation.get_mut("responses").and_then(Value::as_object_mut);
    for (status, response) in responses.into_iter().flatten() {
        let own = docs.reply_examples.iter().filter(|(known, _)| known.to_string() == *status);
        add_to(response, &own.map(|(_, value)| value).collect::<Vec<_>>());
    }
}

/// Adds the examples of a body or a response to its content.
fn add_to(part: &mut Value, examples: &[&Value]) {
    let content = part.get_mut("content").and_then(Value::as_object_mut);
    let json = content.into_iter().flatten().filter(|(media_type, _)| is_json(media_type));
    for (_, content) in json {
        match examples {
            [] => {}
            [one] => content["example"] = (*one).clone(),
            several => {
                let named = several.iter().zip(1..);
                let named =
                    named.map(|(value, number)| (number.to_string(), json!({ "value": value })));
                content["examples"] = Value::Object(named.collect());
            }
        }
    }
}

/// Returns true for JSON and its subtypes, with or without parameters.
pub(crate) fn is_json(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    essence == "application/json" || essence.ends_with("+json")
}
