//! The descriptions of the methods of an [`Auth`], for route maps, locks and
//! policies. They have no effect on requests.

use std::sync::Arc;
use std::time::Duration;

use stockade_auth::verifier_internals::VerifierRules;
use stockade_auth::{Revocations, StalePolicy};
#[cfg(feature = "cookies")]
use stockade_core::description::SecurityScheme;
use stockade_core::description::{MethodInfo, MethodKind, RevocationCheck, SessionInfo, TokenInfo};

use super::Auth;
#[cfg(feature = "cookies")]
use crate::SetCookie;

impl Auth {
    /// Declares the times until the sessions of the methods added so far end: if
    /// they are unused, and always. Route maps, locks and policies
    /// contain them. It has no effect on requests.
    ///
    /// `Sessions::auth` declares its own times. Use it for a function that finds
    /// sessions in your own store, with the constants that the store uses. A
    /// method without sessions ignores it.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use stockade::auth::{KeyRing, Secret, SessionId};
    /// use stockade::middleware::{Auth, SessionCookie};
    ///
    /// const IDLE: Duration = Duration::from_secs(1_800);
    /// const LIFETIME: Duration = Duration::from_secs(43_200);
    ///
    /// let keys = KeyRing::new(Secret::new("a secret of thirty-two bytes or more")?);
    /// let find = |id: SessionId| (id.to_string() == "in a store, younger than IDLE").then_some(7);
    /// let auth = Auth::session(SessionCookie::new(keys), find).session_times(IDLE, LIFETIME);
    /// # drop(auth);
    /// # Ok::<(), stockade::ConfigError>(())
    /// ```
    pub fn session_times(self, idle: Duration, lifetime: Duration) -> Self {
        let mut session = SessionInfo::default();
        session.idle_seconds = idle.as_secs();
        session.lifetime_seconds = lifetime.as_secs();
        self.describing(|info| {
            if info.cookie.is_some() {
                info.session = Some(session.clone());
            }
        })
    }

    /// Describes the credentials of the methods added so far as this cookie,
    /// with its attributes: in API documents, route maps, locks and policies.
    /// It has no effect on requests. Use it for a function that reads its own
    /// cookie; [`session`](Self::session) describes its cookie itself.
    ///
    /// ```
    /// use stockade::Request;
    /// use stockade::middleware::{Auth, CookieError, SetCookie};
    ///
    /// fn login_cookie(ticket: &str) -> Result<SetCookie, CookieError> {
    ///     Ok(SetCookie::new("__Host-ticket", ticket)?)
    /// }
    ///
    /// let auth = Auth::verify(|req: &Request| {
    ///     req.headers().contains_key("cookie").then_some("in a program: the user of the ticket")
    /// });
    /// let auth = auth.documented_cookie(&login_cookie("")?);
    /// # drop(auth);
    /// # Ok::<(), CookieError>(())
    /// ```
    #[cfg(feature = "cookies")]
    pub fn documented_cookie(self, cookie: &SetCookie) -> Self {
        let described = cookie.info();
        let scheme = SecurityScheme::Cookie(described.name.clone().into());
        self.documented_as(scheme).describing(|info| info.cookie = Some(described.clone()))
    }

    /// Sets the description of the methods added so far.
    pub(super) fn described(self, info: &MethodInfo) -> Self {
        self.describing(|own| *own = info.clone())
    }

    /// Sets the treatment of revoked tokens, for the methods that verify tokens.
    pub(super) fn described_revocations(self, revocations: &Revocations) -> Self {
        let check = match revocations.stale_policy() {
            Some(StalePolicy::Accept) => RevocationCheck::UnlessStale,
            _ => RevocationCheck::Always,
        };
        self.describing(|info| {
            if let Some(token) = &mut info.token {
                token.revocations = check;
            }
        })
    }

    fn describing(mut self, change: impl Fn(&mut MethodInfo)) -> Self {
        for method in &mut self.methods {
            change(Arc::make_mut(&mut method.info));
        }
        self
    }
}

/// Describes a method that verifies tokens by these rules.
pub(super) fn of_tokens(rules: VerifierRules) -> MethodInfo {
    let VerifierRules { algorithms, issuers, audiences, required_claims, .. } = rules;
    let token = TokenInfo::new(algorithms).issuers(issuers).audiences(audiences);
    let mut token = token.required_claims(required_claims);
    token.leeway_seconds = rules.leeway_seconds;
    token.max_life_seconds = rules.max_life_seconds;
    let mut info = MethodInfo::new(MethodKind::Token);
    info.token = Some(token);
    info
}
