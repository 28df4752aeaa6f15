//! [`ListWriter`]: writes the values of a list one by one.

use serde::Serialize;

use crate::write::buffer::Buffer;
use crate::write::to_json::{finish, take};
use crate::write::value::JsonWriter;

/// A JSON writer that receives the values of a list one by one. The caller may
/// stop after any value.
///
/// The output consists of the initial text, the values with commas between
/// them, and the final text. The brackets of the list belong to the initial and
/// the final text. Values are written as by [`to_json`](crate::to_json).
#[derive(Debug)]
pub struct ListWriter {
    buffer: Buffer,
    /// The start and the end of each value.
    places: Vec<(usize, usize)>,
}

impl ListWriter {
    /// Creates a writer for about `count` values. The output begins with
    /// `start`.
    #[must_use]
    pub fn new(start: &str, count: usize) -> Self {
        let mut buffer = take();
        buffer.slice(start.as_bytes());
        Self { buffer, places: Vec::with_capacity(count) }
    }

    /// Writes a value.
    ///
    /// # Errors
    /// Fails like [`to_json`](crate::to_json). The text is then unusable.
    pub fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), serde_json::Error> {
        if !self.places.is_empty() {
            self.buffer.push(b',');
        }
        let start = self.buffer.written().len();
        value.serialize(JsonWriter::new(&mut self.buffer))?;
        self.places.push((start, self.buffer.written().len()));
        Ok(())
    }

    /// Returns the number of bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.buffer.written().len()
    }

    /// Returns the number of values.
    #[must_use]
    pub fn count(&self) -> usize {
        self.places.len()
    }

    /// Reverses the order of the values.
    pub fn reverse(&mut self) {
        let Some(&(first, _)) = self.places.first() else { return };
        let written = self.buffer.written();
        // The reversed text has the same length.
        let mut reversed = Buffer::new(vec![0; written.len()]);
        reversed.slice(&written[..first]);
        for (index, &(start, end)) in self.places.iter().rev().enumerate() {
            if index > 0 {
                reversed.push(b',');
            }
            reversed.slice(&written[start..end]);
        }
        self.buffer = reversed;
    }

    /// Appends `end`, and returns the text.
    #[must_use]
    pub fn finish(mut self, end: &str) -> Vec<u8> {
        self.buffer.slice(end.as_bytes());
        finish(self.buffer)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(values: &[serde_json::Value], expected: &str, reversed: &str) {
        let made = || {
            let mut list = ListWriter::new("{\"a\":[", values.len());
            values.iter().for_each(|value| list.push(value).unwrap());
            assert_eq!(list.count(), values.len());
            list
        };
        assert_eq!(String::from_utf8(made().finish("]}")).unwrap(), expected);
        let mut list = made();
        list.reverse();
        assert_eq!(list.size(), expected.len() - 2);
        assert_eq!(String::from_utf8(list.finish("]}")).unwrap(), reversed);
    }

    #[test]
    fn values_have_commas_between_them() {
        check(&[], "{\"a\":[]}", "{\"a\":[]}");
        check(&[json!(1)], "{\"a\":[1]}", "{\"a\":[1]}");
        let values = [json!({ "b": "\"" }), json!([]), json!("é")];
        check(&values, r#"{"a":[{"b":"\""},[],"é"]}"#, r#"{"a":["é",[],{"b":"\""}]}"#);
    }

    #[test]
    fn an_unserializable_value_is_an_error() {
        let mut list = ListWriter::new("[", 1);
        let map = std::collections::BTreeMap::from([(vec![1], 1)]);
        assert!(list.push(&map).is_err());
    }
}
