//! [`schema!`](crate::schema!): a schema written as JSON.

/// Makes a [`Schema`](struct@crate::Schema) from JSON written in place, in either
/// notation, as [`Schema::from_value`](crate::Schema::from_value) reads it.
///
/// Expressions may stand for values, as in [`serde_json::json!`]. The result
/// is that of `from_value`; mistakes name the file and line of this call.
///
/// ```
/// use stockade_validation::schema;
///
/// let longest = 40;
/// let schema = schema!({ "title": { "type": "string", "maxLength": longest } })?;
/// assert!(schema.to_json_schema()["properties"]["title"]["maxLength"] == 40);
///
/// let error = schema!({ "title": { "type": "string", "maxLenght": 40 } }).unwrap_err();
/// assert_eq!(
///     error.issues()[0].message(),
///     "field `title`: unknown keyword `maxLenght`, did you mean `maxLength`?"
/// );
/// # Ok::<(), stockade_errors::ConfigError>(())
/// ```
#[macro_export]
macro_rules! schema {
    ($($json:tt)+) => {
        $crate::Schema::from_value(&$crate::__private::json!($($json)+))
    };
}
