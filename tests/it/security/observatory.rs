//! The score of a bare response in Mozilla's HTTP Observatory.
//!
//! The rules come from
//! <https://developer.mozilla.org/en-US/observatory/docs/tests_and_scoring> and
//! from the scanner (github.com/mdn/mdn-http-observatory,
//! `src/grader/charts.js`, commit 01b4711). A site starts with 100 points and
//! loses points for each failed test. If at least 90 points remain, bonuses are
//! added.
//!
//! The site is assumed to use TLS only, so the redirection test does not change
//! the score. Headers cannot earn three bonuses of 5 points each: the browsers'
//! HSTS list, cookies, and scripts with integrity. The maximum for a bare
//! response is therefore 130.

use stockade::http::HeaderMap;
use stockade::middleware::{SecurityHeaders, SetCookie};
use stockade::prelude::*;

use crate::support::{app, block_on, request};

/// A verdict and its points.
type Points = (&'static str, i32);

/// Returns the score of a response that is not a page.
fn score(headers: &HeaderMap) -> (i32, Vec<Points>) {
    let verdicts = vec![
        policy(headers),
        cookies(headers),
        sharing(headers),
        referrer(headers),
        transport(headers),
        sniffing(headers),
        framing(headers),
        resource(headers),
        ("sri-not-implemented-response-not-html", 0),
        ("redirection-not-needed-no-http", 0),
    ];
    let sum = |wanted: fn(i32) -> bool| -> i32 {
        verdicts.iter().map(|(_, points)| *points).filter(|points| wanted(*points)).sum()
    };
    let base = 100 + sum(|points| points < 0);
    let score = if base >= 90 { base + sum(|points| points > 0) } else { base };
    (score.max(0), verdicts)
}

fn value<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).map(|value| value.to_str().unwrap())
}

/// Returns the sources of a directive. A fetch directive falls back to
/// `default-src`.
fn sources<'p>(policy: &'p str, name: &str) -> Option<Vec<&'p str>> {
    let own = |name: &str| {
        policy.split(';').find_map(|directive| {
            let mut words = directive.split_whitespace();
            (words.next() == Some(name)).then(|| words.collect())
        })
    };
    own(name).or_else(|| own("default-src").filter(|_| name.ends_with("-src")))
}

fn policy(headers: &HeaderMap) -> Points {
    let Some(policy) = value(headers, "content-security-policy") else {
        return ("csp-not-implemented", -25);
    };
    let has = |name: &str, words: &[&str]| {
        sources(policy, name).is_none_or(|sources| sources.iter().any(|it| words.contains(it)))
    };
    let broad = ["'unsafe-inline'", "data:", "*", "http:", "https:"];
    if has("script-src", &broad) || has("object-src", &broad) {
        return ("csp-implemented-with-unsafe-inline", -20);
    }
    if has("script-src", &["'unsafe-eval'"]) {
        return ("csp-implemented-with-unsafe-eval", -10);
    }
    if has("style-src", &broad) {
        return ("csp-implemented-with-unsafe-inline-in-style-src-only", 0);
    }
    let is_none = sources(policy, "default-src") == Some(vec!["'none'"]);
    let form = sources(policy, "form-action").unwrap_or_default();
    if is_none && (form == ["'none'"] || form == ["'self'"]) {
        return ("csp-implemented-with-no-unsafe-default-src-none", 10);
    }
    ("csp-implemented-with-no-unsafe", 5)
}

fn cookies(headers: &HeaderMap) -> Points {
    let lines = headers.get_all("set-cookie").iter();
    let lines: Vec<String> = lines.map(|it| it.to_str().unwrap().to_lowercase()).collect();
    let all = |attribute: &str| lines.iter().all(|line| line.contains(attribute));
    if lines.is_empty() {
        ("cookies-not-found", 0)
    } else if !all("; secure") {
        ("cookies-session-without-secure-flag", -40)
    } else if !all("; httponly") {
        ("cookies-session-without-httponly-flag", -30)
    } else if !all("; samesite=") {
        ("cookies-secure-with-httponly-sessions", 0)
    } else {
        ("cookies-secure-with-httponly-sessions-and-samesite", 5)
    }
}

/// The scanner sends its own `Origin` and checks if the response repeats it.
fn sharing(headers: &HeaderMap) -> Points {
    let credentials = value(headers, "access-control-allow-credentials") == Some("true");
    match value(headers, "access-control-allow-origin") {
        None => ("cross-origin-resource-sharing-not-implemented", 0),
        Some("*") => ("cross-origin-resource-sharing-implemented-with-public-access", 0),
        Some(SCANNER) if credentials => {
            ("cross-origin-resource-sharing-implemented-with-universal-access", -50)
        }
        Some(_) => ("cross-origin-resource-sharing-implemented-with-restricted-access", 0),
    }
}

fn referrer(headers: &HeaderMap) -> Points {
    match value(headers, "referrer-policy") {
        None => ("referrer-policy-not-implemented", 0),
        Some("no-referrer" | "same-origin" | "strict-origin")
        | Some("strict-origin-when-cross-origin") => ("referrer-policy-private", 5),
        Some(_) => ("referrer-policy-unsafe", -5),
    }
}

fn transport(headers: &HeaderMap) -> Points {
    let Some(value) = value(headers, "strict-transport-security") else {
        return ("hsts-not-implemented", -20);
    };
    let age = value.split(';').find_map(|part| part.trim().strip_prefix("max-age=")?.parse().ok());
    match age {
        None => ("hsts-header-invalid", -20),
        Some(0..15_768_000_u64) => ("hsts-implemented-max-age-less-than-six-months", -10),
        Some(_) => ("hsts-implemented-max-age-at-least-six-months", 0),
    }
}

fn sniffing(headers: &HeaderMap) -> Points {
    match value(headers, "x-content-type-options") {
        Some("nosniff") => ("x-content-type-options-nosniff", 0),
        Some(_) => ("x-content-type-options-header-invalid", -5),
        None => ("x-content-type-options-not-implemented", -5),
    }
}

fn framing(headers: &HeaderMap) -> Points {
    let ancestors = value(headers, "content-security-policy")
        .and_then(|policy| sources(policy, "frame-ancestors"));
    let is_bounded = |all: &Vec<&str>| !all.iter().any(|it| ["*", "http:", "https:"].contains(it));
    if ancestors.as_ref().is_some_and(is_bounded) {
        return ("x-frame-options-implemented-via-csp", 5);
    }
    match value(headers, "x-frame-options") {
        Some("DENY" | "SAMEORIGIN") => ("x-frame-options-sameorigin-or-deny", 0),
        Some(_) => ("x-frame-options-header-invalid", -20),
        None => ("x-frame-options-not-implemented", -20),
    }
}

fn resource(headers: &HeaderMap) -> Points {
    match value(headers, "cross-origin-resource-policy") {
        Some("same-origin" | "same-site") => {
            ("cross-origin-resource-policy-implemented-with-same-origin", 10)
        }
        Some("cross-origin") => ("cross-origin-resource-policy-implemented-with-cross-origin", 0),
        Some(_) => ("cross-origin-resource-policy-header-invalid", -5),
        None => ("cross-origin-resource-policy-not-implemented", 0),
    }
}

const SCANNER: &str = "https://http-observatory.security.mozilla.org";

fn headers_of(options: RouterOptions, path: &str) -> HeaderMap {
    let tree = routes! {
        "json": { GET: async || json!({ "ok": true }) },
        "cookie": { GET: async || {
            let cookie = SetCookie::from_static("__Host-session", "1").to_header_value().unwrap();
            (StatusCode::OK, (HeaderMap::from_iter([(header::SET_COOKIE, cookie)]), "in"))
        } },
    };
    let app = app(create_router(tree, options));
    let text = format!("GET {path}\norigin: {SCANNER}");
    block_on(app.handle(request(&text))).headers().clone()
}

#[test]
fn a_plain_response_has_all_points_for_headers() {
    for path in ["/json", "/nowhere"] {
        let (score, verdicts) = score(&headers_of(RouterOptions::new(), path));
        assert_eq!(score, 130, "{path}: {verdicts:?}");
    }
    let (with_cookie, verdicts) = score(&headers_of(RouterOptions::new(), "/cookie"));
    assert_eq!(with_cookie, 135, "{verdicts:?}");
}

#[test]
fn every_weakened_header_costs_points() {
    let plain = SecurityHeaders::default();
    let set = |name: &'static str, value: &str| plain.clone().set(name, value).unwrap();
    let csp = "content-security-policy";
    let hsts = "strict-transport-security";
    let cases = [
        (plain.clone().without(csp), 75),
        (set(csp, "default-src 'self'; form-action 'none'; frame-ancestors 'none'"), 125),
        (set(csp, "default-src 'none'; frame-ancestors 'none'"), 125),
        (set(csp, "default-src 'none'; form-action 'none'"), 125),
        (set(csp, "default-src 'none' 'unsafe-inline'; form-action 'none'"), 80),
        (plain.clone().without(hsts), 80),
        (set(hsts, "max-age=86400"), 120),
        (plain.clone().without("referrer-policy"), 125),
        (set("referrer-policy", "unsafe-url"), 120),
        (plain.clone().without("x-content-type-options"), 125),
        (plain.clone().without("cross-origin-resource-policy"), 120),
        (set("cross-origin-resource-policy", "cross-origin"), 120),
    ];
    for (headers, expected) in cases {
        let options = RouterOptions::new().security_headers(headers.clone());
        let (score, verdicts) = score(&headers_of(options, "/json"));
        assert_eq!(score, expected, "{headers:?}: {verdicts:?}");
    }
    let (none, _) =
        score(&headers_of(RouterOptions::new().enable_security_headers(false), "/json"));
    assert_eq!(none, 30);
}
