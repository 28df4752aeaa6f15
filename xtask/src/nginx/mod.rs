//! Runs two programs behind nginx: the last program of the tutorial with its
//! `nginx.conf`, and `examples/internal/src/bin/proxied.rs` with the
//! configuration of the book (`proxied.rs`).

mod proxied;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::http::{Response, connect, request};
use crate::running::{Running, free_port, wait_for};
use crate::{
    Outcome, announce, cargo, debian, is_part_of, redis, root, skip, target_directory as target,
};

pub fn run() -> Outcome {
    let Some(nginx) = find_nginx() else {
        if is_part_of("nginx") {
            return Err("nginx is missing (`apt-get install nginx`)".to_owned());
        }
        skip("two programs behind nginx (`apt-get install nginx`, then `cargo xtask nginx`)");
        return Ok(());
    };
    let folder = target()?.join("nginx");
    // The folder may not exist.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    cargo(&["build", "-p", "stockade-tutorial", "--bin", "09-deployment"])?;
    let mut checks = Checks::default();
    notes(&nginx, &folder, &mut checks)?;
    proxied::run(&nginx, &folder, &mut checks)?;
    if checks.faults.is_empty() { Ok(()) } else { Err(checks.faults.join("\n")) }
}

fn find_nginx() -> Option<PathBuf> {
    redis::program_of(&["nginx"]).or_else(|| {
        let is_installed = debian::install(&["nginx"]).unwrap_or(false);
        if is_installed { redis::program_of(&["nginx"]) } else { None }
    })
}

/// Checks the last program of the tutorial.
fn notes(nginx: &Path, folder: &Path, checks: &mut Checks) -> Outcome {
    let address = format!("127.0.0.1:{}", free_port());
    let log = folder.join("notes.log");
    let mut program = Command::new(target()?.join("debug/09-deployment"));
    program.env("NOTES_ADDRESS", &address).env("NOTES_DB", folder.join("notes.db"));
    program.env("NOTES_SECRET", "a secret of thirty-two bytes or more").env("NOTES_PROXIES", "1");
    let _program = start(&mut program, &log, "the program of the tutorial")?;
    wait_for(&address)?;
    let path = root().join("examples/tutorial/09-deployment/nginx.conf");
    let conf = fs::read_to_string(&path).map_err(|error| error.to_string())?;
    let proxy = Nginx::start(nginx, folder, "notes", &conf, &address)?;
    let send = |method, path, header: &str, body: &str| {
        request(&proxy.address, method, path, header, body)
    };

    let account = r#"{"name": "ada", "password": "correct horse"}"#;
    checks.status("registration", 201, &send("POST", "/users", "", account)?);
    let login = send("POST", "/login", "", account)?;
    checks.status("login", 200, &login);
    let token = login.body.split('"').nth(3).unwrap_or_default();
    let token = format!("Authorization: Bearer {token}\r\n");
    let note = r#"{"title": "Tea", "text": "green"}"#;
    checks.status("a note", 201, &send("POST", "/notes", &token, note)?);
    let list = send("GET", "/notes", &token, "")?;
    checks.status("the list of notes", 200, &list);
    checks.holds("the list has the note", list.body.contains("Tea"));

    let long = |length| format!(r#"{{"title": "Long", "text": "{}"}}"#, "x".repeat(length));
    let checked = send("POST", "/notes", &token, &long(60_000))?;
    checks.status("a body of 60 kB, which the program rejects", 400, &checked);
    checks.holds("the response is JSON", checked.body.starts_with('{'));
    let too_large = send("POST", "/notes", &token, &long(70_000))?;
    checks.status("a body of 70 kB, which nginx rejects", 413, &too_large);
    checks.holds("the response is a page of nginx", too_large.body.contains("nginx"));
    let direct = request(&address, "POST", "/notes", &token, &long(70_000))?;
    checks.status("the same body without nginx", 413, &direct);

    checks.status("the health check through nginx", 404, &send("GET", "/health/live", "", "")?);
    let direct = request(&address, "GET", "/health/live", "", "")?;
    checks.status("the health check without nginx", 200, &direct);

    let wrong = account.replace("correct", "wrong");
    let mut last = 0;
    for number in 1..=LOGINS {
        let forged = format!("X-Forwarded-For: 203.0.113.{number}\r\n");
        last = send("POST", "/login", &forged, &wrong)?.status;
    }
    checks.is_equal("the last login with a forged X-Forwarded-For", 429, last);
    let log = fs::read_to_string(log).map_err(|error| error.to_string())?;
    let lines: Vec<&str> = log.lines().filter(|line| line.contains("POST /login")).collect();
    checks.holds(
        "the access log has the address of the client",
        !lines.is_empty() && lines.iter().all(|line| line.contains("127.0.0.1")),
    );
    checks.holds(
        "the access log has neither a forged address nor the address of nginx",
        !log.contains("203.0.113.") && !log.contains(ADDRESS_OF_NGINX),
    );
    Ok(())
}

/// The number of wrong logins. The program allows ten per minute, and a client
/// that could choose its address would have more.
const LOGINS: u8 = 12;

/// A running nginx, ended on drop.
struct Nginx {
    _process: Running,
    address: String,
}

impl Nginx {
    /// Starts nginx with this configuration: the port 8080 becomes a free port,
    /// and the upstream on port 3000 becomes `upstream`.
    fn start(
        nginx: &Path,
        folder: &Path,
        name: &str,
        conf: &str,
        upstream: &str,
    ) -> Result<Self, String> {
        let address = format!("127.0.0.1:{}", free_port());
        let conf = adapted(conf, &address, upstream, folder)?;
        let path = folder.join(format!("{name}.conf"));
        fs::write(&path, conf).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut command = Command::new(nginx);
        command.arg("-c").arg(&path).args(["-e", "stderr", "-g"]);
        // One process, so that the end of the task ends it.
        let pid = folder.join(format!("{name}.pid"));
        command.arg(format!("daemon off; master_process off; pid {};", pid.display()));
        let log = folder.join(format!("{name}-nginx.log"));
        let process = start(&mut command, &log, "nginx")?;
        wait_for(&address)?;
        Ok(Self { _process: process, address })
    }
}

/// Replaces the addresses and adds the folders of the test. nginx connects from
/// another address than the client, so the program can tell them apart.
fn adapted(conf: &str, address: &str, upstream: &str, folder: &Path) -> Result<String, String> {
    let mut conf = conf.to_owned();
    let mut settings =
        format!("http {{\n    proxy_bind {ADDRESS_OF_NGINX};\n    access_log off;\n");
    for name in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"] {
        settings += &format!("    {name}_temp_path {}/{name};\n", folder.display());
    }
    for (old, new) in [
        ("listen 8080;", format!("listen {address};")),
        ("127.0.0.1:3000;", format!("{upstream};")),
        ("http {\n", settings),
    ] {
        if conf.matches(old).count() != 1 {
            return Err(format!("the configuration of nginx must contain {old:?} once"));
        }
        conf = conf.replace(old, &new);
    }
    Ok(conf)
}

const ADDRESS_OF_NGINX: &str = "127.0.0.2";

fn start(command: &mut Command, log: &Path, name: &str) -> Result<Running, String> {
    let file = File::create(log).map_err(|error| format!("{}: {error}", log.display()))?;
    announce(command);
    Running::start(command.stderr(file), name)
}

/// The failed checks. Each check prints a line.
#[derive(Default)]
struct Checks {
    faults: Vec<String>,
}

impl Checks {
    fn status(&mut self, what: &str, expected: u16, response: &Response) {
        self.is_equal(what, expected, response.status);
    }

    fn is_equal(&mut self, what: &str, expected: u16, found: u16) {
        println!("{what}: {found}");
        if expected != found {
            self.faults.push(format!("{what}: expected {expected}, found {found}"));
        }
    }

    fn holds(&mut self, what: &str, is_true: bool) {
        println!("{what}: {}", if is_true { "yes" } else { "no" });
        if !is_true {
            self.faults.push(format!("{what}: no"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_is_adapted() {
        let conf = "http {\n    server {\n        listen 8080;\n        proxy_pass \
                    http://127.0.0.1:3000;\n    }\n}\n";
        let found = adapted(conf, "127.0.0.1:1", "127.0.0.1:2", Path::new("/x")).unwrap();
        for part in
            ["listen 127.0.0.1:1;", "http://127.0.0.1:2;", "proxy_bind 127.0.0.2;", " /x/proxy;"]
        {
            assert!(found.contains(part), "{part} is not in {found}");
        }
        assert!(adapted("http {\n", "a", "b", Path::new("/x")).is_err());
    }

    #[test]
    fn failed_checks_are_collected() {
        let mut checks = Checks::default();
        checks.is_equal("a", 200, 200);
        checks.is_equal("b", 200, 404);
        checks.holds("c", true);
        checks.holds("d", false);
        assert_eq!(checks.faults, ["b: expected 200, found 404", "d: no"]);
    }
}
