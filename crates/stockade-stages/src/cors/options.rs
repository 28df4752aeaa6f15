//! [`CorsOptions`] and [`CorsOrigin`]: the CORS options.
// Spec: Router options › `corsOrigin`; Response headers › CORS rules.

use std::fmt;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use stockade_core::{IntoSetting, Setting};
use stockade_errors::__internal::setters;

/// The origin, or the origins, that may read responses.
///
/// By default it is unset, and the development origin `http://localhost:3000`
/// is allowed without credentials.
///
/// ```
/// use stockade::middleware::CorsOrigin;
///
/// assert_eq!(CorsOrigin::from("*"), CorsOrigin::One("*".into()));
/// assert_eq!(
///     CorsOrigin::from(["https://app.example"]),
///     CorsOrigin::List(vec!["https://app.example".into()]),
/// );
/// ```
///
/// Deserialization never fails. Any value except an origin or a list of origins
/// becomes [`Malformed`](Self::Malformed), which logs a warning and counts as
/// unset.
// Spec: Router options › `corsOrigin`; Response headers › CORS rules, rule 5.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq)]
#[doc(alias = "corsOrigin")]
#[serde(from = "CorsOriginNotation")]
#[non_exhaustive]
pub enum CorsOrigin {
    /// The development origin, without credentials.
    #[default]
    Unset,
    /// This origin for every request, with credentials; `*` allows every
    /// origin, without credentials.
    One(String),
    /// The origin of the request, with credentials, if it is in this list.
    List(Vec<String>),
    /// Any other value from a file, as JSON, such as a number, `null` or a list
    /// that contains a number.
    Malformed(String),
}

impl CorsOrigin {
    /// Deserializes an optional setting, for `#[serde(deserialize_with)]`. A
    /// `null` is a malformed origin, not a missing one.
    ///
    /// # Errors
    /// Returns the errors of the source.
    pub fn given<'de, D: Deserializer<'de>>(source: D) -> Result<Option<Self>, D::Error> {
        Self::deserialize(source).map(Some)
    }
}

/// The notations of an origin in a file.
#[derive(Deserialize)]
#[serde(untagged)]
enum CorsOriginNotation {
    One(String),
    List(Vec<String>),
    Other(Value),
}

impl From<CorsOriginNotation> for CorsOrigin {
    fn from(notation: CorsOriginNotation) -> Self {
        match notation {
            CorsOriginNotation::One(origin) => Self::One(origin),
            CorsOriginNotation::List(origins) => Self::List(origins),
            CorsOriginNotation::Other(other) => Self::Malformed(other.to_string()),
        }
    }
}

impl From<&str> for CorsOrigin {
    fn from(origin: &str) -> Self {
        Self::One(origin.to_owned())
    }
}

impl From<String> for CorsOrigin {
    fn from(origin: String) -> Self {
        Self::One(origin)
    }
}

impl From<&String> for CorsOrigin {
    fn from(origin: &String) -> Self {
        Self::One(origin.clone())
    }
}

impl<T: Into<String>, const N: usize> From<[T; N]> for CorsOrigin {
    fn from(origins: [T; N]) -> Self {
        Self::List(origins.map(Into::into).into())
    }
}

impl<T: Into<String>> From<Vec<T>> for CorsOrigin {
    fn from(origins: Vec<T>) -> Self {
        Self::List(origins.into_iter().map(Into::into).collect())
    }
}

/// The CORS options.
///
/// The options can be read from a configuration file, with the names of the
/// fields or in camel case. An unknown key is an error.
///
/// # Beyond the spec
///
/// The specification defines only the origin.
// Spec: Response headers › CORS rules.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct CorsOptions {
    /// The origins that may read responses. Default: unset.
    pub origin: CorsOrigin,
    /// The methods that a preflight allows. Default: GET, POST, PUT, DELETE,
    /// PATCH, OPTIONS.
    pub methods: Vec<String>,
    /// The request headers that a preflight allows. Default: `Content-Type`,
    /// `Authorization`, and the headers that the route reads, such as
    /// `If-Match`, `Idempotency-Key` or the header of an API key. A list
    /// replaces all of these.
    #[serde(alias = "allowedHeaders")]
    pub allowed_headers: Option<Vec<String>>,
    /// The response headers that a script may read in addition to the
    /// CORS-safelisted headers. Default: `RateLimit`, `RateLimit-Policy`,
    /// `Retry-After`, `X-Request-Id`, and the headers that the route documents,
    /// such as `ETag` or `Location`. A list replaces all of these. With
    /// `RateLimit`, a script may also read the older `X-RateLimit-*` headers of
    /// a response that has them.
    #[serde(alias = "exposedHeaders")]
    pub exposed_headers: Option<Vec<String>>,
    /// The time for which a browser may cache a preflight response, in seconds.
    /// Default: 600.
    #[serde(alias = "maxAge")]
    pub max_age: u32,
    /// Allows pages on a public network to reach this API on a private network.
    /// If false, a preflight for such a request is rejected. Default: false.
    #[serde(alias = "allowPrivateNetwork")]
    pub allow_private_network: bool,
}

impl Default for CorsOptions {
    fn default() -> Self {
        let texts = |list: &[&str]| list.iter().map(|&text| text.to_owned()).collect();
        Self {
            origin: CorsOrigin::Unset,
            methods: texts(&["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"]),
            allowed_headers: None,
            exposed_headers: None,
            max_age: 600,
            allow_private_network: false,
        }
    }
}

impl CorsOptions {
    /// Creates the defaults for one or several origins.
    #[must_use]
    pub fn new(origin: impl Into<CorsOrigin>) -> Self {
        Self { origin: origin.into(), ..Self::default() }
    }

    setters! {
        /// Sets [`origin`](Self#structfield.origin).
        origin: into CorsOrigin;

        /// Sets [`max_age`](Self#structfield.max_age), in seconds.
        max_age: u32;

        /// Sets [`allow_private_network`](Self#structfield.allow_private_network).
        allow_private_network: bool;
    }

    /// Sets [`methods`](Self#structfield.methods).
    #[must_use]
    pub fn methods<T: Into<String>>(mut self, methods: impl IntoIterator<Item = T>) -> Self {
        self.methods = methods.into_iter().map(Into::into).collect();
        self
    }

    /// Sets [`allowed_headers`](Self#structfield.allowed_headers).
    #[must_use]
    pub fn allowed_headers<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.allowed_headers = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Sets [`exposed_headers`](Self#structfield.exposed_headers).
    #[must_use]
    pub fn exposed_headers<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.exposed_headers = Some(names.into_iter().map(Into::into).collect());
        self
    }
}

/// The default options for this origin.
impl<T: Into<CorsOrigin>> From<T> for CorsOptions {
    fn from(origin: T) -> Self {
        Self::new(origin)
    }
}

/// Deserializes the CORS rules of a file: an object, an origin or a list of
/// origins, `false` for off, or `true` for the default. Any other value is a
/// malformed origin. For `#[serde(deserialize_with)]`.
///
/// # Errors
/// Fails for an object with an unknown key or a wrong value, and returns the
/// errors of the source.
pub fn cors_setting<'de, D: Deserializer<'de>>(
    source: D,
) -> Result<Setting<CorsOptions>, D::Error> {
    source.deserialize_any(CorsVisitor)
}

struct CorsVisitor;

impl CorsVisitor {
    fn origin<E>(origin: impl Into<CorsOrigin>) -> Result<Setting<CorsOptions>, E> {
        Ok(CorsOptions::new(origin).into_setting())
    }

    fn malformed<E>(value: impl fmt::Display) -> Result<Setting<CorsOptions>, E> {
        Self::origin(CorsOrigin::Malformed(value.to_string()))
    }
}

impl<'de> Visitor<'de> for CorsVisitor {
    type Value = Setting<CorsOptions>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an origin, a list of origins, an object with CORS rules, true or false")
    }

    fn visit_bool<E>(self, is_on: bool) -> Result<Self::Value, E> {
        Ok(is_on.into_setting())
    }

    fn visit_str<E>(self, origin: &str) -> Result<Self::Value, E> {
        Self::origin(origin)
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Self::malformed(number)
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Self::malformed(number)
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Self::malformed(number)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Self::malformed("null")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        Self::origin(CorsOrigin::deserialize(SeqAccessDeserializer::new(list))?)
    }

    fn visit_map<A: MapAccess<'de>>(self, rules: A) -> Result<Self::Value, A::Error> {
        CorsOptions::deserialize(MapAccessDeserializer::new(rules)).map(Setting::Value)
    }
}

macro_rules! origins {
    ($([$($generic:tt)*] $origins:ty;)*) => {$(
        impl<$($generic)*> IntoSetting<CorsOptions> for $origins {
            fn into_setting(self) -> Setting<CorsOptions> {
                Setting::Value(self.into())
            }
        }
    )*};
}

origins! {
    [] CorsOptions;
    [] CorsOrigin;
    [] &str;
    [] String;
    [] &String;
    [T: Into<String>, const N: usize] [T; N];
    [T: Into<String>] Vec<T>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_read_in_both_cases() {
        let json = r#"{ "origin": "https://a.example", "maxAge": 5, "allow_private_network": true,
            "allowedHeaders": ["X-A"], "exposed_headers": [], "methods": ["GET"] }"#;
        let expected = CorsOptions::new("https://a.example")
            .max_age(5)
            .allow_private_network(true)
            .allowed_headers(["X-A"])
            .exposed_headers(Vec::<String>::new())
            .methods(["GET"]);
        assert_eq!(serde_json::from_str::<CorsOptions>(json).unwrap(), expected);
        let list: CorsOptions = serde_json::from_str(r#"{ "origin": ["a", "b"] }"#).unwrap();
        assert_eq!(list, CorsOptions::new(["a", "b"]));
    }

    #[test]
    fn unknown_keys_and_invalid_numbers_are_errors() {
        for json in [r#"{ "credentials": true }"#, r#"{ "maxAge": -1 }"#] {
            assert!(serde_json::from_str::<CorsOptions>(json).is_err(), "{json}");
        }
    }

    #[test]
    fn a_file_has_an_origin_a_list_rules_or_a_switch() {
        let read = |json: &str| cors_setting(&mut serde_json::Deserializer::from_str(json));
        let origins = |origin: CorsOrigin| Setting::Value(CorsOptions::new(origin));
        for (json, expected) in [
            ("false", Setting::Off),
            ("true", Setting::On),
            (r#""https://a.example""#, origins("https://a.example".into())),
            (r#"["a", "b"]"#, origins(["a", "b"].into())),
            ("[]", origins(CorsOrigin::List(Vec::new()))),
            ("42", origins(CorsOrigin::Malformed("42".to_owned()))),
            ("-1.5", origins(CorsOrigin::Malformed("-1.5".to_owned()))),
            ("null", origins(CorsOrigin::Malformed("null".to_owned()))),
            (r#"["a",5]"#, origins(CorsOrigin::Malformed(r#"["a",5]"#.to_owned()))),
            (r#"{ "maxAge": 5 }"#, Setting::Value(CorsOptions::default().max_age(5))),
        ] {
            assert_eq!(read(json).unwrap(), expected, "{json}");
        }
        for (json, expected) in [
            (r#"{ "age": 5 }"#, "unknown field `age`"),
            (r#"{ "maxAge": "5" }"#, "invalid type: string"),
            ("[", "EOF"),
        ] {
            let error = read(json).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{json}: {error}");
        }
    }

    #[test]
    fn reads_invalid_origins_as_malformed() {
        for odd in ["42", "true", "null", "1.5", r#"["https://a.example",5]"#, r#"[["*"]]"#, "{}"] {
            let malformed = CorsOrigin::Malformed(odd.to_owned());
            assert_eq!(serde_json::from_str::<CorsOrigin>(odd).unwrap(), malformed);
            let options = format!(r#"{{ "origin": {odd} }}"#);
            let options: CorsOptions = serde_json::from_str(&options).unwrap();
            assert_eq!(options, CorsOptions::new(malformed));
        }
    }
}
