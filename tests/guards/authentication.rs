//! Weaker authentication behind unchanged routes, one value at a time.

use std::time::{Duration, SystemTime};

use stockade::auth::{BasicCredentials, KeyRing, Revocations, TokenAlgorithm, TokenVerifier};
use stockade::middleware::sessions::{MemorySessionStore, Sessions};
use stockade::middleware::{SameSite, SessionCookie, SetCookie, with_cross_origin_protection};
use stockade::openapi::lock::Lock;
use stockade::policy::{AuthLimits, Policy};
use stockade::prelude::*;

const MINUTES_9: Duration = Duration::from_secs(540);
const HOUR: Duration = Duration::from_secs(3_600);
const DAY: Duration = Duration::from_secs(86_400);

/// The value that is weaker.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Fault {
    None,
    SameSite,
    SessionLifetime,
    SessionIdle,
    CookieAge,
    SessionOrigins,
    TrustedOrigin,
    BasicOrigins,
    TokenLife,
    LongerTokenLife,
    Leeway,
    Issuer,
    Audience,
    Algorithm,
    RequiredClaim,
    Revocations,
    UnverifiedToken,
    OwnCookieSecure,
    OwnCookieScripts,
    OwnCookieDomain,
}

fn secret() -> Secret {
    Secret::new([7; 64]).unwrap()
}

fn tokens(fault: Fault) -> Auth {
    if fault == Fault::UnverifiedToken {
        let scheme = stockade::description::SecurityScheme::jwt();
        return Auth::bearer(|token: String| Some(token)).documented_as(scheme);
    }
    let mut verifier = TokenVerifier::new();
    if fault != Fault::Issuer {
        verifier = verifier.issuer("https://login.example");
    }
    if fault != Fault::Audience {
        verifier = verifier.audience("tracker");
    }
    if fault != Fault::RequiredClaim {
        verifier = verifier.require("sub");
    }
    verifier = match fault {
        Fault::TokenLife => verifier,
        Fault::LongerTokenLife => verifier.max_lifetime(90 * DAY),
        _ => verifier.max_lifetime(HOUR),
    };
    verifier =
        verifier.leeway(if fault == Fault::Leeway { MINUTES_9 } else { Duration::from_secs(30) });
    if fault == Fault::Algorithm {
        verifier = verifier.algorithms([TokenAlgorithm::HS256, TokenAlgorithm::HS384]);
    }
    let auth = Auth::tokens(secret(), verifier);
    match fault {
        Fault::Revocations => auth,
        _ => auth.revocations(Revocations::in_memory()),
    }
}

fn sessions(fault: Fault) -> Auth {
    let cookie = SessionCookie::new(KeyRing::new(secret()));
    let cookie = cookie.same_site(match fault {
        Fault::SameSite => SameSite::None,
        _ => SameSite::Lax,
    });
    let protection = with_cross_origin_protection();
    let cookie = match fault {
        Fault::SessionOrigins => cookie.cross_origin_protection(None),
        Fault::TrustedOrigin => {
            cookie.cross_origin_protection(protection.trust("https://blog.example"))
        }
        Fault::CookieAge => cookie.max_age(3_650 * DAY),
        _ => cookie,
    };
    let sessions = Sessions::<()>::new(MemorySessionStore::new(), cookie);
    let sessions = match fault {
        Fault::SessionLifetime => sessions.lifetime(365 * DAY),
        Fault::SessionIdle => sessions.idle(40 * DAY).lifetime(41 * DAY),
        _ => sessions,
    };
    sessions.auth()
}

/// A cookie that the program reads and signs itself.
fn ticket(fault: Fault) -> Auth {
    let cookie = SetCookie::from_static("ticket", "").same_site(SameSite::Strict).max_age(HOUR);
    let cookie = match fault {
        Fault::OwnCookieSecure => cookie.secure(false),
        Fault::OwnCookieScripts => cookie.http_only(false),
        Fault::OwnCookieDomain => cookie.domain("example.org"),
        _ => cookie,
    };
    let auth = Auth::verify(|_: &Request| None::<String>).documented_cookie(&cookie);
    auth.session_times(HOUR, HOUR)
}

fn program(fault: Fault) -> Router {
    let operators = Auth::basic("operators", |_: BasicCredentials| None::<String>);
    let guard: Vec<Middleware> = match fault {
        Fault::BasicOrigins => vec![],
        _ => vec![Middleware::new(with_cross_origin_protection())],
    };
    let api = routes! {
        "projects": { auth: tokens(fault), GET: async || "all", POST: async || "new" },
        "account": { auth: sessions(fault), GET: async || "mine", PUT: async || "changed" },
        "events": { auth: ticket(fault), GET: async || "events" },
        "operators": { auth: operators, middleware: guard, DELETE: async || "deleted" },
    };
    create_router(api, RouterOptions::new())
}

fn policy() -> Policy {
    Policy::recommended().authentication(AuthLimits::new())
}

/// The lock reports this weakening, and the policy this finding, or none.
#[track_caller]
fn check(fault: Fault, route: &str, weakening: &str, finding: &str) {
    let map = |fault| program(fault).build().unwrap().route_map();
    let lock = |fault| Lock::of(&map(fault)).unwrap();
    let changes = lock(Fault::None).changes_to(&lock(fault), SystemTime::UNIX_EPOCH);
    let mut weakenings = changes.iter().filter(|change| change.rule.weakening);
    let is_found = weakenings.any(|change| {
        let text = change.to_string();
        text.contains(weakening) && change.routes.iter().any(|it| it == route)
    });
    assert!(is_found, "{fault:?}: {weakening}\n{changes}");

    let error = program(fault).policy(policy()).build().err();
    let texts = error.map(|error| error.to_string()).unwrap_or_default();
    let lines: Vec<&str> = texts.lines().collect();
    if finding.is_empty() {
        assert!(lines.is_empty(), "{fault:?}: {texts}");
    } else {
        let is_found = lines.iter().any(|line| {
            line.contains(&format!("{route}: {finding}"))
                && line.contains("guards/authentication.rs:")
        });
        assert!(is_found, "{fault:?}: {finding}\n{texts}");
    }
}

#[test]
fn finds_each_weaker_value() {
    let same_site = r#"cookie/same_site: "Lax" -> "None""#;
    check(Fault::SameSite, "PUT /account", same_site, "[cookies-strict] its cookie");
    let lifetime = "session/lifetime_seconds: 43200 -> 31536000";
    let year = "[sessions-bounded] its sessions end after 365d, more than 30d";
    check(Fault::SessionLifetime, "GET /account", lifetime, year);
    let idle = "session/idle_seconds: 1800 -> 3456000";
    let month = "[sessions-bounded] its unused sessions end after 40d, more than 30d";
    check(Fault::SessionIdle, "GET /account", idle, month);
    let age = "cookie/max_age_seconds: 0 -> 315360000";
    check(
        Fault::CookieAge,
        "GET /account",
        age,
        "[sessions-bounded] browsers store its cookie for",
    );

    let any_origin = "cross_origin: {} -> nothing";
    let ridden = "[cross-origin-protected] browsers send its credentials";
    check(Fault::SessionOrigins, "PUT /account", any_origin, ridden);
    check(Fault::BasicOrigins, "DELETE /operators", any_origin, ridden);
    let trusted = r#"cross_origin/trusted_origins: [] -> ["https://blog.example"]"#;
    check(Fault::TrustedOrigin, "PUT /account", trusted, "");

    let any_life = "token/max_life_seconds: 3600 -> nothing";
    check(
        Fault::TokenLife,
        "GET /projects",
        any_life,
        "[tokens-short] its tokens (bearer) may have any",
    );
    let longer = "token/max_life_seconds: 3600 -> 7776000";
    check(
        Fault::LongerTokenLife,
        "GET /projects",
        longer,
        "[tokens-short] its tokens (bearer) may have a",
    );
    let leeway = "token/leeway_seconds: 30 -> 540";
    check(
        Fault::Leeway,
        "POST /projects",
        leeway,
        "[tokens-short] it accepts tokens (bearer) for 9m",
    );
    let revoked = r#"token/revocations: "always" -> "none""#;
    check(
        Fault::Revocations,
        "POST /projects",
        revoked,
        "[revocations-checked] it accepts revoked",
    );
    let issuer = r#"token/issuers: ["https://login.example"] -> []"#;
    check(Fault::Issuer, "GET /projects", issuer, "");
    check(Fault::Audience, "GET /projects", r#"token/audiences: ["tracker"] -> []"#, "");
    check(Fault::RequiredClaim, "GET /projects", r#"required_claims: ["sub"] -> []"#, "");
    let algorithms = r#"token/algorithms: ["HS256"] -> ["HS256","HS384"]"#;
    check(Fault::Algorithm, "GET /projects", algorithms, "");
    let kind = r#"access/methods/bearer/kind: "token" -> "bearer""#;
    check(Fault::UnverifiedToken, "GET /projects", kind, "");

    let weak = "[cookies-strict] its cookie \"ticket\" is weak: ";
    let secure = format!("{weak}it is not `Secure`");
    check(Fault::OwnCookieSecure, "GET /events", "cookie/secure: true -> false", &secure);
    let scripts = format!("{weak}it is not `HttpOnly`");
    check(Fault::OwnCookieScripts, "GET /events", "cookie/http_only: true -> false", &scripts);
    let domain = r#"cookie/domain: nothing -> "example.org""#;
    check(
        Fault::OwnCookieDomain,
        "GET /events",
        domain,
        &format!("{weak}each host of example.org"),
    );
}

#[test]
fn the_strict_program_builds() {
    program(Fault::None).policy(policy()).build().unwrap();
}

#[test]
fn explain_and_the_map_show_each_method() {
    let app = program(Fault::None).build().unwrap();
    let explained = |request: &str| match app.explain(request) {
        Ok(explanation) => explanation.to_string(),
        Err(error) => panic!("{error}"),
    };
    let projects = explained("GET /projects");
    let token = "  auth     bearer: token, HS256, issuer https://login.example, \
                 audience tracker, requires sub, leeway 30s, at most 1h, revocations checked\n";
    assert!(projects.contains(token), "{projects}");
    let operators = explained("DELETE /operators");
    let origins = "  auth     basic: basic\n  \
                   origins  changes only from its own origin\n";
    assert!(operators.contains(origins), "{operators}");
}
