//! Fields with names that suggest a secret.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::fields::{fields_of, may_be};

/// The suffixes of secret names, in lower case and without word separators.
const ENDS: [&str; 24] = [
    "accesskey",
    "apikey",
    "backupcode",
    "credential",
    "encryptionkey",
    "keyhash",
    "masterkey",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "passworddigest",
    "passwordhash",
    "passwordsalt",
    "privatekey",
    "recoverycode",
    "resetcode",
    "secret",
    "secrethash",
    "secretkey",
    "sessionid",
    "signingkey",
    "token",
    "tokenhash",
];

/// Whole names of secrets. Other words also end with them.
const WHOLE: [&str; 7] = ["cvc", "cvv", "jwt", "otp", "pwd", "salt", "totp"];

/// The suffixes of names of pagination tokens.
const PLACES_IN_LISTS: [&str; 5] =
    ["continuationtoken", "cursortoken", "nexttoken", "pagetoken", "synctoken"];

/// Returns true if the name of a field suggests a secret, such as
/// `password_hash`, `apiKey` or `access-token`.
fn is_secret(name: &str) -> bool {
    let letters = name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase);
    let name: String = letters.collect();
    let name = name.strip_suffix('s').unwrap_or(&name);
    let ends_with = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
    WHOLE.contains(&name) || (ends_with(&ENDS) && !ends_with(&PLACES_IN_LISTS))
}

/// Returns the places of the fields of a schema and of its parts with names
/// that suggest a secret. Ignores numbers, dates and booleans: `has_password`,
/// `max_tokens`.
pub(crate) fn secret_fields(
    schemas: &BTreeMap<String, Value>,
    root: &Value,
    place: &str,
) -> BTreeSet<String> {
    let is_moment = |schema: &Value| {
        let format = schema.get("format").and_then(Value::as_str);
        matches!(format, Some("date" | "date-time" | "time"))
    };
    let fields = fields_of(schemas, root, place).into_iter();
    let secrets = fields.filter(|field| {
        is_secret(field.name)
            && !is_moment(field.schema)
            && may_be(schemas, root, field.schema, &["string", "array", "object"])
    });
    secrets.map(|field| field.place).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn recognizes_names_of_secrets() {
        let check = |name: &str, expected: bool| assert_eq!(is_secret(name), expected, "{name}");
        for name in ["password_hash", "passwordHash", "PASSWORD", "new-password", "hashed_password"]
        {
            check(name, true);
        }
        for name in ["token", "accessToken", "refresh_tokens", "apiKey", "API_KEY", "clientSecret"]
        {
            check(name, true);
        }
        for name in ["salt", "otp", "jwt", "sessionId", "recovery_codes", "credentials"] {
            check(name, true);
        }
        for name in ["password_hint", "nextPageToken", "token_type", "publicKey", "key", "basalt"] {
            check(name, false);
        }
        for name in ["hash", "secretary", "tokenizer", "id", "", "_", "s"] {
            check(name, false);
        }
    }

    #[test]
    fn finds_secrets_in_each_part_of_a_schema() {
        let named = json!({
            "type": "object",
            "properties": { "token": { "$ref": "#/schemas/Token" }, "again": { "$ref": "#/schemas/User" } },
        });
        let schemas = BTreeMap::from([
            ("User".to_owned(), named),
            ("Token".to_owned(), json!({ "type": "string" })),
            ("Count".to_owned(), json!({ "type": "integer" })),
        ]);
        let check = |schema: Value, expected: &[&str]| {
            let found = secret_fields(&schemas, &schema, "body");
            assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), expected, "{schema}");
        };
        let user = json!({ "$ref": "#/schemas/User" });
        check(user.clone(), &["body.token"]);
        check(json!({ "items": user }), &["body[].token"]);
        check(json!({ "prefixItems": [true, user] }), &["body[1].token"]);
        check(json!({ "additionalProperties": user }), &["body.*.token"]);
        check(json!({ "oneOf": [{ "type": "null" }, user] }), &["body.token"]);
        check(json!({ "properties": { "a": user, "b": user } }), &["body.a.token", "body.b.token"]);
        check(json!({ "required": ["secret"] }), &["body.secret"]);
        let of = |schema: Value| json!({ "properties": { "token": schema } });
        check(of(json!({ "type": ["string", "null"] })), &["body.token"]);
        check(of(json!({})), &["body.token"]);
        check(of(json!({ "type": "array", "items": { "type": "string" } })), &["body.token"]);
        check(of(json!({ "type": "boolean" })), &[]);
        check(of(json!({ "$ref": "#/schemas/Count" })), &[]);
        check(of(json!({ "anyOf": [{ "type": "integer" }, { "type": "null" }] })), &[]);
        check(of(json!({ "type": "string", "format": "date-time" })), &[]);
    }
}
