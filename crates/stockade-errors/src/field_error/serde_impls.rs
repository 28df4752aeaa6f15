//! [`FieldError`] for serde: an object with three strings.
//!
//! The implementations are written by hand, so this crate and the crates that
//! depend on it do not need serde's derive macros.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeStruct as _, Serializer};

use super::FieldError;

const FIELDS: [&str; 3] = ["field", "message", "rule"];

impl Serialize for FieldError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut record = serializer.serialize_struct("FieldError", FIELDS.len())?;
        record.serialize_field("field", &self.field)?;
        record.serialize_field("message", &self.message)?;
        record.serialize_field("rule", &self.rule)?;
        record.end()
    }
}

impl<'de> Deserialize<'de> for FieldError {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_struct("FieldError", &FIELDS, RecordVisitor)
    }
}

struct RecordVisitor;

impl<'de> Visitor<'de> for RecordVisitor {
    type Value = FieldError;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with `field`, `message` and `rule`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<FieldError, A::Error> {
        let mut parts: [Option<String>; 3] = [None, None, None];
        while let Some(key) = map.next_key::<String>()? {
            let Some(place) = FIELDS.iter().position(|name| *name == key) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            if parts[place].replace(map.next_value()?).is_some() {
                return Err(A::Error::duplicate_field(FIELDS[place]));
            }
        }
        let [field, message, rule] = parts;
        let part = |part: Option<String>, place: usize| {
            part.ok_or_else(|| A::Error::missing_field(FIELDS[place]))
        };
        Ok(FieldError::new(part(field, 0)?, part(message, 1)?, part(rule, 2)?))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<FieldError, A::Error> {
        let mut part = |place: usize| {
            list.next_element::<String>()?.ok_or_else(|| A::Error::invalid_length(place, &self))
        };
        Ok(FieldError::new(part(0)?, part(1)?, part(2)?))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn records_round_trip() {
        let record = FieldError::new("name", "too short", "minLength");
        let value = json!({ "field": "name", "message": "too short", "rule": "minLength" });
        assert_eq!(serde_json::to_value(&record).unwrap(), value);
        let read = |value: Value| serde_json::from_value::<FieldError>(value);
        assert_eq!(read(value).unwrap(), record);
        assert_eq!(read(json!(["name", "too short", "minLength"])).unwrap(), record);
        let more = json!({ "rule": "minLength", "x": 1, "field": "name", "message": "too short" });
        assert_eq!(read(more).unwrap(), record);
    }

    #[test]
    fn names_missing_and_duplicate_members() {
        let error = |text: &str| serde_json::from_str::<FieldError>(text).unwrap_err().to_string();
        assert!(error(r#"{"field": "", "rule": ""}"#).starts_with("missing field `message`"));
        assert!(error(r#"{"field": "", "field": ""}"#).starts_with("duplicate field `field`"));
        assert!(error(r#"["", ""]"#).starts_with("invalid length 2"));
        assert!(error("1").starts_with("invalid type: integer `1`"));
    }
}
