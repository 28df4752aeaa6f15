//! The schema of the configuration.
//!
//! There are two schemas. The first, in JSON notation, validates each value
//! separately and adds defaults. The second, with [`Rule`]s and functions,
//! checks everything that keywords cannot express, and sees the defaults.

use std::error::Error;
use std::net::IpAddr;

use serde_json::{Value, json};
use stockade_validation::{
    Rule, Schema, Validated, ValidationOptions, Verdict, schema, validate_against_schema,
};

/// Validates a configuration and adds defaults.
///
/// # Errors
/// Fails if a schema is invalid or one of its functions fails: a bug in this
/// module, never an error in the configuration.
pub(crate) fn check(config: Value) -> Result<Validated, Box<dyn Error>> {
    // A typing error in the name of an optional setting must be reported.
    let options = ValidationOptions::new().allow_unknown(false);
    let mut outcome = validate_against_schema(&values()?, config, &options)?;
    let more = relations().build()?.check(&outcome.data, &ValidationOptions::new())?;
    outcome.errors.extend(more);
    Ok(outcome)
}

/// Returns the rules for individual values.
fn values() -> Result<Schema, Box<dyn Error>> {
    let listen = json!({ "address": "127.0.0.1", "port": 8080 });
    let limits = json!({ "min_connections": 1, "max_connections": DEFAULT_MAX_CONNECTIONS });
    Ok(schema!({
        "listen": { "type": "object", "default": listen, "properties": {
            "address": { "type": "string", "default": "127.0.0.1" },
            "port": { "type": "integer", "required": true, "minimum": 1, "maximum": 65_535 },
        } },
        "log_level": { "enum": ["error", "warn", "info", "debug", "trace"], "default": "info" },
        "tls": { "type": "object", "properties": {
            "certificate": { "type": "string", "required": true },
            "key": { "type": "string", "required": true },
        } },
        "limits": { "type": "object", "default": limits, "properties": {
            "min_connections": { "type": "integer", "minimum": 0, "default": 1 },
            "max_connections": {
                "type": "integer", "minimum": 1, "default": DEFAULT_MAX_CONNECTIONS,
            },
        } },
        "upstreams": {
            "type": "array", "required": true, "minItems": 1, "maxItems": MAX_UPSTREAMS,
            "items": { "type": "object", "properties": {
                "name": { "type": "string", "required": true, "pattern": "^[a-z][a-z0-9-]*$",
                    "message": "A name must begin with a-z and contain only a-z, 0-9 and -" },
                "url": { "type": "url", "required": true },
                "weight": { "type": "integer", "minimum": 1, "maximum": 100, "default": 1 },
                "timeout_ms": { "type": "integer", "minimum": 1, "default": 5_000 },
            } },
        },
        "admin_email": { "type": "email", "required": true },
        "features": {
            "type": "object", "default": {}, "additionalProperties": { "type": "boolean" },
        },
    })?)
}

/// Returns the rules for relations between values, and the rules that need
/// code.
///
/// A value of the wrong type fails [`values`] and passes here.
fn relations() -> Rule {
    let name = Rule::any().custom(|name, _, root| is_only_one(name, root));
    Rule::any().properties([
        ("listen", Rule::any().property("address", Rule::any().custom(address))),
        ("limits", Rule::any().custom(|limits, _, _| min_and_max(limits))),
        ("upstreams", Rule::any().items(Rule::any().property("name", name))),
    ])
}

fn address(address: &Value, _field: &str, _root: &Value) -> Verdict {
    match address.as_str() {
        Some(text) if text.parse::<IpAddr>().is_err() => {
            Verdict::Because("Expected an IPv4 or IPv6 address".to_owned())
        }
        _ => Verdict::Valid,
    }
}

fn min_and_max(limits: &Value) -> Verdict {
    // 20.0 is an integer too.
    match (limits["min_connections"].as_f64(), limits["max_connections"].as_f64()) {
        (Some(min), Some(max)) if min > max => {
            Verdict::Because(format!("min_connections ({min}) is above max_connections ({max})"))
        }
        _ => Verdict::Valid,
    }
}

/// Checks at most as many upstreams as are allowed. A longer list already has
/// an error, and would take quadratic time.
fn is_only_one(name: &Value, root: &Value) -> Verdict {
    let upstreams = root["upstreams"].as_array().map_or(&[][..], Vec::as_slice);
    let same = |upstream: &&Value| name.is_string() && upstream["name"] == *name;
    match upstreams.iter().take(MAX_UPSTREAMS).filter(same).count() {
        0 | 1 => Verdict::Valid,
        count => Verdict::Because(format!("{count} upstreams have this name")),
    }
}

const DEFAULT_MAX_CONNECTIONS: u32 = 1_000;

const MAX_UPSTREAMS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a valid configuration with these additional members.
    fn config(members: &Value) -> Value {
        let mut config = json!({
            "upstreams": [{ "name": "a", "url": "http://a.example" }],
            "admin_email": "ada@example.org",
        });
        for (name, value) in members.as_object().into_iter().flatten() {
            config[name] = value.clone();
        }
        config
    }

    #[track_caller]
    fn check_with(members: &Value, expected: &[&str]) {
        let outcome = check(config(members)).expect("the schemas work");
        let errors = outcome.errors.iter();
        let shown: Vec<_> =
            errors.map(|error| format!("{}: {}", error.field, error.message)).collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn inserts_defaults() {
        let outcome = check(config(&json!({ "limits": { "max_connections": 5 } }))).unwrap();
        assert!(outcome.valid());
        assert_eq!(
            outcome.data,
            json!({
                "listen": { "address": "127.0.0.1", "port": 8080 },
                "log_level": "info",
                "limits": { "min_connections": 1, "max_connections": 5 },
                "upstreams": [
                    { "name": "a", "url": "http://a.example", "weight": 1, "timeout_ms": 5000 },
                ],
                "admin_email": "ada@example.org",
                "features": {},
            })
        );
    }

    #[test]
    fn the_address_is_v4_or_v6() {
        check_with(&json!({ "listen": { "address": "::1", "port": 1 } }), &[]);
        let errors = ["listen.address: Expected an IPv4 or IPv6 address"];
        check_with(&json!({ "listen": { "address": "localhost", "port": 1 } }), &errors);
    }

    #[test]
    fn compares_limits_with_defaults() {
        check_with(&json!({ "limits": { "min_connections": 1000 } }), &[]);
        let errors = ["limits: min_connections (1001) is above max_connections (1000)"];
        check_with(&json!({ "limits": { "min_connections": 1001 } }), &errors);
        check_with(&json!({ "limits": { "min_connections": 1001.0 } }), &errors);
    }

    #[test]
    fn reports_a_duplicate_name_at_both_places() {
        let upstream = |name| json!({ "name": name, "url": "http://a.example" });
        check_with(
            &json!({ "upstreams": [upstream("a"), upstream("b"), upstream("a")] }),
            &[
                "upstreams[0].name: 2 upstreams have this name",
                "upstreams[2].name: 2 upstreams have this name",
            ],
        );
    }

    #[test]
    fn reports_a_wrong_type_once() {
        check_with(
            &json!({ "listen": [], "limits": 7, "upstreams": [1, { "name": 1, "url": "http://a" }] }),
            &[
                "listen: Expected object, got array",
                "limits: Expected object, got number",
                "upstreams[0]: Expected object, got number",
                "upstreams[1].name: A name must begin with a-z and contain only a-z, 0-9 and -",
            ],
        );
        let errors = check(json!(null)).expect("the schemas work").errors;
        assert_eq!(errors.len(), 1);
    }
}
