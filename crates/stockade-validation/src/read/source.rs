//! [`Source`]: the values that a [`TypedReader`](super::TypedReader) consumes.

use super::pairs::Texts;
use super::parsed::{Entries, Items};
use super::type_error::TypeError;
use super::validating::{Elements, Members};
use stockade_json::{Number, Refused};

/// The sequence of values that a type is read from.
///
/// It is not generic over the type, so an additional source adds no code to
/// each type. A source points to one value at a time; a method that returns a
/// scalar advances past it. The state of the current container is in a
/// [`Frame`].
///
/// A method rejects a value that the source does not have.
pub(crate) trait Source<'de> {
    /// Returns the error for a missing value.
    #[cold]
    fn refuse(&mut self, _wanted: ExpectedKind) -> TypeError {
        Refused::Data.into()
    }

    /// Returns the kind of the next value, and advances past null, booleans and
    /// numbers.
    fn next(&mut self) -> Result<Token, TypeError> {
        Err(self.refuse(ExpectedKind::Any))
    }

    /// Works like [`next`](Self::next), for a type that stores a value of any
    /// kind.
    fn any(&mut self) -> Result<Token, TypeError> {
        self.next()
    }

    fn boolean(&mut self) -> Result<bool, TypeError> {
        Err(self.refuse(ExpectedKind::Boolean))
    }

    fn number(&mut self, wanted: ExpectedKind) -> Result<Number, TypeError> {
        Err(self.refuse(wanted))
    }

    /// Returns an integer for a 128-bit type.
    fn wide(&mut self, wanted: ExpectedKind) -> Result<Wide, TypeError> {
        self.number(wanted).map(Wide::Number)
    }

    fn text(&mut self, wanted: ExpectedKind) -> Result<Text<'de, '_>, TypeError> {
        Err(self.refuse(wanted))
    }

    /// Reads a null.
    fn null(&mut self) -> Result<(), TypeError> {
        Err(self.refuse(ExpectedKind::Null))
    }

    /// Returns false for a null, and advances past it.
    fn some(&mut self) -> Result<bool, TypeError>;

    /// Begins a newtype with this name. The internal newtypes of serde_json
    /// become an object instead.
    fn newtype(&mut self, _name: &'static str) -> Result<Option<Frame<'de>>, TypeError> {
        Err(self.refuse(ExpectedKind::Any))
    }

    /// Begins an enum: an object, or `None` for the text that names a variant.
    fn variant(
        &mut self,
        _names: &'static [&'static str],
    ) -> Result<Option<Frame<'de>>, TypeError> {
        Err(self.refuse(ExpectedKind::Variant))
    }

    /// Begins an array.
    fn array(&mut self, wanted: ExpectedKind) -> Result<Frame<'de>, TypeError> {
        Err(self.refuse(wanted))
    }

    /// Advances to the next element, if any.
    fn next_element(&mut self, _frame: &mut Frame<'de>) -> Result<bool, TypeError> {
        Err(self.refuse(ExpectedKind::List))
    }

    /// Begins an object.
    fn object(&mut self, wanted: ExpectedKind) -> Result<Frame<'de>, TypeError> {
        Err(self.refuse(wanted))
    }

    /// Returns the name of the next member, if any, and advances to its value.
    fn next_name(&mut self, _frame: &mut Frame<'de>) -> Result<Option<Text<'de, '_>>, TypeError> {
        Err(self.refuse(ExpectedKind::Map))
    }

    /// Ends an array or an object. Fails if the type has not read all of it.
    fn end(&mut self, _frame: &mut Frame<'de>) -> Result<(), TypeError> {
        Ok(())
    }

    /// Skips the next value, of any kind.
    fn skip(&mut self) -> Result<(), TypeError> {
        match self.next()? {
            Token::Null | Token::Boolean(_) | Token::Number(_) => Ok(()),
            Token::Text => self.text(ExpectedKind::Ignored).map(drop),
            Token::Array => {
                let mut frame = self.array(ExpectedKind::Ignored)?;
                while self.next_element(&mut frame)? {
                    self.skip()?;
                }
                self.end(&mut frame)
            }
            Token::Object => {
                let mut frame = self.object(ExpectedKind::Ignored)?;
                while self.next_name(&mut frame)?.is_some() {
                    if frame.default().is_none() {
                        self.skip()?;
                    }
                }
                self.end(&mut frame)
            }
        }
    }

    /// Adds the position in the array or object to an error.
    fn locate(&mut self, _frame: &Frame<'de>, error: TypeError) -> TypeError {
        error
    }
}

/// The kind of value that a type requests.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ExpectedKind {
    Any,
    Boolean,
    Integer(Integer),
    Float32,
    Float64,
    Char,
    Text,
    Null,
    List,
    Tuple(usize),
    Map,
    Fields(&'static [&'static str]),
    Variant,
    Ignored,
}

impl ExpectedKind {
    /// Returns the word for the kind in messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Boolean => "boolean",
            Self::Integer(_) => "integer",
            Self::Float32 | Self::Float64 => "number",
            Self::Char | Self::Text => "string",
            Self::List | Self::Tuple(_) => "array",
            Self::Null => "null",
            Self::Map | Self::Fields(_) => "object",
            Self::Any | Self::Variant | Self::Ignored => "another type",
        }
    }

    /// Returns true if the order of members does not matter for the type.
    pub(super) fn ignores_order(self) -> bool {
        matches!(self, Self::Fields(_) | Self::Ignored)
    }
}

/// The integer types.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Integer {
    I8,
    I16,
    I32,
    I64,
    I128,
    U8,
    U16,
    U32,
    U64,
    U128,
}

/// A number for a 128-bit type.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wide {
    Number(Number),
    Signed(i128),
    Unsigned(u128),
}

/// The kind of the next value, with the content of a scalar.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Token {
    Null,
    Boolean(bool),
    Number(Number),
    Text,
    Array,
    Object,
}

/// A text, in the form that a type can receive.
#[derive(Debug)]
pub(crate) enum Text<'de, 's> {
    /// A text that lives as long as the data.
    Borrowed(&'de str),
    /// A text that lives until the next value is read.
    Passing(&'s str),
    Owned(String),
}

impl Text<'_, '_> {
    #[expect(clippy::match_same_arms, reason = "their lifetimes are different")]
    pub(super) fn as_str(&self) -> &str {
        match self {
            Self::Borrowed(text) => text,
            Self::Passing(text) => text,
            Self::Owned(text) => text,
        }
    }
}

/// The state of an array or object during reading.
#[derive(Debug)]
pub(crate) enum Frame<'de> {
    /// An object with validation.
    Members(Members<'de>),
    /// An array with validation.
    Elements(Elements<'de>),
    /// An array of texts.
    Texts(Texts<'de>),
    /// A parsed object.
    Entries(Entries<'de>),
    /// A parsed array.
    Items(Items<'de>),
    /// The single member of an object that serde_json uses to pass on another
    /// kind of value.
    Private(Option<&'static str>),
    /// Names without values.
    Names(usize),
}

impl<'de> Frame<'de> {
    /// Returns the default that is the value of the last name.
    #[inline]
    pub(super) fn default(&self) -> Option<&'de serde_json::Value> {
        match self {
            Self::Members(members) => members.default,
            _ => None,
        }
    }

    /// Returns the number of elements, if it is known without reading them.
    pub(super) fn size_hint(&self) -> Option<usize> {
        match self {
            Self::Texts(texts) => Some(texts.len()),
            Self::Entries(entries) => Some(entries.len()),
            Self::Items(items) => Some(items.len()),
            Self::Members(_) | Self::Elements(_) | Self::Private(_) | Self::Names(_) => None,
        }
    }
}
