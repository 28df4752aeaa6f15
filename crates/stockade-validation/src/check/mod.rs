//! Validates a value with a compiled schema. One walk over the data reports
//! each violation to a [`Sink`].
//!
//! The quiet sink ends the walk at the first violation and creates no messages.
//! The collecting sink creates errors with paths and records changes. Most data
//! is valid, so the quiet walk runs first unless the schema calls functions.
//!
//! The walk only reads the value, parsed or not ([`Data`]). It records changes
//! in a [`Patch`], which is applied at the end. Unchanged data has no patch,
//! and validating it allocates only for `unique` ([`equal`](crate::equal)) and
//! `custom` functions.
//!
//! The steps for one value, in order: trim, transform, conversion
//! ([`prepare`]), null and absence, type, enum, const, strings, numbers, arrays,
//! objects, custom. The recursion is as deep as the schema.
//! For a recursive schema, it is as deep as the data. Both are bounded.
//!
//! - this module: the entry points, each with its sink.
//! - `sink`: the sinks.
//! - `walk`: one value.
//! - `prepare`: trim, transform, conversion.
//! - `container`: arrays and objects.
//! - `inner`: definitions and unions.
//! - `first_of`: unions without a tag; `fit`: whether a value matches a
//!   variant.
//! - `applicators`: alternatives, conditions and rules for parts of a value;
//!   `closest`: the closest alternative; `evaluated`: the parts of a value that
//!   keywords describe.
//! - `form`: form and query values with a special meaning.
//! - `patch`: the changes.
//! - `path`: the position of a value, converted to text only when needed.

mod applicators;
mod closest;
mod container;
mod evaluated;
mod first_of;
mod fit;
mod form;
mod inner;
mod patch;
mod path;
mod prepare;
mod sink;
mod walk;

use serde_json::Value;
use stockade_errors::{ApiError, FieldError};

use self::fit::{Fitting, Known};
pub use self::form::TextSource;
pub(crate) use self::form::fill as fill_texts;
use self::path::Path;
use self::sink::{Collecting, Quiet, Sink as _};
use self::walk::Walk;
use crate::data::{Data as _, Tape};
use crate::node::{Compiled, FirstOf, Node, Violation};
use crate::options::ValidationOptions;
use crate::validated::Validated;

/// Returns true if `data` is valid. If `keep` is set, it must also remain
/// unchanged.
///
/// Always returns false if the schema calls functions.
pub(crate) fn accepts(
    compiled: &Compiled,
    data: &Value,
    options: &ValidationOptions,
    keep: bool,
) -> bool {
    if compiled.needs.functions {
        return false;
    }
    // Alternatives see the changes of the enclosing rule. A quiet walk does not
    // support changes.
    let keep = keep || compiled.needs.applicators;
    let mut walk = Walk::of(compiled, options, Quiet::new(keep), None, keep);
    walk.root(&compiled.root, None, data);
    !walk.sink.is_done()
}

/// Returns the errors of `data` without changing it.
pub(crate) fn check(
    compiled: &Compiled,
    data: &Value,
    options: &ValidationOptions,
) -> Result<Vec<FieldError>, ApiError> {
    let sink = Collecting::new(options);
    let mut walk = Walk::of(compiled, options, sink, Some(data), false);
    walk.root(&compiled.root, None, data);
    walk.sink.finish()
}

/// Returns the errors of `data` together with the changed data.
pub(crate) fn validate(
    compiled: &Compiled,
    field: Option<&str>,
    data: Value,
    options: &ValidationOptions,
) -> Result<Validated, ApiError> {
    let sink = Collecting::new(options);
    let mut walk = Walk::of(compiled, options, sink, Some(&data), true);
    let patch = walk.root(&compiled.root, field, &data);
    let errors = walk.sink.finish()?;
    let data = match patch {
        Some(patch) => patch.apply(data),
        None => data,
    };
    Ok(Validated { errors, data })
}

/// Validates JSON text. Returns the errors, or the data with its changes.
///
/// The schema must not call functions, because the data is not parsed yet.
pub(crate) fn validate_text(
    compiled: &Compiled,
    tape: &Tape<'_>,
    options: &ValidationOptions,
) -> Result<Result<Value, Vec<FieldError>>, ApiError> {
    let sink = Collecting::new(options);
    let mut walk = Walk::of(compiled, options, sink, None, true);
    let patch = walk.root(&compiled.root, None, tape.root());
    let errors = walk.sink.finish()?;
    if !errors.is_empty() {
        return Ok(Err(errors));
    }
    let data = tape.root().to_value().into_owned();
    Ok(Ok(match patch {
        Some(patch) => patch.apply(data),
        None => data,
    }))
}

/// Returns the variant of a union that matches a value, or the closest one.
pub(crate) fn variant_of<'s>(compiled: &'s Compiled, union: &'s FirstOf, data: &Value) -> &'s Node {
    let options = ValidationOptions::new();
    let mut known = Known::default();
    let mut fitting = Fitting::new(&compiled.definitions, &options, &mut known);
    let chosen = fitting.choice(union, data).or_else(|| fitting.closest(union, data));
    // The compiler rejects unions without variants.
    &union.variants[chosen.unwrap_or_default()]
}

/// Returns the outcome for an absent field.
pub(crate) fn validate_absent(node: &Node, field: &str) -> Result<Validated, ApiError> {
    let mut sink = Collecting::new(&ValidationOptions::new());
    if node.required {
        let path = Path::Field { name: field, parent: &Path::Root };
        sink.note(&path, node.message.as_deref(), Violation::Required);
    }
    let errors = sink.finish()?;
    let data = node.default.as_ref().map_or(Ok(Value::Null), |default| default.value(field))?;
    Ok(Validated { errors, data })
}

/// Returns the first error of a default value. Does not call functions or check
/// definitions.
pub(crate) fn first_error(node: &Node, data: &Value) -> Option<FieldError> {
    let options = ValidationOptions::new().abort_early(true);
    let mut walk = Walk::new(&[], &options, Collecting::new(&options), None, false);
    walk.root(node, None, data);
    walk.sink.finish().ok()?.pop()
}
