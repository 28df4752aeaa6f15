//! Hot: [`verify_token`] and [`TokenVerifier`], which verify tokens.
//!
//! A call allocates only the decoded payload if the header is a common one. The
//! claims are parsed on first use.
// Spec: Authentication › Token functions.

use std::time::Duration;

use serde::de::DeserializeOwned;
use stockade_errors::__internal::setters;
use stockade_errors::{ConfigError, ConfigIssue};

use super::algorithm::AlgorithmSet;
use super::claims::Times;
use super::{
    Claims, Compact, ExpiresIn, MAX_TOKEN_LENGTH, TokenAlgorithm, TokenError, TokenKeys, UnixClock,
    VerifierRules,
};
use crate::base64url;

/// Returns the claims of a token, or `None` if the token is empty, malformed,
/// forged, expired, or longer than [`MAX_TOKEN_LENGTH`].
///
/// The token may start with `Bearer` (once, in any case) and spaces. A token
/// without `exp` is accepted. `exp` is compared in whole seconds, and the token
/// is still valid during that second. A future `nbf` returns `None`. `iss` and
/// `aud` are ignored: [`TokenVerifier`] can require them and reports why a token
/// is rejected.
///
/// The signature of a secret is compared in constant time, before the header
/// and the payload are parsed.
///
/// ```
/// use stockade_auth::{Secret, verify_token};
///
/// let secret = Secret::new("a secret of thirty-two bytes or more")?;
/// assert!(verify_token("Bearer e30.e30.", &secret).is_none());
/// # Ok::<(), stockade_errors::ConfigError>(())
/// ```
// Spec: Authentication › Token functions.
#[doc(alias = "verifyToken")]
#[must_use]
pub fn verify_token<K: TokenKeys + ?Sized>(token: &str, keys: &K) -> Option<Claims> {
    let claims = Claims::read(payload(token, keys, None, MAX_TOKEN_LENGTH).ok()?).ok()?;
    check_times(claims.times(), 0, &UnixClock::default()).ok()?;
    Some(claims)
}

/// Returns the claims as [`verify_token`] does, in your own type. Also returns
/// `None` if the claims do not fit it.
///
/// ```
/// use serde_json::json;
/// use stockade_auth::{Secret, generate_jwt, verify_token_as};
///
/// #[derive(serde::Deserialize)]
/// struct User {
///     sub: String,
/// }
///
/// let secret = Secret::new("a secret of thirty-two bytes or more")?;
/// let token = generate_jwt(json!({ "sub": "7" }), "1h", &secret)?;
/// let user: User = verify_token_as(&token, &secret).ok_or("not valid")?;
/// assert_eq!(user.sub, "7");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn verify_token_as<T: DeserializeOwned>(
    token: &str,
    keys: &(impl TokenKeys + ?Sized),
) -> Option<T> {
    verify_token(token, keys)?.deserialize().ok()
}

/// A verifier of tokens: [`verify_token`] with options and an error that
/// contains the reason.
///
/// ```
/// use std::time::Duration;
///
/// use serde_json::json;
/// use stockade_auth::{Secret, TokenError, TokenVerifier, generate_jwt};
///
/// let secret = Secret::new("a secret of thirty-two bytes or more")?;
/// let verifier = TokenVerifier::new()
///     .issuer("https://login.example")
///     .audience("shop")
///     .require("sub")
///     .leeway(Duration::from_secs(30));
///
/// let claims = json!({ "iss": "https://login.example", "aud": "shop", "sub": "7" });
/// let token = generate_jwt(claims, "1h", &secret)?;
/// assert_eq!(verifier.verify(&token, &secret)?.subject(), Some("7"));
///
/// let token = generate_jwt(json!({ "iss": "https://elsewhere.example" }), "1h", &secret)?;
/// assert_eq!(verifier.verify(&token, &secret), Err(TokenError::Issuer));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Beyond the spec
/// The specification has none of these options. A verifier without options
/// behaves like [`verify_token`].
#[doc(alias = "jwt")]
#[derive(Clone, Debug)]
pub struct TokenVerifier {
    /// `None` for the default of the keys.
    algorithms: Option<AlgorithmSet>,
    audiences: Vec<String>,
    clock: UnixClock,
    issuers: Vec<String>,
    leeway_seconds: u64,
    max_length: usize,
    /// `None` for any life.
    max_life_seconds: Option<u64>,
    required: Vec<String>,
}

impl Default for TokenVerifier {
    fn default() -> Self {
        Self {
            algorithms: None,
            audiences: Vec::new(),
            clock: UnixClock::default(),
            issuers: Vec::new(),
            leeway_seconds: 0,
            max_length: MAX_TOKEN_LENGTH,
            max_life_seconds: None,
            required: Vec::new(),
        }
    }
}

impl TokenVerifier {
    /// Creates a verifier with the rules of [`verify_token`].
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the accepted algorithms. Default: HS256 for secrets, and each
    /// algorithm of its keys for a JWK set.
    ///
    /// HS384 needs a secret of at least 48 bytes, HS512 of at least 64 bytes.
    /// In a [`KeyRing`](crate::KeyRing) the signing secret must be long enough
    /// for each of the algorithms, and every other secret for one of them.
    /// Tokens that would need a longer secret are never accepted;
    /// [`check_keys`](Self::check_keys) reports this.
    ///
    /// ```
    /// use serde_json::json;
    /// use stockade_auth::{Secret, TokenAlgorithm, TokenIssuer, TokenVerifier};
    ///
    /// let secret = Secret::new("sixty-four bytes or more: ".repeat(3))?;
    /// let verifier = TokenVerifier::new().algorithms([TokenAlgorithm::HS512]);
    /// let issuer = TokenIssuer::new().algorithm(TokenAlgorithm::HS512);
    ///
    /// let token = issuer.issue(json!({ "sub": "7" }), "1h", &secret)?;
    /// assert_eq!(verifier.verify(&token, &secret)?.subject(), Some("7"));
    /// assert!(TokenVerifier::new().verify(&token, &secret).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Source: RFC 7518, section 3.2; RFC 8725, section 3.1.
    #[must_use]
    pub fn algorithms(mut self, algorithms: impl IntoIterator<Item = TokenAlgorithm>) -> Self {
        self.algorithms = Some(algorithms.into_iter().collect());
        self
    }

    /// Checks that these keys can verify tokens with the
    /// [`algorithms`](Self::algorithms) of this verifier. `Auth::tokens` calls
    /// this when the router is built.
    ///
    /// ```
    /// use stockade_auth::{Secret, TokenAlgorithm, TokenVerifier};
    ///
    /// let secret = Secret::new("a secret of thirty-two bytes or more")?;
    /// let verifier = TokenVerifier::new().algorithms([TokenAlgorithm::HS512]);
    /// let error = verifier.check_keys(&secret).unwrap_err();
    /// let message = "HS512 needs a secret of at least 64 bytes";
    /// assert_eq!(error.issues()[0].message(), message);
    /// # Ok::<(), stockade_errors::ConfigError>(())
    /// ```
    ///
    /// # Errors
    /// Fails if a secret is too short, the list is empty, or the keys support
    /// none of the algorithms.
    #[track_caller]
    pub fn check_keys<K: TokenKeys + ?Sized>(&self, keys: &K) -> Result<(), ConfigError> {
        let Some(algorithms) = self.algorithms else { return Ok(()) };
        let outcome = if algorithms == AlgorithmSet::EMPTY {
            Err("`algorithms` of a TokenVerifier is empty, so no token is valid".to_owned())
        } else {
            keys.check(algorithms)
        };
        let location = std::panic::Location::caller();
        outcome.map_err(|message| ConfigIssue::new(message).at(location).into())
    }

    /// Sets the leeway in whole seconds after `exp` and before `nbf`, because
    /// clocks differ. Default: 0.
    #[must_use]
    pub fn leeway(mut self, leeway: Duration) -> Self {
        self.leeway_seconds = leeway.as_secs();
        self
    }

    /// Sets the longest accepted life of a token: the time from `iat` to `exp`.
    /// The value is rounded up to whole seconds. Default: any life, and no
    /// `exp` either.
    ///
    /// A token without `iat` or `exp` is then rejected. So is a token whose
    /// `exp` is further in the future than this time and the
    /// [`leeway`](Self::leeway), or a minute if the leeway is shorter: its
    /// `iat` is not the time of issue.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use serde_json::json;
    /// use stockade_auth::{Secret, TokenError, TokenVerifier, generate_jwt};
    ///
    /// let secret = Secret::new("a secret of thirty-two bytes or more")?;
    /// let verifier = TokenVerifier::new().max_lifetime(Duration::from_secs(3_600));
    ///
    /// let token = generate_jwt(json!({ "sub": "7" }), "1h", &secret)?;
    /// assert_eq!(verifier.verify(&token, &secret)?.subject(), Some("7"));
    /// let token = generate_jwt(json!({ "sub": "7" }), "30d", &secret)?;
    /// assert_eq!(verifier.verify(&token, &secret), Err(TokenError::Lifetime));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn max_lifetime(mut self, lifetime: Duration) -> Self {
        self.max_life_seconds = Some(ExpiresIn::from(lifetime).seconds());
        self
    }

    /// Returns the rules for tokens that these keys verify.
    #[doc(hidden)]
    #[must_use]
    pub fn rules<K: TokenKeys + ?Sized>(&self, keys: &K) -> VerifierRules {
        let algorithms = self.algorithms.or_else(|| keys.default_algorithms());
        let algorithms = algorithms.map(|set| set.iter().map(TokenAlgorithm::name).collect());
        VerifierRules {
            algorithms: algorithms.unwrap_or_default(),
            issuers: self.issuers.clone(),
            audiences: self.audiences.clone(),
            required_claims: self.required.clone(),
            leeway_seconds: self.leeway_seconds,
            max_life_seconds: self.max_life_seconds,
        }
    }

    /// Returns the leeway in seconds.
    #[doc(hidden)]
    #[must_use]
    pub fn leeway_seconds(&self) -> u64 {
        self.leeway_seconds
    }

    /// Returns the clock.
    #[doc(hidden)]
    #[must_use]
    pub fn own_clock(&self) -> &UnixClock {
        &self.clock
    }

    /// Requires this issuer, or one of several if called repeatedly. Default:
    /// any or none.
    #[must_use]
    pub fn issuer(mut self, issuer: impl Into<String>) -> Self {
        self.issuers.push(issuer.into());
        self
    }

    /// Requires this audience, or one of several if called repeatedly. Default:
    /// any or none.
    #[must_use]
    pub fn audience(mut self, audience: impl Into<String>) -> Self {
        self.audiences.push(audience.into());
        self
    }

    /// Requires a claim with this name that is not null. Call it repeatedly to
    /// require several claims. Default: none, not even `exp`.
    #[must_use]
    pub fn require(mut self, claim: impl Into<String>) -> Self {
        self.required.push(claim.into());
        self
    }

    setters! {
        /// Sets the maximum length of a token, in bytes without `Bearer `.
        /// Default: [`MAX_TOKEN_LENGTH`].
        max_length: usize;

        /// Sets the clock. Default: the system clock.
        clock: UnixClock;
    }

    /// Verifies a token and returns its claims.
    ///
    /// # Errors
    /// Returns the first reason why the token is invalid. Checks the length,
    /// the parts, the signature, the header, the claims, the times, and last
    /// the requirements of this verifier. For JWK sets, the header is checked
    /// before the signature.
    pub fn verify<K: TokenKeys + ?Sized>(
        &self,
        token: &str,
        keys: &K,
    ) -> Result<Claims, TokenError> {
        let claims = Claims::read(payload(token, keys, self.algorithms, self.max_length)?)?;
        check_times(claims.times(), self.leeway_seconds, &self.clock)?;
        self.check(&claims)?;
        Ok(claims)
    }

    /// Checks the requirements beyond the rules of the specification.
    fn check(&self, claims: &Claims) -> Result<(), TokenError> {
        let is_one_of = |asked: &[String], found: &str| asked.iter().any(|name| name == found);
        if !self.issuers.is_empty()
            && !claims.issuer().is_some_and(|issuer| is_one_of(&self.issuers, issuer))
        {
            return Err(TokenError::Issuer);
        }
        if !self.audiences.is_empty()
            && !claims.audiences().any(|audience| is_one_of(&self.audiences, audience))
        {
            return Err(TokenError::Audience);
        }
        if let Some(max_life) = self.max_life_seconds {
            let leeway = self.leeway_seconds.max(CLOCK_SKEW_SECONDS);
            check_life(claims.times(), max_life, leeway, &self.clock)?;
        }
        let mut missing = self.required.iter().filter(|claim| claims[claim.as_str()].is_null());
        match missing.next() {
            Some(claim) => Err(TokenError::MissingClaim { claim: claim.clone() }),
            None => Ok(()),
        }
    }
}

/// Returns the decoded payload of a token that one of the keys signed. The
/// cheapest checks run first.
fn payload<K: TokenKeys + ?Sized>(
    token: &str,
    keys: &K,
    algorithms: Option<AlgorithmSet>,
    max_length: usize,
) -> Result<Vec<u8>, TokenError> {
    let token = Compact::parse(token, max_length)?;
    keys.authenticate(&token, algorithms)?;
    base64url::decode(token.payload.as_bytes()).ok_or(TokenError::Malformed)
}

/// Checks `exp` and `nbf` by the rules of [`verify_token`], with a leeway.
fn check_times(times: Times, leeway_seconds: u64, clock: &UnixClock) -> Result<(), TokenError> {
    let now = clock.now().ok_or(TokenError::Expired)?;
    if times.exp.is_some_and(|exp| exp.saturating_add(leeway_seconds) < now) {
        return Err(TokenError::Expired);
    }
    if times.nbf.is_some_and(|nbf| nbf > now.saturating_add(leeway_seconds)) {
        return Err(TokenError::NotYetValid);
    }
    Ok(())
}

/// The difference of clocks that never causes a rejection for a long life.
const CLOCK_SKEW_SECONDS: u64 = 60;

/// Checks the time from `iat` to `exp`. Also checks the remaining time, because
/// an `iat` in the future would make the life look short.
fn check_life(
    times: Times,
    max_life: u64,
    leeway: u64,
    clock: &UnixClock,
) -> Result<(), TokenError> {
    let missing = |claim: &str| TokenError::MissingClaim { claim: claim.to_owned() };
    let exp = times.exp.ok_or_else(|| missing("exp"))?;
    let iat = times.iat.ok_or_else(|| missing("iat"))?;
    let now = clock.now().ok_or(TokenError::Expired)?;
    let latest = now.saturating_add(max_life).saturating_add(leeway);
    if exp.saturating_sub(iat) > max_life || exp > latest {
        return Err(TokenError::Lifetime);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_life_of_a_token_is_limited() {
        const NOW: u64 = 1_700_000_000;
        #[track_caller]
        fn check(iat: Option<u64>, exp: Option<u64>, expected: &Result<(), TokenError>) {
            let times = Times { iat, exp, ..Times::default() };
            let found = check_life(times, 3_600, CLOCK_SKEW_SECONDS, &UnixClock::at(NOW));
            assert_eq!(&found, expected, "{iat:?} {exp:?}");
        }
        let missing = |claim: &str| Err(TokenError::MissingClaim { claim: claim.to_owned() });
        check(Some(NOW), Some(NOW + 3_600), &Ok(()));
        check(Some(NOW), Some(NOW + 3_601), &Err(TokenError::Lifetime));
        check(Some(NOW - 3_000), Some(NOW + 600), &Ok(()));
        check(Some(NOW - 3_001), Some(NOW + 600), &Err(TokenError::Lifetime));
        // The clock of the issuer is a minute ahead.
        check(Some(NOW + 60), Some(NOW + 3_660), &Ok(()));
        check(Some(NOW + 61), Some(NOW + 3_661), &Err(TokenError::Lifetime));
        // The life is one second, in ten years.
        check(Some(2 * NOW), Some(2 * NOW + 1), &Err(TokenError::Lifetime));
        // `exp` is before `iat`.
        check(Some(NOW + 10), Some(NOW), &Ok(()));
        check(Some(NOW), None, &missing("exp"));
        check(None, Some(NOW + 1), &missing("iat"));
        check(Some(0), Some(u64::MAX), &Err(TokenError::Lifetime));
    }

    #[test]
    fn the_rules_name_the_algorithms_of_the_keys() {
        let secret = crate::Secret::new([7; 64]).unwrap();
        let verifier = TokenVerifier::new().max_lifetime(Duration::from_millis(1_500));
        let rules = verifier.rules(&secret);
        assert_eq!((rules.algorithms, rules.max_life_seconds), (vec!["HS256"], Some(2)));
        let both = verifier.algorithms([TokenAlgorithm::HS512, TokenAlgorithm::HS256]);
        assert_eq!(both.rules(&secret).algorithms, ["HS256", "HS512"]);
    }
}
