//! [`Parsed`]: data that is validated or needs no validation.

use std::slice;

use serde_json::{Number as JsonNumber, Value, map};

use super::duplicate::{DuplicateNames, Members};
use super::reader::TypedReader;
use super::slot::Slot;
use super::source::{ExpectedKind, Frame, Integer, Source, Text, Token, Wide};
use super::text_value;
use super::type_error::TypeError;
use crate::data::Data;
use stockade_json::{Number, keeps_digits};

/// A parsed value, or a value within it.
pub(super) struct Parsed<'de> {
    /// The next value.
    value: &'de Value,
    /// True if texts may represent numbers and booleans for types that expect
    /// these.
    has_texts: bool,
    /// The duplicate member names of objects.
    duplicates: Option<&'de DuplicateNames<'de>>,
    /// The value as text, for a serde_json type that requires this form.
    digits: Option<String>,
    /// True if every number is read as the nearest float, for a type that does
    /// not support all of its digits.
    is_rounding: bool,
    /// True if a number was read with all of its digits, as an object.
    has_given_digits: bool,
}

impl<'de> Parsed<'de> {
    pub(super) fn new(value: &'de Value) -> Self {
        Self {
            value,
            has_texts: false,
            duplicates: None,
            digits: None,
            is_rounding: false,
            has_given_digits: false,
        }
    }

    /// Creates a source with texts that may represent numbers, booleans and a
    /// list with one element.
    pub(super) fn with_texts(value: &'de Value) -> Self {
        Self { has_texts: true, ..Self::new(value) }
    }

    /// Creates a source with duplicate names.
    pub(super) fn with_duplicates(value: &'de Value, duplicates: &'de DuplicateNames<'de>) -> Self {
        Self { duplicates: Some(duplicates), ..Self::new(value) }
    }

    /// Reads a type into `target`.
    ///
    /// serde stores the values of a flattened or tagged type before it knows
    /// their types. A number with more digits than a float then becomes an
    /// object, which serde_json understands but an `f64` does not. A type that
    /// fails is therefore read again, from rounded numbers.
    pub(super) fn read_into(mut self, target: &mut dyn Slot) -> Result<(), TypeError> {
        let whole = (self.value, self.has_texts, self.duplicates);
        let read = target.read(TypedReader::new(&mut self));
        if read.is_ok() || !self.has_given_digits {
            return read;
        }
        let (value, has_texts, duplicates) = whole;
        let mut rounded = Self { has_texts, duplicates, is_rounding: true, ..Self::new(value) };
        target.read(TypedReader::new(&mut rounded))
    }

    #[cold]
    fn misfit(&self, wanted: ExpectedKind) -> TypeError {
        let kind = match self.value {
            // `is_f64` is wrong for larger numbers with `arbitrary_precision`.
            Value::Number(number) if number.is_u64() || number.is_i64() => "integer",
            value => value.kind().name(),
        };
        TypeError::kind(wanted, kind)
    }

    fn number_of(number: &JsonNumber) -> Result<Number, TypeError> {
        let whole = number.as_u64().map(Number::Whole);
        let number = whole
            .or_else(|| number.as_i64().map(Number::Negative))
            .or_else(|| number.as_f64().map(Number::Float));
        number.ok_or_else(|| TypeError::message("The number is out of range"))
    }

    /// Returns true if the number has other digits than the float with its
    /// value.
    fn has_more_digits(number: &JsonNumber) -> bool {
        keeps_digits()
            && number.as_u64().is_none()
            && number.as_i64().is_none()
            && number.as_f64().and_then(JsonNumber::from_f64).is_none_or(|float| float != *number)
    }
}

impl<'de> Source<'de> for Parsed<'de> {
    fn next(&mut self) -> Result<Token, TypeError> {
        Ok(match self.value {
            _ if self.digits.is_some() => Token::Text,
            Value::Null => Token::Null,
            Value::Bool(flag) => Token::Boolean(*flag),
            Value::Number(number) if !self.is_rounding && Self::has_more_digits(number) => {
                self.has_given_digits = true;
                Token::Object
            }
            Value::Number(number) => Token::Number(Self::number_of(number)?),
            Value::String(_) => Token::Text,
            Value::Array(_) => Token::Array,
            Value::Object(_) => Token::Object,
        })
    }

    fn boolean(&mut self) -> Result<bool, TypeError> {
        match self.value {
            Value::Bool(flag) => Ok(*flag),
            Value::String(text) if self.has_texts => text_value::boolean(text),
            _ => Err(self.misfit(ExpectedKind::Boolean)),
        }
    }

    fn number(&mut self, wanted: ExpectedKind) -> Result<Number, TypeError> {
        match self.value {
            Value::Number(number) => Self::number_of(number),
            Value::String(text) if self.has_texts => text_value::number(text, wanted),
            _ => Err(self.misfit(wanted)),
        }
    }

    fn wide(&mut self, wanted: ExpectedKind) -> Result<Wide, TypeError> {
        let wide = match (self.value, wanted) {
            (Value::Number(number), ExpectedKind::Integer(integer))
                if number.as_u64().is_none() =>
            {
                match integer {
                    Integer::U128 => number.as_u128().map(Wide::Unsigned),
                    _ => number.as_i128().map(Wide::Signed),
                }
            }
            (Value::String(text), ExpectedKind::Integer(integer)) if self.has_texts => {
                return text_value::wide(text, integer);
            }
            _ => None,
        };
        wide.map_or_else(|| self.number(wanted).map(Wide::Number), Ok)
    }

    fn text(&mut self, wanted: ExpectedKind) -> Result<Text<'de, '_>, TypeError> {
        match (&self.digits, self.value) {
            (Some(digits), _) => Ok(Text::Passing(digits)),
            (None, Value::String(text)) => Ok(Text::Borrowed(text)),
            _ => Err(self.misfit(wanted)),
        }
    }

    fn null(&mut self) -> Result<(), TypeError> {
        if self.value.is_null() { Ok(()) } else { Err(self.misfit(ExpectedKind::Null)) }
    }

    fn some(&mut self) -> Result<bool, TypeError> {
        Ok(!self.value.is_null())
    }

    fn newtype(&mut self, name: &'static str) -> Result<Option<Frame<'de>>, TypeError> {
        if name != RAW_VALUE {
            return Ok(None);
        }
        self.digits = Some(self.value.to_string());
        Ok(Some(Frame::Private(Some(RAW_VALUE))))
    }

    fn variant(
        &mut self,
        _names: &'static [&'static str],
    ) -> Result<Option<Frame<'de>>, TypeError> {
        match self.value {
            Value::String(_) => Ok(None),
            Value::Object(object) if object.len() == 1 => {
                self.object(ExpectedKind::Variant).map(Some)
            }
            _ => Err(self.misfit(ExpectedKind::Variant)),
        }
    }

    fn array(&mut self, wanted: ExpectedKind) -> Result<Frame<'de>, TypeError> {
        let items = match self.value {
            Value::Array(items) => items.as_slice(),
            Value::String(_) if self.has_texts && wanted == ExpectedKind::List => {
                slice::from_ref(self.value)
            }
            _ => return Err(self.misfit(wanted)),
        };
        let duplicates = self.duplicates.and_then(|duplicates| duplicates.elements(items.len()));
        Ok(Frame::Items(Items { items: items.iter(), duplicates, count: items.len() }))
    }

    fn next_element(&mut self, frame: &mut Frame<'de>) -> Result<bool, TypeError> {
        let Frame::Items(items) = frame else {
            return Err(self.misfit(ExpectedKind::List));
        };
        let index = items.read();
        let Some(value) = items.items.next() else {
            return Ok(false);
        };
        self.value = value;
        self.duplicates = items.duplicates.and_then(|duplicates| duplicates.get(index));
        Ok(true)
    }

    fn object(&mut self, wanted: ExpectedKind) -> Result<Frame<'de>, TypeError> {
        match self.value {
            Value::Object(object) => Ok(Frame::Entries(Entries {
                members: object.iter(),
                name: "",
                again: None,
                duplicates: self.duplicates.and_then(DuplicateNames::members),
                count: object.len(),
            })),
            Value::Number(number) if wanted == ExpectedKind::Any => {
                self.digits = Some(number.to_string());
                Ok(Frame::Private(Some(NUMBER)))
            }
            _ => Err(self.misfit(wanted)),
        }
    }

    fn next_name(&mut self, frame: &mut Frame<'de>) -> Result<Option<Text<'de, '_>>, TypeError> {
        let entries = match frame {
            Frame::Entries(entries) => entries,
            Frame::Private(name) => return Ok(name.take().map(Text::Borrowed)),
            _ => return Err(self.misfit(ExpectedKind::Map)),
        };
        let again = entries.again.take();
        let Some((name, value)) = again.or_else(|| entries.members.next()) else {
            return Ok(None);
        };
        let duplicates = entries.duplicates.and_then(|duplicates| duplicates.get(name.as_str()));
        if duplicates.is_some_and(|member| member.again) && again.is_none() {
            entries.again = Some((name, value));
        }
        entries.name = name;
        self.value = value;
        self.duplicates = duplicates.map(|member| &member.value);
        Ok(Some(Text::Borrowed(name)))
    }

    fn end(&mut self, frame: &mut Frame<'de>) -> Result<(), TypeError> {
        let (left, count, kind) = match frame {
            Frame::Entries(entries) => (entries.members.len(), entries.count, "map"),
            Frame::Items(items) => (items.items.len(), items.count, "array"),
            _ => {
                self.digits = None;
                return Ok(());
            }
        };
        if left == 0 {
            return Ok(());
        }
        Err(TypeError::message(format!(
            "Invalid length {count}, expected fewer elements in {kind}"
        )))
    }

    fn skip(&mut self) -> Result<(), TypeError> {
        Ok(())
    }

    fn locate(&mut self, frame: &Frame<'de>, error: TypeError) -> TypeError {
        match frame {
            Frame::Entries(entries) => error.in_member(entries.name),
            Frame::Items(items) => error.in_element(items.read().saturating_sub(1)),
            _ => error,
        }
    }
}

/// The elements of an array.
#[derive(Debug)]
pub(crate) struct Items<'de> {
    items: slice::Iter<'de, Value>,
    duplicates: Option<&'de [DuplicateNames<'de>]>,
    count: usize,
}

impl Items<'_> {
    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns the number of elements read so far.
    fn read(&self) -> usize {
        self.count - self.items.len()
    }
}

/// The members of an object.
#[derive(Debug)]
pub(crate) struct Entries<'de> {
    members: map::Iter<'de>,
    /// The value of the last name.
    name: &'de str,
    /// A second member with the same name.
    again: Option<(&'de String, &'de Value)>,
    duplicates: Option<&'de Members<'de>>,
    count: usize,
}

impl Entries<'_> {
    pub(super) fn len(&self) -> usize {
        self.members.len()
    }
}

/// The names that serde_json uses to pass on values that are not objects. Its
/// features `raw_value` and `arbitrary_precision` do this, and any crate may
/// enable them.
const RAW_VALUE: &str = "$serde_json::private::RawValue";
const NUMBER: &str = "$serde_json::private::Number";
