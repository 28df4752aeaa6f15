//! The names of types and formats.
//!
//! This file does not contain other code, because a test in
//! `stockade-validation` also reads it. The test ensures that the names match
//! the names in validation.

/// The names of types.
pub(crate) const KINDS: &[&str] = &[
    "string",
    "number",
    "boolean",
    "object",
    "array",
    "integer",
    "null",
    "email",
    "url",
    "uuid",
    "phone",
    "credit-card",
    "date",
];

/// The names of formats.
pub(crate) const FORMATS: &[&str] = &[
    "email",
    "uri",
    "url",
    "uuid",
    "phone",
    "credit-card",
    "date",
    "date-time",
    "time",
    "hostname",
    "ipv4",
    "ipv6",
    "int32",
    "int64",
    "float",
    "double",
    "binary",
    "byte",
    "password",
    "duration",
    "idn-email",
    "idn-hostname",
    "iri",
    "iri-reference",
    "uri-reference",
    "uri-template",
    "regex",
    "json-pointer",
    "relative-json-pointer",
];
