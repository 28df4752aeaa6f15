//! JSON objects without repeated names.
//!
//! Hot: [`skim`], which allocates nothing for an object whose names are few and
//! have no escapes.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::claims::{Times, time};
use super::marks::{Mark, Marks};

/// Reads one JSON object; `None` for any other value, for text that is not
/// UTF-8, and for a repeated name at the top level.
///
/// With a repeated name one reader can be made to see other claims than the
/// next. RFC 7519, section 4.
pub(super) fn object(json: &[u8]) -> Option<Map<String, Value>> {
    // One check of the whole text is quicker than one for each string.
    let json = str::from_utf8(json).ok()?;
    serde_json::from_str(json).ok().map(|Object(map)| map)
}

/// Reads the times of an object, and where its marks stand, without the rest of it.
/// Returns `None` where [`object`] does or, with other features of serde_json, would do
/// so, and for a time that is no number.
pub(super) fn skim(json: &str) -> Option<(Times, Marks)> {
    let Skimmed { times, id, issuer, subject } = serde_json::from_str(json).ok()?;
    let [id, issuer, subject] = [id, issuer, subject].map(|text| text.mark(json));
    Some((times, Marks { id, issuer, subject }))
}

/// Returns true if an object is nested deeper than [`object`] reads.
pub(super) fn is_too_deep(object: &Map<String, Value>) -> bool {
    object.values().any(|value| exceeds(value, MAX_DEPTH - 1))
}

/// Returns true if `value` is nested more than `levels` deep. Recurses `levels`
/// deep at most.
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

/// A reader of an object that keeps the times and the marks only.
struct Skimmed<'de> {
    times: Times,
    id: Checked<'de>,
    issuer: Checked<'de>,
    subject: Checked<'de>,
}

impl<'de> Deserialize<'de> for Skimmed<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(SkimmedVisitor)
    }
}

struct SkimmedVisitor;

impl<'de> Visitor<'de> for SkimmedVisitor {
    type Value = Skimmed<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Skimmed<'de>, A::Error> {
        let mut names = Names::default();
        let mut times = Times::default();
        let (mut id, mut issuer, mut subject) = (Checked::Other, Checked::Other, Checked::Other);
        while let Some(Name(name)) = access.next_key()? {
            if let Some(place) = times.place(&name) {
                let time = time(&access.next_value()?);
                *place = Some(time.ok_or_else(|| A::Error::custom("no time"))?);
            } else {
                let value = access.next_value()?;
                match &*name {
                    "jti" => id = value,
                    "iss" => issuer = value,
                    "sub" => subject = value,
                    _ => {}
                }
            }
            if !names.insert(name) {
                return Err(A::Error::custom("a name stands twice"));
            }
        }
        Ok(Skimmed { times, id, issuer, subject })
    }
}

/// The names of an object so far. As many as most tokens have are stored
/// inline, the others, and those with escapes, in a set.
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

/// A name, borrowed unless it has escapes.
struct Name<'de>(Cow<'de, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(NameVisitor)
    }
}

struct NameVisitor;

impl<'de> Visitor<'de> for NameVisitor {
    type Value = Name<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Name<'de>, E> {
        Ok(Name(Cow::Borrowed(name)))
    }

    fn visit_str<E>(self, name: &str) -> Result<Name<'de>, E> {
        Ok(Name(Cow::Owned(name.to_owned())))
    }
}

/// Any value, read as strictly as [`Value`] reads it, of which only a text is kept.
enum Checked<'de> {
    Text(&'de str),
    /// A text with escapes.
    Escaped,
    Other,
}

impl Checked<'_> {
    /// Returns the place of the value in the whole text.
    fn mark(&self, json: &str) -> Mark {
        match self {
            Self::Text(text) => Mark::of(text, json),
            Self::Escaped => Mark::Escaped,
            Self::Other => Mark::Absent,
        }
    }
}

impl<'de> Deserialize<'de> for Checked<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // `IgnoredAny` would also pass a number that is too large, and half a
        // surrogate.
        deserializer.deserialize_any(CheckedVisitor)
    }
}

struct CheckedVisitor;

impl<'de> Visitor<'de> for CheckedVisitor {
    type Value = Checked<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Checked<'de>, E> {
        Ok(Checked::Other)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Checked<'de>, E> {
        Ok(Checked::Other)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Checked<'de>, E> {
        Ok(Checked::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Checked<'de>, E> {
        Ok(Checked::Other)
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Checked<'de>, E> {
        Ok(Checked::Text(text))
    }

    fn visit_str<E>(self, _: &str) -> Result<Checked<'de>, E> {
        Ok(Checked::Escaped)
    }

    fn visit_unit<E>(self) -> Result<Checked<'de>, E> {
        Ok(Checked::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Checked<'de>, A::Error> {
        while access.next_element::<Checked<'_>>()?.is_some() {}
        Ok(Checked::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Checked<'de>, A::Error> {
        let Some(Name(first)) = access.next_key()? else { return Ok(Checked::Other) };
        if first.starts_with(PRIVATE) {
            // With `arbitrary_precision` a number comes like this.
            let number: String = access.next_value()?;
            let is_number = first == NUMBER && number.parse::<serde_json::Number>().is_ok();
            return if is_number {
                Ok(Checked::Other)
            } else {
                Err(A::Error::custom("a private name"))
            };
        }
        access.next_value::<Checked<'_>>()?;
        while access.next_entry::<Checked<'_>, Checked<'_>>()?.is_some() {}
        Ok(Checked::Other)
    }
}

/// The beginning of a first name that [`Value`] takes for a message from
/// serde_json to itself. The value behind it is read once more, and may be
/// invalid. The features `arbitrary_precision` and `raw_value` of serde_json do
/// that, and any crate may turn them on.
const PRIVATE: &str = "$serde_json::private::";

/// Such a name, of a number.
const NUMBER: &str = "$serde_json::private::Number";

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
    fn names_stand_once_however_many_and_however_written() {
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
    fn times_are_found_by_whatever_name() {
        let found = times(r#"{"\u0065xp":2,"iat":1.5,"x":{"nbf":9}}"#).unwrap();
        assert_eq!((found.exp, found.iat, found.nbf), (Some(2), Some(1), None));
        for json in [r#"{"exp":"2"}"#, r#"{"nbf":-1}"#, r#"{"iat":[1]}"#, r#"{"exp":null}"#] {
            assert!(times(json).is_none(), "{json}");
        }
    }

    #[test]
    fn what_serde_json_could_take_for_its_own_is_not_read() {
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
            let skimmed = str::from_utf8(&member).ok().and_then(times);
            assert_eq!(skimmed.is_some(), expected.is_some(), "{}", member.escape_ascii());
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
            let text = str::from_utf8(&json).unwrap();
            assert_eq!(is_too_deep(&map), times(text).is_none(), "{levels}");
            assert_eq!(is_too_deep(&map), levels > 127, "{levels}");
        }
    }
}
