//! [`Marks`]: the claims by which a token can be revoked, read without the others.
//!
//! Hot: nothing is allocated for texts without escapes.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::json::Name;

/// `jti` and `sub` of a payload, where they are texts.
#[derive(Debug, Default, Eq, PartialEq)]
pub(crate) struct Marks<'t> {
    pub(crate) id: Option<Cow<'t, str>>,
    pub(crate) subject: Option<Cow<'t, str>>,
}

impl<'t> Marks<'t> {
    /// Reads them from the payload of a verified token, in which each name stands once.
    pub(super) fn read(payload: &'t str) -> Self {
        serde_json::from_str(payload).unwrap_or_default()
    }
}

impl<'de> Deserialize<'de> for Marks<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MarksVisitor)
    }
}

struct MarksVisitor;

impl<'de> Visitor<'de> for MarksVisitor {
    type Value = Marks<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Marks<'de>, A::Error> {
        let mut marks = Marks::default();
        while let Some(Name(name)) = access.next_key()? {
            match &*name {
                "jti" => marks.id = access.next_value::<Text<'_>>()?.0,
                "sub" => marks.subject = access.next_value::<Text<'_>>()?.0,
                _ => {
                    let IgnoredAny = access.next_value()?;
                }
            }
        }
        Ok(marks)
    }
}

/// A text, or `None` for any other value.
struct Text<'de>(Option<Cow<'de, str>>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
        Ok(Text(Some(Cow::Borrowed(text))))
    }

    fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
        Ok(Text(Some(Cow::Owned(text.to_owned()))))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Text<'de>, E> {
        Ok(Text(None))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Text<'de>, E> {
        Ok(Text(None))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Text<'de>, E> {
        Ok(Text(None))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Text<'de>, E> {
        Ok(Text(None))
    }

    fn visit_unit<E>(self) -> Result<Text<'de>, E> {
        Ok(Text(None))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Text<'de>, A::Error> {
        while let Some(IgnoredAny) = access.next_element()? {}
        Ok(Text(None))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Text<'de>, A::Error> {
        while let Some((IgnoredAny, IgnoredAny)) = access.next_entry()? {}
        Ok(Text(None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_texts_by_whatever_name() {
        #[track_caller]
        fn check(json: &str, id: Option<&str>, subject: Option<&str>) {
            let marks = Marks::read(json);
            assert_eq!((marks.id.as_deref(), marks.subject.as_deref()), (id, subject), "{json}");
        }
        check("{}", None, None);
        check(r#"{"sub":"ada","x":{"jti":"no"},"jti":"7"}"#, Some("7"), Some("ada"));
        check(r#"{"\u006ati":"a\n","sub":"\u0061da"}"#, Some("a\n"), Some("ada"));
        for other in ["1", "-1", "1.5", "null", "true", "[\"a\",[1]]", "{\"a\":{\"b\":1}}"] {
            check(&format!(r#"{{"jti":{other},"sub":"ada"}}"#), None, Some("ada"));
        }
    }
}
