//! [`SerializationOptions`]: which helpers there are.
//!
//! Spec: Middleware › `withSerialization`.

use serde::Deserialize;

use crate::CustomSerialization;

/// Which helpers [`Serialization`](crate::Serialization) and
/// [`Deserialization`](crate::Deserialization) have; by default all, and none
/// of them replaced.
///
/// An option concerns the helper of that name, not what is inside of other
/// data: a map of dates is written whatever `enable_date` is.
///
/// ```
/// use stockade_serialization::SerializationOptions;
///
/// let options: SerializationOptions = serde_json::from_str(r#"{ "enableMap": false }"#)?;
/// assert!(options.enable_date && options.enable_set && !options.enable_map);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct SerializationOptions {
    /// Whether there are the helpers for dates. Default: true.
    #[doc(alias = "enableDate")]
    pub enable_date: bool,
    /// Whether there are the helpers for maps. Default: true.
    #[doc(alias = "enableMap")]
    pub enable_map: bool,
    /// Whether there are the helpers for sets. Default: true.
    #[doc(alias = "enableSet")]
    pub enable_set: bool,
    /// Own functions in the place of helpers. Default: none. A helper that is
    /// switched off is so with an own function too.
    #[serde(skip)]
    pub custom: CustomSerialization,
}

impl Default for SerializationOptions {
    fn default() -> Self {
        Self {
            enable_date: true,
            enable_map: true,
            enable_set: true,
            custom: CustomSerialization::new(),
        }
    }
}

impl SerializationOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`enable_date`](Self::enable_date).
    #[must_use]
    pub fn enable_date(mut self, enable_date: bool) -> Self {
        self.enable_date = enable_date;
        self
    }

    /// Sets [`enable_map`](Self::enable_map).
    #[must_use]
    pub fn enable_map(mut self, enable_map: bool) -> Self {
        self.enable_map = enable_map;
        self
    }

    /// Sets [`enable_set`](Self::enable_set).
    #[must_use]
    pub fn enable_set(mut self, enable_set: bool) -> Self {
        self.enable_set = enable_set;
        self
    }

    /// Sets [`custom`](Self::custom).
    #[must_use]
    pub fn custom(mut self, custom: CustomSerialization) -> Self {
        self.custom = custom;
        self
    }
}
