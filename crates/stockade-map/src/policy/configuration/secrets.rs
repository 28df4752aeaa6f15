//! The secrets in a configuration file.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::snake;
use crate::ConfiguredSecret;

/// Returns the texts of a file with names that suggest a secret for tokens or
/// sessions.
pub(super) fn secrets(file: &Map<String, Value>) -> Vec<ConfiguredSecret> {
    let mut found = Vec::new();
    add(file, "", &mut found);
    found
}

fn add(object: &Map<String, Value>, path: &str, found: &mut Vec<ConfiguredSecret>) {
    let algorithm = object.iter().find(|(key, _)| matches!(&*snake(key), "algorithm" | "alg"));
    let algorithm = algorithm.and_then(|(_, value)| value.as_str()).unwrap_or("HS256");
    for (key, value) in object {
        let name = snake(key);
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        match value {
            Value::Object(object) => add(object, &path, found),
            Value::String(text) if is_secret(&name) => found.extend(secret(&path, text, algorithm)),
            Value::Array(items) => {
                let objects = items.iter().filter_map(Value::as_object);
                objects.for_each(|object| add(object, &path, found));
                let texts = items.iter().filter_map(Value::as_str);
                let texts = texts.filter(|_| is_secret(name.trim_end_matches('s')));
                found.extend(texts.filter_map(|text| secret(&path, text, algorithm)));
            }
            _ => {}
        }
    }
}

/// The ends of names for keys of HMAC.
const NAMES: [&str; 5] = ["secret", "secret_key", "signing_key", "jwt_key", "hmac_key"];

/// Parts of names for secrets that another service issues.
const OF_OTHERS: [&str; 4] = ["client_secret", "webhook", "aws", "s3"];

/// Returns the secrets among the variables of an environment, except the variables
/// that the file refers to. They belong to HS256.
pub(super) fn of_environment(
    variables: &BTreeMap<String, String>,
    file: &str,
) -> Vec<ConfiguredSecret> {
    let own = variables
        .iter()
        .filter(|(name, _)| is_secret(&name.to_ascii_lowercase()) && !file.contains(name.as_str()));
    own.filter_map(|(name, value)| secret(name, value, "HS256")).collect()
}

pub(super) fn is_secret(name: &str) -> bool {
    NAMES.iter().any(|end| name.ends_with(end)) && !OF_OTHERS.iter().any(|part| name.contains(part))
}

/// Describes a secret. Returns `None` if its algorithm does not use a shared
/// secret.
fn secret(key: &str, text: &str, algorithm: &str) -> Option<ConfiguredSecret> {
    let needed = match algorithm {
        "HS256" => 32,
        "HS384" => 48,
        "HS512" => 64,
        _ => return None,
    };
    let bytes = (!is_reference(text)).then_some(text.len() as u64);
    Some(ConfiguredSecret { key: key.to_owned(), bytes, algorithm: algorithm.to_owned(), needed })
}

/// Returns true for a text that only refers to a secret: a variable of the
/// environment, a file, or a template.
fn is_reference(text: &str) -> bool {
    let schemes = ["$", "env:", "file:", "vault:", "/", "{{"];
    schemes.iter().any(|start| text.starts_with(start)) || text.contains("${")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(file: &Value, expected: &[(&str, Option<u64>, u64)]) {
        let found = secrets(file.as_object().unwrap());
        let found: Vec<_> = found.iter().map(|it| (&*it.key, it.bytes, it.needed)).collect();
        assert_eq!(found, expected, "{file}");
    }

    #[test]
    fn secrets_have_the_length_and_the_need_of_their_algorithm() {
        check(&json!({ "secret": "short" }), &[("secret", Some(5), 32)]);
        check(
            &json!({ "auth": { "jwtSecret": "0123456789", "alg": "HS512" } }),
            &[("auth.jwt_secret", Some(10), 64)],
        );
        check(
            &json!({ "keys": [{ "signingKey": "x" }], "sessionSecrets": ["a", "$B"] }),
            &[
                ("keys.signing_key", Some(1), 32),
                ("session_secrets", Some(1), 32),
                ("session_secrets", None, 32),
            ],
        );
        check(&json!({ "secretKey": "/run/secrets/jwt" }), &[("secret_key", None, 32)]);
        check(&json!({ "secret": "ü" }), &[("secret", Some(2), 32)]);
    }

    #[test]
    fn variables_of_the_environment_may_be_secrets() {
        let variables = [("JWT_SECRET", "short"), ("HOME", "/root"), ("API_SECRET", "/run/key")];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let variables = BTreeMap::from(variables);
        let found = |file| {
            let found = of_environment(&variables, file).into_iter();
            found.map(|it| (it.key, it.bytes)).collect::<Vec<_>>()
        };
        let api = ("API_SECRET".to_owned(), None);
        assert_eq!(found("{}"), [api.clone(), ("JWT_SECRET".to_owned(), Some(5))]);
        assert_eq!(found("{ \"key\": \"${JWT_SECRET}\" }"), [api]);
    }

    #[test]
    fn other_texts_are_not_secrets_of_the_program() {
        check(&json!({ "clientSecret": "x", "webhookSecret": "y", "apiKey": "z" }), &[]);
        check(&json!({ "secret": "x", "algorithm": "RS256" }), &[]);
        check(&json!({ "secret": 7, "secretary": "Ann" }), &[]);
    }
}
