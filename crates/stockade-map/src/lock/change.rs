//! [`Changes`]: the differences between two locks, as text and as data.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use serde_json::Value;
use stockade_errors::__internal::sort_by;

use super::rules::LockRule;

/// A difference between two locks.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Change {
    /// The kind of the change, and its class.
    pub rule: LockRule,
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
}

/// The differences between two locks. Severe changes come first; equal changes
/// of several routes are joined.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Changes {
    changes: Vec<Change>,
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

    /// Sorts the changes, and joins equal changes of several routes.
    pub(super) fn of(found: Vec<Change>) -> Self {
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        let mut changes: Vec<Change> = Vec::new();
        for change in found {
            let key =
                format!("{} {} {} {}", change.rule.id, change.at, change.before, change.after);
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
        let gravity = |change: &Change| {
            let rule = change.rule;
            (!(rule.breaking && rule.weakening), !rule.breaking, !rule.weakening, rule.text)
        };
        sort_by(&mut changes, |one, other| gravity(one).cmp(&gravity(other)));
        Self { changes }
    }
}

/// The largest number of characters to show of a value.
const LONGEST: usize = 160;

/// The largest number of routes to list by name.
const NAMED: usize = 3;

/// Shows a line with class and id, then lines with routes, place and both
/// values.
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "[{}] {}: {}", self.rule.class(), self.rule.id, self.rule.meaning)?;
        let named = self.routes.iter().take(NAMED).map(String::as_str);
        let named: Vec<&str> = named.collect();
        if !named.is_empty() {
            write!(f, "    {}", named.join(", "))?;
            match self.routes.len().saturating_sub(NAMED) {
                0 => writeln!(f)?,
                more => writeln!(f, ", and {more} more")?,
            }
        }
        let place = if self.at.is_empty() { "route" } else { &self.at };
        writeln!(f, "    {place}: {} -> {}", shown(&self.before), shown(&self.after))
    }
}

fn shown(value: &Value) -> String {
    let text = match value {
        Value::Null => "nothing".to_owned(),
        value => value.to_string(),
    };
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Shows one change after the other.
impl fmt::Display for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.changes.iter().try_for_each(|change| change.fmt(f))
    }
}
