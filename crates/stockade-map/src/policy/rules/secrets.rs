//! The rule about responses with a secret, which a cache would store.

use super::super::finding::Finding;
use super::super::rule::BuiltIn;
use super::super::secrets::secret_fields;
use super::each;
use crate::{BodyDoc, HeaderDoc, ResponseInfo, RouteInfo, RouteMap};

pub(super) const SECRETS_UNCACHED: BuiltIn = BuiltIn {
    id: "secrets-uncached",
    text: "no cache stores a response with a token, a password or another secret",
    owasp: "API8",
    find: |map| {
        if map.router.is_hosted || says_no_store(map) {
            return Vec::new();
        }
        each(map, |route| {
            let place = stored_secret(map, route)?;
            let message =
                format!("its response contains a secret ({place}), but a cache may store it");
            let mend = "send `Cache-Control: no-store`: `.security_headers(SecurityHeaders::new()\
                        .no_store())` for all routes";
            Some(Finding::on(route, message).mend(mend))
        })
    },
};

/// Returns true if the router sends `no-store` to caches.
fn says_no_store(map: &RouteMap) -> bool {
    let is_cache_control = |name: &str| name.eq_ignore_ascii_case("cache-control");
    let mut headers = map.router.security_headers.iter();
    headers.any(|(name, value)| {
        is_cache_control(name) && value.to_ascii_lowercase().contains("no-store")
    })
}

/// Returns the place of the first secret in a response without a directive for
/// caches.
fn stored_secret(map: &RouteMap, route: &RouteInfo) -> Option<String> {
    let is_open = |answer: &&ResponseInfo| {
        let is_said =
            |header: &HeaderDoc| header.always && header.name.eq_ignore_ascii_case("cache-control");
        !answer.headers.iter().any(is_said)
    };
    let contents = route.answers.iter().filter(is_open).flat_map(|answer| match &answer.body {
        BodyDoc::Content(contents) => contents.as_slice(),
        _ => &[],
    });
    contents
        .flat_map(|it| secret_fields(&map.schemas, &it.schema, "body", map.policy.as_ref()))
        .next()
}
