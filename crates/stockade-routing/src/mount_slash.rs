//! The slash after the path of a mount. Redirects that add a slash get the path
//! of the mount, and a page at the mount itself becomes a redirect to the path
//! with a slash.
//!
//! A service such as `ServeDir` only sees the path below its mount. Its
//! redirects would lead out of the mount, and the relative links of its start
//! page would resolve against the parent folder.

use http::{HeaderMap, HeaderValue, Method, Uri, header};
use stockade_core::{HttpBody, Response};

/// A request to a mounted service.
pub(crate) struct MountTarget {
    /// The target that the client sent, or if it is unknown, the target in this
    /// application.
    client: Uri,
    /// The target that the service sees.
    inner: Uri,
    is_read: bool,
}

impl MountTarget {
    /// Creates the target. `own` is the target in this application, and
    /// `original` is the target that an outer mount or another host received.
    pub(crate) fn new(method: &Method, own: &Uri, original: &Uri, inner: &Uri) -> Self {
        let client = client_target(own, original);
        let is_read = matches!(*method, Method::GET | Method::HEAD);
        Self { client: client.clone(), inner: inner.clone(), is_read }
    }

    /// Corrects the response of the service.
    pub(crate) fn correct(&self, response: &mut Response) {
        let status = response.status();
        if status.is_redirection() {
            if let Some(location) = response.headers().get(header::LOCATION)
                && self.only_appends_slash(location)
                && let Some(location) = self.with_slash()
            {
                response.headers_mut().insert(header::LOCATION, location);
            }
        } else if self.is_read
            && status.is_success()
            && self.inner.path() == "/"
            && !self.client.path().ends_with('/')
            && is_html(response.headers())
            && let Some(location) = self.with_slash()
        {
            redirect(response, location);
        }
    }

    /// Returns true if a location is the target that the service sees, with a
    /// slash at the end of its path.
    fn only_appends_slash(&self, location: &HeaderValue) -> bool {
        let Ok(location) = Uri::try_from(location.as_bytes()) else { return false };
        let path = location.path().strip_suffix('/');
        path == Some(self.inner.path())
            && location.query() == self.inner.query()
            // HTTP/2 has absolute targets.
            && location.scheme().is_none_or(|scheme| Some(scheme) == self.inner.scheme())
            && location.authority().is_none_or(|host| Some(host) == self.inner.authority())
    }

    /// Returns the path and query of the client, with a trailing slash after
    /// the path. Returns `None` if browsers would read the beginning as a host
    /// name.
    fn with_slash(&self) -> Option<HeaderValue> {
        let path = self.client.path();
        let after = path.strip_prefix('/')?;
        if after.starts_with(['/', '\\']) {
            return None;
        }
        let location = match self.client.query() {
            Some(query) => format!("{path}/?{query}"),
            None => format!("{path}/"),
        };
        HeaderValue::try_from(location).ok()
    }
}

/// Returns the target that the client sent, or if it is unknown, the target in
/// this application. `original` is the target that an outer mount or another
/// host received.
pub(crate) fn client_target<'u>(own: &'u Uri, original: &'u Uri) -> &'u Uri {
    // If a layer has changed the path, the original target does not help.
    if is_below(original.path(), own.path()) { original } else { own }
}

/// Returns true if `own` is the end of a path after the removal of a prefix.
/// Hosts convert their prefix itself to `/`.
fn is_below(original: &str, own: &str) -> bool {
    own == "/" || original.ends_with(own)
}

fn is_html(headers: &HeaderMap) -> bool {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = content_type.and_then(|text| text.split(';').next()).map(str::trim);
    essence.is_some_and(|essence| {
        ["text/html", "application/xhtml+xml"].iter().any(|it| essence.eq_ignore_ascii_case(it))
    })
}

/// Replaces a page by a redirect. Keeps `Vary`, because the page may depend on
/// the request.
fn redirect(response: &mut Response, location: HeaderValue) {
    let vary: Vec<HeaderValue> = response.headers().get_all(header::VARY).iter().cloned().collect();
    let mut redirect = Response::new(HttpBody::empty());
    *redirect.status_mut() = http::StatusCode::PERMANENT_REDIRECT;
    redirect.headers_mut().insert(header::LOCATION, location);
    for value in vary {
        redirect.headers_mut().append(header::VARY, value);
    }
    *response = redirect;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(original: &str, own: &str, inner: &str) -> MountTarget {
        let uri = |text: &str| text.parse::<Uri>().unwrap();
        MountTarget::new(&Method::GET, &uri(own), &uri(original), &uri(inner))
    }

    /// Checks the location after the correction.
    #[track_caller]
    fn check(target: &MountTarget, status: u16, location: &str, expected: &str) {
        let mut response = Response::new(HttpBody::empty());
        *response.status_mut() = http::StatusCode::from_u16(status).unwrap();
        response.headers_mut().insert(header::LOCATION, location.parse().unwrap());
        target.correct(&mut response);
        assert_eq!(response.headers()[header::LOCATION], expected, "{location}");
    }

    #[test]
    fn a_redirect_that_appends_a_slash_stays_in_the_mount() {
        let css = target("/a/css?x=1", "/a/css?x=1", "/css?x=1");
        for status in [301, 302, 303, 307, 308] {
            check(&css, status, "/css/?x=1", "/a/css/?x=1");
        }
        let outer = target("/v1/a/css", "/a/css", "/css");
        check(&outer, 307, "/css/", "/v1/a/css/");
        let http2 =
            target("https://a.example/a/css", "https://a.example/a/css", "https://a.example/css");
        check(&http2, 307, "https://a.example/css/", "/a/css/");
        check(&http2, 307, "/css/", "/a/css/");
    }

    #[test]
    fn other_redirects_stay_unchanged() {
        let css = target("/a/css?x=1", "/a/css?x=1", "/css?x=1");
        for location in [
            "/css/",
            "/css/?x=2",
            "/css?x=1",
            "/css//?x=1",
            "/a/css/?x=1",
            "/login",
            "css/?x=1",
            "//css/?x=1",
            "https://evil.example/css/?x=1",
            "https://a.example/css/?x=1",
            "/%63ss/?x=1",
        ] {
            check(&css, 307, location, location);
        }
        // It is not a redirect.
        check(&css, 201, "/css/?x=1", "/css/?x=1");
    }

    #[test]
    fn no_redirect_leads_to_another_host() {
        for path in ["//evil.example", "/\\evil.example"] {
            check(&target(path, path, "/"), 307, "//", "//");
            let mut page = Response::new("<p>".into());
            page.headers_mut().insert(header::CONTENT_TYPE, "text/html".parse().unwrap());
            target(path, path, "/").correct(&mut page);
            assert_eq!(page.status(), 200, "{path}");
        }
        check(&target("/\\evil/css", "/\\evil/css", "/css"), 307, "/css/", "/css/");
    }

    #[test]
    fn an_unrelated_original_is_ignored() {
        check(&target("/other", "/a/css", "/css"), 307, "/css/", "/a/css/");
    }
}
