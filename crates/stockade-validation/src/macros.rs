//! [`schema!`](crate::schema!): creates a schema from inline JSON.

/// Creates a [`Schema`](struct@crate::Schema) from inline JSON in either
/// notation, as [`Schema::from_value`](crate::Schema::from_value) does.
///
/// Values may be expressions, as in [`serde_json::json!`]. Returns the same
/// result as `from_value`; configuration errors name the file and line of this
/// call.
///
/// With the feature `derive`, which `stockade` enables, an unknown keyword does
/// not compile. If the notation of a part depends on an expression, the part is
/// checked at run time.
///
/// ```
/// use stockade_validation::schema;
///
/// let longest = 40;
/// let schema = schema!({ "title": { "type": "string", "maxLength": longest } })?;
/// assert!(schema.to_json_schema()["properties"]["title"]["maxLength"] == 40);
///
/// let error = schema!({ "title": { "type": "string", "minLength": longest + 1, "maxLength": longest } });
/// assert_eq!(
///     error.unwrap_err().issues()[0].message(),
///     "field `title`: `minLength` 41 is above `maxLength` 40"
/// );
/// # Ok::<(), stockade_errors::ConfigError>(())
/// ```
#[macro_export]
macro_rules! schema {
    ($($json:tt)+) => {{
        $crate::__private::check_schema!($($json)+);
        $crate::Schema::from_value(&$crate::__private::json!($($json)+))
    }};
}

/// Replaces the keyword check, which is a macro of the feature `derive`.
#[cfg(not(feature = "derive"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __check_schema {
    ($($json:tt)*) => {};
}
