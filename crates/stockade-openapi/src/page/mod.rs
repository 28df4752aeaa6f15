//! The documentation page: HTML that is generated when the router is built and
//! works without its script.

mod curl;
mod html;
mod markdown;
mod operation;
mod refusals;
mod schema;
#[cfg(feature = "swagger-ui")]
mod swagger_ui;
mod webhooks;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

use bytes::Bytes;
use serde_json::Value;
use stockade_middleware::conditional::ETag;
use stockade_routing::map::{RouteInfo, RouteMap};

use self::html::{Html, anchor};
use self::refusals::Refusals;
use crate::document::routes_by_id;
use crate::options::OpenApiOptions;

/// The content security policy of the page: only its own files, and nothing
/// inline.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

/// The maximum number of operations on a single page. Above it, each group has
/// its own page.
const MOST_ON_A_PAGE: usize = 60;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("search.js");
const ICON: &str = include_str!("icon.svg");

/// A served file.
#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) media_type: &'static str,
    pub(crate) content: Bytes,
    /// True if the content is compressed with gzip.
    pub(crate) is_gzip: bool,
    pub(crate) policy: &'static str,
    pub(crate) etag: ReadyTag,
}

impl File {
    fn new(media_type: &'static str, content: impl Into<Bytes>) -> Self {
        let etag = ReadyTag::default();
        Self { media_type, content: content.into(), is_gzip: false, policy: POLICY, etag }
    }
}

/// The `ETag` of constant content. It is computed on first use, because
/// `with_etag` would hash the content for each response.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReadyTag(OnceLock<String>);

impl ReadyTag {
    /// Returns the tag. The content must be the same in each call.
    pub(crate) fn of(&self, content: &[u8]) -> &str {
        self.0.get_or_init(|| ETag::of(content).weak().to_string())
    }
}

/// The page with its files.
#[derive(Debug)]
pub(crate) struct Pages {
    index: File,
    /// The files, by the last segment of their paths.
    files: HashMap<String, File>,
}

impl Pages {
    /// Creates the pages of a map and its document.
    pub(crate) fn of(map: &RouteMap, document: &Value, options: &OpenApiOptions) -> Self {
        let contents = Contents::of(map, document, options);
        let mut files = HashMap::new();
        for (name, media_type, content) in [
            ("style.css", "text/css; charset=utf-8", STYLE),
            ("search.js", "text/javascript; charset=utf-8", SCRIPT),
            ("icon.svg", "image/svg+xml", ICON),
        ] {
            let content = Bytes::from_static(content.as_bytes());
            files.insert(name.to_owned(), File::new(media_type, content));
        }
        #[cfg(feature = "swagger-ui")]
        if options.swagger_ui {
            files.extend(swagger_ui::files(options));
        }
        let is_split = contents.count() > MOST_ON_A_PAGE;
        if is_split {
            for group in &contents.groups {
                let content = contents.page(Part::Group(group));
                files.insert(file_name(group.name), html_file(content));
            }
        }
        let part = if is_split { Part::Index } else { Part::All };
        Self { index: html_file(contents.page(part)), files }
    }

    /// Returns the page itself.
    pub(crate) fn index(&self) -> &File {
        &self.index
    }

    /// Returns the file with this name.
    pub(crate) fn file(&self, name: &str) -> Option<&File> {
        self.files.get(name)
    }
}

fn html_file(content: String) -> File {
    File::new("text/html; charset=utf-8", content)
}

/// Returns the file name of a group's page.
fn file_name(group: &str) -> String {
    format!("group-{}", anchor(group))
}

/// Returns the relative URL from the page to the document, prefixed with `up`.
fn to_document(options: &OpenApiOptions, up: &str) -> String {
    let depth = options.docs_path.split('/').filter(|part| !part.is_empty()).count();
    let path = options.path.trim_start_matches('/');
    format!("{up}{}{path}", "../".repeat(depth.saturating_sub(1)))
}

/// The operations that a page shows.
#[derive(Clone, Copy)]
enum Part<'c, 'd> {
    All,
    /// Only the groups, each with a link to its page.
    Index,
    Group(&'c Group<'d>),
}

/// A group of operations.
struct Group<'d> {
    name: &'d str,
    description: Option<&'d str>,
    operations: Vec<Operation<'d>>,
}

/// An operation of the document, with its route.
#[derive(Clone, Copy)]
struct Operation<'d> {
    method: &'d str,
    path: &'d str,
    id: &'d str,
    value: &'d Value,
    route: &'d RouteInfo,
}

/// All data that the pages show.
struct Contents<'d> {
    document: &'d Value,
    options: &'d OpenApiOptions,
    groups: Vec<Group<'d>>,
    refusals: Refusals,
    detail: Detail,
}

/// The options for the line of a response.
#[derive(Clone)]
struct Detail {
    /// True if the line names the internal parts that send the response.
    internals: bool,
    /// The schema name of the usual error, which the page describes once.
    usual_error: Cow<'static, str>,
}

impl<'d> Contents<'d> {
    fn of(map: &'d RouteMap, document: &'d Value, options: &'d OpenApiOptions) -> Self {
        let routes = routes_by_id(map);
        let tags = document["tags"].as_array().into_iter().flatten();
        let groups = tags.filter_map(|tag| {
            let name = tag["name"].as_str()?;
            let description = tag["description"].as_str();
            Some(Group { name, description, operations: Vec::new() })
        });
        let mut groups: Vec<Group<'d>> = groups.collect();
        let paths = document["paths"].as_object().into_iter().flatten();
        for (path, item) in paths {
            for (method, value) in item.as_object().into_iter().flatten() {
                // Each operation is listed in its first group.
                let tag = value["tags"][0].as_str();
                let group = groups.iter_mut().find(|group| Some(group.name) == tag);
                let id = value["operationId"].as_str();
                if let (Some(group), Some(id)) = (group, id)
                    && let Some(route) = routes.get(id).copied()
                {
                    group.operations.push(Operation { method, path, id, value, route });
                }
            }
        }
        groups.retain(|group| !group.operations.is_empty());
        let detail =
            Detail { internals: options.internals, usual_error: map.error_schema_name(false) };
        let refusals = Refusals::of(document, &groups, &detail);
        Self { document, options, groups, refusals, detail }
    }

    fn count(&self) -> usize {
        self.groups.iter().map(|group| group.operations.len()).sum()
    }

    fn schemas(&self) -> &'d Value {
        &self.document["components"]["schemas"]
    }

    /// Returns the URL of the first server, if the document names one.
    fn server(&self) -> Option<&'d str> {
        self.options.servers.first().map(String::as_str)
    }

    /// Returns a response, or the shared response that it refers to.
    fn response(&self, response: &'d Value) -> &'d Value {
        operation::resolved(self.document, response)
    }

    fn page(&self, part: Part<'_, 'd>) -> String {
        let mut html = Html::default();
        // The files are one level below the page, next to the pages of the
        // groups.
        let last = self.options.docs_path.rsplit('/').next().unwrap_or_default();
        let (below, home, up) = match part {
            Part::Group(_) => (String::new(), format!("../{last}"), "../"),
            _ if last.is_empty() => (String::new(), String::from("."), ""),
            _ => (format!("{last}/"), last.to_owned(), ""),
        };
        let home = if last.is_empty() { "." } else { home.as_str() };
        let up = if last.is_empty() { "" } else { up };
        self.head(&mut html, part, &below);
        self.header(&mut html, home, up, &below);
        self.navigation(&mut html, part, &below, home);
        html.markup("<main id=main tabindex=-1>\n");
        match part {
            Part::All => {
                self.groups.iter().for_each(|group| self.group(&mut html, group));
                webhooks::add(&mut html, self);
                self.shared(&mut html, &self.groups.iter().collect::<Vec<_>>(), true);
            }
            Part::Group(group) => {
                self.group(&mut html, group);
                self.shared(&mut html, &[group], false);
            }
            Part::Index => {
                self.overview(&mut html, &below);
                webhooks::add(&mut html, self);
                self.shared(&mut html, &[], true);
            }
        }
        html.markup("</main></body></html>\n");
        html.into_string()
    }

    fn head(&self, html: &mut Html, part: Part<'_, '_>, below: &str) {
        html.markup("<!doctype html><html lang=en><head><meta charset=utf-8>");
        html.markup("<meta name=viewport content=\"width=device-width,initial-scale=1\"><title>");
        if let Part::Group(group) = part {
            html.text(group.name).markup(" – ");
        }
        html.text(&self.options.info.title).markup("</title><link rel=icon href=\"");
        html.text(below).markup("icon.svg\"><link rel=stylesheet href=\"").text(below);
        html.markup("style.css\"><script defer src=\"").text(below);
        html.markup("search.js\"></script></head>\n<body>");
        html.markup("<a class=skip href=\"#main\">Skip to the operations</a>");
    }

    fn header(&self, html: &mut Html, home: &str, up: &str, below: &str) {
        let info = &self.options.info;
        html.markup("<header><h1>").text(&info.title).markup(" <small>").text(&info.version);
        html.markup("</small></h1>");
        if let Some(description) = &info.description {
            markdown::add(html, description);
        }
        html.markup("<p class=soft><a href=\"").text(home).markup("\">All operations</a> · ");
        html.markup("<a href=\"").text(&to_document(self.options, up));
        html.markup("\">OpenAPI document</a>");
        #[cfg(feature = "swagger-ui")]
        if self.options.swagger_ui {
            html.markup(" · <a href=\"").text(below).markup("try\">Try it</a>");
        }
        #[cfg(not(feature = "swagger-ui"))]
        let _ = below;
        if let Some(license) = &info.license {
            html.markup(" · ").text(license);
        }
        if let Some(contact) = &info.contact {
            html.markup(" · ").text(contact);
        }
        html.markup("</p>");
        match self.server() {
            Some(server) => html.markup("<p>Server: ").code(server).markup("</p>"),
            None => html
                .markup("<p class=soft>In the curl commands, <code>$API</code> is the address of ")
                .markup("this server.</p>"),
        };
        html.markup("</header>\n");
    }

    fn navigation(&self, html: &mut Html, part: Part<'_, '_>, below: &str, home: &str) {
        html.markup("<nav aria-label=Operations><search hidden><label for=search>Search <i>");
        html.markup("(press /)</i></label><input id=search type=search autocomplete=off>");
        html.markup("<p id=found class=soft role=status></p></search><h2>Operations</h2>");
        for group in &self.groups {
            let page = match part {
                Part::All => String::new(),
                Part::Index | Part::Group(_) => format!("{below}{}", file_name(group.name)),
            };
            html.markup("<h3><a href=\"").text(&page).markup("#group-").anchor(group.name);
            html.markup("\">").text(group.name).markup("</a></h3>");
            // The page of one group links only to its own operations.
            if let Part::Group(own) = part
                && own.name != group.name
            {
                continue;
            }
            html.markup("<ul>");
            for operation in &group.operations {
                html.markup("<li><a href=\"").text(&page).markup("#").anchor(operation.id);
                html.markup("\">");
                operation::title(html, operation);
                html.markup("</a>");
            }
            html.markup("</ul>");
        }
        let home = if matches!(part, Part::Group(_)) { home } else { "" };
        webhooks::links(html, self.document, home);
        html.markup("</nav>\n");
    }

    fn group(&self, html: &mut Html, group: &Group<'d>) {
        html.markup("<section><h2 id=\"group-").anchor(group.name).markup("\">").text(group.name);
        html.markup("</h2>");
        if let Some(description) = group.description {
            markdown::add(html, description);
        }
        group.operations.iter().for_each(|it| operation::add(html, self, it));
        html.markup("</section>\n");
    }

    fn overview(&self, html: &mut Html, below: &str) {
        html.markup("<section><h2>Groups</h2><ul class=r>");
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
                if let (Some(name), line) = operation::place(self, operation, status, response) {
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
        answer_list(html, &answers, usual);
        if !schemas.is_empty() {
            self.schema_list(html, &schemas);
        }
    }

    fn schema_list(&self, html: &mut Html, names: &[String]) {
        html.markup("<section aria-labelledby=schemas><h2 id=schemas>Schemas</h2>");
        for name in names {
            let schema = &self.schemas()[name];
            html.markup("<details id=s-").anchor(name).markup("><summary>");
            html.code(name).markup("</summary>");
            if let Some(description) = schema["description"].as_str() {
                markdown::add(html, description);
            }
            html.markup("<p>");
            schema::kind(html, schema);
            html.markup("</p>");
            schema::fields(html, schema);
            html.markup("</details>\n");
        }
        html.markup("</section>\n");
    }
}

/// Adds the responses that several operations share.
fn answer_list(html: &mut Html, answers: &BTreeMap<(&str, &str), Html>, usual: Option<&String>) {
    if answers.is_empty() {
        return;
    }
    html.markup("<section aria-labelledby=answers><h2 id=answers>Shared responses</h2>");
    if let Some(name) = usual {
        html.markup("<p>An error has the body <a href=#s-").anchor(name);
        html.markup(">").text(name).markup("</a>, unless another body is listed.</p>");
    }
    html.markup("<ul class=r>");
    for ((status, name), line) in answers {
        html.markup("<li id=a-").anchor(&operation::place_id(status, name));
        html.markup(">").add(line);
    }
    html.markup("</ul></section>\n");
}

#[cfg(test)]
mod tests;
