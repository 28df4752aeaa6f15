//! The documentation page: HTML that is generated when the router is built and
//! works without its script.

mod changes;
mod export;
mod html;
mod layout;
mod life;
mod markdown;
mod methods;
mod operation;
mod parameters;
mod policy;
mod refusals;
mod responses;
mod samples;
mod schema;
#[cfg(feature = "swagger-ui")]
mod swagger_ui;
mod webhooks;
mod words;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::OnceLock;

use bytes::Bytes;
use serde_json::Value;
use stockade_errors::ConfigError;
use stockade_middleware::conditional::ETag;
use stockade_routing::map::{RouteInfo, RouteMap, RouterInfo};

use self::changes::Release;
use self::html::anchor;
use self::methods::Method;
use self::refusals::Refusals;
use crate::document::routes_by_id;
use crate::options::OpenApiOptions;

/// The maximum number of operations on a single page. Above it, each group has
/// its own page.
const MOST_ON_A_PAGE: usize = 60;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("page.js");
const ICON: &str = include_str!("icon.svg");

/// A served file.
#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) media_type: &'static str,
    pub(crate) content: Bytes,
    /// True if the content is compressed with gzip.
    pub(crate) is_gzip: bool,
    pub(crate) policy: Cow<'static, str>,
    pub(crate) etag: ReadyTag,
}

impl File {
    fn new(media_type: &'static str, content: impl Into<Bytes>) -> Self {
        let etag = ReadyTag::default();
        let policy = Cow::Borrowed(policy::OF_FILES);
        Self { media_type, content: content.into(), is_gzip: false, policy, etag }
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
    ///
    /// # Errors
    /// Fails if an option of the page is invalid.
    pub(crate) fn of(
        map: &RouteMap,
        document: &Value,
        options: &OpenApiOptions,
    ) -> Result<Self, ConfigError> {
        let contents = Contents::of(map, document, options)?;
        let mut files = HashMap::new();
        for (name, media_type, content) in [
            ("page.js", "text/javascript; charset=utf-8", SCRIPT),
            ("icon.svg", "image/svg+xml", ICON),
        ] {
            let content = Bytes::from_static(content.as_bytes());
            files.insert(name.to_owned(), File::new(media_type, content));
        }
        let style = File::new("text/css; charset=utf-8", contents.style());
        files.insert("style.css".to_owned(), style);
        if let Some(logo) = &options.logo {
            files.insert("logo".to_owned(), File::new(logo.media_type, logo.content.clone()));
        }
        #[cfg(feature = "swagger-ui")]
        if options.swagger_ui {
            files.extend(swagger_ui::files(options));
        }
        let policy = policy::of_page(options);
        let is_split = contents.count() > MOST_ON_A_PAGE;
        if is_split {
            for group in &contents.groups {
                let content = contents.page(Part::Group(group));
                files.insert(file_name(group.name), html_file(content, policy.clone()));
            }
        }
        let part = if is_split { Part::Index } else { Part::All };
        Ok(Self { index: html_file(contents.page(part), policy), files })
    }

    /// Creates the page as one file, with its style sheet and its script.
    ///
    /// # Errors
    /// Fails as [`of`](Self::of) does.
    pub(crate) fn single(
        map: &RouteMap,
        document: &Value,
        options: &OpenApiOptions,
    ) -> Result<String, ConfigError> {
        Ok(Contents::of(map, document, options)?.page(Part::File))
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

fn html_file(content: String, policy: String) -> File {
    File { policy: policy.into(), ..File::new("text/html; charset=utf-8", content) }
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
    /// All operations, in a file that needs no other files.
    File,
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
    router: &'d RouterInfo,
    options: &'d OpenApiOptions,
    groups: Vec<Group<'d>>,
    methods: Vec<Method>,
    releases: Vec<Release>,
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
    fn of(
        map: &'d RouteMap,
        document: &'d Value,
        options: &'d OpenApiOptions,
    ) -> Result<Self, ConfigError> {
        options.check_page()?;
        let groups = groups(map, document);
        let detail =
            Detail { internals: options.internals, usual_error: map.error_schema_name(false) };
        let refusals = Refusals::of(document, &groups, &detail);
        let releases = changes::of(map, options)?;
        let router = &map.router;
        let methods = methods::of(map);
        Ok(Self { document, router, options, groups, methods, releases, refusals, detail })
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
        responses::resolved(self.document, response)
    }
}

/// Returns the operations of a document, in the order of its tags.
fn groups<'d>(map: &'d RouteMap, document: &'d Value) -> Vec<Group<'d>> {
    let routes = routes_by_id(map);
    let tags = document["tags"].as_array().into_iter().flatten();
    let groups = tags.filter_map(|tag| {
        let name = tag["name"].as_str()?;
        let description = tag["description"].as_str();
        Some(Group { name, description, operations: Vec::new() })
    });
    let mut groups: Vec<Group<'d>> = groups.collect();
    for (path, item) in document["paths"].as_object().into_iter().flatten() {
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
    groups
}

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;
