//! The book in Chromium: its search, and its width on two screens.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::browser::is_installed;
use crate::docs_page::{press, width};
use crate::live_page::Page;
use crate::running::Folder;
use crate::{Outcome, skip};

/// Pages with long lines of code, wide tables and a diagram.
const PAGES: [&str; 6] = [
    "index.html",
    "tutorial/03-bodies.html",
    "how-to/openapi.html",
    "concepts/request.html",
    "reference/options.html",
    "operations/runbook.html",
];

/// Words, and the page that the first results must contain.
const SEARCHES: [(&str, &str); 5] = [
    ("pagination", "how-to/pagination.html"),
    ("cors", "how-to/cors.html"),
    ("jwt", "tutorial/06-login.html"),
    ("file upload", "how-to/files.html"),
    ("docker", "operations/docker.html"),
];

/// The timeout of all checks.
const PATIENCE: Duration = Duration::from_secs(60);

/// Checks the book in a folder.
pub fn check(book: &Path) -> Outcome {
    if !is_installed() {
        skip("the book in a browser (it needs `chromium`)");
        return Ok(());
    }
    let folder = Folder::new("book")?;
    let end = Instant::now() + PATIENCE;
    let mut page = Page::open(&folder.0.join("profile"), "about:blank", end)?;
    let mut faults = Vec::new();
    for name in PAGES {
        let url = format!("file://{}", book.join(name).display());
        let screen = r#"{"width":1200,"height":900,"deviceScaleFactor":1,"mobile":false}"#;
        page.command("Emulation.setDeviceMetricsOverride", screen)?;
        page.navigate(&url)?;
        let hidden = page.evaluate(TABLES)?;
        if hidden != "0" {
            faults.push(format!("{name}: {hidden} tables are too wide for 1,200 px"));
        }
        let own = width(&mut page)?;
        if own != "360" {
            faults.push(format!("{name}: the page has a width of {own} px on a screen of 360 px"));
        }
    }
    for (words, expected) in SEARCHES {
        page.navigate(&format!("file://{}", book.join("index.html").display()))?;
        let found = search(&mut page, words)?;
        if !found.split(' ').any(|name| name == expected) {
            faults.push(format!("the search for {words:?} finds {found}, without {expected}"));
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n")) }
}

/// Counts the tables that scroll.
const TABLES: &str = "String([...document.querySelectorAll('.table-wrapper')]\
    .filter((it) => it.scrollWidth > it.clientWidth).length)";

/// Searches by keyboard, and returns the pages of the first results.
fn search(page: &mut Page, words: &str) -> Result<String, String> {
    press(page, "/", r#","text":"/""#)?;
    page.evaluate(
        "new Promise((done) => { const look = () => document.activeElement.type === 'search' ? \
         done('') : setTimeout(look, 20); look(); })",
    )?;
    page.command("Input.insertText", &format!(r#"{{"text":"{words}"}}"#))?;
    page.evaluate(
        "new Promise((done) => { const look = () => { const links = \
         [...document.querySelectorAll('#mdbook-searchresults li a')].slice(0, 4); links.length ? \
         done(links.map((it) => it.getAttribute('href').split('?')[0]).join(' ')) : \
         setTimeout(look, 20); }; look(); })",
    )
}
