//! The page of the shop's API, in Chromium. It works without scripts, can be
//! searched by keyboard, fits a small screen, and does not load anything from
//! other hosts.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use crate::Outcome;
use crate::browser::CHROMIUM;
use crate::live_page::{Page, Shop, text_field};

/// The situations and their expected outcomes.
pub const SITUATIONS: [(&str, &str); 8] = [
    ("docs: the operations without scripts", "all"),
    ("docs: the search without scripts", "hidden"),
    ("docs: a search by keyboard", "#postCartsByCartItems"),
    ("docs: the width at 360 px", "360"),
    ("docs: the colors of dark mode", "different"),
    ("docs: the operations in Swagger UI", "all"),
    ("docs: a request sent by Swagger UI", "200 Green tea"),
    ("docs: requests to other hosts, console messages", "none"),
];

/// Returns the outcome of each of [`SITUATIONS`]. The arguments are the same as
/// for [`live_page::outcomes`](crate::live_page::outcomes).
pub fn outcomes(
    target: &Path,
    profile: &Path,
    end: Instant,
) -> Result<Vec<(String, String)>, String> {
    let shop = Shop::start(target, end)?;
    let url = format!("http://{}/docs", shop.address);
    let mut page = Page::open(profile, "about:blank", end)?;
    open(&mut page, &url, false)?;
    let mut got = vec![page.evaluate(OPERATIONS)?];
    let search = "document.querySelector('search').hidden ? 'hidden' : 'shown'";
    got.push(page.evaluate(search)?);
    open(&mut page, &url, true)?;
    got.push(search_by_keyboard(&mut page)?);
    got.push(width(&mut page)?);
    got.push(dark_mode(&mut page)?);
    page.navigate(&format!("{url}/try"))?;
    got.push(page.evaluate(SWAGGER_UI)?);
    got.push(page.evaluate(EXECUTE)?);
    got.push(faults(&page, &format!("http://{}/", shop.address))?);
    let names = SITUATIONS.into_iter().map(|(name, _)| name.to_owned());
    Ok(names.zip(got).collect())
}

/// Writes the picture of Swagger UI for the book. `api_page.rs` writes the
/// picture of the page.
pub fn picture(target: &Path, profile: &Path, file: &Path, end: Instant) -> Outcome {
    let shop = Shop::start(target, end)?;
    // The browser keeps the time budget in virtual time, until the page has
    // loaded its document.
    crate::run(
        Command::new(CHROMIUM)
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"])
            .args(["--window-size=1200,900", "--virtual-time-budget=5000"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg(format!("--screenshot={}", file.display()))
            .arg(format!("http://{}/docs/try", shop.address)),
    )
}

/// Compares the sections of the page with the document.
const OPERATIONS: &str = "fetch('/openapi.json').then((answer) => answer.json()).then((document) \
    => { const ids = Object.values(document.paths).flatMap((item) => Object.values(item)).map((it) \
    => it.operationId); const missing = ids.filter((id) => !globalThis.document.getElementById(id)); \
    return ids.length > 30 && missing.length === 0 ? 'all' : 'without ' + missing; })";

/// Waits for the operations in Swagger UI, which include webhooks, and compares
/// them with the document.
const SWAGGER_UI: &str = "fetch('/openapi.json').then((answer) => answer.json()).then((document) \
    => { const items = [document.paths, document.webhooks].flatMap(Object.values); \
    const count = items.flatMap((item) => Object.keys(item)).length; \
    return new Promise((done) => { const look = () => globalThis.document.querySelectorAll(\
    '.opblock').length === count ? done('all') : setTimeout(look, 50); look(); }); })";

/// Opens an operation in Swagger UI, sends its request, and returns the status
/// with a word of the body.
const EXECUTE: &str = "(async () => { const found = (selector) => new Promise((done) => { const \
    look = () => { const element = document.querySelector(`[id$=-getProducts] ${selector}`); \
    element ? done(element) : setTimeout(look, 50); }; look(); }); \
    (await found('.opblock-summary-control')).click(); (await found('.try-out__btn')).click(); \
    (await found('.execute')).click(); const answer = '.live-responses-table .response '; \
    const status = await found(answer + '.response-col_status'); \
    const body = await found(answer + '.highlight-code'); \
    return status.textContent.trim() + (body.textContent.includes('Green tea') ? ' Green tea' : \
    body.textContent); })()";

/// Returns the location after `/`, some words and Enter.
fn search_by_keyboard(page: &mut Page) -> Result<String, String> {
    press(page, "/", r#","text":"/""#)?;
    page.command("Input.insertText", r#"{"text":"POST cart items"}"#)?;
    press(page, "Enter", r#","text":"\r""#)?;
    page.evaluate("new Promise((done) => setTimeout(() => done(location.hash), 200))")
}

/// Opens an address, with or without the scripts of the page.
pub fn open(page: &mut Page, url: &str, with_script: bool) -> Result<(), String> {
    let disabled = format!(r#"{{"value":{}}}"#, !with_script);
    page.command("Emulation.setScriptExecutionDisabled", &disabled)?;
    page.navigate(url)
}

/// Presses a key; `text` contains the other fields of the event.
pub fn press(page: &mut Page, key: &str, text: &str) -> Result<(), String> {
    let down = format!(r#"{{"type":"keyDown","key":"{key}"{text}}}"#);
    page.command("Input.dispatchKeyEvent", &down)?;
    let up = format!(r#"{{"type":"keyUp","key":"{key}"}}"#);
    page.command("Input.dispatchKeyEvent", &up).map(drop)
}

/// Returns the width of the page on a small screen, with everything expanded.
pub fn width(page: &mut Page) -> Result<String, String> {
    let screen = r#"{"width":360,"height":700,"deviceScaleFactor":1,"mobile":true}"#;
    page.command("Emulation.setDeviceMetricsOverride", screen)?;
    page.evaluate(
        "document.querySelectorAll('details').forEach((it) => { it.open = true; }), \
         String(document.documentElement.scrollWidth)",
    )
}

/// Returns `different` if dark mode uses different colors.
pub fn dark_mode(page: &mut Page) -> Result<String, String> {
    let mut colors = |scheme: &str| {
        let feature = format!(r#"{{"name":"prefers-color-scheme","value":"{scheme}"}}"#);
        page.command("Emulation.setEmulatedMedia", &format!(r#"{{"features":[{feature}]}}"#))?;
        page.evaluate(
            "[getComputedStyle(document.body).color, \
             getComputedStyle(document.body).backgroundColor].join(' on ')",
        )
    };
    let (light, dark) = (colors("light")?, colors("dark")?);
    Ok(if light == dark { light } else { "different".to_owned() })
}

/// Returns requests to other hosts and console messages, including policy
/// violations.
pub fn faults(page: &Page, origin: &str) -> Result<String, String> {
    let mut faults = Vec::new();
    let mut requests = 0;
    for event in &page.events {
        if event.contains(r#""method":"Network.requestWillBeSent""#) {
            requests += 1;
            let (_, request) = event.split_once(r#""request":"#).ok_or("a request without one")?;
            let url = text_field(request, "url")?;
            let is_own = url.starts_with(origin) || url.starts_with("data:image/");
            if !is_own && url != "about:blank" {
                faults.push(url);
            }
        } else {
            faults.push(event.clone());
        }
    }
    // The page, its style sheet and its script.
    if requests < 3 {
        faults.push(format!("{requests} requests were seen"));
    }
    Ok(if faults.is_empty() { "none".to_owned() } else { faults.join(" ") })
}
