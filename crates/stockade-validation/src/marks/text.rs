//! The marks, applied to JSON text.
//!
//! Remaining values are copied as text, so numbers retain all digits. The work
//! is linear in the length of the text: the first pass finds each value, and
//! the second pass writes the remaining values.

use std::borrow::Cow;
use std::iter::successors;
use std::ops::Range;

use serde_json::Value;

use super::{Mark, Marks, Member, MemberRules};
use crate::node::Node;
use stockade_json::{Reader, Refused};

impl Marks {
    /// Returns true if any place, or the whole value, has the mark.
    #[must_use]
    pub fn has(&self, mark: Mark) -> bool {
        self.leads_to_mark(&self.compiled.root, &[mark])
    }

    /// Removes the marked places of a value. A marked whole becomes null.
    pub fn strip_whole(&self, mark: Mark, value: &mut Value) {
        if self.is_marked(&self.compiled.root, mark) {
            *value = Value::Null;
        } else {
            self.strip(mark, value);
        }
    }

    /// Returns a JSON text without the marked places, or `None` if it does not
    /// contain any. A marked whole becomes null.
    ///
    /// # Errors
    /// Fails if the text is not JSON.
    pub fn strip_text(&self, mark: Mark, text: &str) -> Result<Option<String>, serde_json::Error> {
        let Ok(parts) = parts_of(text) else {
            // The reader reports no reason, so serde_json reads the text again.
            let mut value = serde_json::from_str(text)?;
            self.strip_whole(mark, &mut value);
            return serde_json::to_string(&value).map(Some);
        };
        let mut copy = TextCopy { marks: self, mark, text, parts: &parts, out: String::new() };
        let has_changed = copy.place(&self.compiled.root, 0);
        Ok(has_changed.then_some(copy.out))
    }
}

/// A value of a text.
struct Part {
    /// The name before the value, including quotes; empty if the value is not a
    /// member.
    name: Range<usize>,
    value: Range<usize>,
    /// The number of parts that it consists of, including itself.
    size: usize,
}

/// Finds the values of a text: each container before its content.
fn parts_of(text: &str) -> Result<Vec<Part>, Refused> {
    let mut reader = Reader::new(text, usize::MAX);
    let mut parts = Vec::new();
    add_part(&mut reader, &mut parts, 0..0)?;
    reader.end()?;
    Ok(parts)
}

/// Adds a value and its content. The reader limits the nesting depth, and so
/// the recursion.
fn add_part(
    reader: &mut Reader<'_>,
    parts: &mut Vec<Part>,
    name: Range<usize>,
) -> Result<(), Refused> {
    let index = parts.len();
    let first = reader.peek();
    let start = reader.position();
    parts.push(Part { name, value: start..start, size: 1 });
    let mut is_first = true;
    match first {
        Some(b'{') => {
            reader.open()?;
            while reader.has_next(b'}', is_first)? {
                reader.begins_name()?;
                let begin = reader.position();
                reader.plain()?;
                let name = begin..reader.position();
                reader.expect(b':')?;
                add_part(reader, parts, name)?;
                is_first = false;
            }
            reader.close(b'}')?;
        }
        Some(b'[') => {
            reader.open()?;
            while reader.has_next(b']', is_first)? {
                add_part(reader, parts, 0..0)?;
                is_first = false;
            }
            reader.close(b']')?;
        }
        Some(b'"') => drop(reader.plain()?),
        Some(b'-' | b'0'..=b'9') => drop(reader.number()?),
        _ => drop(reader.scalar()?),
    }
    let size = parts.len() - index;
    if let Some(part) = parts.get_mut(index) {
        part.value.end = reader.position();
        part.size = size;
    }
    Ok(())
}

/// A copy of a text without the marked places.
struct TextCopy<'a> {
    marks: &'a Marks,
    mark: Mark,
    text: &'a str,
    parts: &'a [Part],
    out: String,
}

impl<'a> TextCopy<'a> {
    /// Copies a value that cannot be removed; a marked value becomes null.
    /// Returns true if anything has changed, as the functions below do.
    fn place(&mut self, node: &Node, index: usize) -> bool {
        if self.marks.is_marked(node, self.mark) {
            self.out.push_str("null");
            return true;
        }
        self.value(node, index)
    }

    fn value(&mut self, node: &Node, index: usize) -> bool {
        let raw = self.raw(index);
        match raw.as_bytes().first() {
            Some(b'{') => {
                let value = || serde_json::from_str(raw).unwrap_or_default();
                let member_rules =
                    self.marks.member_rules_by(node, |tag| self.tag_of(index, tag), value);
                match member_rules {
                    Some(member_rules) => self.object(member_rules, index),
                    None => self.keep(index),
                }
            }
            Some(b'[') => self.array(node, index),
            _ => self.keep(index),
        }
    }

    fn object(&mut self, member_rules: MemberRules<'_>, index: usize) -> bool {
        let mut has_changed = false;
        let mut is_first = true;
        self.out.push('{');
        for child in self.children(index) {
            let name = self.name(child);
            let member = self.marks.member(member_rules, self.mark, &name);
            let is_removed = match member {
                Member::Removable(node) => self.marks.is_marked(node, self.mark),
                Member::Marked => true,
                Member::Content(_) | Member::Unknown => false,
            };
            if is_removed {
                has_changed = true;
                continue;
            }
            if !is_first {
                self.out.push(',');
            }
            is_first = false;
            self.out.push_str(self.quoted_name(child));
            self.out.push(':');
            has_changed |= match member {
                Member::Removable(node) => self.value(node, child),
                Member::Content(node) => self.place(node, child),
                Member::Marked | Member::Unknown => self.keep(child),
            };
        }
        self.out.push('}');
        has_changed
    }

    fn array(&mut self, node: &Node, index: usize) -> bool {
        let mut has_changed = false;
        self.out.push('[');
        for (position, child) in self.children(index).enumerate() {
            if position > 0 {
                self.out.push(',');
            }
            has_changed |= match self.marks.element(node, position) {
                Some(node) => self.place(node, child),
                None => self.keep(child),
            };
        }
        self.out.push(']');
        has_changed
    }

    /// Copies a value unchanged.
    fn keep(&mut self, index: usize) -> bool {
        self.out.push_str(self.raw(index));
        false
    }

    /// Returns the text of a value.
    fn raw(&self, index: usize) -> &'a str {
        let range = self.parts.get(index).map(|part| part.value.clone());
        range.and_then(|range| self.text.get(range)).unwrap_or_default()
    }

    /// Returns the indexes of the elements or members of a container.
    fn children(&self, index: usize) -> impl Iterator<Item = usize> + use<'a> {
        let parts = self.parts;
        let end = index + parts.get(index).map_or(0, |part| part.size);
        let next = move |child: &usize| Some(child + parts.get(*child)?.size);
        successors(Some(index + 1), next).take_while(move |child| *child < end)
    }

    /// Returns the name before a member, as written in the text.
    fn quoted_name(&self, index: usize) -> &'a str {
        let range = self.parts.get(index).map(|part| part.name.clone());
        range.and_then(|range| self.text.get(range)).unwrap_or_default()
    }

    fn name(&self, index: usize) -> Cow<'a, str> {
        unescaped(self.quoted_name(index))
    }

    /// Returns the text of the last member with this name, as parsers do. The inner `Option` is
    /// `None` for another type.
    fn tag_of(&self, index: usize, name: &str) -> Option<Option<Cow<'a, str>>> {
        let child = self.children(index).filter(|child| self.name(*child) == name).last()?;
        let raw = self.raw(child);
        Some(raw.starts_with('"').then(|| unescaped(raw)))
    }
}

/// Returns the content of a string that the reader has validated.
fn unescaped(quoted: &str) -> Cow<'_, str> {
    let plain = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    match plain {
        Some(plain) if !plain.contains('\\') => Cow::Borrowed(plain),
        _ => Cow::Owned(serde_json::from_str(quoted).unwrap_or_default()),
    }
}
