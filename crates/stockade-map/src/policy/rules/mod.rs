//! The built-in rules.

mod access;
pub(super) mod authentication;
mod configuration;
mod data;
mod documents;
mod exposure;
mod limits;
mod pages;
mod passwords;
mod retries;
mod secrets;
mod texts;
mod tools;
mod uploads;
mod webhooks;

use std::collections::BTreeMap;

use serde_json::Value;

use super::finding::Finding;
use super::rule::{BuiltIn, all_routes};
use crate::schemas::PLACE as SCHEMAS;
use crate::{RouteInfo, RouteMap};

/// The rules of `Policy::recommended`.
pub(super) const RECOMMENDED: &[BuiltIn] = &[
    access::ACCESS_DECLARED,
    access::USER_BEFORE_GUARD,
    access::MUTATING_NEEDS_USER,
    access::MIDDLEWARE_OPAQUE_GUARD,
    webhooks::WEBHOOKS_SIGNED,
    tools::TOOL_WRITE_NEEDS_USER,
    limits::BODY_BOUNDED,
    limits::RATE_LIMITED,
    exposure::WILDCARD_EXPOSED,
    exposure::CORS_OPEN_WITH_USER,
    exposure::WS_ORIGIN_OPEN,
    exposure::ERRORS_HIDDEN,
    authentication::COOKIES_STRICT,
    authentication::SESSIONS_BOUNDED,
    authentication::CROSS_ORIGIN_PROTECTED,
    configuration::CORS_DEVELOPMENT_ORIGIN,
    configuration::PROXIES_KNOWN,
    configuration::SECRETS_LONG,
];

/// The rules that `Policy::strict` adds.
pub(super) const STRICT: &[BuiltIn] = &[
    data::STRINGS_BOUNDED,
    data::ARRAYS_BOUNDED,
    data::NUMBERS_BOUNDED,
    pages::PAGES_BOUNDED,
    data::REPLIES_BOUNDED,
    limits::TIME_BOUNDED,
    documents::RESPONSE_SCHEMA,
    documents::ERRORS_TYPED,
    documents::OPERATION_NAMED,
    documents::SUMMARY,
    documents::DEPRECATED_HAS_SUNSET,
    access::NO_BASIC,
    passwords::PASSWORDS_LIMITED,
    passwords::PASSWORDS_COSTLY,
    secrets::SECRETS_UNCACHED,
    texts::NAMES_VISIBLE,
    texts::LINKS_SAFE,
    retries::KEYS_HOLD,
    retries::KEYS_TOLD_APART,
    access::GET_WITHOUT_EFFECTS,
    authentication::TOKENS_SHORT,
    authentication::REVOCATIONS_CHECKED,
    uploads::UPLOADS_DOWNLOADED,
    tools::TOOL_HINTS_LOOSENED,
];

/// Returns the findings of `find` for each route and the fallback.
fn each(map: &RouteMap, find: impl Fn(&RouteInfo) -> Option<Finding>) -> Vec<Finding> {
    all_routes(map).filter_map(find).collect()
}

/// Returns the target of a reference: one of `schemas`, or a part of `root`.
pub(super) fn referred<'s>(
    schemas: &'s BTreeMap<String, Value>,
    root: &'s Value,
    reference: &str,
) -> Option<&'s Value> {
    match reference.strip_prefix(SCHEMAS) {
        Some(name) => schemas.get(name),
        None => root.pointer(reference.strip_prefix('#')?),
    }
}

/// Returns the first of these routes and the number of the rest: `GET /me and 3
/// others`.
fn counted(routes: &[&RouteInfo]) -> String {
    let first = routes.first().map(|route| route.label()).unwrap_or_default();
    match routes.len().saturating_sub(1) {
        0 => first,
        1 => format!("{first} and one other"),
        others => format!("{first} and {others} others"),
    }
}

/// Returns the words of a path or a name in lower case, without the names of
/// parameters: `users`, `delete`, `all` for `/users/:id/deleteAll`.
fn words(text: &str) -> Vec<String> {
    let segments = text.split('/').filter(|segment| !segment.starts_with([':', '*']));
    let mut words = vec![String::new()];
    for c in segments.collect::<Vec<_>>().join("/").chars() {
        if !c.is_alphanumeric() || c.is_uppercase() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
    }
    words
}
