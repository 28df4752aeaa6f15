//! [`CustomSerialization`]: application functions that replace helpers.
// Spec: Middleware helpers › `withSerialization`, option `custom`.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;
use stockade_errors::BoxError;

use crate::{Date, SerializationError};

/// Functions that replace individual helpers of
/// [`Serialization`](crate::Serialization) and
/// [`Deserialization`](crate::Deserialization).
///
/// An error from a function is a 500, unless it is an
/// [`ApiError`](stockade_errors::ApiError), which keeps its status.
///
/// ```
/// use stockade::ApiError;
/// use stockade::serialization::{CustomSerialization, Date};
///
/// // Dates as milliseconds.
/// let custom = CustomSerialization::new()
///     .serialize_date(|date| Ok::<_, ApiError>(date.as_millis().to_string()))
///     .deserialize_date(|text| {
///         let milliseconds = text.parse().map_err(|_| ApiError::new(400, "not a number"))?;
///         Date::from_millis(milliseconds).map_err(ApiError::from)
///     });
/// # drop(custom);
/// ```
#[derive(Clone, Default)]
pub struct CustomSerialization {
    pub(crate) write_date: Option<Arc<WriteDate>>,
    pub(crate) read_date: Option<Arc<ReadDate>>,
    pub(crate) write_map: Option<Arc<WriteMap>>,
    pub(crate) read_map: Option<Arc<ReadMap>>,
    pub(crate) write_set: Option<Arc<WriteSet>>,
    pub(crate) read_set: Option<Arc<ReadSet>>,
}

type Outcome<T> = Result<T, SerializationError>;
type WriteDate = dyn Fn(Date) -> Outcome<String> + Send + Sync;
type ReadDate = dyn Fn(&str) -> Outcome<Date> + Send + Sync;
type WriteMap = dyn Fn(Vec<(Value, Value)>) -> Outcome<Value> + Send + Sync;
type ReadMap = dyn Fn(Value) -> Outcome<Vec<(Value, Value)>> + Send + Sync;
type WriteSet = dyn Fn(Vec<Value>) -> Outcome<Value> + Send + Sync;
type ReadSet = dyn Fn(Value) -> Outcome<Vec<Value>> + Send + Sync;

impl CustomSerialization {
    /// Creates a value without replacements.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the function that writes dates.
    #[must_use]
    pub fn serialize_date<E: Into<BoxError>>(
        mut self,
        function: impl Fn(Date) -> Result<String, E> + Send + Sync + 'static,
    ) -> Self {
        self.write_date = Some(Arc::new(move |date| function(date).map_err(failed)));
        self
    }

    /// Sets the function that reads dates.
    #[must_use]
    pub fn deserialize_date<E: Into<BoxError>>(
        mut self,
        function: impl Fn(&str) -> Result<Date, E> + Send + Sync + 'static,
    ) -> Self {
        self.read_date = Some(Arc::new(move |text| function(text).map_err(failed)));
        self
    }

    /// Sets the function that writes maps. It receives the ordered entries,
    /// with key and value as JSON. Keys are not yet converted to text.
    #[must_use]
    pub fn serialize_map<E: Into<BoxError>>(
        mut self,
        function: impl Fn(Vec<(Value, Value)>) -> Result<Value, E> + Send + Sync + 'static,
    ) -> Self {
        self.write_map = Some(Arc::new(move |entries| function(entries).map_err(failed)));
        self
    }

    /// Sets the function that reads maps. It returns the entries, with key and
    /// value as JSON. A key may be any JSON value.
    #[must_use]
    pub fn deserialize_map<E: Into<BoxError>>(
        mut self,
        function: impl Fn(Value) -> Result<Vec<(Value, Value)>, E> + Send + Sync + 'static,
    ) -> Self {
        self.read_map = Some(Arc::new(move |value| function(value).map_err(failed)));
        self
    }

    /// Sets the function that writes sets. It receives the ordered elements as
    /// JSON.
    #[must_use]
    pub fn serialize_set<E: Into<BoxError>>(
        mut self,
        function: impl Fn(Vec<Value>) -> Result<Value, E> + Send + Sync + 'static,
    ) -> Self {
        self.write_set = Some(Arc::new(move |elements| function(elements).map_err(failed)));
        self
    }

    /// Sets the function that reads sets. It returns the elements as JSON.
    #[must_use]
    pub fn deserialize_set<E: Into<BoxError>>(
        mut self,
        function: impl Fn(Value) -> Result<Vec<Value>, E> + Send + Sync + 'static,
    ) -> Self {
        self.read_set = Some(Arc::new(move |value| function(value).map_err(failed)));
        self
    }
}

fn failed(error: impl Into<BoxError>) -> SerializationError {
    SerializationError::Custom(error.into())
}

/// Shows which helpers are replaced.
impl fmt::Debug for CustomSerialization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CustomSerialization")
            .field("serialize_date", &self.write_date.is_some())
            .field("deserialize_date", &self.read_date.is_some())
            .field("serialize_map", &self.write_map.is_some())
            .field("deserialize_map", &self.read_map.is_some())
            .field("serialize_set", &self.write_set.is_some())
            .field("deserialize_set", &self.read_set.is_some())
            .finish()
    }
}
