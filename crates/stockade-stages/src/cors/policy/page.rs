//! [`PageNames`]: the CORS headers that follow from a route's description.

use http::{HeaderName, HeaderValue};
use stockade_core::description::DescribedRoute;
use stockade_core::page_headers::PageHeaders;
use stockade_map::SchemeInfo;

use super::{ALLOWED, EXPOSED, with_legacy};

/// The names of a route's headers that other origins may use, in addition to
/// the default lists.
#[derive(Clone, Debug, Default)]
pub struct PageNames {
    sent: Vec<String>,
    documented: Vec<String>,
}

impl PageNames {
    /// Returns the names in the description of a route.
    #[must_use]
    pub fn of(facts: &DescribedRoute) -> Self {
        let sent = sent(facts).filter(|name| may_send(name));
        let documented = documented(facts).filter(|name| may_read(name));
        Self { sent: others(ALLOWED, sent), documented: others(EXPOSED, documented) }
    }

    /// Adds the request headers that a JSON-RPC method of the route reads.
    pub fn add_call(&mut self, call: &Self) {
        self.sent = merged(&self.sent, &call.sent);
    }

    /// Adds the headers that every route of a router reads and documents.
    pub fn add_common(&mut self, common: &Self) {
        self.sent = merged(&self.sent, &common.sent);
        self.documented = merged(&self.documented, &common.documented);
    }

    /// Returns the values of the CORS headers, or `None` for a route without
    /// names.
    #[must_use]
    pub fn headers(&self) -> Option<PageHeaders> {
        let allowed = list(ALLOWED, &self.sent);
        let exposed = list(EXPOSED, &self.documented);
        let exposed_with_legacy = exposed.as_ref().and_then(with_legacy);
        let has_own = allowed.is_some() || exposed.is_some();
        has_own.then_some(PageHeaders { allowed, exposed, exposed_with_legacy, number: 0 })
    }
}

/// Returns the request headers that a route reads.
fn sent(facts: &DescribedRoute) -> impl Iterator<Item = &str> {
    let schemes = facts.earlier_schemes.iter().chain(&facts.route.access.schemes);
    let keys = schemes.filter_map(|scheme| match scheme {
        SchemeInfo::Header { header, .. } => Some(header.as_str()),
        _ => None,
    });
    keys.chain(facts.route.headers.iter().map(|read| read.name.as_str()))
}

/// Returns the response headers that a route documents.
fn documented(facts: &DescribedRoute) -> impl Iterator<Item = &str> {
    let own = facts.answers.iter().flat_map(|answer| &answer.headers);
    let added = facts.added_headers.iter().map(|added| &added.header);
    own.chain(added).map(|header| &*header.name)
}

/// Returns the names that are not yet in a list, without duplicates. Invalid
/// names are skipped.
fn others<'n>(usual: &str, names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let mut others: Vec<String> = Vec::new();
    for name in names.filter(|name| is_name(name)) {
        let mut known = usual.split(", ").chain(others.iter().map(String::as_str));
        if !known.any(|known| known.eq_ignore_ascii_case(name)) {
            others.push(name.to_owned());
        }
    }
    others
}

/// Returns true for a header name. `*` would mean every header.
fn is_name(text: &str) -> bool {
    text != "*" && HeaderName::try_from(text).is_ok()
}

/// Returns a list with additional names, or `None` if there are none.
fn list(usual: &str, others: &[String]) -> Option<HeaderValue> {
    let text = others.iter().fold(usual.to_owned(), |list, name| format!("{list}, {name}"));
    (!others.is_empty()).then(|| HeaderValue::try_from(text).ok())?
}

/// Returns the names of both lists without duplicates.
fn merged(names: &[String], more: &[String]) -> Vec<String> {
    others("", names.iter().chain(more).map(String::as_str))
}

/// Returns true if a script can send a header and needs permission for it. A
/// script does not need permission for the usual values of `Accept` and
/// `Accept-Language`.
///
/// Source: Fetch, "CORS-safelisted request-header" and "forbidden
/// request-header".
fn may_send(name: &str) -> bool {
    const SAFELISTED: [&str; 3] = ["accept", "accept-language", "content-language"];
    const FORBIDDEN: [&str; 19] = [
        "accept-charset",
        "accept-encoding",
        "connection",
        "content-length",
        "cookie",
        "cookie2",
        "date",
        "dnt",
        "expect",
        "host",
        "keep-alive",
        "origin",
        "referer",
        "set-cookie",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "via",
    ];
    const FORBIDDEN_PREFIXES: [&str; 3] = ["access-control-request-", "proxy-", "sec-"];
    let name = name.to_ascii_lowercase();
    let has_prefix = FORBIDDEN_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    !has_prefix && !SAFELISTED.contains(&&*name) && !FORBIDDEN.contains(&&*name)
}

/// Returns true if a header is useful to a script and needs permission. The
/// older rate limit headers are excluded here: only responses that contain them
/// expose them.
///
/// Source: Fetch, "CORS-safelisted response-header name" and "forbidden
/// response-header name".
fn may_read(name: &str) -> bool {
    const SAFELISTED: [&str; 7] = [
        "cache-control",
        "content-language",
        "content-length",
        "content-type",
        "expires",
        "last-modified",
        "pragma",
    ];
    const FORBIDDEN: [&str; 2] = ["set-cookie", "set-cookie2"];
    // These headers are for caches and connections.
    const USELESS: [&str; 4] = ["connection", "transfer-encoding", "upgrade", "vary"];
    const USELESS_PREFIXES: [&str; 3] = ["access-control-", "sec-", "x-ratelimit-"];
    let name = name.to_ascii_lowercase();
    let has_prefix = USELESS_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    let lists = [&SAFELISTED[..], &FORBIDDEN, &USELESS];
    !has_prefix && !lists.iter().any(|list| list.contains(&&*name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(may_use: fn(&str) -> bool, allowed: &[&str], others: &[&str]) {
        allowed.iter().for_each(|name| assert!(may_use(name), "{name}"));
        others.iter().for_each(|name| assert!(!may_use(name), "{name}"));
    }

    #[test]
    fn lists_only_headers_that_need_permission() {
        check(
            may_send,
            &["Authorization", "If-Match", "Last-Event-ID", "Prefer", "Range", "X-Api-Key", "Vary"],
            &["ACCEPT", "Accept-Language", "Cookie", "dnt", "Host", "Proxy-Authorization", "Via"],
        );
        check(
            may_send,
            &[],
            &["Access-Control-Request-Method", "Origin", "Sec-WebSocket-Protocol"],
        );
        check(
            may_read,
            &["Content-Range", "ETag", "Location", "RateLimit", "Server-Timing", "Link"],
            &["Cache-Control", "CONTENT-TYPE", "Expires", "Last-Modified", "Set-Cookie", "Vary"],
        );
        check(may_read, &[], &["Access-Control-Allow-Origin", "Upgrade", "X-RateLimit-Limit"]);
    }

    #[test]
    fn omits_duplicate_and_invalid_names() {
        let names = ["etag", "ETag", "not a name", "", "*", "RETRY-AFTER", "X-A"];
        assert_eq!(others(EXPOSED, names.into_iter()), ["etag", "X-A"]);
        let mut page = PageNames { sent: vec!["X-A".into()], documented: vec![] };
        page.add_call(&PageNames { sent: vec!["x-a".into(), "X-B".into()], ..page.clone() });
        page.add_common(&PageNames { sent: vec!["X-b".into()], documented: vec!["ETag".into()] });
        let headers = page.headers().unwrap();
        assert_eq!(headers.allowed.unwrap(), "Content-Type, Authorization, X-A, X-B");
        let exposed = "RateLimit, RateLimit-Policy, Retry-After, X-Request-Id, ETag";
        assert_eq!(headers.exposed.unwrap(), exposed);
        assert_eq!(PageNames::default().headers(), None);
    }
}
