//! Logins that have ended: each credential of the login must be rejected.
//!
//! `kept` finds the credentials in the response to a sign-in. `login` tries them
//! on the routes of the application. `trial` sends the request that ends the
//! login, and compares the responses before and after it.

mod kept;
mod login;
mod trial;

use std::time::Duration;

use super::account_request::AccountRequest;
use super::runner::{Rule, Runner};
use super::{AttackFamily, Hardening};

const RULE: Rule = Rule {
    family: AttackFamily::SignOuts,
    text: "each credential of a login is rejected after the login has ended: cookies, access \
           tokens, refresh tokens and open connections (OWASP API2)",
    mend: "end the sessions (`Sessions::end`, `end_all`) or revoke the tokens (`Revocations`), \
           and let every `auth` check them",
};

const RIGHTS: Rule = Rule {
    family: AttackFamily::SignOuts,
    text: "a user loses the access of a role or a membership when the role or the membership \
           is removed, also with older credentials (OWASP API5)",
    mend: "read roles and memberships from the store for each request, or end the sessions and \
           revoke the tokens of the user (`Sessions::end_all`, `Revocations::revoke_before`)",
};

const ROTATION: Rule = Rule {
    family: AttackFamily::SignOuts,
    text: "a refresh token that has been replaced does not work again (RFC 9700, section 4.14.2)",
    mend: "delete a refresh token when it is used, and end the login if it is used again",
};

const PASSWORD: Rule = Rule {
    family: AttackFamily::SignOuts,
    text: "nobody can sign in with a password that has been changed (OWASP API2)",
    mend: "replace the stored hash of the old password",
};

/// The options of the attacks on logins that have ended.
#[derive(Debug, Default)]
pub(super) struct SignOutPlan {
    sign_in: Option<AccountRequest>,
    cases: Vec<Case>,
    within: Duration,
}

/// A sign-in, and the request that ends it.
#[derive(Debug)]
struct Case {
    sign_in: Option<AccountRequest>,
    event: Event,
    request: AccountRequest,
}

/// The event that ends a login or takes rights from it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Event {
    SignOut,
    SignOutEverywhere,
    PasswordChange,
    MemberRemoval,
    RoleChange,
}

impl Event {
    fn name(self) -> &'static str {
        match self {
            Self::SignOut => "the sign-out",
            Self::SignOutEverywhere => "the sign-out on all devices",
            Self::PasswordChange => "the change of the password",
            Self::MemberRemoval => "the removal of the member",
            Self::RoleChange => "the change of the role",
        }
    }

    /// Returns true if the user is not signed in afterwards.
    fn ends_login(self) -> bool {
        matches!(self, Self::SignOut | Self::SignOutEverywhere | Self::PasswordChange)
    }

    fn rule(self) -> &'static Rule {
        if self.ends_login() { &RULE } else { &RIGHTS }
    }
}

/// Attacks with the credentials of logins that have ended.
impl Hardening {
    /// Sets the request that signs a user in. It applies to the calls after it:
    /// [`sign_out`](Self::sign_out),
    /// [`sign_out_everywhere`](Self::sign_out_everywhere),
    /// [`password_change`](Self::password_change),
    /// [`member_removal`](Self::member_removal) and
    /// [`role_change`](Self::role_change). Call it again for another user.
    ///
    /// Each of these cases signs in, and collects all credentials from the
    /// response: cookies, and members and headers with names such as
    /// `accessToken`, `refresh_token` or `apiKey`. It uses them on each GET route
    /// that requires a user, opens the WebSockets and event streams, and gets
    /// new tokens with a refresh token. If no GET route accepts a credential, it
    /// uses routes with other methods except DELETE. After the event, each of
    /// these requests must be rejected, and the connections must be closed. Only
    /// a credential that has worked before the event counts as rejected.
    ///
    /// The cases run in the order of the calls, on the same application unless
    /// [`anew`](Self::anew) is set. Use an empty
    /// database, because they change data.
    /// [`skip`](Self::skip) with [`AttackFamily::SignOuts`] excludes a route.
    ///
    /// ```
    /// use stockade::auth::KeyRing;
    /// use stockade::middleware::sessions::{MemorySessionStore, Sessions, SetSession};
    /// use stockade::middleware::{CurrentSession, SessionCookie};
    /// use stockade::prelude::*;
    /// use stockade::testing::{AttackFamily, Hardening};
    ///
    /// async fn log_in(sessions: State<Sessions<()>>) -> Result<(SetSession, &'static str), ApiError> {
    ///     Ok((sessions.begin(Some("user:7"), &()).await?, "welcome"))
    /// }
    ///
    /// // It removes the cookie from the browser, but does not end the session.
    /// async fn log_out(cookie: State<SessionCookie>) -> (stockade::http::HeaderMap, ()) {
    ///     let clear = (stockade::http::header::SET_COOKIE, cookie.clear());
    ///     (stockade::http::HeaderMap::from_iter([clear]), ())
    /// }
    ///
    /// async fn me(_session: CurrentSession) -> &'static str {
    ///     "it is me"
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let keys = KeyRing::new(Secret::new("a secret of thirty-two bytes or more").unwrap());
    /// let cookie = SessionCookie::new(keys);
    /// let sessions = Sessions::<()>::new(MemorySessionStore::new(), cookie.clone());
    /// let api = routes! {
    ///     auth: sessions.auth(),
    ///     "login": { POST: { log_in, public: "people log in here" } },
    ///     "logout": { POST: log_out },
    ///     "me": { GET: me },
    /// };
    /// let router = create_router(api, RouterOptions::new()).state(sessions).state(cookie);
    /// let hardening = Hardening::new(router).sign_in("POST /login").sign_out("POST /logout");
    /// let report = hardening.run().await;
    /// assert_eq!(report.count(AttackFamily::SignOuts).failed, 1);
    /// assert_eq!(report.failures[0].route.as_deref(), Some("POST /logout"));
    /// assert_eq!(report.failures[0].attack, "the cookie `__Host-session` after the sign-out");
    /// # });
    /// ```
    #[track_caller]
    pub fn sign_in(mut self, request: impl Into<AccountRequest>) -> Self {
        self.sign_outs.sign_in = Some(request.into());
        self
    }

    /// Checks that a sign-out ends the login of [`sign_in`](Self::sign_in). The
    /// request has the credentials of this login. If a refresh token exists, a
    /// used one must not work again.
    #[track_caller]
    pub fn sign_out(self, request: impl Into<AccountRequest>) -> Self {
        self.with_case(Event::SignOut, request.into())
    }

    /// Checks that a sign-out on all devices ends two logins of
    /// [`sign_in`](Self::sign_in).
    #[track_caller]
    pub fn sign_out_everywhere(self, request: impl Into<AccountRequest>) -> Self {
        self.with_case(Event::SignOutEverywhere, request.into())
    }

    /// Checks that a new password ends the logins on other devices, and that the
    /// request of [`sign_in`](Self::sign_in) with the old password is rejected.
    /// The device that changes the password may stay signed in.
    #[track_caller]
    pub fn password_change(self, request: impl Into<AccountRequest>) -> Self {
        self.with_case(Event::PasswordChange, request.into())
    }

    /// Checks that a removed member loses access to every route that worked
    /// before. Send the request as an administrator with [`AccountRequest::of`].
    /// 401, 403 and 404 are rejections; skip routes that the user may still
    /// call.
    #[track_caller]
    pub fn member_removal(self, request: impl Into<AccountRequest>) -> Self {
        self.with_case(Event::MemberRemoval, request.into())
    }

    /// Checks that a user with a lower role loses access to the routes that
    /// require a role or a permission, and that worked before. Send the request
    /// as an administrator with [`AccountRequest::of`].
    #[track_caller]
    pub fn role_change(self, request: impl Into<AccountRequest>) -> Self {
        self.with_case(Event::RoleChange, request.into())
    }

    /// Sets the time after which ended logins must be rejected. Default: at once;
    /// connections have 20 seconds in any case, because their users are checked
    /// every 15 seconds.
    ///
    /// The clock of the router advances, and the test waits for this time. A
    /// paused clock of tokio makes waiting free.
    pub fn sign_out_within(mut self, time: Duration) -> Self {
        self.sign_outs.within = time;
        self
    }

    fn with_case(mut self, event: Event, request: AccountRequest) -> Self {
        let sign_in = self.sign_outs.sign_in.clone();
        self.sign_outs.cases.push(Case { sign_in, event, request });
        self
    }
}

/// Runs all cases.
pub(super) async fn attack(runner: &mut Runner<'_>) {
    let plan = &runner.plan().sign_outs;
    if plan.cases.is_empty() {
        let reason = "no sign-in is known: set it with `Hardening::sign_in`, and its end with \
                      `Hardening::sign_out`";
        return runner.leave(RULE.family, None, "logins that have ended", reason);
    }
    for case in &plan.cases {
        let Some(sign_in) = &case.sign_in else {
            let reason = "call `Hardening::sign_in` before it";
            runner.leave(RULE.family, None, case.event.name(), reason);
            continue;
        };
        runner.renew();
        trial::Trial::new(runner, case, sign_in).run().await;
    }
}

/// Returns the cookies of a new login, for attacks that need a browser.
pub(super) async fn signed_in_cookies(runner: &mut Runner<'_>) -> Option<crate::Credentials> {
    let sign_in = runner.plan().sign_outs.sign_in.as_ref()?;
    let login = login::Login::begin(runner, sign_in).await.ok()?;
    login.cookies()
}

/// The time limit for the end of connections.
const CONNECTIONS: Duration = Duration::from_secs(20);
