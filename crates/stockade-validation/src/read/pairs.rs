//! [`Pairs`]: the text pairs of a path, a query or a form, validated while a
//! type is read from them.
//!
//! All values are text here, so the expected type decides: `"7"` is a number
//! for a `u32`, and `"true"` is a boolean for a `bool`. A repeated name is a
//! list. As in [`JsonText`](super::json::JsonText), errors have no messages.

use std::borrow::Cow;
use std::collections::HashMap;
use std::{mem, vec};

use super::source::{ExpectedKind, Frame, Source, Text, Token, Wide};
use super::text_value;
use super::type_error::TypeError;
use super::validating::{Elements, Validating};
use crate::number;
use stockade_json::{Number, Refused};

/// A name with its values.
#[derive(Debug)]
pub struct Field<'a> {
    name: Cow<'a, str>,
    first: Cow<'a, str>,
    /// The further values. Usually empty, which needs no allocation.
    more: Vec<Cow<'a, str>>,
}

impl<'a> Field<'a> {
    /// Creates a name with one value.
    #[must_use]
    pub fn new(name: Cow<'a, str>, value: Cow<'a, str>) -> Self {
        Self { name, first: value, more: Vec::new() }
    }

    /// Groups pairs by name, in the order of first occurrence.
    #[must_use]
    pub fn group(pairs: Vec<(Cow<'a, str>, Cow<'a, str>)>) -> Vec<Self> {
        let mut fields: Vec<Self> = Vec::with_capacity(pairs.len());
        // A hostile query may have a thousand different keys; most queries have
        // a few.
        let mut index = (pairs.len() > 16).then(|| HashMap::with_capacity(pairs.len()));
        for (name, value) in pairs {
            let next = fields.len();
            let at = match &mut index {
                Some(index) => *index.entry(name.clone()).or_insert(next),
                None => fields.iter().position(|known| known.name == name).unwrap_or(next),
            };
            match fields.get_mut(at) {
                Some(field) => field.more.push(value),
                None => fields.push(Self::new(name, value)),
            }
        }
        fields
    }
}

/// The kind of value that the pairs represent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PairsKind {
    /// A query or a form, which is an object.
    Named,
    /// The parameters of a path, which are an object, an array or a single
    /// value.
    Ordered,
}

/// A source of pairs: the value to read, or a value within it.
pub(super) struct Pairs<'i, 'de> {
    fields: &'i mut (dyn Iterator<Item = Field<'de>> + 'i),
    /// The kind of the whole value, while it is the next value.
    whole: Option<PairsKind>,
    /// The next value, or the first pair while the whole value is next.
    value: Option<Field<'de>>,
    validating: Validating<'de>,
}

/// The values of a name.
#[derive(Debug)]
pub(crate) struct Texts<'de> {
    elements: Elements<'de>,
    first: Option<Cow<'de, str>>,
    more: vec::IntoIter<Cow<'de, str>>,
}

impl Texts<'_> {
    pub(super) fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.more.len()
    }
}

impl<'i, 'de> Pairs<'i, 'de> {
    pub(super) fn new(
        fields: &'i mut (dyn Iterator<Item = Field<'de>> + 'i),
        kind: PairsKind,
        validating: Validating<'de>,
    ) -> Self {
        let value = fields.next();
        Self { fields, whole: Some(kind), value, validating }
    }

    /// Returns true if all values are valid.
    pub(super) fn is_fulfilled(&self) -> bool {
        self.validating.is_fulfilled()
    }

    /// Returns the only text. Fails for several texts, because only a list
    /// accepts them.
    #[inline]
    fn one(&mut self) -> Result<&mut Cow<'de, str>, Refused> {
        match &mut self.value {
            Some(field) if field.more.is_empty() && self.whole != Some(PairsKind::Named) => {
                Ok(&mut field.first)
            }
            _ => Err(Refused::Data),
        }
    }
}

impl Pairs<'_, '_> {
    /// Returns the only text, which represents a number.
    #[inline]
    fn number_text(&mut self) -> Result<&str, Refused> {
        let is_strict = self.validating.strict_numbers();
        let text: &str = self.one()?;
        if is_strict && !number::is_strict(text) { Err(Refused::Data) } else { Ok(text) }
    }
}

impl<'de> Source<'de> for Pairs<'_, 'de> {
    fn next(&mut self) -> Result<Token, TypeError> {
        Ok(match &self.value {
            _ if self.whole.is_some() => Token::Object,
            Some(field) if field.more.is_empty() => Token::Text,
            _ => Token::Array,
        })
    }

    fn boolean(&mut self) -> Result<bool, TypeError> {
        let flag = text_value::boolean(self.one()?)?;
        Ok(self.validating.boolean(flag)?)
    }

    fn number(&mut self, wanted: ExpectedKind) -> Result<Number, TypeError> {
        let number = text_value::number(self.number_text()?, wanted)?;
        Ok(self.validating.number(number)?)
    }

    fn wide(&mut self, wanted: ExpectedKind) -> Result<Wide, TypeError> {
        let ExpectedKind::Integer(integer) = wanted else {
            return self.number(wanted).map(Wide::Number);
        };
        let wide = text_value::wide(self.number_text()?, integer)?;
        Ok(self.validating.wide(wide)?)
    }

    fn text(&mut self, _wanted: ExpectedKind) -> Result<Text<'de, '_>, TypeError> {
        Ok(match mem::take(self.one()?) {
            Cow::Borrowed(text) => Text::Borrowed(self.validating.text(text)?),
            Cow::Owned(text) => {
                let kept = self.validating.text(&text)?;
                let is_whole = kept.len() == text.len();
                Text::Owned(if is_whole { text } else { kept.to_owned() })
            }
        })
    }

    fn null(&mut self) -> Result<(), TypeError> {
        // A type without parameters gets none.
        if self.whole != Some(PairsKind::Ordered) {
            return Err(Refused::Data.into());
        }
        Ok(self.validating.null()?)
    }

    fn some(&mut self) -> Result<bool, TypeError> {
        if self.whole == Some(PairsKind::Ordered) && self.value.is_none() {
            return self.null().map(|()| false);
        }
        Ok(true)
    }

    fn newtype(&mut self, name: &'static str) -> Result<Option<Frame<'de>>, TypeError> {
        if name.starts_with('$') { Err(self.validating.give_up().into()) } else { Ok(None) }
    }

    fn variant(
        &mut self,
        _names: &'static [&'static str],
    ) -> Result<Option<Frame<'de>>, TypeError> {
        Ok(None)
    }

    /// Begins a list. A single value fits as its only element.
    fn array(&mut self, _wanted: ExpectedKind) -> Result<Frame<'de>, TypeError> {
        match self.whole.take() {
            Some(PairsKind::Ordered) => Ok(Frame::Elements(self.validating.array()?)),
            Some(PairsKind::Named) => Err(Refused::Data.into()),
            None => {
                let elements = self.validating.array()?;
                let field = self.value.take().ok_or(Refused::Data)?;
                let (first, more) = (Some(field.first), field.more.into_iter());
                Ok(Frame::Texts(Texts { elements, first, more }))
            }
        }
    }

    fn next_element(&mut self, frame: &mut Frame<'de>) -> Result<bool, TypeError> {
        let elements = match frame {
            Frame::Elements(elements) => {
                // The first element is already in `value`.
                if !elements.is_empty() {
                    self.value = self.fields.next();
                }
                elements
            }
            Frame::Texts(Texts { elements, first, more }) => {
                let text = first.take().or_else(|| more.next());
                self.value = text.map(|text| Field::new(Cow::Borrowed(""), text));
                elements
            }
            _ => return Err(self.validating.give_up().into()),
        };
        if self.value.is_some() {
            elements.next(&mut self.validating)?;
            return Ok(true);
        }
        elements.end(&mut self.validating)?;
        Ok(false)
    }

    fn object(&mut self, wanted: ExpectedKind) -> Result<Frame<'de>, TypeError> {
        if self.whole.take().is_none() {
            return Err(Refused::Data.into());
        }
        Ok(Frame::Members(self.validating.object(wanted.ignores_order())?))
    }

    fn next_name(&mut self, frame: &mut Frame<'de>) -> Result<Option<Text<'de, '_>>, TypeError> {
        let Frame::Members(members) = frame else {
            return Err(self.validating.give_up().into());
        };
        while !members.is_whole() {
            // The first member is already in `value`.
            if !members.is_empty() {
                self.value = self.fields.next();
            }
            let Some(field) = &mut self.value else {
                members.end(&mut self.validating)?;
                break;
            };
            let is_seen = members.next(&field.name, &mut self.validating)?;
            let name = mem::take(&mut field.name);
            if is_seen {
                return Ok(Some(match name {
                    Cow::Borrowed(name) => Text::Borrowed(name),
                    Cow::Owned(name) => Text::Owned(name),
                }));
            }
            self.skip()?;
        }
        Ok(members.next_default(&mut self.validating)?.map(Text::Borrowed))
    }

    fn end(&mut self, frame: &mut Frame<'de>) -> Result<(), TypeError> {
        let is_ended = match frame {
            Frame::Members(members) => members.is_ended(),
            Frame::Texts(Texts { elements, .. }) | Frame::Elements(elements) => elements.is_ended(),
            _ => false,
        };
        // An element that the type did not read is rejected.
        let has_more = !is_ended
            && match frame {
                Frame::Members(_) => self.next_name(frame)?.is_some(),
                _ => self.next_element(frame)?,
            };
        if has_more {
            return Err(self.validating.give_up().into());
        }
        self.validating.fulfil();
        Ok(())
    }

    fn locate(&mut self, frame: &Frame<'de>, error: TypeError) -> TypeError {
        self.validating.after(frame, error)
    }
}
