//! [`RouterLocks`]: the locks of several routers in one file.

use std::collections::BTreeMap;
use std::fmt;
use std::time::SystemTime;

use serde_json::{Map, Value, json};
use stockade_errors::{ConfigError, ConfigIssue};

use super::change::{Change, Changes};
use super::file::{FORMAT, Lock, LockError};
use super::places::Places;
use super::rules::{LockRule, ROUTER_ADDED, ROUTER_REMOVED};
use super::write::text_of;
use crate::RouteMap;

/// The locks of several routers of a program, such as a public and an internal
/// router, in one file.
///
/// ```
/// use std::time::SystemTime;
///
/// use stockade::openapi::lock::RouterLocks;
/// use stockade::prelude::*;
///
/// fn map(api: RouteTree) -> Result<stockade::routing::map::RouteMap, ConfigError> {
///     Ok(create_router(api, RouterOptions::new()).build()?.route_map())
/// }
/// let public = map(routes! { "users": { GET: async || "all" } })?;
/// let before = RouterLocks::of([("public", &public), ("admin", &map(routes! {})?)])?;
/// let admin = map(routes! { "users": { DELETE: async || "none" } })?;
/// let after = RouterLocks::of([("public", &public), ("admin", &admin)])?;
///
/// let changes = before.changes_to(&after, SystemTime::now());
/// let change = changes.iter().next().unwrap();
/// assert_eq!((change.rule.id, change.router.as_str()), ("route-added-open", "admin"));
/// # Ok::<(), ConfigError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RouterLocks {
    /// In the order of the program. A file is sorted by name.
    locks: Vec<(String, Lock)>,
}

impl RouterLocks {
    /// Creates the locks of maps with names.
    ///
    /// # Errors
    /// Fails if a map has configuration errors, and if a name is empty or a
    /// duplicate.
    pub fn of<'m>(
        maps: impl IntoIterator<Item = (&'m str, &'m RouteMap)>,
    ) -> Result<Self, ConfigError> {
        let mut locks: Vec<(String, Lock)> = Vec::new();
        for (name, map) in maps {
            if name.is_empty() || locks.iter().any(|(known, _)| known == name) {
                let message = format!("{name:?} is empty or the name of another router");
                return Err(ConfigIssue::new(message).into());
            }
            locks.push((name.to_owned(), Lock::of(map)?));
        }
        Ok(Self { locks })
    }

    /// Parses the text of a file. The file of one router is also valid: it is
    /// compared with the first router.
    ///
    /// # Errors
    /// Fails if the text is not a lock, or has a newer format than this version
    /// supports.
    pub fn read(text: &str) -> Result<Self, LockError> {
        let value: Value = serde_json::from_str(text).unwrap_or_default();
        let Some(routers) = value.get("routers").and_then(Value::as_object) else {
            return Ok(Self { locks: vec![(String::new(), Lock::read(text)?)] });
        };
        let mut locks = Vec::new();
        for (name, router) in routers {
            let mut file = router.as_object().cloned().unwrap_or_default();
            file.insert("format".to_owned(), value.get("format").cloned().unwrap_or_default());
            let lock = Lock::read(&Value::Object(file).to_string())
                .map_err(|error| LockError::new(format!("router {name:?}: {error}")))?;
            locks.push((name.clone(), lock));
        }
        Ok(Self { locks })
    }

    /// Returns the differences to newer locks. `now` is compared with the
    /// `sunset` of routes.
    #[must_use]
    pub fn changes_to(&self, newer: &Self, now: SystemTime) -> Changes {
        let mut parts = Vec::new();
        for (index, (name, lock)) in newer.locks.iter().enumerate() {
            let is_same =
                |(known, _): &&(String, Lock)| known == name || (known.is_empty() && index == 0);
            let known = self.locks.iter().find(is_same);
            let changes = if let Some((_, old)) = known {
                old.changes_to(lock, now)
            } else {
                parts.push(one(ROUTER_ADDED, Value::Null, lock.labels()).in_router(name));
                lock.without_routes().changes_to(lock, now)
            };
            parts.push(changes.in_router(name));
        }
        let is_gone =
            |name: &str| !name.is_empty() && newer.locks.iter().all(|(known, _)| known != name);
        for (name, lock) in self.locks.iter().filter(|(name, _)| is_gone(name)) {
            parts.push(one(ROUTER_REMOVED, lock.labels(), Value::Null).in_router(name));
        }
        Changes::of_all(parts.into_iter())
    }
}

/// Returns a change of a whole router.
fn one(rule: LockRule, before: Value, after: Value) -> Changes {
    let change = Change::new(rule, Vec::new(), "router".to_owned(), before, after);
    Changes::of(vec![change], &Places::default())
}

/// Writes the file, with a trailing newline.
impl fmt::Display for RouterLocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let routers: BTreeMap<&str, Value> =
            self.locks.iter().map(|(name, lock)| (name.as_str(), lock.value())).collect();
        let routers: Map<String, Value> =
            routers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        writeln!(f, "{}", text_of(&json!({ "format": FORMAT, "routers": routers })))
    }
}
