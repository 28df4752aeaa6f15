//! The page of the example in Chromium: one page for each process, and one
//! behind HAProxy.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::site::Site;
use crate::{Programs, Row};
use xtask::browser::is_installed;
use xtask::live_page::Page;
use xtask::skip;

/// The timeout for all pages together.
const PATIENCE: Duration = Duration::from_secs(120);

/// Returns the row of the page, or `None` without a browser.
pub fn row(programs: &Programs, site: &Site) -> Result<Option<Row>, String> {
    if !is_installed() {
        skip("the page of three processes in a browser (`apt-get install chromium`)");
        return Ok(None);
    }
    everybody_here(&programs.folder, site).map(Some)
}

/// Opens a page of each process and one behind HAProxy, and sends a message on
/// one of them. Each page must show everybody who joined after it, and the
/// message.
fn everybody_here(folder: &Path, site: &Site) -> Result<Row, String> {
    let end = Instant::now() + PATIENCE;
    let behind_haproxy = [("HAProxy", &site.address)];
    let addresses = ["a", "b", "c"].into_iter().zip(&site.addresses).chain(behind_haproxy);
    let mut pages: Vec<(&str, Page)> = Vec::new();
    let mut missing = Vec::new();
    for (name, address) in addresses {
        let profile = folder.join(format!("browser-{name}"));
        let page = Page::open(&profile, &format!("http://{address}/"), end)?;
        pages.push((name, page));
        // Each process reports the total number of members.
        let by = if name == "HAProxy" { "" } else { name };
        let come = format!("by {by}");
        let count = format!("({} here)", pages.len());
        missing.extend(without(&mut pages, &[&come, &count])?);
    }
    let (said, other) = ("hello from the page of b", "hello from behind HAProxy");
    say(&mut pages[1].1, said)?;
    missing.extend(without(&mut pages, &[&format!("{said}: b")])?);
    say(&mut pages[3].1, other)?;
    missing.extend(without(&mut pages, &[other])?);
    for (name, page) in &pages {
        let is_fault = |event: &&String| event.contains("exceptionThrown");
        missing.extend(page.events.iter().find(is_fault).map(|event| format!("{name}: {event}")));
    }
    Ok(Row {
        name: "the page in a browser".to_owned(),
        wanted: "4 pages, each with all members and messages".to_owned(),
        found: match missing.is_empty() {
            true => format!("{} pages, each with all members and messages", pages.len()),
            false => missing.join("; "),
        },
        holds: missing.is_empty(),
    })
}

/// Sends a text with the form of a page.
fn say(page: &mut Page, text: &str) -> Result<(), String> {
    let send = format!(
        "(() => {{ document.getElementById('text').value = '{text}'; \
         document.getElementById('form').requestSubmit(); return ''; }})()"
    );
    page.evaluate(&send).map(drop)
}

/// Returns the pages that do not show a line with these words within ten
/// seconds.
fn without(pages: &mut [(&str, Page)], words: &[&str]) -> Result<Vec<String>, String> {
    let words = words.iter().map(|word| format!("line.textContent.includes('{word}')"));
    let has = words.collect::<Vec<_>>().join(" && ");
    let look = format!(
        "new Promise((done) => {{ const said = document.getElementById('said'); const look = () \
         => {{ if ([...said.children].some((line) => {has})) done('seen'); }}; new \
         MutationObserver(look).observe(said, {{ childList: true }}); look(); setTimeout(() => \
         done('missing'), 10000); }})"
    );
    let mut missing = Vec::new();
    for (name, page) in pages {
        if page.evaluate(&look)? != "seen" {
            missing.push(format!("the page of {name} does not have a line {has}"));
        }
    }
    Ok(missing)
}
