//! [`Pairs`]: the pairs of text of a path, a query or a form, judged while a
//! type is read from them.
//!
//! Everything is text here, so the wanted type decides: `"7"` is a number for a
//! `u32`, `"true"` a boolean for a `bool`. A name that comes several times is a
//! list. As [`JsonText`](super::json::JsonText) it says nothing.

use std::borrow::Cow;
use std::collections::HashMap;
use std::{iter, mem, vec};

use super::judging::{Elements, Judging};
use super::misfit::Misfit;
use super::source::{Found, Frame, Source, Text, Wanted};
use super::spelled;
use crate::json::{Number, Refused};
use crate::options::ValidationOptions;
use crate::plan::Plan;

/// A name with its values.
#[doc(hidden)]
#[derive(Debug)]
pub struct Field<'a> {
    name: Cow<'a, str>,
    first: Cow<'a, str>,
    /// Usually none, which costs no allocation.
    more: Vec<Cow<'a, str>>,
}

impl<'a> Field<'a> {
    /// A name with one value.
    #[must_use]
    pub fn new(name: Cow<'a, str>, value: Cow<'a, str>) -> Self {
        Self { name, first: value, more: Vec::new() }
    }

    /// Groups pairs by their names, in the order of the first of each.
    #[must_use]
    pub fn group(pairs: Vec<(Cow<'a, str>, Cow<'a, str>)>) -> Vec<Self> {
        let mut fields: Vec<Self> = Vec::with_capacity(pairs.len());
        // A hostile query has a thousand different keys; most have a few.
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

/// What the pairs are.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PairsKind {
    /// A query or a form, which is an object.
    Named,
    /// The parameters of a path, which are an object or an array, or the single
    /// one.
    Ordered,
}

/// Pairs, the value that is read, or one within them.
pub(super) struct Pairs<'i, 'de> {
    fields: iter::Peekable<&'i mut (dyn Iterator<Item = Field<'de>> + 'i)>,
    kind: PairsKind,
    /// The value that comes next; `None` for the whole.
    value: Option<Values<'de>>,
    judging: Judging<'de>,
}

type Values<'de> = iter::Chain<iter::Once<Cow<'de, str>>, vec::IntoIter<Cow<'de, str>>>;

/// The values of a name.
#[derive(Debug)]
pub(crate) struct Texts<'de> {
    elements: Elements<'de>,
    values: Values<'de>,
}

impl Texts<'_> {
    pub(super) fn len(&self) -> usize {
        self.values.size_hint().0
    }
}

impl<'i, 'de> Pairs<'i, 'de> {
    pub(super) fn new(
        fields: &'i mut (dyn Iterator<Item = Field<'de>> + 'i),
        kind: PairsKind,
        plan: &'de Plan,
        options: &'de ValidationOptions,
    ) -> Self {
        let judging = Judging::new(plan, options);
        Self { fields: fields.peekable(), kind, value: None, judging }
    }

    /// Returns true if all values are right.
    pub(super) fn is_fulfilled(&self) -> bool {
        self.judging.is_fulfilled()
    }

    fn values_of(field: Field<'de>) -> Values<'de> {
        iter::once(field.first).chain(field.more)
    }

    /// The only text; several do not fit a type that is not a list.
    fn one(&mut self) -> Result<Cow<'de, str>, Refused> {
        let mut values = match self.value.take() {
            Some(values) => values,
            None if self.kind == PairsKind::Ordered => {
                self.fields.next().map(Self::values_of).ok_or(Refused::Data)?
            }
            None => return Err(Refused::Data),
        };
        let first = values.next().ok_or(Refused::Data)?;
        if values.next().is_some() { Err(Refused::Data) } else { Ok(first) }
    }
}

impl<'de> Source<'de> for Pairs<'_, 'de> {
    fn any(&mut self) -> Result<Found, Misfit> {
        Ok(match &self.value {
            None => Found::Object,
            Some(values) if values.size_hint().0 == 1 => Found::Text,
            Some(_) => Found::Array,
        })
    }

    fn boolean(&mut self) -> Result<bool, Misfit> {
        let flag = spelled::boolean(&self.one()?)?;
        Ok(self.judging.boolean(flag)?)
    }

    fn number(&mut self, wanted: Wanted) -> Result<Number, Misfit> {
        let number = spelled::number(&self.one()?, wanted)?;
        Ok(self.judging.number(number)?)
    }

    fn text(&mut self, _wanted: Wanted) -> Result<Text<'de, '_>, Misfit> {
        Ok(match self.one()? {
            Cow::Borrowed(text) => Text::Borrowed(self.judging.text(text)?),
            Cow::Owned(text) => {
                let kept = self.judging.text(&text)?;
                let is_whole = kept.len() == text.len();
                Text::Owned(if is_whole { text } else { kept.to_owned() })
            }
        })
    }

    fn null(&mut self) -> Result<(), Misfit> {
        // Whoever wants no parameter gets none.
        if self.value.is_some() || self.kind == PairsKind::Named {
            return Err(Refused::Data.into());
        }
        Ok(self.judging.null()?)
    }

    fn some(&mut self) -> Result<bool, Misfit> {
        let is_whole = self.value.is_none() && self.kind == PairsKind::Ordered;
        if is_whole && self.fields.peek().is_none() {
            return self.null().map(|()| false);
        }
        Ok(true)
    }

    fn newtype(&mut self, name: &'static str) -> Result<Option<Frame<'de>>, Misfit> {
        if name.starts_with('$') { Err(self.judging.give_up().into()) } else { Ok(None) }
    }

    fn variant(&mut self, _names: &'static [&'static str]) -> Result<Option<Frame<'de>>, Misfit> {
        Ok(None)
    }

    /// A single value fits a list as its only element.
    fn array(&mut self, _wanted: Wanted) -> Result<Frame<'de>, Misfit> {
        if self.value.is_none() && self.kind == PairsKind::Named {
            return Err(Refused::Data.into());
        }
        let elements = self.judging.array()?;
        Ok(match self.value.take() {
            Some(values) => Frame::Texts(Texts { elements, values }),
            None => Frame::Elements(elements),
        })
    }

    fn next_element(&mut self, frame: &mut Frame<'de>) -> Result<bool, Misfit> {
        let (elements, next) = match frame {
            Frame::Texts(Texts { elements, values }) => {
                (elements, values.next().map(|text| iter::once(text).chain(Vec::new())))
            }
            Frame::Elements(elements) => (elements, self.fields.next().map(Self::values_of)),
            _ => return Err(self.judging.give_up().into()),
        };
        self.value = next;
        if self.value.is_some() {
            elements.next(&mut self.judging)?;
            return Ok(true);
        }
        elements.end(&mut self.judging)?;
        Ok(false)
    }

    fn object(&mut self, wanted: Wanted) -> Result<Frame<'de>, Misfit> {
        if self.value.is_some() {
            return Err(Refused::Data.into());
        }
        Ok(Frame::Members(self.judging.object(wanted.ignores_order())?))
    }

    fn next_name(&mut self, frame: &mut Frame<'de>) -> Result<Option<Text<'de, '_>>, Misfit> {
        let Frame::Members(members) = frame else {
            return Err(self.judging.give_up().into());
        };
        while !members.is_whole() {
            let Some(mut field) = self.fields.next() else {
                members.end(&mut self.judging)?;
                break;
            };
            let is_seen = members.next(&field.name, &mut self.judging)?;
            let name = mem::take(&mut field.name);
            self.value = Some(Self::values_of(field));
            if is_seen {
                return Ok(Some(match name {
                    Cow::Borrowed(name) => Text::Borrowed(name),
                    Cow::Owned(name) => Text::Owned(name),
                }));
            }
            self.skip()?;
        }
        Ok(members.next_default(&mut self.judging)?.map(Text::Borrowed))
    }

    fn end(&mut self, frame: &mut Frame<'de>) -> Result<(), Misfit> {
        let is_ended = match frame {
            Frame::Members(members) => members.is_ended(),
            Frame::Texts(Texts { elements, .. }) | Frame::Elements(elements) => elements.is_ended(),
            _ => false,
        };
        // Whatever the type did not ask for must not be there.
        let has_more = !is_ended
            && match frame {
                Frame::Members(_) => self.next_name(frame)?.is_some(),
                _ => self.next_element(frame)?,
            };
        if has_more {
            return Err(self.judging.give_up().into());
        }
        self.judging.fulfil();
        Ok(())
    }

    fn locate(&mut self, frame: &Frame<'de>, error: Misfit) -> Misfit {
        // The type may go on after an error, and a default is not of the pairs.
        if frame.default().is_some() {
            return self.judging.give_up().into();
        }
        error
    }
}
