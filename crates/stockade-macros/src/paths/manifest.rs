//! A value of a `Cargo.toml`, with only the types that name a dependency.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

#[derive(Clone, Debug)]
pub(super) enum Value {
    Text(String),
    Table(BTreeMap<String, Self>),
    /// A value of another type.
    Other,
}

impl Value {
    /// Returns the value of a key, if this is a table that has it.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        self.as_table()?.get(key)
    }

    pub(super) fn as_table(&self) -> Option<&BTreeMap<String, Self>> {
        if let Self::Table(table) = self { Some(table) } else { None }
    }

    pub(super) fn as_str(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(OfManifest)
    }
}

struct OfManifest;

impl<'de> Visitor<'de> for OfManifest {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of a manifest")
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Value, E> {
        Ok(Value::Other)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Value, E> {
        Ok(Value::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Value, E> {
        Ok(Value::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Value::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut table = BTreeMap::new();
        while let Some((key, value)) = map.next_entry()? {
            table.insert(key, value);
        }
        Ok(Value::Table(table))
    }
}
