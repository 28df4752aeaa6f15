//! Fields with names that suggest a secret.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::fields::{Field, fields_of, may_be};
use crate::PolicyInfo;

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

/// The last words of secret names: `token`, `projectKey`, `content_hash`.
const LAST_WORDS: [&str; 5] = ["digest", "hash", "hmac", "key", "token"];

/// Whole names of secrets. Other words also end with them.
const WHOLE: [&str; 7] = ["cvc", "cvv", "jwt", "otp", "pwd", "salt", "totp"];

/// The suffixes of harmless names: the tokens of pages, and the keys of data,
/// caches and signatures that everybody may know.
const HARMLESS: [&str; 16] = [
    "cachekey",
    "continuationtoken",
    "cursortoken",
    "foreignkey",
    "groupkey",
    "idempotencykey",
    "nexttoken",
    "objectkey",
    "pagetoken",
    "partitionkey",
    "primarykey",
    "publickey",
    "rowkey",
    "sortkey",
    "synctoken",
    "translationkey",
];

/// Returns the letters and digits of a name in lower case, without a plural.
pub(super) fn letters(name: &str) -> String {
    let letters = name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase);
    let name: String = letters.collect();
    name.strip_suffix('s').map(str::to_owned).unwrap_or(name)
}

/// Returns the last word of a name: `hash` for `contentHash` and
/// `content_hash`.
fn last_word(name: &str) -> &str {
    let name = name.trim_end_matches(|c: char| !c.is_alphanumeric());
    let mut start = 0;
    let mut was_lower = false;
    for (index, c) in name.char_indices() {
        if !c.is_alphanumeric() {
            start = index + c.len_utf8();
        } else if c.is_uppercase() && was_lower {
            start = index;
        }
        was_lower = c.is_lowercase() || c.is_numeric();
    }
    &name[start..]
}

/// Returns true if the name of a field suggests a secret, such as
/// `password_hash`, `apiKey` or `access-token`.
fn is_secret(name: &str) -> bool {
    let (all, last) = (letters(name), letters(last_word(name)));
    let ends_with = |ends: &[&str]| ends.iter().any(|end| all.ends_with(end));
    WHOLE.contains(&all.as_str())
        || ((ends_with(&ENDS) || LAST_WORDS.contains(&last.as_str())) && !ends_with(&HARMLESS))
}

/// Returns the places of the fields of a schema and of its parts with names
/// that suggest a secret. Ignores numbers, dates and booleans: `has_password`,
/// `max_tokens`.
///
/// Ignores the fields that `policy` declares as harmless.
pub(crate) fn secret_fields(
    schemas: &BTreeMap<String, Value>,
    root: &Value,
    place: &str,
    policy: Option<&PolicyInfo>,
) -> BTreeSet<String> {
    let declared = policy.iter().flat_map(|policy| policy.not_secret.keys());
    let declared: BTreeSet<String> = declared.map(|field| letters(field)).collect();
    let secrets = secrets_of(schemas, root, place).into_iter();
    secrets.filter(|it| !declared.contains(&letters(it.name))).map(|it| it.place).collect()
}

/// Returns the names of the same fields, as [`letters`] returns them.
pub(super) fn secret_names(schemas: &BTreeMap<String, Value>, root: &Value) -> BTreeSet<String> {
    secrets_of(schemas, root, "").into_iter().map(|field| letters(field.name)).collect()
}

fn secrets_of<'s>(
    schemas: &'s BTreeMap<String, Value>,
    root: &'s Value,
    place: &str,
) -> Vec<Field<'s>> {
    let is_moment = |schema: &Value| {
        let format = schema.get("format").and_then(Value::as_str);
        matches!(format, Some("date" | "date-time" | "time"))
    };
    let mut fields = fields_of(schemas, root, place);
    fields.retain(|field| {
        is_secret(field.name)
            && !is_moment(field.schema)
            && may_be(schemas, root, field.schema, &["string", "array", "object"])
    });
    fields
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
        for name in ["hash", "contentHash", "file_digest", "key", "projectKeys", "ETAG_HMAC"] {
            check(name, true);
        }
        for name in ["password_hint", "nextPageToken", "token_type", "publicKey", "basalt"] {
            check(name, false);
        }
        for name in ["monkey", "hashtag", "keyboard", "sort_key", "rehash", "keys_left"] {
            check(name, false);
        }
        for name in ["secretary", "tokenizer", "id", "", "_", "s"] {
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
            let found = secret_fields(&schemas, &schema, "body", None);
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

    #[test]
    fn ignores_declared_fields() {
        let mut policy = PolicyInfo::default();
        policy.not_secret.insert("contentHash".to_owned(), "a checksum".to_owned());
        let text = json!({ "type": "string" });
        let schema = json!({ "properties": { "content_hash": text, "token": text } });
        let found = secret_fields(&BTreeMap::new(), &schema, "body", Some(&policy));
        assert_eq!(found, BTreeSet::from(["body.token".to_owned()]));
    }
}
