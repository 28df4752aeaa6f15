//! The rules about the strictness of authentication: tokens, cookies, sessions,
//! and requests of other origins.

use super::super::auth_limits::{AuthLimits, BUILT_IN};
use super::super::finding::Finding;
use super::super::rule::{BuiltIn, Rule};
use super::each;
use crate::authentication::shown_time;
use crate::{
    CookieInfo, MethodInfo, RevocationCheck, RouteInfo, RouteKind, RouteMap, SchemeInfo, TokenInfo,
};

pub(super) const COOKIES_STRICT: BuiltIn = BuiltIn {
    id: "cookies-strict",
    text: "each cookie that authenticates is `Secure`, `HttpOnly`, for one host, and not \
           `SameSite=None`",
    owasp: "API2",
    find: |map| weak_cookies(map, &BUILT_IN),
};

pub(super) const SESSIONS_BOUNDED: BuiltIn = BuiltIn {
    id: "sessions-bounded",
    text: "sessions and their cookies end after 30 days",
    owasp: "API2",
    find: |map| long_sessions(map, &BUILT_IN),
};

pub(super) const TOKENS_SHORT: BuiltIn = BuiltIn {
    id: "tokens-short",
    text: "tokens have a life of at most 24 hours, and the leeway is at most 5 minutes",
    owasp: "API2",
    find: |map| long_tokens(map, &BUILT_IN),
};

pub(super) const REVOCATIONS_CHECKED: BuiltIn = BuiltIn {
    id: "revocations-checked",
    text: "revoked tokens are rejected",
    owasp: "API2",
    find: |map| unchecked_revocations(map, &BUILT_IN),
};

/// The rules with limits.
pub(in super::super) const IDS: [&str; 4] =
    [COOKIES_STRICT.id, SESSIONS_BOUNDED.id, TOKENS_SHORT.id, REVOCATIONS_CHECKED.id];

/// Returns the rules with other limits.
pub(in super::super) fn with_limits(limits: AuthLimits) -> Vec<Rule> {
    let same_site = if limits.needs_strict { "`SameSite=Strict`" } else { "not `SameSite=None`" };
    let cookies = format!(
        "each cookie that authenticates is `Secure`, `HttpOnly`, for one host, and {same_site}"
    );
    let sessions = format!(
        "unused sessions end after {}, and all sessions after {}",
        shown_time(limits.session_idle_seconds),
        shown_time(limits.session_life_seconds)
    );
    let tokens = format!(
        "tokens have a life of at most {}, and the leeway is at most {}",
        shown_time(limits.token_life_seconds),
        shown_time(limits.leeway_seconds)
    );
    let rule = |built_in: BuiltIn, text: String, find: Find| {
        let id = built_in.id.to_owned();
        let mut rule = Rule::new(id, text, move |map| find(map, &limits));
        rule.info.owasp = Some(built_in.owasp.to_owned());
        rule
    };
    let mut rules = vec![
        rule(COOKIES_STRICT, cookies, weak_cookies),
        rule(SESSIONS_BOUNDED, sessions, long_sessions),
        rule(TOKENS_SHORT, tokens, long_tokens),
    ];
    if limits.needs_revocations {
        let text = REVOCATIONS_CHECKED.text.to_owned();
        rules.push(rule(REVOCATIONS_CHECKED, text, unchecked_revocations));
    }
    rules
}

/// Finds the violations of a rule with limits.
type Find = fn(&RouteMap, &AuthLimits) -> Vec<Finding>;

/// Returns a finding for each route with faults. `find` adds the faults of one
/// method.
fn faults(
    map: &RouteMap,
    limits: &AuthLimits,
    mend: &str,
    find: fn(&MethodInfo, &AuthLimits, &mut Vec<String>),
) -> Vec<Finding> {
    each(map, |route| {
        let mut faults = Vec::new();
        for method in route.access.methods_and_sessions() {
            find(method, limits, &mut faults);
        }
        (!faults.is_empty()).then(|| Finding::on(route, faults.join("; ")).mend(mend))
    })
}

fn long_tokens(map: &RouteMap, limits: &AuthLimits) -> Vec<Finding> {
    let mend = "set `max_lifetime` and `leeway` of its `TokenVerifier`: \
                `Auth::tokens(secret, TokenVerifier::new().max_lifetime(…))`";
    faults(map, limits, mend, |method, limits, faults| {
        let Some(TokenInfo { leeway_seconds, max_life_seconds, .. }) = &method.token else {
            return;
        };
        let (name, limit) = (&method.name, limits.token_life_seconds);
        match *max_life_seconds {
            None => faults.push(format!("its tokens ({name}) may have any life")),
            Some(life) if life > limit => faults.push(format!(
                "its tokens ({name}) may have a life of {}, more than {}",
                shown_time(life),
                shown_time(limit)
            )),
            Some(_) => {}
        }
        if *leeway_seconds > limits.leeway_seconds {
            faults.push(format!(
                "it accepts tokens ({name}) for {} after they expire, more than {}",
                shown_time(*leeway_seconds),
                shown_time(limits.leeway_seconds)
            ));
        }
    })
}

fn unchecked_revocations(map: &RouteMap, limits: &AuthLimits) -> Vec<Finding> {
    let mend = "add `.revocations(…)` to its `Auth`, without `StalePolicy::Accept`";
    faults(map, limits, mend, |method, _, faults| {
        let name = &method.name;
        match method.token.as_ref().map(|token| token.revocations) {
            Some(RevocationCheck::None) => {
                faults.push(format!("it accepts revoked tokens ({name}) until they expire"));
            }
            Some(RevocationCheck::UnlessStale) => faults.push(format!(
                "it accepts revoked tokens ({name}) while the processes are disconnected"
            )),
            _ => {}
        }
    })
}

fn weak_cookies(map: &RouteMap, limits: &AuthLimits) -> Vec<Finding> {
    let mend = "use the defaults of `SessionCookie` and `SetCookie`: `Secure`, `HttpOnly`, no \
                domain, and `SameSite=Strict` or `Lax`";
    faults(map, limits, mend, |method, limits, faults| {
        let Some(cookie) = &method.cookie else { return };
        let CookieInfo { name, secure, http_only, same_site, domain, .. } = cookie;
        let is_open = match same_site.as_str() {
            "Strict" => false,
            "Lax" => limits.needs_strict,
            _ => true,
        };
        let mut weak = Vec::new();
        if !secure {
            weak.push("it is not `Secure`, so it is sent without encryption".to_owned());
        }
        if !http_only {
            weak.push("it is not `HttpOnly`, so scripts can read it".to_owned());
        }
        if is_open {
            weak.push(format!("`SameSite={same_site}` sends it with requests of other sites"));
        }
        if let Some(domain) = domain {
            weak.push(format!("each host of {domain} receives it"));
        }
        if !weak.is_empty() {
            faults.push(format!("its cookie {name:?} is weak: {}", weak.join(", ")));
        }
    })
}

fn long_sessions(map: &RouteMap, limits: &AuthLimits) -> Vec<Finding> {
    let mend = "shorten `idle` and `lifetime` of its `Sessions`, or `max_age` of its cookie; for \
                your own store, declare the times: `Auth::session_times`";
    faults(map, limits, mend, |method, limits, faults| {
        let (idle_limit, life_limit) = (limits.session_idle_seconds, limits.session_life_seconds);
        let mut longer = |text: &str, seconds: u64, limit: u64| {
            if seconds > limit {
                let (time, limit) = (shown_time(seconds), shown_time(limit));
                faults.push(format!("{text} {time}, more than {limit}"));
            }
        };
        if let Some(session) = &method.session {
            // A session ends with its lifetime, even if it is in use.
            let idle = session.idle_seconds.min(session.lifetime_seconds);
            longer("its unused sessions end after", idle, idle_limit);
            longer("its sessions end after", session.lifetime_seconds, life_limit);
        }
        if let Some(age) = method.cookie.as_ref().and_then(|cookie| cookie.max_age_seconds) {
            longer("browsers store its cookie for", age, life_limit);
        }
        if limits.needs_session_times && method.cookie.is_some() && method.session.is_none() {
            faults.push(format!("the times of its sessions ({}) are not known", method.name));
        }
    })
}

pub(super) const CROSS_ORIGIN_PROTECTED: BuiltIn = BuiltIn {
    id: "cross-origin-protected",
    text: "pages of other origins cannot use the cookie or the password of a user for changes",
    owasp: "API8",
    find: |map| {
        each(map, |route| {
            let is_open = route.kind == RouteKind::Http
                && route.may_change()
                && route.access.cross_origin.is_none();
            let name = unprotected(route).filter(|_| is_open)?;
            let message = format!(
                "browsers send its credentials ({name}) with requests of other origins, which may \
                 change data"
            );
            Some(Finding::on(route, message).mend(
                "add `middleware: with_cross_origin_protection()`, which does not affect clients \
                 other than browsers; describe your own check with \
                 `.describing(|doc| doc.rejects_other_origins(…))`",
            ))
        })
    },
};

/// Returns the name of the first method that lacks a protection, although
/// browsers send its credentials automatically.
fn unprotected(route: &RouteInfo) -> Option<&str> {
    let access = &route.access;
    let methods = access.schemes.iter().map(Some).zip(&access.methods);
    let sessions = access.sessions.iter().map(|session| (None, session));
    let found = methods.chain(sessions).find(|(scheme, method)| {
        let is_ambient = scheme.is_some_and(SchemeInfo::is_ambient) || method.is_ambient();
        let is_strict = method.cookie.as_ref().is_some_and(|cookie| cookie.same_site == "Strict");
        is_ambient && method.cross_origin.is_none() && !is_strict
    });
    found.map(|(_, method)| method.name.as_str())
}
