//! The command `audit`.

use std::borrow::Cow;
use std::fs;

use stockade_errors::BoxError;
use stockade_map::policy::{Audit, Configuration, ConfigurationError, Policy, parse_json};
use stockade_map::{RouteMap, policy};

use crate::app::App;
use crate::commands::shown;

/// The arguments of the command.
#[derive(Default)]
struct Arguments<'a> {
    is_json: bool,
    config: Option<&'a str>,
    html: Option<&'a str>,
}

impl<'a> Arguments<'a> {
    /// Returns `None` for an unknown, repeated or incomplete argument.
    fn of(words: &[&'a str]) -> Option<Self> {
        let mut arguments = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().filter(|value| !value.starts_with("--"));
            let old = match *word {
                "--config" => arguments.config.replace(*value()?),
                "--html" => arguments.html.replace(*value()?),
                "--json" if !arguments.is_json => {
                    arguments.is_json = true;
                    None
                }
                _ => return None,
            };
            if old.is_some() {
                return None;
            }
        }
        let is_complete = !(arguments.is_json && arguments.html.is_some());
        is_complete.then_some(arguments)
    }
}

impl App {
    /// Runs the command. Returns `None` for invalid arguments.
    pub(crate) fn audit(&self, words: &[&str]) -> Result<Option<String>, BoxError> {
        let Some(Arguments { is_json, config, html }) = Arguments::of(words) else {
            return Ok(None);
        };
        if let Some(path) = html {
            return self.write_report(path, config).map(Some);
        }
        let Some(file) = config else {
            return shown(&self.audit_of(&self.route_map()), is_json).map(Some);
        };
        let map = self.route_map_under(&file.into(), None, &parse_json)?;
        let audit = self.audit_of(&map);
        if !audit.findings.is_empty() && !is_json {
            return Err(ConfigurationError::violations(file, &audit.findings).into());
        }
        shown(&audit, is_json).map(Some)
    }

    fn audit_of(&self, map: &RouteMap) -> Audit {
        self.policy_or_recommended().audit(map)
    }

    /// Returns the policy of the router, or [`Policy::recommended`].
    #[doc(hidden)]
    #[must_use]
    pub fn policy_or_recommended(&self) -> Cow<'_, Policy> {
        self.policy().map_or_else(|| Cow::Owned(Policy::recommended()), Cow::Borrowed)
    }

    /// Writes the report for readers. Returns a line with its numbers.
    fn write_report(&self, path: &str, config: Option<&str>) -> Result<String, BoxError> {
        let map = self.route_map();
        let mut files: Vec<Configuration> = self.configurations().to_vec();
        let other = config.map(Configuration::from);
        files.extend(other.filter(|other| files.iter().all(|it| it.name() != other.name())));
        let mut parts = vec![(map.clone(), self.audit_of(&map))];
        for file in &files {
            let map = self.route_map_under(file, None, &parse_json)?;
            let audit = self.audit_of(&map);
            parts.push((map, audit));
        }
        let html = policy::report::html(&parts);
        fs::write(path, html).map_err(|error| format!("cannot write {path}: {error}"))?;
        let (findings, exceptions) = policy::report::numbers(&parts);
        let routes = map.routes.len();
        Ok(format!("wrote {path}: {routes} routes, {findings} findings, {exceptions} exceptions\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_have_values_and_occur_once() {
        let read = |text: &str| {
            let words: Vec<&str> = text.split_whitespace().collect();
            let arguments = Arguments::of(&words)?;
            Some(format!("{} {:?} {:?}", arguments.is_json, arguments.config, arguments.html))
        };
        let valid = [
            ("", "false None None"),
            ("--json", "true None None"),
            ("--config p.json --json", "true Some(\"p.json\") None"),
            ("--html a.html --config p.json", "false Some(\"p.json\") Some(\"a.html\")"),
        ];
        for (text, expected) in valid {
            assert_eq!(read(text).as_deref(), Some(expected), "{text}");
        }
        let invalid = [
            "p.json",
            "--config",
            "--config --json",
            "--json --json",
            "--html a --html b",
            "--json --html a",
            "--xml",
        ];
        for text in invalid {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
