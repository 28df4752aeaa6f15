//! Sources without data, which determine the values that a type reads.

use super::reader::TypedReader;
use super::slot::Slot;
use super::source::{ExpectedKind, Frame, Source, Text, Token};
use super::type_error::TypeError;
use crate::node::kind;
use stockade_json::{Number, Refused};

/// The values that a type is read from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ParamShape {
    /// One value: the path must have exactly one parameter.
    Single,
    /// A tuple: the same number of parameters, in the order of the path.
    Tuple(usize),
    /// A list of any number of values, in the order of the path.
    List,
    /// A struct: parameters by name.
    Fields(&'static [&'static str]),
    /// A map, or a type that cannot be determined: any parameters fit.
    Any,
}

/// Returns the kind of values that a type is read from, without any data. Looks
/// through newtypes and `Option`.
#[must_use]
pub fn shape_of(target: &mut dyn Slot) -> ParamShape {
    match wanted_by(target) {
        ExpectedKind::Boolean
        | ExpectedKind::Integer(_)
        | ExpectedKind::Float32
        | ExpectedKind::Float64
        | ExpectedKind::Char
        | ExpectedKind::Text
        | ExpectedKind::Variant => ParamShape::Single,
        ExpectedKind::Tuple(length) => ParamShape::Tuple(length),
        ExpectedKind::List => ParamShape::List,
        ExpectedKind::Fields(fields) => ParamShape::Fields(fields),
        ExpectedKind::Any | ExpectedKind::Null | ExpectedKind::Map | ExpectedKind::Ignored => {
            ParamShape::Any
        }
    }
}

/// Returns the bits of the JSON kinds that a type is read from, without any
/// data. Looks through newtypes and `Option`.
pub(crate) fn kinds_of(target: &mut dyn Slot) -> u8 {
    match wanted_by(target) {
        ExpectedKind::Any | ExpectedKind::Ignored => u8::MAX,
        ExpectedKind::Boolean => kind::BOOLEAN,
        ExpectedKind::Integer(_) | ExpectedKind::Float32 | ExpectedKind::Float64 => kind::NUMBER,
        ExpectedKind::Char | ExpectedKind::Text => kind::STRING,
        ExpectedKind::Null => kind::NULL,
        ExpectedKind::List | ExpectedKind::Tuple(_) => kind::ARRAY,
        ExpectedKind::Map | ExpectedKind::Fields(_) => kind::OBJECT,
        // The name of the variant, or an object with this name as its key.
        ExpectedKind::Variant => kind::STRING | kind::OBJECT,
    }
}

/// Returns the first kind of value that a type requests.
fn wanted_by(target: &mut dyn Slot) -> ExpectedKind {
    let mut probe = Probe { asked: ExpectedKind::Any, left: MAX_WRAPPERS };
    // This always fails. The probe records the first kind that the type
    // requests.
    let _ = target.read(TypedReader::new(&mut probe));
    probe.asked
}

/// Reads the type from nothing, which only an `Option` allows. Returns false
/// for any other type.
#[must_use]
pub fn read_nothing(target: &mut dyn Slot) -> bool {
    target.read(TypedReader::new(&mut Nothing)).is_ok()
}

/// Checks whether a struct can be read from fields with these names, without
/// any data.
#[must_use]
pub fn fit_of(target: &mut dyn Slot, names: &[&str]) -> Fit {
    match target.read(TypedReader::new(&mut MadeUp { names, text: None })) {
        Ok(()) => Fit::Fits,
        Err(error) if error.is_duplicate() => Fit::Duplicate,
        Err(error) => error.missing().map_or(Fit::Unknown, Fit::Missing),
    }
}

/// The result of reading a struct from fields with specific names.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Fit {
    /// The names are sufficient.
    Fits,
    /// A field has no value.
    Missing(&'static str),
    /// Two of the names refer to the same field.
    Duplicate,
    /// A type rejects the made-up value.
    Unknown,
}

/// A source without a value, which records the first kind that a type requests.
struct Probe {
    asked: ExpectedKind,
    /// The remaining number of newtypes and options that it looks through.
    left: usize,
}

/// The maximum number of wrappers, because a type that contains only itself has
/// endless newtypes.
const MAX_WRAPPERS: usize = 64;

impl Probe {
    fn unwrap_one(&mut self) -> Result<(), TypeError> {
        self.left = self.left.checked_sub(1).ok_or(Refused::Data)?;
        Ok(())
    }
}

impl<'de> Source<'de> for Probe {
    fn refuse(&mut self, wanted: ExpectedKind) -> TypeError {
        self.asked = wanted;
        Refused::Data.into()
    }

    fn some(&mut self) -> Result<bool, TypeError> {
        self.unwrap_one().map(|()| true)
    }

    fn newtype(&mut self, _name: &'static str) -> Result<Option<Frame<'de>>, TypeError> {
        self.unwrap_one().map(|()| None)
    }
}

/// A source without a value.
struct Nothing;

impl<'de> Source<'de> for Nothing {
    fn some(&mut self) -> Result<bool, TypeError> {
        Ok(false)
    }
}

/// An object with these names, each with a made-up value of the expected type.
struct MadeUp<'n> {
    names: &'n [&'n str],
    /// The next value; `None` for the whole object.
    text: Option<&'static str>,
}

impl<'de> Source<'de> for MadeUp<'_> {
    fn next(&mut self) -> Result<Token, TypeError> {
        Ok(if self.text.is_none() { Token::Object } else { Token::Text })
    }

    fn boolean(&mut self) -> Result<bool, TypeError> {
        Ok(false)
    }

    fn number(&mut self, _wanted: ExpectedKind) -> Result<Number, TypeError> {
        Ok(Number::Whole(0))
    }

    fn text(&mut self, wanted: ExpectedKind) -> Result<Text<'de, '_>, TypeError> {
        self.text.map(Text::Borrowed).ok_or_else(|| self.refuse(wanted))
    }

    fn some(&mut self) -> Result<bool, TypeError> {
        Ok(self.text.is_none())
    }

    fn newtype(&mut self, _name: &'static str) -> Result<Option<Frame<'de>>, TypeError> {
        Ok(None)
    }

    fn variant(&mut self, names: &'static [&'static str]) -> Result<Option<Frame<'de>>, TypeError> {
        // An enum without variants rejects every name.
        self.text = Some(names.first().copied().unwrap_or_default());
        Ok(None)
    }

    fn object(&mut self, wanted: ExpectedKind) -> Result<Frame<'de>, TypeError> {
        if self.text.is_none() { Ok(Frame::Names(0)) } else { Err(self.refuse(wanted)) }
    }

    fn next_name(&mut self, frame: &mut Frame<'de>) -> Result<Option<Text<'de, '_>>, TypeError> {
        let Frame::Names(index) = frame else {
            return Err(self.refuse(ExpectedKind::Map));
        };
        let name = self.names.get(*index);
        *index += 1;
        self.text = Some("0");
        Ok(name.map(|name| Text::Passing(name)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;
    use serde::de::DeserializeOwned;

    use super::*;

    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only called")]
    struct User {
        name: String,
        #[serde(alias = "years")]
        age: u8,
    }

    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only called")]
    struct Wrapped(Option<User>);

    #[track_caller]
    fn check<T: DeserializeOwned>(expected: ParamShape) {
        assert_eq!(shape_of(&mut None::<T>), expected);
    }

    #[test]
    fn determines_the_shape_of_types_without_data() {
        check::<u8>(ParamShape::Single);
        check::<Option<String>>(ParamShape::Single);
        check::<(u8, u8)>(ParamShape::Tuple(2));
        check::<Vec<u8>>(ParamShape::List);
        check::<Wrapped>(ParamShape::Fields(&["name", "age", "years"]));
        check::<BTreeMap<String, u8>>(ParamShape::Any);
    }

    #[test]
    fn compares_names_with_fields() {
        let fit = |names: &[&str]| fit_of(&mut None::<User>, names);
        assert_eq!(fit(&["name", "age"]), Fit::Fits);
        assert_eq!(fit(&["name", "more", "years"]), Fit::Fits);
        assert_eq!(fit(&["age"]), Fit::Missing("name"));
        assert_eq!(fit(&["name", "age", "years"]), Fit::Duplicate);
        assert_eq!(fit_of(&mut None::<BTreeMap<String, Vec<u8>>>, &["a"]), Fit::Unknown);
    }

    #[test]
    fn only_an_option_can_be_read_from_no_value() {
        assert!(read_nothing(&mut None::<Option<User>>));
        assert!(!read_nothing(&mut None::<Wrapped>));
        assert!(!read_nothing(&mut None::<()>));
    }
}
