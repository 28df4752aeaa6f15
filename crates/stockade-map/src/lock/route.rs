//! The comparison of the old and the new entry of a route.

use std::time::SystemTime;

use serde_json::{Value, json};

use super::compare::{Comparison, value_of};
use super::entry::{FALLBACK, RouteLock};
use super::rules::{
    AS_A_WHOLE, CONSTRAINT_ADDED, CONSTRAINT_CHANGED, CONSTRAINT_REMOVED, FALLBACK_ADDED,
    OPERATION_ID, PARAM_OPTIONAL, PARAM_RENAMED, PARAM_REQUIRED, ROUTE_ADDED, ROUTE_ADDED_OPEN,
    ROUTE_DEPRECATED, ROUTE_HIDDEN, ROUTE_SHOWN, ROUTE_TEXT, SUNSET_EARLIER, SUNSET_LATER,
};
use super::schema::Direction;
use super::{
    access, answers, graphql, idempotency, inputs, limits, methods, router, signature, tool,
};
use crate::{Need, RouteDocs};

/// Compares the old and the new entry of a route, each with its label.
pub(super) fn compare(
    c: &mut Comparison<'_>,
    (old_label, old): (&str, &RouteLock),
    (new_label, new): (&str, &RouteLock),
) {
    identity(c, (old_label, old), (new_label, new));
    docs(c, &old.docs, &new.docs);
    params(c, old, new);
    inputs::compare(c, old, new);
    answers::compare(c, &old.answers, &new.answers);
    access::compare(c, &old.access, &new.access);
    methods::compare(c, old, new);
    as_a_whole(c, old, new);
    access::middleware(c, old, new);
    limits::compare(c, &old.limits, &new.limits);
    graphql::compare(c, &old.graphql, &new.graphql);
    idempotency::compare(c, old.idempotency.as_ref(), new.idempotency.as_ref());
    signature::compare(c, old.signature.as_ref(), new.signature.as_ref());
    tool::compare(c, old.tool.as_ref(), new.tool.as_ref());
    tool::endpoint(c, old.mcp.as_ref(), new.mcp.as_ref());
    if old.cors.is_some() || new.cors.is_some() {
        let (before, after) = (&c.old.router.cors, &c.new.router.cors);
        let before = old.cors.as_ref().or(before.as_ref());
        let after = new.cors.as_ref().or(after.as_ref());
        router::cors(c, before, after);
    }
    if let (Some(before), Some(after)) = (&old.web_socket, &new.web_socket) {
        router::web_socket(c, before, after);
    }
}

/// Reports a new route. If it is open to everybody, the new value is the reason.
pub(super) fn added(c: &mut Comparison<'_>, label: &str, new: &RouteLock) {
    inputs::added(c, new);
    if label.starts_with(FALLBACK) {
        c.note(FALLBACK_ADDED, "", Value::Null, label);
    } else if new.access.user == Need::Required {
        c.note(ROUTE_ADDED, "", Value::Null, label);
    } else {
        let reason = new.access.public.as_deref().unwrap_or("without a reason");
        c.note(ROUTE_ADDED_OPEN, "access/public", Value::Null, reason);
    }
    tool::added(c, new.tool.as_ref(), new.mcp.as_ref());
}

/// Compares the members that [`AS_A_WHOLE`] lists.
fn as_a_whole(c: &mut Comparison<'_>, old: &RouteLock, new: &RouteLock) {
    let (old, new) = (value_of(old), value_of(new));
    for (at, [added, removed, changed]) in AS_A_WHOLE {
        let member = |route: &Value| route.pointer(&format!("/{at}")).cloned().unwrap_or_default();
        let (before, after) = (member(&old), member(&new));
        let rule = match (before.is_null(), after.is_null()) {
            _ if before == after => continue,
            (true, _) => added,
            (_, true) => removed,
            _ => changed,
        };
        c.note(*rule, *at, before, after);
    }
}

fn identity(
    c: &mut Comparison<'_>,
    (old_label, old): (&str, &RouteLock),
    (new_label, new): (&str, &RouteLock),
) {
    // A generated name depends on the path, and changes with the names of its
    // parameters.
    let is_made = !old.named && !new.named;
    let is_unseen = old.docs.hidden.is_some() || new.docs.hidden.is_some();
    if old.operation_id != new.operation_id && !is_made && !is_unseen {
        c.note(OPERATION_ID, "operation_id", &old.operation_id, &new.operation_id);
    }
    let names = |route: &RouteLock| -> Vec<String> {
        route.params.iter().map(|param| param.name.clone()).collect()
    };
    if names(old) != names(new) && names(old).len() == names(new).len() {
        c.note(PARAM_RENAMED, "", old_label, new_label);
    }
}

fn docs(c: &mut Comparison<'_>, old: &RouteDocs, new: &RouteDocs) {
    match (&old.hidden, &new.hidden) {
        (None, Some(reason)) => c.note(ROUTE_HIDDEN, "docs/hidden", json!(null), reason),
        (Some(reason), None) => c.note(ROUTE_SHOWN, "docs/hidden", reason, json!(null)),
        _ => {}
    }
    let mark = |docs: &RouteDocs| (docs.deprecated, docs.deprecated_since.clone());
    if mark(old) != mark(new) {
        c.note(ROUTE_DEPRECATED, "docs/deprecated", mark(old), mark(new));
    }
    if old.sunset != new.sunset {
        let now = c.now;
        let is_earlier = match (moment(old.sunset.as_deref()), moment(new.sunset.as_deref())) {
            (Some(before), Some(after)) => after < before,
            (None, Some(after)) => after <= now,
            (_, None) => false,
        };
        let rule = if is_earlier { SUNSET_EARLIER } else { SUNSET_LATER };
        c.note(rule, "docs/sunset", &old.sunset, &new.sunset);
    }
    let (before, after) = (texts(old), texts(new));
    if before != after && old.hidden.is_some() == new.hidden.is_some() {
        c.note(ROUTE_TEXT, "docs", before, after);
    }
}

/// Returns the texts for readers.
fn texts(docs: &RouteDocs) -> Value {
    json!([
        docs.summary,
        docs.description,
        docs.tags,
        docs.hidden,
        docs.responses,
        docs.example,
        docs.reply_examples,
        docs.contents
    ])
}

/// Parses a date of the documentation.
pub(super) fn moment(date: Option<&str>) -> Option<SystemTime> {
    RouteDocs::new("").sunset(date?).dates().1
}

fn params(c: &mut Comparison<'_>, old: &RouteLock, new: &RouteLock) {
    for (before, after) in old.params.iter().zip(&new.params) {
        let at = format!("params/{}", after.name);
        match (before.optional, after.optional) {
            (true, false) => c.note(PARAM_REQUIRED, at.clone(), "optional", "required"),
            (false, true) => c.note(PARAM_OPTIONAL, at.clone(), "required", "optional"),
            _ => {}
        }
        let rule = match (&before.constraint, &after.constraint) {
            (None, Some(_)) => Some(CONSTRAINT_ADDED),
            (Some(_), None) => Some(CONSTRAINT_REMOVED),
            (one, other) => (one != other).then_some(CONSTRAINT_CHANGED),
        };
        if let Some(rule) = rule {
            c.note(rule, at.clone(), &before.constraint, &after.constraint);
        }
        c.schema(&at, &before.schema, &after.schema, Direction::Request);
    }
}
