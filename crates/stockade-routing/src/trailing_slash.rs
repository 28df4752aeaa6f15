//! The other form of a path, with or without a trailing slash, and redirects to
//! the declared path.

use std::borrow::Cow;

use http::{HeaderValue, StatusCode, header};
use stockade_core::{Request, Response};
use stockade_path::encoded;

use crate::mount::OriginalUri;
use crate::mount_slash::client_target;

/// Returns the other form of a path. Returns `None` for `/` and for a path with
/// an empty segment, because clients read a leading `//` as the start of a host
/// name.
pub(crate) fn other_form(path: &str) -> Option<Cow<'_, str>> {
    if path == "/" || !path.starts_with('/') || path.contains("//") {
        return None;
    }
    Some(match path.strip_suffix('/') {
        Some(path) => Cow::Borrowed(path),
        None => Cow::Owned(format!("{path}/")),
    })
}

/// Returns true if a declared path has another form: it is neither the root,
/// nor everything below a path.
pub(crate) fn has_other_form(pattern: &str) -> bool {
    !pattern.ends_with("/**") && other_form(pattern).is_some()
}

/// Returns the address of the other form of a request's path, as the client
/// sees the path. Returns `None` if a browser could read the address as another
/// host.
pub(crate) fn location_of(req: &Request) -> Option<HeaderValue> {
    let own = req.uri();
    let original = req.extensions().get::<OriginalUri>();
    let client = original.map_or(own, |original| client_target(own, &original.0));
    let path = other_form(client.path())?;
    if path.starts_with("/\\") {
        return None;
    }
    let path = encoded(&path);
    let location = match client.query() {
        Some(query) => format!("{path}?{}", encoded(query)),
        None => path.into_owned(),
    };
    HeaderValue::try_from(location).ok()
}

/// Returns a 308, which keeps the method and the body.
pub(crate) fn redirect(location: HeaderValue) -> Response {
    let mut response = Response::default();
    *response.status_mut() = StatusCode::PERMANENT_REDIRECT;
    response.headers_mut().insert(header::LOCATION, location);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_another_form_unless_a_segment_is_empty() {
        for (path, expected) in [
            ("/a", Some("/a/")),
            ("/a/", Some("/a")),
            ("/a/b%2F/", Some("/a/b%2F")),
            ("/", None),
            ("//", None),
            ("//a", None),
            ("//evil.example/", None),
            ("/a//", None),
            ("/a//b", None),
            ("*", None),
            ("", None),
        ] {
            assert_eq!(other_form(path).as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn locations_stay_on_the_host() {
        let location = |original: Option<&str>, own: &str| {
            let mut request = http::Request::get(own);
            if let Some(original) = original {
                request = request.extension(OriginalUri(original.parse().unwrap()));
            }
            let location = location_of(&Request::from(request.body(()).unwrap()));
            location.map_or_else(|| "-".to_owned(), |it| it.to_str().unwrap().to_owned())
        };
        assert_eq!(location(None, "/a/?x=/y"), "/a?x=/y");
        assert_eq!(location(None, "http://evil.example/a/"), "/a");
        assert_eq!(location(None, "/caf%C3%A9/"), "/caf%C3%A9");
        assert_eq!(location(None, "/a/?"), "/a?");
        assert_eq!(location(None, "//evil.example/"), "-");
        assert_eq!(location(None, "/\\evil.example/"), "-");
        assert_eq!(location(Some("/v1/a/?q"), "/a/?q"), "/v1/a?q");
        assert_eq!(location(Some("//v1/a/"), "/a/"), "-");
        assert_eq!(location(Some("/other"), "/a/"), "/a");
    }
}
