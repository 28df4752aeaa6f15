//! The position at which a page starts.
//!
//! A cursor is a base64url-encoded JSON list: the order, whether the page ends
//! (rather than starts) there, and the keys. It is not signed: its keys pass
//! the same checks as a filter, and the scope applies to it.
//!
//! If the keys are too long for a cursor, it contains the item's id instead.
//! The keys are then read from the store when the cursor is used.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;

/// The position at which a page starts.
#[derive(Debug, PartialEq)]
pub(crate) struct Cursor {
    /// The order, as in the `sort` parameter.
    pub(crate) sort: String,
    /// True if the page comes before the keys.
    pub(crate) backwards: bool,
    pub(crate) place: Place,
}

/// The item next to a page.
#[derive(Debug, PartialEq)]
pub(crate) enum Place {
    /// Identified by its keys. The item may be gone when the cursor is used.
    Keys(Vec<Value>),
    /// Identified by its id. The item must still exist.
    Item(Value),
}

/// The maximum length of a cursor, in bytes.
pub(crate) const MAX_LENGTH: usize = 4_096;

impl Cursor {
    /// Decodes a cursor. Returns `None` if the text is invalid.
    pub(crate) fn read(text: &str) -> Option<Self> {
        if text.len() > MAX_LENGTH {
            return None;
        }
        let json = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (sort, backwards, place) = serde_json::from_slice(&json).ok()?;
        let place = match place {
            Value::Array(keys) => Place::Keys(keys),
            id => Place::Item(id),
        };
        Some(Self { sort, backwards, place })
    }

    /// Encodes the cursor. Returns `None` if its position is too long.
    pub(crate) fn write(&self) -> Option<String> {
        let json = match &self.place {
            Place::Keys(keys) => serde_json::to_vec(&(&self.sort, self.backwards, keys)),
            Place::Item(id) => serde_json::to_vec(&(&self.sort, self.backwards, id)),
        };
        let json = json.ok()?;
        let text = URL_SAFE_NO_PAD.encode(json);
        (text.len() <= MAX_LENGTH).then_some(text)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn cursors_round_trip() {
        let keys = vec![json!(5), json!("é\u{0}\"')--"), json!(7)];
        for place in [Place::Keys(keys), Place::Item(json!(7)), Place::Item(json!("é"))] {
            let cursor = Cursor { sort: "-price,name".into(), backwards: true, place };
            let text = cursor.write().unwrap();
            assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)));
            assert_eq!(Cursor::read(&text), Some(cursor));
        }
    }

    #[test]
    fn rejects_other_texts() {
        let encode = |json: &str| URL_SAFE_NO_PAD.encode(json);
        for text in [
            String::new(),
            "%%%".into(),
            encode(""),
            encode("[]"),
            encode("{}"),
            encode(r#"["",false]"#),
            encode(r#"["",false,[1],2]"#),
            encode(r#"["",0,[1]]"#),
            encode(r#"["",false,[1]]"#) + "=",
            encode(&format!(r#"["",false,{}{}]"#, "[".repeat(200), "]".repeat(200))),
            encode(&format!(r#"["",false,["{}"]]"#, "x".repeat(MAX_LENGTH))),
        ] {
            assert_eq!(Cursor::read(&text), None, "{text}");
        }
        let long = json!("x".repeat(4_000));
        for place in [Place::Keys(vec![long.clone()]), Place::Item(long)] {
            let cursor = Cursor { sort: String::new(), backwards: false, place };
            assert_eq!(cursor.write(), None);
        }
    }
}
