//! The paths of uploaded files, and the responses with their content.

use http::Method;
use serde_json::Value;
use stockade_routing::map::RouteKind;

use super::hostile_file::HostileFile;
use crate::exchange::Exchange;
use crate::hardening::attack_target::AttackTarget;
use crate::hardening::runner::Runner;
use crate::hardening::tenants::target_of;

/// Returns the paths at which an uploaded file may be: the path of the upload,
/// links of its response, and paths with an id of its response.
pub(super) fn paths_of(
    runner: &Runner<'_>,
    target: &AttackTarget,
    file: &HostileFile,
    exchange: &Exchange,
) -> Vec<String> {
    let mut paths = vec![exchange.asked.target.clone()];
    let links = ["location", "content-location"].iter().filter_map(|name| exchange.header(name));
    paths.extend(links.filter_map(|link| target_of(&link)));
    let mut ids = Vec::new();
    match serde_json::from_slice::<Value>(&exchange.body) {
        Ok(body) => add_texts(&body, 0, &mut paths, &mut ids),
        Err(_) => {
            ids.extend(std::str::from_utf8(&exchange.body).map(|text| text.trim().to_owned()))
        }
    }
    ids.push(file.safe_name.to_owned());
    ids.retain(|id| !id.is_empty() && id.len() <= MAX_ID);
    ids.dedup();
    ids.truncate(MAX_IDS);
    let reads = runner.targets.iter().filter(|read| {
        let is_read = read.shot().method == Method::GET && read.route.kind == RouteKind::Http;
        is_read && !read.route.params.is_empty()
    });
    // Files are usually below the path of their upload.
    let shared = |read: &&AttackTarget| {
        let pairs = read.route.path.split('/').zip(target.route.path.split('/'));
        std::cmp::Reverse(pairs.take_while(|(one, other)| one == other).count())
    };
    let mut reads: Vec<&AttackTarget> = reads.collect();
    reads.sort_by_key(shared);
    for read in reads.into_iter().take(MAX_ROUTES) {
        let last = read.route.params.last().map(|param| &param.name);
        for id in &ids {
            let given = |name: &str| {
                let known = runner.plan().params.get(name).cloned();
                if last.is_some_and(|last| last == name) { Some(id.clone()) } else { known }
            };
            let found = AttackTarget::new(runner.app(), &runner.map, read.index, given);
            paths.extend(found.map(|found| found.path));
        }
    }
    let mut unique = Vec::new();
    paths.retain(|path| {
        !unique.contains(path) && {
            unique.push(path.clone());
            true
        }
    });
    paths
}

/// Adds the links and the possible ids in a response.
fn add_texts(body: &Value, depth: usize, paths: &mut Vec<String>, ids: &mut Vec<String>) {
    match body {
        Value::Object(members) if depth < MAX_DEPTH => {
            members.values().for_each(|member| add_texts(member, depth + 1, paths, ids));
        }
        Value::Array(items) if depth < MAX_DEPTH => {
            items.iter().take(MAX_IDS).for_each(|item| add_texts(item, depth + 1, paths, ids));
        }
        Value::String(text) => match target_of(text) {
            Some(target) => paths.push(target),
            None => ids.push(text.clone()),
        },
        Value::Number(number) => ids.push(number.to_string()),
        _ => {}
    }
}

/// Returns the reason why a browser may run the file in a response.
pub(super) fn fault_of(exchange: &Exchange) -> Option<String> {
    let header = |name: &str| exchange.header(name).unwrap_or_default();
    let content_type = header("content-type").to_ascii_lowercase();
    let media_type = content_type.split(';').next().unwrap_or_default().trim();
    if media_type == "application/json" || media_type.ends_with("+json") {
        return None;
    }
    let disposition = header("content-disposition");
    let is_saved = disposition.trim_start().to_ascii_lowercase().starts_with("attachment");
    let policy = header("content-security-policy");
    let mut directives = policy.split(';').map(str::trim);
    let is_sandboxed = directives
        .any(|it| it.split(' ').next() == Some("sandbox") && !it.contains("allow-scripts"));
    let mut faults = Vec::new();
    if is_active(media_type) && !is_saved && !is_sandboxed {
        faults.push(format!("a browser runs it: its type is {media_type}, and it is shown inline"));
    }
    if !header("x-content-type-options").eq_ignore_ascii_case("nosniff") {
        let shown = if media_type.is_empty() { "no type" } else { media_type };
        faults.push(format!(
            "a browser may guess its type: the response has {shown} and no \
             `X-Content-Type-Options: nosniff`"
        ));
    }
    let name = disposition.to_ascii_lowercase();
    if ["/", "\\..", "..\\", "%2f", "%5c"].iter().any(|part| name.contains(part)) {
        faults.push("the name of the file in `Content-Disposition` has a path".to_owned());
    }
    if parameters(&disposition) > 1 {
        faults.push("the name of the file adds a parameter to `Content-Disposition`".to_owned());
    }
    (!faults.is_empty()).then(|| faults.join("; "))
}

/// Returns true for media types that a browser renders with scripts. A response
/// without a type is rendered if the browser guesses one.
fn is_active(media_type: &str) -> bool {
    matches!(media_type, "text/html" | "text/xml" | "application/xml")
        || media_type.ends_with("+xml")
}

/// Returns the number of `filename` parameters outside of quotes.
fn parameters(disposition: &str) -> usize {
    let (mut plain, mut is_quoted) = (String::new(), false);
    let mut chars = disposition.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' if is_quoted => drop(chars.next()),
            '"' => is_quoted = !is_quoted,
            c if !is_quoted => plain.push(c.to_ascii_lowercase()),
            _ => {}
        }
    }
    plain.matches("filename=").count()
}

/// The maximum depth of a response.
const MAX_DEPTH: usize = 6;

/// The maximum number of ids of one response.
const MAX_IDS: usize = 8;

/// The maximum length of an id, in bytes.
const MAX_ID: usize = 200;

/// The maximum number of routes on which each id is tried.
const MAX_ROUTES: usize = 30;

#[cfg(test)]
mod tests {
    use std::panic::Location;
    use std::sync::Arc;

    use bytes::Bytes;
    use http::{HeaderMap, HeaderName, StatusCode};

    use super::*;
    use crate::shot::Shot;

    fn fault(headers: &[(&str, &str)]) -> Option<String> {
        let pairs = headers.iter().map(|(name, value)| {
            (HeaderName::from_bytes(name.as_bytes()).unwrap(), value.parse().unwrap())
        });
        fault_of(&Exchange {
            asked: Arc::new(Shot::new(Method::GET, "/").sent(Location::caller())),
            status: StatusCode::OK,
            headers: HeaderMap::from_iter(pairs),
            body: Bytes::new(),
        })
    }

    #[test]
    fn only_safe_downloads_have_no_fault() {
        const NOSNIFF: (&str, &str) = ("x-content-type-options", "nosniff");
        const HTML: (&str, &str) = ("content-type", "text/html; charset=utf-8");
        const SAVED: (&str, &str) = ("content-disposition", "attachment; filename=\"a.html\"");
        let bytes = ("content-type", "application/octet-stream");
        for headers in [
            &[NOSNIFF, bytes][..],
            &[NOSNIFF, HTML, SAVED],
            &[NOSNIFF, HTML, ("content-security-policy", "default-src 'none'; sandbox")],
            &[("content-type", "application/json")],
            &[NOSNIFF, bytes, ("content-disposition", "attachment; filename=\"a\\\"; filename=\"")],
            &[
                NOSNIFF,
                bytes,
                ("content-disposition", "inline; filename=\"a\"; filename*=UTF-8''a"),
            ],
        ] {
            assert_eq!(fault(headers), None, "{headers:?}");
        }
        #[track_caller]
        fn check(headers: &[(&str, &str)], expected: &str) {
            let found = fault(headers).unwrap();
            assert!(found.contains(expected) && !found.contains("; "), "{found}");
        }
        check(&[NOSNIFF, HTML], "its type is text/html, and it is shown inline");
        let svg = ("content-type", "image/svg+xml");
        check(&[NOSNIFF, svg], "its type is image/svg+xml");
        let scripts = ("content-security-policy", "sandbox allow-scripts");
        check(&[NOSNIFF, svg, scripts], "its type is image/svg+xml");
        check(&[bytes, SAVED], "the response has application/octet-stream and no");
        check(&[], "the response has no type and no");
        let path = ("content-disposition", "attachment; filename=\"../a.html\"");
        check(&[NOSNIFF, bytes, path], "has a path");
        let two = ("content-disposition", "attachment; filename=\"a\"; filename=\"b.svg\"");
        check(&[NOSNIFF, bytes, two], "adds a parameter");
    }
}
