//! [`Cors`]: the prepared headers, and putting them on responses.
//!
//! Hot: [`Cors::apply`] clones prepared values; it allocates only when the map
//! grows.
//!
//! Spec: Response headers › CORS rules.

use std::fmt;

use http::header::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE,
    ACCESS_CONTROL_REQUEST_METHOD, HeaderName, HeaderValue, ORIGIN, VARY,
};
use http::{HeaderMap, Method};

use super::options::{CorsOptions, CorsOrigin};
use super::origin::is_origin;

/// The headers of CORS, prepared once.
///
/// | origin | request's `Origin` | answer |
/// |---|---|---|
/// | unset | any or none | `http://localhost:3000`, without credentials |
/// | `*`, or a list that contains it | any or none | `*`, without credentials |
/// | one origin | any or none | that origin, with credentials |
/// | a list | listed, character for character | that origin, with credentials, `Vary: Origin` |
/// | a list | another one, `null`, or none | no headers but `Vary: Origin` |
/// | malformed | any or none | as unset |
///
/// A route with rules of its own has a `Cors` of its own.
///
/// Spec: Response headers › CORS rules.
#[derive(Clone, Debug)]
pub struct Cors {
    rule: Rule,
    methods: Option<HeaderValue>,
    allowed_headers: Option<HeaderValue>,
    exposed_headers: Option<HeaderValue>,
    /// The same for a response with the older headers of a rate limit, if they
    /// are told.
    exposed_with_legacy: Option<HeaderValue>,
    max_age: HeaderValue,
    allow_private_network: bool,
}

/// Whom to answer, and what.
#[derive(Clone, Debug)]
enum Rule {
    /// The same for every request.
    Always { origin: HeaderValue, credentials: bool },
    /// The request's origin, if it is one of these, with credentials.
    Listed(Vec<HeaderValue>),
}

impl Default for Cors {
    fn default() -> Self {
        Self::new(&CorsOptions::default())
    }
}

impl Cors {
    /// Whether the answer depends on the request's `Origin`.
    #[must_use]
    pub fn reads_origin(&self) -> bool {
        matches!(self.rule, Rule::Listed(_))
    }

    /// The origins of the request on which the answer depends, if it does.
    #[must_use]
    pub fn origins(&self) -> &[HeaderValue] {
        match &self.rule {
            Rule::Listed(origins) => origins,
            Rule::Always { .. } => &[],
        }
    }

    /// Prepares the headers.
    ///
    /// It never fails. A malformed origin logs a warning and counts as unset,
    /// and so does a list with one; a malformed method or name of a header logs
    /// a warning, and the default stands in its list's place. Origins beside `*`
    /// log a warning that they have no effect.
    ///
    /// Spec: CORS rules, rule 5.
    #[must_use]
    pub fn new(options: &CorsOptions) -> Self {
        let defaults = CorsOptions::default();
        let list = |what, own: &[String], default: &[String]| {
            joined(own).unwrap_or_else(|| {
                log::warn!(target: "stockade", "CORS: bad {what} {own:?}; the default stands");
                joined(default).flatten()
            })
        };
        let exposed_headers =
            list("exposed headers", &options.exposed_headers, &defaults.exposed_headers);
        Self {
            rule: Rule::of(&options.origin),
            methods: list("methods", &options.methods, &defaults.methods),
            allowed_headers: list(
                "allowed headers",
                &options.allowed_headers,
                &defaults.allowed_headers,
            ),
            exposed_with_legacy: exposed_headers.as_ref().and_then(with_legacy),
            exposed_headers,
            max_age: options.max_age.into(),
            allow_private_network: options.allow_private_network,
        }
    }

    /// Puts the headers on a response; `origin` is the request's, as
    /// [`origin_of`] gives it.
    ///
    /// `Vary` is appended to what is there, once. Whom the response itself
    /// allows is removed: it would pass the rules by.
    pub fn apply(&self, origin: Option<&HeaderValue>, response: &mut HeaderMap) {
        response.remove(ACCESS_CONTROL_ALLOW_ORIGIN);
        response.remove(ACCESS_CONTROL_ALLOW_CREDENTIALS);
        if self.allow(origin, response) {
            let with_legacy = self.exposed_with_legacy.as_ref();
            let with_legacy = with_legacy.filter(|_| response.contains_key(LEGACY_REMAINING));
            let exposed = with_legacy.or(self.exposed_headers.as_ref());
            put(response, ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
        }
    }

    /// Returns true if the rules name the origin of a request, as [`origin_of`]
    /// gives it, with credentials. `*` and the origin of development name nobody.
    #[must_use]
    pub fn lists(&self, origin: Option<&HeaderValue>) -> bool {
        match &self.rule {
            Rule::Always { origin: known, credentials } => *credentials && origin == Some(known),
            Rule::Listed(list) => listed(list, origin).is_some(),
        }
    }

    /// The same rules for another origin, or for others.
    #[must_use]
    pub fn with_origin(&self, origin: &CorsOrigin) -> Self {
        Self { rule: Rule::of(origin), ..self.clone() }
    }

    /// Puts the headers on the answer to a preflight, which is a 204 whether it
    /// is allowed or refused: a refused one has none of them.
    pub fn preflight(&self, request: &HeaderMap, response: &mut HeaderMap) {
        let private = request.get(REQUEST_PRIVATE_NETWORK).is_some_and(|value| value == "true");
        if private && !self.allow_private_network {
            self.vary(response);
            return;
        }
        if !self.allow(origin_of(request), response) {
            return;
        }
        put(response, ACCESS_CONTROL_ALLOW_METHODS, self.methods.as_ref());
        put(response, ACCESS_CONTROL_ALLOW_HEADERS, self.allowed_headers.as_ref());
        put(response, ACCESS_CONTROL_MAX_AGE, Some(&self.max_age));
        if private {
            put(response, ALLOW_PRIVATE_NETWORK, Some(&TRUE));
        }
    }

    /// Names the origin that may read the response; false if none may.
    fn allow(&self, origin: Option<&HeaderValue>, response: &mut HeaderMap) -> bool {
        self.vary(response);
        let (allowed, credentials) = match &self.rule {
            Rule::Always { origin, credentials } => (Some(origin), *credentials),
            Rule::Listed(list) => (listed(list, origin), true),
        };
        let Some(allowed) = allowed else {
            return false;
        };
        put(response, ACCESS_CONTROL_ALLOW_ORIGIN, Some(allowed));
        if credentials {
            put(response, ACCESS_CONTROL_ALLOW_CREDENTIALS, Some(&TRUE));
        }
        true
    }

    /// Tells caches when the answer depends on the request's origin.
    fn vary(&self, response: &mut HeaderMap) {
        if matches!(self.rule, Rule::Listed(_)) && !varies(response) {
            response.append(VARY, HeaderValue::from_static("Origin"));
        }
    }
}

impl Rule {
    fn of(origin: &CorsOrigin) -> Self {
        let (items, is_list) = match origin {
            CorsOrigin::Unset => return Self::development(),
            CorsOrigin::One(origin) => (std::slice::from_ref(origin), false),
            CorsOrigin::List(origins) => (origins.as_slice(), true),
            CorsOrigin::Malformed(json) => return Self::malformed(json),
        };
        let values: Option<Vec<HeaderValue>> = items.iter().map(|item| readable(item)).collect();
        let Some(values) = values.filter(|values| !values.is_empty()) else {
            return Self::malformed(format_args!("{items:?}"));
        };
        if let Some(any) = values.iter().find(|value| *value == "*") {
            if values.len() > 1 {
                log::warn!(
                    target: "stockade",
                    "of cors_origin {items:?} only * counts, and it carries no credentials"
                );
            }
            return Self::Always { origin: any.clone(), credentials: false };
        }
        match <[HeaderValue; 1]>::try_from(values) {
            Ok([origin]) if !is_list => Self::Always { origin, credentials: true },
            Ok(one) => Self::Listed(one.into()),
            Err(values) => Self::Listed(values),
        }
    }

    /// Spec: CORS rules, rule 5.
    fn malformed(origin: impl fmt::Display) -> Self {
        log::warn!(
            target: "stockade",
            "cors_origin {origin} is malformed; {DEVELOPMENT_ORIGIN} is served",
        );
        Self::development()
    }

    fn development() -> Self {
        let origin = HeaderValue::from_static(DEVELOPMENT_ORIGIN);
        Self::Always { origin, credentials: false }
    }
}

/// In the extensions of a response: its headers of CORS are decided, by rules of
/// the route, and those of the router do not apply.
///
/// [`with_cors`](crate::with_cors) leaves it there.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CorsDecided;

/// The `Origin` of a request, if there is exactly one: of several none is
/// believed.
#[must_use]
pub fn origin_of(headers: &HeaderMap) -> Option<&HeaderValue> {
    let mut values = headers.get_all(ORIGIN).iter();
    values.next().filter(|_| values.next().is_none())
}

/// Whether a request is a CORS preflight: OPTIONS with `Origin` and
/// `Access-Control-Request-Method`.
#[must_use]
pub fn is_preflight(method: &Method, headers: &HeaderMap) -> bool {
    *method == Method::OPTIONS
        && headers.contains_key(ORIGIN)
        && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

/// The entry of the list that equals the origin of the request.
///
/// `null` is never in a list, because it is no origin.
fn listed<'l>(list: &'l [HeaderValue], origin: Option<&HeaderValue>) -> Option<&'l HeaderValue> {
    let origin = origin?;
    list.iter().find(|item| *item == origin)
}

/// An origin, or `*`, as the value of a header.
fn readable(origin: &str) -> Option<HeaderValue> {
    if origin != "*" && !is_origin(origin) {
        return None;
    }
    HeaderValue::from_str(origin).ok()
}

/// Tokens as the value of a header, `None` inside for an empty list; `None` if
/// one is no token.
fn joined(tokens: &[String]) -> Option<Option<HeaderValue>> {
    if tokens.is_empty() {
        return Some(None);
    }
    // The names of methods and of headers are both tokens (RFC 9110, 5.6.2).
    let are_tokens = tokens.iter().all(|token| HeaderName::try_from(token).is_ok());
    let value = are_tokens.then(|| HeaderValue::try_from(tokens.join(", ")).ok())?;
    value.map(Some)
}

/// The list with the older headers of a rate limit, if it has `RateLimit`.
fn with_legacy(exposed: &HeaderValue) -> Option<HeaderValue> {
    let exposed = exposed.to_str().ok()?;
    let mut names = exposed.split(',').map(str::trim);
    names
        .any(|name| name.eq_ignore_ascii_case("ratelimit"))
        .then(|| HeaderValue::try_from(format!("{exposed}, {LEGACY_HEADERS}")).ok())?
}

/// Whether `Vary` already names the origin, or everything.
fn varies(response: &HeaderMap) -> bool {
    let lines = response.get_all(VARY).into_iter().map(HeaderValue::as_bytes);
    let mut names = lines.flat_map(|line| line.split(|byte| *byte == b',')).map(<[u8]>::trim_ascii);
    names.any(|name| name.eq_ignore_ascii_case(b"Origin") || name == b"*")
}

fn put(response: &mut HeaderMap, name: HeaderName, value: Option<&HeaderValue>) {
    if let Some(value) = value {
        response.insert(name, value.clone());
    }
}

const LEGACY_HEADERS: &str = "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset";
const LEGACY_REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
/// Spec: Router options › `corsOrigin`.
const DEVELOPMENT_ORIGIN: &str = "http://localhost:3000";
static TRUE: HeaderValue = HeaderValue::from_static("true");
const REQUEST_PRIVATE_NETWORK: HeaderName =
    HeaderName::from_static("access-control-request-private-network");
const ALLOW_PRIVATE_NETWORK: HeaderName =
    HeaderName::from_static("access-control-allow-private-network");

#[cfg(test)]
mod tests;
