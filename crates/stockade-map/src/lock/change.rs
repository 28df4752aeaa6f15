//! [`Changes`]: the differences between two locks, as text and as data.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use serde_json::Value;
use stockade_errors::__internal::sort_by;

use super::fix::fix_of;
use super::group::{ChangeGroup, groups_of};
use super::places::Places;
use super::rules::LockRule;
use crate::Place;

/// A difference between two locks.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Change {
    /// The kind of the change, and its class.
    pub rule: LockRule,
    /// The name of the router; empty if the lock has only one router.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub router: String,
    /// The changed routes, such as `GET /users/:id`; empty for a change of the
    /// router.
    pub routes: Vec<String>,
    /// The place in the lock: a field of the route or the router such as
    /// `access/user`, or a place in a schema such as
    /// `#/schemas/User/properties/name`.
    pub at: String,
    /// The old value; null if there was none.
    pub before: Value,
    /// The new value; null if there is none.
    pub after: Value,
    /// The source locations of the routes, of new middleware, of the policy or
    /// of the router. A file does not contain locations, so only the lock of a
    /// map has some; the place of a removed route is unknown.
    pub locations: Vec<Place>,
    /// The fix: how to undo the change. Empty if the change is neither breaking
    /// nor weakening.
    pub fix: String,
}

/// The differences between two locks: weakening, breaking, compatible, texts.
/// Equal changes of several routes are joined.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Changes {
    changes: Vec<Change>,
}

impl Change {
    pub(super) fn new(
        rule: LockRule,
        routes: Vec<String>,
        at: String,
        before: Value,
        after: Value,
    ) -> Self {
        let (router, locations, fix) = (String::new(), Vec::new(), String::new());
        Self { rule, router, routes, at, before, after, locations, fix }
    }
}

impl Changes {
    /// Returns the changes.
    pub fn iter(&self) -> impl Iterator<Item = &Change> {
        self.changes.iter()
    }

    /// Returns true if there are no differences.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Returns true if a working client may now fail.
    #[must_use]
    pub fn is_breaking(&self) -> bool {
        self.iter().any(|change| change.rule.breaking)
    }

    /// Returns true if a client may now do something that was rejected before.
    #[must_use]
    pub fn is_weakening(&self) -> bool {
        self.iter().any(|change| change.rule.weakening)
    }

    /// Returns the changes with their consequences, the most severe first.
    #[must_use]
    pub fn groups(&self) -> Vec<ChangeGroup> {
        groups_of(&self.changes)
    }

    /// Sorts the changes, and joins equal changes of several routes. `places`
    /// are the source locations of the new lock.
    pub(super) fn of(found: Vec<Change>, new: &Places) -> Self {
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        let mut changes: Vec<Change> = Vec::new();
        for change in found {
            let key = key_of(&change, new);
            let known = places.get(&key).and_then(|place| changes.get_mut(*place));
            if let Some(known) = known {
                let is_new = |route: &String| !known.routes.contains(route);
                let routes: Vec<String> = change.routes.into_iter().filter(is_new).collect();
                known.routes.extend(routes);
            } else {
                places.insert(key, changes.len());
                changes.push(change);
            }
        }
        for change in &mut changes {
            change.locations = new.of_change(change);
            change.fix = fix_of(change);
        }
        sort_by(&mut changes, |one, other| gravity(one).cmp(&gravity(other)));
        Self { changes }
    }

    /// Joins the changes of several routers.
    pub(super) fn of_all(parts: impl Iterator<Item = Self>) -> Self {
        let mut changes: Vec<Change> = parts.flat_map(|part| part.changes).collect();
        sort_by(&mut changes, |one, other| gravity(one).cmp(&gravity(other)));
        Self { changes }
    }

    /// Names the router of each change.
    pub(super) fn in_router(mut self, name: &str) -> Self {
        for change in &mut self.changes {
            name.clone_into(&mut change.router);
        }
        self
    }
}

/// Returns equal texts for changes that are one entry. A route that one line
/// declares for several versions is one entry.
fn key_of(change: &Change, new: &Places) -> String {
    let Change { rule, routes, at, before, after, .. } = change;
    let label = routes.first().map(String::as_str).unwrap_or_default();
    match rule.id {
        "route-added" => match new.of_route(label) {
            Some(place) => format!("{} {place}", rule.id),
            None => format!("{} {label}", rule.id),
        },
        "route-removed" | "route-removed-after-sunset" => {
            format!("{} {}", rule.id, without_version(label))
        }
        _ => format!("{} {at} {before} {after}", rule.id),
    }
}

/// Returns a label without segments such as `v1`.
fn without_version(label: &str) -> String {
    let is_version = |part: &&str| {
        let number = part.strip_prefix('v');
        number
            .is_some_and(|it| !it.is_empty() && it.chars().all(|c| c.is_ascii_digit() || c == '.'))
    };
    let parts: Vec<&str> = label.split('/').filter(|part| !is_version(part)).collect();
    parts.join("/")
}

/// Returns the position of a change in the order of severity, first the
/// changes that weaken protection.
pub(super) fn gravity(change: &Change) -> (bool, bool, bool) {
    let rule = change.rule;
    (!rule.weakening, !rule.breaking, rule.text)
}

/// The largest number of characters to show of a value.
const LONGEST: usize = 160;

/// The largest number of routes to list by name.
const NAMED: usize = 3;

impl Change {
    /// Shows class and id, routes, source locations, place and both values.
    fn show(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "[{}] {}: {}", self.rule.class(), self.rule.id, self.rule.meaning)?;
        if !self.router.is_empty() {
            writeln!(f, "    router {:?}", self.router)?;
        }
        let named = self.routes.iter().take(NAMED).map(String::as_str);
        let named: Vec<&str> = named.collect();
        if !named.is_empty() {
            write!(f, "    {}", named.join(", "))?;
            match self.routes.len().saturating_sub(NAMED) {
                0 => writeln!(f)?,
                more => writeln!(f, ", and {more} more")?,
            }
        }
        if !self.locations.is_empty() {
            let places = self.locations.iter().take(NAMED).map(ToString::to_string);
            let more = if self.locations.len() > NAMED { ", …" } else { "" };
            writeln!(f, "    at {}{more}", places.collect::<Vec<_>>().join(", "))?;
        }
        writeln!(f, "    {}", self.values())
    }

    /// Returns the place and both values.
    fn values(&self) -> String {
        let place = if self.at.is_empty() { "route" } else { &self.at };
        format!("{place}: {} -> {}", shown(&self.before), shown(&self.after))
    }

    fn show_fix(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.fix.is_empty() { Ok(()) } else { writeln!(f, "    fix: {}", self.fix) }
    }
}

/// Shows a line with class and id, then lines with routes, source locations,
/// place, both values and the fix.
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.show(f)?;
        self.show_fix(f)
    }
}

/// Shows the cause like a change, and a line for each consequence.
impl fmt::Display for ChangeGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cause.show(f)?;
        if !self.consequences.is_empty() {
            writeln!(f, "    with these consequences:")?;
        }
        for change in &self.consequences {
            let (class, id) = (change.rule.class(), change.rule.id);
            write!(f, "      [{class}] {id}, {}", change.values())?;
            match change.routes.as_slice() {
                routes if *routes == *self.cause.routes => writeln!(f)?,
                [route] => writeln!(f, " ({route})")?,
                routes => writeln!(f, " ({} routes)", routes.len())?,
            }
        }
        let mut all = std::iter::once(&self.cause).chain(&self.consequences);
        all.find(|change| !change.fix.is_empty()).map_or(Ok(()), |change| change.show_fix(f))
    }
}

pub(super) fn shown(value: &Value) -> String {
    let text = match value {
        Value::Null => "nothing".to_owned(),
        value => value.to_string(),
    };
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Shows one group of changes after the other.
impl fmt::Display for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.groups().iter().try_for_each(|group| group.fmt(f))
    }
}
