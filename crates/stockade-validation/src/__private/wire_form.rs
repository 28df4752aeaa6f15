//! The form in which serde really reads and writes a type.
//!
//! A derive macro sees the attributes of a type, but not its other derives: with
//! `Deserialize_repr` or `DeserializeFromStr` it describes a form that serde does
//! not use. So the type itself is asked when its schema is built.

use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::names;
use crate::direction::Direction;
use crate::node::kind;
use crate::read::kinds_of;
use crate::rule::Rule;

/// Kinds of JSON values.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Kinds(u8);

impl Kinds {
    /// Every kind: nothing is known.
    pub const ANY: Self = Self(u8::MAX);
    /// Arrays.
    pub const ARRAY: Self = Self(kind::ARRAY);
    /// Null.
    pub const NULL: Self = Self(kind::NULL);
    /// Objects.
    pub const OBJECT: Self = Self(kind::OBJECT);
    /// Strings.
    pub const STRING: Self = Self(kind::STRING);
    /// Numbers.
    const NUMBER: Self = Self(kind::NUMBER);

    fn names(self) -> String {
        if self == Self::ANY {
            return "any value".to_owned();
        }
        let names = kind::NAMES.iter().filter(|(_, bit)| self.0 & bit != 0);
        names.map(|(name, _)| *name).collect::<Vec<_>>().join(" or ")
    }
}

/// The kinds of values that serde reads a type from.
///
/// `Reads::<T>::kinds()` is the function of [`Reads`] if serde reads `T`, and
/// otherwise the function of [`NotRead`], because an inherent function comes first.
#[derive(Debug)]
pub struct Reads<T: ?Sized>(PhantomData<T>);

impl<T: DeserializeOwned> Reads<T> {
    /// Returns the kinds that the type asks for.
    #[must_use]
    pub fn kinds() -> Kinds {
        Kinds(kinds_of(&mut None::<T>))
    }
}

/// A type that serde does not read: see [`Reads`].
pub trait NotRead {
    /// Returns every kind.
    #[must_use]
    fn kinds() -> Kinds {
        Kinds::ANY
    }
}

impl<T: ?Sized> NotRead for Reads<T> {}

/// The kind of value that serde writes a type as.
///
/// The function is selected as in [`Reads`].
#[derive(Debug)]
pub struct Writes<T: ?Sized>(PhantomData<T>);

impl<T: Serialize> Writes<T> {
    /// Returns the kind that this value is written as.
    #[must_use]
    pub fn kinds(value: &T) -> Kinds {
        match serde_json::to_value(value) {
            Ok(Value::Number(_)) => Kinds::NUMBER,
            Ok(Value::String(_)) => Kinds::STRING,
            _ => Kinds::ANY,
        }
    }
}

/// A type that serde does not write: see [`Writes`].
pub trait NotWritten<T> {
    /// Returns every kind.
    #[must_use]
    fn kinds(_value: &T) -> Kinds {
        Kinds::ANY
    }
}

impl<T> NotWritten<T> for Writes<T> {}

/// Adds a mistake to a derived rule if serde reads its type from another kind of
/// value, so that the schema would reject every value.
#[must_use = "a rule does nothing until it is built"]
pub fn agrees(mut rule: Rule, described: Kinds, read: Kinds) -> Rule {
    if described.0 & read.0 == 0 {
        let (read, described) = (read.names(), described.names());
        rule.mistakes.push(format!(
            "serde reads this type from {read}, but its derived schema describes {described}: add \
             `#[schema(with = \"…\")]` to the type, or implement `HasSchema` by hand"
        ));
    }
    rule
}

/// Makes the rule of an enum without fields that has a `repr` of an integer, in
/// one direction: its names, or its numbers if serde uses these, as the derives
/// of `serde_repr` do.
#[must_use = "a rule does nothing until it is built"]
#[track_caller]
pub fn names_or_numbers<const N: usize, const M: usize>(
    texts: [&str; N],
    numbers: [i128; M],
    read: Kinds,
    written: Kinds,
    is_written: bool,
) -> Rule {
    let direction = if is_written { Direction::Write } else { Direction::Read };
    let (kinds, other) = match direction {
        Direction::Read => (read, written),
        Direction::Write => (written, read),
    };
    // A type with only one of the two traits has the same form in both directions.
    let kinds = if kinds == Kinds::ANY { other } else { kinds };
    if kinds != Kinds::NUMBER {
        return names(texts);
    }
    let mut rule = Rule::integer();
    let mut values = Vec::new();
    for number in numbers {
        match (i64::try_from(number), u64::try_from(number)) {
            (Ok(whole), _) => values.push(Value::from(whole)),
            (_, Ok(whole)) => values.push(Value::from(whole)),
            _ => rule.mistakes.push(format!("{number} is outside the range of JSON numbers")),
        }
    }
    rule.values(values)
}
