//! The settings under the configuration files of a program.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::compare::{Comparison, of_routers};
use super::file::{Lock, RouterLock};
use super::rules::{CONFIGURATION_ADDED, CONFIGURATION_REMOVED, CONFIGURATION_SETTING};
use crate::{ConfigurationInfo, RouteMap};

/// The settings under a configuration file in a lock.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConfigurationLock {
    router: RouterLock,
    /// The other values of the file for the router and the server.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    settings: BTreeMap<String, Value>,
}

impl ConfigurationLock {
    fn of(info: &ConfigurationInfo) -> Self {
        let mut router = RouterLock::of(&info.router);
        // A file does not change the cost.
        router.passwords = None;
        Self { router, settings: info.settings.clone() }
    }
}

/// Returns the settings of a map under each declared file.
pub(super) fn of(map: &RouteMap) -> BTreeMap<String, ConfigurationLock> {
    let all = map.configurations.iter();
    all.map(|info| (info.name.clone(), ConfigurationLock::of(info))).collect()
}

/// The place of a file in a lock, before its name.
pub(super) const PLACE: &str = "configurations/";

/// Compares the settings under the files of both locks.
pub(super) fn compare(c: &mut Comparison<'_>) {
    let (old, new) = (c.old, c.new);
    for (name, before) in &old.configurations {
        match new.configurations.get(name) {
            Some(after) => settings(c, name, before, after),
            None => c.note(CONFIGURATION_REMOVED, format!("{PLACE}{name}"), name, Value::Null),
        }
    }
    for name in new.configurations.keys().filter(|name| !old.configurations.contains_key(*name)) {
        c.note(CONFIGURATION_ADDED, format!("{PLACE}{name}"), Value::Null, name);
    }
}

fn settings(
    c: &mut Comparison<'_>,
    name: &str,
    before: &ConfigurationLock,
    after: &ConfigurationLock,
) {
    let old = Lock::of_router(before.router.clone());
    let new = Lock::of_router(after.router.clone());
    for change in of_routers(&old, &new, c.now) {
        let at = change.at.strip_prefix("router/").unwrap_or(&change.at);
        c.note(change.rule, format!("{PLACE}{name}/{at}"), change.before, change.after);
    }
    let keys: BTreeSet<&String> = before.settings.keys().chain(after.settings.keys()).collect();
    for key in keys {
        let values = (before.settings.get(key), after.settings.get(key));
        if values.0 != values.1 {
            c.note(CONFIGURATION_SETTING, format!("{PLACE}{name}/{key}"), values.0, values.1);
        }
    }
}
