//! [`Cursor`]: the place in an order at which a page begins.
//!
//! A cursor is base64url of a JSON list: the order, true if the page ends there
//! instead of beginning, and the keys. It is not signed: its keys pass the same
//! checks as a filter, and the scope holds for it.
//!
//! Keys that are too long for a cursor are left out. The id of their item stands in
//! their place, and the store is asked for the keys when the cursor comes back.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;

/// The place in an order at which a page begins.
#[derive(Debug, PartialEq)]
pub(crate) struct Cursor {
    /// The order, as the parameter `sort` has it.
    pub(crate) sort: String,
    /// True if the page is the one in front of the keys.
    pub(crate) backwards: bool,
    pub(crate) place: Place,
}

/// The item beside a page, as a cursor names it.
#[derive(Debug, PartialEq)]
pub(crate) enum Place {
    /// By its keys: the item may be gone when the cursor comes back.
    Keys(Vec<Value>),
    /// By its id: the item must be there.
    Item(Value),
}

/// The largest length of a cursor, in bytes.
pub(crate) const MAX_LENGTH: usize = 4_096;

impl Cursor {
    /// Reads a cursor; `None` if nobody wrote such a text.
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

    /// Writes the cursor; `None` if its place is too long for one.
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
    fn a_cursor_is_read_as_it_was_written() {
        let keys = vec![json!(5), json!("é\u{0}\"')--"), json!(7)];
        for place in [Place::Keys(keys), Place::Item(json!(7)), Place::Item(json!("é"))] {
            let cursor = Cursor { sort: "-price,name".into(), backwards: true, place };
            let text = cursor.write().unwrap();
            assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)));
            assert_eq!(Cursor::read(&text), Some(cursor));
        }
    }

    #[test]
    fn other_texts_are_no_cursors() {
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
