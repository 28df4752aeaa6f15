//! [`Tape`]: a flat list of the values in a JSON text, borrowed from the text.

use std::borrow::Cow;

use serde_json::{Number, Value};

use super::look::{Data, Kind};

/// The values of a JSON text, located but not yet parsed. It needs one
/// allocation, plus one for each string with an escape.
///
/// Created by [`Tape::of`]. The names of an object are distinct.
#[derive(Debug)]
pub(crate) struct Tape<'t> {
    /// Never empty.
    pub(super) entries: Vec<Entry<'t>>,
}

/// A scalar, or the head of a container, followed by its content. A member's
/// name is a text entry before its value.
#[derive(Debug)]
pub(super) enum Entry<'t> {
    Null,
    Bool(bool),
    Number(Number),
    Text(Cow<'t, str>),
    Array(Extent),
    Object(Extent),
}

/// The size of a container on the tape.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    /// The number of elements or members.
    pub(super) count: usize,
    /// The number of entries, including the entry of the container itself.
    pub(super) size: usize,
}

impl Tape<'_> {
    /// Returns the value of the whole text.
    pub(crate) fn root(&self) -> Place<'_> {
        Place { entries: &self.entries }
    }
}

/// A value on a tape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'d> {
    /// The entries from this value on.
    pub(super) entries: &'d [Entry<'d>],
}

impl<'d> Place<'d> {
    fn content(self, extent: Extent) -> Places<'d> {
        Places { entries: behind(self.entries, 1), left: extent.count }
    }

    /// Returns the value after this one, skipping its content.
    #[inline]
    pub(super) fn next(self) -> Self {
        let size = match self.entries.first() {
            Some(Entry::Array(extent) | Entry::Object(extent)) => extent.size,
            _ => 1,
        };
        Self { entries: behind(self.entries, size) }
    }
}

#[inline]
fn behind<'e, 't>(entries: &'e [Entry<'t>], count: usize) -> &'e [Entry<'t>] {
    // An index past the end yields no entries.
    entries.get(count..).unwrap_or_default()
}

impl<'d> Data<'d> for Place<'d> {
    type Items = Places<'d>;
    type Members = Members<'d>;

    #[inline]
    fn kind(self) -> Kind<'d> {
        match self.entries.first() {
            Some(Entry::Null) | None => Kind::Null,
            Some(Entry::Bool(flag)) => Kind::Bool(*flag),
            Some(Entry::Number(number)) => Kind::Number(number),
            Some(Entry::Text(text)) => Kind::Text(text),
            Some(Entry::Array(extent)) => Kind::Array(extent.count),
            Some(Entry::Object(extent)) => Kind::Object(extent.count),
        }
    }

    #[inline]
    fn items(self) -> Places<'d> {
        match self.entries.first() {
            Some(Entry::Array(extent)) => self.content(*extent),
            _ => Places { entries: &[], left: 0 },
        }
    }

    #[inline]
    fn members(self) -> Members<'d> {
        let values = match self.entries.first() {
            Some(Entry::Object(extent)) => self.content(*extent),
            _ => Places { entries: &[], left: 0 },
        };
        Members { values }
    }

    fn member(self, name: &str) -> Option<Self> {
        self.members().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    fn to_value(self) -> Cow<'d, Value> {
        Cow::Owned(parsed(self))
    }

    fn size(self) -> usize {
        match self.entries.first() {
            Some(Entry::Array(extent) | Entry::Object(extent)) => extent.size,
            _ => 1,
        }
    }

    fn address(self) -> usize {
        self.entries.as_ptr().addr()
    }

    /// Returns false: serde_json does not read text that is nested so deep.
    fn exceeds(self, _levels: usize) -> bool {
        false
    }
}

fn parsed(place: Place<'_>) -> Value {
    match place.entries.first() {
        Some(Entry::Null) | None => Value::Null,
        Some(Entry::Bool(flag)) => Value::Bool(*flag),
        Some(Entry::Number(number)) => Value::Number(number.clone()),
        Some(Entry::Text(text)) => Value::String(text.clone().into_owned()),
        Some(Entry::Array(_)) => place.items().map(parsed).collect(),
        Some(Entry::Object(_)) => {
            place.members().map(|(name, value)| (name.to_owned(), parsed(value))).collect()
        }
    }
}

/// The elements of an array.
pub(crate) struct Places<'d> {
    entries: &'d [Entry<'d>],
    left: usize,
}

impl<'d> Iterator for Places<'d> {
    type Item = Place<'d>;

    #[inline]
    fn next(&mut self) -> Option<Place<'d>> {
        self.left = self.left.checked_sub(1)?;
        let place = Place { entries: self.entries };
        self.entries = place.next().entries;
        Some(place)
    }
}

/// The members of an object.
pub(crate) struct Members<'d> {
    values: Places<'d>,
}

impl<'d> Iterator for Members<'d> {
    type Item = (&'d str, Place<'d>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (name, rest) = self.values.entries.split_first()?;
        let Entry::Text(name) = name else { return None };
        self.values.entries = rest;
        self.values.next().map(|value| (&**name, value))
    }
}
