//! [`Configuration`]: a configuration file that a policy checks.

mod environment;
mod lines;
mod secrets;

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};
use stockade_errors::BoxError;

use super::Finding;
use crate::ConfigurationInfo;

type Parse = Arc<dyn Fn(&str) -> Result<Value, BoxError> + Send + Sync>;

/// A configuration file with values for `RouterOptions` and `ServerOptions`.
///
/// Its sections `router` and `server` contain these values; other sections
/// belong to the program. A file with neither section contains only values for
/// the router. The values replace the options that the program sets in code.
///
/// `Router::configuration` declares the file. A test then compares it with
/// `routes.lock`, and the command `audit --html` shows it. `assert_posture` and
/// the command `audit --config` check a file with the policy of the router.
///
/// ```no_run
/// use stockade::policy::Policy;
/// use stockade::prelude::*;
/// use stockade::testing::assert_posture;
///
/// fn router() -> Router {
///     let api = routes! { "news": { GET: { async || "all", public: "anybody may read" } } };
///     create_router(api, RouterOptions::new())
///         .policy(Policy::recommended())
///         .configuration("production.json")
/// }
///
/// // #[test]
/// fn production_follows_the_policy() {
///     assert_posture(router(), "production.json");
/// }
/// ```
#[derive(Clone)]
pub struct Configuration {
    path: PathBuf,
    parse: Option<Parse>,
    /// The variables of the environment, if they are given.
    environment: Option<BTreeMap<String, String>>,
}

impl Configuration {
    /// Creates the configuration of a file. The path is relative to the package
    /// of a test (`CARGO_MANIFEST_DIR`), and to the current directory for a
    /// command.
    #[must_use]
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), parse: None, environment: None }
    }

    /// Sets the parser of the file. Default: JSON; `assert_posture` and
    /// `assert_routes_lock` also read TOML, if the name ends with `.toml`.
    ///
    /// ```
    /// use stockade::policy::Configuration;
    /// use stockade::serde_json;
    ///
    /// // The parser of your program, for the file that it reads at startup.
    /// let file = Configuration::file("production.conf").parsed_by(|text| {
    ///     let pairs = text.lines().filter_map(|line| line.split_once('='));
    ///     let values = pairs.map(|(key, value)| Ok((key.trim().to_owned(), serde_json::from_str::<serde_json::Value>(value)?)));
    ///     values.collect()
    /// });
    /// # drop(file);
    /// ```
    #[must_use]
    pub fn parsed_by(
        mut self,
        parse: impl Fn(&str) -> Result<Value, BoxError> + Send + Sync + 'static,
    ) -> Self {
        self.parse = Some(Arc::new(parse));
        self
    }

    /// Sets the environment variables of production, as data. A check does
    /// not read the variables of the test.
    ///
    /// - `NODE_ENV=development` is a violation of `errors-hidden`, unless an
    ///   option hides the messages.
    /// - `${NAME}` in a text of the file, and a text that is only `$NAME` or
    ///   `env:NAME`, is replaced by the value of the variable. A whole text may
    ///   become a number, a list or another JSON value.
    /// - Variables such as `JWT_SECRET` must be as long as their algorithm needs,
    ///   like secrets in the file.
    ///
    /// References to other variables remain unchanged.
    ///
    /// ```
    /// use stockade::policy::Configuration;
    ///
    /// let file = Configuration::file("production.toml")
    ///     .environment([("NODE_ENV", "production"), ("TRUSTED_PROXIES", "1")]);
    /// # drop(file);
    /// ```
    #[must_use]
    pub fn environment<N: Into<String>, V: Into<String>>(
        mut self,
        variables: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        let variables = variables.into_iter().map(|(name, value)| (name.into(), value.into()));
        self.environment.get_or_insert_default().extend(variables);
        self
    }

    /// Returns the path, with `/` between its parts.
    #[doc(hidden)]
    #[must_use]
    pub fn name(&self) -> String {
        self.path.display().to_string().replace('\\', "/")
    }

    /// Reads the file, relative to a folder. `usual` parses a file that does not
    /// have its own parser; it receives the name and the text.
    ///
    /// # Errors
    /// Fails if the file cannot be read or parsed, and if it is not an object.
    #[doc(hidden)]
    pub fn load(
        &self,
        folder: Option<&Path>,
        usual: &dyn Fn(&str, &str) -> Result<Value, BoxError>,
    ) -> Result<ConfigurationFile, ConfigurationError> {
        let name = self.name();
        let path = folder.map_or_else(|| self.path.clone(), |folder| folder.join(&self.path));
        let text = fs::read_to_string(path)
            .map_err(|error| ConfigurationError::new(format!("cannot read {name}: {error}")))?;
        let parsed = match &self.parse {
            Some(parse) => parse(&text),
            None => usual(&name, &text),
        };
        let value = parsed
            .map_err(|error| ConfigurationError::new(format!("cannot parse {name}: {error}")))?;
        let Some(variables) = &self.environment else {
            return ConfigurationFile::of(name, &text, value);
        };
        let mut file = ConfigurationFile::of(name, &text, environment::resolved(value, variables))?;
        let node_env = variables.get("NODE_ENV").map(String::as_str);
        file.info.is_development = node_env == Some("development");
        file.info.secrets.extend(secrets::of_environment(variables, &text));
        Ok(file)
    }
}

impl From<&str> for Configuration {
    fn from(path: &str) -> Self {
        Self::file(path)
    }
}

impl From<String> for Configuration {
    fn from(path: String) -> Self {
        Self::file(path)
    }
}

impl From<PathBuf> for Configuration {
    fn from(path: PathBuf) -> Self {
        Self::file(path)
    }
}

impl fmt::Debug for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Configuration({:?})", self.name())
    }
}

/// Parses JSON.
///
/// # Errors
/// Fails for any other text. The message explains how to check another format.
#[doc(hidden)]
pub fn parse_json(name: &str, text: &str) -> Result<Value, BoxError> {
    serde_json::from_str(text).map_err(|error| match name.ends_with(".json") {
        true => error.into(),
        false => format!(
            "{error}; a command reads JSON: set the parser of another format by \
             `Configuration::file({name:?}).parsed_by(…)` on the router, or check a file with \
             TOML by `assert_posture` in a test"
        )
        .into(),
    })
}

/// The content of a configuration file.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct ConfigurationFile {
    /// The values for `RouterOptions`, with the keys of the file.
    pub router: Map<String, Value>,
    /// The values for `HostOptions`, which a server applies to its router.
    pub host: Map<String, Value>,
    /// The facts about the file. The settings of the router are missing.
    pub info: ConfigurationInfo,
}

/// The keys of the router that a map contains as resolved settings.
const RESOLVED: [&str; 9] = [
    "cors",
    "cors_origin",
    "enable_security_headers",
    "expose_errors",
    "max_body",
    "max_body_size",
    "rate_limit",
    "security_headers",
    "trust_proxy",
];

impl ConfigurationFile {
    /// Divides a file into its sections. `text` determines the lines of the
    /// keys.
    fn of(name: String, text: &str, value: Value) -> Result<Self, ConfigurationError> {
        let Value::Object(file) = value else {
            return Err(ConfigurationError::new(format!(
                "{name} is not an object with values for `RouterOptions`, or with the sections \
                 `router` and `server`"
            )));
        };
        let section = |key: &str| file.get(key).and_then(Value::as_object).cloned();
        let (router, server) = match (section("router"), section("server")) {
            (None, None) => (file.clone(), Map::new()),
            (router, server) => (router.unwrap_or_default(), server.unwrap_or_default()),
        };
        let mut host = server.get("call").and_then(Value::as_object).cloned().unwrap_or_default();
        for (key, value) in &server {
            if snake(key) == "trust_proxy" {
                host.retain(|key, _| snake(key) != "trust_proxy");
                host.insert(key.clone(), value.clone());
            }
        }
        let trusts = |values: &Map<String, Value>| {
            let value = values.iter().find(|(key, _)| snake(key) == "trust_proxy");
            value.map(|(_, value)| *value == Value::Bool(true))
        };
        // The first section with a value counts.
        let sections = [
            ("server.trust_proxy", &server),
            ("server.call.trust_proxy", &host),
            ("router.trust_proxy", &router),
        ];
        let counts = sections.into_iter().find_map(|(key, values)| Some((key, trusts(values)?)));
        let uncounted = counts.filter(|(_, is_true)| *is_true).map(|(key, _)| key.to_owned());
        let mut lines = lines::lines(text);
        let cors = router.get("cors");
        if cors.is_some_and(|cors| cors.is_string() || cors.is_array()) {
            // The short form of an object with an origin.
            for section in ["router.", ""] {
                if let Some(line) = lines.get(&format!("{section}cors")).copied() {
                    lines.insert(format!("{section}cors.origin"), line);
                }
            }
        }
        let info = ConfigurationInfo {
            settings: settings(&router, &server),
            secrets: secrets::secrets(&file),
            uncounted_proxies: uncounted,
            lines,
            name,
            ..ConfigurationInfo::default()
        };
        Ok(Self { router, host, info })
    }

    /// Returns the keys of the router's section in snake case.
    #[must_use]
    pub fn router_keys(&self) -> BTreeSet<String> {
        self.router.keys().map(|key| snake(key)).collect()
    }
}

/// Returns the values that the settings of a map do not contain.
fn settings(router: &Map<String, Value>, server: &Map<String, Value>) -> BTreeMap<String, Value> {
    let named = |section: &'static str| {
        move |(key, value): (&String, &Value)| (format!("{section}.{}", snake(key)), value.clone())
    };
    let router = router.iter().filter(|(key, _)| !RESOLVED.contains(&&*snake(key)));
    let is_host = |key: &String| matches!(&*snake(key), "call" | "trust_proxy");
    let server = server.iter().filter(|(key, _)| !is_host(key));
    router.map(named("router")).chain(server.map(named("server"))).collect()
}

/// Returns a key in snake case: `max_body_size` for `maxBodySize`.
fn snake(key: &str) -> String {
    let mut snake = String::with_capacity(key.len() + 4);
    for c in key.chars() {
        if c.is_uppercase() {
            snake.push('_');
        }
        snake.extend(c.to_lowercase());
    }
    snake
}

/// The reason why a configuration file cannot be checked, or the violations of
/// a policy.
#[derive(Clone, Eq, PartialEq)]
pub struct ConfigurationError {
    message: String,
}

impl ConfigurationError {
    #[doc(hidden)]
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }

    /// Creates the error for the violations of a policy.
    #[doc(hidden)]
    #[must_use]
    pub fn violations(file: &str, findings: &[Finding]) -> Self {
        let count = findings.len();
        let word = if count == 1 { "violation" } else { "violations" };
        let lines: Vec<String> = findings.iter().map(|it| format!("\n  {it}")).collect();
        Self::new(format!("{count} {word} of the policy under {file}:{}", lines.concat()))
    }
}

impl fmt::Display for ConfigurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Shows the message unescaped, because a failing `main` uses this format and
/// the message has several lines.
impl fmt::Debug for ConfigurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error for ConfigurationError {}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn file(value: Value) -> ConfigurationFile {
        ConfigurationFile::of("production.json".to_owned(), &value.to_string(), value).unwrap()
    }

    #[test]
    fn keys_are_compared_in_snake_case() {
        let cases = [
            ("trustProxy", "trust_proxy"),
            ("http2MaxStreams", "http2_max_streams"),
            ("max_body", "max_body"),
        ];
        for (key, expected) in cases {
            assert_eq!(snake(key), expected);
        }
    }

    #[test]
    fn a_file_without_sections_belongs_to_the_router() {
        let whole = file(json!({ "corsOrigin": "*", "wsMaxPayload": 7 }));
        assert_eq!(
            whole.router_keys(),
            BTreeSet::from(["cors_origin", "ws_max_payload"].map(String::from))
        );
        assert_eq!(
            whole.info.settings,
            BTreeMap::from([("router.ws_max_payload".into(), json!(7))])
        );
        let parts = file(json!({
            "router": { "rateLimit": false },
            "server": {
                "maxConnections": 9,
                "trustProxy": true,
                "call": { "trust_proxy": 2, "exposeErrors": true },
            },
            "database": { "url": "sqlite:data.db" },
        }));
        assert_eq!(parts.router, *json!({ "rateLimit": false }).as_object().unwrap());
        assert_eq!(
            parts.host,
            *json!({ "exposeErrors": true, "trustProxy": true }).as_object().unwrap()
        );
        assert_eq!(
            parts.info.settings,
            BTreeMap::from([("server.max_connections".into(), json!(9))])
        );
        assert_eq!(parts.info.uncounted_proxies.as_deref(), Some("server.trust_proxy"));
    }

    #[test]
    fn values_of_the_server_have_precedence_for_places() {
        let text = "{ \"router\": {\n\"trustProxy\": 1 },\n\"server\": {\n\"trustProxy\": 2 } }";
        let value = serde_json::from_str(text).unwrap();
        let info = ConfigurationFile::of("p.json".to_owned(), text, value).unwrap().info;
        assert_eq!(info.place_of(&["trust_proxy"]).unwrap().to_string(), "p.json:4");
        assert_eq!(info.place_of(&["cors"]), None);
    }

    #[test]
    fn the_short_form_of_cors_has_the_place_of_its_origin() {
        let has_origin = |value| file(value).info.place_of(&["cors.origin"]).is_some();
        assert!(has_origin(json!({ "cors": "https://a.example" })));
        assert!(has_origin(json!({ "router": { "cors": ["https://a.example"] } })));
        assert!(has_origin(json!({ "cors": { "origin": "*" } })));
        assert!(
            !has_origin(json!({ "cors": { "maxAge": 5 } })) && !has_origin(json!({ "cors": true }))
        );
    }

    #[test]
    fn only_objects_are_configurations() {
        let error = ConfigurationFile::of("p.json".to_owned(), "[]", json!([])).unwrap_err();
        assert!(error.to_string().starts_with("p.json is not an object"), "{error}");
        let error = parse_json("p.toml", "a = 1").unwrap_err().to_string();
        assert!(error.contains("Configuration::file(\"p.toml\").parsed_by"), "{error}");
    }
}
