//! The page of the shop's API, in Chromium: it reads without script, is searched
//! by keyboard, fits a small screen, and loads nothing of other hosts.

use std::path::Path;
use std::time::Instant;

use crate::live_page::{Page, Shop, text_field};

/// The situations, each with the outcome that must be there.
pub const SITUATIONS: [(&str, &str); 8] = [
    ("docs: the operations without script", "all"),
    ("docs: the search without script", "hidden"),
    ("docs: a search by keyboard", "#postCartsByCartItems"),
    ("docs: the width at 360 px", "360"),
    ("docs: the colours of dark mode", "others"),
    ("docs: the operations in Swagger UI", "all"),
    ("docs: a request sent by Swagger UI", "200 Green tea"),
    ("docs: other hosts, messages of the console", "none"),
];

/// The outcome of each of [`SITUATIONS`]; the arguments are those of
/// [`live_page::outcomes`](crate::live_page::outcomes).
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

/// Compares the sections of the page with the document.
const OPERATIONS: &str = "fetch('/openapi.json').then((answer) => answer.json()).then((document) \
    => { const ids = Object.values(document.paths).flatMap((item) => Object.values(item)).map((it) \
    => it.operationId); const missing = ids.filter((id) => !globalThis.document.getElementById(id)); \
    return ids.length > 30 && missing.length === 0 ? 'all' : 'without ' + missing; })";

/// Waits for the operations in Swagger UI, and compares them with the document; it
/// shows webhooks among them.
const SWAGGER_UI: &str = "fetch('/openapi.json').then((answer) => answer.json()).then((document) \
    => { const items = [document.paths, document.webhooks].flatMap(Object.values); \
    const count = items.flatMap((item) => Object.keys(item)).length; \
    return new Promise((done) => { const look = () => globalThis.document.querySelectorAll(\
    '.opblock').length === count ? done('all') : setTimeout(look, 50); look(); }); })";

/// Opens an operation in Swagger UI, lets it send the request, and gives the
/// status with a word of the body.
const EXECUTE: &str = "(async () => { const found = (selector) => new Promise((done) => { const \
    look = () => { const element = document.querySelector(`[id$=-getProducts] ${selector}`); \
    element ? done(element) : setTimeout(look, 50); }; look(); }); \
    (await found('.opblock-summary-control')).click(); (await found('.try-out__btn')).click(); \
    (await found('.execute')).click(); const answer = '.live-responses-table .response '; \
    const status = await found(answer + '.response-col_status'); \
    const body = await found(answer + '.highlight-code'); \
    return status.textContent.trim() + (body.textContent.includes('Green tea') ? ' Green tea' : \
    body.textContent); })()";

/// Gives the place that the page is at after `/`, some words and Enter.
fn search_by_keyboard(page: &mut Page) -> Result<String, String> {
    press(page, "/", r#","text":"/""#)?;
    page.command("Input.insertText", r#"{"text":"POST cart items"}"#)?;
    press(page, "Enter", r#","text":"\r""#)?;
    page.evaluate("new Promise((done) => setTimeout(() => done(location.hash), 200))")
}

/// Opens an address, with the scripts of its page or without them.
pub fn open(page: &mut Page, url: &str, with_script: bool) -> Result<(), String> {
    let disabled = format!(r#"{{"value":{}}}"#, !with_script);
    page.command("Emulation.setScriptExecutionDisabled", &disabled)?;
    page.navigate(url)
}

/// Presses a key; `text` is the rest of the event.
pub fn press(page: &mut Page, key: &str, text: &str) -> Result<(), String> {
    let down = format!(r#"{{"type":"keyDown","key":"{key}"{text}}}"#);
    page.command("Input.dispatchKeyEvent", &down)?;
    let up = format!(r#"{{"type":"keyUp","key":"{key}"}}"#);
    page.command("Input.dispatchKeyEvent", &up).map(drop)
}

/// Gives the width of the page on a small screen, with everything unfolded.
pub fn width(page: &mut Page) -> Result<String, String> {
    let screen = r#"{"width":360,"height":700,"deviceScaleFactor":1,"mobile":true}"#;
    page.command("Emulation.setDeviceMetricsOverride", screen)?;
    page.evaluate(
        "document.querySelectorAll('details').forEach((it) => { it.open = true; }), \
         String(document.documentElement.scrollWidth)",
    )
}

/// Gives `others` where the colours of dark mode are others.
pub fn dark_mode(page: &mut Page) -> Result<String, String> {
    let mut colours = |scheme: &str| {
        let feature = format!(r#"{{"name":"prefers-color-scheme","value":"{scheme}"}}"#);
        page.command("Emulation.setEmulatedMedia", &format!(r#"{{"features":[{feature}]}}"#))?;
        page.evaluate(
            "[getComputedStyle(document.body).color, \
             getComputedStyle(document.body).backgroundColor].join(' on ')",
        )
    };
    let (light, dark) = (colours("light")?, colours("dark")?);
    Ok(if light == dark { light } else { "others".to_owned() })
}

/// Gives the requests to other hosts and the messages of the console, among them
/// those about broken policies.
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
    // The page, its style sheet, its script.
    if requests < 3 {
        faults.push(format!("{requests} requests were seen"));
    }
    Ok(if faults.is_empty() { "none".to_owned() } else { faults.join(" ") })
}
