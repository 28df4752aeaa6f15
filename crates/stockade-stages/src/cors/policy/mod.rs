//! `Cors`: the prepared CORS rules and headers.
//!
//! Hot: `Cors::apply` clones prepared values; it allocates only if the map
//! grows.
// Spec: Response headers › CORS rules.

use std::fmt;

use http::header::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE,
    ACCESS_CONTROL_REQUEST_METHOD, HeaderName, HeaderValue, ORIGIN, VARY,
};
use http::{HeaderMap, Method};
use stockade_core::RouteDescription;
use stockade_core::description::HeaderDoc;
use stockade_core::headers::only;
use stockade_core::page_headers::PageHeaders;

use crate::described::is_any;

mod page;

pub use page::PageNames;

use super::options::{CorsOptions, CorsOrigin};
use super::origin::is_origin;

/// The CORS headers, prepared once.
///
/// | origin | request's `Origin` | response |
/// |---|---|---|
/// | unset | any or none | `http://localhost:3000`, without credentials |
/// | `*`, or a list that contains it | any or none | `*`, without credentials |
/// | one origin | any or none | that origin, with credentials |
/// | a list | listed, character by character | that origin, with credentials, `Vary: Origin` |
/// | a list | another one, `null`, or none | only `Vary: Origin` |
/// | malformed | any or none | same as unset |
///
/// A route with its own rules has its own `Cors`.
// Spec: Response headers › CORS rules.
#[derive(Clone, Debug)]
pub struct Cors {
    rule: Rule,
    methods: Option<HeaderValue>,
    allowed_headers: Option<HeaderValue>,
    /// True if no list is configured, so a preflight allows the headers of its route.
    allows_by_route: bool,
    exposed_headers: Option<HeaderValue>,
    /// The exposed headers for a response with the older rate limit headers.
    exposed_with_legacy: Option<HeaderValue>,
    /// True if no list is configured, so a response exposes the headers of its route.
    exposes_by_route: bool,
    max_age: HeaderValue,
    allow_private_network: bool,
}

/// The rule for allowed origins.
#[derive(Clone, Debug)]
enum Rule {
    /// The same origin for every request.
    Always { origin: HeaderValue, credentials: bool },
    /// The origin of the request, if it is listed, with credentials.
    Listed(Vec<HeaderValue>),
}

impl Default for Cors {
    fn default() -> Self {
        Self::new(&CorsOptions::default())
    }
}

impl Cors {
    /// Returns rules that send no CORS headers.
    #[must_use]
    pub fn off() -> Self {
        Self { rule: Rule::Listed(Vec::new()), ..Self::default() }
    }

    /// Returns true if the headers depend on the `Origin` of the request.
    #[must_use]
    pub fn reads_origin(&self) -> bool {
        !self.origins().is_empty()
    }

    /// Returns the listed origins, or an empty list if the headers do not
    /// depend on the request's origin.
    #[must_use]
    pub fn origins(&self) -> &[HeaderValue] {
        match &self.rule {
            Rule::Listed(origins) => origins,
            Rule::Always { .. } => &[],
        }
    }

    /// Returns the allowed origins and whether they may send credentials.
    #[must_use]
    pub fn allowed(&self) -> (Vec<&HeaderValue>, bool) {
        match &self.rule {
            Rule::Listed(origins) => (origins.iter().collect(), true),
            Rule::Always { origin, credentials } => (vec![origin], *credentials),
        }
    }

    /// Prepares the headers.
    ///
    /// Malformed options log a warning and never fail. A malformed origin
    /// counts as unset, and so does a list that contains one. A malformed
    /// method or header name restores the default of its list. Origins in
    /// addition to `*` have no effect.
    // Spec: Response headers › CORS rules, rule 5.
    #[must_use]
    pub fn new(options: &CorsOptions) -> Self {
        let list = |what, own: &[String]| {
            joined(own).or_else(|| {
                log::warn!(target: "stockade", "CORS: invalid {what} {own:?}; the default is used");
                None
            })
        };
        let methods = list("methods", &options.methods);
        let methods = methods.unwrap_or_else(|| joined(&CorsOptions::default().methods).flatten());
        let allowed = options.allowed_headers.as_deref();
        let allowed = allowed.and_then(|own| list("allowed headers", own));
        let exposed = options.exposed_headers.as_deref();
        let exposed = exposed.and_then(|own| list("exposed headers", own));
        let allows_by_route = allowed.is_none();
        let exposes_by_route = exposed.is_none();
        let exposed_headers = exposed.unwrap_or(Some(HeaderValue::from_static(EXPOSED)));
        Self {
            rule: Rule::of(&options.origin),
            methods,
            allowed_headers: allowed.unwrap_or(Some(HeaderValue::from_static(ALLOWED))),
            allows_by_route,
            exposed_with_legacy: exposed_headers.as_ref().and_then(with_legacy),
            exposed_headers,
            exposes_by_route,
            max_age: options.max_age.into(),
            allow_private_network: options.allow_private_network,
        }
    }

    /// Returns true if responses expose the headers of their route.
    #[must_use]
    pub fn exposes_by_route(&self) -> bool {
        self.exposes_by_route
    }

    /// Adds the headers to a response of a route with `page` headers. `origin`
    /// is the value that [`origin_of`] returns for the request.
    ///
    /// `Origin` is appended to `Vary`, once. An origin that the response itself
    /// allows is removed, because it would bypass the rules. Headers that it
    /// exposes itself are added to the exposed headers of the rules.
    pub fn apply(
        &self,
        origin: Option<&HeaderValue>,
        response: &mut HeaderMap,
        page: Option<&PageHeaders>,
    ) {
        response.remove(ACCESS_CONTROL_ALLOW_ORIGIN);
        response.remove(ACCESS_CONTROL_ALLOW_CREDENTIALS);
        if self.allow(origin, response) {
            let page = page.filter(|page| self.exposes_by_route && page.exposed.is_some());
            let (exposed, with_legacy) = page.map_or(
                (self.exposed_headers.as_ref(), self.exposed_with_legacy.as_ref()),
                |page| (page.exposed.as_ref(), page.exposed_with_legacy.as_ref()),
            );
            let with_legacy = with_legacy.filter(|_| response.contains_key(LEGACY_REMAINING));
            let exposed = with_legacy.or(exposed);
            match response.remove(ACCESS_CONTROL_EXPOSE_HEADERS) {
                None => put(response, ACCESS_CONTROL_EXPOSE_HEADERS, exposed),
                own => {
                    let both = exposed.into_iter().chain(&own);
                    put(response, ACCESS_CONTROL_EXPOSE_HEADERS, joined_values(both).as_ref());
                }
            }
        }
    }

    /// Describes the headers that [`apply`](Self::apply) adds.
    pub fn describe(&self, doc: &mut RouteDescription) {
        if matches!(&self.rule, Rule::Listed(origins) if origins.is_empty()) {
            return;
        }
        let (is_always, credentials) = match &self.rule {
            Rule::Always { credentials, .. } => (true, *credentials),
            Rule::Listed(_) => (false, true),
        };
        // A preflight response has other headers.
        let is_always = is_always && *doc.method() != Method::OPTIONS && !is_any(doc.method());
        let is_listed = matches!(self.rule, Rule::Listed(_));
        let mut adds = |name, meaning| {
            let header = HeaderDoc::new(name, meaning);
            doc.adds_header(if is_always { header } else { header.sometimes() }, None);
        };
        adds("Access-Control-Allow-Origin", "The origin that may read the response");
        if credentials {
            adds("Access-Control-Allow-Credentials", "Always true: credentials are allowed");
        }
        if self.exposed_headers.is_some() {
            adds("Access-Control-Expose-Headers", "The headers that pages may read");
        }
        if is_listed {
            doc.reads_header("Origin", false);
            let meaning = "The headers that the response depends on";
            doc.adds_header(HeaderDoc::new("Vary", meaning), None);
        }
    }

    /// Returns true if the rules allow the request's origin, as [`origin_of`]
    /// returns it, with credentials. `*` and the development origin do not name
    /// an origin.
    #[must_use]
    pub fn lists(&self, origin: Option<&HeaderValue>) -> bool {
        match &self.rule {
            Rule::Always { origin: known, credentials } => *credentials && origin == Some(known),
            Rule::Listed(list) => listed(list, origin).is_some(),
        }
    }

    /// Returns the same rules for one or several other origins.
    #[must_use]
    pub fn with_origin(&self, origin: &CorsOrigin) -> Self {
        Self { rule: Rule::of(origin), ..self.clone() }
    }

    /// Adds the headers to a preflight response for a route with `page`
    /// headers. The response is always a 204; a rejected preflight gets no CORS
    /// headers except `Vary`.
    pub fn preflight(
        &self,
        request: &HeaderMap,
        response: &mut HeaderMap,
        page: Option<&PageHeaders>,
    ) {
        let private = request.get(REQUEST_PRIVATE_NETWORK).is_some_and(|value| value == "true");
        if private && !self.allow_private_network {
            self.vary(response);
            return;
        }
        if !self.allow(origin_of(request), response) {
            return;
        }
        put(response, ACCESS_CONTROL_ALLOW_METHODS, self.methods.as_ref());
        let by_route = page.filter(|_| self.allows_by_route).and_then(|it| it.allowed.as_ref());
        let allowed = by_route.or(self.allowed_headers.as_ref());
        put(response, ACCESS_CONTROL_ALLOW_HEADERS, allowed);
        put(response, ACCESS_CONTROL_MAX_AGE, Some(&self.max_age));
        if private {
            put(response, ALLOW_PRIVATE_NETWORK, Some(&TRUE));
        }
    }

    /// Adds the origin that may read the response. Returns false if no origin
    /// may.
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

    /// Adds `Vary` if the headers depend on the origin of the request.
    fn vary(&self, response: &mut HeaderMap) {
        if self.reads_origin() && !varies(response) {
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
                    "only * in cors_origin {items:?} has an effect, and it does not allow \
                     credentials"
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

    // Spec: Response headers › CORS rules, rule 5.
    fn malformed(origin: impl fmt::Display) -> Self {
        log::warn!(
            target: "stockade",
            "cors_origin {origin} is malformed; {DEVELOPMENT_ORIGIN} is used",
        );
        Self::development()
    }

    fn development() -> Self {
        let origin = HeaderValue::from_static(DEVELOPMENT_ORIGIN);
        Self::Always { origin, credentials: false }
    }
}

/// Marks a response, in its extensions, to show that route rules have decided
/// its CORS headers. The rules of the router do not apply to it.
///
/// [`with_cors`](crate::with_cors) inserts it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CorsDecided;

/// Returns the `Origin` of a request, if there is exactly one.
#[must_use]
pub fn origin_of(headers: &HeaderMap) -> Option<&HeaderValue> {
    only(headers, &ORIGIN)
}

/// Returns true for a CORS preflight: OPTIONS with `Origin` and
/// `Access-Control-Request-Method`.
#[must_use]
pub fn is_preflight(method: &Method, headers: &HeaderMap) -> bool {
    *method == Method::OPTIONS
        && headers.contains_key(ORIGIN)
        && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

/// Returns the list entry that equals the origin of the request.
///
/// `null` is never in a list, because it is not an origin.
fn listed<'l>(list: &'l [HeaderValue], origin: Option<&HeaderValue>) -> Option<&'l HeaderValue> {
    let origin = origin?;
    list.iter().find(|item| *item == origin)
}

/// Creates a header value from an origin or `*`.
fn readable(origin: &str) -> Option<HeaderValue> {
    if origin != "*" && !is_origin(origin) {
        return None;
    }
    HeaderValue::from_str(origin).ok()
}

/// Creates a header value from tokens, with `None` inside for an empty list.
/// Returns `None` if a text is not a token.
fn joined(tokens: &[String]) -> Option<Option<HeaderValue>> {
    if tokens.is_empty() {
        return Some(None);
    }
    // Method names and header names are both tokens (RFC 9110, 5.6.2).
    let are_tokens = tokens.iter().all(|token| HeaderName::try_from(token).is_ok());
    let value = are_tokens.then(|| HeaderValue::try_from(tokens.join(", ")).ok())?;
    value.map(Some)
}

/// Joins the lists of several values.
#[cold]
fn joined_values<'v>(values: impl Iterator<Item = &'v HeaderValue>) -> Option<HeaderValue> {
    let lists: Vec<&str> = values.filter_map(|value| value.to_str().ok()).collect();
    HeaderValue::try_from(lists.join(", ")).ok()
}

/// Returns the list with the older rate limit headers added, if it contains
/// `RateLimit`.
fn with_legacy(exposed: &HeaderValue) -> Option<HeaderValue> {
    let exposed = exposed.to_str().ok()?;
    let mut names = exposed.split(',').map(str::trim);
    names
        .any(|name| name.eq_ignore_ascii_case("ratelimit"))
        .then(|| HeaderValue::try_from(format!("{exposed}, {LEGACY_HEADERS}")).ok())?
}

/// Returns true if `Vary` already has `Origin` or `*`.
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

/// The request headers that every route allows by default. The route adds its own.
const ALLOWED: &str = "Content-Type, Authorization";
/// The response headers that every route exposes by default. The route adds its own.
const EXPOSED: &str = "RateLimit, RateLimit-Policy, Retry-After, X-Request-Id";
const LEGACY_HEADERS: &str = "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset";
const LEGACY_REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
// Spec: Router options › `corsOrigin`.
const DEVELOPMENT_ORIGIN: &str = "http://localhost:3000";
static TRUE: HeaderValue = HeaderValue::from_static("true");
const REQUEST_PRIVATE_NETWORK: HeaderName =
    HeaderName::from_static("access-control-request-private-network");
const ALLOW_PRIVATE_NETWORK: HeaderName =
    HeaderName::from_static("access-control-allow-private-network");

#[cfg(test)]
mod tests;
