//! [`ConfigurationInfo`]: the settings of a router under a configuration file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Place, RouterInfo};

/// The settings of a router under a configuration file.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ConfigurationInfo {
    /// The path of the file, as declared: `production.json`.
    pub name: String,
    /// The settings of the router with the values of the file.
    pub router: RouterInfo,
    /// The other values of the file for the router and the server, by key:
    /// `server.max_connections`.
    pub settings: BTreeMap<String, Value>,
    /// The secrets in the file. Their values are not in the map.
    pub secrets: Vec<ConfiguredSecret>,
    /// The key of a `trustProxy: true`, which does not state the number of
    /// proxies.
    pub uncounted_proxies: Option<String>,
    /// True if the given environment has `NODE_ENV=development`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_development: bool,
    /// The line of each key.
    pub lines: BTreeMap<String, u32>,
}

/// A secret in a configuration file.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ConfiguredSecret {
    /// Its key: `auth.jwt_secret`.
    pub key: String,
    /// Its length in bytes; `None` if the file only refers to it, such as
    /// `$JWT_SECRET`.
    pub bytes: Option<u64>,
    /// The algorithm that uses it: `HS256`, unless `algorithm` next to the
    /// secret names another one.
    pub algorithm: String,
    /// The length in bytes that the algorithm needs.
    pub needed: u64,
}

impl ConfigurationInfo {
    /// Returns the place of the first of these keys that the file contains, or
    /// `None` if it contains none of them. Values for the server replace values
    /// for the router.
    #[must_use]
    pub fn place_of(&self, keys: &[&str]) -> Option<Place> {
        let sections = ["server.call.", "server.", "router.", ""];
        let mut found = sections.iter().flat_map(|section| {
            keys.iter().filter_map(move |key| self.lines.get(&format!("{section}{key}")))
        });
        found.next().map(|line| Place { file: self.name.clone(), line: *line })
    }
}
