//! [`AuthLimits`]: the limits of the rules about authentication.

use std::panic::Location;
use std::time::Duration;

use super::Policy;
use super::rules::authentication;

/// The limits of the rules `tokens-short`, `revocations-checked`,
/// `cookies-strict` and `sessions-bounded`, for
/// [`Policy::authentication`](super::Policy::authentication).
///
/// ```
/// use std::time::Duration;
///
/// use stockade::auth::TokenVerifier;
/// use stockade::policy::{AuthLimits, Policy};
/// use stockade::prelude::*;
///
/// const HOUR: Duration = Duration::from_secs(3_600);
///
/// let limits = AuthLimits::new().max_token_life(HOUR).revocations(false);
/// let policy = Policy::recommended().authentication(limits);
///
/// let secret = Secret::new("0123456789abcdef0123456789abcdef")?;
/// let api = |verifier| routes! { auth: Auth::tokens(secret.clone(), verifier), GET: async || () };
/// let build = |tree| create_router(tree, RouterOptions::new()).policy(policy.clone()).build();
/// let error = build(api(TokenVerifier::new())).unwrap_err().to_string();
/// assert!(error.contains("[tokens-short] its tokens (bearer) may have any life"), "{error}");
/// assert!(build(api(TokenVerifier::new().max_lifetime(HOUR))).is_ok());
/// # Ok::<(), ConfigError>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[must_use = "it does nothing until a policy uses it"]
pub struct AuthLimits {
    pub(super) token_life_seconds: u64,
    pub(super) leeway_seconds: u64,
    pub(super) session_idle_seconds: u64,
    pub(super) session_life_seconds: u64,
    pub(super) needs_strict: bool,
    pub(super) needs_revocations: bool,
    /// True if a session without known times is a finding.
    pub(super) needs_session_times: bool,
}

const MINUTE: u64 = 60;
const DAY: u64 = 86_400;

/// The limits of the built-in rules.
///
/// Source: NIST SP 800-63B (revision 3), section 4.1.3, for 30 days; RFC 7519,
/// section 4.1.4, for a leeway of "no more than a few minutes".
pub(super) const BUILT_IN: AuthLimits = AuthLimits {
    token_life_seconds: DAY,
    leeway_seconds: 5 * MINUTE,
    session_idle_seconds: 30 * DAY,
    session_life_seconds: 30 * DAY,
    needs_strict: false,
    needs_revocations: true,
    needs_session_times: false,
};

impl AuthLimits {
    /// Creates limits with the defaults.
    pub fn new() -> Self {
        Self { needs_session_times: true, ..BUILT_IN }
    }

    /// Sets the longest life of tokens, which `TokenVerifier::max_lifetime`
    /// enforces. Default: 24 hours.
    pub fn max_token_life(mut self, life: Duration) -> Self {
        self.token_life_seconds = life.as_secs();
        self
    }

    /// Sets the longest leeway of a verifier. Default: 5 minutes.
    pub fn max_leeway(mut self, leeway: Duration) -> Self {
        self.leeway_seconds = leeway.as_secs();
        self
    }

    /// Sets the longest time until an unused session ends.
    /// Default: 30 days.
    pub fn max_session_idle(mut self, idle: Duration) -> Self {
        self.session_idle_seconds = idle.as_secs();
        self
    }

    /// Sets the longest life of a session and of its cookie. Default: 30 days.
    pub fn max_session_life(mut self, life: Duration) -> Self {
        self.session_life_seconds = life.as_secs();
        self
    }

    /// Sets whether a cookie must be `SameSite=Strict`. Default: false, which
    /// also allows `Lax`.
    pub fn strict_cookies(mut self, strict: bool) -> Self {
        self.needs_strict = strict;
        self
    }

    /// Sets whether revoked tokens must be rejected. Default: true.
    pub fn revocations(mut self, needed: bool) -> Self {
        self.needs_revocations = needed;
        self
    }
}

impl Default for AuthLimits {
    fn default() -> Self {
        Self::new()
    }
}

impl Policy {
    /// Adds the rules `tokens-short`, `revocations-checked`, `cookies-strict`
    /// and `sessions-bounded` with your own limits. They replace all rules of
    /// the policy with these ids.
    ///
    /// A session without known times is then a finding, too: use
    /// `Sessions::auth`, or declare them with `Auth::session_times`.
    #[track_caller]
    pub fn authentication(mut self, limits: AuthLimits) -> Self {
        let rules = authentication::with_limits(limits);
        self.rules.retain(|rule| !authentication::IDS.contains(&rule.info.id.as_str()));
        self.rules.extend(rules);
        self.location = Location::caller();
        self
    }
}
