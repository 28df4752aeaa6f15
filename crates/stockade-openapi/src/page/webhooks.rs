//! The section of the webhooks: requests that the API sends to other servers.

use serde_json::Value;

use super::html::Html;
use super::{Contents, markdown, operation, samples};
use crate::example::{Direction, Examples};

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
    html.markup("<h2><a href=\"").text(home).markup("#webhooks\">Webhooks</a></h2><ul>");
    for (name, _) in of(document) {
        html.markup("<li><a href=\"").text(home).markup("#webhook-").anchor(name).markup("\">");
        html.markup("<span>").text(name).markup("</span> <b class=\"m post\">POST</b></a>");
    }
    html.markup("</ul>");
}

/// Adds the section of all webhooks, if there are any.
pub(super) fn add(html: &mut Html, contents: &Contents<'_>) {
    if of(contents.document).next().is_none() {
        return;
    }
    html.markup("<section class=g aria-labelledby=webhooks><h2 id=webhooks>Webhooks</h2>");
    html.markup("<p>Requests that this API sends to subscribers.</p>");
    for (name, value) in of(contents.document) {
        html.markup("<section class=op id=webhook-").anchor(name).markup("><div class=doc><h3>");
        html.markup("<a href=#webhook-").anchor(name).markup(">");
        html.text(value["summary"].as_str().unwrap_or(name)).markup("</a></h3><p class=path>");
        html.markup("<b class=\"m post\">POST</b> ").code(name).markup("</p>");
        if let Some(description) = value["description"].as_str() {
            markdown::add(html, description);
        }
        operation::body(html, contents.schemas(), value);
        html.markup("</div><div class=ex>");
        let schema = &value["requestBody"]["content"]["application/json"]["schema"];
        if !schema.is_null() {
            let example = Examples::new(contents.schemas(), Direction::Response).value("", schema);
            html.markup("<div class=card><h4>Request</h4>").listing(&samples::pretty(&example));
            html.markup("</div>");
        }
        html.markup("</div></section>\n");
    }
    html.markup("</section>\n");
}
