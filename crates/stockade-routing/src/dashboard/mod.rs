//! The command `dashboard`: writes a Grafana dashboard and Prometheus alert
//! rules for the routes of a program.
//!
//! Both use only metrics that the program exposes: the metrics of requests, the
//! metrics of the features that its routes use, and the metrics that its
//! sources announce.

mod alerts;
mod grafana;

use std::fs;

use stockade_errors::BoxError;
use stockade_map::{RouteInfo, RouteKind, RouteMap};

use crate::app::App;
use crate::built_methods::LABEL;

/// The arguments of the command.
pub(crate) const USAGE: &str = "dashboard --job NAME [--grafana FILE] [--alerts FILE] \
                                [--objective PERCENT] [--latency SECONDS] [--runbook URL]";

/// The runbook of the book, in the repository of stockade.
const RUNBOOK: &str = "book/src/operations/runbook.md";

/// The upper bound of the last bucket of `http_request_duration_seconds`.
const MAX_LATENCY: f64 = 10.0;

/// The parsed arguments.
struct Arguments<'a> {
    /// The value of the label `job` in Prometheus.
    job: &'a str,
    grafana: Option<&'a str>,
    alerts: Option<&'a str>,
    /// The percentage of requests that must not fail.
    objective: f64,
    /// The highest p99 of a route, in seconds.
    latency: f64,
    runbook: &'a str,
}

/// Runs the command. Returns its output, or `None` for unknown arguments.
pub(crate) fn run(app: &App, args: &[&str]) -> Result<Option<String>, BoxError> {
    let Some(arguments) = parse(args)? else { return Ok(None) };
    let Some(metrics) = app.metrics() else {
        return Err(
            "the router does not have metrics: add `.metrics(&metrics)` to its options".into()
        );
    };
    let announces = |name: &str| metrics.announces(name);
    let facts = Facts::of(&app.route_map(), arguments.job, announces);
    let mut output = String::new();
    if let Some(path) = arguments.grafana {
        write(path, &grafana::dashboard(&facts)?)?;
        output += &format!("the dashboard is in {path}\n");
    }
    if let Some(path) = arguments.alerts {
        let goals = alerts::Goals::of(&arguments);
        write(path, &alerts::rules(&facts, &goals))?;
        output += &format!("the alert rules are in {path}\n");
    }
    Ok(Some(output))
}

fn write(path: &str, text: &str) -> Result<(), BoxError> {
    fs::write(path, text).map_err(|error| format!("{path} cannot be written: {error}").into())
}

/// Returns `None` if an argument is missing, unknown or repeated.
///
/// # Errors
/// Fails if a number is outside of its range.
fn parse<'a>(args: &[&'a str]) -> Result<Option<Arguments<'a>>, BoxError> {
    let (mut job, mut grafana, mut alerts) = (None, None, None);
    let (mut objective, mut latency, mut runbook) = (None, None, None);
    let (pairs, rest) = args.as_chunks::<2>();
    for &[name, value] in pairs {
        let slot = match name {
            "--job" => &mut job,
            "--grafana" => &mut grafana,
            "--alerts" => &mut alerts,
            "--objective" => &mut objective,
            "--latency" => &mut latency,
            "--runbook" => &mut runbook,
            _ => return Ok(None),
        };
        if slot.replace(value).is_some() {
            return Ok(None);
        }
    }
    let Some(job) = job.filter(|job| !job.is_empty() && rest.is_empty()) else { return Ok(None) };
    if grafana.is_none() && alerts.is_none() {
        return Ok(None);
    }
    Ok(Some(Arguments {
        job,
        grafana,
        alerts,
        objective: number("--objective", objective, 99.9, 100.0)?,
        latency: number("--latency", latency, 1.0, MAX_LATENCY)?,
        runbook: runbook.unwrap_or(RUNBOOK),
    }))
}

/// Returns a number between 0 and `end`, without both.
fn number(name: &str, text: Option<&str>, default: f64, end: f64) -> Result<f64, BoxError> {
    let number = text.map_or(Ok(default), str::parse);
    number.ok().filter(|number| *number > 0.0 && *number < end).ok_or_else(|| {
        format!("`{name}` must be a number above 0 and below {end}, found {text:?}").into()
    })
}

/// The facts about a program that decide which panels and rules it gets.
struct Facts {
    job: String,
    /// The values of the label `route`, without duplicates.
    routes: Vec<String>,
    /// The routes of health checks. Their 503 is not a failure.
    health: Vec<String>,
    has_rate_limits: bool,
    has_timeouts: bool,
    has_web_sockets: bool,
    has_sql: bool,
    has_redis: bool,
}

impl Facts {
    fn of(map: &RouteMap, job: &str, announces: impl Fn(&str) -> bool) -> Self {
        let all = || map.routes.iter().chain(&map.fallback);
        let is_health = |route: &&RouteInfo| route.limits.rate_exempt_reason.is_some();
        Self {
            job: job.to_owned(),
            routes: labels(map.routes.iter()),
            health: labels(map.routes.iter().filter(is_health)),
            has_rate_limits: all().any(|route| !route.limits.rate.is_empty()),
            has_timeouts: all().any(|route| route.limits.timeout.is_some()),
            has_web_sockets: all().any(|route| route.kind == RouteKind::WebSocket),
            has_sql: announces("stockade_sql_waiting"),
            has_redis: announces("stockade_redis_up"),
        }
    }

    /// Returns the label matcher of the job.
    fn job_matcher(&self) -> String {
        format!("job={}", quoted(&self.job))
    }

    /// Returns the label matchers of the job and of all routes except for
    /// health checks.
    fn work_matchers(&self) -> String {
        let mut matchers = self.job_matcher();
        if !self.health.is_empty() {
            let patterns: Vec<String> = self.health.iter().map(|it| regex::escape(it)).collect();
            matchers += &format!(",route!~{}", quoted(&patterns.join("|")));
        }
        matchers
    }
}

/// Returns the values of the label `route`, as the metrics write them.
fn labels<'m>(routes: impl Iterator<Item = &'m RouteInfo>) -> Vec<String> {
    let mut labels = Vec::new();
    for route in routes {
        let label = match (route.kind, route.path.split_once('#')) {
            (RouteKind::RpcMethod, Some((_, name))) => format!("{LABEL}{name}"),
            _ => route.shown_path(),
        };
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    labels
}

/// Returns a string of PromQL.
fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(args: &str, expected: &str) {
        let args: Vec<&str> = args.split(' ').filter(|arg| !arg.is_empty()).collect();
        let found = match parse(&args) {
            Ok(None) => "usage".to_owned(),
            Ok(Some(it)) => format!("{} {} {}", it.job, it.objective, it.latency),
            Err(error) => error.to_string(),
        };
        assert_eq!(found, expected, "{args:?}");
    }

    #[test]
    fn arguments_are_pairs_in_any_order() {
        check("--job shop --grafana a", "shop 99.9 1");
        check("--latency 0.25 --alerts a --objective 99 --job shop", "shop 99 0.25");
        for wrong in [
            "",
            "--job shop",
            "--grafana a",
            "--grafana a --job",
            "--job a --job b --grafana a",
            "--job a --grafana b c",
            "--job a --html b",
        ] {
            check(wrong, "usage");
        }
        check(
            "--job a --alerts a --latency 10",
            "`--latency` must be a number above 0 and below 10, found Some(\"10\")",
        );
        check(
            "--job a --alerts a --objective x",
            "`--objective` must be a number above 0 and below 100, found Some(\"x\")",
        );
    }

    #[test]
    fn strings_are_escaped() {
        assert_eq!(quoted("a\"b\\d\n"), r#""a\"b\\d\n""#);
        let mut facts = Facts::of(&RouteMap::default(), "a\"b", |_| false);
        assert_eq!(facts.work_matchers(), r#"job="a\"b""#);
        facts.health = vec!["/live".to_owned(), "/a.b".to_owned()];
        assert_eq!(facts.work_matchers(), r#"job="a\"b",route!~"/live|/a\\.b""#);
    }
}
