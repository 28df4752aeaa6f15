//! [`Schemas`]: the JSON Schemas of a map, which validate bodies.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use jsonschema::{Draft, Validator};
use serde_json::{Map, Value, json};
use stockade_errors::locks::lock;
use stockade_routing::map::RouteMap;

/// The maximum number of schema violations in a message.
const MAX_TOLD: usize = 5;

/// The schemas of a map. Each is compiled when it validates a body.
pub(crate) struct Schemas {
    /// The named schemas, which `#/schemas/` references point to.
    named: Value,
    compiled: Mutex<HashMap<String, Arc<Validator>>>,
}

impl Schemas {
    pub(super) fn of(map: &RouteMap) -> Self {
        let named: Map<String, Value> = map.schemas.clone().into_iter().collect();
        Self { named: Value::Object(named), compiled: Mutex::default() }
    }

    /// Returns the violations of a schema; empty if the value fits.
    pub(crate) fn faults(&self, schema: &Value, value: &Value) -> Vec<String> {
        let validator = match self.validator(schema) {
            Ok(validator) => validator,
            Err(fault) => return vec![fault],
        };
        let faults = validator.iter_errors(value).map(|error| {
            let path = error.instance_path().to_string();
            let path = if path.is_empty() { "the body".to_owned() } else { format!("`{path}`") };
            // The exchange shows the value, with secrets redacted.
            format!("{path}: {}", error.masked_with("the value"))
        });
        faults.take(MAX_TOLD).collect()
    }

    fn validator(&self, schema: &Value) -> Result<Arc<Validator>, String> {
        let key = schema.to_string();
        let mut compiled = lock(&self.compiled);
        if let Some(validator) = compiled.get(&key) {
            return Ok(Arc::clone(validator));
        }
        let root = json!({ "allOf": [schema], "schemas": self.named });
        let options =
            jsonschema::options().with_draft(Draft::Draft202012).should_validate_formats(true);
        let validator = options
            .build(&root)
            .map_err(|error| format!("the schema in the map is not a JSON Schema: {error}"))?;
        let validator = Arc::new(validator);
        compiled.insert(key, Arc::clone(&validator));
        Ok(validator)
    }
}
