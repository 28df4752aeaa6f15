//! [`Walk`]: visits each value of the data.

use serde_json::Value;
use stockade_errors::ErrorText;
use stockade_errors::short_name::short_name;

use super::first_of::Choices;
use super::patch::Patch;
use super::path::Path;
use super::sink::Sink;
use crate::data::{Data, Kind};
use crate::depth::MAX_DEPTH;
use crate::function::{Custom, Verdict};
use crate::node::{Compiled, Definition, Node, Violation, kind};
use crate::number::Num;
use crate::options::ValidationOptions;
use crate::pattern;

/// The state of one validation.
pub(super) struct Walk<'r, 's, S> {
    /// The named rules that nodes refer to.
    pub(super) definitions: &'s [Definition],
    /// Remaining nesting levels. Only a quiet walk counts them.
    pub(super) levels: usize,
    /// The number of nested definitions around the current value.
    pub(super) followed: usize,
    pub(super) options: &'r ValidationOptions,
    /// The whole unchanged input for `custom`. If it is `None`, neither
    /// `custom` nor `transform` runs.
    pub(super) root: Option<&'r Value>,
    /// True if the caller needs the resulting data, changed or not.
    pub(super) keep: bool,
    /// The chosen variants of unions.
    pub(super) choices: Option<Box<Choices>>,
    /// True if the last checked value is missing or has a wrong type.
    pub(super) is_over: bool,
    /// True if the walk counts steps, because the schema has alternatives.
    pub(super) limits_steps: bool,
    /// The remaining steps.
    pub(super) fuel: usize,
    /// True if no steps remain. This has already been reported.
    pub(super) is_exhausted: bool,
    pub(super) sink: S,
}

/// Settings of the node that refers to a definition.
#[derive(Clone, Copy)]
pub(super) struct Holder<'s> {
    pub(super) message: Option<&'s str>,
    /// The node that requires the value.
    pub(super) required: Option<&'s Node>,
}

impl Holder<'_> {
    /// No other node refers to this node.
    pub(super) const NONE: Self = Self { message: None, required: None };
}

impl<'s> Holder<'s> {
    /// Returns the message for a value. The message of the referring node takes
    /// precedence.
    pub(super) fn message(self, node: &'s Node) -> Option<&'s str> {
        self.message.or(node.message.as_deref())
    }
}

impl<'r, 's, S: Sink<'s>> Walk<'r, 's, S> {
    pub(super) fn of(
        compiled: &'s Compiled,
        options: &'r ValidationOptions,
        sink: S,
        root: Option<&'r Value>,
        keep: bool,
    ) -> Self {
        let limits_steps = compiled.needs.applicators;
        Self { limits_steps, ..Self::new(&compiled.definitions, options, sink, root, keep) }
    }

    pub(super) fn new(
        definitions: &'s [Definition],
        options: &'r ValidationOptions,
        sink: S,
        root: Option<&'r Value>,
        keep: bool,
    ) -> Self {
        pattern::begin();
        Self {
            definitions,
            levels: MAX_DEPTH,
            followed: 0,
            options,
            root,
            keep,
            choices: None,
            is_over: false,
            limits_steps: false,
            fuel: usize::MAX,
            is_exhausted: false,
            sink,
        }
    }

    pub(super) fn root<'d>(
        &mut self,
        node: &'s Node,
        field: Option<&str>,
        data: impl Data<'d>,
    ) -> Option<S::Change> {
        let path = match field {
            Some(name) => Path::Field { name, parent: &Path::Root },
            None => Path::Root,
        };
        // A quiet walk counts the levels as it visits them.
        if !S::IS_QUIET && data.exceeds(MAX_DEPTH) {
            self.sink.note(&path, None, Violation::Depth);
            return None;
        }
        if self.limits_steps {
            self.fuel = STEPS.saturating_add(data.size().saturating_mul(STEPS_PER_VALUE));
        }
        self.visit(node, data, || path)
    }

    /// Prepares and validates a value that is not reached through a reference.
    #[inline]
    pub(super) fn visit<'d, 'p>(
        &mut self,
        node: &'s Node,
        value: impl Data<'d>,
        path: impl FnOnce() -> Path<'p>,
    ) -> Option<S::Change> {
        if node.settles(value.kind()) {
            return None;
        }
        self.visit_unsettled(node, value, &path())
    }

    #[inline(never)]
    pub(super) fn visit_unsettled<'d>(
        &mut self,
        node: &'s Node,
        value: impl Data<'d>,
        path: &Path<'_>,
    ) -> Option<S::Change> {
        let kind = value.kind();
        let bit = match kind {
            Kind::Array(_) => kind::ARRAY,
            Kind::Object(_) => kind::OBJECT,
            _ => return self.prepared(node, value, path, Holder::NONE),
        };
        // Only functions change a container during preparation.
        if node.is_plain && node.literals.is_empty() && node.types.take(bit) {
            return self.content(node, value, path, Holder::NONE);
        }
        self.prepared(node, value, path, Holder::NONE)
    }

    /// Prepares and validates a value.
    #[inline(never)]
    pub(super) fn prepared<'d>(
        &mut self,
        node: &'s Node,
        value: impl Data<'d>,
        path: &Path<'_>,
        holder: Holder<'s>,
    ) -> Option<S::Change> {
        match self.prepare(node, value, path) {
            Ok(None) => self.validate(node, value, path, holder),
            Ok(Some(prepared)) => {
                let patch = self.apart(|walk| walk.validate(node, &prepared, path, holder));
                self.sink.change(|| {
                    Patch::Set(match patch {
                        Some(patch) => patch.into().apply(prepared),
                        None => prepared,
                    })
                })
            }
            Err(failure) => {
                self.sink.fail(failure);
                None
            }
        }
    }

    fn validate<'d>(
        &mut self,
        node: &'s Node,
        value: impl Data<'d>,
        path: &Path<'_>,
        holder: Holder<'s>,
    ) -> Option<S::Change> {
        let kind = value.kind();
        let message = holder.message(node);
        self.is_over = false;
        if node.never {
            self.sink.note(path, message, Violation::Rule("false", "Value is not allowed"));
            return None;
        }
        // The definition's preparation may have made the text empty.
        let is_held = holder.required.is_some_and(|holder| is_missing(holder, kind));
        let is_required = node.required && is_missing(node, kind);
        if is_held || is_required {
            let message = if is_required { message } else { holder.message };
            self.sink.note(path, message, Violation::Required);
            self.is_over = true;
            return None;
        }
        if node.nullable && matches!(kind, Kind::Null) {
            return None;
        }
        let sink = &mut self.sink;
        let no = |broken: Violation<'_>| sink.tell(path, message, broken);
        self.is_over = match kind {
            Kind::Text(text) => node.validate_text(text, no),
            Kind::Number(number) => node.validate_number(|| Num::of(number), no),
            _ => node.validate_other(value, no),
        }
        .is_break();
        if self.is_over {
            return None;
        }
        let mut change = self.content(node, value, path, holder);
        if let Some(inner) = &node.inner {
            change = self.inner(node, inner, value, path, holder);
            if self.is_over {
                return None;
            }
        }
        if let Some(applicators) = &node.applicators {
            change = self.apply(node, applicators, value, path, message, change);
        }
        if let (Some(custom), Some(root)) = (&node.custom, self.root)
            && !self.sink.is_done()
            && !matches!(kind, Kind::Null)
        {
            let change = change.map(Into::into);
            self.call(custom, root, &value.to_value(), path, message, change.as_ref());
            return change.and_then(|patch| self.sink.change(|| patch));
        }
        change
    }

    /// Validates the elements or members of a value.
    fn content<'d>(
        &mut self,
        node: &'s Node,
        value: impl Data<'d>,
        path: &Path<'_>,
        holder: Holder<'s>,
    ) -> Option<S::Change> {
        let change = match (value.kind(), node.array.as_deref(), node.object.as_deref()) {
            (Kind::Array(count), Some(rules), _) if self.enter(count, path) => {
                let change = self.array(rules, value, count, path, holder.message(node));
                self.levels += 1;
                change
            }
            (Kind::Object(count), _, Some(rules)) if self.enter(count, path) => {
                let change = self.object(node, rules, value, count, path, holder);
                self.levels += 1;
                change
            }
            _ if node.inner.is_none() => self.skip(value),
            _ => None,
        };
        self.is_over = false;
        change
    }

    /// Counts the level and steps of a container. Returns false if a limit is
    /// exceeded. If the walk collects errors, the nesting depth has already
    /// been checked.
    fn enter(&mut self, count: usize, path: &Path<'_>) -> bool {
        if self.limits_steps && !self.spend(count.saturating_add(1), path) {
            return false;
        }
        let is_left = self.levels > 0 || !S::IS_QUIET;
        self.levels = self.levels.saturating_sub(1);
        is_left
    }

    /// Counts steps for a schema with alternatives. If none remain, reports it
    /// once and returns false.
    pub(super) fn spend(&mut self, steps: usize, path: &Path<'_>) -> bool {
        self.fuel = self.fuel.saturating_sub(steps);
        if self.fuel == 0 {
            self.exhaust(path);
        }
        self.fuel > 0
    }

    /// Reports once that no steps remain.
    pub(super) fn exhaust(&mut self, path: &Path<'_>) {
        self.fuel = 0;
        if !std::mem::replace(&mut self.is_exhausted, true) {
            self.sink.note(path, None, Violation::SchemaLimit);
        }
    }

    /// Skips a value without rules.
    #[inline]
    pub(super) fn skip<'d>(&mut self, value: impl Data<'d>) -> Option<S::Change> {
        if S::IS_QUIET && value.exceeds(self.levels) {
            self.sink.note(&Path::Root, None, Violation::Depth);
        }
        None
    }

    fn call(
        &mut self,
        custom: &Custom,
        root: &Value,
        value: &Value,
        path: &Path<'_>,
        message: Option<&str>,
        patch: Option<&Patch<'s>>,
    ) {
        let field = path.to_string();
        let verdict = match patch {
            None => custom.call(value, &field, root),
            Some(patch) => custom.call(&patch.preview(value), &field, root),
        };
        match verdict {
            Ok(Verdict::Valid) => {}
            Ok(Verdict::Invalid) => {
                let usual =
                    || ErrorText::new("custom", format!("{} is invalid", short_name(&field)));
                let own = |message: &str| ErrorText::of_message(message.to_owned());
                self.sink.note_custom(path, message.map_or_else(usual, own));
            }
            Ok(Verdict::Because(message)) => {
                self.sink.note_custom(path, ErrorText::of_message(message));
            }
            Ok(Verdict::Text(text)) => self.sink.note_custom(path, text),
            Err(failure) => self.sink.fail(failure),
        }
    }
}

/// Step limit for a schema with alternatives. A step is an element or member
/// visited, or an alternative tried, and needs at most 100 ns.
const STEPS: usize = 200_000;

/// Additional steps for each value of the data.
const STEPS_PER_VALUE: usize = 256;

/// Returns true for empty text, and for null unless the type explicitly allows
/// it.
fn is_missing(node: &Node, value: Kind<'_>) -> bool {
    match value {
        Kind::Null => node.null_is_missing(),
        Kind::Text(text) => text.is_empty(),
        _ => false,
    }
}
