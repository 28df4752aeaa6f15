//! The dashboard, as JSON for Grafana.
//!
//! Source: Grafana, JSON model of dashboards (schema version 39, Grafana 10.4).

use serde_json::{Value, json};
use stockade_errors::BoxError;

use super::{Facts, quoted};
use crate::commands::pretty;

/// Returns the dashboard as JSON.
pub(super) fn dashboard(facts: &Facts) -> Result<String, BoxError> {
    let select = Select::of(facts);
    let mut grid = Grid::default();
    overview(&mut grid, &select);
    routes(&mut grid, &select);
    rejections(&mut grid, &select);
    saturation(&mut grid, &select, facts);
    if facts.has_sql {
        databases(&mut grid, &select);
    }
    if facts.has_redis {
        redis(&mut grid, &select);
    }
    each_route(&mut grid, &select);
    pretty(&json!({
        "uid": uid(&facts.job),
        "title": facts.job,
        "description": "Written by the command `dashboard` of the program.",
        "tags": ["stockade"],
        "schemaVersion": 39,
        "version": 1,
        "editable": true,
        "graphTooltip": 1,
        "refresh": "30s",
        "time": { "from": "now-6h", "to": "now" },
        "timezone": "browser",
        "templating": { "list": variables(facts) },
        "annotations": { "list": [] },
        "links": [],
        "panels": grid.panels,
    }))
}

/// Returns an id of at most 40 characters that Grafana accepts.
fn uid(job: &str) -> String {
    let plain = |char: char| if char.is_ascii_alphanumeric() { char } else { '-' };
    format!("stockade-{}", job.chars().map(plain).take(30).collect::<String>())
}

fn variables(facts: &Facts) -> Value {
    let job = facts.job_matcher();
    let routes = || facts.routes.iter().map(String::as_str).chain(["(none)", "(other)"]);
    let all = json!({ "text": "All", "value": "$__all", "selected": true });
    let one = |route: &str| json!({ "text": route, "value": route, "selected": false });
    let options: Vec<Value> = [all.clone()].into_iter().chain(routes().map(one)).collect();
    // A comma separates the values.
    let query: Vec<String> = routes().map(|route| route.replace(',', "\\,")).collect();
    json!([
        {
            "name": "datasource", "label": "Data source", "type": "datasource",
            "query": "prometheus", "regex": "", "hide": 0, "multi": false, "includeAll": false,
            "current": {}, "options": [], "refresh": 1,
        },
        {
            "name": "instance", "label": "Instance", "type": "query", "datasource": source(),
            "definition": format!("label_values(up{{{job}}}, instance)"),
            "query": {
                "query": format!("label_values(up{{{job}}}, instance)"), "refId": "instance",
            },
            "refresh": 2, "regex": "", "sort": 1, "hide": 0, "multi": true, "includeAll": true,
            "allValue": ".*", "current": all, "options": [],
        },
        {
            "name": "route", "label": "Route", "type": "custom", "query": query.join(","),
            "hide": 0, "multi": true, "includeAll": true, "allValue": ".*", "current": all,
            "options": options,
        },
    ])
}

/// Returns the reference to the variable with the data source.
fn source() -> Value {
    json!({ "type": "prometheus", "uid": "${datasource}" })
}

/// The label matchers of all panels.
struct Select {
    /// The job and the instances.
    program: String,
    /// Also the routes.
    routes: String,
}

impl Select {
    fn of(facts: &Facts) -> Self {
        let program = format!("{},instance=~\"$instance\"", facts.job_matcher());
        Self { routes: format!("{program},route=~\"$route\""), program }
    }
}

/// Returns the increase of a counter per second.
fn rate(metric: &str, matchers: &str) -> String {
    format!("rate({metric}{{{matchers}}}[$__rate_interval])")
}

fn quantile(quantile: f64, by: &str, matchers: &str) -> String {
    let buckets = rate("http_request_duration_seconds_bucket", matchers);
    format!("histogram_quantile({quantile}, sum by ({by}) ({buckets}))")
}

const REQUESTS: &str = "http_requests_total";
const REJECTIONS: &str = "http_rejections_total";
const IN_FLIGHT: &str = "http_requests_in_flight";

/// A panel.
struct Panel<'a> {
    kind: &'a str,
    title: &'a str,
    description: &'a str,
    unit: &'a str,
    width: u32,
    /// Expressions with their legends.
    targets: &'a [(&'a str, &'a str)],
}

impl Default for Panel<'_> {
    fn default() -> Self {
        let (kind, unit) = ("timeseries", "reqps");
        Self { kind, title: "", description: "", unit, width: 12, targets: &[] }
    }
}

/// The panels, from left to right and from top to bottom.
#[derive(Default)]
struct Grid {
    panels: Vec<Value>,
    last_id: u32,
    x: u32,
    y: u32,
    /// The height of the current line.
    height: u32,
}

impl Grid {
    const WIDTH: u32 = 24;

    fn row(&mut self, title: &str) {
        let (id, place) = self.place(Self::WIDTH, 1);
        self.panels.push(json!({
            "id": id, "type": "row", "title": title, "collapsed": false, "gridPos": place,
            "panels": [],
        }));
    }

    fn add(&mut self, panel: &Panel<'_>) {
        let value = self.panel(panel);
        self.panels.push(value);
    }

    fn panel(&mut self, panel: &Panel<'_>) -> Value {
        let is_stat = panel.kind == "stat";
        let (id, place) = self.place(panel.width, if is_stat { 4 } else { 8 });
        let target = |(number, (expr, legend)): (u8, &(&str, &str))| {
            json!({
                "refId": char::from(b'A' + number).to_string(), "datasource": source(),
                "expr": expr, "legendFormat": legend, "range": !is_stat, "instant": is_stat,
            })
        };
        let targets: Vec<Value> = (0..).zip(panel.targets).map(target).collect();
        let options = if is_stat {
            json!({ "reduceOptions": { "calcs": ["lastNotNull"], "fields": "", "values": false } })
        } else {
            json!({
                "legend": { "displayMode": "list", "placement": "bottom", "showLegend": true },
                "tooltip": { "mode": "multi", "sort": "desc" },
            })
        };
        json!({
            "id": id, "type": panel.kind, "title": panel.title, "description": panel.description,
            "datasource": source(), "gridPos": place, "targets": targets,
            "fieldConfig": { "defaults": { "unit": panel.unit, "min": 0 }, "overrides": [] },
            "options": options,
        })
    }

    /// Returns the id and the place of the next panel.
    fn place(&mut self, width: u32, height: u32) -> (u32, Value) {
        if self.x + width > Self::WIDTH {
            self.end_line();
        }
        let place = json!({ "x": self.x, "y": self.y, "w": width, "h": height });
        self.x += width;
        self.height = self.height.max(height);
        self.last_id += 1;
        (self.last_id, place)
    }

    fn end_line(&mut self) {
        self.y += self.height;
        (self.x, self.height) = (0, 0);
    }
}

fn overview(grid: &mut Grid, select: &Select) {
    let program = &select.program;
    let failed = rate(REQUESTS, &format!("{program},status=~\"5..\""));
    let all = rate(REQUESTS, program);
    let rejected = rate(REJECTIONS, &format!("{program},reason!=\"server_error\""));
    grid.row("Overview");
    for (title, unit, expr) in [
        ("Instances that respond", "none", format!("sum(up{{{program}}})")),
        ("Requests", "reqps", format!("sum({all})")),
        ("Share of 5xx", "percentunit", format!("(sum({failed}) or vector(0)) / (sum({all}) > 0)")),
        ("p99 of the duration", "s", quantile(0.99, "le", program)),
        ("Requests in flight", "none", format!("sum({IN_FLIGHT}{{{program}}})")),
        ("Rejected requests", "reqps", format!("sum({rejected}) or vector(0)")),
    ] {
        grid.add(&Panel {
            kind: "stat",
            title,
            unit,
            width: 4,
            targets: &[(&expr, "")],
            ..Panel::default()
        });
    }
}

fn routes(grid: &mut Grid, select: &Select) {
    const BY_ROUTE: &str = "sum by (method, route) ";
    const LEGEND: &str = "{{method}} {{route}}";
    let routes = &select.routes;
    let failed = rate(REQUESTS, &format!("{routes},status=~\"5..\""));
    let all = rate(REQUESTS, routes);
    grid.row("Routes");
    for (title, unit, expr) in [
        ("Requests by route", "reqps", format!("{BY_ROUTE}({all})")),
        (
            "Share of 5xx by route",
            "percentunit",
            format!("{BY_ROUTE}({failed}) / {BY_ROUTE}({all})"),
        ),
        ("p50 of the duration by route", "s", quantile(0.5, "method, route, le", routes)),
        ("p99 of the duration by route", "s", quantile(0.99, "method, route, le", routes)),
    ] {
        grid.add(&Panel { title, unit, targets: &[(&expr, LEGEND)], ..Panel::default() });
    }
}

fn rejections(grid: &mut Grid, select: &Select) {
    let routes = &select.routes;
    let reasons = format!("sum by (reason) ({})", rate(REJECTIONS, routes));
    let by_route = |reason: &str| {
        let matchers = format!("{routes},reason={}", quoted(reason));
        format!("sum by (method, route) ({})", rate(REJECTIONS, &matchers))
    };
    let (limited, unknown) = (by_route("rate_limit"), by_route("unauthorized"));
    grid.row("Rejected requests");
    grid.add(&Panel {
        title: "Rejected requests by reason",
        width: 8,
        targets: &[(&reasons, "{{reason}}")],
        ..Panel::default()
    });
    for (title, expr) in
        [("429 by route: rate limits", limited), ("401 by route: not authenticated", unknown)]
    {
        grid.add(&Panel {
            title,
            width: 8,
            targets: &[(&expr, "{{method}} {{route}}")],
            ..Panel::default()
        });
    }
}

fn saturation(grid: &mut Grid, select: &Select, facts: &Facts) {
    let Select { program, routes } = select;
    let of = |metric: &str| format!("{metric}{{{program}}}");
    grid.row("Saturation");
    let in_flight = format!("sum by (method, route) ({IN_FLIGHT}{{{routes}}})");
    grid.add(&Panel {
        title: "Requests in flight by route",
        unit: "none",
        targets: &[(&in_flight, "{{method}} {{route}}")],
        ..Panel::default()
    });
    let shed = rate(REJECTIONS, &format!("{routes},reason=~\"overload|timeout\""));
    let shed = format!("sum by (method, route, reason) ({shed})");
    grid.add(&Panel {
        title: "Overload and timeouts by route",
        description: "Overload is a 503 of `concurrency_limit`, or of a store that is not \
                      available.",
        targets: &[(&shed, "{{method}} {{route}} {{reason}}")],
        ..Panel::default()
    });
    grid.add(&Panel {
        title: "Connections",
        description: "Only the built-in server exposes them.",
        unit: "none",
        targets: &[
            (&of("stockade_connections"), "{{instance}}"),
            (&of("stockade_connections_limit"), "{{instance}} limit"),
        ],
        ..Panel::default()
    });
    if facts.has_web_sockets {
        grid.add(&Panel {
            title: "WebSockets",
            unit: "none",
            targets: &[
                (&of("stockade_websockets"), "{{instance}}"),
                (&of("stockade_websockets_limit"), "{{instance}} limit"),
            ],
            ..Panel::default()
        });
    }
}

fn databases(grid: &mut Grid, select: &Select) {
    let of = |metric: &str| format!("{metric}{{{}}}", select.program);
    grid.row("Database pools");
    grid.add(&Panel {
        title: "Connections in use",
        unit: "none",
        targets: &[
            (&of("stockade_sql_connections_in_use"), "{{instance}} {{database}} {{pool}}"),
            (&of("stockade_sql_connections_limit"), "{{instance}} {{database}} {{pool}} limit"),
        ],
        ..Panel::default()
    });
    grid.add(&Panel {
        title: "Calls that wait for a connection",
        unit: "none",
        targets: &[(&of("stockade_sql_waiting"), "{{instance}} {{database}} {{pool}}")],
        ..Panel::default()
    });
}

fn redis(grid: &mut Grid, select: &Select) {
    let program = &select.program;
    let commands = rate("stockade_redis_commands_total", program);
    let commands = format!("sum by (kind, outcome) ({commands})");
    let buckets = rate("stockade_redis_command_duration_seconds_bucket", program);
    let duration = format!("histogram_quantile(0.99, sum by (kind, le) ({buckets}))");
    let of = |metric: &str| format!("{metric}{{{program}}}");
    let reconnects = rate("stockade_redis_reconnects_total", program);
    grid.row("Redis");
    grid.add(&Panel {
        title: "Commands by kind and outcome",
        unit: "ops",
        width: 8,
        targets: &[(&commands, "{{kind}} {{outcome}}")],
        ..Panel::default()
    });
    grid.add(&Panel {
        title: "p99 of the duration of commands",
        unit: "s",
        width: 8,
        targets: &[(&duration, "{{kind}}")],
        ..Panel::default()
    });
    grid.add(&Panel {
        title: "State of the connection",
        description: "The breaker is open while a connection exists but Redis does not respond.",
        unit: "none",
        width: 8,
        targets: &[
            (&of("stockade_redis_up"), "{{instance}} up"),
            (&of("stockade_redis_breaker_open"), "{{instance}} breaker open"),
            (&reconnects, "{{instance}} reconnects per second"),
        ],
        ..Panel::default()
    });
}

/// Adds a collapsed row, which Grafana repeats for each selected route.
fn each_route(grid: &mut Grid, select: &Select) {
    let routes = &select.routes;
    let statuses = format!("sum by (method, status) ({})", rate(REQUESTS, routes));
    let reasons = format!("sum by (method, reason) ({})", rate(REJECTIONS, routes));
    let [half, most, nearly_all] =
        [0.5, 0.95, 0.99].map(|share| quantile(share, "method, le", routes));
    let (id, place) = grid.place(Grid::WIDTH, 1);
    let panels = [
        Panel {
            title: "Requests by status",
            width: 8,
            targets: &[(&statuses, "{{method}} {{status}}")],
            ..Panel::default()
        },
        Panel {
            title: "Rejected requests by reason",
            width: 8,
            targets: &[(&reasons, "{{method}} {{reason}}")],
            ..Panel::default()
        },
        Panel {
            title: "Duration",
            unit: "s",
            width: 8,
            targets: &[
                (&half, "{{method}} p50"),
                (&most, "{{method}} p95"),
                (&nearly_all, "{{method}} p99"),
            ],
            ..Panel::default()
        },
    ];
    let panels: Vec<Value> = panels.iter().map(|panel| grid.panel(panel)).collect();
    grid.panels.push(json!({
        "id": id, "type": "row", "title": "$route", "collapsed": true, "repeat": "route",
        "gridPos": place, "panels": panels,
    }));
}
