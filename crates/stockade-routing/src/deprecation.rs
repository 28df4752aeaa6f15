//! The response headers of deprecated routes.
//!
//! Source: RFC 9745 (`Deprecation`); RFC 8594 (`Sunset`).

use std::time::SystemTime;

use http::{HeaderName, HeaderValue};
use stockade_core::description::HeaderDoc;
use stockade_core::{Middleware, Next, Request, RouteDescription, RouteDocs};

/// Returns the middleware that sends the dates of a route, or `None` if it does
/// not have any. Only deprecated routes pay for it.
pub(crate) fn announcing(docs: &RouteDocs) -> Option<Middleware> {
    let (since, end) = docs.dates();
    // A date in a header is in whole seconds.
    let since = since.and_then(|since| since.duration_since(SystemTime::UNIX_EPOCH).ok());
    let since = since.map(|since| {
        let header = HeaderDoc::new("Deprecation", "The time since which the route is deprecated");
        (HeaderName::from_static("deprecation"), format!("@{}", since.as_secs()), header)
    });
    let end = end.map(|end| {
        let header = HeaderDoc::new("Sunset", "The time after which the route may be removed");
        (HeaderName::from_static("sunset"), httpdate::fmt_http_date(end), header)
    });
    let mut headers: Vec<(HeaderName, HeaderValue)> = Vec::new();
    let mut descriptions = Vec::new();
    for (name, value, description) in since.into_iter().chain(end) {
        // Both dates are ASCII, so they are valid header values.
        headers.extend(HeaderValue::try_from(value).ok().map(|value| (name, value)));
        descriptions.push(description);
    }
    if headers.is_empty() {
        return None;
    }
    let add = move |req: Request, next: Next| {
        let headers = headers.clone();
        async move {
            let mut response = next.run(req).await;
            response.headers_mut().extend(headers);
            response
        }
    };
    let describe = move |doc: &mut RouteDescription| {
        descriptions.iter().for_each(|header| doc.adds_header(header.clone(), None));
    };
    Some(Middleware::new(add).named("deprecation").describing(describe))
}
