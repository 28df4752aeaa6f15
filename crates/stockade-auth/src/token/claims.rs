//! [`Claims`]: the claims of a verified token.

use std::fmt;
use std::ops::Index;

use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use stockade_json::Number;

use super::TokenError;
use super::marks::Mark;
use super::payload::Payload;

/// The payload of a verified token. Only verification creates it.
///
/// It stores the signed text and the times. The other claims are parsed on
/// first use and then cached.
///
/// ```
/// use serde_json::json;
/// use stockade_auth::{Secret, generate_jwt, verify_token};
///
/// let secret = Secret::new("a secret of thirty-two bytes or more")?;
/// let token = generate_jwt(json!({ "sub": "7", "role": "admin" }), "1h", &secret)?;
/// let claims = verify_token(&token, &secret).ok_or("not valid")?;
/// assert_eq!(claims.subject(), Some("7"));
/// assert_eq!(claims["role"], "admin");
/// assert_eq!(claims.expires_at(), claims.issued_at().map(|time| time + 3_600));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
// Spec: Authentication data.
#[derive(Clone)]
pub struct Claims {
    payload: Payload,
    times: Times,
}

/// The times of a payload, in whole seconds since 1970.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Times {
    pub(super) exp: Option<u64>,
    pub(super) iat: Option<u64>,
    pub(super) nbf: Option<u64>,
    /// The value of [`ISSUED_AT_MILLIS`], if it is a time.
    pub(super) iat_millis: Option<u64>,
}

impl Times {
    /// Returns the field for the time claim with this name.
    pub(super) fn place(&mut self, name: &str) -> Option<&mut Option<u64>> {
        match name {
            "exp" => Some(&mut self.exp),
            "iat" => Some(&mut self.iat),
            "nbf" => Some(&mut self.nbf),
            _ => None,
        }
    }
}

impl Claims {
    /// Parses the decoded payload of a token with a verified signature.
    pub(super) fn read(payload: Vec<u8>) -> Result<Self, TokenError> {
        Payload::read(payload).map(|(payload, times)| Self { payload, times })
    }

    pub(super) fn times(&self) -> Times {
        self.times
    }

    /// Returns the claim with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.as_map().get(name)
    }

    /// Returns all claims, in the order of the token.
    #[must_use]
    pub fn as_map(&self) -> &Map<String, Value> {
        self.payload.claims()
    }

    /// Returns all claims as the signed JSON text: one object without duplicate
    /// names.
    #[must_use]
    pub fn as_json(&self) -> &str {
        self.payload.text()
    }

    /// Returns the text of [`as_json`](Self::as_json) without a copy.
    #[must_use]
    pub fn into_json(self) -> String {
        self.payload.into_parts().0
    }

    /// Returns all claims as a JSON object, which handlers receive as the user.
    #[must_use]
    pub fn into_value(self) -> Value {
        Value::Object(self.payload.into_claims())
    }

    /// Deserializes the claims into your own type.
    ///
    /// # Errors
    /// Fails if the claims do not fit the type, or if a nested object has a
    /// duplicate field.
    pub fn deserialize<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.as_json())
    }

    /// Returns `sub`, if it is text.
    #[must_use]
    pub fn subject(&self) -> Option<&str> {
        self.text("sub")
    }

    /// Returns `iss`, if it is text.
    #[must_use]
    pub fn issuer(&self) -> Option<&str> {
        self.text("iss")
    }

    /// Returns `jti`, if it is text.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.text("jti")
    }

    /// Returns `aud`: one text, or each text of a list.
    pub fn audiences(&self) -> impl Iterator<Item = &str> {
        let (one, many) = match self.get("aud") {
            Some(Value::Array(items)) => (None, items.as_slice()),
            Some(Value::String(text)) => (Some(text.as_str()), [].as_slice()),
            _ => (None, [].as_slice()),
        };
        one.into_iter().chain(many.iter().filter_map(Value::as_str))
    }

    /// Returns `exp`, the expiry time, in whole seconds since 1970.
    #[must_use]
    pub fn expires_at(&self) -> Option<u64> {
        self.times.exp
    }

    /// Returns `iat`, the time of issue, in whole seconds since 1970.
    #[must_use]
    pub fn issued_at(&self) -> Option<u64> {
        self.times.iat
    }

    /// Returns the time of issue in milliseconds since 1970, from the private
    /// claim `iat_ms`, which [`TokenIssuer`](crate::TokenIssuer) adds. Returns
    /// `None` if it is missing, not a whole number, or not within the second of
    /// `iat`.
    ///
    /// ```
    /// use serde_json::json;
    /// use stockade_auth::{Secret, TokenIssuer, TokenVerifier, UnixClock};
    ///
    /// let secret = Secret::new("a secret of thirty-two bytes or more")?;
    /// let clock = UnixClock::at_millis(1_700_000_000_250);
    /// let token = TokenIssuer::new().clock(clock.clone()).issue(json!({}), "1h", &secret)?;
    /// let claims = TokenVerifier::new().clock(clock).verify(&token, &secret)?;
    /// assert_eq!(claims.issued_at(), Some(1_700_000_000));
    /// assert_eq!(claims.issued_at_millis(), Some(1_700_000_000_250));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn issued_at_millis(&self) -> Option<u64> {
        let issued = self.times.iat?;
        self.times.iat_millis.filter(|millis| millis / 1_000 == issued)
    }

    /// Returns true if the token was issued before a time in seconds since
    /// 1970, or if it lacks `iat`.
    pub(crate) fn is_older(&self, before: u64) -> bool {
        self.times.iat.is_none_or(|issued| issued < before)
    }

    /// Returns true if the token was issued before a time in milliseconds since
    /// 1970, or if it lacks `iat`. A token without milliseconds counts as
    /// issued at the beginning of its second.
    pub(crate) fn is_older_millis(&self, before: u64) -> bool {
        match self.issued_at_millis() {
            Some(issued) => issued < before,
            None => self.is_older(before.div_ceil(1_000)),
        }
    }

    /// Returns `nbf`, the start of validity, in whole seconds since 1970.
    #[must_use]
    pub fn not_before(&self) -> Option<u64> {
        self.times.nbf
    }

    /// Returns `jti` as [`id`](Self::id) does, without parsing the other
    /// claims.
    pub(crate) fn marked_id(&self) -> Option<&str> {
        self.marked(self.payload.marks().id, "jti")
    }

    /// Returns `iss` as [`issuer`](Self::issuer) does, without parsing the
    /// other claims.
    pub(crate) fn marked_issuer(&self) -> Option<&str> {
        self.marked(self.payload.marks().issuer, "iss")
    }

    /// Returns `sub` as [`subject`](Self::subject) does, without parsing the
    /// other claims.
    pub(crate) fn marked_subject(&self) -> Option<&str> {
        self.marked(self.payload.marks().subject, "sub")
    }

    fn marked(&self, mark: Mark, name: &str) -> Option<&str> {
        match mark {
            Mark::Absent => None,
            Mark::At { start, end } => self.as_json().get(start..end),
            Mark::Escaped => self.text(name),
        }
    }

    /// Returns the text of [`as_json`](Self::as_json), and all claims if they
    /// were already parsed.
    #[doc(hidden)]
    #[must_use]
    pub fn into_parts(self) -> (String, Option<Value>) {
        let (text, claims) = self.payload.into_parts();
        (text, claims.map(Value::Object))
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(Value::as_str)
    }
}

/// Two values are equal if they have the same claims, in any order.
impl PartialEq for Claims {
    fn eq(&self, other: &Self) -> bool {
        self.as_map() == other.as_map()
    }
}

/// Returns the claim with this name, or JSON null.
impl Index<&str> for Claims {
    type Output = Value;

    fn index(&self, name: &str) -> &Value {
        self.get(name).unwrap_or(&Value::Null)
    }
}

/// Serializes the claims as an object.
impl Serialize for Claims {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_map().serialize(serializer)
    }
}

/// Prints the claims, which are not secret: the token without its signature.
impl fmt::Debug for Claims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Claims").field(self.as_map()).finish()
    }
}

impl From<Claims> for Value {
    fn from(claims: Claims) -> Self {
        claims.into_value()
    }
}

/// Parses a time: a number of seconds since 1970 from 0 to [`MAX_TIME`].
/// Fractions are ignored. RFC 7519, section 2, `NumericDate`.
pub(super) fn time(value: &Value) -> Option<u64> {
    let Value::Number(number) = value else { return None };
    let seconds = number.as_u64().or_else(|| whole(number.as_f64()?))?;
    (seconds <= MAX_TIME).then_some(seconds)
}

/// Parses a time as [`time`] does.
pub(super) fn time_of(number: Number) -> Option<u64> {
    let seconds = match number {
        Number::Whole(seconds) => seconds,
        Number::Negative(_) => return None,
        Number::Float(seconds) => whole(seconds)?,
    };
    (seconds <= MAX_TIME).then_some(seconds)
}

/// Returns the whole part of a fractional number from 0 to 2^53.
fn whole(seconds: f64) -> Option<u64> {
    if !(0.0..=9_007_199_254_740_992.0).contains(&seconds) {
        return None;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is between 0 and 2^53, and the fraction is not wanted"
    )]
    Some(seconds as u64)
}

/// The private claim with the time of issue in milliseconds since 1970. `iat`
/// has whole seconds, which cannot distinguish a new token from a token that
/// was revoked in the same second.
pub(super) const ISSUED_AT_MILLIS: &str = "iat_ms";

/// The latest time, in seconds since 1970: 2^53 - 1, the largest integer that
/// every JSON parser reads exactly.
pub(super) const MAX_TIME: u64 = 9_007_199_254_740_991;

#[cfg(test)]
mod tests {
    use stockade_json::Reader;

    use super::*;

    #[track_caller]
    fn check(json: &str, expected: Option<u64>) {
        let value: Value = serde_json::from_str(json).unwrap();
        assert_eq!(time(&value), expected, "{json}");
        let number = Reader::new(json, 0).number();
        assert_eq!(number.ok().and_then(time_of), expected, "{json}");
    }

    #[test]
    fn times_are_numbers_in_range() {
        check("0", Some(0));
        check("-0", Some(0));
        check("1.999", Some(1));
        check("1e9", Some(1_000_000_000));
        check("9007199254740991", Some(MAX_TIME));
        for json in [
            "9007199254740992",
            "9007199254740992.0",
            "18446744073709551615",
            "1e300",
            "-1",
            "-0.5",
            "\"1\"",
            "null",
            "true",
            "[1]",
            "{}",
        ] {
            check(json, None);
        }
    }

    #[test]
    fn parsed_and_unparsed_claims_are_equal() {
        let json = r#"{"sub":"7","exp":4102444800,"x":{"y":[1]}}"#;
        let unread = Claims::read(json.into()).unwrap();
        let read = unread.clone();
        assert_eq!(read["x"]["y"][0], 1);
        assert_eq!(unread.clone().into_parts(), (json.to_owned(), None));
        assert_eq!((unread.as_json(), unread.expires_at()), (json, Some(4_102_444_800)));
        let value: Value = serde_json::from_str(json).unwrap();
        assert_eq!(read.clone().into_parts(), (json.to_owned(), Some(value.clone())));
        assert_eq!(
            (read.clone().into_value(), unread.clone().into_value()),
            (value.clone(), value)
        );
        assert_eq!((read, unread.clone().into_json().as_str()), (unread, json));
    }

    #[test]
    fn finds_claims_by_escaped_names() {
        #[track_caller]
        fn check(json: &str, id: Option<&str>, subject: Option<&str>) {
            let claims = Claims::read(json.into()).unwrap();
            assert_eq!((claims.marked_id(), claims.marked_subject()), (id, subject), "{json}");
            assert_eq!((claims.id(), claims.subject()), (id, subject), "{json}");
            let renamed = json.replace("\"sub\"", "\"iss\"");
            let claims = Claims::read(renamed.into()).unwrap();
            assert_eq!((claims.marked_issuer(), claims.issuer()), (subject, subject), "{json}");
        }
        check("{}", None, None);
        check(r#"{"sub":"ada","x":{"jti":"no"},"jti":"7"}"#, Some("7"), Some("ada"));
        check(r#"{"jti":"","x":["sub","b"]}"#, Some(""), None);
        check(r#"{"\u006ati":"a\n","sub":"\u0061d\u00e4"}"#, Some("a\n"), Some("adä"));
        for other in ["1", "-1", "1.5", "null", "true", "[\"a\",[1]]", "{\"a\":{\"b\":1}}"] {
            check(&format!(r#"{{"jti":{other},"sub":"ä"}}"#), None, Some("ä"));
        }
    }

    #[test]
    fn audiences_are_one_text_or_several() {
        #[track_caller]
        fn check(json: &str, expected: &[&str]) {
            let claims = Claims::read(json.into()).unwrap();
            assert_eq!(claims.audiences().collect::<Vec<_>>(), expected, "{json}");
        }
        check("{}", &[]);
        check(r#"{"aud":"a"}"#, &["a"]);
        check(r#"{"aud":["a",1,"b"]}"#, &["a", "b"]);
        check(r#"{"aud":7}"#, &[]);
    }
}
