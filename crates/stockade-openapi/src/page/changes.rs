//! The differences between the releases of an API.

use std::collections::BTreeSet;
use std::time::SystemTime;

use serde_json::Value;
use stockade_errors::{ConfigError, ConfigIssue};
use stockade_map::lock::{Change, Changes, Lock};
use stockade_routing::map::RouteMap;

use super::html::Html;
use crate::options::OpenApiOptions;

/// The differences from one release to the next.
pub(super) struct Release {
    from: String,
    to: String,
    changes: Vec<Change>,
}

/// Returns the differences between each release and the next, the latest first.
/// The last release is compared with the routes of the program.
pub(super) fn of(map: &RouteMap, options: &OpenApiOptions) -> Result<Vec<Release>, ConfigError> {
    if options.releases.is_empty() {
        return Ok(Vec::new());
    }
    let mut issues = Vec::new();
    let mut locks = Vec::new();
    for (version, text) in &options.releases {
        match Lock::read(text) {
            Ok(lock) => locks.push((version.as_str(), lock)),
            Err(error) => {
                issues.push(ConfigIssue::new(format!("the lock of release {version:?}: {error}")));
            }
        }
    }
    ConfigError::check(issues)?;
    let current = Lock::of(map)?;
    let texts = options.releases.iter().map(|(_, text)| text.as_str());
    let hidden: BTreeSet<String> =
        texts.chain([&*current.to_string()]).flat_map(hidden_in).collect();
    locks.push((options.info.version.as_str(), current));
    let pairs = locks.iter().zip(locks.iter().skip(1));
    let releases = pairs.map(|((from, before), (to, after))| Release {
        from: (*from).to_owned(),
        to: (*to).to_owned(),
        changes: shown(&before.changes_to(after, SystemTime::now()), &hidden, options.internals),
    });
    let mut releases: Vec<Release> = releases.filter(|it| !it.changes.is_empty()).collect();
    releases.reverse();
    Ok(releases)
}

/// Returns the names of hidden routes in the text of a lock.
fn hidden_in(lock: &str) -> Vec<String> {
    // The text is a lock, which has already been read.
    let lock: Value = serde_json::from_str(lock).unwrap_or_default();
    let routes = lock["routes"].as_object().into_iter().flatten();
    let hidden = routes.filter(|(_, route)| !route["docs"]["hidden"].is_null());
    hidden.map(|(name, _)| name.clone()).collect()
}

/// Returns the changes that a reader of the page may see. Changes of the router
/// are internals, and hidden routes are never shown.
fn shown(changes: &Changes, hidden: &BTreeSet<String>, internals: bool) -> Vec<Change> {
    let visible = changes.iter().filter_map(|change| {
        let mut change = change.clone();
        let is_of_router = change.routes.is_empty();
        change.routes.retain(|route| !hidden.contains(route));
        let is_shown = if is_of_router { internals } else { !change.routes.is_empty() };
        is_shown.then_some(change)
    });
    visible.collect()
}

/// Adds the section of the differences, if there are any.
pub(super) fn add(html: &mut Html, releases: &[Release]) {
    if releases.is_empty() {
        return;
    }
    html.markup("<section aria-labelledby=changes class=g><h2 id=changes>Changes</h2>");
    for release in releases {
        html.markup("<h3>").text(&release.from).markup(" to ").text(&release.to).markup("</h3>");
        for class in ["breaking, weakening", "breaking", "weakening", "compatible", "text"] {
            let own: Vec<&Change> =
                release.changes.iter().filter(|it| it.rule.class() == class).collect();
            if own.is_empty() {
                continue;
            }
            html.markup("<details").markup(if class.starts_with("b") { " open" } else { "" });
            html.markup("><summary>").text(class).markup(" (");
            html.text(&own.len().to_string()).markup(")</summary><ul class=r>");
            for change in own {
                one(html, change);
            }
            html.markup("</ul></details>");
        }
    }
    html.markup("</section>\n");
}

fn one(html: &mut Html, change: &Change) {
    html.markup("<li>").text(change.rule.meaning);
    for route in &change.routes {
        html.markup(" <code>").text(route).markup("</code>");
    }
    if !change.at.is_empty() {
        html.markup("<br><small>").text(&change.at).markup(": ");
        html.text(&change.before.to_string()).markup(" → ");
        html.text(&change.after.to_string()).markup("</small>");
    }
}
