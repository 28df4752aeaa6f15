//! [`Schemas`]: the schemas of a map, by which values are validated.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use stockade_map::schemas::schema_name;

use crate::contract;

/// The schemas that others of a map point to.
pub(super) struct Schemas {
    named: BTreeMap<String, Value>,
    validator: Arc<contract::Schemas>,
}

impl Schemas {
    pub(super) fn new(named: BTreeMap<String, Value>, validator: Arc<contract::Schemas>) -> Self {
        Self { named, validator }
    }

    /// Returns the schema that a schema points to, if it does.
    pub(super) fn target(&self, schema: &Value) -> Option<(&str, &Value)> {
        let name = schema_name(schema)?;
        self.named.get_key_value(name).map(|(name, schema)| (name.as_str(), schema))
    }

    /// Returns the schema itself, with references followed that stand alone.
    pub(super) fn followed<'s>(&'s self, mut schema: &'s Value) -> &'s Value {
        // Named schemas that only point to each other would never end.
        for _ in 0..self.named.len() {
            match self.target(schema) {
                Some((_, target)) => schema = target,
                None => break,
            }
        }
        schema
    }

    /// Returns true if a value fits.
    pub(super) fn fits(&self, schema: &Value, value: &Value) -> bool {
        self.validator.faults(schema, value).is_empty()
    }

    /// Returns true if a text has this pattern.
    pub(super) fn is_pattern(&self, pattern: &str, text: &str) -> bool {
        self.fits(&json!({ "pattern": pattern }), &text.into())
    }
}

/// Returns the elements of a keyword that is a list; none where it is absent.
pub(super) fn list<'s>(
    rules: &'s Map<String, Value>,
    name: &str,
) -> impl Iterator<Item = &'s Value> {
    rules.get(name).and_then(Value::as_array).into_iter().flatten()
}

/// Returns the names of `type`.
pub(super) fn names_of(types: &Value) -> impl Iterator<Item = &str> {
    let several = types.as_array().into_iter().flatten().filter_map(Value::as_str);
    types.as_str().into_iter().chain(several)
}

/// Returns a whole number that stands as one.
pub(super) fn whole_of(value: &Value) -> Option<i128> {
    value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from))
}
