//! The shop's order page in Chromium: it shows the changes of a POST.
//!
//! Chromium is controlled with its DevTools protocol over a pipe. Commands and
//! responses are JSON, each followed by a NUL.

use std::env::consts::EXE_SUFFIX;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use crate::browser::CHROMIUM;
use crate::running::Running;
use crate::{Outcome, announce};

/// The situations and their expected outcomes.
pub const SITUATIONS: [(&str, &str); 3] = [
    ("shop: the page with a wrong token", "Unauthorized"),
    ("shop: the page of an order", "placed"),
    ("shop: the order after a POST ships it", "shipped"),
];

/// Returns the page's outcome in each of [`SITUATIONS`]. `target` is the target
/// directory of the shop, and `profile` is a folder for the browser.
pub fn outcomes(
    target: &Path,
    profile: &Path,
    end: Instant,
) -> Result<Vec<(String, String)>, String> {
    let shop = Shop::start(target, end)?;
    let token = shop.admin_token()?;
    let cart = number_field(&shop.post("/carts", &token, "")?, "cart")?;
    let item = r#"{"product":1,"count":2}"#;
    shop.post(&format!("/carts/{cart}/items"), &token, item)?;
    let order = shop.post(&format!("/carts/{cart}/checkout"), &token, "")?;
    let order = number_field(&order, "order")?;

    let mut page = Page::open(profile, &format!("http://{}/live", shop.address), end)?;
    let mut shown = vec![page.watch(&order, "wrong", "")?];
    shown.push(page.watch(&order, &token, &shown[0])?);
    shop.post(&format!("/orders/{order}/ship"), &token, "")?;
    shown.push(page.status_after(&shown[1])?);
    let names = SITUATIONS.into_iter().map(|(name, _)| name.to_owned());
    Ok(names.zip(shown).collect())
}

/// The running shop, stopped on drop.
pub struct Shop {
    process: Running,
    pub address: String,
}

impl Shop {
    /// Starts the shop with data in memory.
    pub fn start(target: &Path, end: Instant) -> Result<Self, String> {
        Self::start_on(target, ":memory:", end)
    }

    /// Starts the shop with a database.
    pub fn start_on(target: &Path, database: &str, end: Instant) -> Result<Self, String> {
        let mut command = Command::new(target.join(format!("debug/shop{EXE_SUFFIX}")));
        command.env("PORT", "0").env("SHOP_DATABASE", database);
        command.env("SHOP_ADMIN_PASSWORD", PASSWORD).env("RUST_LOG", "warn");
        // Tokens stay valid after a restart, so one login serves all starts.
        command.env("SHOP_SECRET", SECRET);
        announce(command.stdout(Stdio::piped()));
        let process = Running::start(&mut command, "the shop")?;
        let mut shop = Self { process, address: String::new() };
        let stdout = shop.process.stdout.take().ok_or("the shop does not have output")?;
        // The output is read to its end, because the shop continues to write.
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        let line = lines.recv_timeout(end.saturating_duration_since(Instant::now()));
        let line = line.map_err(|_| "the shop does not start")?;
        let address = line.split_once("http://").and_then(|(_, rest)| rest.split_once(';'));
        let (address, _) = address.ok_or(format!("unexpected output {line:?} of the shop"))?;
        shop.address = address.to_owned();
        Ok(shop)
    }

    /// Kills the shop with SIGKILL, which cannot be handled.
    pub fn kill(&mut self) -> Outcome {
        self.process.end()
    }

    /// Returns a token of the admin.
    pub fn admin_token(&self) -> Result<String, String> {
        let login = format!(r#"{{"email":"admin@example.org","password":"{PASSWORD}"}}"#);
        text_field(&self.post("/login", "", &login)?, "token")
    }

    /// Sends a POST and returns the body of the response, which must be a 2xx.
    pub fn post(&self, path: &str, token: &str, body: &str) -> Result<String, String> {
        let send = || {
            let mut stream = TcpStream::connect(&self.address)?;
            stream.set_read_timeout(Some(Duration::from_secs(10)))?;
            write!(
                stream,
                "POST {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {}\r\n\
                 Content-Type: application/json\r\nAuthorization: Bearer {token}\r\n\r\n{body}",
                self.address,
                body.len()
            )?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer).map(|_| answer)
        };
        let answer = send().map_err(|error| format!("POST {path}: {error}"))?;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
        match head.starts_with("HTTP/1.1 2") {
            true => Ok(body.to_owned()),
            false => Err(format!("POST {path}: {answer}")),
        }
    }
}

/// A page in a separate browser, which is stopped on drop.
pub struct Page {
    _browser: Running,
    commands: ChildStdin,
    answers: Receiver<String>,
    /// Identifies the page in commands once it is known.
    session: Option<String>,
    sent: u32,
    end: Instant,
    /// The requests of the page, and its console messages.
    pub events: Vec<String>,
}

impl Page {
    /// Opens a page and waits until it is loaded.
    pub fn open(profile: &Path, url: &str, end: Instant) -> Result<Self, String> {
        let mut page = Self::start(profile, end)?;
        let target = page.command("Target.createTarget", r#"{"url":"about:blank"}"#)?;
        let target = text_field(&target, "targetId")?;
        let attach = format!(r#"{{"targetId":"{target}","flatten":true}}"#);
        let attached = page.command("Target.attachToTarget", &attach)?;
        page.session = Some(text_field(&attached, "sessionId")?);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            page.command(&format!("{domain}.enable"), "{}")?;
        }
        page.navigate(url)?;
        Ok(page)
    }

    /// Navigates to a page and waits until it is loaded.
    pub fn navigate(&mut self, url: &str) -> Result<(), String> {
        self.send("Page.navigate", &format!(r#"{{"url":"{url}"}}"#))?;
        self.answer(|message| message.contains(r#""method":"Page.loadEventFired""#)).map(drop)
    }

    fn start(profile: &Path, end: Instant) -> Result<Self, String> {
        // The protocol uses the file descriptors 3 and 4. Chromium's own output
        // would interfere with the protocol.
        let mut command = Command::new("sh");
        command.args(["-c", "exec \"$@\" 3<&0 4>&1 0</dev/null 1>&2 2>/dev/null", "sh", CHROMIUM]);
        command
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
            .args(["--no-first-run", "--disable-background-networking", "--remote-debugging-pipe"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        announce(&command);
        let mut browser = Running::start(&mut command, CHROMIUM)?;
        let commands = browser.stdin.take().ok_or("no pipe to the browser")?;
        let stdout = browser.stdout.take().ok_or("no pipe from the browser")?;
        let (sender, answers) = mpsc::channel();
        thread::spawn(move || {
            for message in BufReader::new(stdout).split(0).map_while(Result::ok) {
                let _ = sender.send(String::from_utf8_lossy(&message).into_owned());
            }
        });
        let (session, events) = (None, Vec::new());
        Ok(Self { _browser: browser, commands, answers, session, sent: 0, end, events })
    }

    /// Fills in the form and returns the status that follows `before`.
    fn watch(&mut self, order: &str, token: &str, before: &str) -> Result<String, String> {
        self.evaluate(&format!(
            "(() => {{ const of = (id) => document.getElementById(id); of('order').value = \
             '{order}'; of('token').value = '{token}'; of('watch').click(); return ''; }})()"
        ))?;
        self.status_after(before)
    }

    /// Returns the status of the page once it is no longer `before`.
    fn status_after(&mut self, before: &str) -> Result<String, String> {
        self.evaluate(&format!(
            "new Promise((done) => {{ const status = document.getElementById('status'); const \
             look = () => {{ const text = status.textContent; if (text !== '{before}') done(text); \
             }}; new MutationObserver(look).observe(status, {{ childList: true, characterData: \
             true, subtree: true }}); look(); }})"
        ))
    }

    /// Evaluates an expression without double quotes and returns its text,
    /// which may be a promise.
    pub fn evaluate(&mut self, expression: &str) -> Result<String, String> {
        let params =
            format!(r#"{{"expression":"{expression}","awaitPromise":true,"returnByValue":true}}"#);
        text_field(&self.command("Runtime.evaluate", &params)?, "value")
    }

    /// Runs a command and returns its response.
    pub fn command(&mut self, method: &str, params: &str) -> Result<String, String> {
        let id = self.send(method, params)?;
        let begin = format!(r#"{{"id":{id},"#);
        let answer = self.answer(|message| message.starts_with(&begin))?;
        let failed = answer.contains(r#""error":{"#) || answer.contains("exceptionDetails");
        if failed { Err(format!("{method}: {answer}")) } else { Ok(answer) }
    }

    /// Sends a command and returns its number.
    fn send(&mut self, method: &str, params: &str) -> Result<u32, String> {
        self.sent += 1;
        let session = self.session.as_ref();
        let session = session.map_or_else(String::new, |id| format!(r#""sessionId":"{id}","#));
        let id = self.sent;
        write!(
            self.commands,
            r#"{{"id":{id},{session}"method":"{method}","params":{params}}}{NUL}"#
        )
        .map_err(|error| format!("{CHROMIUM} does not accept {method}: {error}"))?;
        Ok(id)
    }

    /// Returns the next wanted message. Of the earlier messages, only events
    /// are stored.
    fn answer(&mut self, wanted: impl Fn(&str) -> bool) -> Result<String, String> {
        loop {
            let left = self.end.saturating_duration_since(Instant::now());
            let message = self.answers.recv_timeout(left);
            let message = message.map_err(|_| format!("{CHROMIUM} does not answer in time"))?;
            if wanted(&message) {
                return Ok(message);
            }
            if EVENTS.iter().any(|method| message.contains(&format!(r#""method":"{method}""#))) {
                self.events.push(message);
            }
        }
    }
}

/// Returns the value of `"name":"value"` in a JSON object.
pub fn text_field(json: &str, name: &str) -> Result<String, String> {
    let found =
        json.split_once(&format!("\"{name}\":\"")).and_then(|(_, rest)| rest.split_once('"'));
    found.map(|(value, _)| value.to_owned()).ok_or(format!("no {name:?} in {json}"))
}

/// Returns the value of `"name":7` in a JSON object.
pub fn number_field(json: &str, name: &str) -> Result<String, String> {
    let rest = json.split_once(&format!("\"{name}\":")).map(|(_, rest)| rest);
    let digits = rest.map(|rest| rest.chars().take_while(char::is_ascii_digit).collect::<String>());
    digits.filter(|digits| !digits.is_empty()).ok_or(format!("no {name:?} in {json}"))
}

/// The events of [`Page::events`].
const EVENTS: [&str; 4] = [
    "Log.entryAdded",
    "Network.requestWillBeSent",
    "Runtime.consoleAPICalled",
    "Runtime.exceptionThrown",
];

/// The password of the admin.
pub const PASSWORD: &str = "correct horse";

/// The key that signs the tokens of each shop started here.
const SECRET: &str = "the tokens of a shop that tests start and kill";

/// The terminator of each protocol message.
const NUL: char = '\0';

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_fields() {
        let json = r#"{"id":7,"result":{"sessionId":"A1","value":""}}"#;
        assert_eq!(text_field(json, "sessionId").as_deref(), Ok("A1"));
        assert_eq!(text_field(json, "value").as_deref(), Ok(""));
        assert_eq!(number_field(json, "id").as_deref(), Ok("7"));
        assert!(text_field(json, "id").is_err());
        assert!(number_field(json, "value").is_err());
    }
}
