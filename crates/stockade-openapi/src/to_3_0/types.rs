//! Types: in 3.0 a schema has one type, and null is a flag.

use serde_json::{Map, Value, json};

use super::schema::push;

/// Writes the type of a schema. Several types become one schema each.
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
                    // The items belong to the array type, which requires them
                    // in 3.0.
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
