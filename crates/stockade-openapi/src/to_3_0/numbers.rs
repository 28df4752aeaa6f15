//! Number bounds: in 3.0 an exclusive bound is a bound with a flag.

use serde_json::{Map, Value, json};

/// Writes the exclusive bounds. If there is also an inclusive bound, the
/// narrower one applies.
pub(super) fn bounds(keywords: &Map<String, Value>, out: &mut Map<String, Value>) {
    let number = |key: &str| keywords.get(key).filter(|value| value.is_number());
    let is_above = |one: &Value, other: &Value| one.as_f64() > other.as_f64();
    if let Some(bound) = number("exclusiveMinimum")
        && !number("minimum").is_some_and(|inclusive| is_above(inclusive, bound))
    {
        out.insert("minimum".to_owned(), bound.clone());
        out.insert("exclusiveMinimum".to_owned(), json!(true));
    }
    if let Some(bound) = number("exclusiveMaximum")
        && !number("maximum").is_some_and(|inclusive| is_above(bound, inclusive))
    {
        out.insert("maximum".to_owned(), bound.clone());
        out.insert("exclusiveMaximum".to_owned(), json!(true));
    }
}
