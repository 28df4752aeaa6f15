//! Headers that helpers add to the responses of the inner handler.

use std::collections::BTreeSet;

use stockade::middleware::idempotency::{Idempotency, MemoryIdempotencyStore};
use stockade::middleware::with_rate_limit;
use stockade::middleware::{
    CorsOptions, RateLimit, with_compression, with_cors, with_etag, with_idempotency,
    with_request_id,
};
use stockade::prelude::*;

use super::{Row, row};

async fn long() -> String {
    "text ".repeat(1_000)
}

/// The part that adds headers, a row, and the headers of its response.
fn cases() -> Vec<(&'static str, Row, &'static [&'static str])> {
    let trace = "GET /x/7\ntraceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let listed = CorsOptions::new(["https://app.example", "https://other.example"]);
    let app = "GET /x/7\norigin: https://app.example";
    let evil = "GET /x/7\norigin: https://evil.example";
    let quota = RateLimit::from(9 / MINUTE);
    let once = with_idempotency(Idempotency::new(MemoryIdempotencyStore::new()));
    let again = row!([once], long, "POST /x/7\nidempotency-key: \"k\"");
    again.send();
    let zipped = "GET /x/7\naccept-encoding: gzip";
    vec![
        ("with_request_id", row!([with_request_id()], long, "GET /x/7"), &["x-request-id"]),
        (
            "with_request_id",
            row!([with_request_id()], long, trace),
            &["x-request-id", "traceparent"],
        ),
        (
            "with_request_id",
            row!([with_request_id().begin_traces(true)], long, "GET /x/7"),
            &["x-request-id", "traceparent"],
        ),
        ("with_etag", row!([with_etag()], long, "GET /x/7"), &["etag"]),
        ("with_etag", row!([with_etag()], long, "POST /x/7"), &[]),
        (
            "with_compression",
            row!([with_compression()], long, zipped),
            &["content-encoding", "vary"],
        ),
        ("with_compression", row!([with_compression()], async || "short", zipped), &[]),
        (
            "with_cors",
            row!([with_cors("*")], long, app),
            &["access-control-allow-origin", "access-control-expose-headers"],
        ),
        (
            "with_cors",
            row!([with_cors(listed.clone())], long, app),
            &[
                "access-control-allow-origin",
                "access-control-allow-credentials",
                "access-control-expose-headers",
                "vary",
            ],
        ),
        ("with_cors", row!([with_cors(listed)], long, evil), &["vary"]),
        ("with_idempotency", again, &["idempotency-replayed"]),
        (
            "with_rate_limit",
            row!([with_rate_limit(quota.clone())], long, "GET /x/7"),
            &["ratelimit", "ratelimit-policy"],
        ),
        (
            "with_rate_limit",
            row!([with_rate_limit(quota.legacy_headers(true))], long, "GET /x/7"),
            &[
                "ratelimit",
                "ratelimit-policy",
                "x-ratelimit-limit",
                "x-ratelimit-remaining",
                "x-ratelimit-reset",
            ],
        ),
    ]
}

/// Returns the parts that have rows here.
pub(super) fn parts() -> Vec<String> {
    cases().into_iter().map(|(part, ..)| part.to_owned()).collect()
}

#[test]
fn headers_match_their_descriptions() {
    for (part, row, expected) in cases() {
        let response = row.send();
        let has = |name: &str| response.header(name).is_some();
        let facts = row.facts();
        let added: Vec<_> = facts.added_headers.iter().filter(|added| added.by == part).collect();
        let place = format!("{part} {}", row.request);
        for name in expected {
            assert!(has(name), "{place}: no {name}");
            let is_told = added.iter().any(|added| added.header.name.eq_ignore_ascii_case(name));
            assert!(is_told, "{place}: {name} is not described");
        }
        for added in added {
            let name = added.header.name.to_lowercase();
            assert!(!added.header.always || has(&name), "{place}: not always {name}");
            // The stages also write their headers on other routes.
            let is_expected = expected.contains(&name.as_str());
            assert!(is_expected || !has(&name) || is_of_stage(&name), "{place}: also {name}");
        }
    }
}

/// True if the CORS stage writes the header on routes without their own rules.
fn is_of_stage(name: &str) -> bool {
    name.starts_with("access-control-")
}

#[test]
fn each_described_header_is_sent_in_a_row() {
    let mut sent = BTreeSet::new();
    let mut told = BTreeSet::new();
    for (part, row, expected) in cases() {
        sent.extend(expected.iter().map(|name| (part, name.to_string())));
        let facts = row.facts();
        told.extend(facts.added_headers.iter().map(|it| (part, it.header.name.to_lowercase())));
    }
    assert_eq!(told, sent);
}

/// Outer middleware responds without the header.
#[test]
fn only_inner_responses_get_a_header() {
    for (first, expected) in [(true, true), (false, false)] {
        let id = || Middleware::new(with_request_id());
        let auth = || with_auth(|_: String| None::<String>);
        let row = match first {
            true => row!([id(), auth()], long, "GET /x/7"),
            false => row!([auth(), id()], long, "GET /x/7"),
        };
        assert_eq!(row.send().header("x-request-id").is_some(), expected);
        let facts = row.facts();
        let at = facts.answers.iter().position(|answer| answer.by == "with_auth").unwrap();
        let told = facts.headers_of(at).iter().any(|header| header.name == "X-Request-Id");
        assert_eq!(told, expected);
    }
}
