//! The parameters of a failed rule, for its message.

use std::borrow::Cow;
use std::fmt;

use serde_json::Number;

/// The value of a parameter of a failed rule, such as the 100 of `maxLength:
/// 100` or the type `string`.
///
/// ```
/// use stockade::{FieldError, ParamValue};
///
/// let error = FieldError::new("name", "Too long", "maxLength").with_param("limit", 100);
/// assert_eq!(error.param("limit"), Some(&ParamValue::from(100)));
/// assert_eq!(error.param("limit").unwrap().to_string(), "100");
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ParamValue {
    /// A number.
    Number(Number),
    /// Text.
    Text(Cow<'static, str>),
}

impl fmt::Display for ParamValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => f.write_str(text),
        }
    }
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl From<$number> for ParamValue {
            fn from(number: $number) -> Self {
                Self::Number(number.into())
            }
        }
    )*};
}

numbers! { i32 i64 u32 u64 usize Number }

impl From<f64> for ParamValue {
    /// Creates a number, or text if the value is not finite.
    fn from(number: f64) -> Self {
        let finite = Number::from_f64(number).map(Self::Number);
        finite.unwrap_or_else(|| Self::Text(number.to_string().into()))
    }
}

macro_rules! texts {
    ($($text:ty)*) => {$(
        impl From<$text> for ParamValue {
            fn from(text: $text) -> Self {
                Self::Text(text.into())
            }
        }
    )*};
}

texts! { &'static str String Cow<'static, str> }

/// A parameter with its name.
pub(super) type Param = (&'static str, ParamValue);

/// A list of parameters that does not allocate for up to two parameters.
#[derive(Clone, Debug, Default)]
pub(super) enum Params {
    #[default]
    None,
    One([Param; 1]),
    Two([Param; 2]),
    Many(Vec<Param>),
}

impl Params {
    pub(super) fn as_slice(&self) -> &[Param] {
        match self {
            Self::None => &[],
            Self::One(params) => params,
            Self::Two(params) => params,
            Self::Many(params) => params,
        }
    }

    /// Sets a parameter. Replaces a parameter with the same name.
    pub(super) fn set(&mut self, name: &'static str, value: ParamValue) {
        let own = match self {
            Self::None => &mut [],
            Self::One(params) => &mut params[..],
            Self::Two(params) => &mut params[..],
            Self::Many(params) => &mut params[..],
        };
        if let Some((_, known)) = own.iter_mut().find(|(known, _)| *known == name) {
            *known = value;
            return;
        }
        let param = (name, value);
        *self = match std::mem::take(self) {
            Self::None => Self::One([param]),
            Self::One([first]) => Self::Two([first, param]),
            Self::Two([first, second]) => Self::Many(vec![first, second, param]),
            Self::Many(mut params) => {
                params.push(param);
                Self::Many(params)
            }
        };
    }
}

/// The message of a custom check, with an id and parameters for translation by
/// language catalogs.
///
/// ```
/// use stockade::validation::{Rule, ValidationOptions, validate_against_schema};
/// use stockade::{ErrorText, serde_json::json};
///
/// let even = Rule::integer().custom(|value, _, _| {
///     let text = ErrorText::new("multiple", "Must be a multiple of 2").param("step", 2);
///     if value.as_i64().is_some_and(|it| it % 2 == 0) { Ok(()) } else { Err(text) }
/// });
/// let outcome = validate_against_schema(&even.build()?, json!(7), &ValidationOptions::new())?;
/// let error = &outcome.errors[0];
/// assert_eq!((&*error.message, &*error.rule), ("Must be a multiple of 2", "custom"));
/// assert_eq!(error.text_id(), Some("multiple"));
/// assert_eq!(error.param("step"), Some(&2.into()));
/// # Ok::<(), stockade::BoxError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ErrorText {
    pub(super) id: Option<Cow<'static, str>>,
    pub(super) message: Cow<'static, str>,
    /// Boxed to keep the error of a check small.
    pub(super) params: Box<Params>,
}

impl ErrorText {
    /// Creates a text from the catalog id of its message and the English
    /// message.
    pub fn new(id: impl Into<Cow<'static, str>>, message: impl Into<Cow<'static, str>>) -> Self {
        Self { id: Some(id.into()), message: message.into(), params: Box::default() }
    }

    /// Creates a text without an id.
    #[doc(hidden)]
    pub fn of_message(message: impl Into<Cow<'static, str>>) -> Self {
        Self { id: None, message: message.into(), params: Box::default() }
    }

    /// Adds a parameter. A catalog refers to it as `{ $name }`.
    #[must_use]
    pub fn param(mut self, name: &'static str, value: impl Into<ParamValue>) -> Self {
        self.params.set(name, value.into());
        self
    }
}

/// Two texts are equal if their ids, messages and parameters are equal.
impl PartialEq for ErrorText {
    fn eq(&self, other: &Self) -> bool {
        (&self.id, &self.message, self.params.as_slice())
            == (&other.id, &other.message, other.params.as_slice())
    }
}

impl Eq for ErrorText {}

#[cfg(test)]
mod tests {
    use crate::FieldError;

    #[test]
    fn with_param_replaces_a_value_and_keeps_the_order() {
        let mut error = FieldError::new("a", "no", "rule");
        assert!(error.params().is_empty());
        for (name, value) in [("a", 1), ("b", 2), ("a", 3), ("c", 4), ("d", 5), ("c", 6)] {
            error = error.with_param(name, value);
        }
        let shown: Vec<_> = error.params().iter().map(|(name, it)| format!("{name}{it}")).collect();
        assert_eq!(shown, ["a3", "b2", "c6", "d5"]);
        assert_eq!(error.param("e"), None);
        assert_eq!(error.with_param("x", f64::NAN).param("x").unwrap().to_string(), "NaN");
    }

    #[test]
    fn errors_with_equal_fields_are_equal() {
        let plain = FieldError::new("a", "no", "rule");
        assert_eq!(plain.clone().with_param("limit", 1).with_text_id("x"), plain);
        assert_ne!(FieldError::new("b", "no", "rule"), plain);
        let json = serde_json::to_string(&plain.with_param("limit", 1)).unwrap();
        assert_eq!(json, r#"{"field":"a","message":"no","rule":"rule"}"#);
    }
}
