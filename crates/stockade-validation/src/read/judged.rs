//! Hot: [`Judged`], a deserializer that judges what passes through it.
//!
//! It passes on what comes, apart from texts that are trimmed and whole floats
//! for integers, and it never changes the question that the type asks, with
//! two exceptions: bytes are asked for as a `Value` would answer, and enums are
//! taken apart here, because a variant does not tell whether it came as text or
//! as an object. What the type skips is judged all the same, so every
//! deserializer in here gives it.
//!
//! A type may go on after an error, with a default in the place of the value,
//! or not look at it at all. So the values are counted in the [`Reading`]: one
//! with a value that was not found right leads to nothing.

use std::cell::Cell;
use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};

use super::element::Elements;
use super::member::Members;
use super::variant::Variant;
use crate::number::{Num, may_be_exact};
use crate::options::ValidationOptions;
use crate::plan::{ANY, Accept, Plan};

/// A deserializer, seed or visitor, with the plan of the value it is about.
#[derive(Clone, Copy)]
pub(super) struct Judged<'p, I> {
    pub(super) plan: &'p Plan,
    pub(super) reading: &'p Reading<'p>,
    /// The type is a struct with named fields, for which order has no meaning.
    named: bool,
    /// The value is the name of a member.
    is_name: bool,
    pub(super) inner: I,
}

/// Whether a name is one by which serde_json passes on what is no object: a
/// number with all its digits (its feature `arbitrary_precision`, which any
/// crate may turn on), or text that nobody looked at (`raw_value`).
pub(crate) fn is_private(name: &str) -> bool {
    name.starts_with("$serde_json::private::")
}

/// One way from text to a typed value.
pub(super) struct Reading<'o> {
    pub(super) options: &'o ValidationOptions,
    /// How many values are begun and not found right.
    open: Cell<usize>,
}

impl<'o> Reading<'o> {
    /// With the whole as its first value.
    pub(super) fn new(options: &'o ValidationOptions) -> Self {
        Self { options, open: Cell::new(1) }
    }

    /// A value is going to be asked for.
    #[inline]
    fn begin(&self) {
        self.open.set(self.open.get().wrapping_add(1));
    }

    /// What the schema says of a value is fulfilled.
    #[inline]
    fn fulfil(&self) {
        self.open.set(self.open.get().wrapping_sub(1));
    }

    /// This way does not lead to a value; another one may.
    #[cold]
    pub(super) fn give_up<E: Error>(&self) -> E {
        self.begin();
        E::custom("")
    }

    /// Whether all values are right.
    pub(super) fn is_fulfilled(&self) -> bool {
        self.open.get() == 0
    }
}

impl<'p, I> Judged<'p, I> {
    pub(super) fn new(plan: &'p Plan, reading: &'p Reading<'p>, inner: I) -> Self {
        Self { plan, reading, named: false, is_name: false, inner }
    }

    /// For the name of a member whose object is not judged.
    pub(super) fn of_name(reading: &'p Reading<'p>, inner: I) -> Self {
        Self { is_name: true, ..Self::new(&ANY, reading, inner) }
    }

    /// The text as it goes on.
    #[inline]
    fn text<'t, E: Error>(&self, text: &'t str) -> Result<&'t str, E> {
        if self.is_name && is_private(text) {
            return Err(self.reading.give_up());
        }
        let text = self.plan.text(text).ok_or_else(|| self.reading.give_up())?;
        self.reading.fulfil();
        Ok(text)
    }

    /// The same about something else.
    fn with<J>(self, inner: J) -> (I, Judged<'p, J>) {
        let Self { plan, reading, named, is_name, inner: own } = self;
        (own, Judged { plan, reading, named, is_name, inner })
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Judged<'_, S> {
    type Value = S::Value;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, inner: D) -> Result<S::Value, D::Error> {
        self.reading.begin();
        let (seed, judged) = self.with(inner);
        seed.deserialize(judged)
    }
}

/// The methods that only wrap the visitor.
macro_rules! judge_visitor {
    ($($method:ident)*) => {
        $(
            #[inline]
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
                let (inner, judged) = self.with(visitor);
                inner.$method(judged)
            }
        )*
    };
}

/// The methods that ask for whatever is there.
macro_rules! ask_for_any {
    ($($method:ident)*) => {
        $(
            #[inline]
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
                self.deserialize_any(visitor)
            }
        )*
    };
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Judged<'_, D> {
    type Error = D::Error;

    judge_visitor! {
        deserialize_any deserialize_bool
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
        deserialize_f32 deserialize_f64 deserialize_char deserialize_str deserialize_string
        deserialize_option deserialize_unit deserialize_seq deserialize_map
        deserialize_ignored_any
    }

    ask_for_any! {
        deserialize_i128 deserialize_u128 deserialize_bytes deserialize_byte_buf
        deserialize_identifier
    }

    #[inline]
    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let (inner, judged) = self.with(visitor);
        inner.deserialize_unit_struct(name, judged)
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        // A `RawValue` would get text that nobody looked at.
        if name.starts_with('$') {
            return Err(self.reading.give_up());
        }
        let (inner, judged) = self.with(visitor);
        inner.deserialize_newtype_struct(name, judged)
    }

    #[inline]
    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let (inner, judged) = self.with(visitor);
        inner.deserialize_tuple(len, judged)
    }

    #[inline]
    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let (inner, judged) = self.with(visitor);
        inner.deserialize_tuple_struct(name, len, judged)
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        mut self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.named = true;
        let (inner, judged) = self.with(visitor);
        inner.deserialize_struct(name, fields, judged)
    }

    #[inline]
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let (inner, judged) = self.with(Variant(visitor));
        inner.deserialize_any(judged)
    }

    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }
}

/// The kinds of numbers that fit 64 bits.
macro_rules! judge_whole {
    ($($method:ident: $type:ty)*) => {
        $(
            #[inline]
            fn $method<E: Error>(self, whole: $type) -> Result<V::Value, E> {
                if !self.plan.takes_whole(whole.into()) {
                    return Err(self.reading.give_up());
                }
                self.reading.fulfil();
                self.inner.$method(whole)
            }
        )*
    };
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Judged<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(f)
    }

    judge_whole! {
        visit_i8: i8 visit_i16: i16 visit_i32: i32 visit_i64: i64
        visit_u8: u8 visit_u16: u16 visit_u32: u32 visit_u64: u64
    }

    #[inline]
    fn visit_f32<E: Error>(self, float: f32) -> Result<V::Value, E> {
        self.visit_f64(float.into())
    }

    #[inline]
    fn visit_f64<E: Error>(self, float: f64) -> Result<V::Value, E> {
        if !float.is_finite() || !self.plan.takes_number(|| Num::of_float(float)) {
            return Err(self.reading.give_up());
        }
        self.reading.fulfil();
        if self.plan.wants_whole()
            && may_be_exact(float)
            && let Num::Whole(whole) = Num::of_float(float)
        {
            if let Ok(whole) = u64::try_from(whole) {
                return self.inner.visit_u64(whole);
            }
            if let Ok(whole) = i64::try_from(whole) {
                return self.inner.visit_i64(whole);
            }
        }
        self.inner.visit_f64(float)
    }

    #[inline]
    fn visit_bool<E: Error>(self, flag: bool) -> Result<V::Value, E> {
        if !self.plan.takes_bool(flag) {
            return Err(self.reading.give_up());
        }
        self.reading.fulfil();
        self.inner.visit_bool(flag)
    }

    #[inline]
    fn visit_str<E: Error>(self, text: &str) -> Result<V::Value, E> {
        let text = self.text(text)?;
        self.inner.visit_str(text)
    }

    #[inline]
    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<V::Value, E> {
        let text = self.text(text)?;
        self.inner.visit_borrowed_str(text)
    }

    #[inline]
    fn visit_string<E: Error>(self, text: String) -> Result<V::Value, E> {
        let kept = self.text(&text)?;
        if kept.len() < text.len() {
            return self.inner.visit_str(kept);
        }
        self.inner.visit_string(text)
    }

    #[inline]
    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        if !self.plan.null {
            return Err(self.reading.give_up());
        }
        self.reading.fulfil();
        self.inner.visit_none()
    }

    #[inline]
    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        if !self.plan.null {
            return Err(self.reading.give_up());
        }
        self.reading.fulfil();
        self.inner.visit_unit()
    }

    #[inline]
    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        let (visitor, judged) = self.with(inner);
        visitor.visit_some(judged)
    }

    #[inline]
    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        let (visitor, judged) = self.with(inner);
        visitor.visit_newtype_struct(judged)
    }

    #[inline]
    fn visit_seq<A: SeqAccess<'de>>(self, access: A) -> Result<V::Value, A::Error> {
        let plan = match &self.plan.array {
            Accept::All => None,
            Accept::If(plan) => Some(&**plan),
            Accept::None => return Err(self.reading.give_up()),
        };
        let mut elements = Elements::new(plan, self.reading, access)?;
        let value = self.inner.visit_seq(&mut elements)?;
        elements.finish()?;
        self.reading.fulfil();
        Ok(value)
    }

    #[inline]
    fn visit_map<A: MapAccess<'de>>(self, access: A) -> Result<V::Value, A::Error> {
        let plan = match &self.plan.object {
            Accept::All => None,
            Accept::If(plan) => Some(&**plan),
            Accept::None => return Err(self.reading.give_up()),
        };
        let mut members = Members::new(plan, self.reading, self.named, access);
        let value = self.inner.visit_map(&mut members)?;
        members.finish()?;
        self.reading.fulfil();
        Ok(value)
    }
}
