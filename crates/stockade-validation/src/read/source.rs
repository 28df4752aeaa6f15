//! [`Source`]: the values that a [`TypedReader`](super::TypedReader) takes.

use super::pairs::Texts;
use super::parsed::{Entries, Items};
use super::type_error::TypeError;
use super::validating::{Elements, Members};
use stockade_json::{Number, Refused};

/// The values that a type is read from, one after the other.
///
/// It is not generic over the type, so a further source adds no code to each
/// type. A source stands at one value at a time; a method that gives a scalar
/// moves past it. The state of a container that is being read is in a
/// [`Frame`].
///
/// A method refuses a value that the source does not have.
pub(crate) trait Source<'de> {
    /// Returns the error for a value that is not there.
    #[cold]
    fn refuse(&mut self, _wanted: ExpectedKind) -> TypeError {
        Refused::Data.into()
    }

    /// Finds the kind of the next value, and moves past null, booleans and
    /// numbers.
    fn next(&mut self) -> Result<Token, TypeError> {
        Err(self.refuse(ExpectedKind::Any))
    }

    /// Works as [`next`](Self::next), for a type that keeps a value of any
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

    /// Gives an integer for a type of 128 bits.
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

    /// Returns false for a null, and moves past it.
    fn some(&mut self) -> Result<bool, TypeError>;

    /// Begins a newtype of this name. One of serde_json's own is given as an
    /// object instead.
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

    /// Goes to the next element, if there is one.
    fn next_element(&mut self, _frame: &mut Frame<'de>) -> Result<bool, TypeError> {
        Err(self.refuse(ExpectedKind::List))
    }

    /// Begins an object.
    fn object(&mut self, wanted: ExpectedKind) -> Result<Frame<'de>, TypeError> {
        Err(self.refuse(wanted))
    }

    /// Gives the name of the next member, if there is one, and goes to its value.
    fn next_name(&mut self, _frame: &mut Frame<'de>) -> Result<Option<Text<'de, '_>>, TypeError> {
        Err(self.refuse(ExpectedKind::Map))
    }

    /// Ends an array or an object. Fails when the type has not read all of it.
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

/// The kind of value that a type asks for.
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

    /// Returns true if the order of members has no meaning for the type.
    pub(super) fn ignores_order(self) -> bool {
        matches!(self, Self::Fields(_) | Self::Ignored)
    }
}

/// The types of integers.
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

/// A number for a type of 128 bits.
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

/// A text in the form in which a type can get it.
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

/// The state of an array or object that is being read.
#[derive(Debug)]
pub(crate) enum Frame<'de> {
    /// An object that is judged.
    Members(Members<'de>),
    /// An array that is judged.
    Elements(Elements<'de>),
    /// An array of texts.
    Texts(Texts<'de>),
    /// A parsed object.
    Entries(Entries<'de>),
    /// A parsed array.
    Items(Items<'de>),
    /// The one member of an object by which serde_json hands on a value that is
    /// no object.
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

    /// Returns the number of elements, as far as it is known without reading
    /// them.
    pub(super) fn size_hint(&self) -> Option<usize> {
        match self {
            Self::Texts(texts) => Some(texts.len()),
            Self::Entries(entries) => Some(entries.len()),
            Self::Items(items) => Some(items.len()),
            Self::Members(_) | Self::Elements(_) | Self::Private(_) | Self::Names(_) => None,
        }
    }
}
