//! The functions that a rule can hold: `custom`, `transform`, `default`.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;
use stockade_errors::panic::catch_panic;
use stockade_errors::{ApiError, BoxError, ErrorText};

/// The result of a custom check.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Verdict {
    /// The value is valid.
    Valid,
    /// The value is invalid. The message comes from the rule, by default
    /// `<field> is invalid`.
    Invalid,
    /// The value is invalid, with this message or the id of a catalog text.
    Because(String),
    /// The value is invalid, with this message and its id and parameters for
    /// other languages.
    Text(ErrorText),
}

/// The return value of a function for [`Rule::custom`](crate::Rule::custom).
///
/// It is a `bool`, a [`Verdict`], or a `Result` with an error that is the
/// message or an [`ErrorText`]. A check that can itself fail returns a `Result`
/// with an [`ApiError`], which becomes a 500.
#[diagnostic::on_unimplemented(
    message = "a custom check cannot return `{Self}`",
    note = "return `bool`, `Verdict`, `Result<(), String>`, or `Result<_, ApiError>` if the check itself can fail"
)]
pub trait CustomOutcome {
    /// Returns the verdict.
    ///
    /// # Errors
    /// Fails if the check itself failed, which becomes a 500.
    fn into_verdict(self) -> Result<Verdict, BoxError>;
}

impl CustomOutcome for bool {
    fn into_verdict(self) -> Result<Verdict, BoxError> {
        Ok(if self { Verdict::Valid } else { Verdict::Invalid })
    }
}

impl CustomOutcome for Verdict {
    fn into_verdict(self) -> Result<Verdict, BoxError> {
        Ok(self)
    }
}

impl CustomOutcome for Result<(), String> {
    fn into_verdict(self) -> Result<Verdict, BoxError> {
        Ok(self.map_or_else(Verdict::Because, |()| Verdict::Valid))
    }
}

impl CustomOutcome for Result<(), ErrorText> {
    fn into_verdict(self) -> Result<Verdict, BoxError> {
        Ok(self.map_or_else(Verdict::Text, |()| Verdict::Valid))
    }
}

impl CustomOutcome for Result<(), &str> {
    fn into_verdict(self) -> Result<Verdict, BoxError> {
        self.map_err(str::to_owned).into_verdict()
    }
}

impl CustomOutcome for Result<bool, ApiError> {
    fn into_verdict(self) -> Result<Verdict, BoxError> {
        self?.into_verdict()
    }
}

impl CustomOutcome for Result<Verdict, ApiError> {
    fn into_verdict(self) -> Result<Verdict, BoxError> {
        Ok(self?)
    }
}

/// The return value of a function for
/// [`Rule::transform`](crate::Rule::transform): a value, or a `Result`. An
/// error becomes a 500.
#[diagnostic::on_unimplemented(
    message = "a transform cannot return `{Self}`",
    note = "return `serde_json::Value`, or a `Result` of one"
)]
pub trait TransformOutcome {
    /// Returns the new value.
    ///
    /// # Errors
    /// Fails if the transform failed, which becomes a 500.
    fn into_value(self) -> Result<Value, BoxError>;
}

impl TransformOutcome for Value {
    fn into_value(self) -> Result<Value, BoxError> {
        Ok(self)
    }
}

impl<E: Into<BoxError>> TransformOutcome for Result<Value, E> {
    fn into_value(self) -> Result<Value, BoxError> {
        self.map_err(Into::into)
    }
}

type CustomFn = dyn Fn(&Value, &str, &Value) -> Result<Verdict, BoxError> + Send + Sync;
type TransformFn = dyn Fn(Value) -> Result<Value, BoxError> + Send + Sync;
type DefaultFn = dyn Fn() -> Value + Send + Sync;

#[derive(Clone)]
pub(crate) struct Custom(Arc<CustomFn>);

impl Custom {
    pub(crate) fn new<R: CustomOutcome>(
        check: impl Fn(&Value, &str, &Value) -> R + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(move |value, field, root| check(value, field, root).into_verdict()))
    }

    pub(crate) fn call(
        &self,
        value: &Value,
        field: &str,
        root: &Value,
    ) -> Result<Verdict, ApiError> {
        guard("custom", field, || (self.0)(value, field, root))
    }
}

#[derive(Clone)]
pub(crate) struct Transform(Arc<TransformFn>);

impl Transform {
    pub(crate) fn new<R: TransformOutcome>(
        transform: impl Fn(Value) -> R + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(move |value| transform(value).into_value()))
    }

    pub(crate) fn call(&self, value: Value, field: &str) -> Result<Value, ApiError> {
        guard("transform", field, || (self.0)(value))
    }
}

/// A default value, or a function that creates one.
#[derive(Clone)]
pub(crate) enum Default {
    Value(Value),
    Function(Arc<DefaultFn>),
}

impl Default {
    pub(crate) fn value(&self, field: &str) -> Result<Value, ApiError> {
        match self {
            Self::Value(value) => Ok(value.clone()),
            Self::Function(make) => guard("default", field, || Ok(make())),
        }
    }
}

/// Calls a function of the application. An error or panic becomes a 500.
fn guard<T>(
    keyword: &str,
    field: &str,
    call: impl FnOnce() -> Result<T, BoxError>,
) -> Result<T, ApiError> {
    match catch_panic(call) {
        Ok(Ok(outcome)) => Ok(outcome),
        Ok(Err(source)) => {
            let message = format!("`{keyword}` of {field:?} failed: {source}");
            Err(ApiError::new(500, message).with_source(source))
        }
        Err(panic) => {
            Err(ApiError::new(500, format!("`{keyword}` of {field:?} {}", panic.message())))
        }
    }
}

impl fmt::Debug for Custom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Custom")
    }
}

impl fmt::Debug for Transform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Transform")
    }
}

impl fmt::Debug for Default {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(value) => value.fmt(f),
            Self::Function(_) => f.write_str("Function"),
        }
    }
}
