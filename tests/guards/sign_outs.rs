//! Logins that outlive their end, one fault at a time.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use stockade::auth::{KeyRing, Revocations, TokenIssuer, generate_token};
use stockade::http::HeaderMap;
use stockade::http::header::SET_COOKIE;
use stockade::middleware::sessions::{MemorySessionStore, Sessions, SetSession};
use stockade::middleware::{CurrentSession, SessionCookie, with_role};
use stockade::prelude::*;
use stockade::testing::{AccountRequest, AttackFamily, Credentials, Hardening, HardeningReport};

/// The end of a login that is missing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Fault {
    /// The sign-out removes only the cookie.
    Session,
    /// The sign-out on all devices ends only this session.
    Devices,
    /// A new password does not end the other sessions.
    PasswordSessions,
    /// The old password still works.
    OldPassword,
    /// A removed member is still signed in.
    Member,
    /// The session keeps the old role.
    Role,
    /// An open connection is not checked again.
    Socket,
    /// The tokens are revoked, but nobody checks this.
    Revocation,
    /// The sign-out keeps the refresh token.
    RefreshToken,
    /// A refresh token works twice.
    Reuse,
}

/// The data of a session.
#[derive(Clone, Default, serde::Deserialize, serde::Serialize)]
struct Visit {
    role: String,
}

/// The user of a session.
#[derive(serde::Deserialize)]
struct Account {
    sub: String,
}

#[derive(serde::Deserialize, Schema)]
struct LogIn {
    #[schema(max_length = 50)]
    name: String,
    #[schema(max_length = 50)]
    password: String,
}

#[derive(serde::Deserialize, Schema)]
struct NewPassword {
    #[schema(max_length = 50)]
    password: String,
}

struct Accounts {
    fault: Option<Fault>,
    passwords: Mutex<BTreeMap<String, String>>,
}

impl Accounts {
    fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    fn fits(&self, form: &LogIn) -> bool {
        let is_old = self.has(Fault::OldPassword) && form.password == PASSWORD;
        is_old || self.passwords.lock().unwrap().get(&form.name) == Some(&form.password)
    }
}

async fn log_in(
    accounts: State<Accounts>,
    sessions: State<Sessions<Visit>>,
    Body(form): Body<LogIn>,
) -> Result<(SetSession, Value), ApiError> {
    if !accounts.fits(&form) {
        return Err(ApiError::new(401, "wrong name or password"));
    }
    let visit = Visit { role: "editor".to_owned() };
    Ok((sessions.begin(Some(&form.name), &visit).await?, json!({ "name": form.name })))
}

async fn log_out(
    accounts: State<Accounts>,
    sessions: State<Sessions<Visit>>,
    CurrentSession(id): CurrentSession,
) -> Result<(HeaderMap, ()), ApiError> {
    if !accounts.has(Fault::Session) {
        let _ = sessions.end(&id).await?;
    }
    Ok((HeaderMap::from_iter([(SET_COOKIE, sessions.cookie().clear())]), ()))
}

async fn log_out_everywhere(
    accounts: State<Accounts>,
    sessions: State<Sessions<Visit>>,
    CurrentSession(id): CurrentSession,
    User(me): User<Account>,
) -> Result<(), ApiError> {
    match accounts.has(Fault::Devices) {
        true => sessions.end(&id).await.map(|_| ()),
        false => sessions.end_all(&me.sub).await.map(|_| ()),
    }
}

async fn change_password(
    accounts: State<Accounts>,
    sessions: State<Sessions<Visit>>,
    User(me): User<Account>,
    Body(new): Body<NewPassword>,
) -> Result<(), ApiError> {
    accounts.passwords.lock().unwrap().insert(me.sub.clone(), new.password);
    if !accounts.has(Fault::PasswordSessions) {
        sessions.end_all(&me.sub).await?;
    }
    Ok(())
}

async fn remove_member(
    accounts: State<Accounts>,
    sessions: State<Sessions<Visit>>,
    Path(name): Path<String>,
) -> Result<(), ApiError> {
    accounts.passwords.lock().unwrap().remove(&name);
    if !accounts.has(Fault::Member) {
        sessions.end_all(&name).await?;
    }
    Ok(())
}

async fn lower_role(
    accounts: State<Accounts>,
    sessions: State<Sessions<Visit>>,
    Path(name): Path<String>,
) -> Result<(), ApiError> {
    if !accounts.has(Fault::Role) {
        sessions.end_all(&name).await?;
    }
    Ok(())
}

async fn live(mut socket: WebSocket) {
    while socket.recv().await.is_some() {}
}

const PASSWORD: &str = "correct horse";
const ADMIN: &str = "the token of an admin";

fn secret() -> Secret {
    Secret::new("a secret of thirty-two bytes or more").unwrap()
}

fn with_sessions(fault: Option<Fault>) -> Router {
    let cookie = SessionCookie::new(KeyRing::new(secret()));
    let sessions = Sessions::<Visit>::new(MemorySessionStore::new(), cookie);
    let admin = Auth::bearer(async |token: String| (token == ADMIN).then_some("admin"));
    let live_auth = match fault {
        Some(Fault::Socket) => sessions.auth().recheck_every(Duration::from_secs(86_400)),
        _ => sessions.auth(),
    };
    let api = routes! {
        auth: sessions.auth(),
        "login": { POST: { log_in, public: "people log in here" } },
        "logout": { POST: log_out, "everywhere": { POST: log_out_everywhere } },
        "me": {
            GET: async |User(me): User<Account>| me.sub,
            "password": { PUT: change_password },
        },
        "drafts": { GET: { async || "all drafts", middleware: with_role("editor") } },
        "live": { auth: live_auth, WS: live },
        "members": {
            auth: admin,
            ":name": { DELETE: remove_member, "role": { DELETE: lower_role } },
        },
    };
    let passwords = Mutex::new(BTreeMap::from([("ada".to_owned(), PASSWORD.to_owned())]));
    let options = RouterOptions::new().enable_web_sockets(true);
    create_router(api, options).state(sessions).state(Accounts { fault, passwords })
}

fn session_report(fault: Option<Fault>) -> HardeningReport {
    let log_in =
        AccountRequest::new("POST /login").json(json!({ "name": "ada", "password": PASSWORD }));
    let admin = || Credentials::bearer(ADMIN);
    let new = AccountRequest::new("PUT /me/password").json(json!({ "password": "battery" }));
    let hardening = Hardening::new(with_sessions(fault))
        .only([AttackFamily::SignOuts])
        .anew(move || with_sessions(fault))
        .sign_in(log_in)
        .sign_out("POST /logout")
        .sign_out_everywhere("POST /logout/everywhere")
        .password_change(new)
        .member_removal(AccountRequest::new("DELETE /members/{name}").of(admin()))
        .role_change(AccountRequest::new("DELETE /members/{name}/role").of(admin()));
    run(&hardening)
}

/// Runs the attacks with a clock that does not wait.
fn run(hardening: &Hardening) -> HardeningReport {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().start_paused(true).build().unwrap().block_on(hardening.run())
}

#[derive(serde::Deserialize)]
struct Claims {
    sub: String,
    jti: String,
    exp: u64,
}

#[derive(serde::Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
struct Refresh {
    #[schema(max_length = 100)]
    refresh_token: String,
}

struct Tokens {
    fault: Option<Fault>,
    /// The family of each refresh token.
    refresh: Mutex<BTreeMap<String, String>>,
}

impl Tokens {
    /// Issues tokens with the family as their id.
    fn issue(&self, family: &str) -> Result<Value, ApiError> {
        let claims = json!({ "sub": "ada", "jti": family });
        let access = TokenIssuer::new().issue(claims, "15m", &secret());
        let access = access.map_err(ApiError::internal)?;
        let refresh = generate_token(16).map_err(ApiError::internal)?;
        self.refresh.lock().unwrap().insert(refresh.clone(), family.to_owned());
        Ok(json!({ "accessToken": access, "refreshToken": refresh }))
    }
}

async fn issue(tokens: State<Tokens>) -> Result<Value, ApiError> {
    let family = generate_token(16).map_err(ApiError::internal)?;
    tokens.issue(&family)
}

async fn refresh(tokens: State<Tokens>, Body(form): Body<Refresh>) -> Result<Value, ApiError> {
    let family = {
        let mut all = tokens.refresh.lock().unwrap();
        match tokens.fault {
            Some(Fault::Reuse) => all.get(&form.refresh_token).cloned(),
            _ => all.remove(&form.refresh_token),
        }
    };
    tokens.issue(&family.ok_or_else(|| ApiError::new(400, "unknown refresh token"))?)
}

async fn revoke(
    tokens: State<Tokens>,
    revocations: State<Revocations>,
    User(me): User<Claims>,
) -> Result<(), ApiError> {
    if tokens.fault != Some(Fault::RefreshToken) {
        tokens.refresh.lock().unwrap().retain(|_, family| *family != me.jti);
    }
    let expires = SystemTime::UNIX_EPOCH + Duration::from_secs(me.exp);
    Ok(revocations.revoke_id(None, &me.jti, expires).await?)
}

fn with_tokens(fault: Option<Fault>) -> Router {
    let revocations = Revocations::in_memory();
    let auth = match fault {
        Some(Fault::Revocation) => Auth::secret(secret()),
        _ => Auth::secret(secret()).revocations(revocations.clone()),
    };
    let api = routes! {
        auth: auth,
        "token": {
            POST: { issue, public: "people log in here" },
            DELETE: revoke,
            "refresh": { POST: { refresh, public: "the refresh token is in the body" } },
        },
        "me": { GET: async |User(me): User<Claims>| me.sub },
        "live": { WS: live },
    };
    let options = RouterOptions::new().enable_web_sockets(true);
    let tokens = Tokens { fault, refresh: Mutex::default() };
    create_router(api, options).state(revocations).state(tokens)
}

fn token_report(fault: Option<Fault>) -> HardeningReport {
    let hardening = Hardening::new(with_tokens(fault)).only([AttackFamily::SignOuts]);
    run(&hardening.sign_in("POST /token").sign_out("DELETE /token"))
}

#[track_caller]
fn check(report: &HardeningReport, fault: Fault, route: &str, attack: &str, found: &str) {
    let all = report.failures.iter().filter(|it| it.family == AttackFamily::SignOuts);
    let all: Vec<_> = all.collect();
    let failure = all.iter().find(|it| it.attack == attack);
    let failure = failure.unwrap_or_else(|| panic!("{fault:?} is not found\n{report}"));
    assert_eq!(failure.route.as_deref(), Some(route), "{report}");
    assert!(failure.found.contains(found), "{report}");
    let location = failure.location.as_ref().unwrap();
    assert!(location.file.ends_with("guards/sign_outs.rs") && location.line > 0, "{report}");
    // A fault fails only the attacks on its own route.
    assert!(all.iter().all(|it| it.route.as_deref() == Some(route)), "{report}");
}

#[test]
fn finds_sessions_that_outlive_their_end() {
    #[track_caller]
    fn find(fault: Fault, route: &str, attack: &str, found: &str) {
        check(&session_report(Some(fault)), fault, route, attack, found);
    }
    let cookie = "the cookie `__Host-session`";
    let me = "GET /me (at ";
    find(Fault::Session, "POST /logout", &format!("{cookie} after the sign-out"), me);
    let attack = format!("{cookie} on another device after the sign-out on all devices");
    find(Fault::Devices, "POST /logout/everywhere", &attack, me);
    let attack = format!("{cookie} on another device after the change of the password");
    find(Fault::PasswordSessions, "PUT /me/password", &attack, me);
    let attack = "the sign-in with the old password";
    find(Fault::OldPassword, "PUT /me/password", attack, "with credentials");
    let attack = format!("{cookie} after the removal of the member");
    find(Fault::Member, "DELETE /members/:name", &attack, me);
    let attack = format!("{cookie} after the change of the role");
    find(Fault::Role, "DELETE /members/:name/role", &attack, "GET /drafts (at ");
}

#[test]
fn finds_a_connection_that_outlives_its_user() {
    let report = session_report(Some(Fault::Socket));
    let failures = report.failures.iter().filter(|it| it.family == AttackFamily::SignOuts);
    let attacks: Vec<&str> = failures.map(|it| &*it.attack).collect();
    assert!(attacks.contains(&"a connection of WS /live after the sign-out"), "{report}");
    assert!(attacks.iter().all(|it| it.contains("WS /live")), "{report}");
    assert!(report.to_string().contains("it is open for 20 s"), "{report}");
}

#[test]
fn finds_tokens_that_outlive_their_end() {
    #[track_caller]
    fn find(fault: Fault, route: &str, attack: &str, found: &str) {
        check(&token_report(Some(fault)), fault, route, attack, found);
    }
    let attack = "the token `accessToken` after the sign-out";
    find(Fault::Revocation, "DELETE /token", attack, "GET /me (at ");
    let attack = "the refresh token `refreshToken` after the sign-out";
    find(Fault::RefreshToken, "DELETE /token", attack, "POST /token/refresh (at ");
    let attack = "the refresh token `refreshToken` after its use";
    find(Fault::Reuse, "POST /token/refresh", attack, "with new tokens");
}

#[test]
fn reports_nothing_if_each_login_ends() {
    for report in [session_report(None), token_report(None)] {
        let failures = report.failures.iter().filter(|it| it.family == AttackFamily::SignOuts);
        assert_eq!(failures.count(), 0, "{report}");
        let count = report.count(AttackFamily::SignOuts);
        assert!(count.passed >= 5, "{report}");
        assert_eq!(count.not_attacked, 0, "{report}");
    }
}

#[test]
fn reports_a_sign_in_that_does_not_work() {
    let report = |sign_in: AccountRequest| {
        let hardening = Hardening::new(with_sessions(None));
        let report = run(&hardening.sign_in(sign_in).sign_out("POST /logout"));
        let left = report.not_attacked.into_iter();
        left.filter(|it| it.family == AttackFamily::SignOuts).map(|it| it.reason).collect()
    };
    let wrong = json!({ "name": "ada", "password": "wrong" });
    let reasons: Vec<String> = report(AccountRequest::new("POST /login").json(wrong));
    let reason = "the response to `POST /login` is 401 Unauthorized without credentials";
    assert_eq!(reasons, [reason]);
}
