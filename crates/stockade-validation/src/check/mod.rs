//! The judging of a value by a compiled schema: one walk over the data, which
//! reports each broken rule to a [`Sink`].
//!
//! The quiet sink ends the walk at the first broken rule and has no words; the
//! collecting one makes errors with paths, and keeps changes. Most data is
//! right, so the quiet one goes first, where no function has to be called.
//!
//! The value, parsed or not ([`Data`]), is only read. Its changes are noted in
//! a [`Patch`], which is applied at the end; data that stays as it is has none.
//! For such data only the `unique` of [`equal`](crate::equal) and `custom`
//! functions allocate.
//!
//! The order of work on one value is that of behaviour.md, section 11: trim,
//! transform, conversion ([`prepare`]), null and absence, type, enum, const,
//! strings, numbers, arrays, objects, custom. The recursion is as deep as the
//! schema or, where that is recursive, as the data; both are bounded.
//!
//! - here: the questions of the crate, each with its sink.
//! - `sink`: the sinks.
//! - `walk`: one value.
//! - `prepare`: trim, transform, conversion.
//! - `container`: arrays and objects.
//! - `inner`: definitions and unions.
//! - `first_of`: unions without a tag; `fit`: whether a value fits a variant.
//! - `applicators`: alternatives, conditions and rules for some parts of a value; `closest`:
//!   the alternative that a value nearly follows; `evaluated`: the parts of a value that
//!   keywords describe.
//! - `form`: the texts of forms and queries that stand for something else.
//! - `patch`: the changes.
//! - `path`: the position of a value, as text only when it is needed.

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

/// Returns true if `data` is right; with `keep`, if it also stays as it is.
///
/// Never for a schema that calls functions.
pub(crate) fn accepts(
    compiled: &Compiled,
    data: &Value,
    options: &ValidationOptions,
    keep: bool,
) -> bool {
    if compiled.needs.functions {
        return false;
    }
    // Alternatives see what the rule around them has changed, which needs the other walk.
    let keep = keep || compiled.needs.applicators;
    let mut walk = Walk::of(compiled, options, Quiet::new(keep), None, keep);
    walk.root(&compiled.root, None, data);
    !walk.sink.is_done()
}

/// Returns the errors of `data`, which stays as it is.
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

/// Returns the errors of `data`, and the data with its changes.
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

/// Returns the errors of a text, or its data with its changes.
///
/// For a schema that calls no function with the data: there is none yet.
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

/// Returns the variant of a union that fits a value, or that is closest to it.
pub(crate) fn variant_of<'s>(compiled: &'s Compiled, union: &'s FirstOf, data: &Value) -> &'s Node {
    let options = ValidationOptions::new();
    let mut known = Known::default();
    let mut fitting = Fitting::new(&compiled.definitions, &options, &mut known);
    let chosen = fitting.choice(union, data).or_else(|| fitting.closest(union, data));
    // A union without variants is an issue of its schema.
    &union.variants[chosen.unwrap_or_default()]
}

/// Returns the outcome for a field that is not there.
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

/// Returns the first error of a default, apart from functions and from the
/// rules of definitions.
pub(crate) fn first_error(node: &Node, data: &Value) -> Option<FieldError> {
    let options = ValidationOptions::new().abort_early(true);
    let mut walk = Walk::new(&[], &options, Collecting::new(&options), None, false);
    walk.root(node, None, data);
    walk.sink.finish().ok()?.pop()
}
