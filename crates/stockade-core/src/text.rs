//! Typed values from pairs of text: path parameters, queries, forms.
//!
//! Everything is text here, so the wanted type decides: `"7"` is a number for a
//! `u32`, `"true"` a boolean for a `bool`. A key that comes several times is a
//! list.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::de::value::{CowStrDeserializer, MapDeserializer, SeqDeserializer, StrDeserializer};
use serde::de::{self, DeserializeOwned, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::Value;
use stockade_errors::__internal::short_name;
use stockade_errors::{ApiError, FieldError};
use stockade_validation::{Asked, Schema, ValidationOptions, asked, is_decimal};

use crate::Params;
use crate::route_description::ParamShape;

/// A name and a value, decoded.
pub(crate) type Pair<'a> = (Cow<'a, str>, Cow<'a, str>);

/// Reads a struct or a map; the order of the pairs does not matter.
pub(crate) fn from_pairs<T: DeserializeOwned>(pairs: Vec<Pair<'_>>) -> Result<T, ApiError> {
    T::deserialize(MapDeserializer::new(fields_of(pairs).into_iter()))
        .map_err(Misfit::into_api_error)
}

/// As [`from_pairs`], judged by a schema on the way; `None` if it has to be
/// judged with words.
pub(crate) fn judged_pairs<T: DeserializeOwned>(
    pairs: Vec<Pair<'_>>,
    schema: &Schema,
    options: &ValidationOptions,
) -> Option<T> {
    schema.read_quickly(MapDeserializer::new(fields_of(pairs).into_iter()), options)
}

/// The values by their names, in the order of the first of each.
fn fields_of(pairs: Vec<Pair<'_>>) -> Vec<(Cow<'_, str>, Values<'_>)> {
    let mut fields: Vec<(Cow<'_, str>, Values<'_>)> = Vec::with_capacity(pairs.len());
    // A hostile query has a thousand different keys; most have a few.
    let mut index = (pairs.len() > 16).then(|| HashMap::with_capacity(pairs.len()));
    for (name, value) in pairs {
        let next = fields.len();
        let at = match &mut index {
            Some(index) => *index.entry(name.clone()).or_insert(next),
            None => fields.iter().position(|(known, _)| *known == name).unwrap_or(next),
        };
        match fields.get_mut(at) {
            Some((_, values)) => values.more.push(value),
            None => fields.push((name.clone(), Values::of(name, value))),
        }
    }
    fields
}

/// Reads the parameters of a path: a struct or a map by name, a tuple by
/// position, or the single one.
pub(crate) fn from_params<T: DeserializeOwned>(params: &Params, path: &str) -> Result<T, ApiError> {
    T::deserialize(ParamsDeserializer { params, path }).map_err(Misfit::into_api_error)
}

/// As [`from_params`], judged by a schema on the way; `None` if it has to be
/// judged with words.
pub(crate) fn judged_params<T: DeserializeOwned>(
    params: &Params,
    path: &str,
    schema: &Schema,
    options: &ValidationOptions,
) -> Option<T> {
    schema.read_quickly(ParamsDeserializer { params, path }, options)
}

/// Reads data that was judged: the texts in it may still be numbers and
/// booleans where only the type wants them. `name` is that of the value.
pub(crate) fn from_data<T: DeserializeOwned>(name: &str, data: &Value) -> Result<T, ApiError> {
    let reader = DataDeserializer { name: name.into(), data };
    T::deserialize(reader).map_err(Misfit::into_api_error)
}

/// Reads what is not there: only an `Option` can take it.
pub(crate) fn from_nothing<T: DeserializeOwned>() -> Option<T> {
    T::deserialize(Nothing).ok()
}

/// Finds out what a type would be read from, without any data.
pub(crate) fn shape_of<T: DeserializeOwned>() -> ParamShape {
    match asked::<T>() {
        Asked::Single => ParamShape::Single,
        Asked::Tuple(length) => ParamShape::Tuple(length),
        Asked::List => ParamShape::List,
        Asked::Fields(fields) => ParamShape::Fields(fields),
        _ => ParamShape::Any,
    }
}

/// Finds out whether a struct can be read from fields of these names, without
/// any data.
pub(crate) fn fit_of<T: DeserializeOwned>(names: &[&str]) -> Fit {
    let fields = names.iter().map(|name| (*name, AnyValue));
    T::deserialize(MapDeserializer::new(fields)).map_or_else(|Unfit(fit)| fit, |_| Fit::Fits)
}

/// What [`fit_of`] finds.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Fit {
    /// The names are enough.
    Fits,
    /// A field has no value.
    Missing(&'static str),
    /// Two of the names are the same field.
    Duplicate,
    /// A type refuses the value that was made up.
    Unknown,
}

/// Why a text does not fit a type.
#[derive(Debug)]
struct Misfit {
    field: String,
    message: String,
}

impl Misfit {
    fn into_api_error(self) -> ApiError {
        ApiError::validation([FieldError::new(short_name(&self.field), self.message, "type")])
    }

    /// Says which field it was, unless that is known already.
    fn at(mut self, field: &str) -> Self {
        if self.field.is_empty() {
            field.clone_into(&mut self.field);
        }
        self
    }
}

impl de::Error for Misfit {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { field: String::new(), message: message.to_string() }
    }

    fn invalid_type(found: de::Unexpected<'_>, _expected: &dyn de::Expected) -> Self {
        // What is expected would name types of Rust.
        let kind = match found {
            de::Unexpected::Bool(_) => "boolean",
            de::Unexpected::Unsigned(_) | de::Unexpected::Signed(_) => "integer",
            de::Unexpected::Float(_) => "number",
            de::Unexpected::Char(_) | de::Unexpected::Str(_) => "string",
            de::Unexpected::Seq => "array",
            de::Unexpected::Map => "object",
            de::Unexpected::Unit => "null",
            _ => "value",
        };
        Self::custom(format_args!("Expected another type, got {kind}"))
    }

    fn missing_field(field: &'static str) -> Self {
        Self { field: field.to_owned(), message: format!("Required field '{field}' is missing") }
    }

    fn unknown_field(field: &str, _expected: &'static [&'static str]) -> Self {
        let message = format!("Unknown field '{}'", short_name(field));
        Self { field: field.to_owned(), message }
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self { field: field.to_owned(), message: format!("Field '{field}' is there twice") }
    }

    fn unknown_variant(_variant: &str, expected: &'static [&'static str]) -> Self {
        Self::custom(format_args!("Must be one of: {}", expected.join(", ")))
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Misfit {}

/// The values of one key.
struct Values<'a> {
    name: Cow<'a, str>,
    first: Cow<'a, str>,
    /// Usually none, which costs no allocation.
    more: Vec<Cow<'a, str>>,
}

impl<'a> Values<'a> {
    fn of(name: Cow<'a, str>, value: Cow<'a, str>) -> Self {
        Self { name, first: value, more: Vec::new() }
    }

    /// The only value; several do not fit a type that is not a list.
    fn one(&mut self, expected: &str) -> Result<Cow<'a, str>, Misfit> {
        if self.more.is_empty() {
            Ok(std::mem::take(&mut self.first))
        } else {
            Err(self.misfit(format!("Expected {expected}, got array")))
        }
    }

    fn misfit(&self, message: String) -> Misfit {
        Misfit { field: self.name.clone().into_owned(), message }
    }
}

impl<'de> IntoDeserializer<'de, Misfit> for Values<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

macro_rules! integer {
    ($($method:ident $visit:ident $type:ty;)*) => {
        $(fn $method<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Misfit> {
            let text = self.one("integer")?;
            match text.parse::<$type>() {
                Ok(number) => visitor.$visit(number).map_err(|error: Misfit| error.at(&self.name)),
                Err(_) if text.parse::<i128>().is_ok() => {
                    let (low, high) = (<$type>::MIN, <$type>::MAX);
                    Err(self.misfit(format!("Expected an integer from {low} to {high}")))
                }
                Err(_) => Err(self.misfit("Expected integer, got string".to_owned())),
            }
        })*
    };
}

macro_rules! decimal {
    ($($method:ident $visit:ident $type:ty;)*) => {
        $(fn $method<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Misfit> {
            // Rust also reads "inf", "NaN" and "5.", which are no numbers in JSON.
            let text = self.one("number")?;
            let number = is_decimal(&text).then(|| text.parse::<$type>().ok()).flatten();
            match number.filter(|number| number.is_finite()) {
                Some(number) => visitor.$visit(number),
                None => Err(self.misfit("Expected number, got string".to_owned())),
            }
        })*
    };
}

impl<'de> de::Deserializer<'de> for Values<'_> {
    type Error = Misfit;

    integer! {
        deserialize_i8 visit_i8 i8;
        deserialize_i16 visit_i16 i16;
        deserialize_i32 visit_i32 i32;
        deserialize_i64 visit_i64 i64;
        deserialize_i128 visit_i128 i128;
        deserialize_u8 visit_u8 u8;
        deserialize_u16 visit_u16 u16;
        deserialize_u32 visit_u32 u32;
        deserialize_u64 visit_u64 u64;
        deserialize_u128 visit_u128 u128;
    }

    decimal! {
        deserialize_f32 visit_f32 f32;
        deserialize_f64 visit_f64 f64;
    }

    fn deserialize_bool<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Misfit> {
        match self.one("boolean")?.as_ref() {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            _ => Err(self.misfit("Expected boolean, got string".to_owned())),
        }
    }

    /// Without a wish for a type, one value is a text and several are a list.
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        if self.more.is_empty() {
            self.deserialize_str(visitor)
        } else {
            self.deserialize_seq(visitor)
        }
    }

    fn deserialize_str<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Misfit> {
        let result = match self.one("string")? {
            Cow::Borrowed(text) => visitor.visit_str(text),
            Cow::Owned(text) => visitor.visit_string(text),
        };
        result.map_err(|error: Misfit| error.at(&self.name))
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        self.deserialize_str(visitor)
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_some(self)
    }

    /// A single value fits a list as its only element.
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        let name = self.name;
        let texts = std::iter::once(self.first).chain(self.more);
        let elements = texts
            .enumerate()
            .map(|(index, text)| Values::of(format!("{name}[{index}]").into(), text));
        visitor.visit_seq(SeqDeserializer::new(elements))
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        mut self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        let text = self.one("string")?;
        let variant: CowStrDeserializer<'_, Misfit> = text.into_deserializer();
        visitor.visit_enum(variant).map_err(|error| error.at(&self.name))
    }

    forward_to_deserialize_any! {
        bytes byte_buf unit unit_struct tuple_struct map struct identifier ignored_any
    }
}

/// A value, some parts of which may be text that stands for something else.
struct DataDeserializer<'a> {
    name: Cow<'a, str>,
    data: &'a Value,
}

impl<'a> DataDeserializer<'a> {
    fn member(&self, name: &'a str) -> Cow<'a, str> {
        if self.name.is_empty() { name.into() } else { format!("{}.{name}", self.name).into() }
    }

    fn misfit(&self, message: &str) -> Misfit {
        Misfit { field: self.name.clone().into_owned(), message: message.to_owned() }
    }
}

impl<'de> IntoDeserializer<'de, Misfit> for DataDeserializer<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// The methods that a text answers as what it stands for.
macro_rules! of_text {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
            match self.data {
                Value::String(text) => Values::of(self.name, text.into()).$method(visitor),
                _ => self.deserialize_any(visitor),
            }
        })*
    };
}

impl<'de> de::Deserializer<'de> for DataDeserializer<'_> {
    type Error = Misfit;

    of_text! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64 deserialize_bool
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        let data = self.data;
        let result = match data {
            Value::Null => visitor.visit_unit(),
            Value::Bool(flag) => visitor.visit_bool(*flag),
            Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                (Some(number), _, _) => visitor.visit_u64(number),
                (_, Some(number), _) => visitor.visit_i64(number),
                (_, _, Some(number)) => visitor.visit_f64(number),
                _ => Err(self.misfit("The number is out of range")),
            },
            Value::String(text) => visitor.visit_str(text),
            Value::Array(values) => {
                let element =
                    |(index, data)| Self { name: format!("{}[{index}]", self.name).into(), data };
                visitor.visit_seq(SeqDeserializer::new(values.iter().enumerate().map(element)))
            }
            Value::Object(members) => {
                let member = |(name, data)| (name, Self { name: self.member(name), data });
                let members = members.iter().map(|(name, data)| member((name.as_str(), data)));
                visitor.visit_map(MapDeserializer::new(members))
            }
        };
        result.map_err(|error: Misfit| error.at(&self.name))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        if self.data.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        visitor.visit_newtype_struct(self)
    }

    /// A single text fits a list as its only element.
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self.data {
            Value::String(text) => Values::of(self.name, text.into()).deserialize_seq(visitor),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        if let Value::String(text) = self.data {
            return Values::of(self.name, text.into()).deserialize_enum(name, variants, visitor);
        }
        let read = self.data.clone().deserialize_enum(name, variants, visitor);
        read.map_err(|_| self.misfit("The value does not fit"))
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct tuple tuple_struct map struct identifier
        ignored_any
    }
}

/// The parameters of a path, decoded one after the other.
struct ParamsDeserializer<'a> {
    params: &'a Params,
    path: &'a str,
}

impl<'a> ParamsDeserializer<'a> {
    fn values(self) -> impl Iterator<Item = (Cow<'a, str>, Values<'a>)> {
        let values = self.params.iter(self.path);
        values.map(|(name, value)| (name.into(), Values::of(name.into(), value)))
    }

    fn single(self) -> Result<Values<'a>, Misfit> {
        let mut values = self.values();
        match values.next() {
            Some((_, values)) => Ok(values),
            None => Err(de::Error::custom("The path has no parameter")),
        }
    }
}

macro_rules! single {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
            self.single()?.$method(visitor)
        })*
    };
}

impl<'de> de::Deserializer<'de> for ParamsDeserializer<'_> {
    type Error = Misfit;

    single! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64 deserialize_bool deserialize_char deserialize_str
        deserialize_string deserialize_bytes deserialize_byte_buf deserialize_identifier
    }

    /// Without a wish for a type, the parameters are an object.
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_map(MapDeserializer::new(self.values()))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self.params.iter(self.path).next() {
            None => visitor.visit_none(),
            Some(_) => visitor.visit_some(self),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_seq(SeqDeserializer::new(self.values().map(|(_, values)| values)))
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        self.single()?.deserialize_enum(name, variants, visitor)
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! { unit_struct map struct ignored_any }
}

/// An absent body.
struct Nothing;

impl<'de> de::Deserializer<'de> for Nothing {
    type Error = Misfit;

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Misfit> {
        Err(de::Error::custom("absent"))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_none()
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 bool char str string bytes byte_buf unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// Some value of whatever type is wanted.
#[derive(Clone, Copy)]
struct AnyValue;

impl IntoDeserializer<'_, Unfit> for AnyValue {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

macro_rules! any_value {
    ($($method:ident $visit:ident $value:expr;)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unfit> {
            visitor.$visit($value)
        })*
    };
}

impl<'de> de::Deserializer<'de> for AnyValue {
    type Error = Unfit;

    any_value! {
        deserialize_any visit_str "0";
        deserialize_bool visit_bool false;
        deserialize_i8 visit_u8 0;
        deserialize_i16 visit_u8 0;
        deserialize_i32 visit_u8 0;
        deserialize_i64 visit_u8 0;
        deserialize_i128 visit_u8 0;
        deserialize_u8 visit_u8 0;
        deserialize_u16 visit_u8 0;
        deserialize_u32 visit_u8 0;
        deserialize_u64 visit_u8 0;
        deserialize_u128 visit_u8 0;
        deserialize_f32 visit_f32 0.0;
        deserialize_f64 visit_f64 0.0;
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unfit> {
        visitor.visit_none()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Unfit> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unfit> {
        // An enum without variants refuses every name.
        let variant: StrDeserializer<'_, Unfit> =
            variants.first().copied().unwrap_or_default().into_deserializer();
        visitor.visit_enum(variant)
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct
        identifier ignored_any
    }
}

/// The error of [`fit_of`].
#[derive(Debug)]
struct Unfit(Fit);

impl de::Error for Unfit {
    fn custom<T: fmt::Display>(_message: T) -> Self {
        Self(Fit::Unknown)
    }

    fn missing_field(field: &'static str) -> Self {
        Self(Fit::Missing(field))
    }

    fn duplicate_field(_field: &'static str) -> Self {
        Self(Fit::Duplicate)
    }
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl std::error::Error for Unfit {}
