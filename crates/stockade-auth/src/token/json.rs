//! Objects of JSON in which every name stands once.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::{Map, Value};

/// Reads one JSON object; `None` for anything else, for text that is not
/// UTF-8, and for a name that stands twice at the top.
///
/// Twice the same name is how one reader is made to see other claims than the
/// next. RFC 7519, section 4.
pub(super) fn object(json: &[u8]) -> Option<Map<String, Value>> {
    // Once for all of it is quicker than for each string.
    let json = str::from_utf8(json).ok()?;
    serde_json::from_str(json).ok().map(|Object(map)| map)
}

/// Whether an object is nested deeper than [`object`] reads.
pub(super) fn is_too_deep(object: &Map<String, Value>) -> bool {
    object.values().any(|value| exceeds(value, MAX_DEPTH - 1))
}

/// Whether `value` is nested more than `levels` deep. Recurses `levels` deep at
/// most.
fn exceeds(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels == 0 || items.iter().any(|item| exceeds(item, levels - 1)),
        Value::Object(map) => levels == 0 || map.values().any(|item| exceeds(item, levels - 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// The levels that serde_json reads.
const MAX_DEPTH: usize = 127;

struct Object(Map<String, Value>);

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor)
    }
}

struct ObjectVisitor;

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = Object;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Object, A::Error> {
        let mut map = Map::with_capacity(TYPICAL_MEMBERS);
        while let Some(name) = access.next_key::<String>()? {
            if map.insert(name, access.next_value()?).is_some() {
                return Err(A::Error::custom("a name stands twice"));
            }
        }
        Ok(Object(map))
    }
}

/// Room for the claims of most tokens, so that the map need not grow.
const TYPICAL_MEMBERS: usize = 8;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_objects_with_distinct_names_are_read() {
        assert_eq!(object(b" {\"a\":1}\n").map(Value::Object), Some(json!({ "a": 1 })));
        assert!(object(b"{}").is_some());
        for json in [
            &b""[..],
            b"[]",
            b"[[\"a\",1]]",
            b"\"a\"",
            b"1",
            b"null",
            b"{\"a\":1,\"a\":1}",
            b"{\"a\":1,\"\\u0061\":2}",
            b"{\"a\":1}x",
            b"{\"a\":1,}",
            b"{\"a\":\"\xff\"}",
            b"{\"a\":1e400}",
            b"\xef\xbb\xbf{}",
            b"{\"a\":\"\\ud800\"}",
            b"{} {}",
        ] {
            assert_eq!(object(json), None, "{}", json.escape_ascii());
        }
    }

    /// nst/JSONTestSuite: as a member, each text is read where serde_json reads
    /// it, and nowhere else.
    #[test]
    fn members_are_what_serde_json_reads() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/json-parsing");
        let mut files = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let text = std::fs::read(entry.unwrap().path()).unwrap();
            let member = [&b"{\"a\":"[..], &text, b"}"].concat();
            let expected: Option<Value> = serde_json::from_slice(&member).ok();
            let read = object(&member).map(Value::Object);
            assert_eq!(read, expected, "{}", member.escape_ascii());
            files += 1;
        }
        assert!(files >= 318, "{files}");
    }

    #[test]
    fn what_is_not_too_deep_can_be_read() {
        for levels in [1, 2, 126, 127, 128] {
            let inner = (1..levels).fold(json!(0), |value, _| json!([value]));
            let Value::Object(map) = json!({ "a": inner }) else { panic!("an object") };
            let json = serde_json::to_vec(&map).unwrap();
            assert_eq!(is_too_deep(&map), object(&json).is_none(), "{levels}");
            assert_eq!(is_too_deep(&map), levels > 127, "{levels}");
        }
    }
}
