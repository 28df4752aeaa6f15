//! Generates an example value for a JSON Schema.
//!
//! The same schema always has the same example. An example shows all members
//! that its direction allows, with typical values that follow the rules of the
//! schema.

mod text;

use serde_json::{Map, Value, json};
use stockade_map::schemas::number;

/// The JSON pointer prefix of schemas.
const COMPONENTS: &str = "#/components/schemas/";

/// The maximum nesting of an example. Deeper members are omitted.
const DEPTH: usize = 12;

/// The largest number of items or members that an example has.
const MOST: usize = 1_000;

/// The direction of a body, which determines its members.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Direction {
    /// Without `readOnly` members.
    Request,
    /// Without `writeOnly` members.
    Response,
}

impl Direction {
    /// Returns true if a schema does not appear in this direction.
    pub(crate) fn hides(self, schema: &Value) -> bool {
        schema[match self {
            Self::Request => "readOnly",
            Self::Response => "writeOnly",
        }] == true
    }
}

/// Generates examples for the schemas of a document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Examples<'d> {
    schemas: &'d Value,
    direction: Direction,
}

/// The position of a value: its name, and the schemas around it.
#[derive(Clone, Copy)]
struct Place<'p> {
    name: &'p str,
    depth: usize,
    /// The named schema around it, and the place of that schema.
    within: Option<(&'p str, &'p Self)>,
}

impl<'p> Place<'p> {
    fn of(name: &'p str) -> Self {
        Self { name, depth: 0, within: None }
    }

    fn member(self, name: &'p str) -> Self {
        Self { name, depth: self.depth + 1, ..self }
    }

    fn is_within(&self, schema: &str) -> bool {
        self.within.is_some_and(|(name, place)| name == schema || place.is_within(schema))
    }
}

impl<'d> Examples<'d> {
    /// `schemas` are the schemas of the document.
    pub(crate) fn new(schemas: &'d Value, direction: Direction) -> Self {
        Self { schemas, direction }
    }

    /// Returns an example for the value with this name; null if a schema
    /// requires itself, or if it allows no value.
    pub(crate) fn value(self, name: &str, schema: &Value) -> Value {
        self.at(schema, Place::of(name)).unwrap_or(Value::Null)
    }

    fn at(self, schema: &Value, place: Place<'_>) -> Option<Value> {
        if place.depth > DEPTH {
            return None;
        }
        let object = match schema {
            Value::Object(object) => object,
            Value::Bool(false) => return None,
            _ => return Some(json!("any value")),
        };
        if let Some(name) = referred(schema) {
            if place.is_within(name) {
                return None;
            }
            let inner = Place { within: Some((name, &place)), ..place };
            let target = self.schemas.get(name)?;
            return match object.len() {
                1 => self.at(target, inner),
                _ => self.at(&merged(target, without(object, "$ref").as_object()?), inner),
            };
        }
        if let Some(value) = given(object) {
            return Some(value);
        }
        if let Some(parts) = object.get("allOf").and_then(Value::as_array) {
            return self.at(&self.all_of(object, parts), place);
        }
        for keyword in ["oneOf", "anyOf"] {
            if let Some(choices) = object.get(keyword).and_then(Value::as_array) {
                let rest = without(object, keyword);
                // Null is the least useful choice.
                let (null, others): (Vec<_>, Vec<_>) =
                    choices.iter().partition(|it| it["type"] == "null");
                let mut choices = others.into_iter().chain(null);
                return choices
                    .find_map(|choice| self.at(&merged(&rest, choice.as_object()?), place));
            }
        }
        self.of_type(object, place)
    }

    /// Merges the parts of `allOf`, after their references are resolved.
    fn all_of(self, object: &Map<String, Value>, parts: &[Value]) -> Value {
        let rest = without(object, "allOf");
        parts.iter().fold(rest, |all, part| {
            let target = followed(self.schemas, part).as_object();
            target.map_or_else(|| all.clone(), |target| merged(&all, target))
        })
    }

    fn of_type(self, schema: &Map<String, Value>, place: Place<'_>) -> Option<Value> {
        match type_of(schema) {
            "object" => self.object(schema, place),
            "array" => self.array(schema, place),
            "string" => Some(json!(text::of(schema, place.name))),
            "integer" => number(schema, true, 0),
            "number" => number(schema, false, 0),
            "boolean" => Some(json!(true)),
            "null" => Some(Value::Null),
            _ => Some(json!("any value")),
        }
    }

    fn object(self, schema: &Map<String, Value>, place: Place<'_>) -> Option<Value> {
        let required = |name: &str| {
            let names = schema.get("required").and_then(Value::as_array);
            names.is_some_and(|names| names.iter().any(|known| known == name))
        };
        let most = count(schema, "maxProperties").unwrap_or(MOST);
        let properties = schema.get("properties").and_then(Value::as_object);
        let mut members = Map::new();
        // Required members come first only for the limit of the number.
        for is_required in [true, false] {
            for (name, property) in properties.into_iter().flatten() {
                let is_shown = is_required || members.len() < most;
                let is_hidden = self.direction.hides(property)
                    && !(is_required && self.direction == Direction::Response);
                if required(name) != is_required || !is_shown || is_hidden {
                    continue;
                }
                match self.at(property, place.member(name)) {
                    Some(value) => drop(members.insert(name.clone(), value)),
                    None if is_required => return None,
                    None => {}
                }
            }
        }
        let members = in_order(members, properties);
        self.more_members(schema, members, place).map(Value::Object)
    }

    /// Adds required members without a schema, and members with any name.
    fn more_members(
        self,
        schema: &Map<String, Value>,
        mut members: Map<String, Value>,
        place: Place<'_>,
    ) -> Option<Map<String, Value>> {
        let any = Value::Bool(true);
        let further = schema.get("additionalProperties").unwrap_or(&any);
        let properties = schema.get("properties");
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        for name in required.filter_map(Value::as_str) {
            let is_known = properties.is_some_and(|all| all.get(name).is_some());
            if !is_known && !members.contains_key(name) {
                members.insert(name.to_owned(), self.at(further, place.member(name))?);
            }
        }
        let is_map = further.is_object() && members.is_empty();
        let least = count(schema, "minProperties").unwrap_or(0).min(MOST);
        let least = if is_map && schema.get("maxProperties") != Some(&json!(0)) {
            least.max(1)
        } else {
            least
        };
        let mut number = 0;
        while members.len() < least {
            number += 1;
            let name = match schema.get("propertyNames").and_then(Value::as_object) {
                Some(names) => text::numbered(names, "key", number),
                None => format!("key{number}"),
            };
            if number > 2 * MOST {
                return None;
            }
            match self.at(further, place.member("value")) {
                Some(value) => drop(members.entry(name).or_insert(value)),
                // A map of the schema itself ends here.
                None if count(schema, "minProperties").is_none() => break,
                None => return None,
            }
        }
        Some(members)
    }

    fn array(self, schema: &Map<String, Value>, place: Place<'_>) -> Option<Value> {
        let any = Value::Bool(true);
        let first = schema.get("prefixItems").and_then(Value::as_array);
        let first = first.map(Vec::as_slice).unwrap_or_default();
        let rest = schema.get("items").unwrap_or(&any);
        let least = count(schema, "minItems").unwrap_or(0).min(MOST);
        let most = count(schema, "maxItems").unwrap_or(MOST);
        let wanted = least.max(first.len()).max(usize::from(*rest != false)).min(most);
        let is_unique = schema.get("uniqueItems") == Some(&json!(true));
        let mut items: Vec<Value> = Vec::new();
        for index in 0..wanted {
            let own = first.get(index).or_else(|| schema.get("contains")).unwrap_or(rest);
            let item = place.member(place.name);
            let found = match is_unique {
                true => self.different(own, item, &items),
                false => self.at(own, item),
            };
            match found {
                Some(value) => items.push(value),
                None if items.len() >= least => break,
                None => return None,
            }
        }
        Some(Value::Array(items))
    }

    /// Returns an example that is not among `others`.
    fn different(self, schema: &Value, place: Place<'_>, others: &[Value]) -> Option<Value> {
        let target = followed(self.schemas, schema);
        let is_new = |value: &Value| !others.contains(value);
        if let Some(values) = target["enum"].as_array() {
            return values.iter().find(|value| is_new(value)).cloned();
        }
        let first = self.at(schema, place)?;
        if is_new(&first) {
            return Some(first);
        }
        let object = target.as_object()?;
        let index = others.len();
        let other = match type_of(object) {
            "integer" => number(object, true, index)?,
            "number" => number(object, false, index)?,
            "string" => json!(text::numbered(object, place.name, index)),
            _ => return None,
        };
        Some(other).filter(is_new)
    }
}

/// Returns a schema, or the schema of the document that it refers to.
pub(crate) fn followed<'v>(schemas: &'v Value, schema: &'v Value) -> &'v Value {
    referred(schema).and_then(|name| schemas.get(name)).unwrap_or(schema)
}

/// Returns the name of the schema that a reference points to.
pub(crate) fn referred(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()?.strip_prefix(COMPONENTS)
}

/// Returns a value that the schema contains.
fn given(schema: &Map<String, Value>) -> Option<Value> {
    let value = schema.get("const").or_else(|| schema.get("examples")?.get(0));
    let value = value.or_else(|| schema.get("example")).or_else(|| schema.get("enum")?.get(0));
    value.or_else(|| schema.get("default").filter(|it| !it.is_null())).cloned()
}

fn without(object: &Map<String, Value>, keyword: &str) -> Value {
    let mut rest = object.clone();
    rest.shift_remove(keyword);
    Value::Object(rest)
}

/// Returns a schema with the keywords of both. Members and required names are
/// joined; otherwise `other` wins.
fn merged(schema: &Value, other: &Map<String, Value>) -> Value {
    let mut all = schema.as_object().cloned().unwrap_or_default();
    for (keyword, value) in other {
        match (all.get_mut(keyword), value) {
            (Some(Value::Object(own)), Value::Object(more)) if keyword == "properties" => {
                own.extend(more.clone());
            }
            (Some(Value::Array(own)), Value::Array(more)) if keyword == "required" => {
                own.extend(more.iter().cloned());
            }
            _ => drop(all.insert(keyword.clone(), value.clone())),
        }
    }
    Value::Object(all)
}

/// Sorts members in the order of the properties.
fn in_order(
    mut members: Map<String, Value>,
    properties: Option<&Map<String, Value>>,
) -> Map<String, Value> {
    let names = properties.into_iter().flatten().map(|(name, _)| name);
    names.filter_map(|name| members.shift_remove_entry(name)).collect()
}

/// Returns the type of a schema, derived from its keywords if it has no `type`.
fn type_of(schema: &Map<String, Value>) -> &str {
    let named = match schema.get("type") {
        Some(Value::String(name)) => Some(name.as_str()),
        Some(Value::Array(names)) => {
            let names = || names.iter().filter_map(Value::as_str);
            names().find(|name| *name != "null").or_else(|| names().next())
        }
        _ => None,
    };
    let has = |keywords: &[&str]| keywords.iter().any(|keyword| schema.contains_key(*keyword));
    named.unwrap_or_else(|| match () {
        () if has(&["properties", "required", "additionalProperties"]) => "object",
        () if has(&["items", "prefixItems", "minItems"]) => "array",
        () if has(&["pattern", "format", "minLength", "maxLength"]) => "string",
        () if has(&["minimum", "maximum", "multipleOf"]) => "number",
        () => "any",
    })
}

/// Returns the number in a keyword.
fn count(schema: &Map<String, Value>, keyword: &str) -> Option<usize> {
    let count = schema.get(keyword)?.as_u64()?;
    // An example has no more than `MOST` items anyway.
    Some(usize::try_from(count).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests;
