//! Finds duplicate member names in a JSON text, which parsed data no longer
//! contains.

use std::collections::HashSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Returns a duplicate member name of an object in a text. Returns `None` for
/// invalid JSON.
#[must_use]
pub fn repeated_name(text: &[u8]) -> Option<String> {
    let error = serde_json::from_slice::<Names>(text).err()?.to_string();
    let name = error.strip_prefix(MARK)?;
    // serde_json appends the position of the error.
    Some(name.rsplit_once(" at line ").map_or(name, |(name, _)| name).to_owned())
}

/// The prefix of the message for a duplicate name.
const MARK: &str = "repeated name: ";

/// A value with checked member names; everything else is ignored.
struct Names;

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

macro_rules! scalars {
    ($($method:ident: $type:ty),*) => {
        $(fn $method<E>(self, _: $type) -> Result<Self, E> {
            Ok(self)
        })*
    };
}

impl<'de> Visitor<'de> for Names {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    scalars! { visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self, A::Error> {
        let mut seen = HashSet::new();
        while let Some(name) = members.next_key::<String>()? {
            if seen.contains(&name) {
                return Err(A::Error::custom(format_args!("{MARK}{name}")));
            }
            seen.insert(name);
            members.next_value::<Self>()?;
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(repeated_name(text.as_bytes()).as_deref(), expected, "{text}");
    }

    #[test]
    fn finds_duplicate_names_at_every_level() {
        check(r#"{"a":1,"b":[null,true,1.5,-1,"a"],"c":{"a":1}}"#, None);
        check(r#"{"a":1,"a":1}"#, Some("a"));
        check(r#"{"a":[{"b":{" at line x":1," at line x":2}}]}"#, Some(" at line x"));
        check(r#"{"a":1,"\u0061":1}"#, Some("a"));
        check(r#"{"a":1,"a""#, Some("a"));
        check("nonsense", None);
        check("", None);
    }
}
