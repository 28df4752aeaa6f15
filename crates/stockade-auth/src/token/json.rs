//! Parses JSON objects without duplicate names.
//!
//! Hot: [`skim`], which does not allocate for an object with few names and no
//! escapes in them.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::{Map, Value};
use stockade_json::{Number, Reader, Refused, is_private};

use super::claims::{ISSUED_AT_MILLIS, Times, time_of};
use super::marks::{Mark, Marks};

/// Parses one JSON object. Returns `None` for any other value, for text that is
/// not UTF-8, and for a duplicate name at the top level.
///
/// Two parsers could read different claims from an object with duplicate names.
/// See RFC 7519, section 4.
pub(super) fn object(json: &[u8]) -> Option<Map<String, Value>> {
    // Checking the whole text once is faster than checking each string.
    let json = str::from_utf8(json).ok()?;
    serde_json::from_str(json).ok().map(|Object(map)| map)
}

/// Parses the times of an object and finds its marks. The rest is only checked.
///
/// Returns `None` for text that [`object`] rejects under any set of serde_json
/// features. Also returns `None` for a time that is not a number.
pub(super) fn skim(json: &str) -> Option<(Times, Marks)> {
    let Skimmed { times, marks } = Skimmed::read(json).ok()?;
    Some((times, marks))
}

/// Returns true if an object is nested deeper than [`object`] accepts.
pub(super) fn is_too_deep(object: &Map<String, Value>) -> bool {
    object.values().any(|value| exceeds(value, MAX_DEPTH - 1))
}

/// Returns true if `value` is nested more than `levels` deep. Recurses at most
/// `levels` deep.
fn exceeds(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels == 0 || items.iter().any(|item| exceeds(item, levels - 1)),
        Value::Object(map) => levels == 0 || map.values().any(|item| exceeds(item, levels - 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// The maximum nesting that serde_json reads.
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
                return Err(A::Error::custom("duplicate member name"));
            }
        }
        Ok(Object(map))
    }
}

/// The capacity for the claims of most tokens, so the map rarely grows.
const TYPICAL_MEMBERS: usize = 8;

/// The times and the marks of an object.
#[derive(Default)]
struct Skimmed {
    times: Times,
    marks: Marks,
}

impl Skimmed {
    /// Parses the text, which must be one object.
    fn read(json: &str) -> Result<Self, Refused> {
        let mut reader = Reader::new(json, 0);
        let mut skimmed = Self::default();
        let mut names = Names::default();
        let mut is_first = true;
        if reader.peek() != Some(b'{') {
            return Err(Refused::Data);
        }
        reader.open()?;
        while reader.has_next(b'}', is_first)? {
            is_first = false;
            reader.begins_name()?;
            let name = reader.text()?;
            reader.expect(b':')?;
            skimmed.member(&name, &mut reader, json)?;
            if !names.insert(name) {
                return Err(Refused::Data);
            }
        }
        reader.close(b'}')?;
        reader.end()?;
        Ok(skimmed)
    }

    /// Parses the value of a member.
    fn member(&mut self, name: &str, reader: &mut Reader<'_>, json: &str) -> Result<(), Refused> {
        if let Some(place) = self.times.place(name) {
            reader.peek();
            *place = Some(time_of(reader.number()?).ok_or(Refused::Data)?);
            return Ok(());
        }
        let place = match name {
            "jti" => &mut self.marks.id,
            "iss" => &mut self.marks.issuer,
            "sub" => &mut self.marks.subject,
            ISSUED_AT_MILLIS => {
                // Tokens of other issuers may use this name for any value.
                let Some(b'0'..=b'9') = reader.peek() else { return check(reader) };
                if let Number::Whole(millis) = reader.number()? {
                    self.times.iat_millis = Some(millis);
                }
                return Ok(());
            }
            _ => return check(reader),
        };
        *place = match reader.peek() {
            Some(b'"') => reader.plain()?.map_or(Mark::Escaped, |text| Mark::of(text, json)),
            _ => check(reader).map(|()| Mark::Absent)?,
        };
        Ok(())
    }
}

/// Skips a value. Fails if [`Value`] cannot represent it.
fn check(reader: &mut Reader<'_>) -> Result<(), Refused> {
    let mut is_first = true;
    match reader.peek() {
        Some(b'"') => reader.plain().map(drop),
        Some(b'{') => {
            reader.open()?;
            while reader.has_next(b'}', is_first)? {
                reader.begins_name()?;
                let name = reader.plain()?.unwrap_or_else(|| reader.scratch());
                if is_first && is_private(name) {
                    return Err(Refused::Data);
                }
                is_first = false;
                reader.expect(b':')?;
                check(reader)?;
            }
            reader.close(b'}')
        }
        Some(b'[') => {
            reader.open()?;
            while reader.has_next(b']', is_first)? {
                is_first = false;
                check(reader)?;
            }
            reader.close(b']')
        }
        Some(b'-' | b'0'..=b'9') => reader.number().map(drop),
        _ => reader.scalar().map(drop),
    }
}

/// The names of an object so far. The first few are stored inline; further
/// names and names with escapes are stored in a set.
#[derive(Default)]
struct Names<'de> {
    first: [&'de str; TYPICAL_MEMBERS],
    count: usize,
    others: BTreeSet<Cow<'de, str>>,
}

impl<'de> Names<'de> {
    /// Adds a name. Returns true if the name is new.
    fn insert(&mut self, name: Cow<'de, str>) -> bool {
        if self.first[..self.count].contains(&&*name) {
            return false;
        }
        match name {
            Cow::Borrowed(name) if self.count < TYPICAL_MEMBERS => {
                self.first[self.count] = name;
                self.count += 1;
                self.others.is_empty() || !self.others.contains(name)
            }
            name => self.others.insert(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn times(json: &str) -> Option<Times> {
        skim(json).map(|(times, _)| times)
    }

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
            let text = str::from_utf8(json).ok();
            assert_eq!(text.and_then(times), None, "{}", json.escape_ascii());
        }
    }

    #[test]
    fn rejects_duplicate_names_in_any_notation() {
        #[track_caller]
        fn check(names: &[&str], expected: bool) {
            let members: Vec<_> = names.iter().map(|name| format!("\"{name}\":0")).collect();
            let json = format!("{{{}}}", members.join(","));
            assert_eq!(times(&json).is_some(), expected, "{json}");
            assert_eq!(object(json.as_bytes()).is_some(), expected, "{json}");
        }
        check(&["\\u0061", "b"], true);
        check(&["a", "\\u0061"], false);
        check(&["\\u0061", "a"], false);
        check(&["\\u0061", "\\u0061"], false);
        let many: Vec<String> = (0..30).map(|number| format!("n{number}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        check(&many, true);
        for twice in ["n0", "n7", "n8", "n29", "\\u006e0", "\\u006e29"] {
            check(&[&many[..], &[twice]].concat(), false);
            check(&[&[twice], &many[..]].concat(), false);
        }
    }

    #[test]
    fn finds_times_by_escaped_names() {
        let found = times(r#"{"\u0065xp":2,"iat":1.5,"x":{"nbf":9}}"#).unwrap();
        assert_eq!((found.exp, found.iat, found.nbf), (Some(2), Some(1), None));
        for json in [r#"{"exp":"2"}"#, r#"{"nbf":-1}"#, r#"{"iat":[1]}"#, r#"{"exp":null}"#] {
            assert!(times(json).is_none(), "{json}");
        }
    }

    #[test]
    fn ignores_milliseconds_of_another_type() {
        #[track_caller]
        fn check(value: &str, expected: Option<u64>) {
            let json = format!(r#"{{"iat":1,"iat_ms":{value},"exp":2}}"#);
            let found = times(&json).unwrap();
            assert_eq!((found.iat_millis, found.exp), (expected, Some(2)), "{json}");
        }
        check("1500", Some(1_500));
        for value in ["1500.5", "-1", "1e3", "\"1500\"", "null", "[1]", "{\"a\":1}", "true"] {
            check(value, None);
        }
        for json in [r#"{"iat_ms":01}"#, r#"{"iat_ms":1,"iat_ms":1}"#, r#"{"iat_ms":[1}"#] {
            assert!(times(json).is_none(), "{json}");
        }
    }

    #[test]
    fn rejects_private_keys_of_serde_json() {
        for json in [
            r#"{"a":{"$serde_json::private::RawValue":"no JSON"}}"#,
            r#"{"a":{"\u0024serde_json::private::RawValue":"[1]"}}"#,
            r#"{"a":{"$serde_json::private::Number":"no number"}}"#,
            r#"{"a":[{"$serde_json::private::Number":"1","b":2}]}"#,
        ] {
            assert!(times(json).is_none(), "{json}");
        }
        let plain = r#"{"a":{"b":1,"$serde_json::private::RawValue":"x"},"$serde":0}"#;
        assert!(times(plain).is_some() && object(plain.as_bytes()).is_some());
    }

    #[test]
    fn times_of_a_usual_object_allocate_nothing() {
        let json = r#"{"sub":"ada","roles":["a","b"],"in":{"a":[1.5]},"iat":1,"exp":2}"#;
        let counted = allocation_counter::measure(|| assert!(times(json).is_some()));
        assert_eq!(counted.count_total, 0);
    }

    /// Checks each text of nst/JSONTestSuite as the value of a member. It must
    /// be accepted if and only if serde_json accepts it.
    #[test]
    fn accepts_the_members_that_serde_json_accepts() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/json-parsing");
        let mut files = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let text = std::fs::read(entry.unwrap().path()).unwrap();
            let member = [&b"{\"a\":"[..], &text, b"}"].concat();
            let expected: Option<Value> = serde_json::from_slice(&member).ok();
            let read = object(&member).map(Value::Object);
            assert_eq!(read, expected, "{}", member.escape_ascii());
            let skimmed = str::from_utf8(&member).ok().and_then(times);
            assert_eq!(skimmed.is_some(), expected.is_some(), "{}", member.escape_ascii());
            files += 1;
        }
        assert!(files >= 318, "{files}");
    }

    #[test]
    fn reads_every_value_within_the_depth_limit() {
        for levels in [1, 2, 126, 127, 128] {
            let inner = (1..levels).fold(json!(0), |value, _| json!([value]));
            let Value::Object(map) = json!({ "a": inner }) else { panic!("an object") };
            let json = serde_json::to_vec(&map).unwrap();
            assert_eq!(is_too_deep(&map), object(&json).is_none(), "{levels}");
            let text = str::from_utf8(&json).unwrap();
            assert_eq!(is_too_deep(&map), times(text).is_none(), "{levels}");
            assert_eq!(is_too_deep(&map), levels > 127, "{levels}");
        }
    }
}
