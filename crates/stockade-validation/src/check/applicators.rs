//! Alternatives, conditions and rules for parts of a value.
//!
//! They check the value after the enclosing rule has trimmed and converted it.
//! They never change it.

use std::ops::ControlFlow::{self, Break, Continue};

use serde_json::Value;
use stockade_errors::FieldError;

use super::closest::Candidate;
use super::patch::{ObjectPatch, Patch};
use super::path::Path;
use super::sink::{Collecting, Quiet, Sink};
use super::walk::Walk;
use crate::data::{Data, Kind};
use crate::node::{
    AdditionalRule, Applicators, Condition, Contains, Dependency, Node, ObjectRules, SEVERAL,
    Violation,
};
use crate::options::ValidationOptions;
use crate::pattern::Search;

/// The options inside alternatives. Nothing is converted or removed, and only
/// the schema decides which keys are unknown. At most 64 errors are collected.
static PLAIN: ValidationOptions = ValidationOptions { max_errors: 64, ..ValidationOptions::new() };

/// `Break` means that the result is unknown. The reason has already been
/// reported.
type Known<T> = ControlFlow<(), T>;

impl<'s, S: Sink<'s>> Walk<'_, 's, S> {
    /// Checks a value with the applicators of its node. `change` contains the
    /// changes so far.
    #[inline(never)]
    pub(super) fn apply<'d>(
        &mut self,
        node: &'s Node,
        applicators: &'s Applicators,
        value: impl Data<'d>,
        path: &Path<'_>,
        message: Option<&str>,
        change: Option<S::Change>,
    ) -> Option<S::Change> {
        let change: Option<Patch<'s>> = change.map(Into::into);
        let outcome = match &change {
            None => self.apply_all(node, applicators, value, path, message),
            Some(patch) => {
                let changed = patch.preview_with_all_keys(&value.to_value());
                // The address of the changed value may be reused.
                self.apart(|walk| walk.apply_all(node, applicators, &changed, path, message))
            }
        };
        self.is_over = false;
        let change = match outcome {
            Continue(()) => self.unknown_keys(node, applicators, value, path, change),
            Break(()) => change,
        };
        change.and_then(|patch| self.sink.change(|| patch))
    }

    fn apply_all<'d>(
        &mut self,
        node: &'s Node,
        applicators: &'s Applicators,
        value: impl Data<'d>,
        path: &Path<'_>,
        message: Option<&str>,
    ) -> Known<()> {
        let (kind, errors) = (value.kind(), self.sink.count());
        if let Kind::Array(count) = kind
            && let Some(contains) = &applicators.contains
        {
            self.contains(contains, value, count, path, message)?;
        }
        if let Kind::Object(_) = kind {
            self.members(node, applicators, value, path, message)?;
        }
        for branch in &applicators.all_of {
            self.check_same(branch, value, path)?;
        }
        if !applicators.any_of.is_empty() {
            self.any_of(&applicators.any_of, value, path, message)?;
        }
        if !applicators.one_of.is_empty() {
            self.one_of(&applicators.one_of, value, path, message)?;
        }
        if let Some(not) = &applicators.not
            && self.follows(not, value, path)?
        {
            self.note(path, message, Violation::Rule("not", "Value is not allowed"))?;
        }
        if let Some(Condition { condition, then, otherwise }) = applicators.condition.as_deref() {
            let next = if self.follows(condition, value, path)? { then } else { otherwise };
            if let Some(next) = next {
                self.check_same(next, value, path)?;
            }
        }
        if let Kind::Object(_) = kind {
            for (name, branch) in &applicators.dependent_schemas {
                if value.member(name).is_some() {
                    self.check_same(branch, value, path)?;
                }
            }
        }
        // If a value matches no alternative, every key would be reported as
        // unknown.
        if self.sink.count() > errors {
            return Break(());
        }
        self.unevaluated(node, applicators, value, path)
    }

    /// Reports a violation. Returns `Break` if the walk is over.
    fn note(&mut self, path: &Path<'_>, message: Option<&str>, broken: Violation<'_>) -> Known<()> {
        self.sink.tell(path, message, broken)
    }

    /// Checks the same value with another rule and reports its errors.
    fn check_same<'d>(
        &mut self,
        node: &'s Node,
        value: impl Data<'d>,
        path: &Path<'_>,
    ) -> Known<()> {
        let (keep, is_kept) = (self.keep, self.sink.set_keep(false));
        let options = std::mem::replace(&mut self.options, &PLAIN);
        self.keep = false;
        let _change = self.visit_unsettled(node, value, path);
        (self.options, self.keep) = (options, keep);
        self.sink.set_keep(is_kept);
        self.is_over = false;
        if self.sink.is_done() || self.is_exhausted { Break(()) } else { Continue(()) }
    }

    /// Returns true if the value matches the rule.
    pub(super) fn follows<'d>(
        &mut self,
        node: &'s Node,
        value: impl Data<'d>,
        path: &Path<'_>,
    ) -> Known<bool> {
        if !self.spend(1, path) {
            return Break(());
        }
        let mut walk = self.inside(Quiet::new(false));
        walk.visit_unsettled(node, value, path);
        let Walk { fuel, is_exhausted, mut sink, .. } = walk;
        (self.fuel, self.is_exhausted) = (fuel, is_exhausted);
        if sink.needs_changes {
            return self.follows_changed(node, value, path);
        }
        match sink.finish() {
            Ok(follows) => Continue(follows),
            Err(Some(failure)) => {
                self.sink.fail(*failure);
                Break(())
            }
            Err(None) => {
                self.is_exhausted = true;
                self.sink.note(path, None, sink.undecided.unwrap_or(Violation::SchemaLimit));
                Break(())
            }
        }
    }

    /// Returns true if the value follows the rule. The rule contains a union, and the changes of
    /// the value decide its variant.
    #[inline(never)]
    fn follows_changed<'d>(
        &mut self,
        node: &'s Node,
        value: impl Data<'d>,
        path: &Path<'_>,
    ) -> Known<bool> {
        let mut walk = self.inside(Collecting::new(&PLAIN));
        walk.visit_unsettled(node, value, path);
        let Walk { fuel, is_exhausted, sink, .. } = walk;
        (self.fuel, self.is_exhausted) = (fuel, is_exhausted);
        match sink.finish() {
            Ok(errors) => {
                let open = errors.iter().find_map(|error| Violation::undecided_by(&error.rule));
                if let Some(broken) = open {
                    self.is_exhausted = true;
                    self.sink.note(path, None, broken);
                    return Break(());
                }
                Continue(errors.is_empty())
            }
            Err(failure) => {
                self.sink.fail(failure);
                Break(())
            }
        }
    }

    /// Begins a walk for a check that does not change the value.
    fn inside<'w, I: Sink<'s>>(&'w self, sink: I) -> Walk<'w, 's, I> {
        Walk {
            definitions: self.definitions,
            levels: self.levels,
            followed: self.followed,
            options: &PLAIN,
            root: self.root,
            keep: false,
            choices: None,
            is_over: false,
            limits_steps: self.limits_steps,
            fuel: self.fuel,
            is_exhausted: self.is_exhausted,
            sink,
        }
    }

    #[inline(never)]
    fn any_of<'d>(
        &mut self,
        branches: &'s [Node],
        value: impl Data<'d>,
        path: &Path<'_>,
        message: Option<&str>,
    ) -> Known<()> {
        for branch in branches {
            if self.follows(branch, value, path)? {
                return Continue(());
            }
        }
        self.none_of("anyOf", branches, value, path, message)
    }

    #[inline(never)]
    fn one_of<'d>(
        &mut self,
        branches: &'s [Node],
        value: impl Data<'d>,
        path: &Path<'_>,
        message: Option<&str>,
    ) -> Known<()> {
        let mut is_found = false;
        for branch in branches {
            if self.follows(branch, value, path)? && std::mem::replace(&mut is_found, true) {
                return self.note(path, message, Violation::Rule("oneOf", SEVERAL));
            }
        }
        if is_found { Continue(()) } else { self.none_of("oneOf", branches, value, path, message) }
    }

    /// Reports that a value matches none of the alternatives, using the first
    /// error of the closest one.
    #[inline(never)]
    fn none_of<'d>(
        &mut self,
        rule: &'static str,
        branches: &'s [Node],
        value: impl Data<'d>,
        path: &Path<'_>,
        message: Option<&str>,
    ) -> Known<()> {
        let none = Violation::Rule(rule, "Value matches none of the alternatives");
        if S::IS_QUIET || message.is_some() {
            return self.note(path, message, none);
        }
        let mut best: Option<(Candidate<'_>, FieldError)> = None;
        let mut wrong_types = Vec::new();
        for branch in branches {
            let mut walk = self.inside(Collecting::new(&PLAIN));
            walk.visit_unsettled(branch, value, path);
            let Walk { fuel, is_exhausted, sink, .. } = walk;
            (self.fuel, self.is_exhausted) = (fuel, is_exhausted);
            let errors = match sink.finish() {
                Ok(errors) => errors,
                Err(failure) => {
                    self.sink.fail(failure);
                    return Break(());
                }
            };
            let candidate = Candidate::of(branch, self.definitions, value, errors.len());
            if let Some(expected) = candidate.wrong_type {
                wrong_types.push(expected);
            }
            let Some(first) = errors.into_iter().next() else { continue };
            if best.as_ref().is_none_or(|(known, _)| candidate.is_closer_than(known)) {
                best = Some((candidate, first));
            }
        }
        match best {
            None => self.note(path, None, none),
            Some(_) if wrong_types.len() == branches.len() => {
                let mut names: Vec<&str> = Vec::new();
                for name in wrong_types.iter().flat_map(|names| names.split(" or ")) {
                    if !names.contains(&name) {
                        names.push(name);
                    }
                }
                let (expected, got) = (names.join(" or "), value.kind().name());
                self.note(path, None, Violation::Type { expected: &expected, got })
            }
            Some((_, error)) => {
                self.sink.note_error(error);
                if self.sink.is_done() { Break(()) } else { Continue(()) }
            }
        }
    }

    #[inline(never)]
    fn contains<'d>(
        &mut self,
        contains: &'s Contains,
        value: impl Data<'d>,
        count: usize,
        path: &Path<'_>,
        message: Option<&str>,
    ) -> Known<()> {
        let Contains { node, least, most, too_few, too_many } = contains;
        // Further elements cannot change the result.
        let enough = if *most == usize::MAX { *least } else { most.saturating_add(1) };
        let mut found = 0;
        for (index, item) in value.items().enumerate() {
            if found >= enough || count < *least {
                break;
            }
            if self.follows(node, item, &Path::Item { index, parent: path })? {
                found += 1;
            }
        }
        if found < *least {
            let rule = if *least == 1 { "contains" } else { "minContains" };
            let broken = Violation::Contained { rule, limit: *least, message: too_few };
            self.note(path, message, broken)?;
        }
        if found > *most {
            let broken =
                Violation::Contained { rule: "maxContains", limit: *most, message: too_many };
            self.note(path, message, broken)?;
        }
        Continue(())
    }

    /// Checks the keys of an object and their pattern rules.
    #[inline(never)]
    fn members<'d>(
        &mut self,
        node: &'s Node,
        applicators: &'s Applicators,
        value: impl Data<'d>,
        parent: &Path<'_>,
        message: Option<&str>,
    ) -> Known<()> {
        for Dependency { name: other, required } in &applicators.dependent_required {
            if value.member(other).is_none() {
                continue;
            }
            for (name, missing) in required {
                if value.member(name).is_none() {
                    let path = Path::Field { name, parent };
                    let broken = Violation::Dependent { other, message: missing };
                    self.note(&path, message, broken)?;
                }
            }
        }
        if let Some(keys) = &applicators.keys {
            for (name, _) in value.members() {
                let path = Path::Field { name, parent };
                if !self.follows(keys, &Value::from(name), &path)? {
                    let broken = Violation::Rule("propertyNames", "Invalid field name");
                    self.note(&path, message, broken)?;
                }
            }
        }
        match node.object.as_deref() {
            Some(rules) if applicators.has_patterns => self.patterns(rules, value, parent),
            _ => Continue(()),
        }
    }

    /// Checks the members with all matching patterns except the first, which
    /// the object check has already used.
    fn patterns<'d>(
        &mut self,
        rules: &'s ObjectRules,
        value: impl Data<'d>,
        parent: &Path<'_>,
    ) -> Known<()> {
        for (index, (name, member)) in value.members().enumerate() {
            let mut is_checked = rules.find_listed(name, index).is_none();
            for property in &rules.patterns {
                let path = Path::Field { name, parent };
                match property.pattern.search(name) {
                    Search::Nothing => {}
                    Search::GaveUp => self.note(&path, None, Violation::PatternLimit)?,
                    Search::Found if std::mem::replace(&mut is_checked, false) => {}
                    Search::Found => self.check_same(&property.node, member, &path)?,
                }
            }
        }
        Continue(())
    }

    /// Checks the parts of the value that no other keyword describes.
    #[inline(never)]
    fn unevaluated<'d>(
        &mut self,
        node: &'s Node,
        applicators: &'s Applicators,
        value: impl Data<'d>,
        path: &Path<'_>,
    ) -> Known<()> {
        match (value.kind(), &applicators.unevaluated_items, &applicators.unevaluated_properties) {
            (Kind::Array(count), Some(rule), _) => {
                let mut seen = vec![false; count];
                self.evaluate(node, false, value, path, &mut seen)?;
                for ((index, item), _) in value.items().enumerate().zip(seen).filter(|it| !it.1) {
                    let path = Path::Item { index, parent: path };
                    if rule.never {
                        let broken = Violation::Rule("unevaluatedItems", "Item is not allowed");
                        self.note(&path, None, broken)?;
                    } else {
                        self.check_same(rule, item, &path)?;
                    }
                }
            }
            (Kind::Object(count), _, Some(rule)) => {
                if rule.never && self.options.allow_unknown == Some(true) {
                    return Continue(());
                }
                let mut seen = vec![false; count];
                self.evaluate(node, false, value, path, &mut seen)?;
                for ((name, member), _) in value.members().zip(seen).filter(|it| !it.1) {
                    let path = Path::Field { name, parent: path };
                    if rule.never {
                        self.note(&path, None, Violation::Unevaluated(name))?;
                    } else {
                        self.check_same(rule, member, &path)?;
                    }
                }
            }
            _ => {}
        }
        Continue(())
    }

    /// Rejects or removes unknown keys according to the options, if
    /// alternatives can list additional keys.
    #[inline(never)]
    fn unknown_keys<'d>(
        &mut self,
        node: &'s Node,
        applicators: &'s Applicators,
        value: impl Data<'d>,
        parent: &Path<'_>,
        change: Option<Patch<'s>>,
    ) -> Option<Patch<'s>> {
        let rules = node.object.as_deref();
        let is_said = rules.is_some_and(|it| !matches!(it.additional, AdditionalRule::Elsewhere));
        let strips = self.options.strip_unknown && rules.is_some_and(|it| it.lists_properties);
        let Kind::Object(count) = value.kind() else { return change };
        let asks = strips || self.options.allow_unknown == Some(false);
        if !asks || is_said || !applicators.lists_keys() || self.sink.is_done() {
            return change;
        }
        let mut seen = vec![false; count];
        if self.evaluate(node, true, value, parent, &mut seen).is_break() {
            return change;
        }
        let mut removed = Vec::new();
        let mut unlisted = 0;
        for ((index, (name, _)), is_known) in value.members().enumerate().zip(seen) {
            let is_listed = rules.is_some_and(|it| it.find_listed(name, index).is_some());
            let place = unlisted;
            unlisted += usize::from(!is_listed);
            if is_known {
                continue;
            }
            if strips {
                removed.push(place);
            } else {
                let path = Path::Field { name, parent };
                self.sink.note(&path, None, Violation::Unknown(name));
            }
        }
        let (Some(rules), false) = (rules, removed.is_empty()) else { return change };
        if !self.keep || !self.sink.takes_change() {
            return change;
        }
        let mut patch = match change {
            Some(Patch::Object(patch)) => patch,
            None => Box::new(ObjectPatch::new(rules)),
            other => return other,
        };
        removed.into_iter().for_each(|place| patch.strip.add(place));
        Some(Patch::Object(patch))
    }
}
