//! [`Challenge`]: the value of `WWW-Authenticate` for one method.
//!
//! Source: RFC 9110, section 11.6.1.

use std::borrow::Cow;

/// The challenge of a method: its scheme and its parameters.
#[derive(Clone, Debug)]
pub(super) struct Challenge {
    scheme: Scheme,
    realm: Option<String>,
    /// The parameters after the realm, such as `header="x-api-key"`.
    parameters: Cow<'static, str>,
    kind: Kind,
    /// The text for a request without credentials.
    text: Cow<'static, str>,
}

/// The scheme of a challenge, and of the tokens in `Authorization`.
#[derive(Clone, Debug)]
pub(super) enum Scheme {
    /// `Bearer`, which a token may omit.
    Bearer,
    /// A scheme with this name, which is required before a token.
    Named(Cow<'static, str>),
}

/// The kind of credentials that a challenge requests.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    /// A token; the challenge shows if it was invalid.
    Token,
    /// A name and a password (RFC 7617).
    Basic,
    /// Credentials in a header other than `Authorization`.
    Other,
}

impl Scheme {
    fn as_str(&self) -> &str {
        match self {
            Self::Bearer => "Bearer",
            Self::Named(name) => name,
        }
    }
}

impl Challenge {
    pub(super) const BEARER: Self = Self {
        scheme: Scheme::Bearer,
        realm: None,
        parameters: Cow::Borrowed(""),
        kind: Kind::Token,
        text: Cow::Borrowed("Bearer"),
    };

    pub(super) fn basic(realm: &str) -> Self {
        let challenge = Self::of("Basic", r#"charset="UTF-8""#.into(), Kind::Basic);
        challenge.with_realm(realm)
    }

    /// Creates the challenge for credentials in a header other than
    /// `Authorization`, with a parameter that names the location.
    pub(super) fn other(scheme: &'static str, parameter: String) -> Self {
        Self::of(scheme, parameter.into(), Kind::Other)
    }

    fn of(scheme: &'static str, parameters: Cow<'static, str>, kind: Kind) -> Self {
        let scheme = Scheme::Named(scheme.into());
        Self { scheme, realm: None, parameters, kind, text: "".into() }.written()
    }

    /// Sets the realm, and removes quotes and control characters.
    pub(super) fn with_realm(mut self, realm: &str) -> Self {
        let is_allowed = |char: &char| matches!(char, ' '..='~') && !"\"\\".contains(*char);
        self.realm = Some(realm.chars().filter(is_allowed).collect());
        self.written()
    }

    /// Sets the scheme.
    ///
    /// # Errors
    /// Returns a message if the name is not a valid scheme, or if the
    /// credentials are Basic.
    pub(super) fn with_scheme(mut self, name: &str) -> Result<Self, String> {
        let is_tchar =
            |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        if name.is_empty() || !name.bytes().all(is_tchar) {
            return Err(format!("{name:?} is not an authentication scheme"));
        }
        if self.kind == Kind::Basic {
            return Err(format!("names and passwords use the scheme Basic, found {name:?}"));
        }
        self.scheme = match name.eq_ignore_ascii_case("bearer") {
            true => Scheme::Bearer,
            false => Scheme::Named(name.to_owned().into()),
        };
        Ok(self.written())
    }

    pub(super) fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    /// Returns the name of the scheme.
    pub(super) fn scheme_name(&self) -> &str {
        self.scheme.as_str()
    }

    /// Returns the challenge for a request without credentials.
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns true if the challenge shows that a token was invalid.
    pub(super) fn tells_invalid(&self) -> bool {
        self.kind == Kind::Token
    }

    /// Returns the challenge for invalid credentials (RFC 6750, section 3).
    pub(super) fn for_invalid(&self) -> Cow<'_, str> {
        if self.tells_invalid() {
            self.write(r#"error="invalid_token""#).into()
        } else {
            Cow::Borrowed(&self.text)
        }
    }

    fn written(mut self) -> Self {
        self.text = self.write("").into();
        self
    }

    fn write(&self, last: &str) -> String {
        let realm = self.realm.as_ref().map(|realm| format!("realm=\"{realm}\""));
        let parameters = [realm.as_deref(), Some(&*self.parameters), Some(last)];
        let parameters = parameters.into_iter().flatten().filter(|text| !text.is_empty());
        let parameters = parameters.collect::<Vec<_>>().join(", ");
        let scheme = self.scheme.as_str();
        if parameters.is_empty() { scheme.to_owned() } else { format!("{scheme} {parameters}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_is_scheme_and_parameters() {
        #[track_caller]
        fn check(challenge: &Challenge, missing: &str, invalid: &str) {
            assert_eq!(challenge.as_str(), missing);
            assert_eq!(challenge.for_invalid(), invalid);
        }
        let bearer = || Challenge::BEARER;
        let key = || Challenge::other("ApiKey", r#"header="x-key""#.into());
        check(&bearer(), "Bearer", r#"Bearer error="invalid_token""#);
        let token = || bearer().with_scheme("Token").unwrap();
        check(&token(), "Token", r#"Token error="invalid_token""#);
        check(
            &token().with_realm("a \"b\"\n\\é"),
            r#"Token realm="a b""#,
            r#"Token realm="a b", error="invalid_token""#,
        );
        check(&key(), r#"ApiKey header="x-key""#, r#"ApiKey header="x-key""#);
        let own = key().with_realm("r").with_scheme("Key").unwrap();
        check(&own, r#"Key realm="r", header="x-key""#, r#"Key realm="r", header="x-key""#);
        let basic = r#"Basic realm="x", charset="UTF-8""#;
        check(&Challenge::basic("x"), basic, basic);
    }

    #[test]
    fn a_scheme_is_a_token_of_http() {
        for name in ["Token", "t", "a-b.c_d~", "Bearer", "bearer"] {
            assert!(Challenge::BEARER.with_scheme(name).is_ok(), "{name:?}");
        }
        for name in ["", " ", "a b", "Token ", "a=b", "a,b", "a/b", "\"a\"", "é", "a\n", "a\0"] {
            let mistake = Challenge::BEARER.with_scheme(name).unwrap_err();
            assert!(
                mistake.contains(&format!("{name:?} is not an authentication scheme")),
                "{mistake}"
            );
        }
        assert!(Challenge::basic("x").with_scheme("Token").is_err());
    }
}
