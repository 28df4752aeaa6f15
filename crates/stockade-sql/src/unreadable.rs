//! The error for a row that its type cannot deserialize, with the id and the
//! column.

use std::cell::RefCell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, forward_to_deserialize_any};
use serde_json::Value;
use stockade_errors::BoxError;
use stockade_rest::Entity;

use crate::Row;

/// The only member of a row that the database itself cannot write as JSON. No
/// column has this name. Its value is a list of the id and the column name.
pub(crate) const MARK: &str = "";

/// The error for a row that cannot be read.
#[derive(Debug)]
pub(crate) struct Unreadable {
    table: String,
    id: Option<Value>,
    column: Option<String>,
    source: BoxError,
}

impl Unreadable {
    /// Finds the id and the column of a row that its type cannot deserialize.
    pub(crate) fn of<T: Entity>(table: &str, row: &Row, error: serde_json::Error) -> Self {
        let table = table.to_owned();
        if let Some((id, column)) = marked(&row.json) {
            let source = "the database cannot write the value as JSON".into();
            return Self { table, id: Some(id), column: Some(column), source };
        }
        let id = RefCell::new(None);
        let mut json = serde_json::Deserializer::from_str(&row.json);
        // Only the id matters. A malformed number after it is ignored.
        let _ = json.deserialize_map(FindId { name: T::ID, id: &id });
        let column = RefCell::new(None);
        let mut json = serde_json::Deserializer::from_str(&row.json);
        let is_read = T::deserialize(ColumnTracker { inner: &mut json, column: &column }).is_ok();
        let column = column.into_inner().filter(|_| !is_read);
        Self { table, id: id.into_inner(), column, source: Box::new(error) }
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.table)?;
        match &self.id {
            Some(id) => write!(f, "the row {id} cannot be read")?,
            None => f.write_str("a row without a readable id cannot be read")?,
        }
        if let Some(column) = &self.column {
            write!(f, ", column {column:?}")?;
        }
        write!(f, ": {}", self.source)
    }
}

impl std::error::Error for Unreadable {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.source)
    }
}

/// Returns the id and the column of a marked row.
fn marked(json: &str) -> Option<(Value, String)> {
    let row: Value = serde_json::from_str(json).ok()?;
    match row.get(MARK)?.as_array()?.as_slice() {
        [id, Value::String(column)] => Some((id.clone(), column.clone())),
        _ => None,
    }
}

/// A visitor that stores the id of a row and ignores other values.
struct FindId<'i> {
    name: &'static str,
    id: &'i RefCell<Option<Value>>,
}

impl<'de> Visitor<'de> for FindId<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(name) = members.next_key::<String>()? {
            if name == self.name {
                self.id.replace(Some(members.next_value()?));
            } else {
                members.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// A deserializer of an object that records the current member.
struct ColumnTracker<'c, D> {
    inner: D,
    column: &'c RefCell<Option<String>>,
}

macro_rules! tracked {
    ($($method:ident($($argument:ident: $type:ty),*))*) => {
        $(fn $method<V: Visitor<'de>>(
            self,
            $($argument: $type,)*
            visitor: V,
        ) -> Result<V::Value, D::Error> {
            self.inner.$method($($argument,)* ColumnTracker { inner: visitor, column: self.column })
        })*
    };
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for ColumnTracker<'_, D> {
    type Error = D::Error;

    tracked! {
        deserialize_any()
        deserialize_map()
        deserialize_struct(name: &'static str, fields: &'static [&'static str])
        deserialize_newtype_struct(name: &'static str)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        option unit unit_struct seq tuple tuple_struct enum identifier ignored_any
    }
}

impl<'de, V: Visitor<'de>> Visitor<'de> for ColumnTracker<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(f)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.inner.visit_newtype_struct(ColumnTracker { inner, column: self.column })
    }

    fn visit_map<A: MapAccess<'de>>(self, inner: A) -> Result<V::Value, A::Error> {
        self.inner.visit_map(ColumnTracker { inner, column: self.column })
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for ColumnTracker<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        // An error between two members does not belong to a column.
        self.column.replace(None);
        self.inner.next_key_seed(Key { inner: seed, column: self.column })
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.inner.next_value_seed(seed)
    }
}

/// The name of a member, recorded before the type deserializes it.
struct Key<'c, K> {
    inner: K,
    column: &'c RefCell<Option<String>>,
}

impl<'de, K: DeserializeSeed<'de>> DeserializeSeed<'de> for Key<'_, K> {
    type Value = K::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<K::Value, D::Error> {
        let name = String::deserialize(deserializer)?;
        let value = serde::de::value::StrDeserializer::<D::Error>::new(&name);
        let value = self.inner.deserialize(value);
        self.column.replace(Some(name));
        value
    }
}
