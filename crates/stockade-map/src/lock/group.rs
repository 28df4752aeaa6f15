//! [`ChangeGroup`]: a change with its consequences.
//!
//! A lock does not record which part of a route causes which response. So a
//! consequence is recognized by its kind, its direction and its routes: removed
//! middleware removes errors and headers of the same routes.

use serde::Serialize;
use serde_json::Value;
use stockade_errors::__internal::sort_by;

use super::change::{Change, gravity};

/// A change and its consequences, such as a removed middleware and the errors
/// that the route no longer has.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ChangeGroup {
    /// The cause.
    pub cause: Change,
    /// The other changes with this cause, the most severe first.
    pub consequences: Vec<Change>,
}

/// The subject of a change.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Topic<'a> {
    User,
    Role,
    Origin,
    Cors,
    Rate,
    Timeout,
    Keys,
    Media,
    /// A middleware of the application.
    Middleware(&'a str),
}

/// The direction of a change.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Way {
    Added,
    Removed,
    Either,
}

/// Groups sorted changes. The most severe group comes first.
pub(super) fn groups_of(changes: &[Change]) -> Vec<ChangeGroup> {
    let mut causes: Vec<&Change> = changes.iter().filter(|it| topic(it).is_some()).collect();
    let is_middleware = |change: &Change| change.at == "middleware";
    // A change of the whole router, then a change of many routes. A lost role
    // says more than the removed middleware.
    let rank = |change: &Change| {
        let count = change.routes.len();
        let count = if count == 0 { usize::MAX } else { count };
        (usize::MAX - count, gravity(change), is_middleware(change))
    };
    sort_by(&mut causes, |one, other| rank(one).cmp(&rank(other)));
    let mut groups: Vec<ChangeGroup> = Vec::new();
    for cause in causes {
        let same = groups.iter().position(|group| {
            let way = way_of_cause(&group.cause);
            topic(&group.cause) == topic(cause)
                && is_within(cause, &group.cause)
                && fits(way, way_of_cause(cause))
        });
        add(&mut groups, same, cause);
    }
    for change in changes.iter().filter(|it| topic(it).is_none()) {
        let place = if is_consequence(change) { cause_of(change, &groups) } else { None };
        add(&mut groups, place, change);
    }
    for group in &mut groups {
        sort_by(&mut group.consequences, |one, other| gravity(one).cmp(&gravity(other)));
    }
    let worst = |group: &ChangeGroup| {
        let all = std::iter::once(&group.cause).chain(&group.consequences);
        (all.map(gravity).min(), gravity(&group.cause))
    };
    sort_by(&mut groups, |one, other| worst(one).cmp(&worst(other)));
    groups
}

fn add(groups: &mut Vec<ChangeGroup>, place: Option<usize>, change: &Change) {
    match place.and_then(|place| groups.get_mut(place)) {
        Some(group) => group.consequences.push(change.clone()),
        None => groups.push(ChangeGroup { cause: change.clone(), consequences: Vec::new() }),
    }
}

/// Returns the group with the cause of a consequence: a cause with the same
/// topic, a cause that may have any effect, or another consequence without a
/// known cause on the same routes.
fn cause_of(change: &Change, groups: &[ChangeGroup]) -> Option<usize> {
    let topics = topics_of_consequence(change);
    let candidates = || {
        let fitting = groups.iter().enumerate().filter(|(_, group)| {
            is_within(change, &group.cause) && fits(way_of_cause(&group.cause), way(change))
        });
        fitting.map(|(index, group)| (index, topic(&group.cause)))
    };
    let same = candidates().find(|(_, topic)| topic.is_some_and(|topic| topics.contains(&topic)));
    let has_any_effect =
        |topic: Topic<'_>| matches!(topic, Topic::User | Topic::Keys | Topic::Middleware(_));
    let any = || {
        // A setting of the router does not have effects of other topics.
        let mut of_routes = candidates().filter(|(index, _)| {
            groups.get(*index).is_some_and(|group| !group.cause.routes.is_empty())
        });
        of_routes.find(|(_, topic)| topic.is_some_and(has_any_effect))
    };
    let unknown = || {
        candidates().find(|(index, topic)| {
            let cause = groups.get(*index).map(|group| &group.cause);
            topic.is_none()
                && cause.is_some_and(|it| is_consequence(it) && it.routes == change.routes)
        })
    };
    same.or_else(any).or_else(unknown).map(|(index, _)| index)
}

/// Returns true if all routes of a change are routes of a cause. A change
/// without routes is about the whole router.
fn is_within(change: &Change, cause: &Change) -> bool {
    let has_route = |route: &String| cause.routes.contains(route);
    let is_below = || !change.routes.is_empty() && change.routes.iter().all(has_route);
    change.router == cause.router && (cause.routes.is_empty() || is_below())
}

fn fits(cause: Way, change: Way) -> bool {
    cause == change || cause == Way::Either || change == Way::Either
}

fn way(change: &Change) -> Way {
    match (change.before.is_null(), change.after.is_null()) {
        (true, false) => Way::Added,
        (false, true) => Way::Removed,
        _ => Way::Either,
    }
}

/// Returns the direction of a cause: a weaker check removes its responses.
fn way_of_cause(change: &Change) -> Way {
    match (change.rule.weakening, change.rule.breaking) {
        _ if topic(change).is_none() => way(change),
        (true, true) => Way::Either,
        (true, false) if change.before.is_null() => Way::Either,
        (true, false) => Way::Removed,
        (false, _) => Way::Added,
    }
}

/// Returns the topic of a change that causes others.
fn topic(change: &Change) -> Option<Topic<'_>> {
    if change.at == "middleware" {
        let value = [&change.before, &change.after].into_iter().find_map(Value::as_str);
        return Some(match value.unwrap_or_default() {
            "with_auth" => Topic::User,
            "with_role" | "with_permission" => Topic::Role,
            "with_cross_origin_protection" => Topic::Origin,
            "with_rate_limit" => Topic::Rate,
            "with_timeout" => Topic::Timeout,
            "with_idempotency" => Topic::Keys,
            name => Topic::Middleware(name),
        });
    }
    let word = change.rule.id.split('-').next().unwrap_or_default();
    Some(match word {
        "user" | "scheme" => Topic::User,
        "role" | "permission" => Topic::Role,
        "cross" => Topic::Origin,
        "origin" | "credentials" => Topic::Cors,
        "rate" => Topic::Rate,
        "timeout" => Topic::Timeout,
        "idempotency" => Topic::Keys,
        "accepts" => Topic::Media,
        _ => return None,
    })
}

/// Returns true for the kinds of changes that the description of a middleware
/// or of an extractor may cause.
fn is_consequence(change: &Change) -> bool {
    let id = change.rule.id;
    let starts = [
        "check-",
        "error-",
        "problem-",
        "reply-header-",
        "reply-guard-",
        "request-check-",
        "request-guard-",
        "request-header-",
    ];
    starts.iter().any(|start| id.starts_with(start))
}

/// Returns the possible topics of a consequence, by its status or header.
fn topics_of_consequence(change: &Change) -> &'static [Topic<'static>] {
    let name = change.at.rsplit('/').next().unwrap_or_default();
    match name {
        "origin" => return &[Topic::Origin, Topic::Cors],
        "vary" => return &[Topic::Cors],
        "authorization" | "cookie" | "www-authenticate" => return &[Topic::User],
        _ if name.starts_with("sec-fetch-") => return &[Topic::Origin],
        _ if name.starts_with("idempotency-") => return &[Topic::Keys],
        _ => {}
    }
    let value = [&change.before, &change.after].into_iter().find_map(Value::as_str);
    let status = change.at.split('/').nth(1).or(value).unwrap_or_default();
    match status {
        "401" => &[Topic::User],
        "403" => &[Topic::Role, Topic::Origin],
        "408" | "504" => &[Topic::Timeout],
        "409" | "422" => &[Topic::Keys],
        "415" => &[Topic::Media],
        "429" => &[Topic::Rate],
        "503" => &[Topic::Timeout, Topic::Keys, Topic::Rate],
        _ => &[],
    }
}
