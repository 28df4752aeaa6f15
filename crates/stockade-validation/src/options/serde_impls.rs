//! serde implementations for [`ValidationOptions`], with the names of the
//! specification.
//!
//! Written by hand, so this crate does not need macros.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

use super::ValidationOptions;

const FIELDS: [&str; 9] = [
    "abortEarly",
    "stripUnknown",
    "allowUnknown",
    "coerceTypes",
    "listFromOne",
    "emptyAsAbsent",
    "checkboxes",
    "strictNumbers",
    "maxErrors",
];

/// Reads an object. An absent key has its default; an unknown key is an error.
impl<'de> Deserialize<'de> for ValidationOptions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_struct("ValidationOptions", &FIELDS, OptionsVisitor)
    }
}

struct OptionsVisitor;

impl<'de> Visitor<'de> for OptionsVisitor {
    type Value = ValidationOptions;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of validation options")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ValidationOptions, A::Error> {
        let mut options = ValidationOptions::default();
        let mut seen = [false; FIELDS.len()];
        while let Some(key) = map.next_key::<String>()? {
            let place = FIELDS.iter().position(|name| *name == key);
            let Some(place) = place else {
                return Err(A::Error::unknown_field(&key, &FIELDS));
            };
            if std::mem::replace(&mut seen[place], true) {
                return Err(A::Error::duplicate_field(FIELDS[place]));
            }
            match place {
                0 => options.abort_early = map.next_value()?,
                1 => options.strip_unknown = map.next_value()?,
                2 => options.allow_unknown = map.next_value()?,
                3 => options.coerce_types = map.next_value()?,
                4 => options.list_from_one = map.next_value()?,
                5 => options.empty_as_absent = map.next_value()?,
                6 => options.checkboxes = map.next_value()?,
                7 => options.strict_numbers = map.next_value()?,
                _ => options.max_errors = map.next_value()?,
            }
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_options_with_the_names_of_the_specification() {
        let read = |text: &str| serde_json::from_str::<ValidationOptions>(text);
        assert_eq!(read("{}").unwrap(), ValidationOptions::new());
        let all = r#"{ "abortEarly": true, "stripUnknown": true, "allowUnknown": false,
            "coerceTypes": true, "listFromOne": true, "emptyAsAbsent": true, "checkboxes": true,
            "strictNumbers": true, "maxErrors": 7 }"#;
        let expected =
            ValidationOptions::query().abort_early(true).strip_unknown(true).allow_unknown(false);
        let expected = expected.empty_as_absent(true).checkboxes(true).strict_numbers(true);
        let expected = expected.max_errors(7);
        assert_eq!(read(all).unwrap(), expected);
        assert_eq!(read(r#"{ "allowUnknown": null }"#).unwrap(), ValidationOptions::new());
    }

    #[test]
    fn unknown_and_duplicate_keys_are_errors() {
        let error =
            |text: &str| serde_json::from_str::<ValidationOptions>(text).unwrap_err().to_string();
        assert!(error(r#"{ "abort_early": true }"#).starts_with("unknown field `abort_early`"));
        let twice = r#"{ "abortEarly": true, "abortEarly": true }"#;
        assert!(error(twice).starts_with("duplicate field `abortEarly`"));
    }
}
