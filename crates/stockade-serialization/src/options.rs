//! [`SerializationOptions`]: the options of the helpers.
// Spec: Middleware helpers › `withSerialization`.

use serde::Deserialize;
use stockade_errors::__internal::setters;

use crate::CustomSerialization;

/// The options of [`Serialization`](crate::Serialization) and
/// [`Deserialization`](crate::Deserialization). By default, all helpers are
/// enabled and none is replaced.
///
/// An option affects only the helper with its name. It does not affect nested
/// data: a map of dates is written even if `enable_date` is false.
///
/// ```
/// use stockade::serialization::SerializationOptions;
///
/// let options: SerializationOptions = stockade::serde_json::from_str(r#"{ "enableMap": false }"#)?;
/// assert!(options.enable_date && options.enable_set && !options.enable_map);
/// # Ok::<(), stockade::serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct SerializationOptions {
    /// Enables the helpers for dates. Default: true.
    #[doc(alias = "enableDate")]
    pub enable_date: bool,
    /// Enables the helpers for maps. Default: true.
    #[doc(alias = "enableMap")]
    pub enable_map: bool,
    /// Enables the helpers for sets. Default: true.
    #[doc(alias = "enableSet")]
    pub enable_set: bool,
    /// Functions that replace helpers. Default: none. A function does not
    /// enable its helper.
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
    /// Creates options with the defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Sets [`enable_date`](Self::enable_date).
        enable_date: bool;

        /// Sets [`enable_map`](Self::enable_map).
        enable_map: bool;

        /// Sets [`enable_set`](Self::enable_set).
        enable_set: bool;

        /// Sets [`custom`](Self::custom).
        custom: CustomSerialization;
    }
}
