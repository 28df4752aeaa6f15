//! Checks in Chromium that responses to cross-origin requests have the right
//! effect.
//!
//! It starts the browser example two times, as two origins. A page of the first
//! origin sends requests and forms to the second one and writes the outcomes
//! into itself. Chromium prints the page, and the outcomes are compared with
//! [`SITUATIONS`]. The page continues at `localhost`, which is a different site
//! from `127.0.0.1`, and returns. After that come the shop's order page
//! (`live_page.rs`), its API page (`docs_page.rs`), and its front page
//! (`home_page.rs`).

use std::env;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::running::{Folder, Running};
use crate::{
    Outcome, announce, debian, docs_page, examples, home_page, live_page, root, skip,
    target_directory,
};

/// Actions of the page (`examples/internal/src/browser.html`), and their expected
/// outcomes.
const SITUATIONS: &[(&str, &str)] = &[
    ("list: GET", "200"),
    ("list: GET with credentials", "200"),
    ("star: GET", "200"),
    ("star: GET with credentials", "blocked"),
    ("one: GET", "200"),
    ("one: GET with credentials", "200"),
    ("unset: GET", "blocked"),
    ("no-cors: GET", "blocked"),
    ("preflight: PUT of JSON", "200"),
    ("preflight: PUT of JSON with credentials", "200"),
    ("preflight: star, PUT of JSON", "200"),
    ("preflight: star, PUT with credentials", "blocked"),
    ("preflight: Authorization", "200"),
    ("preflight: a header that is not allowed", "blocked"),
    ("preflight: DELETE", "200"),
    ("preflight: DELETE without permission", "blocked"),
    ("preflight: PROPFIND", "blocked"),
    ("preflight: PUT to an unknown path", "404"),
    ("null origin: list", "null blocked"),
    ("null origin: star", "null 200"),
    ("null origin: one", "null blocked"),
    ("null origin: preflight", "null blocked"),
    ("null origin: WebSocket", "null refused"),
    ("redirect: same origin to list", "200"),
    ("redirect: list to star", "200"),
    // The second request has the origin `null`.
    ("redirect: star to list", "blocked"),
    ("redirect: list to one", "blocked"),
    ("redirect: list to list", "200"),
    ("header: RateLimit", "readable"),
    ("header: RateLimit-Policy", "readable"),
    ("header: Content-Type", "readable"),
    ("header: not exposed", "hidden"),
    ("header: not exposed, same origin", "readable"),
    ("route: X-Api-Key on a route that reads it", "200"),
    ("route: X-Api-Key on another route", "blocked"),
    ("route: Idempotency-Key on a route that reads it", "201"),
    ("route: Idempotency-Key on another route", "blocked"),
    ("route: If-Match on a route that reads it", "200"),
    ("route: If-Match on another route", "blocked"),
    ("route: If-None-Match on a route that reads it", "200"),
    ("route: If-None-Match on another route", "blocked"),
    ("route: Last-Event-ID on a route that reads it", "200"),
    ("route: Last-Event-ID on another route", "blocked"),
    ("route: X-Tenant on a route that reads it", "200"),
    ("route: X-Tenant on another route", "blocked"),
    ("route: X-Api-Key with credentials", "200"),
    ("route: X-Api-Key, any origin", "200"),
    ("route: ETag", "readable"),
    ("route: Location", "readable"),
    ("route: Idempotency-Replayed", "readable"),
    ("route: WWW-Authenticate", "readable"),
    ("route: X-Region", "readable"),
    ("route: RateLimit with documented headers", "readable"),
    ("route: ETag, any origin", "readable"),
    ("route: configured list, a listed header", "200"),
    ("route: configured list, the route's header", "blocked"),
    ("route: configured list, ETag", "hidden"),
    ("error: 401", "401"),
    ("error: 404", "404"),
    ("error: 405", "405"),
    ("error: 500", "500"),
    ("error: the cause of a 500", "hidden"),
    ("error: the request before the 429", "200"),
    ("error: 429", "429"),
    ("error: Retry-After of the 429", "readable"),
    ("image: another origin", "blocked"),
    ("image: another origin, shared", "loaded"),
    ("image: another origin, with CORS", "loaded"),
    ("image: same origin", "loaded"),
    ("no-cors: a shared image", "opaque"),
    ("frame: a page of the same origin", "refused"),
    ("frame: a page with its own policy", "its script ran"),
    ("WebSocket: allowed origin", "echoed hello"),
    ("WebSocket: no list, another origin", "refused"),
    ("hijack: no session", "refused"),
    ("cookie: sign in", "200"),
    ("cookie: same site, with credentials", "__Host-session lax none strict"),
    ("cookie: same site, without credentials", "no cookies"),
    ("hijack: the session, allowed origin", "the account of Ada"),
    // The cookie is sent to every port of the site; only the origin is
    // different.
    ("hijack: the session, sent to another server", "__Host-session lax none strict"),
    ("hijack: the session, no allowed origin", "refused"),
    ("form: no session, no protection", "200"),
    ("form: a listed origin, sent as null", "403"),
    ("form: the session, listed origin", "200"),
    ("form: the session, single allowed origin", "200"),
    ("form: the session, any origin", "403"),
    ("form: the session, no allowed origin", "403"),
    ("fetch: the session, listed origin", "200"),
    ("no-cors: the session, any origin", "403"),
    ("no-cors: the session, a body without a type", "403"),
    ("JSON only: a form", "415"),
    ("JSON only: a form with files", "415"),
    ("JSON only: text", "415"),
    ("JSON only: no type", "415"),
    ("JSON only: JSON", "200"),
    ("form: the session, same origin", "200"),
    ("fetch: the session, same origin", "200"),
    ("other site: list, GET", "blocked"),
    ("other site: list, GET with credentials", "blocked"),
    ("other site: one, GET", "blocked"),
    ("other site: star, GET", "200"),
    ("other site: a route that allows any origin", "200"),
    ("other site: 404", "blocked"),
    ("other site: 429", "blocked"),
    ("other site: simple POST", "blocked"),
    ("other site: simple POST, received", "1 requests"),
    ("other site: PUT", "blocked"),
    ("other site: PUT, received", "0 requests"),
    ("other site: image with CORS", "blocked"),
    ("other site: WebSocket", "refused"),
    ("hijack: the session, other site", "refused"),
    ("WebSocket: no list, same origin", "echoed hello"),
    ("form: a SameSite=Strict session, other site", "401"),
    ("form: a SameSite=None session, other site", "403"),
    // Even the `none` cookie, which may cross sites, is missing. This row by
    // itself therefore does not prove anything about `SameSite`.
    ("cookie: other site, with credentials", "no cookies"),
    // This row proves it: `Strict` cookies are not sent.
    ("cookie: navigation from another site", "__Host-wide lax none"),
    (SCRIPT, "did not run"),
];

/// The only situation with a separate page.
const SCRIPT: &str = "CSP: a script on a page with the default policy";

/// The timeout for the cross-origin requests, and for each page of the shop.
const PATIENCE: Duration = Duration::from_secs(60);

pub fn run() -> Outcome {
    if !is_installed() && !debian::install(&[CHROMIUM])? {
        skip("a real browser (it needs `chromium`, which root can install on Debian)");
        return Ok(());
    }
    examples::debug_program("shop")?;
    let binary = examples::debug_program("browser")?;
    let target = target_directory()?;
    let end = Instant::now() + PATIENCE;
    let site = Servers::start(&binary, None, end)?;
    let origin = format!("http://{}", site.address("star")?);
    let api = Servers::start(&binary, Some(&origin), end)?;
    let folder = Folder::new("browser")?;

    let url = site.matrix_url(&api)?;
    let mut got = outcomes(&page(&folder, &url, end)?);
    let html = page(&folder, &format!("{origin}/page"), end)?;
    got.push((SCRIPT.to_owned(), text_of(&html, "script").unwrap_or_default().to_owned()));
    for (name, outcomes) in [
        ("live", live_page::outcomes as fn(&Path, &Path, Instant) -> Result<_, _>),
        ("docs", docs_page::outcomes),
        ("home", home_page::outcomes),
    ] {
        got.extend(outcomes(&target, &folder.0.join(name), Instant::now() + PATIENCE)?);
    }
    if env::args().any(|argument| argument == "--pictures") {
        let file = root().join("book/src/images/swagger-ui.png");
        let end = Instant::now() + PATIENCE;
        docs_page::picture(&target, &folder.0.join("pictures"), &file, end)?;
    }
    validate(&got)
}

/// Returns all situations and their expected outcomes.
fn situations() -> impl Iterator<Item = (&'static str, &'static str)> {
    let pages = live_page::SITUATIONS.into_iter().chain(docs_page::SITUATIONS);
    SITUATIONS.iter().copied().chain(pages).chain(home_page::SITUATIONS)
}

/// Returns true if the browser can be started.
pub fn is_installed() -> bool {
    let mut version = Command::new(CHROMIUM);
    version.arg("--version").stderr(Stdio::null());
    announce(&version);
    version.status().is_ok_and(|status| status.success())
}

pub const CHROMIUM: &str = "chromium";

/// Prints the matrix. Fails with the names of the rows with unexpected
/// outcomes.
fn validate(got: &[(String, String)]) -> Outcome {
    let mut faults = Vec::new();
    println!("{:<50} {:<32} got", "situation", "expected");
    for (name, expected) in situations() {
        let got = got.iter().find(|(own, _)| own == name).map_or("nothing", |(_, got)| got);
        let mark = if got == expected { "" } else { "  <- MISMATCH" };
        println!("{name:<50} {expected:<32} {got}{mark}");
        if got != expected {
            faults.push(format!("{name}: expected {expected}, found {got}"));
        }
    }
    let known = |name: &str| situations().any(|(own, _)| own == name);
    let unknown = got.iter().filter(|(name, _)| !known(name));
    faults.extend(unknown.map(|(name, _)| format!("{name}: the expected result is missing")));
    println!("{} situations, {} mismatches", situations().count(), faults.len());
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n")) }
}

/// A running instance of the example, stopped on drop.
struct Servers {
    process: Running,
    /// The names and addresses of the servers.
    addresses: Vec<(String, String)>,
}

impl Servers {
    fn start(binary: &Path, allowed: Option<&str>, end: Instant) -> Result<Self, String> {
        let mut command = Command::new(binary);
        command.envs(allowed.map(|origin| ("ALLOWED", origin))).stdout(Stdio::piped());
        announce(&command);
        let process = Running::start(&mut command, "the servers")?;
        let mut servers = Self { process, addresses: Vec::new() };
        let stdout = servers.process.stdout.take().ok_or("the servers do not have output")?;
        let line = within(end, move || {
            let mut line = String::new();
            BufReader::new(stdout).read_line(&mut line).map(|_| line)
        });
        let line = line.ok_or("the servers do not start")?.map_err(|error| error.to_string())?;
        servers.addresses = addresses(&line);
        Ok(servers)
    }

    fn address(&self, name: &str) -> Result<&str, String> {
        let found = self.addresses.iter().find(|(own, _)| own == name);
        found.map(|(_, address)| &**address).ok_or(format!("unknown server {name:?}"))
    }

    /// Returns our page that sends requests to `api`.
    fn matrix_url(&self, api: &Self) -> Result<String, String> {
        let own = self.address("star")?;
        let next = own.replace("127.0.0.1", "localhost");
        let servers = api.addresses.iter().map(|(name, address)| format!("&{name}={address}"));
        Ok(format!(
            "http://{own}/matrix?stage=there&home=http://{own}&next=http://{next}{}",
            servers.collect::<String>()
        ))
    }
}

/// Parses `list=127.0.0.1:1 star=127.0.0.1:2` in the example's output line.
fn addresses(line: &str) -> Vec<(String, String)> {
    let words = line.split_whitespace().filter_map(|word| word.split_once('='));
    words.map(|(name, address)| (name.into(), address.trim_end_matches(';').into())).collect()
}

/// Returns the page after it has loaded and its script has finished.
fn page(folder: &Folder, url: &str, end: Instant) -> Result<String, String> {
    let fault = |error: std::io::Error| format!("{CHROMIUM}: {error}");
    let log = folder.0.join("log");
    let mut command = Command::new(CHROMIUM);
    command
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        // A form opens a new window.
        .args(["--no-first-run", "--disable-background-networking", "--disable-popup-blocking"])
        .arg("--dump-dom")
        .arg(format!("--user-data-dir={}", folder.0.join("profile").display()))
        .arg(url)
        .stdout(Stdio::piped())
        .stderr(File::create(&log).map_err(fault)?);
    announce(&command);
    let mut browser = Running::start(&mut command, CHROMIUM)?;
    let stdout = browser.stdout.take();
    let html = within(end, move || {
        let mut html = String::new();
        stdout.map(|mut stdout| stdout.read_to_string(&mut html));
        html
    });
    drop(browser);
    let html = html.unwrap_or_default();
    if html.is_empty() {
        let log = fs::read_to_string(&log).unwrap_or_default();
        return Err(format!("{CHROMIUM} did not show {url} in time:\n{log}"));
    }
    Ok(html)
}

/// Returns the result of `work`, or `None` if it takes too long.
fn within<T: Send + 'static>(end: Instant, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let _ = sender.send(work());
    });
    receiver.recv_timeout(end.saturating_duration_since(Instant::now())).ok()
}

/// Returns the rows that the page wrote, one line of JSON each:
/// `["name","got"]`.
fn outcomes(html: &str) -> Vec<(String, String)> {
    let lines = text_of(html, "matrix").unwrap_or_default().lines();
    let rows = lines.filter_map(|line| {
        let row = line.trim_end_matches(',').strip_prefix("[\"")?.strip_suffix("\"]")?;
        let (name, got) = row.split_once("\",\"")?;
        Some((name.to_owned(), got.to_owned()))
    });
    rows.collect()
}

/// Returns the text of the element with this id, which must not contain other
/// elements.
fn text_of<'h>(html: &'h str, id: &str) -> Option<&'h str> {
    let (_, rest) = html.split_once(&format!("id=\"{id}\">"))?;
    rest.split_once("</").map(|(text, _)| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(name: &str, text: &str) -> (String, String) {
        (name.to_owned(), text.to_owned())
    }

    #[test]
    fn finds_the_servers_in_their_line() {
        let line = "listening on list=127.0.0.1:1 star=127.0.0.1:2; Ctrl-C ends it\n";
        assert_eq!(addresses(line), [pair("list", "127.0.0.1:1"), pair("star", "127.0.0.1:2")]);
    }

    #[test]
    fn finds_the_rows_in_the_page() {
        let html = "<pre id=\"matrix\">[\n[\"a: b\",\"200\"],\n[\"c\",\"\"]\n]</pre><p>";
        assert_eq!(outcomes(html), [pair("a: b", "200"), pair("c", "")]);
        assert_eq!(outcomes("<pre id=\"matrix\"></pre>"), []);
    }

    #[test]
    fn names_a_mismatch() {
        let mut got: Vec<_> = situations().map(|(name, text)| pair(name, text)).collect();
        assert_eq!(validate(&got), Ok(()));
        got[0].1 = "blocked".to_owned();
        assert_eq!(validate(&got), Err("list: GET: expected 200, found blocked".to_owned()));
        got[0] = pair("another", "200");
        let fault = "another: the expected result is missing";
        assert!(validate(&got).is_err_and(|found| found.contains(fault)));
    }
}
