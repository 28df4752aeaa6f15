//! [`Schemas`]: the schemas of a map, which validate values.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use stockade_map::schemas::schema_name;

use crate::contract;

/// The named schemas of a map.
pub(super) struct Schemas {
    named: BTreeMap<String, Value>,
    validator: Arc<contract::Schemas>,
}

impl Schemas {
    pub(super) fn new(named: BTreeMap<String, Value>, validator: Arc<contract::Schemas>) -> Self {
        Self { named, validator }
    }

    /// Returns the schema that a reference points to, if the schema is a
    /// reference.
    pub(super) fn target(&self, schema: &Value) -> Option<(&str, &Value)> {
        let name = schema_name(schema)?;
        self.named.get_key_value(name).map(|(name, schema)| (name.as_str(), schema))
    }

    /// Returns the schema, or its target if it consists only of a reference.
    pub(super) fn followed<'s>(&'s self, mut schema: &'s Value) -> &'s Value {
        // Named schemas that only refer to each other would loop forever.
        for _ in 0..self.named.len() {
            match self.target(schema) {
                Some((_, target)) => schema = target,
                None => break,
            }
        }
        schema
    }

    /// Returns true if the value fits the schema.
    pub(super) fn fits(&self, schema: &Value, value: &Value) -> bool {
        self.validator.faults(schema, value).is_empty()
    }

    /// Returns true if the text matches the pattern.
    pub(super) fn is_pattern(&self, pattern: &str, text: &str) -> bool {
        self.fits(&json!({ "pattern": pattern }), &text.into())
    }
}

/// Returns the elements of a list keyword; empty if the keyword is absent.
pub(super) fn list<'s>(
    rules: &'s Map<String, Value>,
    name: &str,
) -> impl Iterator<Item = &'s Value> {
    rules.get(name).and_then(Value::as_array).into_iter().flatten()
}

/// Returns the type names in `type`.
pub(super) fn names_of(types: &Value) -> impl Iterator<Item = &str> {
    let several = types.as_array().into_iter().flatten().filter_map(Value::as_str);
    types.as_str().into_iter().chain(several)
}

/// Returns the value of a number in integer notation. Returns `None` for a
/// float such as `1.0`.
pub(super) fn whole_of(value: &Value) -> Option<i128> {
    value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from))
}
