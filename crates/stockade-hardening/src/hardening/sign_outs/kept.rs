//! [`Kept`]: a credential in the response to a sign-in.

use std::collections::BTreeMap;

use http::{HeaderMap, HeaderValue, header};
use serde_json::Value;
use stockade_routing::map::{RouteMap, SchemeInfo};

use crate::exchange::Exchange;
use crate::hardening::attack_target::AttackTarget;
use crate::hardening::tenants::text_of;
use crate::hardening::tokens;
use crate::shot::Shot;

/// The kind of a credential.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum KeptKind {
    Cookie,
    Token,
    /// A token that only gets new tokens.
    Refresh,
}

/// A credential in the response to a sign-in.
#[derive(Clone)]
pub(super) struct Kept {
    pub(super) kind: KeptKind,
    /// The name of the cookie, the member or the header.
    pub(super) name: String,
    pub(super) value: String,
}

impl Kept {
    /// Returns a readable name without the value.
    pub(super) fn label(&self) -> String {
        let kind = match self.kind {
            KeptKind::Cookie => "cookie",
            KeptKind::Token => "token",
            KeptKind::Refresh => "refresh token",
        };
        format!("the {kind} `{}`", self.name)
    }

    /// Returns the request for a route with only this credential; `None` if the
    /// route does not read such credentials.
    pub(super) fn shot(&self, target: &AttackTarget) -> Option<Shot> {
        let shot = target.shot();
        match self.kind {
            KeptKind::Cookie => Some(shot.add("cookie", self.pair())),
            KeptKind::Token => {
                let mut schemes = target.route.access.schemes.iter();
                let (name, value) = schemes.find_map(|scheme| self.in_header(scheme))?;
                Some(shot.add(&name, value))
            }
            KeptKind::Refresh => None,
        }
    }

    /// Returns the pair of a `Cookie` header.
    pub(super) fn pair(&self) -> String {
        format!("{}={}", self.name, self.value)
    }

    /// Returns the header with a token for an authentication method.
    fn in_header(&self, scheme: &SchemeInfo) -> Option<(String, String)> {
        let authorization = |scheme: &str| {
            let value = format!("{scheme} {}", self.value);
            Some((header::AUTHORIZATION.as_str().to_owned(), value))
        };
        match scheme {
            SchemeInfo::Http { scheme, .. } if scheme.eq_ignore_ascii_case("basic") => None,
            SchemeInfo::Http { scheme, .. } => authorization(scheme),
            SchemeInfo::Header { header, .. } => Some((header.clone(), self.value.clone())),
            SchemeInfo::Other { .. } => authorization("Bearer"),
            _ => None,
        }
    }
}

/// Returns the headers with all cookies and the first token.
pub(super) fn all_headers(kept: &[Kept], map: &RouteMap) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let mut add = |name: &str, value: &str| {
        let name = header::HeaderName::from_bytes(name.as_bytes());
        if let (Ok(name), Ok(mut value)) = (name, HeaderValue::from_str(value)) {
            value.set_sensitive(true);
            headers.insert(name, value);
        }
    };
    if let Some(cookies) = cookie_header(kept) {
        add("cookie", &cookies);
    }
    if let Some(token) = kept.iter().find(|it| it.kind == KeptKind::Token) {
        for scheme in map.routes.iter().flat_map(|route| &route.access.schemes) {
            if let Some((name, value)) = token.in_header(scheme) {
                add(&name, &value);
            }
        }
    }
    headers
}

/// Returns the value of a header with all cookies, if there are any.
pub(super) fn cookie_header(kept: &[Kept]) -> Option<String> {
    let cookies = kept.iter().filter(|it| it.kind == KeptKind::Cookie).map(Kept::pair);
    let cookies: Vec<String> = cookies.collect();
    (!cookies.is_empty()).then(|| cookies.join("; "))
}

/// Returns the credentials in a response.
pub(super) fn credentials_in(exchange: &Exchange) -> Vec<Kept> {
    let mut kept: Vec<Kept> = cookies(exchange).collect();
    for (name, value) in &exchange.headers {
        let Ok(value) = value.to_str() else { continue };
        let value = value.split_once(' ').map_or(value, |(_, token)| token);
        if name == header::AUTHORIZATION {
            kept.push(token(name.as_str(), value, KeptKind::Token));
        } else if let Some(kind) = kind_of(name.as_str(), value) {
            kept.push(token(name.as_str(), value, kind));
        }
    }
    let text = || Value::from(&*String::from_utf8_lossy(&exchange.body));
    let body = serde_json::from_slice(&exchange.body).unwrap_or_else(|_| text());
    find("", &body, 0, &mut kept);
    kept
}

/// Returns the values for placeholders: the scalar members of a response, and
/// its cookies.
pub(super) fn values_in(exchange: &Exchange) -> BTreeMap<String, String> {
    let body = serde_json::from_slice::<Value>(&exchange.body).unwrap_or_default();
    let members = body.as_object().into_iter().flatten();
    let mut values: BTreeMap<String, String> =
        members.filter_map(|(name, value)| Some((name.clone(), text_of(value)?))).collect();
    values.extend(cookies(exchange).map(|cookie| (cookie.name, cookie.value)));
    values
}

/// Returns the cookies that a response sets.
fn cookies(exchange: &Exchange) -> impl Iterator<Item = Kept> {
    let set = exchange.headers.get_all(header::SET_COOKIE).iter();
    set.filter_map(|set| {
        let text = set.to_str().ok()?;
        let (pair, attributes) = text.split_once(';').unwrap_or((text, ""));
        let (name, value) = pair.split_once('=')?;
        let is_removed = attributes.to_ascii_lowercase().contains("max-age=0");
        let name = name.trim();
        (!value.is_empty() && !is_removed && !is_harmless(&plain(name)))
            .then(|| token(name, value, KeptKind::Cookie))
    })
}

fn token(name: &str, value: &str, kind: KeptKind) -> Kept {
    Kept { kind, name: name.to_owned(), value: value.to_owned() }
}

/// Adds the tokens in a JSON value.
fn find(name: &str, value: &Value, depth: usize, kept: &mut Vec<Kept>) {
    match value {
        Value::Object(members) if depth < MAX_DEPTH => {
            members.iter().for_each(|(name, value)| find(name, value, depth + 1, kept));
        }
        Value::String(text) => {
            let by_form = || tokens::find(text).map(|_| KeptKind::Token);
            let kind = kind_of(name, text).or_else(by_form);
            if let Some(kind) = kind {
                let name = if name.is_empty() { "body" } else { name };
                kept.push(token(name, text, kind));
            }
        }
        _ => {}
    }
}

/// Returns the kind of a token by the name of its member or header.
fn kind_of(name: &str, value: &str) -> Option<KeptKind> {
    let name = plain(name);
    if value.len() < MIN_TOKEN || value.contains(' ') || is_harmless(&name) {
        return None;
    }
    if name.contains("refresh") {
        return Some(KeptKind::Refresh);
    }
    let words = ["token", "jwt", "apikey", "sessionid", "bearer"];
    words.iter().any(|word| name.contains(word)).then_some(KeptKind::Token)
}

/// Returns true if a name belongs to a value that does not authenticate anyone.
fn is_harmless(name: &str) -> bool {
    ["csrf", "xsrf", "type", "expir"].iter().any(|word| name.contains(word))
}

/// Returns the lower-case letters and the digits of a name.
pub(super) fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
}

/// The maximum depth of a member with a token.
const MAX_DEPTH: usize = 4;

/// The minimum length of a token, in bytes.
const MIN_TOKEN: usize = 16;

#[cfg(test)]
mod tests {
    use std::panic::Location;
    use std::sync::Arc;

    use http::{Method, StatusCode};

    use super::*;

    fn response(headers: &[(&str, &str)], body: &str) -> Exchange {
        let asked = Shot::new(Method::POST, "/login").sent(Location::caller());
        let headers = headers.iter().map(|(name, value)| {
            (name.parse::<header::HeaderName>().unwrap(), value.parse().unwrap())
        });
        let body = body.to_owned().into();
        Exchange {
            asked: Arc::new(asked),
            status: StatusCode::OK,
            headers: headers.collect(),
            body,
        }
    }

    #[test]
    fn finds_cookies_and_tokens() {
        #[track_caller]
        fn check(headers: &[(&str, &str)], body: &str, expected: &[&str]) {
            let kept = credentials_in(&response(headers, body));
            let labels: Vec<String> = kept.iter().map(Kept::label).collect();
            assert_eq!(labels, expected);
        }
        check(&[("set-cookie", "a=1; Path=/")], "", &["the cookie `a`"]);
        check(&[("set-cookie", "a=; Path=/"), ("set-cookie", "b=1; Max-Age=0")], "", &[]);
        check(&[("set-cookie", "csrf_token=1")], "", &[]);
        check(&[("authorization", "Bearer abc")], "", &["the token `authorization`"]);
        let body =
            r#"{"user":{"accessToken":"0123456789abcdef"},"tokenType":"Bearer-0123456789abcdef"}"#;
        check(&[], body, &["the token `accessToken`"]);
        let body = r#"{"refresh_token":"0123456789abcdef","token":"short"}"#;
        check(&[], body, &["the refresh token `refresh_token`"]);
        check(&[], "eyJhbGciOiJIUzI1NiJ9.e30.c2ln", &["the token `body`"]);
        check(&[], r#""eyJhbGciOiJIUzI1NiJ9.e30.c2ln""#, &["the token `body`"]);
    }

    #[test]
    fn finds_values_for_placeholders() {
        let values = values_in(&response(&[("set-cookie", "sid=x")], r#"{"id":7,"name":"ada"}"#));
        let expected = [("id", "7"), ("name", "ada"), ("sid", "x")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(values, BTreeMap::from(expected));
    }
}
