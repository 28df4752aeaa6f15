//! [`Guard`]: rejects requests of other pages before authentication, and tells
//! agents where to log in.
//!
//! A page can reach a local server under its own name by DNS rebinding, and
//! `Origin` and `Host` are then equal. So `Origin` is compared with a list.

use std::net::IpAddr;
use std::sync::Arc;

use http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use stockade_core::{Middleware, Next, Request, Response, RouteDescription};
use stockade_errors::ApiError;
use stockade_map::CrossOriginInfo;

use crate::era;

/// The rules for requests to the endpoint before its other middleware.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guard {
    /// The origins of pages; `None` for the origins that CORS lists.
    pub(crate) origins: Option<Vec<String>>,
    /// The URL of the document with the authorization servers, if there are
    /// some.
    pub(crate) metadata: Option<String>,
}

impl Guard {
    pub(crate) fn into_middleware(self) -> Middleware {
        let guard = Arc::new(self);
        let described = Arc::clone(&guard);
        let around = move |req: Request, next: Next| {
            let guard = Arc::clone(&guard);
            async move { guard.run(req, next).await }
        };
        Middleware::new(around).named("mcp_origin").describing(move |doc| described.describe(doc))
    }

    async fn run(&self, req: Request, next: Next) -> Result<Response, ApiError> {
        if !self.allows(&req) {
            return Err(ApiError::new(403, "A page of another origin sent the request"));
        }
        let outcome = next.try_run(req).await;
        let Some(url) = &self.metadata else { return outcome };
        match outcome {
            Ok(mut response) => {
                if response.status() == StatusCode::UNAUTHORIZED {
                    add_challenge(response.headers_mut(), url);
                }
                Ok(response)
            }
            Err(error) if error.status() == 401 => Err(challenged(error, url)),
            Err(error) => Err(error),
        }
    }

    fn allows(&self, req: &Request) -> bool {
        let mut origins = req.headers().get_all(header::ORIGIN).iter();
        let Some(origin) = origins.next() else { return true };
        if origins.next().is_some() {
            return false;
        }
        let is_listed = match &self.origins {
            Some(known) => known.iter().any(|known| known.as_bytes() == origin.as_bytes()),
            None => req.has_listed_origin(),
        };
        is_listed || is_local_page(origin) && is_local(req)
    }

    fn describe(&self, doc: &mut RouteDescription) {
        doc.reads_header("Origin", false);
        doc.guards_origin();
        doc.rejects_other_origins(CrossOriginInfo::new(self.origins.iter().flatten()));
        doc.may_respond(403, "A page of another origin sent the request");
        // Pages of listed origins may send them.
        for name in [era::VERSION, era::METHOD, era::NAME] {
            doc.reads_header(era::shown(&name), false);
        }
    }
}

/// Returns true for a request from the local machine to a local name.
fn is_local(req: &Request) -> bool {
    let peer = req.peer().map(|peer| peer.0.ip().to_canonical());
    let is_near = |ip: Option<IpAddr>| ip.is_some_and(|ip| ip.is_loopback());
    // Behind a proxy on the local machine, only the peer is near.
    is_near(peer) && is_near(req.client_ip()) && is_local_host(req)
}

fn is_local_host(req: &Request) -> bool {
    let mut hosts = req.headers().get_all(header::HOST).iter();
    let host = hosts.next().map(|host| host.to_str().ok().and_then(host_of));
    if hosts.next().is_some() {
        return false;
    }
    let of_target = req.uri().authority().map(|authority| host_of(authority.as_str()));
    let mut hosts = host.into_iter().chain(of_target).peekable();
    hosts.peek().is_some() && hosts.all(|host| host.is_some_and(is_loopback))
}

/// Returns the host of `host:port`.
fn host_of(authority: &str) -> Option<&str> {
    let parsed = authority.parse::<http::uri::Authority>().ok()?;
    // User information is not valid in `Host`, and could hide the real host.
    let host = authority.get(..parsed.host().len())?;
    (host == parsed.host()).then_some(host)
}

/// Returns true for the origin of a page that the local machine serves.
fn is_local_page(origin: &HeaderValue) -> bool {
    let uri = origin.to_str().ok().and_then(|origin| origin.parse::<Uri>().ok());
    uri.is_some_and(|uri| {
        let is_web = matches!(uri.scheme_str(), Some("http" | "https"));
        is_web && uri.authority().and_then(|it| host_of(it.as_str())).is_some_and(is_loopback)
    })
}

/// Returns true for a name or an address of the local machine.
pub(crate) fn is_loopback(host: &str) -> bool {
    let address = host.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(host);
    host.eq_ignore_ascii_case("localhost")
        || address.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Adds the URL of the document to the challenge of a response.
///
/// Source: RFC 9728, section 5.1.
fn add_challenge(headers: &mut HeaderMap, url: &str) {
    let known = headers.get_all(header::WWW_AUTHENTICATE).iter();
    let known: Vec<String> = known.filter_map(|it| Some(it.to_str().ok()?.to_owned())).collect();
    headers.remove(header::WWW_AUTHENTICATE);
    for challenge in with_metadata(&known, url) {
        if let Ok(value) = HeaderValue::try_from(challenge) {
            headers.append(header::WWW_AUTHENTICATE, value);
        }
    }
}

/// Adds the URL of the document to the challenge of an error.
#[cold]
fn challenged(error: ApiError, url: &str) -> ApiError {
    let known: Vec<String> = error
        .headers()
        .filter(|(name, _)| name.eq_ignore_ascii_case(WWW_AUTHENTICATE))
        .map(|(_, value)| value.to_owned())
        .collect();
    let error = error.without_header(WWW_AUTHENTICATE);
    let challenges = with_metadata(&known, url).into_iter();
    challenges.fold(error, |error, challenge| error.with_header(WWW_AUTHENTICATE, challenge))
}

/// Returns the challenges with the URL in the first `Bearer` challenge, which is
/// added if it is missing.
fn with_metadata(challenges: &[String], url: &str) -> Vec<String> {
    let parameter = format!("resource_metadata=\"{url}\"");
    let is_bearer = |text: &String| {
        let scheme = text.split(' ').next().unwrap_or_default();
        scheme.eq_ignore_ascii_case("bearer")
    };
    let mut challenges = challenges.to_vec();
    match challenges.iter_mut().find(|text| is_bearer(text)) {
        Some(bearer) if bearer.contains(' ') => *bearer = format!("{bearer}, {parameter}"),
        Some(bearer) => *bearer = format!("{bearer} {parameter}"),
        None => challenges.insert(0, format!("Bearer {parameter}")),
    }
    challenges
}

const WWW_AUTHENTICATE: &str = "www-authenticate";

#[cfg(test)]
mod tests {
    use stockade_core::PeerAddr;

    use super::*;

    fn request(peer: &str, headers: &[(&str, &str)]) -> Request {
        let mut request = http::Request::post("/mcp");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = Request::from(request.body(()).unwrap());
        request.with_peer(PeerAddr(format!("{peer}:9").parse().unwrap()))
    }

    #[track_caller]
    fn check(origin: &str, host: &str, peer: &str, expected: bool) {
        let origins = vec!["https://app.example".to_owned()];
        let guard = Guard { origins: Some(origins), metadata: None };
        let req = request(peer, &[("host", host), ("origin", origin)]);
        assert_eq!(guard.allows(&req), expected, "{origin} {host} {peer}");
    }

    #[test]
    fn only_listed_pages_and_local_pages_are_allowed() {
        check("https://app.example", "api.example", "192.0.2.1", true);
        check("https://app.example.evil.test", "api.example", "192.0.2.1", false);
        check("https://api.example", "api.example", "192.0.2.1", false);
        check("http://evil.test", "evil.test", "127.0.0.1", false);
        check("http://localhost:5173", "localhost:3000", "127.0.0.1", true);
        check("http://127.0.0.1:5173", "[::1]:3000", "127.0.0.1", true);
        check("http://[::1]:5173", "127.0.0.9", "127.0.0.1", true);
        check("http://localhost:5173", "evil.test", "127.0.0.1", false);
        check("http://localhost:5173", "localhost@evil.test", "127.0.0.1", false);
        check("http://localhost:5173", "localhost", "192.0.2.1", false);
        check("http://localhost.evil.test", "localhost", "127.0.0.1", false);
        check("http://localhost@evil.test", "localhost", "127.0.0.1", false);
        check("http://127.0.0.1.evil.test", "localhost", "127.0.0.1", false);
        check("file://localhost", "localhost", "127.0.0.1", false);
        check("null", "localhost", "127.0.0.1", false);
        check("", "localhost", "127.0.0.1", false);
    }

    #[test]
    fn a_request_has_at_most_one_origin() {
        let guard = Guard { origins: Some(vec!["https://a.test".into()]), metadata: None };
        assert!(guard.allows(&request("192.0.2.1", &[])));
        let two = [("origin", "https://a.test"), ("origin", "https://a.test")];
        assert!(!guard.allows(&request("192.0.2.1", &two)));
    }

    #[test]
    fn a_local_proxy_does_not_make_its_clients_local() {
        let local = [("host", "localhost"), ("origin", "http://localhost:1")];
        let mut req = request("127.0.0.1", &local);
        assert!(Guard::default().allows(&req));
        req.set_client_ip(Some("203.0.113.7".parse().unwrap()));
        assert!(!Guard::default().allows(&req));
    }

    #[test]
    fn the_challenge_has_the_url_of_the_document() {
        #[track_caller]
        fn check(challenges: &[&str], expected: &[&str]) {
            let challenges: Vec<String> = challenges.iter().map(|&it| it.to_owned()).collect();
            assert_eq!(with_metadata(&challenges, "https://a/x"), expected);
        }
        check(&["Bearer"], &["Bearer resource_metadata=\"https://a/x\""]);
        check(
            &["Basic realm=\"a\"", "bearer error=\"invalid_token\""],
            &[
                "Basic realm=\"a\"",
                "bearer error=\"invalid_token\", resource_metadata=\"https://a/x\"",
            ],
        );
        check(&["ApiKey"], &["Bearer resource_metadata=\"https://a/x\"", "ApiKey"]);
        check(&[], &["Bearer resource_metadata=\"https://a/x\""]);
    }
}
