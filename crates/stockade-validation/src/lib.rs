//! Validation of JSON against compiled schemas, usable alone: no HTTP, no
//! runtime.
//!
//! A [`Schema`] is made once, from either notation, and judges any number of
//! values. What cannot work is an error when the schema is made.
//!
//! ```
//! use serde_json::json;
//! use stockade_validation::{ValidationOptions, schema, validate_against_schema};
//!
//! let schema = schema!({
//!     "name": { "type": "string", "required": true, "trim": true },
//!     "age": { "type": "integer", "minimum": 18 },
//!     "role": { "type": "string", "default": "reader" },
//! })?;
//!
//! let outcome = validate_against_schema(
//!     &schema,
//!     json!({ "name": " Ada ", "age": 12 }),
//!     &ValidationOptions::new(),
//! )?;
//! assert!(!outcome.valid());
//! assert_eq!(outcome.errors[0].field, "age");
//! assert_eq!(outcome.errors[0].message, "Number must be at least 18");
//! assert_eq!(outcome.errors[0].rule, "minimum");
//! assert_eq!(outcome.data, json!({ "name": "Ada", "age": 12, "role": "reader" }));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Three ways to write a schema
//!
//! | Notation | Made with |
//! |---|---|
//! | a field map, field name to rule | [`schema!`], [`Schema::from_value`], [`Schema::fields`] |
//! | a JSON-Schema-style object | [`schema!`], [`Schema::from_value`], [`Schema::rule`] |
//! | Rust, with closures for `custom`, `transform` and `default` | [`Rule`] |
//!
//! Spec: Validation schemas.
//!
//! # Where things are
//!
//! - `schema`: [`Schema`]; `rule`: [`Rule`], what a schema is built from.
//! - `build`: reading the notations, finding the mistakes, compiling.
//! - `node`: what a schema is compiled to.
//! - `check`: the judging of a value; the only hot code in this crate.
//! - `export`: [`Schema::to_json_schema`].
//! - [`mod@format`]: the string formats.

mod build;
mod check;
mod depth;
mod equal;
mod export;
pub mod format;
mod function;
mod macros;
mod node;
mod number;
mod options;
mod pattern;
mod rule;
mod schema;
mod suggest;
mod validated;

pub use function::{CustomOutcome, TransformOutcome, Verdict};
pub use options::ValidationOptions;
pub use rule::{Additional, Rule};
pub use schema::Schema;
pub use validated::{Validated, validate_against_schema, validate_field};

#[doc(hidden)]
pub mod __private {
    pub use serde_json::json;
}
