//! Requests that the pages of other origins send with the login of a user
//! (cross-site request forgery, CSRF).

use std::sync::Arc;

use http::{HeaderValue, Method, StatusCode, header};
use serde_json::Value;
use stockade_routing::map::{RouteKind, SchemeInfo};

use super::AttackFamily;
use super::attack_target::AttackTarget;
use super::runner::{Rule, Runner, Verdict};
use super::sign_outs::signed_in_cookies;
use crate::Credentials;
use crate::exchange::Exchange;
use crate::sample::form_of;
use crate::shot::Shot;

const RULE: Rule = Rule {
    family: AttackFamily::Origins,
    text: "a page of another origin cannot change data with the cookie or the Basic password of \
           a user (CSRF; Fetch Metadata Request Headers, section 2.3)",
    mend: "add `with_cross_origin_protection` to the route, or do not disable the protection of \
           `SessionCookie`",
};

const ATTACK: &str = "forms of other origins with the login of a user";

/// Sends forms of other origins to each route that accepts a cookie or a Basic
/// password. A page cannot send other methods without a preflight.
pub(super) async fn attack(runner: &mut Runner<'_>) {
    let all = Arc::clone(&runner.targets);
    let targets = all.iter().filter(|target| is_form(target));
    let cookies = match targets.clone().any(reads_cookie) {
        true => signed_in_cookies(runner).await,
        false => None,
    };
    for target in targets {
        let user = runner.user(&target.roles()).filter(is_ambient);
        let signed_in = cookies.as_ref().filter(|_| reads_cookie(target));
        match user.as_ref().or(signed_in) {
            Some(user) => attack_as(runner, target, user).await,
            None if is_ambient_route(target) => {
                let reason = "no cookie or Basic password of a user is known: return it from \
                              `Hardening::users`, or set `Hardening::sign_in`";
                runner.leave(RULE.family, Some(target), ATTACK, reason);
            }
            None => {}
        }
    }
}

/// Returns true if a form can call the route with the login of a user.
fn is_form(target: &AttackTarget) -> bool {
    let is_http = target.route.kind == RouteKind::Http;
    is_http && target.needs_user() && target.shot().method == Method::POST
}

async fn attack_as(runner: &mut Runner<'_>, target: &AttackTarget, user: &Credentials) {
    for (origin, site) in PAGES {
        let shot = form(target).of(user).add("origin", origin);
        let (shot, with) = match site {
            Some(site) => (
                shot.add("sec-fetch-site", site).add("sec-fetch-mode", "navigate"),
                format!("`Sec-Fetch-Site: {site}`"),
            ),
            None => (shot, "no `Sec-Fetch-Site`".to_owned()),
        };
        let attack = format!("a form from {origin} with the login of a user, and {with}");
        runner.attack(&RULE, Some(target), attack, shot, is_refused).await;
    }
}

/// Returns true if browsers send these credentials automatically.
fn is_ambient(user: &Credentials) -> bool {
    let is_basic = |value: &HeaderValue| {
        value.as_bytes().get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"basic "))
    };
    user.headers().contains_key(header::COOKIE)
        || user.headers().get(header::AUTHORIZATION).is_some_and(is_basic)
}

fn reads_cookie(target: &AttackTarget) -> bool {
    let mut schemes = target.route.access.schemes.iter();
    schemes.any(|scheme| matches!(scheme, SchemeInfo::Cookie { .. }))
}

/// Returns true if browsers send the credentials of a route automatically.
fn is_ambient_route(target: &AttackTarget) -> bool {
    let mut schemes = target.route.access.schemes.iter();
    schemes.any(SchemeInfo::is_ambient)
}

/// Returns the request as the form of a page sends it: with a media type that
/// needs no preflight.
fn form(target: &AttackTarget) -> Shot {
    let shot = target.shot();
    let Some((content_type, body)) = &target.body else { return shot };
    if content_type.starts_with("multipart/") {
        return shot;
    }
    let members = serde_json::from_slice::<Value>(body).ok();
    let pairs = members.as_ref().and_then(Value::as_object).and_then(form_of);
    match pairs {
        Some(pairs) => shot.body("application/x-www-form-urlencoded", pairs),
        None if content_type == "application/x-www-form-urlencoded" => shot,
        None => shot.body("text/plain", body.clone()),
    }
}

/// Validates the response to a form of another origin.
fn is_refused(exchange: &Exchange) -> Verdict {
    match exchange.status {
        StatusCode::FORBIDDEN | StatusCode::UNSUPPORTED_MEDIA_TYPE => Verdict::Refused,
        StatusCode::UNAUTHORIZED => {
            Verdict::Unproven("the credentials of the user were rejected with 401".into())
        }
        StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY => Verdict::Unproven(format!(
            "the response was {}: the route may accept a valid form",
            exchange.status
        )),
        status => Verdict::GotThrough(format!("the response is {status}")),
    }
}

/// The origins of pages with the value of `Sec-Fetch-Site`. Browsers before
/// 2023 do not send it; `null` is the origin of a sandboxed frame.
const PAGES: [(&str, Option<&str>); 4] = [
    ("https://evil.test", Some("cross-site")),
    ("https://evil.test", None),
    ("null", None),
    ("https://evil.localhost", Some("same-site")),
];
