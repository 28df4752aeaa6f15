//! [`HasSchema`] for types of the standard library and serde_json.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::num::{NonZero, Saturating, Wrapping};
use std::ops::{Range, RangeFrom, RangeInclusive, RangeTo};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::{Map, Value, json};

use crate::format::Format;
use crate::has_schema::HasSchema;
use crate::rule::Rule;

/// Types with a rule that is a single expression.
macro_rules! rules {
    ($($ty:ty => $rule:expr;)*) => {
        $(impl HasSchema for $ty {
            fn rule() -> Rule {
                $rule
            }
        })*
    };
}

/// Integers that cover all numbers between two bounds. Rust's parser therefore
/// accepts the same texts as the rule.
macro_rules! integers {
    ($($ty:ty => $rule:expr;)*) => {
        $(impl HasSchema for $ty {
            fn rule() -> Rule {
                $rule
            }

            fn from_plain_texts(texts: &mut dyn Iterator<Item = &str>) -> Option<Self> {
                texts.next().filter(|text| is_strict(text))?.parse().ok()
            }
        })*
    };
}

/// Returns false for an integer with a plus sign or a leading zero. The option
/// `strict_numbers`, which is unknown here, rejects it.
#[inline]
fn is_strict(text: &str) -> bool {
    !matches!(text.as_bytes(), [b'+', ..] | [b'0', _, ..] | [b'-', b'0', _, ..])
}

integers! {
    i8 => small_integer(Self::MIN, Self::MAX, "int8");
    i16 => small_integer(Self::MIN, Self::MAX, "int16");
    i32 => small_integer(Self::MIN, Self::MAX, "int32");
    i64 => large_integer(Self::MIN, Self::MAX, "int64");
    isize => large_integer(Self::MIN, Self::MAX, SIGNED);
    u8 => small_integer(Self::MIN, Self::MAX, "uint8");
    u16 => small_integer(Self::MIN, Self::MAX, "uint16");
    u32 => small_integer(Self::MIN, Self::MAX, "uint32");
    u64 => large_integer(Self::MIN, Self::MAX, "uint64");
    usize => large_integer(Self::MIN, Self::MAX, UNSIGNED);
}

rules! {
    bool => Rule::boolean();
    // A JSON number beyond 64 bits loses digits, so other sources have the same
    // limit.
    i128 => bounded_integer(i64::MIN, u64::MAX);
    u128 => bounded_integer(0, u64::MAX);
    f32 => {
        let rule = Rule::number().minimum(-LARGEST_SINGLE).maximum(LARGEST_SINGLE);
        rule.documented(json!({ "format": "float" }))
    };
    f64 => Rule::number().documented(json!({ "format": "double" }));
    char => Rule::string().min_length(1).max_length(1);
    String => Rule::string();
    Box<str> => Rule::string();
    Rc<str> => Rule::string();
    Arc<str> => Rule::string();
    str => Rule::string();
    () => Rule::kind("null");
    Value => Rule::any();
    Map<String, Value> => Rule::kind("object").additional_properties(true);
    Ipv4Addr => Rule::string().format(Format::Ipv4);
    Ipv6Addr => Rule::string().format(Format::Ipv6);
    PathBuf => Rule::string();
    Box<Path> => Rule::string();
    SocketAddr => Rule::text_of::<Self>(None, "Invalid socket address");
    SocketAddrV4 => Rule::text_of::<Self>(None, "Invalid socket address");
    SocketAddrV6 => Rule::text_of::<Self>(None, "Invalid socket address");
    Duration => fields([("secs", u64::rule()), ("nanos", u32::rule())]);
    SystemTime => {
        fields([("secs_since_epoch", u64::rule()), ("nanos_since_epoch", u32::rule())])
    };
    // A list of types cannot express a choice between two formats.
    IpAddr => Rule::string().custom(|value, _, _| {
        let is_address = value.as_str().is_none_or(|text| text.parse::<Self>().is_ok());
        if is_address { Ok(()) } else { Err("Invalid IP address") }
    })
    .canonical(|text| Some(text.parse::<Self>().ok()?.to_string()))
    .documented(json!({ "anyOf": [{ "format": "ipv4" }, { "format": "ipv6" }] }));
}

/// The shortest text of `f32::MAX`, as a 64-bit number. It is slightly above
/// `f32::MAX`, but serde reads it as `f32::MAX`. A bound of exactly `f32::MAX`
/// would reject the texts that an `f32` is written as.
const LARGEST_SINGLE: f64 = 3.402_823_5e38;

/// The formats of `isize` and `usize`, which depend on the target.
const SIGNED: &str = if isize::BITS == 64 { "int64" } else { "int32" };
const UNSIGNED: &str = if usize::BITS == 64 { "uint64" } else { "uint32" };

/// Returns a rule for integers with explicit bounds.
fn small_integer<N: Into<Value>>(least: N, most: N, format: &str) -> Rule {
    let rule = Rule::integer().minimum(least).maximum(most);
    rule.documented(json!({ "format": format }))
}

/// Returns a rule for integers with the bounds of the numbers that serde reads.
/// The rule also checks the bounds, because serde does not read every validated
/// value at once. A wider bound set by the application does not replace these
/// bounds in documents.
fn large_integer<N: Into<Value>>(least: N, most: N, format: &str) -> Rule {
    bounded_integer(least, most).documented(json!({ "format": format }))
}

/// Returns a rule for integers with bounds that documents contain in addition
/// to the application's own bounds.
fn bounded_integer(least: impl Into<Value>, most: impl Into<Value>) -> Rule {
    let (least, most): (Value, Value) = (least.into(), most.into());
    let bounds = json!({ "minimum": least, "maximum": most });
    Rule::integer().minimum(least).maximum(most).documented(bounds)
}

/// Returns a rule for an object with exactly these fields.
fn fields<const N: usize>(fields: [(&str, Rule); N]) -> Rule {
    let names = fields.each_ref().map(|(name, _)| *name);
    Rule::object(fields).required_fields(names).additional_properties(false)
}

/// Nonzero whole numbers.
macro_rules! non_zero {
    ($($number:ty => $without_zero:expr;)*) => {
        $(impl HasSchema for NonZero<$number> {
            fn rule() -> Rule {
                $without_zero(<$number>::rule())
            }
        })*
    };
}

non_zero! {
    i8 => but_zero;
    i16 => but_zero;
    i32 => but_zero;
    i64 => but_zero;
    i128 => but_zero;
    isize => but_zero;
    u8 => from_one;
    u16 => from_one;
    u32 => from_one;
    u64 => from_one;
    u128 => from_one;
    usize => from_one;
}

fn from_one(rule: Rule) -> Rule {
    rule.minimum(1)
}

/// Adds a check that rejects 0; no keyword expresses this.
fn but_zero(rule: Rule) -> Rule {
    rule.documented(json!({ "not": { "const": 0 } })).custom(|value, _, _| {
        let is_zero = value.as_f64().is_some_and(|number| number == 0.0);
        if is_zero { Err("Number must not be 0") } else { Ok(()) }
    })
}

/// Ranges, with the names of their ends.
macro_rules! ranges {
    ($($range:ident: $($end:literal)+;)*) => {
        $(impl<T: HasSchema> HasSchema for $range<T> {
            fn rule() -> Rule {
                fields([$(($end, T::field_rule())),+])
            }
        })*
    };
}

ranges! {
    Range: "start" "end";
    RangeFrom: "start";
    RangeInclusive: "start" "end";
    RangeTo: "end";
}

/// Types that are written as their content.
macro_rules! pointers {
    ($($pointer:ident),*) => {
        $(impl<T: HasSchema> HasSchema for $pointer<T> {
            fn rule() -> Rule {
                T::field_rule()
            }

            fn is_optional() -> bool {
                T::is_optional()
            }

            fn schema_name() -> Cow<'static, str> {
                T::schema_name()
            }
        })*
    };
}

pointers!(Box, Rc, Arc, Reverse, Saturating, Wrapping);

/// Static texts and lists, in types that are only written.
impl<T: HasSchema + ?Sized> HasSchema for &'static T {
    fn rule() -> Rule {
        T::field_rule()
    }

    fn is_optional() -> bool {
        T::is_optional()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }
}

impl<T: HasSchema + ToOwned + ?Sized> HasSchema for Cow<'static, T> {
    fn rule() -> Rule {
        T::field_rule()
    }

    fn is_optional() -> bool {
        T::is_optional()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }
}

impl<T: HasSchema> HasSchema for Option<T> {
    fn rule() -> Rule {
        T::field_rule().or_null()
    }

    fn is_optional() -> bool {
        true
    }
}

/// Arrays of any length.
macro_rules! lists {
    ($($list:ty),*) => {
        $(impl<T: HasSchema> HasSchema for $list {
            fn rule() -> Rule {
                Rule::array(T::field_rule())
            }
        })*
    };
}

lists!(Vec<T>, Box<[T]>, VecDeque<T>, [T]);

impl<T: HasSchema> HasSchema for BTreeSet<T> {
    fn rule() -> Rule {
        Rule::array(T::field_rule()).unique_items()
    }
}

impl<T: HasSchema, S: 'static> HasSchema for HashSet<T, S> {
    fn rule() -> Rule {
        Rule::array(T::field_rule()).unique_items()
    }
}

impl<T: HasSchema, const N: usize> HasSchema for [T; N] {
    fn rule() -> Rule {
        Rule::array(T::field_rule()).min_items(N).max_items(N)
    }
}

/// serde reads the keys; the schema does not check them.
impl<K: 'static, V: HasSchema> HasSchema for BTreeMap<K, V> {
    fn rule() -> Rule {
        Rule::map(V::field_rule())
    }
}

/// serde reads the keys; the schema does not check them.
impl<K: 'static, V: HasSchema, S: 'static> HasSchema for HashMap<K, V, S> {
    fn rule() -> Rule {
        Rule::map(V::field_rule())
    }
}

/// Arrays with exactly these elements.
macro_rules! tuples {
    ($(($($element:ident)+))*) => {
        $(impl<$($element: HasSchema),+> HasSchema for ($($element,)+) {
            fn rule() -> Rule {
                Rule::tuple([$($element::field_rule()),+])
            }

            fn from_plain_texts(texts: &mut dyn Iterator<Item = &str>) -> Option<Self> {
                Some(($($element::from_plain_texts(texts)?,)+))
            }
        })*
    };
}

tuples! {
    (A)
    (A B)
    (A B C)
    (A B C D)
    (A B C D E)
    (A B C D E F)
    (A B C D E F G)
    (A B C D E F G H)
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;
    use std::iter;

    use serde::de::DeserializeOwned;

    use super::*;
    use crate::ValidationOptions;
    use crate::read::{Field, PairsKind};

    /// Returns the value of a text, validated by the schema of its type.
    fn validated<T: HasSchema + DeserializeOwned>(text: &str) -> Option<T> {
        let (schema, options) = (T::schema().unwrap(), ValidationOptions::new());
        let mut slot = None;
        let fields = &mut iter::once(Field::new("n".into(), text.into()));
        let is_right = schema.read_pairs_into(fields, PairsKind::Ordered, &options, &mut slot);
        is_right.then(|| slot.unwrap())
    }

    #[track_caller]
    fn check<T: HasSchema + DeserializeOwned + PartialEq + Debug>() {
        let powers = [7, 8, 15, 16, 31, 32, 63, 64].map(|bits| 1_i128 << bits);
        let edges = powers.iter().flat_map(|power| [power - 1, *power, -power, -power - 1]);
        let texts = edges.chain([0, 7]).map(|number| number.to_string());
        let odd = ["", "-", "+", "-0", " 7", "7 ", "7.0", "1e1", "x", "%37", "\u{667}"];
        for text in texts.chain(odd.map(str::to_owned)) {
            let plain = T::from_plain_texts(&mut iter::once(text.as_str()));
            assert_eq!(plain, validated(&text), "{text:?}");
        }
        // An option decides these, so they need the schema.
        for text in ["+7", "007", "00", "-07"] {
            assert_eq!(T::from_plain_texts(&mut iter::once(text)), None, "{text:?}");
        }
        assert_eq!(T::from_plain_texts(&mut iter::empty()), None);
    }

    #[test]
    fn integers_read_the_same_with_and_without_a_schema() {
        check::<i8>();
        check::<i16>();
        check::<i32>();
        check::<i64>();
        check::<isize>();
        check::<u8>();
        check::<u16>();
        check::<u32>();
        check::<u64>();
        check::<usize>();
    }

    #[test]
    fn types_with_more_checks_use_their_schema() {
        let texts = || ["7", "8"].into_iter();
        assert_eq!(<(u8, i64)>::from_plain_texts(&mut texts()), Some((7, 8)));
        assert_eq!(<(u8, String)>::from_plain_texts(&mut texts()), None);
        assert_eq!(<(u8, u8, u8)>::from_plain_texts(&mut texts()), None);
        assert_eq!(NonZero::<u8>::from_plain_texts(&mut texts()), None);
        assert_eq!(Option::<u8>::from_plain_texts(&mut texts()), None);
    }
}
