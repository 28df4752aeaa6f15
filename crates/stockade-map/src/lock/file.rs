//! [`Lock`]: the surface of an application in the form of a file.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stockade_errors::{ConfigError, ConfigIssue};

use super::change::Changes;
use super::compare;
use super::configurations::{self, ConfigurationLock};
use super::entry::{RouteLock, label};
use super::places::Places;
use super::write::text_of;
use crate::{CorsInfo, PasswordInfo, PolicyInfo, QuotaInfo, RouteMap, RouterInfo, TrailingSlash};

/// The number of the format that this version writes and reads.
pub(super) const FORMAT: u64 = 1;

/// The surface of an application: everything that affects clients or security.
///
/// Its text is the file `routes.lock`: JSON with sorted keys. The same
/// application always produces the same bytes. The lock omits source locations,
/// the version, function names from the compiler, the framework's own texts,
/// and settings that depend on the environment.
#[derive(Clone, Debug)]
pub struct Lock {
    pub(super) router: RouterLock,
    /// By method and path.
    pub(super) routes: BTreeMap<String, RouteLock>,
    pub(super) schemas: BTreeMap<String, Value>,
    /// The policy; empty if there is none, and `None` in the file of an older
    /// version.
    pub(super) policy: Option<PolicyInfo>,
    /// The settings under configuration files.
    pub(super) configurations: BTreeMap<String, ConfigurationLock>,
    pub(super) places: Places,
}

/// Compares everything that the file contains.
impl PartialEq for Lock {
    fn eq(&self, other: &Self) -> bool {
        self.router == other.router
            && self.routes == other.routes
            && self.schemas == other.schemas
            && self.policy == other.policy
            && self.configurations == other.configurations
    }
}

/// The settings of a router in a lock.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RouterLock {
    pub(super) security_headers: BTreeMap<String, String>,
    pub(super) cors: Option<CorsInfo>,
    pub(super) rate_limit: Option<QuotaInfo>,
    pub(super) max_body: u64,
    pub(super) trust_proxy: Vec<String>,
    /// True if this applies in every environment. Otherwise `NODE_ENV` decides.
    pub(super) expose_errors: bool,
    pub(super) problem_details: bool,
    pub(super) web_sockets: bool,
    #[serde(default, skip_serializing_if = "TrailingSlash::is_strict")]
    pub(super) trailing_slash: TrailingSlash,
    /// The languages of error messages, the default first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) languages: Vec<String>,
    /// The cost of password hashes, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) passwords: Option<PasswordInfo>,
}

/// The file format.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: u64,
    #[serde(default)]
    policy: Option<PolicyInfo>,
    router: RouterLock,
    routes: BTreeMap<String, RouteLock>,
    schemas: BTreeMap<String, Value>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    configurations: BTreeMap<String, ConfigurationLock>,
}

impl RouterLock {
    pub(super) fn of(router: &RouterInfo) -> Self {
        let mut languages = router.languages.clone();
        // Only the position of the default matters.
        if let Some((_, others)) = languages.split_first_mut() {
            others.sort_unstable();
        }
        Self {
            security_headers: router.security_headers.iter().cloned().collect(),
            cors: router.cors.clone(),
            rate_limit: router.rate_limit.clone(),
            max_body: router.max_body,
            trust_proxy: router.trust_proxy.clone(),
            expose_errors: router.exposes_errors_always,
            problem_details: router.problem_details,
            web_sockets: router.web_sockets,
            trailing_slash: router.trailing_slash,
            languages,
            passwords: router.passwords.clone(),
        }
    }
}

impl Lock {
    /// Creates the lock of a map.
    ///
    /// # Errors
    /// Fails if the map has configuration errors, because it is then
    /// incomplete.
    pub fn of(map: &RouteMap) -> Result<Self, ConfigError> {
        let mut mistakes: Vec<ConfigIssue> = map.mistakes.iter().map(ConfigIssue::new).collect();
        let mut routes = BTreeMap::new();
        for route in map.routes.iter().chain(&map.fallback) {
            let label = label(route);
            let lock = RouteLock::of(route, &map.router);
            if routes.insert(label.clone(), lock).is_some() {
                let message = format!("duplicate route {label} in the map");
                mistakes.push(ConfigIssue::new(message).on(route.location.to_string()));
            }
        }
        ConfigError::check(mistakes)?;
        let mut policy = map.policy.clone().unwrap_or_default();
        policy.location = None;
        Ok(Self {
            router: RouterLock::of(&map.router),
            routes,
            schemas: map.schemas.clone(),
            policy: Some(policy),
            configurations: configurations::of(map),
            places: Places::of(map),
        })
    }

    /// Parses the text of a lock.
    ///
    /// # Errors
    /// Fails if the text is not a lock, or has a newer format than this version
    /// supports.
    pub fn read(text: &str) -> Result<Self, LockError> {
        let is_mark = |line: &str| line.starts_with("<<<<<<<") || line.starts_with(">>>>>>>");
        if text.lines().any(is_mark) {
            return Err(LockError::new("it contains conflict markers of an unfinished merge"));
        }
        let value: Value = serde_json::from_str(text)
            .map_err(|error| LockError::new(format!("it is not JSON: {error}")))?;
        match value.get("format").and_then(Value::as_u64) {
            Some(FORMAT) => {}
            Some(other) if other > FORMAT => {
                return Err(LockError::new(format!(
                    "it has the format {other}, but this version of stockade supports at most \
                     {FORMAT}: a newer version wrote it"
                )));
            }
            _ => return Err(LockError::new("its `format` is missing or unknown")),
        }
        if let Some(routers) = value.get("routers").and_then(Value::as_object) {
            let names = routers.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            return Err(LockError::new(format!(
                "it describes the routers {names}: compare it with all of them, by \
                 `assert_routes_lock([(\"name\", router), …], path)`"
            )));
        }
        // Parses the text directly, because an error then names its line.
        let file: File = serde_json::from_str(text)
            .map_err(|error| LockError::new(format!("it is not a lock: {error}")))?;
        let File { policy, router, routes, schemas, configurations, .. } = file;
        Ok(Self { router, routes, schemas, policy, configurations, places: Places::default() })
    }

    /// Returns the differences from this lock to a newer lock. `now` is
    /// compared with the `sunset` of routes.
    #[must_use]
    pub fn changes_to(&self, newer: &Self, now: SystemTime) -> Changes {
        compare::changes(self, newer, now)
    }

    /// Returns the content of the file, without its format.
    pub(super) fn value(&self) -> Value {
        let mut value = json!({
            "router": self.router,
            "routes": self.routes,
            "schemas": self.schemas,
        });
        if let Some(policy) = &self.policy {
            value["policy"] = json!(policy);
        }
        if !self.configurations.is_empty() {
            value["configurations"] = json!(self.configurations);
        }
        value
    }

    /// Returns the labels of the routes.
    pub(super) fn labels(&self) -> Value {
        self.routes.keys().map(String::as_str).collect()
    }

    /// Returns a lock with only the settings of a router.
    pub(super) fn of_router(router: RouterLock) -> Self {
        let (routes, schemas, configurations) = Default::default();
        Self { router, routes, schemas, policy: None, configurations, places: Places::default() }
    }

    /// Returns the same lock without routes.
    pub(super) fn without_routes(&self) -> Self {
        Self { routes: BTreeMap::new(), schemas: BTreeMap::new(), ..self.clone() }
    }
}

/// Writes the file, with a trailing newline.
impl fmt::Display for Lock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut value = self.value();
        value["format"] = FORMAT.into();
        writeln!(f, "{}", text_of(&value))
    }
}

/// The reason why a text is not a lock, or does not match the routes.
#[derive(Clone, Eq, PartialEq)]
pub struct LockError {
    message: String,
}

impl LockError {
    #[doc(hidden)]
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Shows the message unescaped, because a failing `main` uses this format and
/// the message has several lines.
impl fmt::Debug for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error for LockError {}
