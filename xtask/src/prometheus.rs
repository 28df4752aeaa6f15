//! Writes the dashboard and the alert rules of the shop, checks and tests the
//! rules with promtool, and lets a Prometheus scrape the shop. Each expression
//! must return data, or have a reason in `WITHOUT_DATA`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::http::request;
use crate::running::{Running, free_port, wait_for};
use crate::{
    Outcome, announce, debian, examples, is_part_of, redis, root, run as started, skip,
    target_directory as target,
};

/// The label matchers without data, each with the reason.
const WITHOUT_DATA: &[(&str, &str)] = &[
    ("status=~\"5..\"", "the shop does not fail"),
    ("reason=\"overload\"", "the shop does not have a concurrency limit"),
    ("reason=~\"overload|timeout\"", "the shop does not have a concurrency limit, and is fast"),
    ("reason=\"timeout\"", "the shop is fast"),
];

pub fn run() -> Outcome {
    let (Some(prometheus), Some(promtool)) = (find("prometheus"), find("promtool")) else {
        if is_part_of("prometheus") {
            return Err("Prometheus is missing (`apt-get install prometheus`)".to_owned());
        }
        skip("the dashboard (`apt-get install prometheus`, then `cargo xtask prometheus`)");
        return Ok(());
    };
    let folder = target()?.join("prometheus");
    // The folder may not exist.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let shop = examples::debug_program("shop")?;
    let files = Files::write(&shop, &folder)?;
    check_rules(&promtool, &folder, &files)?;
    let shop = Shop::start(&shop, &folder)?;
    let prometheus = Prometheus::start(&prometheus, &folder, &shop)?;
    shop.send_requests()?;
    prometheus.check(&files)
}

/// Returns a program of Debian's package, which it installs if it is missing.
fn find(name: &str) -> Option<PathBuf> {
    redis::program_of(&[name]).or_else(|| {
        let is_installed = debian::install(&["prometheus"]).unwrap_or(false);
        if is_installed { redis::program_of(&[name]) } else { None }
    })
}

/// The expressions of the written files.
struct Files {
    dashboard: Vec<String>,
    rules: Vec<String>,
}

impl Files {
    /// Runs the command of the shop, which does not open its database.
    fn write(shop: &Path, folder: &Path) -> Result<Self, String> {
        let mut command = Command::new(shop);
        command.args(["dashboard", "--job", "shop", "--grafana"]).arg(folder.join("shop.json"));
        command.arg("--alerts").arg(folder.join("alerts.yml"));
        started(command.env("SHOP_DATABASE", "/nowhere/shop.db"))?;
        let json = read(&folder.join("shop.json"))?;
        let yaml = read(&folder.join("alerts.yml"))?;
        let dashboard = expressions(&json, "\"expr\": \"", "\",");
        let rules = expressions(&yaml, "expr: '", "'");
        let found = [dashboard.len(), rules.len()];
        if found != [json.matches("\"expr\":").count(), yaml.matches(" expr:").count()]
            || found.contains(&0)
        {
            return Err(format!("cannot find all expressions, only {found:?}"));
        }
        let dashboard = dashboard.iter().map(|expr| without_escapes(expr)).collect();
        Ok(Self { dashboard, rules })
    }
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Returns the texts between `begin` and `end` of all lines that have both.
fn expressions(text: &str, begin: &str, end: &str) -> Vec<String> {
    let of_line = |line: &str| {
        let text = line.trim().strip_prefix(begin)?.strip_suffix(end)?;
        Some(text.replace("''", "'"))
    };
    text.lines().filter_map(of_line).collect()
}

/// Removes the escapes of JSON that occur in expressions.
fn without_escapes(text: &str) -> String {
    let mut chars = text.chars();
    let mut plain = String::new();
    while let Some(char) = chars.next() {
        plain.extend(if char == '\\' { chars.next() } else { Some(char) });
    }
    plain
}

/// Checks the rules, and runs their tests.
fn check_rules(promtool: &Path, folder: &Path, files: &Files) -> Outcome {
    let tests = root().join("tests/prometheus/alerts.test.yml");
    let path = folder.join("alerts.test.yml");
    fs::copy(&tests, &path).map_err(|error| format!("{}: {error}", tests.display()))?;
    let tested = read(&path)?;
    let names = expressions(&read(&folder.join("alerts.yml"))?, "- alert: ", "");
    if names.len() != files.rules.len() {
        return Err(format!("{} alerts have {} expressions", names.len(), files.rules.len()));
    }
    if let Some(name) = names.iter().find(|name| !tested.contains(&format!("alertname: {name}\n")))
    {
        return Err(format!("add a test of {name} to {}", tests.display()));
    }
    let check = |args: &[&str], path: &Path| {
        started(Command::new(promtool).args(args).arg(path).current_dir(folder))
    };
    check(&["check", "rules", "--lint=all", "--lint-fatal"], Path::new("alerts.yml"))?;
    check(&["test", "rules"], Path::new("alerts.test.yml"))
}

/// A running shop.
struct Shop {
    _process: Running,
    address: String,
    /// The token of an administrator, who may read the metrics.
    token: String,
}

const PASSWORD: &str = "correct horse battery";

impl Shop {
    fn start(binary: &Path, folder: &Path) -> Result<Self, String> {
        let port = free_port().to_string();
        let address = format!("127.0.0.1:{port}");
        let mut command = Command::new(binary);
        command.env("PORT", port).env("SHOP_DATABASE", folder.join("shop.db"));
        command.env("SHOP_ADMIN_PASSWORD", PASSWORD).env("RUST_LOG", "warn");
        announce(&command);
        let process = Running::start(command.stdout(Stdio::null()), "the shop")?;
        wait_for(&address)?;
        let account = format!(r#"{{"email": "admin@example.org", "password": "{PASSWORD}"}}"#);
        let login = request(&address, "POST", "/login", "", &account)?;
        let token = login.body.split("\"token\":\"").nth(1).and_then(|it| it.split('"').next());
        let token = token.ok_or_else(|| format!("the login failed: {}", login.body))?.to_owned();
        Ok(Self { _process: process, address, token })
    }

    /// Sends requests over several scrapes, because a rate needs two samples.
    fn send_requests(&self) -> Outcome {
        let wrong = r#"{"email": "admin@example.org", "password": "wrong"}"#;
        for _ in 0..SCRAPES {
            let next = Instant::now() + SCRAPE_INTERVAL;
            for (method, path, body) in [
                ("GET", "/products", ""),
                ("GET", "/health/live", ""),
                ("GET", "/nowhere", ""),
                ("GET", "/users", ""),
                ("POST", "/users", "{}"),
                ("POST", "/login", wrong),
                ("POST", "/login", wrong),
                ("POST", "/login", wrong),
            ] {
                request(&self.address, method, path, "", body)?;
            }
            thread::sleep(next.saturating_duration_since(Instant::now()));
        }
        Ok(())
    }
}

const SCRAPES: u32 = 8;
const SCRAPE_INTERVAL: Duration = Duration::from_secs(1);

/// A running Prometheus.
struct Prometheus {
    _process: Running,
    address: String,
}

impl Prometheus {
    fn start(binary: &Path, folder: &Path, shop: &Shop) -> Result<Self, String> {
        let address = format!("127.0.0.1:{}", free_port());
        let config = format!(
            "global:\n  scrape_interval: 1s\n  evaluation_interval: 1s\nrule_files:\n  - \
             alerts.yml\nscrape_configs:\n  - job_name: shop\n    authorization:\n      \
             credentials: {}\n    static_configs:\n      - targets: ['{}']\n",
            shop.token, shop.address
        );
        let path = folder.join("prometheus.yml");
        fs::write(&path, config).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut command = Command::new(binary);
        command.arg(format!("--config.file={}", path.display()));
        command.arg(format!("--storage.tsdb.path={}", folder.join("data").display()));
        command.arg(format!("--web.listen-address={address}")).arg("--log.level=warn");
        announce(&command);
        let process = Running::start(&mut command, "Prometheus")?;
        wait_for(&address)?;
        Ok(Self { _process: process, address })
    }

    /// Checks that each expression has data, and that no alert fires.
    fn check(&self, files: &Files) -> Outcome {
        let mut faults = Vec::new();
        for expr in &files.dashboard {
            let expr = expr.replace("$__rate_interval", "10s");
            let expr = expr.replace("$instance", ".*").replace("$route", ".*");
            self.expect_data(&expr, &mut faults)?;
        }
        for expr in &files.rules {
            // The expression of an alert has data only while it fires; its
            // metrics always have data.
            self.query(expr)?;
            for selector in selectors(expr) {
                self.expect_data(&format!("count({selector})"), &mut faults)?;
            }
        }
        let rules = request(&self.address, "GET", "/api/v1/rules", "", "")?.body;
        let healthy = rules.matches("\"health\":\"ok\"").count();
        println!("{healthy} of {} rules are healthy", files.rules.len());
        if healthy != files.rules.len() {
            faults.push(format!("a rule is not healthy: {rules}"));
        }
        if rules.contains("\"state\":\"firing\"") {
            faults.push(format!("an alert fires: {rules}"));
        }
        if faults.is_empty() { Ok(()) } else { Err(faults.join("\n")) }
    }

    fn expect_data(&self, expr: &str, faults: &mut Vec<String>) -> Outcome {
        let has_data = self.query(expr)?;
        let reason = WITHOUT_DATA.iter().find(|(part, _)| expr.contains(part));
        match reason {
            _ if has_data => println!("data: {expr}"),
            // The other parts of the expression must have data.
            Some((part, reason)) if self.query(&expr.replace(&format!(",{part}"), ""))? => {
                println!("no data, because {reason}: {expr}");
            }
            _ => faults.push(format!("no data: {expr}")),
        }
        Ok(())
    }

    /// Returns true if an expression has data now.
    ///
    /// # Errors
    /// Fails if Prometheus rejects the expression.
    fn query(&self, expr: &str) -> Result<bool, String> {
        let path = format!("/api/v1/query?query={}", encoded(expr));
        let body = request(&self.address, "GET", &path, "", "")?.body;
        if !body.contains("\"status\":\"success\"") {
            return Err(format!("{expr}: {body}"));
        }
        Ok(!body.contains("\"result\":[]"))
    }
}

/// Returns each metric of an expression with its label matchers.
fn selectors(expr: &str) -> Vec<String> {
    let mut selectors = Vec::new();
    let mut rest = expr;
    while let Some(open) = rest.find('{') {
        let is_name = |char: char| char.is_ascii_alphanumeric() || char == '_';
        let name = rest[..open].trim_end_matches(is_name).len();
        let mut is_text = false;
        let mut is_escaped = false;
        let end = rest[open..].find(|char| {
            let was_escaped = std::mem::replace(&mut is_escaped, false);
            match char {
                _ if was_escaped => {}
                '\\' => is_escaped = true,
                '"' => is_text = !is_text,
                '}' => return !is_text,
                _ => {}
            }
            false
        });
        let Some(end) = end.map(|end| open + end + 1) else { break };
        selectors.push(rest[name..end].to_owned());
        rest = &rest[end..];
    }
    selectors
}

/// Encodes a text for a query.
fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'_' | b'.' | b'-' => char::from(byte).into(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_end_at_the_brace_outside_of_texts() {
        let expr = r#"rate(a_total{x=~"\\d{1,3}\"}"}[5m]) / b{c="d"} > 0.8"#;
        assert_eq!(selectors(expr), [r#"a_total{x=~"\\d{1,3}\"}"}"#, r#"b{c="d"}"#]);
    }

    #[test]
    fn expressions_are_read_from_both_files() {
        let json = "  \"expr\": \"a{b=\\\"c\\\\\\\\d\\\"}\",\n  \"title\": \"x\",\n";
        let found = expressions(json, "\"expr\": \"", "\",");
        assert_eq!(without_escapes(&found[0]), r#"a{b="c\\d"}"#);
        let yaml = "      - alert: A\n        expr: 'up{job=\"it''s\"}'\n";
        assert_eq!(expressions(yaml, "expr: '", "'"), ["up{job=\"it's\"}"]);
        assert_eq!(expressions(yaml, "- alert: ", ""), ["A"]);
    }

    #[test]
    fn queries_are_encoded() {
        assert_eq!(encoded("a{b=\"1\"} > 0"), "a%7Bb%3D%221%22%7D%20%3E%200");
    }
}
