//! The command `dashboard`, and the metrics of connections and pools.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::{env, fs, process};

use stockade::middleware::Metrics;
use stockade::middleware::health::Readiness;
use stockade::middleware::metrics::{MetricsSource, MetricsWriter};
use stockade::prelude::*;
use stockade::routing::health_routes;
use stockade::rpc::Rpc;
use stockade::sql::{SqlError, Sqlite};

use crate::support::{app, block_on, call, command};

/// A connection to Redis that has not sent a command yet.
struct Redis;

impl MetricsSource for Redis {
    fn collect(&self, to: &mut MetricsWriter) {
        to.gauge("stockade_redis_up", "Redis responds.", &[], 1.0);
    }

    fn families() -> &'static [&'static str] {
        &["stockade_redis_up"]
    }
}

fn api(metrics: &Metrics) -> Router {
    let options = RouterOptions::new().enable_web_sockets(true).metrics(metrics);
    let rpc = Rpc::new().method("sum", async || Json(7));
    let tree = routes! {
        "items": { r":id(\d{1,3})": { GET: async || "item" } },
        "live": { WS: async |_: WebSocket| {} },
        "rpc": { ..rpc.routes() },
        ..health_routes(),
        ..routes! { host: ":tenant.example.com", "own": { GET: async || "own" } },
    };
    create_router(tree, options).state(Readiness::new())
}

/// Runs the command and returns the two files.
fn files(app: &App, name: &str, more: &[&str]) -> (Value, String) {
    let file = |kind: &str| {
        let name = format!("stockade-dashboard-{}-{name}.{kind}", process::id());
        env::temp_dir().join(name).to_str().unwrap().to_owned()
    };
    let (json, yaml) = (file("json"), file("yml"));
    let args = ["dashboard", "--job", "shop", "--grafana", &json, "--alerts", &yaml];
    let output = command(app, args.into_iter().chain(more.iter().copied())).unwrap().unwrap();
    let expected = format!("the dashboard is in {json}\nthe alert rules are in {yaml}\n");
    assert_eq!(output, expected);
    let dashboard = serde_json::from_str(&fs::read_to_string(&json).unwrap()).unwrap();
    let rules = fs::read_to_string(&yaml).unwrap();
    fs::remove_file(json).unwrap();
    fs::remove_file(yaml).unwrap();
    (dashboard, rules)
}

/// Returns all panels, including the panels in collapsed rows.
fn panels(dashboard: &Value) -> Vec<&Value> {
    let outer = dashboard["panels"].as_array().unwrap();
    let inner = outer.iter().filter_map(|panel| panel["panels"].as_array()).flatten();
    outer.iter().chain(inner).collect()
}

/// The requirements of Grafana's JSON model, as its documentation lists them.
#[test]
fn a_dashboard_has_the_form_that_grafana_requires() {
    let metrics = Metrics::new();
    metrics.add_source(Redis);
    metrics.add_source(Arc::new(OnceLock::<Sqlite>::new()));
    let (dashboard, _) = files(&app(api(&metrics)), "form", &[]);
    assert_eq!((&dashboard["uid"], &dashboard["title"]), (&json!("stockade-shop"), &json!("shop")));
    assert_eq!(dashboard["schemaVersion"], 39);
    assert_eq!(dashboard["time"], json!({ "from": "now-6h", "to": "now" }));
    let variables = dashboard["templating"]["list"].as_array().unwrap();
    let names: Vec<&Value> = variables.iter().map(|variable| &variable["name"]).collect();
    assert_eq!(names, ["datasource", "instance", "route"]);
    assert_eq!(variables[0]["type"], "datasource");
    let source = json!({ "type": "prometheus", "uid": "${datasource}" });
    let mut ids = BTreeSet::new();
    let mut places = BTreeSet::new();
    for panel in panels(&dashboard) {
        let title = panel["title"].as_str().unwrap();
        assert!(!title.is_empty() && ids.insert(panel["id"].as_u64().unwrap()), "{panel}");
        let [x, y, w, h] = ["x", "y", "w", "h"].map(|key| panel["gridPos"][key].as_u64().unwrap());
        assert!(w > 0 && h > 0 && x + w <= 24, "{title}");
        for cell in (x..x + w).flat_map(|x| (y..y + h).map(move |y| (x, y))) {
            assert!(places.insert(cell), "{title} overlaps another panel");
        }
        match panel["type"].as_str().unwrap() {
            "row" => assert!(panel["collapsed"].is_boolean(), "{title}"),
            kind => {
                assert!(["stat", "timeseries"].contains(&kind), "{kind}");
                assert_eq!(panel["datasource"], source, "{title}");
                assert!(panel["fieldConfig"]["defaults"]["unit"].is_string(), "{title}");
                let targets = panel["targets"].as_array().unwrap();
                let refs: BTreeSet<_> =
                    targets.iter().map(|it| it["refId"].as_str().unwrap()).collect();
                assert!(!targets.is_empty() && refs.len() == targets.len(), "{title}");
                assert!(targets.iter().all(|it| it["datasource"] == source), "{title}");
            }
        }
    }
    let rows: Vec<&str> = panels(&dashboard)
        .into_iter()
        .filter(|panel| panel["type"] == "row")
        .map(|panel| panel["title"].as_str().unwrap())
        .collect();
    let expected = [
        "Overview",
        "Routes",
        "Rejected requests",
        "Saturation",
        "Database pools",
        "Redis",
        "$route",
    ];
    assert_eq!(rows, expected);
}

#[test]
fn a_dashboard_lists_the_routes_as_the_metrics_name_them() {
    let metrics = Metrics::new();
    let app = app(api(&metrics));
    for text in [
        "GET /items/7",
        "GET /health/live",
        "GET /live",
        "GET /own\nhost: a.example.com",
        "GET /nowhere",
        "POST /rpc\ncontent-type: application/json\n\n{\"jsonrpc\":\"2.0\",\"method\":\"sum\",\"id\":1}",
    ] {
        block_on(call(&app, text));
    }
    let text = metrics.text();
    let counted: BTreeSet<String> = text
        .lines()
        .filter(|line| line.starts_with("http_requests_total{"))
        .map(|line| {
            let (_, rest) = line.split_once("route=\"").unwrap();
            rest.split_once("\",status=").unwrap().0.replace("\\\\", "\\")
        })
        .collect();
    assert_eq!(counted.len(), 7, "{counted:?}");
    let (dashboard, rules) = files(&app, "routes", &[]);
    let route = &dashboard["templating"]["list"][2];
    let options = route["options"].as_array().unwrap();
    let listed: BTreeSet<String> =
        options.iter().map(|option| option["value"].as_str().unwrap().to_owned()).collect();
    assert!(counted.is_subset(&listed), "{counted:?} {listed:?}");
    // Grafana splits the query at commas without a backslash.
    let query = route["query"].as_str().unwrap();
    assert!(query.contains(r"/items/:id(\d{1\,3}),"), "{query}");
    assert!(rules.contains(r#"route!~"/health/live|/health/ready""#), "{rules}");
}

#[test]
fn a_dashboard_only_has_panels_of_metrics_that_exist() {
    let metrics = Metrics::new();
    let plain = create_router(routes! { "a": { GET: async || () } }, {
        RouterOptions::new().rate_limit(false).metrics(&metrics)
    });
    let (dashboard, rules) = files(&app(plain), "plain", &[]);
    let dashboard = dashboard.to_string();
    for absent in ["stockade_redis", "stockade_sql", "stockade_websockets"] {
        assert!(!dashboard.contains(absent) && !rules.contains(absent), "{absent}");
    }
    assert!(!rules.contains("StockadeRateLimitSpike") && !rules.contains("StockadeTimeouts"));
    assert!(rules.contains("stockade_connections{job=\"shop\"}"), "{rules}");
}

#[test]
fn each_alert_names_a_section_of_the_runbook() {
    let metrics = Metrics::new();
    metrics.add_source(Redis);
    metrics.add_source(Arc::new(OnceLock::<Sqlite>::new()));
    let tree =
        routes! { "a": { GET: { async || (), timeout: std::time::Duration::from_secs(1) } } };
    let router = create_router(tree, RouterOptions::new().metrics(&metrics));
    let goals = ["--objective", "99", "--latency", "0.5", "--runbook", "https://example.org/run"];
    let (_, rules) = files(&app(router), "runbook", &goals);
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../book/src/operations");
    let read = |name: &str| fs::read_to_string(book.join(name)).unwrap();
    let (runbook, chapter) = (read("runbook.md"), read("dashboard.md"));
    let headings = runbook.lines().filter_map(|line| line.strip_prefix("## "));
    let headings: Vec<String> =
        headings.map(|heading| heading.to_lowercase().replace(' ', "-")).collect();
    let sections: Vec<&str> = rules
        .lines()
        .filter_map(|line| line.trim().strip_prefix("runbook_url: 'https://example.org/run#"))
        .map(|line| line.trim_end_matches('\''))
        .collect();
    assert_eq!(sections.len(), rules.matches("- alert: ").count());
    assert_eq!(sections.len(), 11, "{rules}");
    for section in sections {
        assert!(headings.iter().any(|heading| heading == section), "{section}");
    }
    for name in rules.lines().filter_map(|line| line.split_once("- alert: ")).map(|(_, it)| it) {
        assert!(chapter.contains(&format!("`{name}`")), "dashboard.md does not list {name}");
    }
    // 14.4 and 6 times the budget of one percent.
    assert!(rules.contains("[5m])) > 0.144 and ") && rules.contains("[30m])) > 0.06 and "));
    assert!(rules.contains("[10m]))) > 0.5 and "), "{rules}");
}

#[test]
fn a_dashboard_needs_metrics_and_a_file() {
    let run = |app: &App, args: &[&str]| {
        command(app, args.iter().copied()).unwrap().map_err(|error| error.to_string())
    };
    let tree = || routes! { "a": { GET: async || () } };
    let without = app(create_router(tree(), RouterOptions::new()));
    let args = ["dashboard", "--job", "a", "--alerts", "/nowhere/alerts.yml"];
    assert_eq!(
        run(&without, &args).unwrap_err(),
        "the router does not have metrics: add `.metrics(&metrics)` to its options"
    );
    let with = app(create_router(tree(), RouterOptions::new().metrics(&Metrics::new())));
    let error = run(&with, &args).unwrap_err();
    assert!(error.starts_with("/nowhere/alerts.yml cannot be written: "), "{error}");
    let error = run(&with, &["dashboard"]).unwrap_err();
    assert!(error.contains("| dashboard --job NAME [--grafana FILE]"), "{error}");
}

#[test]
fn the_use_of_connections_and_pools_is_exposed() {
    let folder = env::temp_dir().join(format!("stockade-pools-{}", process::id()));
    fs::create_dir_all(&folder).unwrap();
    block_on(async {
        let metrics = Metrics::new();
        let database = Arc::new(OnceLock::new());
        metrics.add_source(Arc::clone(&database));
        let app = app(api(&metrics));
        assert!(metrics.text().contains("stockade_websockets 0\n"));
        let limits = stockade::server::ServerOptions::new().max_connections(7);
        let server = app.create_server_with(limits).unwrap().bind(0).await.unwrap();
        let (address, handle) = (server.local_addr(), server.handle());
        assert!(!metrics.text().contains("stockade_connections"));
        let served = tokio::spawn(server.serve());
        let client = tokio::net::TcpStream::connect(address).await.unwrap();
        let line = "stockade_connections 1\n";
        let end = std::time::Instant::now() + std::time::Duration::from_secs(30);
        while !metrics.text().contains(line) && std::time::Instant::now() < end {
            tokio::task::yield_now().await;
        }
        let text = metrics.text();
        assert!(text.contains(line) && text.contains("stockade_connections_limit 7\n"), "{text}");
        drop(client);
        handle.shutdown();
        served.await.unwrap().unwrap();
        assert!(!metrics.text().contains("stockade_connections"));

        let sqlite = Sqlite::open(folder.join("shop.db")).unwrap();
        assert!(database.set(sqlite.clone()).is_ok());
        let within = metrics.clone();
        let text = sqlite.write(move |_| Ok::<_, SqlError>(within.text())).await.unwrap();
        for line in [
            r#"stockade_sql_connections_in_use{database="shop.db",pool="read"} 0"#,
            r#"stockade_sql_connections_in_use{database="shop.db",pool="write"} 1"#,
            r#"stockade_sql_connections_limit{database="shop.db",pool="write"} 1"#,
            r#"stockade_sql_waiting{database="shop.db",pool="write"} 0"#,
        ] {
            assert!(text.lines().any(|other| other == line), "{line} in {text}");
        }
    });
    fs::remove_dir_all(folder).unwrap();
}
