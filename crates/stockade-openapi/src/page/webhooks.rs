//! The section of the webhooks: requests that the API sends to other servers.

use serde_json::Value;

use super::html::Html;
use super::{Contents, markdown, operation};

/// Returns the names and operations of the webhooks.
pub(super) fn of(document: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let webhooks = document["webhooks"].as_object().into_iter().flatten();
    webhooks.map(|(name, item)| (name.as_str(), &item["post"]))
}

/// Adds links to the webhooks on the page `home`.
pub(super) fn links(html: &mut Html, document: &Value, home: &str) {
    if of(document).next().is_none() {
        return;
    }
    html.markup("<h3><a href=\"").text(home).markup("#webhooks\">Webhooks</a></h3><ul>");
    for (name, _) in of(document) {
        html.markup("<li><a href=\"").text(home).markup("#webhook-").anchor(name).markup("\">");
        title(html, name);
        html.markup("</a>");
    }
    html.markup("</ul>");
}

/// Adds the section of all webhooks, if there are any.
pub(super) fn add(html: &mut Html, contents: &Contents<'_>) {
    if of(contents.document).next().is_none() {
        return;
    }
    html.markup("<section aria-labelledby=webhooks><h2 id=webhooks>Webhooks</h2>");
    html.markup("<p>Requests that this API sends to subscribers.</p>");
    for (name, value) in of(contents.document) {
        html.markup("<section id=webhook-").anchor(name).markup("><h3><a href=#webhook-");
        html.anchor(name).markup(">");
        title(html, name);
        html.markup("</a></h3>");
        if let Some(summary) = value["summary"].as_str() {
            html.markup("<p>").text(summary).markup("\n");
        }
        if let Some(description) = value["description"].as_str() {
            markdown::add(html, description);
        }
        operation::body(html, value);
        html.markup("</section>\n");
    }
    html.markup("</section>\n");
}

fn title(html: &mut Html, name: &str) {
    html.markup("<i class=post>POST</i> ").code(name);
}
