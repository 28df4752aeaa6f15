//! [`SecurityScheme`], a way to authenticate a client, and [`UserMethod`], a
//! scheme with its challenge.

use std::borrow::Cow;

use crate::{MethodInfo, SchemeInfo};

/// A way to authenticate a client, in the terms of OpenAPI.
///
/// Source: OpenAPI 3.1, "Security Scheme Object".
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum SecurityScheme {
    /// `Authorization` with this scheme, such as `Bearer`.
    Http {
        /// The scheme, as it appears in the header.
        scheme: Cow<'static, str>,
        /// The format of the token, such as `JWT`, if it is known.
        bearer_format: Option<Cow<'static, str>>,
    },
    /// A key in a header of this name.
    Header(Cow<'static, str>),
    /// A cookie of this name.
    Cookie(Cow<'static, str>),
    /// A scheme of the application, as a short text for readers.
    Other(Cow<'static, str>),
}

impl SecurityScheme {
    /// Creates the scheme of `Bearer` tokens.
    #[must_use]
    pub fn bearer() -> Self {
        Self::Http { scheme: Cow::Borrowed("Bearer"), bearer_format: None }
    }

    /// Creates the scheme of JSON Web Tokens after `Bearer`.
    #[must_use]
    pub fn jwt() -> Self {
        Self::Http { scheme: Cow::Borrowed("Bearer"), bearer_format: Some(Cow::Borrowed("JWT")) }
    }

    /// Creates the scheme of names and passwords (RFC 7617).
    #[must_use]
    pub fn basic() -> Self {
        Self::Http { scheme: Cow::Borrowed("Basic"), bearer_format: None }
    }

    /// Returns a short name that is valid as a key in documents: `bearer`,
    /// `basic`, `x-api-key`.
    #[must_use]
    pub fn name(&self) -> String {
        let name = match self {
            Self::Http { scheme, .. } => scheme.to_ascii_lowercase(),
            Self::Header(name) => name.to_ascii_lowercase(),
            Self::Cookie(name) => format!("{name}-cookie"),
            Self::Other(text) => text.to_ascii_lowercase(),
        };
        // The valid characters of a key under `components` (OpenAPI 3.1,
        // "Components Object").
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        name.chars().map(|c| if allowed(c) { c } else { '-' }).collect()
    }
}

impl From<SecurityScheme> for SchemeInfo {
    fn from(scheme: SecurityScheme) -> Self {
        let name = scheme.name();
        match scheme {
            SecurityScheme::Http { scheme, bearer_format } => Self::Http {
                name,
                scheme: scheme.into(),
                bearer_format: bearer_format.map(Into::into),
            },
            SecurityScheme::Header(header) => Self::Header { name, header: header.into() },
            SecurityScheme::Cookie(cookie) => Self::Cookie { name, cookie: cookie.into() },
            SecurityScheme::Other(text) => Self::Other { name, text: text.into() },
        }
    }
}

/// A method that authenticates a user: its scheme, and the challenge of a 401.
///
/// A scheme converts to a method with the usual challenge.
///
/// ```
/// use stockade::description::{SecurityScheme, UserMethod};
///
/// let basic = UserMethod::new(SecurityScheme::basic());
/// assert_eq!(basic.challenge, "Basic");
/// let key = UserMethod::new(SecurityScheme::Header("x-key".into()));
/// assert_eq!(key.challenge, r#"ApiKey header="x-key""#);
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct UserMethod {
    /// The scheme.
    pub scheme: SecurityScheme,
    /// The value of `WWW-Authenticate` for an unauthenticated request (RFC
    /// 9110, section 11.6.1).
    pub challenge: Cow<'static, str>,
    /// The strictness of the method. Its name is set from the scheme.
    pub info: MethodInfo,
}

impl UserMethod {
    /// Creates a method with the usual challenge of the scheme.
    #[must_use]
    pub fn new(scheme: SecurityScheme) -> Self {
        let challenge = match &scheme {
            SecurityScheme::Http { scheme, .. } => scheme.clone(),
            SecurityScheme::Header(name) => format!("ApiKey header=\"{name}\"").into(),
            SecurityScheme::Cookie(name) => format!("Session cookie=\"{name}\"").into(),
            SecurityScheme::Other(_) => scheme.name().into(),
        };
        Self { scheme, challenge, info: MethodInfo::default() }
    }

    /// Sets [`challenge`](Self#structfield.challenge).
    #[must_use]
    pub fn challenge(mut self, challenge: impl Into<Cow<'static, str>>) -> Self {
        self.challenge = challenge.into();
        self
    }

    /// Sets [`info`](Self#structfield.info). Default: middleware of the
    /// program, about which nothing is known.
    #[must_use]
    pub fn info(mut self, info: MethodInfo) -> Self {
        self.info = info;
        self
    }
}

impl From<SecurityScheme> for UserMethod {
    fn from(scheme: SecurityScheme) -> Self {
        Self::new(scheme)
    }
}
