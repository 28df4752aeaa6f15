//! The parts of a page around its operations.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use stockade_routing::map::SchemeInfo;

use super::html::{Html, anchor};
use super::schema::View;
use super::{Contents, Group, Part, STYLE, file_name, samples, to_document};
use super::{changes, export, markdown, operation, policy, responses, schema, webhooks};
use crate::example::{Direction, Examples};

/// The relative URLs of a page.
struct Urls {
    /// The prefix of the files.
    below: String,
    /// The page of all operations.
    home: String,
    /// The prefix of the document.
    up: &'static str,
}

impl<'d> Contents<'d> {
    /// Returns the URLs of a part. The files are one level below the page, next
    /// to the pages of the groups.
    fn urls(&self, part: Part<'_, '_>) -> Urls {
        let last = self.options.docs_path.rsplit('/').next().unwrap_or_default();
        match part {
            Part::File => Urls { below: String::new(), home: String::new(), up: "" },
            _ if last.is_empty() => Urls { below: String::new(), home: ".".to_owned(), up: "" },
            Part::Group(_) => Urls { below: String::new(), home: format!("../{last}"), up: "../" },
            _ => Urls { below: format!("{last}/"), home: last.to_owned(), up: "" },
        }
    }

    /// Returns the style sheet, with the color of the options.
    pub(super) fn style(&self) -> String {
        match &self.options.color {
            // The options contain only digits of a color.
            Some(color) => format!("{STYLE}:root{{--brand:{color}}}\n"),
            None => STYLE.to_owned(),
        }
    }

    pub(super) fn page(&self, part: Part<'_, 'd>) -> String {
        let mut html = Html::default();
        let urls = self.urls(part);
        self.head(&mut html, part, &urls);
        self.bar(&mut html, part, &urls);
        self.navigation(&mut html, part, &urls);
        html.markup("<main id=main tabindex=-1>\n");
        let shown: Vec<&Group<'d>> = match part {
            Part::All | Part::File => self.groups.iter().collect(),
            Part::Group(group) => vec![group],
            Part::Index => Vec::new(),
        };
        let has_all = !matches!(part, Part::Group(_));
        if has_all {
            self.introduction(&mut html);
        }
        if matches!(part, Part::Index) {
            self.overview(&mut html, &urls.below);
        }
        shown.iter().for_each(|group| self.group(&mut html, group));
        if has_all {
            webhooks::add(&mut html, self);
            changes::add(&mut html, &self.releases);
        }
        self.shared(&mut html, &shown, has_all);
        html.markup("</main>");
        if self.options.try_it {
            self.calls(&mut html, part, &shown);
        }
        if matches!(part, Part::File) {
            export::script(&mut html);
        }
        html.markup("</body></html>\n");
        html.into_string()
    }

    fn head(&self, html: &mut Html, part: Part<'_, '_>, urls: &Urls) {
        html.markup("<!doctype html><html lang=en><head><meta charset=utf-8>");
        html.markup("<meta name=viewport content=\"width=device-width,initial-scale=1\"><title>");
        if let Part::Group(group) = part {
            html.text(group.name).markup(" – ");
        }
        html.text(&self.options.info.title).markup("</title>");
        if matches!(part, Part::File) {
            export::head(html, self);
        } else {
            html.markup("<link rel=icon href=\"").text(&urls.below);
            html.markup("icon.svg\"><link rel=stylesheet href=\"").text(&urls.below);
            html.markup("style.css\"><script defer src=\"").text(&urls.below);
            html.markup("page.js\"></script>");
        }
        html.markup("</head>\n<body><a class=skip href=\"#main\">Skip to the operations</a>");
    }

    /// Adds the bar with the title and the links.
    fn bar(&self, html: &mut Html, part: Part<'_, '_>, urls: &Urls) {
        let info = &self.options.info;
        html.markup("<header class=bar><a class=brand href=\"").text(&urls.home);
        html.markup(if urls.home.is_empty() { "#main\">" } else { "\">" });
        if let Some(logo) = &self.options.logo {
            html.markup("<img alt=\"\" height=28 src=\"");
            match part {
                Part::File => html.text(&export::data(logo.media_type, &logo.content)),
                _ => html.text(&urls.below).markup("logo"),
            };
            html.markup("\">");
        }
        html.text(&info.title).markup(" <small>").text(&info.version).markup("</small></a><p>");
        if !matches!(part, Part::File) {
            html.markup("<a href=\"").text(&to_document(self.options, urls.up));
            html.markup("\">OpenAPI document</a>");
            #[cfg(feature = "swagger-ui")]
            if self.options.swagger_ui {
                html.markup("<a href=\"").text(&urls.below).markup("try\">Swagger UI</a>");
            }
        }
        for (text, url) in &self.options.links {
            html.markup("<a rel=noreferrer href=\"").text(url).markup("\">").text(text);
            html.markup("</a>");
        }
        html.markup("</p></header>\n");
    }

    fn introduction(&self, html: &mut Html) {
        let info = &self.options.info;
        html.markup("<section class=intro><h1>").text(&info.title).markup(" <small>");
        html.text(&info.version).markup("</small></h1>");
        if let Some(description) = &info.description {
            markdown::add(html, description);
        }
        html.markup("<dl>");
        for server in &self.options.servers {
            html.markup("<div><dt>Server<dd>").code(server).markup("</div>");
        }
        for (name, text) in [("License", &info.license), ("Contact", &info.contact)] {
            if let Some(text) = text {
                html.markup("<div><dt>").markup(name).markup("<dd>").text(text).markup("</div>");
            }
        }
        html.markup("</dl>");
        if self.options.servers.is_empty() {
            html.markup(
                "<p class=soft>In the curl commands, <code>$API</code> is the address of the \
                 server.</p>",
            );
        }
        html.markup("</section>\n");
    }

    fn navigation(&self, html: &mut Html, part: Part<'_, '_>, urls: &Urls) {
        html.markup("<nav aria-label=Operations data-home=\"");
        // The page of one group links only to its own operations.
        html.text(if matches!(part, Part::Group(_)) { &urls.home } else { "" });
        html.markup("\"><input type=checkbox id=menu><label for=menu>Operations</label><div>");
        html.markup("<search hidden><label for=search>Search</label><input id=search ");
        html.markup("type=search autocomplete=off placeholder=\"Press / to search\">");
        html.markup("<p id=found class=soft role=status></p></search>");
        for group in &self.groups {
            let page = match part {
                Part::All | Part::File => String::new(),
                Part::Index | Part::Group(_) => {
                    format!("{}{}", urls.below, file_name(group.name))
                }
            };
            html.markup("<h2><a href=\"").text(&page).markup("#group-").anchor(group.name);
            html.markup("\">").text(group.name).markup("</a></h2>");
            if let Part::Group(own) = part
                && own.name != group.name
            {
                continue;
            }
            html.markup("<ul>");
            for operation in &group.operations {
                html.markup("<li><a href=\"").text(&page).markup("#").anchor(operation.id);
                html.markup("\" title=\"").text(&operation::method(operation)).markup(" ");
                html.text(operation.path).markup("\"><span>").text(&operation::title(operation));
                html.markup("</span> ");
                operation::badge(html, operation);
                html.markup("</a>");
            }
            html.markup("</ul>");
        }
        let home = if matches!(part, Part::Group(_)) { &*urls.home } else { "" };
        webhooks::links(html, self.document, home);
        if !self.releases.is_empty() {
            html.markup("<h2><a href=\"").text(home).markup("#changes\">Changes</a></h2>");
        }
        html.markup("</div></nav>\n");
    }

    fn group(&self, html: &mut Html, group: &Group<'d>) {
        html.markup("<section class=g><h2 id=\"group-").anchor(group.name).markup("\">");
        html.text(group.name).markup("</h2>");
        if let Some(description) = group.description {
            markdown::add(html, description);
        }
        group.operations.iter().for_each(|it| operation::add(html, self, it));
        html.markup("</section>\n");
    }

    fn overview(&self, html: &mut Html, below: &str) {
        html.markup("<section class=g><h2>Groups</h2><ul class=r>");
        for group in &self.groups {
            html.markup("<li><a href=\"").text(below).text(&file_name(group.name)).markup("\">");
            html.text(group.name).markup("</a> <i>");
            html.text(&group.operations.len().to_string()).markup("</i>");
            if let Some(description) = group.description {
                markdown::add(html, description);
            }
        }
        html.markup("</ul></section>\n");
    }

    /// Adds the responses and schemas that these operations share, and the
    /// schemas of webhooks if the page shows them.
    fn shared(&self, html: &mut Html, groups: &[&Group<'d>], has_webhooks: bool) {
        let (mut answers, mut schemas) = (BTreeMap::new(), Vec::new());
        for operation in groups.iter().flat_map(|group| &group.operations) {
            schema::names_in(operation.value, &mut schemas);
            let responses = operation.value["responses"].as_object().into_iter().flatten();
            for (status, response) in responses {
                schema::names_in(self.response(response), &mut schemas);
                if let (Some(name), line) = responses::place(self, operation, status, response) {
                    answers.insert((status.as_str(), name), line);
                }
            }
        }
        if has_webhooks {
            schema::names_in(&self.document["webhooks"], &mut schemas);
        }
        let mut next = 0;
        while let Some(name) = schemas.get(next).cloned() {
            schema::names_in(&self.schemas()[&name], &mut schemas);
            next += 1;
        }
        let usual = schemas.iter().find(|name| **name == *self.detail.usual_error);
        self.shared_responses(html, &answers, usual);
        if !schemas.is_empty() {
            self.schema_list(html, &schemas);
        }
    }

    fn schema_list(&self, html: &mut Html, names: &[String]) {
        html.markup("<section class=g aria-labelledby=schemas><h2 id=schemas>Schemas</h2>");
        let view = View { schemas: self.schemas(), direction: None };
        for name in names {
            let schema = &self.schemas()[name];
            html.markup("<details id=s-").anchor(name).markup("><summary><code>").text(name);
            html.markup("</code></summary>");
            if let Some(description) = schema["description"].as_str() {
                markdown::add(html, description);
            }
            html.markup("<p>");
            schema::kind(html, schema);
            html.markup("</p>");
            view.named(html, name);
            html.markup("</details>\n");
        }
        html.markup("</section>\n");
    }

    /// Adds the responses that several operations share.
    fn shared_responses(
        &self,
        html: &mut Html,
        answers: &BTreeMap<(&str, &str), Html>,
        usual: Option<&String>,
    ) {
        if answers.is_empty() {
            return;
        }
        html.markup("<section class=g aria-labelledby=shared><h2 id=shared>Shared responses</h2>");
        if let Some(name) = usual {
            html.markup("<p>The body of an error is <a href=#s-").anchor(name);
            html.markup(">").text(name).markup("</a>, unless another body is listed.</p>");
            let example = Examples::new(self.schemas(), Direction::Response);
            let example = example.value("", &self.schemas()[name]);
            html.listing(&samples::pretty(&example));
        }
        html.markup("<ul class=r>");
        for ((status, name), line) in answers {
            html.markup("<li id=a-").anchor(&responses::place_id(status, name));
            html.markup(">").add(line);
        }
        html.markup("</ul></section>\n");
    }

    /// Adds the data of the operations. The script builds the forms that send
    /// requests from it.
    fn calls(&self, html: &mut Html, part: Part<'_, '_>, groups: &[&Group<'d>]) {
        let operations = groups.iter().flat_map(|group| &group.operations);
        let mut schemes = Map::new();
        let mut calls = Map::new();
        for operation in operations {
            calls.insert(anchor(operation.id), samples::call(self, operation));
            for scheme in &operation.route.access.schemes {
                schemes.entry(scheme.name()).or_insert_with(|| scheme_data(scheme));
            }
        }
        let is_file = matches!(part, Part::File);
        let is_usable =
            |url: &&String| policy::origin(url).is_some() || (!is_file && url.starts_with('/'));
        let servers: Vec<&String> = self.options.servers.iter().filter(is_usable).collect();
        // A file does not have its own server, and a script may call only known
        // servers.
        if servers.is_empty() && (is_file || !self.options.servers.is_empty()) {
            return;
        }
        let data = json!({ "calls": calls, "schemes": schemes, "servers": servers });
        html.markup("<script type=\"application/json\" id=calls>").json(&data).markup("</script>");
    }
}

/// Returns the data of an authentication method: its place and its name there.
fn scheme_data(scheme: &SchemeInfo) -> Value {
    match scheme {
        SchemeInfo::Http { scheme, .. } if scheme.eq_ignore_ascii_case("basic") => {
            json!({ "k": "basic", "n": "Authorization" })
        }
        SchemeInfo::Http { scheme, .. } => json!({ "k": "http", "n": scheme }),
        SchemeInfo::Header { header, .. } => json!({ "k": "header", "n": header }),
        SchemeInfo::Cookie { cookie, .. } => json!({ "k": "cookie", "n": cookie }),
        other => json!({ "k": "header", "n": "Authorization", "t": other.name() }),
    }
}
