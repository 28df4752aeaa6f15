//! The strictness of authentication: tokens, cookies, sessions, and requests of
//! other origins.

use std::time::{Duration, SystemTime};

use stockade::auth::{KeyRing, Revocations, SessionId, TokenAlgorithm, TokenVerifier};
use stockade::http::HeaderName;
use stockade::middleware::sessions::{MemorySessionStore, Sessions};
use stockade::middleware::{
    CrossOriginProtection, SameSite, SessionCookie, SetCookie, with_cross_origin_protection,
};
use stockade::openapi::lock::Lock;
use stockade::prelude::*;

use super::{Mutation, api, lock_of, mutation};

const HOUR: Duration = Duration::from_secs(3_600);
const DAY: Duration = Duration::from_secs(86_400);

fn secret() -> Secret {
    Secret::new([7; 64]).unwrap()
}

fn tokens(change: impl FnOnce(TokenVerifier) -> TokenVerifier) -> Router {
    let verifier = TokenVerifier::new().issuer("https://login.example").audience("shop");
    behind(Auth::tokens(secret(), change(verifier.require("sub"))))
}

fn cookie(change: impl FnOnce(SessionCookie) -> SessionCookie) -> Router {
    let cookie = change(SessionCookie::new(KeyRing::new(secret())).same_site(SameSite::Lax));
    behind(Auth::session(cookie, |_: SessionId| None::<String>))
}

fn own_cookie(change: impl FnOnce(SetCookie) -> SetCookie) -> Router {
    let cookie = change(SetCookie::from_static("ticket", "").max_age(HOUR));
    behind(Auth::verify(|_: &Request| None::<String>).documented_cookie(&cookie))
}

fn sessions(change: impl FnOnce(Sessions<()>) -> Sessions<()>) -> Router {
    let cookie = SessionCookie::new(KeyRing::new(secret()));
    behind(change(Sessions::new(MemorySessionStore::new(), cookie)).auth())
}

fn behind(auth: Auth) -> Router {
    api(routes! { "x": { auth: auth, GET: async || (), POST: async || () } })
}

fn protected(protection: CrossOriginProtection) -> Router {
    let auth = Auth::basic("x", |_| None::<String>);
    api(routes! {
        "x": { auth: auth, middleware: protection, GET: async || (), POST: async || () },
    })
}

pub fn all() -> Vec<Mutation> {
    of_tokens().into_iter().chain(of_kinds()).chain(of_cookies()).chain(of_origins()).collect()
}

fn of_tokens() -> Vec<Mutation> {
    let base = || tokens(|verifier| verifier);
    let checked = || {
        let auth = Auth::secret(secret());
        behind(auth.revocations(Revocations::in_memory()))
    };
    let loosened = "W token-rules-loosened";
    let tightened = "B token-rules-tightened";
    let of_rules = |name, new| mutation(name, (base(), new), loosened, tightened);
    let both = [TokenAlgorithm::HS256, TokenAlgorithm::HS384];
    vec![
        of_rules("another issuer is accepted", tokens(|it| it.issuer("https://b.example"))),
        of_rules("another audience is accepted", tokens(|it| it.audience("b"))),
        of_rules("another algorithm is accepted", tokens(|it| it.algorithms(both))),
        mutation(
            "any issuer is accepted",
            (
                base(),
                behind(Auth::tokens(
                    secret(),
                    TokenVerifier::new().audience("shop").require("sub"),
                )),
            ),
            loosened,
            tightened,
        ),
        mutation(
            "no claim is required",
            (tokens(|it| it.require("jti")), base()),
            loosened,
            tightened,
        ),
        mutation(
            "another algorithm is required",
            (base(), tokens(|it| it.algorithms([TokenAlgorithm::HS512]))),
            "BW token-rules-loosened token-rules-tightened",
            "BW token-rules-loosened token-rules-tightened",
        ),
        mutation(
            "expired tokens are accepted longer",
            (base(), tokens(|it| it.leeway(HOUR))),
            "W token-life-raised",
            "B token-life-lowered",
        ),
        mutation(
            "tokens may have a longer life",
            (tokens(|it| it.max_lifetime(HOUR)), tokens(|it| it.max_lifetime(DAY))),
            "W token-life-raised",
            "B token-life-lowered",
        ),
        mutation(
            "tokens may have any life",
            (tokens(|it| it.max_lifetime(HOUR)), base()),
            "W token-life-raised",
            "B token-life-lowered",
        ),
        mutation(
            "revoked tokens are accepted",
            (checked(), behind(Auth::secret(secret()))),
            "W revocations-removed",
            "- revocations-added",
        ),
    ]
}

fn of_kinds() -> Vec<Mutation> {
    let bearer = || Auth::bearer(|_: String| None::<String>);
    let function = || Auth::verify(|_: &Request| None::<String>);
    let key = |name: &'static str| {
        let documented = Auth::api_key_in(HeaderName::from_static(name), |_| None::<String>);
        let scheme = stockade::description::SecurityScheme::Header("x-key".into());
        behind(documented.documented_as(scheme))
    };
    vec![
        mutation(
            "a function of the same scheme authenticates",
            (behind(bearer()), behind(function())),
            "BW auth-kind-changed",
            "BW auth-kind-changed",
        ),
        mutation(
            "methods of the same scheme are in another order",
            (behind(bearer().or(function())), behind(function().or(bearer()))),
            "BW scheme-order-changed",
            "BW scheme-order-changed",
        ),
        mutation(
            "a key is read from another header than documented",
            (key("x-key"), key("x-other")),
            "BW auth-header-changed",
            "BW auth-header-changed",
        ),
    ]
}

fn of_cookies() -> Vec<Mutation> {
    let base = || own_cookie(|cookie| cookie);
    let weaker =
        |name, new| mutation(name, (base(), new), "W cookie-weakened", "B cookie-tightened");
    vec![
        mutation(
            "a session cookie is sent by other sites",
            (cookie(|it| it), cookie(|it| it.same_site(SameSite::None))),
            "W cookie-weakened",
            "B cookie-tightened",
        ),
        weaker("a cookie is sent without encryption", own_cookie(|it| it.secure(false))),
        weaker("scripts can read a cookie", own_cookie(|it| it.http_only(false))),
        weaker("other hosts receive a cookie", own_cookie(|it| it.domain("example.org"))),
        mutation(
            "other paths receive a cookie",
            (own_cookie(|it| it.path("/a/b")), own_cookie(|it| it.path("/a"))),
            "W cookie-weakened",
            "B cookie-tightened",
        ),
        mutation(
            "a cookie has another path",
            (own_cookie(|it| it.path("/a")), own_cookie(|it| it.path("/ab"))),
            "BW cookie-changed",
            "BW cookie-changed",
        ),
        mutation(
            "a cookie remains after the browser is closed",
            (cookie(|it| it), cookie(|it| it.max_age(HOUR))),
            "W session-extended",
            "B session-shortened",
        ),
        mutation(
            "unused sessions remain longer",
            (sessions(|it| it), sessions(|it| it.idle(HOUR))),
            "W session-extended",
            "B session-shortened",
        ),
        mutation(
            "sessions remain longer",
            (sessions(|it| it), sessions(|it| it.lifetime(DAY))),
            "W session-extended",
            "B session-shortened",
        ),
    ]
}

fn of_origins() -> Vec<Mutation> {
    let guard = with_cross_origin_protection;
    vec![
        mutation(
            "another origin is trusted",
            (protected(guard()), protected(guard().trust("https://app.example"))),
            "W cross-origin-allowed",
            "B cross-origin-refused",
        ),
        mutation(
            "a session cookie has no protection",
            (cookie(|it| it), cookie(|it| it.cross_origin_protection(None))),
            "W check-removed cross-origin-allowed request-check-removed",
            "B cross-origin-refused error-added request-header-added",
        ),
        mutation(
            "Basic has no protection",
            (protected(guard()), behind(Auth::basic("x", |_| None::<String>))),
            "W check-removed cross-origin-allowed middleware-removed request-check-removed",
            "B cross-origin-refused error-added middleware-added request-header-added",
        ),
    ]
}

/// Returns a lock as an earlier version would have written it.
fn older(app: &App) -> Lock {
    let mut lock: Value = serde_json::from_str(&lock_of(app).to_string()).unwrap();
    for route in lock["routes"].as_object_mut().unwrap().values_mut() {
        let access = route["access"].as_object_mut().unwrap();
        access.remove("methods");
        access.remove("cross_origin");
    }
    Lock::read(&lock.to_string()).unwrap()
}

#[test]
fn an_older_lock_only_reports_the_new_facts() {
    for router in [tokens(|it| it), cookie(|it| it), protected(with_cross_origin_protection())] {
        let app = router.build().unwrap();
        let changes = older(&app).changes_to(&lock_of(&app), SystemTime::UNIX_EPOCH);
        let ids: Vec<&str> = changes.iter().map(|change| change.rule.id).collect();
        assert!(ids.iter().all(|id| *id == "auth-described") && !ids.is_empty(), "{changes}");
    }
}

#[test]
fn the_map_contains_each_method_with_its_kind() {
    let check = |router: Router, expected: &str| {
        let map = router.build().unwrap().route_map();
        let post = map.routes.iter().find(|route| route.method == "POST").unwrap();
        let methods = post.access.methods.iter();
        let texts: Vec<String> = methods.map(|it| format!("{}: {it}", it.name)).collect();
        assert_eq!(texts.join("\n"), expected);
    };
    check(
        tokens(|it| it.max_lifetime(HOUR).leeway(Duration::from_secs(30))),
        "bearer: token, HS256, issuer https://login.example, audience shop, \
         requires sub, leeway 30s, at most 1h",
    );
    check(
        sessions(|it| it),
        "__Host-session-cookie: session, cookie __Host-session; Path=/; Secure; HttpOnly; \
         SameSite=Strict, idle 30m, at most 12h, changes only from its own origin",
    );
    check(behind(Auth::api_key(|_| None::<String>)), "x-api-key: api-key in x-api-key");
    check(protected(with_cross_origin_protection()), "basic: basic");
}
