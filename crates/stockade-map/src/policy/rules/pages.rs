//! The rule about pagination: the size of a page, and its distance from the
//! start.

use serde_json::Value;

use super::super::fields::{Field, fields_of};
use super::super::finding::Finding;
use super::super::rule::BuiltIn;
use super::each;
use crate::{RouteInfo, RouteMap};

/// The largest page size that does not need a reason.
const LARGEST: f64 = 1_000.0;

/// The parameter names for a page size, in lower case and without word
/// separators.
const SIZES: [&str; 9] =
    ["count", "first", "last", "limit", "maxresults", "pagesize", "perpage", "size", "take"];

/// The largest number of elements or pages to skip that does not need a reason.
/// A database reads the skipped elements.
const FARTHEST: f64 = 100_000.0;

/// The parameter names for the start of a page.
const PLACES: [&str; 4] = ["offset", "page", "skip", "start"];

pub(super) const PAGES_BOUNDED: BuiltIn = BuiltIn {
    id: "pages-bounded",
    text: "a page of a list has at most 1,000 elements, and begins within the first 100,000",
    owasp: "API4",
    find: |map| {
        each(map, |route| {
            let wide = too_wide(map, route);
            if wide.is_empty() {
                return None;
            }
            let message = format!("these parameters accept any page: {}", wide.join(", "));
            Some(Finding::on(route, message).mend("add a `maximum`"))
        })
    },
};

/// Returns the places of query numbers that allow too much.
fn too_wide(map: &RouteMap, route: &RouteInfo) -> Vec<String> {
    let query = route.query.iter();
    let fields = query.flat_map(|schema| fields_of(&map.schemas, schema, "query"));
    fields.filter(is_too_wide).map(|field| field.place).collect()
}

fn is_too_wide(field: &Field<'_>) -> bool {
    let letters = field.name.chars().filter(|c| c.is_alphanumeric());
    let name: String = letters.flat_map(char::to_lowercase).collect();
    let largest = match name.as_str() {
        name if SIZES.contains(&name) => LARGEST,
        name if PLACES.contains(&name) => FARTHEST,
        _ => return false,
    };
    let bound = |name: &str| field.schema.get(name).and_then(Value::as_f64);
    let is_bounded = bound("maximum").or_else(|| bound("exclusiveMaximum"));
    is_number(field.schema) && is_bounded.is_none_or(|maximum| maximum > largest)
}

/// Returns true for a number. A text may be a cursor.
fn is_number(schema: &Value) -> bool {
    let is_named = |name: &Value| matches!(name.as_str(), Some("integer" | "number"));
    match schema.get("type") {
        Some(Value::Array(types)) => types.iter().any(is_named),
        Some(name) => is_named(name),
        None => false,
    }
}
