//! [`GivenRateLimit`]: the notations of a rate limit in a file.
//!
//! Spec: Router options › `rateLimit`.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::RateLimit;

/// Reads `rateLimit` as the specification has it: an object, or `false` for no
/// limit; `true` means the defaults. For `#[serde(deserialize_with)]`.
///
/// # Errors
/// Fails for any other value.
pub fn optional<'de, D: Deserializer<'de>>(source: D) -> Result<Option<RateLimit>, D::Error> {
    Ok(match GivenRateLimit::deserialize(source)? {
        GivenRateLimit::Switch(false) => None,
        GivenRateLimit::Switch(true) => Some(RateLimit::default()),
        GivenRateLimit::Options(options) => Some(*options),
    })
}

/// The notations of a rate limit in a file: `true`, `false`, or an object.
///
/// An error in the object names its key, which an untagged enum would not do.
#[derive(Clone, Debug)]
pub enum GivenRateLimit {
    /// On or off.
    Switch(bool),
    /// The options.
    Options(Box<RateLimit>),
}

impl<'de> Deserialize<'de> for GivenRateLimit {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        source.deserialize_any(GivenVisitor)
    }
}

struct GivenVisitor;

impl<'de> Visitor<'de> for GivenVisitor {
    type Value = GivenRateLimit;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("true, false, or an object with the options of a rate limit")
    }

    fn visit_bool<E>(self, is_on: bool) -> Result<GivenRateLimit, E> {
        Ok(GivenRateLimit::Switch(is_on))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<GivenRateLimit, A::Error> {
        let options = RateLimit::deserialize(MapAccessDeserializer::new(map))?;
        Ok(GivenRateLimit::Options(Box::new(options)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn false_is_no_limit() {
        let read = |json: &str| optional(&mut serde_json::Deserializer::from_str(json));
        assert!(read("false").unwrap().is_none());
        assert_eq!(read("true").unwrap().unwrap().max_requests, 100);
        assert_eq!(read(r#"{ "maxRequests": 5 }"#).unwrap().unwrap().max_requests, 5);
        assert_eq!(read(r#"{ "max": 5 }"#).unwrap().unwrap().max_requests, 5);
    }

    #[test]
    fn a_mistake_in_a_file_is_told_with_its_key() {
        for (json, expected) in [
            ("5", "invalid type: integer `5`, expected true, false, or an object with the"),
            (r#"{ "most": 5 }"#, "unknown field `most`, expected one of `windowMs`"),
            (r#"{ "max": 5, "maxRequests": 5 }"#, "duplicate field `max_requests`"),
            (r#"{ "max": "5" }"#, "invalid type: string \"5\", expected u32"),
        ] {
            let error = optional(&mut serde_json::Deserializer::from_str(json)).unwrap_err();
            assert!(error.to_string().starts_with(expected), "{json}: {error}");
        }
    }
}
