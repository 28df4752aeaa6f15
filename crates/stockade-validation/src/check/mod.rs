//! Judges a value by a compiled schema, with all errors and changes: for what
//! a [`Plan`](crate::plan::Plan) does not accept.
//!
//! The value, parsed or not ([`Data`]), is only read; what is to be changed is
//! noted in a [`Patch`], which is applied at the end and is empty for data that
//! stays as it is. Per call nothing is allocated for such data, except what the
//! `unique` of [`equal`](crate::equal) and a `custom` function need.
//!
//! The order of work on one value is that of behaviour.md, section 11: trim,
//! transform, conversion ([`prepare`]), null and absence, type, enum, const,
//! strings, numbers, arrays, objects, custom. The recursion is as deep as the
//! schema or, where that is recursive, as the data; both are bounded.
//!
//! - `prepare`: trim, transform, conversion.
//! - `scalar`: strings, numbers, lengths.
//! - `array`, `object`: what contains values.
//! - `inner`: definitions, unions, tuples.
//! - `patch`: the changes.
//! - `path`: where a value is, as text only when it is needed.

mod array;
mod inner;
mod object;
mod patch;
mod path;
mod prepare;
mod scalar;

use std::borrow::Cow;
use std::cmp::Ordering;

use serde_json::Value;
use stockade_errors::__internal::short_name;
use stockade_errors::{ApiError, FieldError};

use self::inner::MAX_FOLLOWED;
use self::patch::Patch;
use self::path::Path;
use crate::data::{Data, Kind, Tape};
use crate::depth::MAX_DEPTH;
use crate::equal::equal;
use crate::function::{Custom, Default, Verdict};
use crate::node::{Bound, Compiled, Definition, Node, Scalars, kind};
use crate::number::Num;
use crate::options::ValidationOptions;
use crate::pattern;
use crate::validated::Validated;

/// The errors of `data`, which stays as it is.
pub(crate) fn check(
    compiled: &Compiled,
    data: &Value,
    options: &ValidationOptions,
) -> Result<Vec<FieldError>, ApiError> {
    let mut run = Run::new(&compiled.definitions, options, Some(data), false);
    run.root(&compiled.root, None, data);
    run.finish()
}

/// The errors of `data`, and the data with its changes.
pub(crate) fn validate(
    compiled: &Compiled,
    field: Option<&str>,
    data: Value,
    options: &ValidationOptions,
) -> Result<Validated, ApiError> {
    let mut run = Run::new(&compiled.definitions, options, Some(&data), true);
    let patch = run.root(&compiled.root, field, &data);
    let errors = run.finish()?;
    Ok(Validated { errors, data: patch.apply(data) })
}

/// The errors of a text, or its data with its changes.
///
/// For a schema that calls no function with the data: there is none yet.
pub(crate) fn validate_text(
    compiled: &Compiled,
    tape: &Tape<'_>,
    options: &ValidationOptions,
) -> Result<Result<Value, Vec<FieldError>>, ApiError> {
    let mut run = Run::new(&compiled.definitions, options, None, true);
    let patch = run.root(&compiled.root, None, tape.root());
    let errors = run.finish()?;
    if !errors.is_empty() {
        return Ok(Err(errors));
    }
    Ok(Ok(patch.apply(tape.root().to_value().into_owned())))
}

/// The outcome for a field that is not there.
pub(crate) fn validate_absent(node: &Node, field: &str) -> Result<Validated, ApiError> {
    let options = ValidationOptions::new();
    let mut run = Run::new(&[], &options, None, true);
    let path = Path::Field { name: field, parent: &Path::Root };
    if node.required {
        run.missing(node.message.as_deref(), &path, field);
    }
    let errors = run.finish()?;
    let data = node.default.as_ref().map_or(Ok(Value::Null), |default| default.value(field))?;
    Ok(Validated { errors, data })
}

/// The first thing that is wrong with a default, apart from functions and from
/// what definitions say.
pub(crate) fn first_error(node: &Node, data: &Value) -> Option<FieldError> {
    let options = ValidationOptions::new().abort_early(true);
    let mut run = Run::new(&[], &options, None, false);
    run.root(node, None, data);
    run.errors.pop()
}

/// What the node that refers to a definition says of the value too.
#[derive(Clone, Copy)]
struct Held<'s> {
    /// The node of the definition.
    node: &'s Node,
    message: Option<&'s str>,
    /// The node that requires the value.
    required: Option<&'s Node>,
}

/// One validation.
struct Run<'r, 's> {
    /// The named rules that nodes refer to.
    definitions: &'s [Definition],
    /// How many definitions are being followed.
    followed: usize,
    /// Of the innermost of them.
    held: Option<Held<'s>>,
    options: &'r ValidationOptions,
    /// The whole input as it came, for `custom`; `None` calls neither that nor
    /// `transform`.
    root: Option<&'r Value>,
    /// Whether someone wants the changed data.
    keep: bool,
    errors: Vec<FieldError>,
    /// Of the texts of the errors.
    error_bytes: usize,
    /// Why there is no verdict: a function failed.
    failure: Option<ApiError>,
    /// Nothing more is looked at.
    done: bool,
}

impl<'r, 's> Run<'r, 's> {
    fn new(
        definitions: &'s [Definition],
        options: &'r ValidationOptions,
        root: Option<&'r Value>,
        keep: bool,
    ) -> Self {
        pattern::begin();
        Self {
            definitions,
            followed: 0,
            held: None,
            options,
            root,
            keep,
            errors: Vec::new(),
            error_bytes: 0,
            failure: None,
            done: false,
        }
    }

    fn finish(self) -> Result<Vec<FieldError>, ApiError> {
        match self.failure {
            Some(failure) => Err(failure),
            None => Ok(self.errors),
        }
    }

    fn root<'d>(&mut self, node: &'s Node, field: Option<&str>, data: impl Data<'d>) -> Patch<'s> {
        let path = match field {
            Some(name) => Path::Field { name, parent: &Path::Root },
            None => Path::Root,
        };
        if data.exceeds(MAX_DEPTH) {
            let message = format!("Value is nested more than {MAX_DEPTH} levels deep");
            self.push(&path, message, "depth");
            return Patch::Keep;
        }
        self.visit(node, data, &path)
    }

    /// Whether a value is right and stays as it is, as far as that is easily
    /// told: of scalars, and of what contains nothing else. Nothing is to be done
    /// with it.
    ///
    /// So a container is judged twice at the most.
    #[inline]
    fn passes<'d>(&self, node: &Node, value: impl Data<'d>) -> bool {
        match &node.scalars {
            Scalars::Unsaid => false,
            Scalars::Plan(plan) => {
                self.held(node).is_none() && plan.takes_flat(value, self.options)
            }
            // Whether it may be missing is for the node to say.
            Scalars::Definition(place) => {
                let definition = self.definitions.get(*place);
                let plan = definition.and_then(|definition| definition.node.scalars.plan());
                self.followed < MAX_FOLLOWED
                    && !matches!(value.kind(), Kind::Null | Kind::Text(""))
                    && plan.is_some_and(|plan| plan.takes_flat(value, self.options))
            }
        }
    }

    /// Prepares and judges one value.
    fn visit<'d>(&mut self, node: &'s Node, value: impl Data<'d>, path: &Path<'_>) -> Patch<'s> {
        match self.prepare(node, value, path) {
            Ok(None) => self.judge(node, value, path),
            Ok(Some(prepared)) => {
                let patch = self.judge(node, &prepared, path);
                Patch::Set(patch.apply(prepared))
            }
            Err(failure) => {
                self.fail_run(failure);
                Patch::Keep
            }
        }
    }

    fn judge<'d>(&mut self, node: &'s Node, value: impl Data<'d>, path: &Path<'_>) -> Patch<'s> {
        let kind = value.kind();
        if node.never {
            self.fail(node, path, "false", || "Value is not allowed");
            return Patch::Keep;
        }
        if node.required && is_missing(node, kind) {
            self.missing(self.message_of(node), path, path.name());
            return Patch::Keep;
        }
        // The text may be empty only now that the definition has prepared it.
        if let Some(held) = self.held(node)
            && held.required.is_some_and(|holder| is_missing(holder, kind))
        {
            self.missing(held.message, path, path.name());
            return Patch::Keep;
        }
        if node.nullable && matches!(kind, Kind::Null) {
            return Patch::Keep;
        }
        if node.types.given() && !self.fits_type(node, kind, path) {
            return Patch::Keep;
        }
        self.literals(node, value, path);
        let patch = match kind {
            Kind::Text(text) => {
                self.text(node, text, path);
                Patch::Keep
            }
            Kind::Number(number) => {
                self.number(node, number, path);
                Patch::Keep
            }
            Kind::Array(count) => self.array(node, value, count, path),
            Kind::Object(count) => self.object(node, value, count, path),
            Kind::Null | Kind::Bool(_) => Patch::Keep,
        };
        match &node.inner {
            None => self.custom(node, value, path, patch),
            Some(inner) => match self.inner(node, inner, value, path) {
                Some(patch) => self.custom(node, value, path, patch),
                None => Patch::Keep,
            },
        }
    }

    /// Whether the checks after the type may go on.
    fn fits_type(&mut self, node: &Node, value: Kind<'_>, path: &Path<'_>) -> bool {
        let types = &node.types;
        let fits = match value {
            Kind::Text(text) => {
                if types.has(kind::STRING) || types.formats.iter().any(|form| form.check(text)) {
                    true
                } else if let Some(form) = types.only_format() {
                    // A wrong form is not a failure of the type: more is checked.
                    self.fail(node, path, form.name(), || form.message());
                    return true;
                } else {
                    false
                }
            }
            Kind::Number(number) => {
                types.has(kind::NUMBER) || types.has(kind::INTEGER) && Num::of(number).is_whole()
            }
            Kind::Bool(_) => types.has(kind::BOOLEAN),
            Kind::Array(_) => types.has(kind::ARRAY),
            Kind::Object(_) => types.has(kind::OBJECT),
            Kind::Null => types.has(kind::NULL),
        };
        if !fits {
            self.fail(node, path, "type", || {
                format!("Expected {}, got {}", types.expected, value.name())
            });
        }
        fits
    }

    fn literals<'d>(&mut self, node: &Node, value: impl Data<'d>, path: &Path<'_>) {
        let Some(literals) = &node.literals else {
            return;
        };
        if let Some(one_of) = &literals.one_of
            && !one_of.contains(value)
        {
            self.fail(node, path, "enum", || one_of.message.clone());
        }
        if let Some((constant, message)) = &literals.constant
            && !is_constant(constant, value)
        {
            self.fail(node, path, "const", || message.clone());
        }
    }

    #[inline]
    fn custom<'d>(
        &mut self,
        node: &Node,
        value: impl Data<'d>,
        path: &Path<'_>,
        patch: Patch<'s>,
    ) -> Patch<'s> {
        if let (Some(custom), Some(root)) = (&node.custom, self.root)
            && !self.done
            && !matches!(value.kind(), Kind::Null)
        {
            self.call(node, custom, root, &value.to_value(), path, &patch);
        }
        patch
    }

    fn call(
        &mut self,
        node: &Node,
        custom: &Custom,
        root: &Value,
        value: &Value,
        path: &Path<'_>,
        patch: &Patch<'s>,
    ) {
        let field = path.to_string();
        let verdict = match patch.preview(value) {
            None => custom.call(value, &field, root),
            Some(changed) => custom.call(&changed, &field, root),
        };
        match verdict {
            Ok(Verdict::Valid) => {}
            Ok(Verdict::Invalid) => {
                self.fail(node, path, "custom", || format!("{} is invalid", short_name(&field)));
            }
            Ok(Verdict::Because(message)) => self.push(path, message, "custom"),
            Err(failure) => self.fail_run(failure),
        }
    }

    /// What is held of the value of this node, if a definition has it.
    fn held(&self, node: &Node) -> Option<Held<'s>> {
        self.held.filter(|held| std::ptr::eq(held.node, node))
    }

    /// The message for the value of this node: that of the node which refers
    /// to it goes before its own.
    fn message_of<'n>(&self, node: &'n Node) -> Option<&'n str>
    where
        's: 'n,
    {
        self.held(node).and_then(|held| held.message).or(node.message.as_deref())
    }

    /// A required value is not there.
    fn missing(&mut self, message: Option<&str>, path: &Path<'_>, name: &str) {
        let message: Cow<'static, str> = match message {
            Some(message) => message.to_owned().into(),
            None if matches!(path, Path::Root) => "Required value is missing".into(),
            None if name.is_empty() => {
                format!("Required field '{}' is missing", path.shown()).into()
            }
            None => format!("Required field '{}' is missing", short_name(name)).into(),
        };
        self.push(path, message, "required");
    }

    /// Notes an error with the message of the rule, or this one.
    #[cold]
    fn fail<M: Into<Cow<'static, str>>>(
        &mut self,
        node: &Node,
        path: &Path<'_>,
        rule: &'static str,
        message: impl FnOnce() -> M,
    ) {
        match self.message_of(node).map(str::to_owned) {
            Some(message) => self.push(path, message, rule),
            None => self.push(path, message(), rule),
        }
    }

    #[cold]
    fn push(&mut self, path: &Path<'_>, message: impl Into<Cow<'static, str>>, rule: &'static str) {
        if self.done {
            return;
        }
        let error = FieldError::new(path.shown(), message, rule);
        self.error_bytes += error.field.len() + error.message.len();
        self.errors.push(error);
        self.done = self.options.abort_early
            || self.errors.len() >= self.options.max_errors
            || self.error_bytes >= self.options.max_errors.saturating_mul(BYTES_PER_ERROR);
    }

    #[cold]
    fn fail_run(&mut self, failure: ApiError) {
        self.failure.get_or_insert(failure);
        self.done = true;
    }

    /// The default of an absent property, if someone wants it.
    fn default(&mut self, default: &Default, path: &Path<'_>) -> Option<Value> {
        if !self.keep || self.done {
            return None;
        }
        match default.value(&path.to_string()) {
            Ok(value) => Some(value),
            Err(failure) => {
                self.fail_run(failure);
                None
            }
        }
    }
}

/// Of text, on the average: a long key before many wrong values is part of the
/// path of each.
const BYTES_PER_ERROR: usize = 1 << 10;

/// Null unless that is allowed by name, or empty text.
fn is_missing(node: &Node, value: Kind<'_>) -> bool {
    match value {
        Kind::Null => !node.nullable && !node.types.has(kind::NULL),
        Kind::Text(text) => text.is_empty(),
        _ => false,
    }
}

/// Whether a value is this one; texts are not copied for it.
fn is_constant<'d>(constant: &Value, value: impl Data<'d>) -> bool {
    match (constant, value.text()) {
        (Value::String(constant), Some(text)) => constant == text,
        (_, Some(_)) => false,
        (_, None) => equal(constant, &value.to_value()),
    }
}

/// Whether `value` lies below a lower bound, if there is one.
fn is_below(value: Num, bound: Option<&Bound>) -> Option<&Bound> {
    bound.filter(|bound| bound.seen_from(value) == Ordering::Less)
}

/// Whether `value` lies above an upper bound, if there is one.
fn is_above(value: Num, bound: Option<&Bound>) -> Option<&Bound> {
    bound.filter(|bound| bound.seen_from(value) == Ordering::Greater)
}
