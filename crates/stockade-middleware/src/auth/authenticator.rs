//! [`Authenticator`]: tries the methods of an [`Auth`] for a request.

use std::sync::Arc;

use stockade_core::request_internals::UserWatch;
use stockade_core::{Control, Request};
use stockade_errors::ApiError;

use super::Auth;
use super::method::{AuthMethod, AuthResult, Failed};
use super::recheck::MethodWatch;

/// An [`Auth`] with its usual rejections prepared, because an invalid token
/// must cost the server little.
pub(super) struct Authenticator {
    auth: Auth,
    /// The source of the user for each method, for connections that outlive a request.
    watches: Vec<Arc<dyn UserWatch>>,
    /// The token methods, which have a special challenge for invalid tokens.
    bearers: MethodSet,
    /// The response to a request without credentials.
    missing: ApiError,
    /// The response to credentials of a scheme that no method reads.
    other_scheme: ApiError,
    /// The response to invalid credentials for each of the `bearers`.
    invalid: ApiError,
}

impl Authenticator {
    pub(super) fn new(mut auth: Auth) -> Self {
        AuthMethod::number_origins(&mut auth.methods);
        let mut bearers = MethodSet::NONE;
        for (index, method) in auth.methods.iter().enumerate() {
            if method.challenge.tells_invalid() {
                bearers.add(index);
            }
        }
        let is_optional = !auth.required;
        let methods = auth.methods.iter().cloned();
        let watches = methods.map(|method| Arc::new(MethodWatch { method, is_optional }) as _);
        let watches = watches.collect();
        let missing = auth.unauthorized(MethodSet::NONE, false).repeated();
        let other_scheme = auth.unauthorized(MethodSet::NONE, true).repeated();
        let invalid = auth.unauthorized(MethodSet::ALL, false).repeated();
        Self { auth, watches, bearers, missing, other_scheme, invalid }
    }

    pub(super) fn authenticate(&self, req: &mut Request) -> Result<Control, ApiError> {
        let mut outcome = AuthOutcome::default();
        for (index, method) in self.auth.methods.iter().enumerate() {
            let found = method.find_sync(req).unwrap_or(AuthResult::Nothing);
            if outcome.record(index, method, found, req) {
                break;
            }
        }
        self.decide(req, outcome)
    }

    pub(super) async fn authenticate_async(&self, req: &mut Request) -> Result<Control, ApiError> {
        let mut outcome = AuthOutcome::default();
        for (index, method) in self.auth.methods.iter().enumerate() {
            let found = method.find(req).await;
            if outcome.record(index, method, found, req) {
                break;
            }
        }
        self.decide(req, outcome)
    }

    fn decide(&self, req: &mut Request, outcome: AuthOutcome) -> Result<Control, ApiError> {
        if let Some(index) = outcome.found {
            if let Some(watch) = self.watches.get(index) {
                req.set_user_watch(Arc::clone(watch));
            }
            return Ok(Control::Continue);
        }
        req.set_user(None);
        if let Some(answer) = outcome.refused {
            return answer.map(|response| Control::Respond(*response));
        }
        if self.auth.required {
            Err(self.refusal(outcome.invalid, outcome.is_other_scheme))
        } else {
            Ok(Control::Continue)
        }
    }

    #[cold]
    fn refusal(&self, invalid: MethodSet, is_other_scheme: bool) -> ApiError {
        let bearers = invalid.and(self.bearers);
        let says_invalid = self.auth.explains && (is_other_scheme || invalid != MethodSet::NONE);
        if bearers == MethodSet::NONE {
            if says_invalid { self.other_scheme.clone() } else { self.missing.clone() }
        } else if bearers == self.bearers {
            self.invalid.clone()
        } else {
            self.auth.unauthorized(invalid, is_other_scheme)
        }
    }
}

/// A set of methods, by index. The last bit represents all methods from 63 on.
#[derive(Clone, Copy, Default, Eq, PartialEq)]
pub(super) struct MethodSet(u64);

impl MethodSet {
    pub(super) const NONE: Self = Self(0);
    pub(super) const ALL: Self = Self(u64::MAX);

    pub(super) fn add(&mut self, index: usize) {
        self.0 |= Self::bit(index);
    }

    pub(super) fn has(self, index: usize) -> bool {
        self.0 & Self::bit(index) != 0
    }

    fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    fn bit(index: usize) -> u64 {
        1 << index.min(63)
    }
}

/// The results of the methods tried so far.
#[derive(Default)]
pub(super) struct AuthOutcome {
    /// The method that found the current user of the request.
    found: Option<usize>,
    /// The methods that found credentials but no user.
    invalid: MethodSet,
    /// True if the header held credentials of another scheme.
    is_other_scheme: bool,
    /// The response of a method that failed or rejected its credentials for
    /// this request.
    refused: Option<Failed>,
}

impl AuthOutcome {
    /// Records the result of a method. Returns true if no further method may be
    /// tried: the user is known, or cannot be determined.
    fn record(
        &mut self,
        index: usize,
        method: &AuthMethod,
        found: AuthResult,
        req: &mut Request,
    ) -> bool {
        match found {
            AuthResult::Nothing => {}
            AuthResult::OtherScheme => self.is_other_scheme = true,
            AuthResult::Refused(error) => self.refused = Some(Err(error)),
            AuthResult::Failed(failed) => {
                self.refused = Some(failed);
                return true;
            }
            // Cannot happen: revocations with a log make the method
            // asynchronous.
            AuthResult::Inconclusive(_) => {
                return self.record(index, method, AuthResult::unknown_token(), req);
            }
            AuthResult::Invalid => self.invalid.add(index),
            AuthResult::User(user) => {
                req.set_user(Some(user));
                self.found = Some(index);
            }
            AuthResult::Json(json, value) => {
                req.set_user_json(json, value);
                self.found = Some(index);
            }
        }
        if self.found.is_some() {
            method.found(req);
        }
        self.found.is_some()
    }
}

#[cfg(test)]
mod tests {
    use stockade_auth::{ApiKeyHash, Secret};

    use super::*;
    use crate::IntoAuth;

    #[test]
    fn prepared_rejections_equal_generated_ones() {
        let secret = || Auth::secret(Secret::new("a secret of thirty-two bytes or more").unwrap());
        let key = || Auth::api_key(|_: ApiKeyHash| None::<String>);
        let explains = || (|_: String| None::<String>).into_auth();
        let nobody = || Auth::verify(|_: &Request| None::<String>);
        for auth in [
            secret(),
            key(),
            explains(),
            secret().or(key()),
            key().or(explains()).or(key()),
            nobody().or(secret()),
            Auth { explains: true, ..key() },
        ] {
            let methods = auth.methods.len();
            let authenticator = Authenticator::new(auth.clone());
            for case in 0..2 << methods {
                let (invalid, other_scheme) = (MethodSet(case >> 1), case & 1 == 1);
                let quick = authenticator.refusal(invalid, other_scheme);
                let slow = auth.unauthorized(invalid, other_scheme);
                let headers = [&quick, &slow].map(|error| error.headers().collect::<Vec<_>>());
                assert_eq!(headers[0], headers[1], "{auth:?} {case}");
                assert_eq!(quick.body(false), slow.body(false), "{auth:?} {case}");
            }
        }
    }

    #[test]
    fn methods_beyond_the_last_bit_share_it() {
        let mut methods = MethodSet::NONE;
        methods.add(70);
        assert!(methods.has(63) && methods.has(64) && !methods.has(62));
        assert!(MethodSet::ALL.has(0) && MethodSet::ALL.has(200));
    }
}
