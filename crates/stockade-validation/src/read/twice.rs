//! [`Twice`]: the names that an object has more than once, which parsed data
//! does not show any more.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::member::Name;

/// The shape of a JSON text.
pub(super) enum Twice<'t> {
    Scalar,
    Array(Vec<Self>),
    Object(BTreeMap<Cow<'t, str>, Member<'t>>),
}

/// What an object has by one name.
pub(super) struct Member<'t> {
    again: bool,
    /// The last one.
    value: Twice<'t>,
}

impl<'t> Twice<'t> {
    /// The shape of a text that has some name twice.
    pub(super) fn of(text: &'t str) -> Option<Self> {
        let shape: Self = serde_json::from_str(text).ok()?;
        shape.is_somewhere().then_some(shape)
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

    /// The text of data, with the same names twice.
    pub(super) fn repeated(&self, data: &Value) -> Option<String> {
        serde_json::to_string(&Repeated { data, shape: self }).ok()
    }
}

/// Data that is written with names twice.
struct Repeated<'r> {
    data: &'r Value,
    shape: &'r Twice<'r>,
}

impl Serialize for Repeated<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (self.data, self.shape) {
            (Value::Array(items), Twice::Array(shapes)) if items.len() == shapes.len() => {
                let items = items.iter().zip(shapes);
                serializer.collect_seq(items.map(|(data, shape)| Repeated { data, shape }))
            }
            (Value::Object(map), Twice::Object(members)) => {
                let mut object = serializer.serialize_map(None)?;
                for (name, data) in map {
                    let Some(Member { again, value: shape }) = members.get(name.as_str()) else {
                        object.serialize_entry(name, data)?;
                        continue;
                    };
                    let value = Repeated { data, shape };
                    for _ in 0..=usize::from(*again) {
                        object.serialize_entry(name, &value)?;
                    }
                }
                object.end()
            }
            (data, _) => data.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Twice<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ShapeVisitor)
    }
}

struct ShapeVisitor;

impl<'de> Visitor<'de> for ShapeVisitor {
    type Value = Twice<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Twice::Scalar)
    }

    fn visit_bool<E: Error>(self, _flag: bool) -> Result<Self::Value, E> {
        Ok(Twice::Scalar)
    }

    fn visit_i64<E: Error>(self, _whole: i64) -> Result<Self::Value, E> {
        Ok(Twice::Scalar)
    }

    fn visit_u64<E: Error>(self, _whole: u64) -> Result<Self::Value, E> {
        Ok(Twice::Scalar)
    }

    fn visit_f64<E: Error>(self, _float: f64) -> Result<Self::Value, E> {
        Ok(Twice::Scalar)
    }

    fn visit_str<E: Error>(self, _text: &str) -> Result<Self::Value, E> {
        Ok(Twice::Scalar)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Twice::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut members = BTreeMap::new();
        while let Some(name) = access.next_key_seed(Name)? {
            let again = members.contains_key(&name);
            members.insert(name, Member { again, value: access.next_value()? });
        }
        Ok(Twice::Object(members))
    }
}
