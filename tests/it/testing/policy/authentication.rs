//! Policy rules about the strictness of authentication.

use std::time::Duration;

use stockade::auth::{BasicCredentials, Revocations, TokenVerifier};
use stockade::middleware::sessions::{MemorySessionStore, Sessions};
use stockade::middleware::{SameSite, SetCookie, with_cross_origin_protection};
use stockade::policy::AuthLimits;
use stockade::prelude::*;

use super::*;

const HOUR: Duration = Duration::from_secs(3_600);
const DAY: Duration = Duration::from_secs(86_400);

fn cookie() -> SessionCookie {
    SessionCookie::new(KeyRing::new(secret()))
}

fn by_cookie(cookie: SessionCookie) -> Auth {
    Auth::session(cookie, |_: SessionId| None::<String>)
}

fn by_own_cookie(change: impl FnOnce(SetCookie) -> SetCookie) -> Auth {
    let auth = Auth::verify(|_: &Request| None::<String>);
    auth.documented_cookie(&change(SetCookie::from_static("ticket", "")))
}

fn by_token(change: impl FnOnce(TokenVerifier) -> TokenVerifier) -> Auth {
    Auth::tokens(secret(), change(TokenVerifier::new()))
}

#[test]
fn cookies_must_be_strict() {
    let tree = routes! {
        "strict": { auth: by_cookie(cookie()), GET: async || "" },
        "lax": { auth: by_cookie(cookie().same_site(SameSite::Lax)), GET: async || "" },
        "none": { auth: by_cookie(cookie().same_site(SameSite::None)), GET: async || "" },
        "own": { auth: by_own_cookie(|it| it), GET: async || "" },
        "plain": { auth: by_own_cookie(|it| it.secure(false)), GET: async || "" },
        "script": { auth: by_own_cookie(|it| it.http_only(false)), GET: async || "" },
        "domain": { auth: by_own_cookie(|it| it.domain("example.org")), GET: async || "" },
    };
    check("cookies-strict", tree, &["GET /none", "GET /plain", "GET /script", "GET /domain"]);
}

#[test]
fn sessions_must_end() {
    let sessions = |idle: Duration, lifetime: Duration| {
        let sessions = Sessions::<()>::new(MemorySessionStore::new(), cookie());
        sessions.idle(idle).lifetime(lifetime).auth()
    };
    let tree = routes! {
        "usual": { auth: sessions(HOUR, DAY), GET: async || "" },
        "unknown": { auth: by_cookie(cookie()), GET: async || "" },
        "month": { auth: sessions(30 * DAY, 30 * DAY), GET: async || "" },
        "year": { auth: sessions(HOUR, 365 * DAY), GET: async || "" },
        "cookie": { auth: by_cookie(cookie().max_age(31 * DAY)), GET: async || "" },
        "declared": { auth: by_cookie(cookie()).session_times(31 * DAY, 31 * DAY), GET: async || "" },
    };
    let found = ["GET /year", "GET /cookie", "GET /declared"];
    check("sessions-bounded", tree, &found);
}

#[test]
fn tokens_must_be_short_and_revocable() {
    let revocations = Revocations::in_memory;
    let short = || by_token(|it| it.max_lifetime(DAY));
    let tree = || {
        routes! {
            "good": { auth: short().revocations(revocations()), GET: async || "" },
            "any": { auth: by_token(|it| it).revocations(revocations()), GET: async || "" },
            "long": {
                auth: by_token(|it| it.max_lifetime(2 * DAY)).revocations(revocations()),
                GET: async || "",
            },
            "late": {
                auth: by_token(|it| it.max_lifetime(DAY).leeway(Duration::from_secs(540))).revocations(revocations()),
                GET: async || "",
            },
            "unchecked": { auth: short(), GET: async || "" },
            "function": { auth: Auth::bearer(|_: String| None::<String>), GET: async || "" },
        }
    };
    check("tokens-short", tree(), &["GET /any", "GET /long", "GET /late"]);
    check("revocations-checked", tree(), &["GET /unchecked"]);
    let message = "GET /late: [tokens-short] it accepts tokens (bearer) for 9m after they expire, \
                   more than 5m: set `max_lifetime` and `leeway` of its `TokenVerifier`";
    let texts = texts("tokens-short", &map_of_tree(tree()));
    assert!(texts[2].starts_with(message), "{texts:?}");
}

#[test]
fn changes_need_a_cross_origin_protection() {
    let basic = || Auth::basic("x", |_: BasicCredentials| None::<String>);
    let lax = || cookie().same_site(SameSite::Lax);
    let tree = routes! {
        "basic": { auth: basic(), GET: async || "", POST: async || "" },
        "guarded": { auth: basic(), middleware: with_cross_origin_protection(), POST: async || "" },
        "session": { auth: by_cookie(lax()), POST: async || "" },
        "open": { auth: by_cookie(lax().cross_origin_protection(None)), POST: async || "" },
        "strict": { auth: by_cookie(cookie().cross_origin_protection(None)), POST: async || "" },
        "own": { auth: by_own_cookie(|it| it), DELETE: async || "" },
        "token": { auth: by_token(|it| it), POST: async || "" },
        "either": { auth: by_token(|it| it).or(basic()), POST: async || "" },
    };
    let found = ["POST /basic", "POST /open", "DELETE /own", "POST /either"];
    check("cross-origin-protected", tree, &found);
}

#[test]
fn a_policy_can_have_its_own_limits() {
    let limits = AuthLimits::new()
        .max_token_life(HOUR)
        .max_leeway(Duration::ZERO)
        .max_session_idle(HOUR)
        .max_session_life(DAY)
        .strict_cookies(true)
        .revocations(false);
    let tree = routes! {
        "day": { auth: by_token(|it| it.max_lifetime(DAY)), GET: async || "" },
        "hour": { auth: by_token(|it| it.max_lifetime(HOUR)), GET: async || "" },
        "unknown": { auth: by_cookie(cookie()), GET: async || "" },
        "lax": {
            auth: by_cookie(cookie().same_site(SameSite::Lax)).session_times(HOUR, DAY),
            GET: async || "",
        },
        "idle": { auth: by_cookie(cookie()).session_times(2 * HOUR, DAY), GET: async || "" },
    };
    let policy = Policy::strict().without("summary", "a test").authentication(limits);
    let ids: Vec<&str> = policy.rules().map(|rule| rule.id.as_str()).collect();
    let count = |id: &str| ids.iter().filter(|it| **it == id).count();
    let counts = [count("tokens-short"), count("cookies-strict"), count("revocations-checked")];
    // No rule replaces this rule of `strict`.
    assert_eq!(counts, [1, 1, 0], "{ids:?}");
    let findings = Policy::new().authentication(limits).check(&map_of_tree(tree));
    let found: Vec<(&str, &str)> =
        findings.iter().map(|it| (it.rule.as_str(), it.subject.as_str())).collect();
    let expected = [
        ("cookies-strict", "GET /lax"),
        ("sessions-bounded", "GET /unknown"),
        ("sessions-bounded", "GET /idle"),
        ("tokens-short", "GET /day"),
    ];
    let mut found = found;
    found.sort_unstable();
    let mut expected = expected;
    expected.sort_unstable();
    assert_eq!(found, expected, "{findings:#?}");
    let rules = Policy::new().authentication(limits);
    let texts: Vec<&str> = rules.rules().map(|rule| rule.text.as_str()).collect();
    assert!(texts[2].contains("a life of at most 1h, and the leeway is at most 0s"), "{texts:?}");
}
