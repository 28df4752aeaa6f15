//! [`DuplicateNames`]: duplicate member names of objects, which parsed data no
//! longer contains.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// The duplicate names in a JSON text, arranged like its values.
#[derive(Debug)]
pub(super) enum DuplicateNames<'t> {
    Scalar,
    Array(Vec<Self>),
    Object(Members<'t>),
}

pub(super) type Members<'t> = BTreeMap<Cow<'t, str>, Member<'t>>;

/// The values of an object under one name.
#[derive(Debug)]
pub(super) struct Member<'t> {
    /// True if there is more than one value.
    pub(super) again: bool,
    /// The last value.
    pub(super) value: DuplicateNames<'t>,
}

impl<'t> DuplicateNames<'t> {
    /// Returns the duplicate names of a text, or `None` if there are none.
    pub(super) fn of(text: &'t str) -> Option<Self> {
        let duplicates: Self = serde_json::from_str(text).ok()?;
        duplicates.is_somewhere().then_some(duplicates)
    }

    fn is_somewhere(&self) -> bool {
        match self {
            Self::Scalar => false,
            Self::Array(items) => items.iter().any(Self::is_somewhere),
            Self::Object(members) => {
                members.values().any(|member| member.again || member.value.is_somewhere())
            }
        }
    }

    /// Returns the duplicate names in the elements of an array of this length.
    pub(super) fn elements(&self, length: usize) -> Option<&[Self]> {
        match self {
            Self::Array(duplicates) if duplicates.len() == length => Some(duplicates),
            _ => None,
        }
    }

    /// Returns the duplicate names in the members of an object.
    pub(super) fn members(&self) -> Option<&Members<'t>> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }
}

impl<'de> Deserialize<'de> for DuplicateNames<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DuplicateNamesVisitor)
    }
}

struct DuplicateNamesVisitor;

impl<'de> Visitor<'de> for DuplicateNamesVisitor {
    type Value = DuplicateNames<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(DuplicateNames::Scalar)
    }

    fn visit_bool<E: Error>(self, _flag: bool) -> Result<Self::Value, E> {
        Ok(DuplicateNames::Scalar)
    }

    fn visit_i64<E: Error>(self, _whole: i64) -> Result<Self::Value, E> {
        Ok(DuplicateNames::Scalar)
    }

    fn visit_u64<E: Error>(self, _whole: u64) -> Result<Self::Value, E> {
        Ok(DuplicateNames::Scalar)
    }

    fn visit_f64<E: Error>(self, _float: f64) -> Result<Self::Value, E> {
        Ok(DuplicateNames::Scalar)
    }

    fn visit_str<E: Error>(self, _text: &str) -> Result<Self::Value, E> {
        Ok(DuplicateNames::Scalar)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(DuplicateNames::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut members = BTreeMap::new();
        while let Some(name) = access.next_key_seed(Name)? {
            let again = members.contains_key(&name);
            members.insert(name, Member { again, value: access.next_value()? });
        }
        Ok(DuplicateNames::Object(members))
    }
}

/// Reads a name. Borrows it from the text unless it contains escapes.
struct Name;

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, inner: D) -> Result<Self::Value, D::Error> {
        inner.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Name {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_borrowed_str<E: Error>(self, name: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(name))
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(name.to_owned()))
    }
}
