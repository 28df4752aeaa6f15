//! Types: here a schema has one, and null is a flag beside it.

use serde_json::{Map, Value, json};

use super::schema::push;

/// Writes the type of a schema. Of several, each is a schema of its own.
pub(super) fn types(keywords: &Map<String, Value>, out: &mut Map<String, Value>) {
    let types = match keywords.get("type") {
        Some(Value::Array(types)) => types,
        Some(one) => {
            out.insert("type".to_owned(), one.clone());
            return;
        }
        None => return,
    };
    let (nulls, others): (Vec<&Value>, Vec<&Value>) =
        types.iter().partition(|name| *name == "null");
    let is_nullable = !nulls.is_empty();
    match others.as_slice() {
        [] => {}
        [one] => {
            out.insert("type".to_owned(), (*one).clone());
            if is_nullable {
                out.insert("nullable".to_owned(), json!(true));
            }
        }
        several => {
            let items = out.remove("items");
            let schemas = several.iter().map(|name| {
                let mut schema = json!({ "type": name });
                if *name == "array" {
                    // It stands with its type, which 3.0 asks for.
                    schema["items"] = items.clone().unwrap_or_else(|| json!({}));
                }
                if is_nullable {
                    schema["nullable"] = json!(true);
                }
                schema
            });
            let union = json!(schemas.collect::<Vec<Value>>());
            match out.contains_key("anyOf") {
                true => push(out, "allOf", json!({ "anyOf": union })),
                false => drop(out.insert("anyOf".to_owned(), union)),
            }
        }
    }
}
