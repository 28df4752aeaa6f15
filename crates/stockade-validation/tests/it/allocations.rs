//! Valid data that needs no change is checked without an allocation.

use serde_json::json;
use stockade_validation::{Schema, ValidationOptions, validate_against_schema};

#[test]
fn valid_data_costs_no_allocation() {
    let schema = Schema::from_value(&json!({
        "name": { "type": "string", "required": true, "minLength": 2, "maxLength": 40, "trim": true },
        "email": { "type": "email", "required": true },
        "site": { "type": "url" },
        "id": { "type": "uuid" },
        "age": { "type": "integer", "minimum": 0, "max": 150 },
        "role": { "enum": ["admin", "reader"] },
        "tags": { "type": "array", "items": { "type": "string", "pattern": "^[a-z]+$" }, "uniqueItems": true },
        "address": { "zip": { "type": "string", "format": "ipv4" }, "city": { "type": "string" } },
    }))
    .unwrap();
    let data = json!({
        "name": "Ada Lovelace",
        "email": "ada@example.com",
        "site": "https://example.com/a?b=c",
        "id": "2eb8aa08-aa98-11ea-b4aa-73b441d16380",
        "age": 36,
        "role": "admin",
        "tags": ["math", "engine"],
        "address": { "zip": "127.0.0.1", "city": "London" },
        "unknown": [1, 2, { "a": null }],
    });
    for options in [
        ValidationOptions::new(),
        ValidationOptions::new().coerce_types(true),
        ValidationOptions::new().abort_early(true),
    ] {
        // The regular expression makes its cache at the first call.
        assert_eq!(schema.check(&data, &options).unwrap(), []);
        let info = allocation_counter::measure(|| {
            assert!(schema.check(&data, &options).unwrap().is_empty());
        });
        assert_eq!(info.count_total, 0, "check");
        let copy = data.clone();
        let info = allocation_counter::measure(|| {
            assert!(validate_against_schema(&schema, copy, &options).unwrap().valid());
        });
        assert_eq!(info.count_total, 0, "validate");
    }
}
