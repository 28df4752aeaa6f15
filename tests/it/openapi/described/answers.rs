//! Responses of helpers, extractors and replies. Each row sends one response
//! and checks that it is described.

use std::collections::BTreeSet;
use std::future::pending;
use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use stockade::StoreError;
use stockade::auth::{KeyRing, SessionId};
use stockade::extract::FileName;
use stockade::middleware::files::{FileReply, FileRequest};
use stockade::middleware::health::{Readiness, live, ready};
use stockade::middleware::rate_limit::{ChargeOutcome, RateKey, RateLimitPolicy, RateStore};
use stockade::middleware::with_rate_limit;
use stockade::middleware::{
    CurrentSession, ETag, ErrorReply, InputRule, Metrics, Outcome, Preconditions, RateLimit,
    SessionCookie, Validators, with_concurrency_limit, with_cors, with_cross_origin_protection,
    with_decompression, with_error_handling, with_etag, with_input_validation,
    with_params_validation, with_permission, with_query_validation, with_role, with_sanitization,
    with_timeout, with_validation,
};
use stockade::prelude::*;

use super::{Row, covers, has_form, keys, quiet, row, with_state};

/// The part that responds, a row, the status, and the headers that both the
/// response and its description have.
pub(super) type Case = (&'static str, Row, u16, &'static [&'static str]);

const JSON: &str = "content-type: application/json";

async fn text() -> &'static str {
    "text"
}

fn optional() -> Middleware {
    with_auth(Auth::secret(secret()).required(false))
}

fn secret() -> Secret {
    Secret::new("a secret of thirty-two bytes or more").unwrap()
}

/// Authenticates every client as a user with this role.
fn everybody(role: &'static str) -> Middleware {
    with_auth(Auth::verify(move |_: &Request| Some(json!({ "role": role }))))
}

fn users() -> Vec<Case> {
    let cookie = SessionCookie::new(KeyRing::new(secret()));
    let id = SessionId::generate().unwrap();
    let set = cookie.issue(&id).to_str().unwrap().to_owned();
    let set = set.split_once(';').unwrap().0;
    let session = with_auth(Auth::session(cookie, |_: SessionId| Some("ada")));
    let foreign = format!("POST /x/7\ncookie: {set}\nsec-fetch-site: cross-site");
    let broken = |_: String| Err::<Option<String>, _>(ApiError::new(503, "no database"));
    let challenge = &["www-authenticate"];
    vec![
        ("with_auth", row!([with_auth(Auth::secret(secret()))], text, "GET /x/7"), 401, challenge),
        ("with_auth", row!([session.clone()], text, foreign), 403, &[]),
        (
            "with_auth",
            row!([with_auth(Auth::bearer(broken))], text, "GET /x/7\nauthorization: Bearer x"),
            503,
            &[],
        ),
        ("with_role", row!([optional(), with_role("admin")], text, "GET /x/7"), 401, challenge),
        ("with_role", row!([everybody("reader"), with_role("admin")], text, "GET /x/7"), 403, &[]),
        (
            "with_permission",
            row!([optional(), with_permission(|_: &Value, _: &Request| true)], text, "GET /x/7"),
            401,
            challenge,
        ),
        (
            "with_permission",
            row!(
                [everybody("x"), with_permission(|_: &Value, _: &Request| false)],
                text,
                "GET /x/7"
            ),
            403,
            &[],
        ),
        (
            "handler",
            row!([everybody("x")], async |_: CurrentSession| "text", "GET /x/7"),
            401,
            challenge,
        ),
    ]
}

/// A store that is unavailable.
struct Down;

impl RateStore for Down {
    fn waits(&self) -> bool {
        true
    }

    fn charge<'a>(
        &'a self,
        _: &'a RateKey,
        _: &'a RateLimitPolicy,
        _: Duration,
    ) -> ChargeOutcome<'a> {
        ChargeOutcome::Pending(Box::pin(async {
            Err(StoreError::unavailable("the store is down"))
        }))
    }
}

fn limits() -> Vec<Case> {
    let rate = with_rate_limit(RateLimit::from(1 / MINUTE).name("one").legacy_headers(true));
    let quota: &[&str] = &[
        "retry-after",
        "ratelimit",
        "ratelimit-policy",
        "x-ratelimit-limit",
        "x-ratelimit-remaining",
        "x-ratelimit-reset",
    ];
    let used = row!([rate], text, "GET /x/7");
    used.send();
    // Clones share one counter, so the request blocks itself.
    let places = with_concurrency_limit(1);
    let late = |status| with_timeout(Duration::from_millis(1)).status(status);
    let foreign = "POST /x/7\nsec-fetch-site: cross-site";
    let down = RateLimit::from(1 / MINUTE).store(Arc::new(Down));
    vec![
        ("with_rate_limit", used, 429, quota),
        ("with_rate_limit", row!([with_rate_limit(down)], text, "GET /x/7"), 503, &["retry-after"]),
        (
            "with_concurrency_limit",
            row!([places.clone(), places], text, "GET /x/7"),
            503,
            &["retry-after"],
        ),
        ("with_timeout", row!([late(408)], pending::<&'static str>, "GET /x/7"), 408, &[]),
        ("with_timeout", row!([late(503)], pending::<&'static str>, "GET /x/7"), 503, &[]),
        ("with_timeout", row!([late(504)], pending::<&'static str>, "GET /x/7"), 504, &[]),
        (
            "with_cross_origin_protection",
            row!([with_cross_origin_protection()], text, foreign),
            403,
            &[],
        ),
        (
            "with_cors",
            row!(
                [with_cors("https://app.example")],
                text,
                "OPTIONS /x/7\n\
                origin: https://app.example\naccess-control-request-method: GET"
            ),
            204,
            &[],
        ),
        (
            "with_error_handling",
            row!(
                [with_error_handling(
                    |reply: &mut ErrorReply| reply.set_status(StatusCode::IM_A_TEAPOT)
                )],
                async || Err::<&'static str, _>(ApiError::conflict()),
                "GET /x/7"
            ),
            418,
            &[],
        ),
    ]
}

fn checks() -> Vec<Case> {
    let name = || schema!({ "name": { "type": "string", "required": true } });
    let number = || schema!({ "id": { "type": "number" } });
    let rules = || with_input_validation([("name", InputRule::new().required())]);
    let long = format!("POST /x/7\n{JSON}\n\n\"{}\"", "a".repeat(100));
    let broken = format!("POST /x/7\n{JSON}\n\n{{");
    let nameless = format!("POST /x/7\n{JSON}\n\n{{}}");
    let image = "POST /x/7\ncontent-type: image/png\n\nx";
    let pairs = format!("GET /x/7?{}", "a=1&".repeat(1_001));
    let read = async |_: Bytes| "text";
    let gzip = "POST /x/7\ncontent-encoding: gzip";
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(&[b'a'; 10_000]).unwrap();
    let mut bomb = row!([with_decompression()], read, gzip);
    bomb.bytes = Some(packed.finish().unwrap());
    vec![
        ("with_validation", row!([with_validation(name())], text, nameless.clone()), 400, &[]),
        ("with_validation", row!([with_validation(name())], text, broken.clone()), 400, &[]),
        ("with_validation", row!([with_validation(name())], text, long.clone()), 413, &[]),
        ("with_validation", row!([with_validation(name())], text, image), 415, &[]),
        (
            "with_validation",
            row!(quiet().validation_status(422), [with_validation(name())], text, nameless.clone()),
            422,
            &[],
        ),
        (
            "with_query_validation",
            row!([with_query_validation(name())], text, "GET /x/7"),
            400,
            &[],
        ),
        (
            "with_query_validation",
            row!([with_query_validation(name())], text, pairs.clone()),
            400,
            &[],
        ),
        (
            "with_params_validation",
            row!([with_params_validation(number())], text, "GET /x/seven"),
            400,
            &[],
        ),
        ("with_input_validation", row!([rules()], text, nameless), 400, &[]),
        ("with_input_validation", row!([rules()], text, broken.clone()), 400, &[]),
        ("with_input_validation", row!([rules()], text, long.clone()), 413, &[]),
        ("with_input_validation", row!([rules()], text, image), 415, &[]),
        ("with_sanitization", row!([with_sanitization()], text, broken), 400, &[]),
        ("with_sanitization", row!([with_sanitization()], text, pairs), 400, &[]),
        ("with_sanitization", row!([with_sanitization()], text, long), 413, &[]),
        (
            "with_decompression",
            row!([with_decompression()], text, "GET /x/7\ncontent-encoding: deflate"),
            415,
            &["accept-encoding"],
        ),
        (
            "with_decompression",
            row!([with_decompression()], read, format!("{gzip}\n\nno gzip")),
            400,
            &[],
        ),
        ("with_decompression", bomb, 413, &[]),
    ]
}

/// Returns the tag that `with_etag` creates for [`text`].
fn known() -> String {
    row!([with_etag()], text, "GET /x/7").send().header("etag").unwrap()
}

async fn change(conditions: Preconditions) -> Result<&'static str, ApiError> {
    conditions.check(&Validators::etag(ETag::of(b"present")))?;
    Ok("changed")
}

async fn read(conditions: Preconditions) -> StatusCode {
    match conditions.evaluate(&Validators::etag(ETag::new("1").unwrap())) {
        Outcome::NotModified => StatusCode::NOT_MODIFIED,
        _ => StatusCode::OK,
    }
}

async fn file(file: FileRequest, Path(name): Path<FileName>) -> Result<FileReply, ApiError> {
    file.within(concat!(env!("CARGO_MANIFEST_DIR"), "/it/openapi/described"), &name).await
}

fn states() -> Vec<Case> {
    let etag = known();
    let mod_rs = "GET /x/mod.rs";
    let unknown = "if-match: \"unknown\"";
    let readiness = Readiness::new();
    readiness.set(false);
    let metrics = Metrics::new();
    vec![
        (
            "with_etag",
            row!([with_etag()], text, format!("GET /x/7\nif-none-match: {etag}")),
            304,
            &["etag"],
        ),
        ("with_etag", row!([with_etag()], text, format!("GET /x/7\n{unknown}")), 412, &["etag"]),
        ("handler", row!([], change, format!("PUT /x/7\n{unknown}")), 412, &[]),
        ("handler", row!([], read, "GET /x/7\nif-none-match: \"1\""), 304, &[]),
        ("handler", row!([], read, "GET /x/7"), 200, &[]),
        ("handler", row!([], file, mod_rs), 200, &["accept-ranges", "last-modified"]),
        ("handler", row!([], file, format!("{mod_rs}\nrange: bytes=0-9")), 206, &["content-range"]),
        ("handler", row!([], file, format!("{mod_rs}\nif-none-match: *")), 304, &["etag"]),
        ("handler", row!([], file, format!("{mod_rs}\n{unknown}")), 412, &[]),
        (
            "handler",
            row!([], file, format!("{mod_rs}\nrange: bytes=999999-")),
            416,
            &["content-range"],
        ),
        ("handler", row!([], file, "GET /x/none"), 404, &[]),
        ("handler", row!([], live, "GET /x/7"), 200, &["cache-control"]),
        ("handler", row!(with_state(Readiness::new()), [], ready, "GET /x/7"), 200, &[]),
        ("handler", row!(with_state(readiness), [], ready, "GET /x/7"), 503, &["cache-control"]),
        ("handler", row!([], metrics.handler(), "GET /x/7"), 200, &[]),
    ]
}

/// Returns the parts that have rows here.
pub(super) fn parts() -> Vec<String> {
    cases().map(|(part, ..)| part.to_owned()).collect()
}

fn cases() -> impl Iterator<Item = Case> {
    users().into_iter().chain(keys::cases()).chain(limits()).chain(checks()).chain(states())
}

#[test]
fn responses_match_their_descriptions() {
    let mut differences = Vec::new();
    for (part, row, status, headers) in cases() {
        let response = row.send();
        let place = format!("{part} {status}: {}", row.request);
        assert_eq!(response.status().as_u16(), status, "{place}");
        let facts = row.facts();
        let described = facts.answers.iter().enumerate().filter(|(_, answer)| answer.by == part);
        let fitting: Vec<_> = described
            .filter(|(_, answer)| covers(answer.status, status) && has_form(answer, &response))
            .collect();
        let is_whole = fitting.iter().any(|(index, _)| {
            let told = facts.headers_of(*index);
            let has = |name: &str| response.header(name).is_some();
            told.iter().all(|header| !header.always || has(&header.name))
                && headers.iter().all(|name| {
                    has(name) && told.iter().any(|header| header.name.eq_ignore_ascii_case(name))
                })
        });
        assert!(is_whole, "{place}\n{fitting:#?}");
        let faults = row.document_faults(&response);
        differences.extend(faults.into_iter().map(|fault| format!("{part}: {fault}")));
    }
    assert!(differences.is_empty(), "{differences:#?}");
}

/// The opposite check: every described response is really sent.
#[test]
fn each_described_response_has_a_row() {
    let sent: BTreeSet<(String, String)> = cases()
        .flat_map(|(part, row, status, _)| {
            let facts = row.facts();
            let fits = facts
                .answers
                .into_iter()
                .filter(move |answer| answer.by == part && covers(answer.status, status));
            fits.map(|answer| (answer.by.into_owned(), answer.status.to_string()))
                .collect::<Vec<_>>()
        })
        .collect();
    for (_, row, ..) in cases() {
        for answer in row.facts().answers {
            let it = (answer.by.into_owned(), answer.status.to_string());
            assert!(sent.contains(&it), "no row has the answer {it:?}, see {}", row.request);
        }
    }
}
