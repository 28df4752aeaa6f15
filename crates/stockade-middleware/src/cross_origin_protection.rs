//! [`with_cross_origin_protection`]: protection against cross-site request
//! forgery (CSRF).
//!
//! Browsers also attach cookies and Basic authentication passwords to requests
//! from other sites, and a form needs no preflight.
//!
//! Source: the rules of Go 1.25, `net/http.CrossOriginProtection`; Fetch
//! Metadata Request Headers, section 2.3 (`Sec-Fetch-Site`).

use http::header::{HOST, HeaderName, HeaderValue, ORIGIN};
use http::{HeaderMap, Method};
use stockade_core::description::CrossOriginInfo;
use stockade_core::middleware::form;
use stockade_core::{IntoMiddleware, Middleware, Request, RouteDescription};
use stockade_errors::ApiError;

use stockade_stages::cors::is_origin;
use stockade_stages::cors::policy_internals::origin_of;

/// Rejects cross-origin requests that could change something with a 403
/// (protection against cross-site request forgery, CSRF).
///
/// | request | outcome |
/// |---|---|
/// | GET, HEAD, OPTIONS | passes: must not have side effects |
/// | `Sec-Fetch-Site: same-origin` or `none` | passes |
/// | another `Sec-Fetch-Site` | 403 |
/// | no `Sec-Fetch-Site`, `Origin` with the host and port of the request | passes |
/// | no `Sec-Fetch-Site`, another `Origin` | 403 |
/// | neither header | passes: not sent by a browser |
/// | an origin that CORS lists with credentials, or a trusted origin | passes |
///
/// The CORS rules are the same as for preflights and the response: the rules of
/// the route, else of the [`with_cors`](crate::with_cors) nearest to its
/// handler, else of the router (not inside another host). `*` and the default
/// origin do not allow credentials and do not list an origin.
///
/// [`Auth::session`](crate::Auth::session) includes this protection. Use the
/// middleware for routes that identify users by other data that a browser sends
/// automatically: a cookie that [`Auth::verify`](crate::Auth::verify) reads,
/// [`Auth::basic`](crate::Auth::basic), a client certificate, or the client's
/// address. Routes that read a token from a custom header do not need it.
///
/// A page with `Referrer-Policy: no-referrer`, which is the default of this
/// framework, sends `Origin: null` with a form. A listed or trusted page must
/// use `fetch` in the mode `cors`, which always sends the origin, or another
/// referrer policy. Browsers send no `Sec-Fetch-Site` over plain HTTP to
/// another machine, so such a form is rejected there even from the same origin.
///
/// ```
/// use stockade::Middleware;
/// use stockade::middleware::with_cross_origin_protection;
///
/// let guard = with_cross_origin_protection().trust("https://app.example");
/// assert_eq!(Middleware::new(guard).name(), "with_cross_origin_protection");
/// ```
///
/// # Beyond the spec
/// The specification does not define CSRF protection.
#[doc(alias = "csrf")]
pub fn with_cross_origin_protection() -> CrossOriginProtection {
    let refusal = ApiError::new(403, "Forbidden").with_member("message", MESSAGE).repeated();
    CrossOriginProtection { trusted: Vec::new(), mistakes: Vec::new(), refusal }
}

/// Middleware that rejects requests from other origins; see
/// [`with_cross_origin_protection`].
#[doc(alias = "csrf")]
#[derive(Clone, Debug)]
#[must_use = "it does nothing until a route or a router uses it"]
pub struct CrossOriginProtection {
    trusted: Vec<HeaderValue>,
    mistakes: Vec<String>,
    refusal: ApiError,
}

impl CrossOriginProtection {
    /// Trusts one more origin, written as browsers send it:
    /// `https://app.example`. Origins are compared character by character.
    ///
    /// Any other text, including `*` and `null`, is a configuration error.
    pub fn trust(mut self, origin: &str) -> Self {
        match HeaderValue::from_str(origin) {
            Ok(value) if is_origin(origin) => self.trusted.push(value),
            _ => self.mistakes.push(format!(
                "{HELPER}: {origin:?} is not an origin such as \"https://app.example\""
            )),
        }
        self
    }

    /// Fails with 403 if a page of another origin sent the request.
    pub(crate) fn check(&self, req: &Request) -> Result<(), ApiError> {
        if is_safe(req.method()) || self.lets_pass(req) {
            Ok(())
        } else {
            Err(self.refusal.clone())
        }
    }

    fn lets_pass(&self, req: &Request) -> bool {
        let headers = req.headers();
        let is_own = match (sites(headers), has_origin(headers)) {
            (Some(are_own), _) => are_own,
            (None, false) => true,
            (None, true) => origin_of(headers).is_some_and(|origin| is_host_of(origin, req)),
        };
        is_own || req.has_listed_origin() || self.trusts(origin_of(headers))
    }

    fn trusts(&self, origin: Option<&HeaderValue>) -> bool {
        origin.is_some_and(|origin| self.trusted.contains(origin))
    }

    /// Returns the trusted origins for route maps. `None` for a route with a
    /// safe method, which has no protection.
    pub(crate) fn info(&self, doc: &RouteDescription) -> Option<CrossOriginInfo> {
        // `trust` accepts only origins, which are ASCII.
        let trusted = self.trusted.iter().filter_map(|origin| origin.to_str().ok());
        (!is_safe(doc.method())).then(|| CrossOriginInfo::new(trusted))
    }

    /// Adds its needs and its configuration errors to the description of a
    /// route.
    pub(crate) fn describe(&self, doc: &mut RouteDescription) {
        doc.reads_header("Sec-Fetch-Site", false);
        doc.reads_header("Origin", false);
        if !is_safe(doc.method()) {
            doc.guards_origin();
            doc.may_respond(403, "A page of another origin sent the request");
        }
        self.mistakes.iter().for_each(|mistake| doc.issue(mistake));
    }
}

impl IntoMiddleware<form::Ready> for CrossOriginProtection {
    fn into_middleware(self) -> Middleware {
        let described = self.clone();
        Middleware::new(move |req: &mut Request| self.check(req)).named(HELPER).describing(
            move |doc| {
                if let Some(protection) = described.info(doc) {
                    doc.rejects_other_origins(protection);
                }
                described.describe(doc);
            },
        )
    }
}

/// Returns true for safe methods, and for the WebSocket handshake on HTTP/2,
/// which has its own origin check (RFC 8441).
fn is_safe(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS | Method::CONNECT)
}

/// Returns true if every value of `Sec-Fetch-Site` is `same-origin` or `none`.
/// Returns `None` without a value.
fn sites(headers: &HeaderMap) -> Option<bool> {
    let mut sites = headers.get_all(SEC_FETCH_SITE).iter().filter(|site| !site.is_empty());
    let is_own = |site: &HeaderValue| site == "same-origin" || site == "none";
    let first = sites.next()?;
    Some(is_own(first) && sites.all(is_own))
}

fn has_origin(headers: &HeaderMap) -> bool {
    headers.get_all(ORIGIN).iter().any(|origin| !origin.is_empty())
}

/// Returns true if the origin has the host and port of the request. The scheme
/// is unknown here. This only affects browsers from before 2023, because later
/// ones send `Sec-Fetch-Site`.
fn is_host_of(origin: &HeaderValue, req: &Request) -> bool {
    let authority = req.uri().authority().map(|authority| authority.as_str().as_bytes());
    let host = authority.or_else(|| req.headers().get(HOST).map(HeaderValue::as_bytes));
    let origin = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
    host.zip(origin).is_some_and(|(host, (_, of_origin))| {
        !host.is_empty() && of_origin.as_bytes().eq_ignore_ascii_case(host)
    })
}

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const HELPER: &str = "with_cross_origin_protection";
const MESSAGE: &str = "Cross-origin request";

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks a request to `example.com` with these headers, separated by
    /// spaces.
    #[track_caller]
    fn check(method: &str, headers: &str, passes: bool) {
        let mut request = http::Request::builder().method(method).uri("/x");
        request = request.header("host", "example.com");
        for header in headers.split(' ').filter(|header| !header.is_empty()) {
            let (name, value) = header.split_once('=').unwrap();
            request = request.header(name, value);
        }
        let guard = with_cross_origin_protection().trust("https://app.example:8443");
        let outcome = guard.check(&Request::from(request.body(()).unwrap()));
        assert_eq!(outcome.is_ok(), passes, "{method} {headers}");
    }

    #[test]
    fn sec_fetch_site_decides() {
        check("POST", "sec-fetch-site=same-origin", true);
        check("POST", "sec-fetch-site=none", true);
        check("POST", "sec-fetch-site=cross-site", false);
        check("POST", "sec-fetch-site=same-site", false);
        check("POST", "sec-fetch-site=Same-Origin", false);
        check("POST", "sec-fetch-site=anything", false);
        check("POST", "sec-fetch-site=same-origin sec-fetch-site=cross-site", false);
        check("POST", "sec-fetch-site=cross-site sec-fetch-site=none", false);
        // The host of the origin does not matter then.
        check("POST", "sec-fetch-site=same-origin origin=null", true);
        check("POST", "sec-fetch-site=cross-site origin=https://example.com", false);
    }

    #[test]
    fn origin_host_decides_without_sec_fetch_site() {
        check("POST", "", true);
        check("POST", "origin=https://example.com", true);
        check("POST", "origin=http://Example.com", true);
        check("POST", "origin=https://example.com:444", false);
        check("POST", "origin=https://evil.example", false);
        check("POST", "origin=https://example.com.evil.example", false);
        check("POST", "origin=null", false);
        check("POST", "origin=example.com", false);
        check("POST", "origin=https://", false);
        check("POST", "origin=https://example.com origin=https://example.com", false);
        check("POST", "sec-fetch-site= origin=https://evil.example", false);
        check("POST", "sec-fetch-site= origin=", true);
    }

    #[test]
    fn safe_methods_pass() {
        for method in ["GET", "HEAD", "OPTIONS", "CONNECT"] {
            check(method, "sec-fetch-site=cross-site origin=https://evil.example", true);
        }
        for method in ["POST", "PUT", "PATCH", "DELETE", "QUERY", "TRACE", "post"] {
            check(method, "sec-fetch-site=cross-site", false);
            check(method, "origin=https://evil.example", false);
        }
    }

    #[test]
    fn a_trusted_origin_passes() {
        check("POST", "origin=https://app.example:8443", true);
        check("POST", "sec-fetch-site=cross-site origin=https://app.example:8443", true);
        check("POST", "sec-fetch-site=cross-site origin=https://app.example", false);
        check("POST", "sec-fetch-site=cross-site origin=https://App.example:8443", false);
    }

    #[test]
    fn the_authority_of_the_target_is_its_host() {
        let request = http::Request::post("https://example.com/x");
        let request = request.header("origin", "https://example.com").body(()).unwrap();
        assert!(with_cross_origin_protection().check(&Request::from(request)).is_ok());
        let request = http::Request::post("/x").header("origin", "https://").body(()).unwrap();
        assert!(with_cross_origin_protection().check(&Request::from(request)).is_err());
    }
}
