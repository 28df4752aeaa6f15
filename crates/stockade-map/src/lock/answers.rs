//! The comparison of the responses of a route.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::compare::Comparison;
use super::entry::AnswerLock;
use super::inputs::ANY_TYPE;
use super::rules::{
    CHECK_REMOVED, ERROR_ADDED, ERROR_BODY, ERROR_FIELDS, ERROR_REMOVED, PROBLEM_ADDED,
    PROBLEM_REMOVED, REPLY_GUARD_REMOVED, REPLY_HEADER_ADDED, REPLY_HEADER_REMOVED, REPLY_KNOWN,
    REPLY_TYPE_ADDED, REPLY_TYPE_KNOWN, REPLY_TYPE_REMOVED, REPLY_UNKNOWN, STATUS_ADDED,
    STATUS_REMOVED,
};
use super::schema::Direction;

type Answers = BTreeMap<String, AnswerLock>;

/// Compares the responses of a route.
pub(super) fn compare(c: &mut Comparison<'_>, old: &Answers, new: &Answers) {
    for (status, before) in old {
        if let Some(after) = covering(new, status) {
            answer(c, status, before, after);
        } else {
            let rule = match status.as_str() {
                "401" | "403" => CHECK_REMOVED,
                status if is_error(status) => ERROR_REMOVED,
                _ => STATUS_REMOVED,
            };
            c.note(rule, "answers", status, Value::Null);
            problems_gone(c, status, &before.problems);
        }
    }
    for status in new.keys().filter(|status| !old.contains_key(*status)) {
        let rule = if is_error(status) { ERROR_ADDED } else { STATUS_ADDED };
        c.note(rule, "answers", Value::Null, status);
    }
}

/// Returns true for 4xx, 5xx and `default`, which means any error.
fn is_error(status: &str) -> bool {
    !status.starts_with(['1', '2', '3'])
}

/// Returns the response of a status, or of its class.
fn covering<'a>(answers: &'a Answers, status: &str) -> Option<&'a AnswerLock> {
    let class = || status.get(..1).and_then(|digit| answers.get(&format!("{digit}XX")));
    answers.get(status).or_else(class)
}

fn answer(c: &mut Comparison<'_>, status: &str, old: &AnswerLock, new: &AnswerLock) {
    let at = format!("answers/{status}");
    match (old.unknown, new.unknown) {
        (true, false) => c.note(REPLY_KNOWN, at.clone(), Value::Null, new),
        (false, true) => c.note(REPLY_UNKNOWN, at.clone(), old, Value::Null),
        _ => {}
    }
    for (media_type, before) in &old.content {
        match new.content.get(media_type) {
            Some(after) => {
                c.schema(&format!("{at}/{media_type}"), before, after, Direction::Reply);
            }
            None if media_type == ANY_TYPE && !new.content.is_empty() => {
                let types: Vec<&String> = new.content.keys().collect();
                c.note(REPLY_TYPE_KNOWN, at.clone(), media_type, types);
            }
            // Reported above.
            None if new.unknown => {}
            None => c.note(REPLY_TYPE_REMOVED, at.clone(), media_type, Value::Null),
        }
    }
    if !old.unknown && !old.content.contains_key(ANY_TYPE) {
        for media_type in new.content.keys().filter(|it| !old.content.contains_key(*it)) {
            c.note(REPLY_TYPE_ADDED, at.clone(), Value::Null, media_type);
        }
    }
    forms(c, &at, old, new);
    problems(c, &at, &old.problems, &new.problems);
    headers(c, &at, &old.headers, &new.headers);
}

/// Compares the formats of errors.
fn forms(c: &mut Comparison<'_>, at: &str, old: &AnswerLock, new: &AnswerLock) {
    let had_form = old.error || old.fields;
    let has_form = new.error || new.fields;
    if had_form && !has_form && !new.unknown {
        c.note(ERROR_BODY, at, "the format of the application", Value::Null);
    } else if old.fields && !new.fields && has_form {
        c.note(ERROR_BODY, at, "with fields", "without fields");
    } else if !old.fields && new.fields && had_form {
        c.note(ERROR_FIELDS, at, "without fields", "with fields");
    }
}

/// Compares the problem types, each with the schema of its members.
fn problems(
    c: &mut Comparison<'_>,
    at: &str,
    old: &BTreeMap<String, Value>,
    new: &BTreeMap<String, Value>,
) {
    for (uri, before) in old {
        let at = format!("{at}/problems/{uri}");
        match new.get(uri) {
            Some(after) => c.schema(&at, &as_object(before), &as_object(after), Direction::Reply),
            None => c.note(PROBLEM_REMOVED, at, uri, Value::Null),
        }
    }
    for uri in new.keys().filter(|uri| !old.contains_key(*uri)) {
        c.note(PROBLEM_ADDED, format!("{at}/problems/{uri}"), Value::Null, uri);
    }
}

/// Returns the schema of the members. A problem type may have no members.
fn as_object(members: &Value) -> Value {
    if members.as_object().is_some_and(Map::is_empty) {
        return json!({ "type": "object" });
    }
    members.clone()
}

/// Reports the removed problem types of a removed status, unless another route
/// still has them.
fn problems_gone(c: &mut Comparison<'_>, status: &str, old: &BTreeMap<String, Value>) {
    let answers = c.new.routes.values().flat_map(|route| route.answers.values());
    let known: BTreeSet<&String> = answers.flat_map(|answer| answer.problems.keys()).collect();
    for uri in old.keys().filter(|uri| !known.contains(uri)) {
        c.note(PROBLEM_REMOVED, format!("answers/{status}/problems/{uri}"), uri, Value::Null);
    }
}

/// Response headers that protect the user: they end a session, or restrict
/// caches and browsers.
const PROTECTIVE: [&str; 10] = [
    "cache-control",
    "clear-site-data",
    "content-disposition",
    "content-security-policy",
    "cross-origin-opener-policy",
    "cross-origin-resource-policy",
    "set-cookie",
    "strict-transport-security",
    "x-content-type-options",
    "x-frame-options",
];

fn headers(
    c: &mut Comparison<'_>,
    at: &str,
    old: &BTreeMap<String, bool>,
    new: &BTreeMap<String, bool>,
) {
    let words = |always: Option<&bool>| match always {
        None => Value::Null,
        Some(true) => "always".into(),
        Some(false) => "sometimes".into(),
    };
    let gone = old.keys().filter(|name| !new.contains_key(*name));
    for name in new.keys().chain(gone) {
        let (before, after) = (old.get(name), new.get(name));
        // `None` is less than false, which is less than true.
        let rule = match before.cmp(&after) {
            std::cmp::Ordering::Less => REPLY_HEADER_ADDED,
            std::cmp::Ordering::Greater if PROTECTIVE.contains(&name.as_str()) => {
                REPLY_GUARD_REMOVED
            }
            std::cmp::Ordering::Greater => REPLY_HEADER_REMOVED,
            std::cmp::Ordering::Equal => continue,
        };
        c.note(rule, format!("{at}/headers/{name}"), words(before), words(after));
    }
}
