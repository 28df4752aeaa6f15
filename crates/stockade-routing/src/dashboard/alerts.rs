//! The alert rules, as a file for Prometheus.
//!
//! Source: the burn rates are from "Alerting on SLOs" in Google's Site
//! Reliability Workbook.

use std::fmt::Write as _;

use super::{Arguments, Facts};

/// The goals of the program, and the place of its runbook.
pub(super) struct Goals {
    /// The part of the requests that may fail, such as 0.001.
    budget: f64,
    /// In seconds.
    latency: f64,
    runbook: String,
}

impl Goals {
    pub(super) fn of(arguments: &Arguments<'_>) -> Self {
        Self {
            // Rounded, because 100 - 99.9 is not exactly 0.1.
            budget: ((100.0 - arguments.objective) * 1e7).round() / 1e9,
            latency: arguments.latency,
            runbook: arguments.runbook.to_owned(),
        }
    }
}

/// An alert rule.
struct Alert {
    name: &'static str,
    expr: String,
    /// The time that the expression must be true.
    wait: &'static str,
    /// `page` needs a person now, `ticket` on the next working day.
    severity: &'static str,
    summary: &'static str,
    description: String,
    /// The section of the runbook.
    section: &'static str,
}

/// Returns the rules as YAML.
pub(super) fn rules(facts: &Facts, goals: &Goals) -> String {
    let mut alerts = vec![target_down(facts), burn(facts, goals, &FAST), burn(facts, goals, &SLOW)];
    alerts.extend([latency(facts, goals), connections(facts), overload(facts)]);
    let optional = [
        (facts.has_timeouts, timeouts as fn(&Facts) -> Alert),
        (facts.has_rate_limits, rate_limit),
        (facts.has_web_sockets, web_sockets),
        (facts.has_sql, sql_pool),
        (facts.has_redis, redis_down),
        (facts.has_redis, redis_slow),
    ];
    let optional = optional.into_iter().filter(|(is_wanted, _)| *is_wanted);
    alerts.extend(optional.map(|(_, alert)| alert(facts)));
    let mut text = String::from(
        "# Written by the command `dashboard` of the program. Run the command again instead of \
         editing this file.\ngroups:\n",
    );
    let _ = writeln!(text, "  - name: {}\n    rules:", yaml(&facts.job));
    for alert in &alerts {
        // Writing into a String cannot fail.
        let _ = write(&mut text, alert, &goals.runbook);
    }
    text
}

fn write(text: &mut String, alert: &Alert, runbook: &str) -> std::fmt::Result {
    writeln!(text, "      - alert: {}", alert.name)?;
    writeln!(text, "        expr: {}", yaml(&alert.expr))?;
    writeln!(text, "        for: {}", alert.wait)?;
    writeln!(text, "        labels:\n          severity: {}", alert.severity)?;
    writeln!(text, "        annotations:\n          summary: {}", yaml(alert.summary))?;
    writeln!(text, "          description: {}", yaml(&alert.description))?;
    writeln!(text, "          runbook_url: {}", yaml(&format!("{runbook}#{}", alert.section)))
}

/// Returns a quoted string of YAML. Only the quote needs an escape.
fn yaml(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''").replace('\n', " "))
}

fn target_down(facts: &Facts) -> Alert {
    let job = facts.job_matcher();
    Alert {
        name: "StockadeTargetDown",
        expr: format!("up{{{job}}} == 0 or absent(up{{{job}}})"),
        wait: "2m",
        severity: "page",
        summary: "Prometheus cannot read the metrics of {{ $labels.job }}",
        description: "The target {{ $labels.instance }} does not respond, or the job \
                      {{ $labels.job }} does not have a target."
            .to_owned(),
        section: "prometheus-cannot-read-the-metrics",
    }
}

/// The speed at which errors use the budget of 30 days.
struct Burn {
    name: &'static str,
    /// The long and the short window.
    windows: [&'static str; 2],
    /// The speed compared with the allowed speed.
    factor: f64,
    wait: &'static str,
    severity: &'static str,
    summary: &'static str,
    /// The least number of failed requests in the long window.
    least: u32,
    used: &'static str,
}

const FAST: Burn = Burn {
    name: "StockadeErrorsFastBurn",
    windows: ["1h", "5m"],
    factor: 14.4,
    wait: "2m",
    severity: "page",
    summary: "{{ $labels.method }} {{ $labels.route }} fails often",
    least: 5,
    used: "2 % of the error budget of 30 days per hour",
};

const SLOW: Burn = Burn {
    name: "StockadeErrorsSlowBurn",
    windows: ["6h", "30m"],
    factor: 6.0,
    wait: "15m",
    severity: "ticket",
    summary: "{{ $labels.method }} {{ $labels.route }} fails more often than the objective allows",
    least: 10,
    used: "5 % of the error budget of 30 days in 6 hours",
};

fn burn(facts: &Facts, goals: &Goals, burn: &Burn) -> Alert {
    let work = facts.work_matchers();
    let [long, short] = burn.windows;
    let failed =
        |window: &str| format!("rate(http_requests_total{{{work},status=~\"5..\"}}[{window}])");
    let share = |window: &str| {
        let all = format!("rate(http_requests_total{{{work}}}[{window}])");
        format!("{BY_ROUTE}({}) / {BY_ROUTE}({all})", failed(window))
    };
    let limit = rounded(burn.factor * goals.budget);
    let least = failed(long).replacen("rate", "increase", 1);
    Alert {
        name: burn.name,
        expr: format!(
            "{} > {limit} and {} > {limit} and {BY_ROUTE}({least}) > {}",
            share(long),
            share(short),
            burn.least
        ),
        wait: burn.wait,
        severity: burn.severity,
        summary: burn.summary,
        description: format!(
            "{{{{ $value | humanizePercentage }}}} of the requests in {long} got a 5xx. This uses \
             {}.",
            burn.used
        ),
        section: "a-route-uses-its-error-budget",
    }
}

/// Removes the rounding error of a product.
fn rounded(number: f64) -> f64 {
    (number * 1e9).round() / 1e9
}

const BY_ROUTE: &str = "sum by (job, method, route) ";

fn latency(facts: &Facts, goals: &Goals) -> Alert {
    let (work, limit) = (facts.work_matchers(), goals.latency);
    Alert {
        name: "StockadeSlowResponses",
        expr: format!(
            "histogram_quantile(0.99, sum by (job, method, route, le) \
             (rate(http_request_duration_seconds_bucket{{{work}}}[10m]))) > {limit} and \
             {BY_ROUTE}(increase(http_request_duration_seconds_count{{{work}}}[10m])) > 20"
        ),
        wait: "10m",
        severity: "ticket",
        summary: "{{ $labels.method }} {{ $labels.route }} is slow",
        description: format!(
            "1 % of the responses start after {{{{ $value | humanizeDuration }}}} or later. The \
             goal is {limit} s."
        ),
        section: "responses-are-slow",
    }
}

fn connections(facts: &Facts) -> Alert {
    let job = facts.job_matcher();
    Alert {
        name: "StockadeConnectionsNearLimit",
        expr: format!("stockade_connections{{{job}}} / stockade_connections_limit{{{job}}} > 0.8"),
        wait: "5m",
        severity: "page",
        summary: "{{ $labels.instance }} has nearly as many connections as it allows",
        description: "{{ $value | humanizePercentage }} of `max_connections` are open.".to_owned(),
        section: "connections-and-file-descriptors",
    }
}

fn web_sockets(facts: &Facts) -> Alert {
    let job = facts.job_matcher();
    Alert {
        name: "StockadeWebSocketsNearLimit",
        expr: format!("stockade_websockets{{{job}}} / stockade_websockets_limit{{{job}}} > 0.8"),
        wait: "5m",
        severity: "ticket",
        summary: "{{ $labels.instance }} has nearly as many WebSockets as it allows",
        description: "{{ $value | humanizePercentage }} of `ws_max_connections` are open."
            .to_owned(),
        section: "connections-and-file-descriptors",
    }
}

fn overload(facts: &Facts) -> Alert {
    let job = facts.job_matcher();
    Alert {
        name: "StockadeOverload",
        expr: format!(
            "{BY_ROUTE}(rate(http_rejections_total{{{job},reason=\"overload\"}}[5m])) > 0.1"
        ),
        wait: "5m",
        severity: "page",
        summary: "{{ $labels.method }} {{ $labels.route }} rejects requests because of overload",
        description: "{{ $value | humanize }} requests per second got a 503 of \
                      `concurrency_limit`, or of a store that is not available."
            .to_owned(),
        section: "clients-get-503",
    }
}

fn timeouts(facts: &Facts) -> Alert {
    let job = facts.job_matcher();
    Alert {
        name: "StockadeTimeouts",
        expr: format!(
            "{BY_ROUTE}(rate(http_rejections_total{{{job},reason=\"timeout\"}}[10m])) > 0.1"
        ),
        wait: "10m",
        severity: "ticket",
        summary: "{{ $labels.method }} {{ $labels.route }} exceeds its time limit",
        description: "{{ $value | humanize }} requests per second exceeded the `timeout` of the \
                      route, or the client was too slow."
            .to_owned(),
        section: "clients-get-503",
    }
}

fn rate_limit(facts: &Facts) -> Alert {
    let job = facts.job_matcher();
    let rejected = format!("http_rejections_total{{{job},reason=\"rate_limit\"}}[10m]");
    Alert {
        name: "StockadeRateLimitSpike",
        expr: format!(
            "sum by (job) (rate({rejected})) / sum by (job) \
             (rate(http_requests_total{{{job}}}[10m])) > 0.2 and sum by (job) \
             (increase({rejected})) > 100"
        ),
        wait: "10m",
        severity: "ticket",
        summary: "{{ $labels.job }} rejects many requests because of rate limits",
        description: "{{ $value | humanizePercentage }} of the requests got a 429.".to_owned(),
        section: "clients-get-429",
    }
}

fn sql_pool(facts: &Facts) -> Alert {
    let job = facts.job_matcher();
    Alert {
        name: "StockadeDatabasePoolExhausted",
        expr: format!(
            "stockade_sql_connections_in_use{{{job}}} >= stockade_sql_connections_limit{{{job}}} \
             and stockade_sql_waiting{{{job}}} > 0"
        ),
        wait: "2m",
        severity: "page",
        summary: "Statements of {{ $labels.instance }} wait for a connection to \
                  {{ $labels.database }}",
        description: "All {{ $value }} connections of the pool {{ $labels.pool }} are in use."
            .to_owned(),
        section: "database-pools",
    }
}

fn redis_down(facts: &Facts) -> Alert {
    let job = facts.job_matcher();
    Alert {
        name: "StockadeRedisDown",
        expr: format!(
            "stockade_redis_up{{{job}}} == 0 or stockade_redis_breaker_open{{{job}}} == 1"
        ),
        wait: "1m",
        severity: "page",
        summary: "{{ $labels.instance }} cannot use Redis at {{ $labels.engine }}",
        description: "The connection failed, or Redis does not respond.".to_owned(),
        section: "redis",
    }
}

fn redis_slow(facts: &Facts) -> Alert {
    let job = facts.job_matcher();
    Alert {
        name: "StockadeRedisCommandsFail",
        expr: format!(
            "sum by (job, instance, kind, outcome) \
             (rate(stockade_redis_commands_total{{{job},outcome!=\"ok\"}}[5m])) > 0.1"
        ),
        wait: "5m",
        severity: "ticket",
        summary: "Redis commands of the kind {{ $labels.kind }} fail",
        description: "{{ $value | humanize }} commands per second end with the outcome \
                      {{ $labels.outcome }}."
            .to_owned(),
        section: "redis",
    }
}

#[cfg(test)]
mod tests {
    use stockade_map::RouteMap;

    use super::*;

    #[test]
    fn rules_depend_on_the_program() {
        let goals = Goals { budget: 0.001, latency: 1.0, runbook: "r".to_owned() };
        let mut facts = Facts::of(&RouteMap::default(), "it's", |_| false);
        let names = |facts: &Facts| -> Vec<String> {
            let text = rules(facts, &goals);
            let names = text.lines().filter_map(|line| line.split_once("- alert: Stockade"));
            names.map(|(_, name)| name.to_owned()).collect()
        };
        let always = [
            "TargetDown",
            "ErrorsFastBurn",
            "ErrorsSlowBurn",
            "SlowResponses",
            "ConnectionsNearLimit",
            "Overload",
        ];
        assert_eq!(names(&facts), always);
        facts.has_sql = true;
        facts.has_rate_limits = true;
        assert_eq!(names(&facts)[always.len()..], ["RateLimitSpike", "DatabasePoolExhausted"]);
        let text = rules(&facts, &goals);
        assert!(text.contains("  - name: 'it''s'\n"), "{text}");
        assert!(text.contains("expr: 'up{job=\"it''s\"} == 0 or absent(up{job=\"it''s\"})'"));
        assert!(text.contains("[1h])) > 0.0144 and "), "{text}");
        assert!(text.contains("runbook_url: 'r#clients-get-429'"));
    }

    #[test]
    fn a_budget_has_no_rounding_error() {
        for (objective, expected) in [(99.9, 0.001), (99.95, 0.0005), (99.0, 0.01), (50.0, 0.5)] {
            let arguments = Arguments {
                job: "a",
                grafana: None,
                alerts: None,
                objective,
                latency: 1.0,
                runbook: "",
            };
            assert_eq!(Goals::of(&arguments).budget.to_string(), f64::to_string(&expected));
        }
    }
}
