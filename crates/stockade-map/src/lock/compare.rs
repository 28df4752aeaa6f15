//! [`Comparison`], which collects the differences between two locks.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use serde::Serialize;
use serde_json::Value;

use super::change::{Change, Changes};
use super::entry::{FALLBACK, RouteLock};
use super::file::Lock;
use super::pairs::{Pairs, pairs_of};
use super::rules::{FALLBACK_REMOVED, LockRule, ROUTE_REMOVED, ROUTE_SUNSET};
use super::schema::Direction;
use super::{configurations, policy, route, router, secrets, unexplained};
use crate::schemas::{PLACE as SCHEMAS, references};

/// Returns the differences between two locks.
pub(super) fn changes(old: &Lock, new: &Lock, now: SystemTime) -> Changes {
    let mut comparison = Comparison::new(old, new, now);
    router::compare(&mut comparison);
    policy::compare(&mut comparison);
    configurations::compare(&mut comparison);
    let Pairs { same, gone, added } = pairs_of(old, new);
    for label in gone {
        let docs = old.routes.get(label).map(|route| &route.docs);
        let sunset = docs.and_then(|docs| route::moment(docs.sunset.as_deref()));
        let rule = match sunset {
            _ if label.starts_with(FALLBACK) => FALLBACK_REMOVED,
            Some(end) if end <= now => ROUTE_SUNSET,
            _ => ROUTE_REMOVED,
        };
        comparison.routes = vec![label.clone()];
        comparison.note(rule, "", label, Value::Null);
    }
    for label in added {
        comparison.routes = vec![label.clone()];
        if let Some(route) = new.routes.get(label) {
            route::added(&mut comparison, label, route);
            secrets::added(&mut comparison, route);
        }
    }
    for (old_label, new_label) in same {
        comparison.routes = vec![new_label.clone()];
        if let (Some(before), Some(after)) = (old.routes.get(old_label), new.routes.get(new_label))
        {
            let first = comparison.found.len();
            route::compare(&mut comparison, (old_label, before), (new_label, after));
            secrets::compare(&mut comparison, before, after);
            unexplained::in_route(&mut comparison, before, after, first);
        }
    }
    comparison.routes.clear();
    unexplained::elsewhere(&mut comparison);
    Changes::of(comparison.found, &new.places)
}

/// Returns the differences between two locks without routes.
pub(super) fn of_routers(old: &Lock, new: &Lock, now: SystemTime) -> Vec<Change> {
    let mut comparison = Comparison::new(old, new, now);
    router::compare(&mut comparison);
    unexplained::elsewhere(&mut comparison);
    comparison.found
}

/// A comparison of two locks.
pub(super) struct Comparison<'a> {
    pub(super) old: &'a Lock,
    pub(super) new: &'a Lock,
    pub(super) now: SystemTime,
    /// The route under comparison; empty for the router.
    pub(super) routes: Vec<String>,
    /// The pairs of named schemas that are already compared. Each pair is
    /// compared once, and schemas may be recursive.
    pub(super) seen: BTreeSet<(String, String, Direction)>,
    /// The routes that use each schema, directly or through other schemas.
    users: BTreeMap<(Direction, String), BTreeSet<String>>,
    found: Vec<Change>,
}

impl<'a> Comparison<'a> {
    fn new(old: &'a Lock, new: &'a Lock, now: SystemTime) -> Self {
        let mut users = BTreeMap::new();
        add_users(old, &mut users);
        add_users(new, &mut users);
        let (routes, seen, found) = (Vec::new(), BTreeSet::new(), Vec::new());
        Self { old, new, now, routes, seen, users, found }
    }

    /// Records a difference.
    pub(super) fn note(
        &mut self,
        rule: LockRule,
        at: impl Into<String>,
        before: impl Serialize,
        after: impl Serialize,
    ) {
        let (before, after) = (value_of(before), value_of(after));
        self.found.push(Change::new(rule, self.routes.clone(), at.into(), before, after));
    }

    /// Returns true if a change is recorded at a place or within it. Ignores
    /// the first `first` changes.
    pub(super) fn has_noted(&self, first: usize, place: &str) -> bool {
        let is_within = |at: &str| {
            at.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        // An added or removed status is recorded for all responses.
        let of_all = place.split_once('/').map(|(all, _)| all).filter(|all| *all == "answers");
        let mut changes = self.found.iter().skip(first);
        changes.any(|change| is_within(&change.at) || Some(change.at.as_str()) == of_all)
    }

    /// Returns the number of changes.
    pub(super) fn count(&self) -> usize {
        self.found.len()
    }

    /// Returns true if there are more than `first` changes.
    pub(super) fn has_changes(&self, first: usize) -> bool {
        self.found.len() > first
    }

    /// Makes the routes that use a schema the current routes, and returns the
    /// previous routes.
    pub(super) fn about_schema(&mut self, name: &str, direction: Direction) -> Vec<String> {
        let users = self.users.get(&(direction, name.to_owned()));
        // This crate never writes an unused schema to a lock.
        let users = users.map(|users| users.iter().cloned().collect()).unwrap_or_default();
        std::mem::replace(&mut self.routes, users)
    }
}

pub(super) fn value_of(value: impl Serialize) -> Value {
    // All compared values come from JSON or are convertible to it.
    serde_json::to_value(value).unwrap_or(Value::Null)
}

/// Adds the routes that use each schema of a lock.
fn add_users(lock: &Lock, users: &mut BTreeMap<(Direction, String), BTreeSet<String>>) {
    for (label, route) in &lock.routes {
        for direction in [Direction::Request, Direction::Reply] {
            let mut open = BTreeSet::new();
            let values = values_of(route, direction);
            values.into_iter().for_each(|value| references(value, SCHEMAS, &mut open));
            let mut known: BTreeSet<String> = BTreeSet::new();
            while let Some(name) = open.pop_first() {
                if known.insert(name.clone()) {
                    let mut next = BTreeSet::new();
                    let schema = lock.schemas.get(&name);
                    schema.into_iter().for_each(|value| references(value, SCHEMAS, &mut next));
                    open.extend(next.into_iter().filter(|name| !known.contains(name)));
                }
            }
            for name in known {
                users.entry((direction, name)).or_default().insert(label.clone());
            }
        }
    }
}

/// Returns the schemas of a route in one direction.
pub(super) fn values_of(route: &RouteLock, direction: Direction) -> Vec<&Value> {
    let web_socket = route.web_socket.iter();
    match direction {
        Direction::Request => {
            let params = route.params.iter().map(|param| &param.schema);
            let body = route.body.iter().flat_map(|body| body.content.values());
            let messages = web_socket.filter_map(|it| it.receives.as_ref());
            params.chain(&route.query).chain(body).chain(messages).collect()
        }
        Direction::Reply => {
            let answers = route.answers.values();
            let answers =
                answers.flat_map(|answer| answer.content.values().chain(answer.problems.values()));
            answers.chain(web_socket.filter_map(|it| it.sends.as_ref())).collect()
        }
    }
}
