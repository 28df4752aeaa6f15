//! [`Data`] for parsed values.

use std::borrow::Cow;
use std::slice;

use serde_json::{Map, Value, map};

use super::look::{Data, Kind};
use crate::depth;

impl<'d> Data<'d> for &'d Value {
    type Items = slice::Iter<'d, Value>;
    type Members = Members<'d>;

    #[inline]
    fn kind(self) -> Kind<'d> {
        match self {
            Value::Null => Kind::Null,
            Value::Bool(flag) => Kind::Bool(*flag),
            Value::Number(number) => Kind::Number(number),
            Value::String(text) => Kind::Text(text),
            Value::Array(items) => Kind::Array(items.len()),
            Value::Object(map) => Kind::Object(map.len()),
        }
    }

    #[inline]
    fn items(self) -> Self::Items {
        // Only an array has items.
        self.as_array().map(Vec::as_slice).unwrap_or_default().iter()
    }

    #[inline]
    fn members(self) -> Self::Members {
        Members { inner: self.as_object().map(Map::iter) }
    }

    fn member(self, name: &str) -> Option<Self> {
        self.get(name)
    }

    fn to_value(self) -> Cow<'d, Value> {
        Cow::Borrowed(self)
    }

    fn address(self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    fn exceeds(self, levels: usize) -> bool {
        depth::exceeds(self, levels)
    }

    fn size(self) -> usize {
        depth::size(self, depth::MAX_DEPTH)
    }
}

/// The members of an object.
pub(crate) struct Members<'d> {
    /// `None` for a value that is not an object.
    inner: Option<map::Iter<'d>>,
}

impl<'d> Iterator for Members<'d> {
    type Item = (&'d str, &'d Value);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.inner.as_mut()?.next().map(|(name, value)| (name.as_str(), value))
    }
}
