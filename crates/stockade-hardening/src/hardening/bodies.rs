//! Oversized and malformed bodies.

use std::io::Write as _;
use std::sync::Arc;

use flate2::Compression;
use flate2::write::GzEncoder;
use http::StatusCode;
use serde_json::{Map, Value};
use stockade_routing::map::{BodyDoc, BodyInfo};

use super::AttackFamily;
use super::attack_target::{AttackTarget, json_of};
use super::runner::{Rule, Runner, Verdict};
use crate::exchange::Exchange;
use crate::sample::content_type;
use crate::shot::{BodyProbe, Shot};

const SIZE: Rule = Rule {
    family: AttackFamily::Bodies,
    text: "a body above the limit of its route gets a 413 before it is in memory (OWASP API4)",
    mend: "use an extractor for the body, or read it with `HttpBody::chunk`, and do not collect \
           more than the limit (`max_body`)",
};

const FORM: Rule = Rule {
    family: AttackFamily::Bodies,
    text: "a malformed body gets a 4xx, never a 5xx, and does not reach the handler",
    mend: "use `Body<T>` with a type that has a schema, and do not parse the body by hand",
};

/// Sends invalid bodies to each route that reads one.
pub(super) async fn attack(runner: &mut Runner<'_>) {
    let targets = Arc::clone(&runner.targets);
    for target in targets.iter() {
        let Some(body) = target.route.body.as_ref() else { continue };
        let Some((content_type, sample)) = &target.body else {
            let reason = "found no valid body: set `docs.example`";
            runner.leave(FORM.family, Some(target), "all bodies", reason);
            continue;
        };
        attack_announced(runner, target).await;
        let left_out = "all except an announced length";
        let Some(shot) = runner.shot_let_through(FORM.family, target, left_out) else { continue };
        let shot = runner.signed(target, shot);
        attack_size(runner, target, content_type, &shot).await;
        if runner.has_methods(target) {
            let reason = "JSON-RPC responds to a malformed message with 200 and an error";
            runner.leave(FORM.family, Some(target), "malformed bodies", reason);
            continue;
        }
        attack_form(runner, target, body, &shot, sample).await;
    }
}

/// Announces a body above the limit. It must be rejected before authentication.
async fn attack_announced(runner: &mut Runner<'_>, target: &AttackTarget) {
    let limit = target.route.limits.max_body;
    let Some(length) = limit.checked_add(1) else {
        let reason = "the route does not have a limit";
        return runner.leave(SIZE.family, Some(target), "a body above the limit", reason);
    };
    let mut shot = target.shot();
    shot.body = crate::shot::ShotBody::Stream { beginning: "", length: 0 };
    let shot = shot.set("content-length", length.to_string());
    let attack = "an announced length above the limit";
    runner
        .attack(&SIZE, Some(target), attack, shot, |exchange| is_too_large(exchange, false))
        .await;
}

/// Sends bodies above the limit without announcing their length.
async fn attack_size(
    runner: &mut Runner<'_>,
    target: &AttackTarget,
    content_type: &str,
    shot: &Shot,
) {
    let limit = target.route.limits.max_body;
    let Some(length) = limit.checked_add(1).filter(|length| *length <= MAX_SENT) else {
        let reason = format!("the limit of {limit} bytes is too high for the test");
        return runner.leave(SIZE.family, Some(target), "a body above the limit", reason);
    };
    let beginning = beginning_of(content_type);
    let stream = shot.clone().stream(content_type, beginning, length);
    let attack = "a body above the limit, without a length";
    let read = BodyProbe::default();
    let probed = stream.clone().probed(&read);
    runner
        .attack(&SIZE, Some(target), attack, probed, |exchange| {
            unless_early(&read, length, is_too_large(exchange, false))
        })
        .await;
    let attack = "a body above the limit behind `Content-Length: 10`";
    let read = BodyProbe::default();
    let lying = stream.set("content-length", "10").probed(&read);
    runner
        .attack(&SIZE, Some(target), attack, lying, |exchange| {
            unless_early(&read, length, is_too_large(exchange, true))
        })
        .await;
    let middleware = &target.route.middleware;
    if middleware.iter().any(|middleware| middleware.name == "with_decompression")
        && let Some(bomb) = gzip(beginning, length)
    {
        let read = BodyProbe::default();
        let bomb = shot.clone().body(content_type, bomb).set("content-encoding", "gzip");
        let bomb = bomb.probed(&read);
        let attack = "a compressed body that exceeds the limit after decompression";
        runner
            .attack(&SIZE, Some(target), attack, bomb, |exchange| {
                unless_early(&read, 0, is_too_large(exchange, true))
            })
            .await;
    }
}

/// Sends malformed bodies.
async fn attack_form(
    runner: &mut Runner<'_>,
    target: &AttackTarget,
    body: &BodyInfo,
    shot: &Shot,
    sample: &[u8],
) {
    if body.content.iter().any(|content| content.media_type == "*/*") {
        let reason = "the handler accepts any bytes";
        return runner.leave(FORM.family, Some(target), "malformed bodies", reason);
    }
    let validation = statuses_of_validation(target);
    let read = BodyProbe::default();
    let shot = &shot.clone().probed(&read);
    let validator =
        |exchange: &Exchange| unless_early(&read.take(), 0, is_malformed(exchange, &validation));
    for media_type in ["application/xml", "application/octet-stream"] {
        let shot = shot.clone().set("content-type", media_type);
        let attack = format!("a body of the type {media_type}");
        runner.attack(&FORM, Some(target), attack, shot, validator).await;
    }
    let Some(json) = json_of(&target.route) else {
        let reason = "the route does not accept JSON";
        return runner.leave(FORM.family, Some(target), "malformed JSON", reason);
    };
    // The valid body may have another format, such as an HTML form.
    let is_json = body.content.first().is_some_and(|first| first.media_type == json.media_type);
    let sample = if is_json { sample } else { b"{}" };
    let mut malformed = malformed(sample, target);
    let middleware = &target.route.middleware;
    let is_parsed = |name: &str| middleware.iter().any(|middleware| middleware.name == name);
    if PARSING.into_iter().any(is_parsed) {
        malformed.retain(|(attack, _)| *attack != TWICE);
        let reason = "middleware reads the body and uses the last of two duplicate members";
        runner.leave(FORM.family, Some(target), TWICE, reason);
    }
    for (attack, bytes) in malformed {
        let shot = shot.clone().body(&content_type("application/json"), bytes);
        runner.attack(&FORM, Some(target), attack, shot, validator).await;
    }
    let compressed = shot.clone().set("content-encoding", "gzip");
    let attack = "a body with a false `Content-Encoding`";
    runner.attack(&FORM, Some(target), attack, compressed, validator).await;
}

/// Returns bodies that every handler must reject: malformed JSON, and JSON
/// without required members.
fn malformed(sample: &[u8], target: &AttackTarget) -> Vec<(&'static str, Vec<u8>)> {
    let limit = target.route.limits.max_body;
    // A limit above `usize::MAX` is never reached.
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let levels = (limit / 2).clamp(1, 100_000);
    let of_text =
        |before: &str, after: &str| [before.as_bytes(), sample, after.as_bytes()].concat();
    let mut all = vec![
        ("truncated JSON", sample.split_last().map_or(Vec::new(), |(_, rest)| rest.to_vec())),
        ("JSON with trailing text", of_text("", "}")),
        ("a byte order mark", of_text("\u{feff}", "")),
        ("a body that is not UTF-8", [sample, &[0xFF, 0xFE]].concat()),
        ("UTF-16", utf_16(sample)),
        ("the number NaN", b"NaN".to_vec()),
        ("JSON with single quotes", b"{'a':1}".to_vec()),
        ("only whitespace", b"  ".to_vec()),
        ("JSON with a comment", of_text("/**/", "")),
        ("a form with a JSON content type", b"a=1&b=2".to_vec()),
    ];
    if levels > 128 {
        let deep = [vec![b'['; levels], vec![b']'; levels]].concat();
        all.push(("deeply nested JSON", deep));
    }
    if let Ok(Value::Object(members)) = serde_json::from_slice(sample) {
        all.extend(malformed_members(&members, &target.required));
    }
    all.retain(|(_, bytes)| bytes.len() <= limit);
    all
}

/// Returns objects that lack required members.
fn malformed_members(
    members: &Map<String, Value>,
    required: &[String],
) -> Vec<(&'static str, Vec<u8>)> {
    let mut known = members.iter();
    let Some((name, value)) = known.find(|(name, _)| required.contains(name)) else {
        return Vec::new();
    };
    let whole = Value::Object(members.clone());
    let text = |value: Value| value.to_string().into_bytes();
    let name = Value::String(name.clone());
    // Repeats the first member with another value of its type.
    let twice = format!("{{{name}:{value},{}", whole.to_string().trim_start_matches('{'));
    vec![
        ("a list instead of an object", text(Value::Array(members.values().cloned().collect()))),
        ("null instead of an object", text(Value::Null)),
        ("the members in `__proto__`", format!("{{\"__proto__\":{whole}}}").into_bytes()),
        (
            "the members in `constructor.prototype`",
            format!("{{\"constructor\":{{\"prototype\":{whole}}}}}").into_bytes(),
        ),
        (TWICE, twice.into_bytes()),
    ]
}

fn utf_16(text: &[u8]) -> Vec<u8> {
    text.iter().flat_map(|byte| [*byte, 0]).collect()
}

/// Compresses a body of this length; `None` if compression fails.
fn gzip(beginning: &str, length: u64) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(beginning.as_bytes()).ok()?;
    let piece = [b'a'; 65_536];
    let mut missing = length.saturating_sub(beginning.len() as u64);
    while missing > 0 {
        // A piece always fits into memory.
        let next = usize::try_from(missing).unwrap_or(piece.len()).min(piece.len());
        encoder.write_all(piece.get(..next)?).ok()?;
        missing -= next as u64;
    }
    encoder.finish().ok()
}

/// Returns the start of an unterminated body of this type.
fn beginning_of(content_type: &str) -> &'static str {
    match content_type {
        it if it.ends_with("json") => "\"",
        it if it.starts_with("application/x-www-form-urlencoded") => "a=",
        it if it.starts_with("multipart/") => MULTIPART,
        _ => "",
    }
}

/// Returns the statuses that the route uses for failed validation.
fn statuses_of_validation(target: &AttackTarget) -> Vec<u16> {
    let answers = target.route.answers.iter();
    let of_validation = answers.filter(|answer| answer.body == BodyDoc::ValidationError);
    of_validation.filter_map(|answer| answer.status.exact()).collect()
}

fn is_too_large(exchange: &Exchange, may_be_malformed: bool) -> Verdict {
    match exchange.status {
        StatusCode::PAYLOAD_TOO_LARGE => Verdict::Refused,
        StatusCode::BAD_REQUEST | StatusCode::UNSUPPORTED_MEDIA_TYPE if may_be_malformed => {
            Verdict::Refused
        }
        status => otherwise(status),
    }
}

fn is_malformed(exchange: &Exchange, validation: &[u16]) -> Verdict {
    match exchange.status.as_u16() {
        400 | 413 | 415 | 422 => Verdict::Refused,
        status if validation.contains(&status) => Verdict::Refused,
        _ => otherwise(exchange.status),
    }
}

/// Returns the verdict. An attack that got through is unproven if the handler
/// responded before it polled the body, or before it read `length` bytes.
fn unless_early(read: &BodyProbe, length: u64, verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::GotThrough(found) if !read.is_polled() || read.read() < length => {
            Verdict::Unproven(format!("{found}, but it was sent before the body was read"))
        }
        verdict => verdict,
    }
}

/// Returns the verdict for a status that does not reject a body.
fn otherwise(status: StatusCode) -> Verdict {
    match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Verdict::Unproven(format!(
            "the response was {} before the body was read",
            status.as_u16()
        )),
        status => Verdict::GotThrough(format!("the response is {status}")),
    }
}

/// The beginning of a form part, with the boundary of samples.
const MULTIPART: &str =
    "--stockade-sample\r\nContent-Disposition: form-data; name=\"a\"; filename=\"a\"\r\n\r\n";

/// The largest body that is sent, in bytes.
const MAX_SENT: u64 = 64 * 1024 * 1024 + 1;

const TWICE: &str = "a duplicate member";

/// The middleware that parses a body and passes the value to the handler.
const PARSING: [&str; 4] =
    ["with_sanitization", "with_validation", "with_input_validation", "with_body_hooks"];
