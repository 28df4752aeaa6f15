//! Example texts.

use serde_json::{Map, Value};
use stockade_validation::pattern::{example, is_match};

use super::count;

/// Typical texts for the names of members.
const BY_NAME: [(&str, &str); 16] = [
    ("email", "ada@example.org"),
    ("password", "correct horse battery"),
    ("username", "ada"),
    ("name", "Ada Lovelace"),
    ("title", "An example"),
    ("description", "A short description"),
    ("message", "A short message"),
    ("text", "A short text"),
    ("url", "https://example.org/"),
    ("token", "9f86d081884c7d65"),
    ("phone", "+12025550123"),
    ("city", "London"),
    ("country", "GB"),
    ("currency", "EUR"),
    ("language", "en"),
    ("slug", "an-example"),
];

/// Texts for formats.
const BY_FORMAT: [(&str, &str); 29] = [
    ("email", "ada@example.org"),
    ("idn-email", "ada@example.org"),
    ("uri", "https://example.org/"),
    ("url", "https://example.org/"),
    ("iri", "https://example.org/"),
    ("uri-reference", "/example"),
    ("iri-reference", "/example"),
    ("uri-template", "/users/{id}"),
    ("uuid", "7d444840-9dc0-41d1-b245-5ffdce74fad2"),
    ("date", "2026-01-31"),
    ("date-time", "2026-01-31T12:00:00Z"),
    ("time", "12:00:00Z"),
    ("duration", "PT15M"),
    ("hostname", "example.org"),
    ("idn-hostname", "example.org"),
    ("ip", "192.0.2.1"),
    ("ipv4", "192.0.2.1"),
    ("ipv6", "2001:db8::1"),
    ("phone", "+12025550123"),
    ("credit-card", "4242424242424242"),
    ("json-pointer", "/name"),
    ("relative-json-pointer", "1/name"),
    ("regex", "^[a-z]+$"),
    ("byte", "aGVsbG8="),
    ("base64", "aGVsbG8="),
    ("binary", "(file)"),
    ("password", "correct horse battery"),
    ("decimal", "12.50"),
    ("int64", "1"),
];

/// Returns a text that follows the rules of a schema.
pub(super) fn of(schema: &Map<String, Value>, name: &str) -> String {
    let format = schema.get("format").and_then(Value::as_str);
    let of_format = format.and_then(|format| found(&BY_FORMAT, |known| known == format));
    if let Some(text) = of_format.filter(|text| fits(schema, text)) {
        return text.to_owned();
    }
    if schema.get("contentEncoding").is_some_and(|it| it == "base64") {
        return "aGVsbG8=".to_owned();
    }
    let name = name.to_ascii_lowercase();
    let typical = found(&BY_NAME, |known| name.ends_with(known));
    let candidates = typical.into_iter().chain(["text", "example", "a", "A", "1"]);
    let fitted = candidates.map(|text| with_length(text, schema));
    if let Some(text) = fitted.into_iter().find(|text| fits(schema, text)) {
        return text;
    }
    let pattern = schema.get("pattern").and_then(Value::as_str);
    let lengths = least(schema)..=most(schema);
    pattern
        .and_then(|pattern| example(pattern, lengths))
        .unwrap_or_else(|| with_length("text", schema))
}

/// Returns the text with a number, for a list of different texts.
pub(super) fn numbered(schema: &Map<String, Value>, name: &str, number: usize) -> String {
    let text = of(schema, name);
    let mut candidates = [format!("{text}{number}"), format!("{text}-{number}")].into_iter().chain(
        schema
            .get("pattern")
            .and_then(Value::as_str)
            .and_then(|pattern| example(pattern, least(schema) + number..=most(schema))),
    );
    candidates.find(|text| fits(schema, text)).unwrap_or(text)
}

fn found<'t>(table: &[(&str, &'t str)], is_it: impl Fn(&str) -> bool) -> Option<&'t str> {
    table.iter().find(|(known, _)| is_it(known)).map(|(_, text)| *text)
}

/// Returns true if a text has the length and the pattern of a schema.
fn fits(schema: &Map<String, Value>, text: &str) -> bool {
    let pattern = schema.get("pattern").and_then(Value::as_str);
    (least(schema)..=most(schema)).contains(&text.chars().count())
        && pattern.is_none_or(|pattern| is_match(pattern, text))
}

fn least(schema: &Map<String, Value>) -> usize {
    // A schema may require more than fits into a page.
    count(schema, "minLength").unwrap_or(0).min(10_000)
}

fn most(schema: &Map<String, Value>) -> usize {
    count(schema, "maxLength").unwrap_or(usize::MAX)
}

/// Shortens or repeats a text.
fn with_length(text: &str, schema: &Map<String, Value>) -> String {
    let length = text.chars().count();
    let wanted = length.max(least(schema)).min(most(schema));
    let text: String = match wanted > length {
        // A repeated word without a space is still one word.
        true if !text.contains(' ') => text.chars().cycle().take(wanted).collect(),
        true => text.chars().chain(" ".chars()).cycle().take(wanted).collect(),
        false => text.chars().take(wanted).collect(),
    };
    match text.strip_suffix(' ') {
        Some(rest) => format!("{rest}."),
        None => text,
    }
}
