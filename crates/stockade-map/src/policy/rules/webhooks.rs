//! The rule about webhooks: requests that another service sends.

use super::super::finding::Finding;
use super::super::rule::BuiltIn;
use super::{each, words};
use crate::{RouteInfo, RouteKind};

/// The largest age of a signature that does not need a reason: one hour.
/// Senders sign each attempt again.
const OLDEST_MS: u64 = 3_600_000;

pub(super) const WEBHOOKS_SIGNED: BuiltIn = BuiltIn {
    id: "webhooks-signed",
    text: "a webhook verifies a signature that is at most one hour old",
    owasp: "API2",
    find: |map| each(map, |route| unsigned(route).or_else(|| old(route))),
};

/// Finds a webhook without authentication. A reason to be public does not
/// suffice, because it does not stop forged requests.
fn unsigned(route: &RouteInfo) -> Option<Finding> {
    let is_open = route.is_open() && route.may_change() && route.kind == RouteKind::Http;
    let texts = route.name.iter().map(String::as_str).chain([route.path.as_str()]);
    let is_webhook = |word: &String| WEBHOOKS.contains(&word.as_str());
    let word = texts.flat_map(words).find(is_webhook).map(|word| format!("its name has {word:?}"));
    let mut headers = route.headers.iter().map(|header| header.name.as_str());
    let mut header = || headers.find(|name| name.to_ascii_lowercase().contains("signature"));
    let sign = word.or_else(|| header().map(|name| format!("it reads the header {name:?}")));
    let sign = sign.filter(|_| is_open)?;
    let message = format!(
        "it seems to be a webhook, because {sign}, but it does not verify a signature: anybody \
         can send it"
    );
    Some(Finding::on(route, message).mend(
        "take `Signed<T, S>` instead of `Body<T>`; if the handler verifies the signature itself, \
         declare it with `doc.verifies_signature(…)` in `FromRequest::describe`",
    ))
}

/// Finds a signature that is valid for too long.
fn old(route: &RouteInfo) -> Option<Finding> {
    let age = route.signature.as_ref()?.max_age_ms.filter(|age| *age > OLDEST_MS)?;
    let message = format!(
        "a signature of its requests is valid for {} minutes, so a recorded request can be sent \
         again",
        age / 60_000
    );
    Some(Finding::on(route, message).mend("lower `WebhookSender::TOLERANCE`"))
}

/// Words that suggest a request of another service.
const WEBHOOKS: [&str; 4] = ["hook", "hooks", "webhook", "webhooks"];
