//! [`SchemaReport`]: the result of a schema check.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::Serialize;
use stockade_routing::map::Place;

/// The result of [`check_schemas`](super::check_schemas). `Display` writes a
/// line for each route. serde serializes the report as JSON.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct SchemaReport {
    /// The seed of the generated cases.
    pub seed: u64,
    /// The routes, in the order of the map.
    pub routes: Vec<RouteReport>,
    /// The file that saves failing cases.
    pub kept_in: Option<PathBuf>,
    /// The reason why failing cases could not be read or written.
    pub not_kept: Option<String>,
}

/// The result for one route.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct RouteReport {
    /// The method.
    pub method: String,
    /// The declared path.
    pub path: String,
    /// The source location of the route.
    pub place: Place,
    /// The number of valid inputs that were not rejected.
    pub valid: u32,
    /// The number of violated rules that the route rejected by name.
    pub rules: u32,
    /// The number of responses for each status.
    pub replies: BTreeMap<u16, u32>,
    /// The parts that were not checked, each with the reason.
    pub not_checked: Vec<NotChecked>,
    /// The properties that do not hold.
    pub failures: Vec<PropertyFailure>,
}

/// A part of a route that was not checked.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[non_exhaustive]
pub struct NotChecked {
    /// A property, or a field and a rule.
    pub part: String,
    /// The reason.
    pub why: String,
}

/// A property that does not hold.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct PropertyFailure {
    /// The property.
    pub property: Property,
    /// The reason, in readable form.
    pub message: String,
    /// The smallest failing exchange, with credentials redacted.
    pub exchange: String,
}

/// A property of a route.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Property {
    /// Valid input is accepted.
    Valid,
    /// Input that violates a rule is rejected, and the response names the field
    /// and the rule.
    Broken,
    /// Every response is documented.
    Reply,
    /// Some valid input reaches the handler.
    Reached,
}

impl SchemaReport {
    /// Returns true if no property failed.
    #[must_use]
    pub fn is_passed(&self) -> bool {
        self.failures().next().is_none()
    }

    /// Returns the properties that do not hold.
    pub fn failures(&self) -> impl Iterator<Item = &PropertyFailure> {
        self.routes.iter().flat_map(|route| &route.failures)
    }
}

impl fmt::Display for SchemaReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for route in &self.routes {
            route.fmt(f)?;
        }
        let failures = self.failures().count();
        let unchecked: usize = self.routes.iter().map(|route| route.not_checked.len()).sum();
        writeln!(f, "\n{failures} failures, {unchecked} parts not checked, seed {}", self.seed)?;
        match (&self.not_kept, &self.kept_in) {
            (Some(why), _) => writeln!(f, "cannot save the failing cases: {why}"),
            (None, Some(file)) if failures > 0 => {
                writeln!(f, "the failing cases are saved in {}", file.display())
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for RouteReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { method, path, valid, rules, .. } = self;
        let replies: Vec<String> =
            self.replies.iter().map(|(status, count)| format!("{status} ×{count}")).collect();
        let replies = replies.join(", ");
        writeln!(f, "{method:<6} {path:<32} valid {valid:>4}  rules {rules:>3}  {replies}")?;
        for NotChecked { part, why } in &self.not_checked {
            writeln!(f, "       not checked: {part}: {why}")?;
        }
        for failure in &self.failures {
            writeln!(f, "       FAILED: {}  {}", failure.message, self.place)?;
            for line in failure.exchange.lines() {
                writeln!(f, "         {line}")?;
            }
        }
        Ok(())
    }
}
