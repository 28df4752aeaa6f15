//! Validation of JSON against compiled schemas. The crate works without HTTP
//! and without an async runtime.
//!
//! A [`Schema`] is compiled once, from either notation, and validates any
//! number of values. An invalid schema fails when it is compiled.
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
//! # Four ways to write a schema
//!
//! | Notation | Made with |
//! |---|---|
//! | a field map, field name to rule | [`schema!`], [`Schema::from_value`], [`Schema::fields`] |
//! | a JSON-Schema-style object | [`schema!`], [`Schema::from_value`], [`Schema::rule`] |
//! | Rust, with closures for `custom`, `transform` and `default` | [`Rule`] |
//! | a Rust type | [`HasSchema`], by hand or with `#[derive(Schema)]` (feature `derive`) |
//!
//! # Integers
//!
//! `1.0` is an integer. If a rule accepts integers but no other numbers, the
//! resulting data always contains `1` instead, so that typed code can read it.
//! A whole number beyond 64 bits does not change.
//!
//! ```
//! use serde_json::json;
//! use stockade_validation::{ValidationOptions, schema, validate_against_schema};
//!
//! let schema = schema!({ "page": { "type": "integer" } })?;
//! let data = json!({ "page": 1.0 });
//! let outcome = validate_against_schema(&schema, data, &ValidationOptions::new())?;
//! assert_eq!(outcome.data, json!({ "page": 1 }));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Patterns
//!
//! A `pattern` follows JavaScript (ECMA-262) with the flag `u`, as JSON Schema
//! requires. The server therefore accepts exactly the texts that its documents
//! promise:
//!
//! - A match can be anywhere in the text. Use `^` and `$` to match the whole
//!   text.
//! - `\d`, `\w` and `\b` cover only ASCII. `\s` is the white space of
//!   JavaScript, which includes U+FEFF and excludes U+0085. `trim` removes the
//!   same characters.
//! - `\p{L}` is any letter, `\p{Script=Greek}` any character of a script.
//! - `\A`, `\z`, `(?P<name>…)`, `(?i)`, `(?s)`, `\x{…}` and `\pL` are
//!   translated for documents. Any other syntax that JavaScript does not have
//!   is a configuration error, for example `a++`, `(?>…)`, `(?x)`, `(?m)`,
//!   `[[:alpha:]]` and `[a-z&&[^b]]`.
//!
//! The time of a search is bounded:
//!
//! | Pattern | Time |
//! |---|---|
//! | most patterns, and look-ahead directly after `^` or look-behind directly before `$`: `^(?=.*\d)(?=.*[a-z]).{8,}$` | linear, without a limit |
//! | other look-around, and large repetitions of Unicode classes: `^((?!admin).)*$` | linear, at most 256 steps for each byte of the text; a pattern with up to 100 states (characters, classes and alternatives, counted for each repetition) never takes more |
//! | back references: `(.)\1` | at most 32 steps for each byte of the text |
//!
//! All texts of one validation share 2,000,000 more steps, so short texts
//! rarely reach the limit. A text that reaches the limit is invalid. Its error
//! has the rule `patternLimit` instead of `pattern`, and the log names the
//! pattern. To avoid the limit, set `maxLength` or remove back references.
//!
//! # Alternatives and conditions
//!
//! JSON schemas support the keywords of JSON Schema 2020-12: `allOf`, `anyOf`,
//! `oneOf`, `not`, `if`/`then`/`else`, `dependentSchemas`, `$ref` within the
//! document and others. `$ref` accepts a JSON pointer (`#/$defs/address`), an
//! `$anchor` or an `$id` of the document. [`Rule`] has a method for each of the
//! other keywords.
//!
//! ```
//! use serde_json::json;
//! use stockade_validation::{ValidationOptions, schema};
//!
//! let schema = schema!({
//!     "type": "object",
//!     "properties": { "total": { "type": "integer", "multipleOf": 5 } },
//!     "oneOf": [
//!         { "properties": { "kind": { "const": "card" } }, "required": ["kind", "token"] },
//!         { "properties": { "kind": { "const": "invoice" } }, "required": ["kind", "address"] },
//!     ],
//!     "dependentSchemas": { "address": { "properties": { "address": { "$ref": "#/$defs/address" } } } },
//!     "$defs": { "address": { "type": "object", "required": ["city"] } },
//! })?;
//! let check = |data| schema.check(&data, &ValidationOptions::new());
//! assert!(check(json!({ "total": 10, "kind": "card", "token": "4111" }))?.is_empty());
//!
//! let errors = check(json!({ "total": 10, "kind": "invoice" }))?;
//! assert_eq!(errors.len(), 1);
//! assert_eq!(errors[0].message, "Required field 'address' is missing");
//!
//! let errors = check(json!({ "total": 7, "kind": "card", "token": "4111" }))?;
//! assert_eq!(errors[0].rule, "multipleOf");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - A value that matches no alternative has one error: the first error of the
//!   closest alternative. The closest alternative is chosen by these criteria,
//!   in order: it has the JSON type of the value, it has a constant that is
//!   equal, it has fewer errors, it comes first. `message` replaces this error.
//! - Alternatives and conditions check the value after the surrounding schema
//!   has trimmed and converted it. They never change the value: `default`,
//!   `trim` and `coerce_types` inside them have no effect on the result. Add a
//!   `type` to the outer schema to convert text: `{ "type": ["integer",
//!   "null"], "anyOf": […] }`.
//! - `strip_unknown` and `allow_unknown(false)` accept the keys that a matching
//!   alternative lists. Inside alternatives, only the schema decides which keys
//!   are unknown.
//! - A `$ref` behaves like the referenced type, including conversions, if it is
//!   combined only with `title`, `default` and keywords for a single value. In
//!   combination with `properties`, `items` or other alternatives, it behaves
//!   like a part of `allOf`.
//! - `readOnly` and `writeOnly` inside alternatives are annotations of a
//!   document. They are configuration errors of resources and JSON-RPC methods,
//!   which cannot apply them there.
//! - `separator`, `style`, `maxBytes` and `mediaTypes` inside alternatives are
//!   configuration errors.
//! - Unknown keywords are configuration errors. `$dynamicRef` and references to other
//!   documents are not supported. Every `format` is checked.
//! - A validation takes at most 200,000 steps, plus 256 for each value. A value
//!   that needs more steps fails with the rule `schemaLimit`.
//!
//! # Features
//!
//! - `derive`: `#[derive(Schema)]`.
//! - `schemars`: `Schema::from_schemars`, for types that derive
//!   `schemars::JsonSchema`.
//! - `bigdecimal`, `bytes`, `chrono`, `indexmap`, `jiff`, `rust_decimal`,
//!   `secrecy`, `smallvec`, `time`, `url`, `uuid`: [`HasSchema`] for the types of
//!   these crates.
//!
//! [`Schema`]: struct@Schema
#![cfg_attr(docsrs, feature(doc_cfg))]

// Spec: Validation schemas.

// Modules:
// - `schema`: `Schema`; `rule`: `Rule`, which builds one.
// - `has_schema`: `HasSchema`, types with a schema; `text_form`: types that
//   validate their own text; `inner`: rules composed of other rules.
// - `canonical`: canonical text forms, for stores; `canonical/times`: canonical
//   times.
// - `direction`: differences between input and output.
// - `parts`: alternatives, conditions and rules for some parts of a value.
// - `fields`: the properties of an object rule, as a base for further rules.
// - `patch_field`: `Patch` and `Optional`, fields that may be absent.
// - `marks`: read-only and write-only places, applied at every depth.
// - `build`: parses the notations, finds configuration errors, and compiles
//   schemas.
// - `pattern`: the keyword `pattern`: its syntax, and three search algorithms.
// - `node`: the compiled form of a schema, and its checks.
// - `check`: the walk over a value, either quiet or with all errors and
//   changes.
// - `data`: the two forms of validated data, parsed or as text.
// - `read`: reads a typed value from JSON text and validates it on the way.
// - `export`: `Schema::to_json_schema`.
// - `document`: the definitions of a schema, for documents of many schemas;
//   `names`: their names in the document.
// - `mod@format`: the string formats.

#[cfg(all(test, feature = "derive"))]
extern crate self as stockade_validation;

mod build;
mod canonical;
mod check;
mod constructors;
mod data;
mod depth;
mod direction;
mod document;
mod equal;
mod export;
mod fields;
#[cfg(any(
    feature = "bigdecimal",
    feature = "bytes",
    feature = "chrono",
    feature = "indexmap",
    feature = "jiff",
    feature = "rust_decimal",
    feature = "secrecy",
    feature = "smallvec",
    feature = "time",
    feature = "url",
    feature = "uuid"
))]
mod foreign_types;
pub mod format;
mod function;
mod has_schema;
mod has_schema_impls;
mod inner;
mod log_rate;
mod macros;
#[doc(hidden)]
pub mod marks;
mod names;
mod node;
mod number;
mod options;
mod part_rule;
mod parts;
mod patch_field;
#[doc(hidden)]
pub mod pattern;
mod read;
mod rule;
mod schema;
#[cfg(feature = "schemars")]
mod schemars;
mod suggest;
mod text_form;
mod text_style;
mod validated;

pub use document::{Definition, DefinitionId, Export};
pub use function::{CustomOutcome, TransformOutcome, Verdict};
pub use has_schema::{HasSchema, Unchecked};
pub use names::Names;
pub use options::ValidationOptions;
pub use patch_field::{Optional, Patch};
pub use read::{ReadError, read_value};
pub use rule::{Additional, Rule};
pub use schema::Schema;
pub use validated::{Validated, validate_against_schema, validate_field};

#[cfg(feature = "derive")]
#[doc(inline)]
pub use stockade_macros::Schema;

/// Items for the other stockade crates, without any stability guarantee.
#[doc(hidden)]
pub mod __internal {
    use crate::format::{Format, TextType};

    pub use crate::build::names as keywords;
    pub use crate::canonical::CanonicalForms;
    pub use crate::equal::equal;
    pub use crate::log_rate::LogRate;
    pub use crate::suggest::did_you_mean;

    /// All formats, in the order of the specification.
    pub const FORMATS: &[Format] = Format::ALL;
    /// All text types, in the order of the specification.
    pub const TEXT_TYPES: &[TextType] = TextType::ALL;
}

#[doc(hidden)]
pub mod read_internals {
    pub use super::check::TextSource;
    pub use super::part_rule::{PartKind, PartRule};
    pub use super::read::{
        COMMON_TYPES, Field, Fit, PairsKind, ParamShape, Slot, TypeError, TypedReader, fit_of,
        nothing_read, read_nothing, read_texts_into, shape_of, too_many_values,
    };
    pub use super::text_style::{Separator, TextStyle};
}

#[doc(hidden)]
pub mod __private;

/// The examples of the package's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The examples of the package's chapter in the book.
#[cfg(doctest)]
#[doc = include_str!("../../../book/src/how-to/validation-only.md")]
struct Chapter;
