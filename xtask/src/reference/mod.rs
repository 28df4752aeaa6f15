//! Compares the reference pages of the book with the code, in both directions:
//! the code has each name on a page, and a page has each name in the code. The
//! runbook quotes log lines, so their words are searched in the code.
//!
//! The tests in `tests/it/reference` compare the pages that need a running
//! program.

mod features;
mod limits;
mod logs;
mod names;
mod page;
mod source;

use std::path::Path;

use self::page::Page;
use self::source::Library;

/// Returns the differences between pages and code in the workspace in this
/// folder.
pub fn check(root: &Path) -> Result<Vec<String>, String> {
    let library = Library::read(root)?;
    let page = |name: &str| Page::read(root, &format!("reference/{name}"));
    let mut faults = names::keys(&page("routes-keys.md")?, &library)?;
    faults.extend(names::options(&page("options.md")?, &library)?);
    faults.extend(names::variables(&page("options.md")?, &library)?);
    faults.extend(names::responses(&page("messages.md")?, &library)?);
    faults.extend(names::configuration(&page("configuration-errors.md")?, &library));
    faults.extend(features::check(&page("features.md")?, root)?);
    faults.extend(limits::check(&page("limits.md")?, &library)?);
    for other in ["options.md", "routes-keys.md"] {
        faults.extend(limits::defaults(&page("limits.md")?, &page(other)?));
    }
    faults.extend(logs::targets(&page("logs-and-metrics.md")?, &library)?);
    faults.extend(logs::lines(&page("log-messages.md")?, &library)?);
    faults.extend(logs::metrics(&page("logs-and-metrics.md")?, &library)?);
    faults.extend(logs::signals(&Page::read(root, "operations/runbook.md")?, &library)?);
    Ok(faults)
}
