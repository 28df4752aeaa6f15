//! Hot: checks the rules of a value in order. The walk over data
//! ([`check`](crate::check)), with and without messages, and the reader of text
//! ([`read`](crate::read)) share these functions.
//!
//! Each function calls `no` with every broken rule; the result decides whether
//! to continue. The function returns `Break` if `no` did, and also after a
//! wrong type or a missing value, because nothing else is checked then. With
//! `|_| Break` it returns only yes or no and does not build messages.

use std::ops::ControlFlow::{self, Break, Continue};

use serde_json::Number;

use super::violation::Violation;
use super::{ArrayRules, Definition, Inner, Node, ObjectRules, kind};
use crate::data::{Data, Kind};
use crate::number::Num;
use crate::pattern::trim;

impl Node {
    /// Checks a text that is already trimmed.
    #[inline]
    pub(crate) fn validate_text(
        &self,
        text: &str,
        mut no: impl FnMut(Violation<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if self.required && text.is_empty() {
            no(Violation::Required)?;
            return Break(());
        }
        if !self.types.take(kind::STRING) {
            self.validate_form(text, &mut no)?;
        }
        for literals in &self.literals {
            if !literals.has_text(text) {
                no(literals.broken())?;
            }
        }
        let Some(rules) = &self.text else {
            return Continue(());
        };
        rules.validate(text, no)
    }

    /// Returns true if a text matches the type and its constants.
    pub(crate) fn fits_text(&self, text: &str) -> bool {
        let is_of_type =
            self.types.take(kind::STRING) || self.types.formats.iter().any(|form| form.check(text));
        is_of_type
            && self.literals.iter().all(|listed| listed.has_text(text))
            && self.text.as_deref().is_none_or(|it| it.validate(text, |_| Break(())).is_continue())
    }

    /// Checks a text against the allowed formats, if any.
    fn validate_form(
        &self,
        text: &str,
        mut no: impl FnMut(Violation<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if self.types.formats.iter().any(|form| form.check(text)) {
            return Continue(());
        }
        // A wrong format is not a type error, so the other checks continue.
        match self.types.only_format() {
            Some(form) => no(Violation::Rule(form.name(), form.message())),
            None => self.wrong_type("string", no),
        }
    }

    /// Checks a number.
    #[inline]
    pub(crate) fn validate_number(
        &self,
        num: impl FnOnce() -> Num,
        mut no: impl FnMut(Violation<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let takes_all = self.types.take(kind::NUMBER);
        if takes_all && self.literals.is_empty() && self.number.is_empty() {
            return Continue(());
        }
        let num = num();
        if !(takes_all || self.types.has(kind::INTEGER) && num.is_whole()) {
            return self.wrong_type("number", no);
        }
        for literals in &self.literals {
            if !literals.has_number(num) {
                no(literals.broken())?;
            }
        }
        self.number.validate(num, no)
    }

    /// Checks the kind of a value that is neither text nor a number, and
    /// compares it with the listed values.
    pub(crate) fn validate_other<'d>(
        &self,
        value: impl Data<'d>,
        mut no: impl FnMut(Violation<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let kind = value.kind();
        let bit = match kind {
            Kind::Null => kind::NULL,
            Kind::Bool(_) => kind::BOOLEAN,
            Kind::Number(_) => kind::NUMBER,
            Kind::Text(_) => kind::STRING,
            Kind::Array(_) => kind::ARRAY,
            Kind::Object(_) => kind::OBJECT,
        };
        if !self.types.take(bit) {
            return self.wrong_type(kind.name(), no);
        }
        for literals in &self.literals {
            if !literals.has(value) {
                no(literals.broken())?;
            }
        }
        Continue(())
    }

    #[cold]
    fn wrong_type(
        &self,
        got: &'static str,
        mut no: impl FnMut(Violation<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        no(Violation::Type { expected: &self.types.expected, got })?;
        Break(())
    }

    /// Returns true for most scalars that are valid and need no change. Never
    /// returns true for other values.
    #[inline]
    pub(crate) fn settles(&self, scalar: Kind<'_>) -> bool {
        match scalar {
            Kind::Text(text) => self.settles_text(text),
            Kind::Number(number) => self.settles_number(number),
            Kind::Bool(flag) => self.is_plain && self.accepts_bool(flag),
            Kind::Null => self.is_plain && self.accepts_null,
            Kind::Array(_) | Kind::Object(_) => false,
        }
    }

    /// Returns true if a text is certainly valid. Always returns false for a
    /// node with a pattern. A pattern search uses steps that the texts of a
    /// validation share, so it must see each text exactly once.
    #[inline(never)]
    fn settles_text(&self, text: &str) -> bool {
        self.settles_texts
            && (!self.trim || trim(text).len() == text.len())
            && self.validate_text(text, |_| Break(())).is_continue()
    }

    #[inline(never)]
    fn settles_number(&self, number: &Number) -> bool {
        self.is_plain
            && !(self.types.want_whole() && number.is_f64())
            && self.validate_number(|| Num::of(number), |_| Break(())).is_continue()
    }

    #[inline]
    pub(crate) fn accepts_bool(&self, flag: bool) -> bool {
        if flag { self.takes_true } else { self.takes_false }
    }
}

/// A node for readers, which check each value while they read it. References
/// are resolved, and every check returns yes or no.
///
/// For schemas without a [`second_look`](super::Needs).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Validator<'s> {
    /// `None` accepts any value.
    node: Option<&'s Node>,
    /// True if a node that refers to `node` requires the value.
    is_required: bool,
    /// True if a node that refers to `node` allows null.
    is_nullable: bool,
}

/// The rules for values of one kind.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Accept<R> {
    /// Every value is valid.
    All,
    If(R),
    /// No value is valid.
    None,
}

impl<'s> Validator<'s> {
    /// Accepts any value.
    pub(crate) const ANY: Self = Self { node: None, is_required: false, is_nullable: false };

    /// Creates a validator for `node`.
    #[inline]
    pub(crate) fn of(node: &'s Node, definitions: &'s [Definition]) -> Self {
        let validator = Self { node: Some(node), is_required: false, is_nullable: false };
        if node.inner.is_some() { validator.follow(definitions) } else { validator }
    }

    fn follow(mut self, definitions: &'s [Definition]) -> Self {
        while let Some(node) = self.node
            && let Some(Inner::Definition(place)) = node.inner.as_deref()
        {
            // The same node may both require a value and allow null.
            self.is_nullable |= node.nullable && !self.is_required;
            self.is_required |= node.required;
            self.node = definitions.get(*place).map(|definition| &definition.node);
        }
        self
    }

    /// Checks a text and returns it, trimmed if the schema requires it. Returns
    /// `None` if the text breaks a rule.
    pub(crate) fn text<'t>(&self, text: &'t str) -> Option<&'t str> {
        let Some(node) = self.node else {
            return Some(text);
        };
        let text = if node.trim { trim(text) } else { text };
        let is_missing = self.is_required && text.is_empty();
        let is_right =
            !is_missing && !node.never && node.validate_text(text, |_| Break(())).is_continue();
        is_right.then_some(text)
    }

    /// Returns true if a whole number is valid. The precomputed range decides
    /// most of them and saves 100 instructions each.
    #[inline]
    pub(crate) fn accepts_unsigned(&self, whole: u64) -> bool {
        let known = self.node.and_then(|node| node.wholes);
        known.is_some_and(|(low, high)| low <= whole && whole <= high)
            || self.accepts_whole(whole.into())
    }

    #[inline]
    pub(crate) fn accepts_whole(&self, whole: i128) -> bool {
        self.accepts_number(|| Num::Whole(whole))
    }

    #[inline]
    pub(crate) fn accepts_number(&self, num: impl FnOnce() -> Num) -> bool {
        self.node.is_none_or(|node| {
            !node.never && node.validate_number(num, |_| Break(())).is_continue()
        })
    }

    /// Returns true if a whole float is converted to an integer.
    #[inline]
    pub(crate) fn wants_whole(&self) -> bool {
        self.node.is_some_and(|node| node.types.want_whole())
    }

    #[inline]
    pub(crate) fn accepts_bool(&self, flag: bool) -> bool {
        self.node.is_none_or(|node| node.accepts_bool(flag))
    }

    #[inline]
    pub(crate) fn accepts_null(&self) -> bool {
        let accepts_null = self.node.is_none_or(|node| node.accepts_null);
        self.is_nullable || accepts_null && !self.is_required
    }

    /// Returns the rules for arrays.
    #[inline]
    pub(crate) fn array(&self) -> Accept<&'s ArrayRules> {
        self.container(kind::ARRAY, |node| node.array.as_deref())
    }

    /// Returns the rules for objects.
    #[inline]
    pub(crate) fn object(&self) -> Accept<&'s ObjectRules> {
        self.container(kind::OBJECT, |node| node.object.as_deref())
    }

    #[inline]
    fn container<R>(
        &self,
        kind: u8,
        rules: impl FnOnce(&'s Node) -> Option<&'s R>,
    ) -> Accept<&'s R> {
        let Some(node) = self.node else {
            return Accept::All;
        };
        // No literal is a container.
        if node.never || !node.types.take(kind) || !node.literals.is_empty() {
            return Accept::None;
        }
        rules(node).map_or(Accept::All, Accept::If)
    }
}
