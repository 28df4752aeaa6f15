//! Deserializes rate limits, and other options that can be disabled, from a
//! configuration file.
// Spec: Router options › `rateLimit`.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use stockade_core::{IntoSetting as _, Setting};

use super::RateLimit;

/// Deserializes `rateLimit` as the specification defines it: an object, or
/// `false` for no limit; `true` means the defaults. For
/// `#[serde(deserialize_with)]`.
///
/// # Errors
/// Fails for any other value.
pub fn rate_limit_setting<'de, D: Deserializer<'de>>(
    source: D,
) -> Result<Setting<RateLimit>, D::Error> {
    object_setting(source, "true, false, or an object with the options of a rate limit")
}

/// Deserializes an object, `false` for off, or `true` for the default.
/// `expected` names these values in an error.
///
/// An error in the object names its key, unlike an error of an untagged enum.
///
/// # Errors
/// Fails for any other value.
pub fn object_setting<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    source: D,
    expected: &'static str,
) -> Result<Setting<T>, D::Error> {
    source.deserialize_any(SettingVisitor { expected, value: PhantomData })
}

struct SettingVisitor<T> {
    expected: &'static str,
    value: PhantomData<T>,
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for SettingVisitor<T> {
    type Value = Setting<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_bool<E>(self, is_on: bool) -> Result<Setting<T>, E> {
        Ok(is_on.into_setting())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Setting<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Setting::Value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn false_disables_the_limit() {
        let read =
            |json: &str| rate_limit_setting(&mut serde_json::Deserializer::from_str(json)).unwrap();
        assert!(read("false").is_off());
        assert!(matches!(read("true"), Setting::On));
        assert_eq!(read(r#"{ "maxRequests": 5 }"#).value().unwrap().max_requests, 5);
        assert_eq!(read(r#"{ "max": 5 }"#).value().unwrap().max_requests, 5);
    }

    #[test]
    fn an_error_in_a_file_names_its_key() {
        for (json, expected) in [
            ("5", "invalid type: integer `5`, expected true, false, or an object with the"),
            (r#"{ "most": 5 }"#, "unknown field `most`, expected one of `windowMs`"),
            (r#"{ "max": 5, "maxRequests": 5 }"#, "duplicate field `max_requests`"),
            (r#"{ "max": "5" }"#, "invalid type: string \"5\", expected u32"),
        ] {
            let error =
                rate_limit_setting(&mut serde_json::Deserializer::from_str(json)).unwrap_err();
            assert!(error.to_string().starts_with(expected), "{json}: {error}");
        }
    }
}
