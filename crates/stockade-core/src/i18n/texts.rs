//! The texts of the framework.

/// The framework's English messages with their parameters: a template for other
/// languages.
pub const ENGLISH: &str = include_str!("en.ftl");

pub(super) const GERMAN: &str = include_str!("de.ftl");

/// The framework's rules and their parameters. All rules also have `field`.
pub(super) const RULES: [(&str, &[&str]); 66] = [
    ("additionalProperties", &[]),
    ("anyOf", &[]),
    ("const", &["value"]),
    ("credit-card", &[]),
    ("cursor", &[]),
    ("cursor-gone", &[]),
    ("custom", &[]),
    ("date", &[]),
    ("dependentRequired", &["other"]),
    ("depth", &["limit"]),
    ("duplicate", &[]),
    ("email", &[]),
    ("enum", &["values"]),
    ("exclusiveMaximum", &["limit"]),
    ("exclusiveMinimum", &["limit"]),
    ("false", &[]),
    ("filter-value", &[]),
    ("filters", &["limit"]),
    ("format", &["format"]),
    ("id-form", &[]),
    ("id-length", &["limit"]),
    ("id-path", &[]),
    ("invalid-id", &[]),
    ("maxContains", &["limit"]),
    ("maxItems", &["limit"]),
    ("maxLength", &["limit"]),
    ("maxProperties", &["limit"]),
    ("maximum", &["limit"]),
    ("mediaType", &["values", "got"]),
    ("minContains", &["limit"]),
    ("minItems", &["limit"]),
    ("minLength", &["limit"]),
    ("minProperties", &["limit"]),
    ("minimum", &["limit"]),
    ("multipleOf", &["factor"]),
    ("not", &[]),
    ("nul", &[]),
    ("object", &[]),
    ("one-file", &[]),
    ("oneOf", &[]),
    ("oneOf-keys", &["values"]),
    ("oneOf-several", &[]),
    ("out-of-range", &["kind"]),
    ("parameter", &[]),
    ("patch-depth", &[]),
    ("patch-list", &[]),
    ("patch-operation", &[]),
    ("patch-operations", &["limit"]),
    ("patch-place", &[]),
    ("pattern", &[]),
    ("patternLimit", &[]),
    ("phone", &[]),
    ("propertyNames", &[]),
    ("required", &[]),
    ("required-value", &[]),
    ("schemaLimit", &[]),
    ("sort", &["name"]),
    ("sort-fields", &["limit"]),
    ("type", &["expected", "got"]),
    ("unevaluatedItems", &[]),
    ("unevaluatedProperties", &[]),
    ("unique", &[]),
    ("uniqueItems", &[]),
    ("url", &[]),
    ("uuid", &[]),
    ("year", &[]),
];

/// Returns the text id of a problem type, such as `problem-sold-out` for
/// `https://shop.example/problems/sold-out`.
pub(super) fn problem_id(uri: &str) -> String {
    let is_end = |c: char| matches!(c, '/' | ':' | '#' | '?' | ',');
    let last = uri.rsplit(is_end).find(|part| !part.is_empty()).unwrap_or_default();
    let is_kept = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let kept = |c: char| if is_kept(c) { c } else { '-' };
    std::iter::once("problem-").flat_map(str::chars).chain(last.chars().map(kept)).collect()
}

/// Returns true if a text can be a message id.
pub(super) fn is_id(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}
