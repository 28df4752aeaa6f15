//! Hot: converts JSON text to a [`Tape`].

use std::borrow::Cow;

use serde_json::Number;

use super::tape::{Entry, Extent, Place, Tape};
use crate::equal::same;
use stockade_json::{Number as JsonNumber, Reader, Refused, Scalar, is_private};

impl<'t> Tape<'t> {
    /// Finds the values of a text.
    ///
    /// # Errors
    /// Fails if the text is not JSON or holds more than `most` values. Also
    /// fails if a tape cannot represent the text: an object has a duplicate
    /// name or more than [`MAX_MEMBERS`] members.
    pub(crate) fn of(text: &'t str, most: usize) -> Result<Self, Refused> {
        let first = MAX_FIRST.min(text.len() / BYTES_PER_ENTRY + 4);
        let mut recorder =
            Recorder { reader: Reader::new(text, most), entries: Vec::with_capacity(first) };
        recorder.value()?;
        recorder.reader.end()?;
        Ok(Self { entries: recorder.entries })
    }
}

/// Writes the values of a text to a tape in order.
struct Recorder<'t> {
    reader: Reader<'t>,
    entries: Vec<Entry<'t>>,
}

impl<'t> Recorder<'t> {
    fn value(&mut self) -> Result<(), Refused> {
        self.reader.count()?;
        let entry = match self.reader.peek() {
            Some(b'"') => Entry::Text(self.reader.text()?),
            Some(b'{') => return self.object(),
            Some(b'[') => return self.array(),
            _ => entry(self.reader.scalar()?)?,
        };
        self.entries.push(entry);
        Ok(())
    }

    /// Records a value within an array or object. Most such values are strings,
    /// which need no further call.
    #[inline]
    fn inner(&mut self) -> Result<(), Refused> {
        if self.reader.peek() != Some(b'"') {
            return self.value();
        }
        self.reader.count()?;
        let text = self.reader.text()?;
        self.entries.push(Entry::Text(text));
        Ok(())
    }

    fn array(&mut self) -> Result<(), Refused> {
        let start = self.entries.len();
        let mut count = 0;
        self.reader.open()?;
        self.entries.push(Entry::Array(Extent { count, size: 1 }));
        while self.reader.has_next(b']', count == 0)? {
            self.inner()?;
            count += 1;
        }
        self.extend(start, count);
        self.reader.close(b']')
    }

    fn object(&mut self) -> Result<(), Refused> {
        let start = self.entries.len();
        let mut count = 0;
        let mut marks = 0;
        self.reader.open()?;
        self.entries.push(Entry::Object(Extent { count, size: 1 }));
        while self.reader.has_next(b'}', count == 0)? {
            self.reader.begins_name()?;
            let name = self.reader.text()?;
            self.name(name, start, count, &mut marks)?;
            self.reader.expect(b':')?;
            self.inner()?;
            count += 1;
        }
        self.extend(start, count);
        self.reader.close(b'}')
    }

    /// Records a name of the object at `start`. `marks` are the marks of its
    /// `count` names so far.
    #[inline]
    fn name(
        &mut self,
        name: Cow<'t, str>,
        start: usize,
        count: usize,
        marks: &mut u64,
    ) -> Result<(), Refused> {
        let mark = mark(&name);
        let is_again = *marks & mark != 0 && self.has(&name, start, count);
        if is_again || count == MAX_MEMBERS || is_private(&name) {
            return Err(Refused::Data);
        }
        *marks |= mark;
        self.entries.push(Entry::Text(name));
        Ok(())
    }

    /// Returns true if the object at `start`, with `count` members so far, has
    /// a member with this name.
    fn has(&self, name: &str, start: usize, count: usize) -> bool {
        // An index past the end yields no members, here and below.
        let mut rest = self.entries.get(start + 1..).unwrap_or_default();
        for _ in 0..count {
            if let Some(Entry::Text(known)) = rest.first()
                && same(known, name)
            {
                return true;
            }
            rest = Place { entries: rest.get(1..).unwrap_or_default() }.next().entries;
        }
        false
    }

    /// Stores the number of elements or members of a container, and of its
    /// entries.
    fn extend(&mut self, start: usize, count: usize) {
        let size = self.entries.len() - start;
        if let Some(Entry::Array(extent) | Entry::Object(extent)) = self.entries.get_mut(start) {
            *extent = Extent { count, size };
        }
    }
}

/// Returns one of 64 bits for a name. Most names then need no comparison with
/// all other names.
#[inline]
fn mark(name: &str) -> u64 {
    let bytes = name.as_bytes();
    let at = |place: Option<&u8>| place.copied().map_or(0, usize::from);
    let mixed = bytes.len() * 5 + at(bytes.first()) * 3 + at(bytes.last()) * 7;
    1 << (mixed % 64)
}

/// Returns the entry of a value that is neither a string nor a container.
#[inline]
fn entry<'t>(scalar: Scalar) -> Result<Entry<'t>, Refused> {
    Ok(match scalar {
        Scalar::Null => Entry::Null,
        Scalar::Boolean(flag) => Entry::Bool(flag),
        Scalar::Number(number) => Entry::Number(match number {
            JsonNumber::Whole(whole) => whole.into(),
            JsonNumber::Negative(whole) => whole.into(),
            JsonNumber::Float(float) => Number::from_f64(float).ok_or(Refused::Data)?,
        }),
    })
}

/// The maximum number of members of an object on a tape. Members are found by
/// linear search.
const MAX_MEMBERS: usize = 64;

/// The estimated bytes of text per value, low for common texts.
const BYTES_PER_ENTRY: usize = 8;

/// The maximum initial capacity in entries: one kilobyte, which an allocator
/// provides quickly.
const MAX_FIRST: usize = 42;
