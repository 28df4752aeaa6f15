//! Hot: validates values on their way into a type.
//!
//! This is the only place where reading uses the nodes of the schema, through
//! [`Validator`].
//!
//! A type may continue after an error with a default value, or not look at a
//! value at all. Values are therefore counted: reading returns no result unless
//! all of its values are valid.

use serde_json::Value;

use super::source::{Frame, Wide};
use super::type_error::TypeError;
use crate::node::{Accept, ArrayRules, Compiled, Definition, Member, Node, ObjectState, Validator};
use crate::number::{Num, may_be_exact};
use crate::options::ValidationOptions;
use stockade_json::{Number, Refused, is_private};

/// Validates the values of one read.
pub(super) struct Validating<'p> {
    /// The validator of the next value.
    validator: Validator<'p>,
    definitions: &'p [Definition],
    options: &'p ValidationOptions,
    /// The number of values that were begun but are not yet valid.
    open: usize,
}

impl<'p> Validating<'p> {
    /// Creates a validator for a schema that needs no second look. The whole is
    /// the first value.
    pub(super) fn by(compiled: &'p Compiled, options: &'p ValidationOptions) -> Self {
        let Compiled { root, definitions, .. } = compiled;
        Self { validator: Validator::of(root, definitions), definitions, options, open: 1 }
    }

    /// Accepts every value.
    #[cfg(test)]
    pub(super) fn of_any(options: &'p ValidationOptions) -> Self {
        Self { validator: Validator::ANY, definitions: &[], options, open: 1 }
    }

    /// Returns true if numbers in texts must be written as in JSON.
    #[inline]
    pub(super) fn strict_numbers(&self) -> bool {
        self.options.strict_numbers
    }

    /// Advances to another value.
    #[inline]
    fn begin(&mut self, validator: Validator<'p>) {
        self.validator = validator;
        self.open = self.open.wrapping_add(1);
    }

    /// Advances to a value that this node validates.
    #[inline]
    fn begin_by(&mut self, node: &'p Node) {
        self.begin(Validator::of(node, self.definitions));
    }

    /// Records that a value matches the schema.
    #[inline]
    pub(super) fn fulfil(&mut self) {
        self.open = self.open.wrapping_sub(1);
    }

    /// Gives up the fast path. Another path may still produce a value.
    #[cold]
    pub(super) fn give_up(&mut self) -> Refused {
        self.open = self.open.wrapping_add(1);
        Refused::Data
    }

    /// Returns the error of a value within an array or object.
    ///
    /// The type may continue after it. An error in a default would be lost,
    /// because a default is not part of the source, so the read then gives up.
    pub(super) fn after(&mut self, frame: &Frame<'_>, error: TypeError) -> TypeError {
        if frame.default().is_some() { self.give_up().into() } else { error }
    }

    /// Returns true if all values are valid.
    pub(super) fn is_fulfilled(&self) -> bool {
        self.open == 0
    }

    #[inline]
    fn fulfil_if(&mut self, takes: bool) -> Result<(), Refused> {
        if !takes {
            return Err(self.give_up());
        }
        self.fulfil();
        Ok(())
    }

    /// Validates a text and returns it, trimmed if the schema requires it.
    #[inline]
    pub(super) fn text<'t>(&mut self, text: &'t str) -> Result<&'t str, Refused> {
        match self.validator.text(text) {
            Some(text) => {
                self.fulfil();
                Ok(text)
            }
            None => Err(self.give_up()),
        }
    }

    #[inline]
    pub(super) fn boolean(&mut self, flag: bool) -> Result<bool, Refused> {
        self.fulfil_if(self.validator.accepts_bool(flag)).map(|()| flag)
    }

    #[inline]
    pub(super) fn null(&mut self) -> Result<(), Refused> {
        self.fulfil_if(self.validator.accepts_null())
    }

    /// Validates a number and returns it. A whole float may become an integer.
    #[inline]
    pub(super) fn number(&mut self, number: Number) -> Result<Number, Refused> {
        let takes = match number {
            Number::Whole(whole) => self.validator.accepts_unsigned(whole),
            Number::Negative(whole) => self.validator.accepts_whole(whole.into()),
            Number::Float(float) => return self.float(float),
        };
        self.fulfil_if(takes).map(|()| number)
    }

    /// Validates an integer of up to 128 bits and returns it.
    pub(super) fn wide(&mut self, wide: Wide) -> Result<Wide, Refused> {
        let whole = match wide {
            Wide::Number(number) => return self.number(number).map(Wide::Number),
            Wide::Signed(whole) => Some(whole),
            Wide::Unsigned(whole) => i128::try_from(whole).ok(),
        };
        // A node cannot hold a number beyond 128 bits.
        self.fulfil_if(whole.is_some_and(|whole| self.validator.accepts_whole(whole)))?;
        Ok(wide)
    }

    fn float(&mut self, float: f64) -> Result<Number, Refused> {
        self.fulfil_if(
            float.is_finite() && self.validator.accepts_number(|| Num::of_float(float)),
        )?;
        if self.validator.wants_whole()
            && may_be_exact(float)
            && let Num::Whole(whole) = Num::of_float(float)
        {
            if let Ok(whole) = u64::try_from(whole) {
                return Ok(Number::Whole(whole));
            }
            if let Ok(whole) = i64::try_from(whole) {
                return Ok(Number::Negative(whole));
            }
        }
        Ok(Number::Float(float))
    }

    /// Begins an array.
    #[inline]
    pub(super) fn array(&mut self) -> Result<Elements<'p>, Refused> {
        let rules = match self.validator.array() {
            Accept::All => None,
            Accept::If(rules) if !rules.needs_whole => Some(rules),
            Accept::If(_) | Accept::None => return Err(self.give_up()),
        };
        let most = rules.map_or(usize::MAX, |rules| rules.counts.most);
        Ok(Elements { rules, count: 0, most, ended: false })
    }

    /// Begins an object; `named` is true if the order of its members does not
    /// matter.
    #[inline]
    pub(super) fn object(&mut self, named: bool) -> Result<Members<'p>, Refused> {
        let rules = match self.validator.object() {
            Accept::All => None,
            Accept::If(rules) => Some(rules),
            Accept::None => return Err(self.give_up()),
        };
        Ok(Members {
            state: rules.map(ObjectState::new),
            named,
            is_empty: true,
            whole: false,
            ended: false,
            default: None,
        })
    }
}

/// The elements of an array. Each is validated, followed by their count.
#[derive(Debug)]
pub(crate) struct Elements<'p> {
    rules: Option<&'p ArrayRules>,
    count: usize,
    /// The maximum length that the rules accept.
    most: usize,
    ended: bool,
}

impl<'p> Elements<'p> {
    /// Returns true if no element was begun.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(super) fn is_ended(&self) -> bool {
        self.ended
    }

    /// Begins an element.
    #[inline]
    pub(super) fn next(&mut self, validating: &mut Validating<'p>) -> Result<(), Refused> {
        // Checked at once, because an element may need a hundred times the
        // memory of its text.
        if self.count >= self.most {
            return Err(validating.give_up());
        }
        match self.rules.and_then(|rules| rules.at(self.count)) {
            Some(node) => validating.begin_by(node),
            None => validating.begin(Validator::ANY),
        }
        self.count += 1;
        Ok(())
    }

    /// Validates the array as a whole, after its last element.
    #[inline]
    pub(super) fn end(&mut self, validating: &mut Validating<'p>) -> Result<(), Refused> {
        self.ended = true;
        if self.rules.is_some_and(|rules| !rules.counts.takes(self.count)) {
            return Err(validating.give_up());
        }
        Ok(())
    }
}

/// The members of an object. Each is validated by its name, followed by the
/// required names, the counts and the defaults of absent members.
#[derive(Debug)]
pub(crate) struct Members<'p> {
    /// The state of the rules; `None` if any member is valid.
    state: Option<ObjectState<'p>>,
    /// True if the order of the members does not matter for the type.
    named: bool,
    /// True until the first name.
    is_empty: bool,
    /// True if all members of the data are validated and only defaults remain.
    whole: bool,
    ended: bool,
    /// The default of the last name, if the data has no such member.
    pub(super) default: Option<&'p Value>,
}

impl<'p> Members<'p> {
    /// Returns true if no name has been read.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// Returns true if all names in the data were validated.
    #[inline]
    pub(super) fn is_whole(&self) -> bool {
        self.whole
    }

    pub(super) fn is_ended(&self) -> bool {
        self.ended
    }

    /// Begins the member with this name. Returns false if the type must not see
    /// the member.
    #[inline]
    pub(super) fn next(
        &mut self,
        name: &str,
        validating: &mut Validating<'p>,
    ) -> Result<bool, Refused> {
        if is_private(name) {
            return Err(validating.give_up());
        }
        self.is_empty = false;
        let member = self
            .state
            .as_mut()
            .map_or(Member::Keep, |state| state.member(name, validating.options));
        match member {
            Member::Listed(_, node) | Member::Validator(node) => validating.begin_by(node),
            Member::Keep => validating.begin(Validator::ANY),
            Member::Refuse => return Err(validating.give_up()),
            Member::Strip => {
                validating.begin(Validator::ANY);
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Validates the object as a whole, after its last member.
    pub(super) fn end(&mut self, validating: &mut Validating<'p>) -> Result<(), Refused> {
        self.whole = true;
        let is_right =
            |state: &ObjectState<'_>| state.is_fulfilled() && (self.named || !state.is_mixed);
        if self.state.as_ref().is_none_or(is_right) { Ok(()) } else { Err(validating.give_up()) }
    }

    /// Returns the name of the next default for an absent member, after all
    /// members of the data.
    #[inline]
    pub(super) fn next_default(
        &mut self,
        validating: &mut Validating<'p>,
    ) -> Result<Option<&'p str>, Refused> {
        let Some(property) = self.state.as_mut().and_then(ObjectState::next_default) else {
            self.ended = true;
            return Ok(None);
        };
        // A default cannot be the last member if the order matters.
        self.default = property.node.plain_default().filter(|_| self.named);
        if self.default.is_none() {
            return Err(validating.give_up());
        }
        Ok(Some(&property.name))
    }
}
