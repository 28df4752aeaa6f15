//! Integration tests of the public interface, in one binary.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests; clippy.toml knows only functions with `#[test]`"
)]

#[cfg(feature = "derive")]
mod aliases;
mod allocations;
mod applicators;
#[cfg(feature = "derive")]
mod borrowed;
mod catalogs;
#[cfg(feature = "derive")]
mod derive;
#[cfg(feature = "derive")]
mod derive_enums;
#[cfg(feature = "derive")]
mod derive_keywords;
#[cfg(feature = "derive")]
mod derive_serde;
mod exported;
#[cfg(feature = "derive")]
mod flattened_enums;
mod foreign_types;
#[cfg(feature = "schemars")]
mod from_schemars;
mod has_schema;
mod hostile;
mod json_schema_exceptions;
mod json_schema_peer;
mod json_schema_suite;
mod keyword_table;
mod keywords;
mod logged;
mod macro_names;
#[cfg(feature = "derive")]
mod names;
mod nested;
mod objects;
mod options;
mod pairs;
mod params;
#[cfg(feature = "derive")]
mod patch_fields;
mod patterns;
mod properties;
mod reading;
#[cfg(feature = "derive")]
mod replies;
mod rules;
mod support;
mod swallowed;
mod types;
mod unions;
mod unparsed;
#[cfg(feature = "derive")]
mod untagged;
mod untyped_values;
