//! [`OpenApiOptions`]: the settings of a document, and the access to it.

use bytes::Bytes;
use serde_json::Value;
use stockade_core::description::SchemaOf;
use stockade_core::{IntoMiddlewareList, Middleware};
use stockade_errors::__internal::setters;
use stockade_errors::{ConfigError, ConfigIssue};
use stockade_validation::HasSchema;

/// The title and the version of an API.
///
/// ```
/// use stockade::openapi::ApiInfo;
///
/// let info = ApiInfo::from(("Shop", "1.4.0"));
/// assert_eq!(info, ApiInfo::new("Shop", "1.4.0"));
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct ApiInfo {
    /// The title of the API.
    pub title: String,
    /// The version of the API itself, such as `1.4.0`.
    pub version: String,
    /// The description, as Markdown. Default: none.
    pub description: Option<String>,
    /// The name of the license. Default: none.
    pub license: Option<String>,
    /// The contact address: a URL or an email address. Default: none.
    pub contact: Option<String>,
}

impl ApiInfo {
    /// Creates the information of an API with this title and version.
    #[must_use]
    pub fn new(title: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            version: version.into(),
            description: None,
            license: None,
            contact: None,
        }
    }

    setters! {
        /// Sets [`description`](Self#structfield.description).
        description: some into String;

        /// Sets [`license`](Self#structfield.license).
        license: some into String;

        /// Sets [`contact`](Self#structfield.contact).
        contact: some into String;
    }
}

/// Converts a pair of title and version.
impl<T: Into<String>, V: Into<String>> From<(T, V)> for ApiInfo {
    fn from((title, version): (T, V)) -> Self {
        Self::new(title, version)
    }
}

/// The settings of an OpenAPI document that the routes do not determine, and
/// the access to it.
///
/// ```
/// use stockade::openapi::{OpenApiOptions, open_api};
/// use stockade::prelude::*;
///
/// let api = routes! { "users": { GET: async || "all users" } };
/// let app = create_router(api, RouterOptions::new()).build()?;
/// let options = OpenApiOptions::new("Shop", "1.4.0").server("https://api.shop.example");
/// let document = open_api(&app, &options)?;
/// assert_eq!(document["openapi"], "3.1.1");
/// assert_eq!(document["paths"]["/users"]["get"]["operationId"], "getUsers");
/// # Ok::<(), ConfigError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "options do nothing until a document is created with them"]
#[non_exhaustive]
pub struct OpenApiOptions {
    /// The title, the version, and other information about the API.
    pub info: ApiInfo,
    /// The server URLs. Default: `/`, the server of the document.
    pub servers: Vec<String>,
    /// True if the servers are only for programs of the same organization. The
    /// document contains this as `x-internal`. Default: false.
    pub internal_servers: bool,
    /// The tags with their descriptions. Default: none. An operation has the
    /// tags of its documentation, or the tag of its first segment.
    pub tags: Vec<(String, String)>,
    /// The webhooks, which are requests that this API sends to other servers.
    /// Default: none.
    pub webhooks: Vec<(String, Webhook)>,
    /// The host of the documented routes, as declared: `:tenant.example.com`.
    /// The document also lists the routes without a host. Default: the routes
    /// of all hosts, which must have different paths.
    pub host: Option<String>,
    /// True if the document includes limits and middleware, as `x-limits` and
    /// `x-middleware`. Default: false.
    pub internals: bool,
    /// The path of the served document. Default: `/openapi.json`.
    pub path: String,
    /// The path of the served documentation page. Default: `/docs`.
    pub docs_path: String,
    /// True if the page can send requests to this server or to the
    /// [`servers`](Self#structfield.servers). Default: true. Credentials stay in
    /// the memory of the page.
    pub try_it: bool,
    /// The logo of the page. Default: none.
    pub logo: Option<Logo>,
    /// The color of the page's title line, as `#rgb` or `#rrggbb`. Default:
    /// none.
    pub color: Option<String>,
    /// The links at the top of the page, as text and URL. A URL starts with
    /// `https://`, `http://`, `mailto:` or `/`. Default: none.
    pub links: Vec<(String, String)>,
    /// The earlier releases, the oldest first, as version and text of
    /// `routes.lock`. The page shows the differences between each release and
    /// the next, and between the last release and the program. It omits hidden
    /// routes, and the settings of the router unless
    /// [`internals`](Self#structfield.internals) is true. Default: none.
    pub releases: Vec<(String, String)>,
    /// True if Swagger UI is served in addition to the page. Default: false.
    #[cfg(feature = "swagger-ui")]
    pub swagger_ui: bool,
    pub(crate) access: Option<Access>,
}

/// The clients that may read a document.
#[derive(Clone, Debug)]
pub(crate) enum Access {
    /// All clients, for this reason.
    Public(String),
    /// The clients that this middleware accepts.
    Guarded(Vec<Middleware>),
}

impl OpenApiOptions {
    /// Creates options for a document with this title and version.
    pub fn new(title: impl Into<String>, version: impl Into<String>) -> Self {
        Self::of(ApiInfo::new(title, version))
    }

    /// Creates options for a document about this API.
    pub fn of(info: impl Into<ApiInfo>) -> Self {
        Self {
            info: info.into(),
            servers: Vec::new(),
            internal_servers: false,
            tags: Vec::new(),
            webhooks: Vec::new(),
            host: None,
            internals: false,
            path: "/openapi.json".to_owned(),
            docs_path: "/docs".to_owned(),
            try_it: true,
            logo: None,
            color: None,
            links: Vec::new(),
            releases: Vec::new(),
            #[cfg(feature = "swagger-ui")]
            swagger_ui: false,
            access: None,
        }
    }

    setters! {
        /// Sets [`internal_servers`](Self#structfield.internal_servers).
        internal_servers: bool;

        /// Sets [`internals`](Self#structfield.internals).
        internals: bool;

        /// Sets [`path`](Self#structfield.path).
        path: into String;

        /// Sets [`docs_path`](Self#structfield.docs_path).
        docs_path: into String;

        /// Sets [`try_it`](Self#structfield.try_it).
        try_it: bool;

        /// Sets [`color`](Self#structfield.color). Another form of color is a
        /// configuration error.
        color: some into String;
    }

    /// Sets [`logo`](Self#structfield.logo).
    ///
    /// ```
    /// use stockade::openapi::{Logo, OpenApiOptions};
    ///
    /// let logo = Logo::svg(r##"<svg xmlns="http://www.w3.org/2000/svg"/>"##);
    /// let options = OpenApiOptions::new("Shop", "1.4.0")
    ///     .logo(logo)
    ///     .color("#0a5c36")
    ///     .link("Status", "https://status.shop.example");
    /// assert_eq!(options.links.len(), 1);
    /// ```
    pub fn logo(mut self, logo: Logo) -> Self {
        self.logo = Some(logo);
        self
    }

    /// Adds a link to [`links`](Self#structfield.links). Another kind of URL is
    /// a configuration error.
    pub fn link(mut self, text: impl Into<String>, url: impl Into<String>) -> Self {
        self.links.push((text.into(), url.into()));
        self
    }

    /// Adds an earlier release to [`releases`](Self#structfield.releases), with
    /// the text of its `routes.lock`, for example from `include_str!`. A text
    /// that is not a lock is a configuration error.
    pub fn release(mut self, version: impl Into<String>, lock: impl Into<String>) -> Self {
        self.releases.push((version.into(), lock.into()));
        self
    }

    /// Reports invalid options of the page.
    pub(crate) fn check_page(&self) -> Result<(), ConfigError> {
        let mut issues = Vec::new();
        if let Some(color) = self.color.as_ref().filter(|color| !is_color(color)) {
            issues.push(format!("`color` is {color:?}: expected a color such as \"#0a5c36\""));
        }
        let starts = ["https://", "http://", "mailto:", "/"];
        for (text, url) in &self.links {
            if !starts.iter().any(|start| url.starts_with(start)) {
                issues.push(format!(
                    "the link {text:?} has the URL {url:?}: start it with `https://`, `http://`, \
                     `mailto:` or `/`"
                ));
            }
        }
        ConfigError::check(issues.into_iter().map(ConfigIssue::new).collect())
    }

    /// Sets [`swagger_ui`](Self#structfield.swagger_ui): serves Swagger UI at
    /// `try` below the page, which sends requests to this server. It neither
    /// loads from nor sends to other hosts. If
    /// [`servers`](Self#structfield.servers) names another server, it only
    /// shows the document.
    ///
    /// The page itself can also send requests ([`try_it`](Self#structfield.try_it)).
    /// The two large files of Swagger UI are compressed with gzip, which every browser
    /// accepts; a client that rejects gzip gets a 406. Feature `swagger-ui`.
    #[cfg(feature = "swagger-ui")]
    pub fn swagger_ui(mut self, swagger_ui: bool) -> Self {
        self.swagger_ui = swagger_ui;
        self
    }

    /// Sets the [description](ApiInfo#structfield.description) of the API.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.info.description = Some(description.into());
        self
    }

    /// Sets the [license](ApiInfo#structfield.license) of the API.
    pub fn license(mut self, license: impl Into<String>) -> Self {
        self.info.license = Some(license.into());
        self
    }

    /// Sets [`host`](Self#structfield.host): documents the routes of one host.
    ///
    /// A path of OpenAPI has no host. If two hosts have the same path, each host
    /// needs its own document. Routes of the host replace routes without a host
    /// at the same path.
    ///
    /// ```
    /// use stockade::openapi::{OpenApiOptions, open_api};
    /// use stockade::prelude::*;
    ///
    /// let tenant = routes! {
    ///     host: ":tenant.example.com",
    ///     "users": { GET: async || "users of a tenant" },
    /// };
    /// let api = routes! { ..tenant, "users": { GET: async || "all users" } };
    /// let app = create_router(api, RouterOptions::new()).build()?;
    /// let all = OpenApiOptions::new("Shop", "1.0.0");
    /// assert!(open_api(&app, &all).is_err());
    /// let document = open_api(&app, &all.host(":tenant.example.com"))?;
    /// let servers = &document["paths"]["/users"]["get"]["servers"];
    /// assert_eq!(servers[0]["url"], "https://{tenant}.example.com");
    /// # Ok::<(), ConfigError>(())
    /// ```
    pub fn host(mut self, host: impl Into<String>) -> Self {
        self.host = Some(host.into());
        self
    }

    /// Adds a URL to [`servers`](Self#structfield.servers).
    pub fn server(mut self, url: impl Into<String>) -> Self {
        self.servers.push(url.into());
        self
    }

    /// Adds a tag to [`tags`](Self#structfield.tags).
    pub fn tag(mut self, name: impl Into<String>, description: impl Into<String>) -> Self {
        self.tags.push((name.into(), description.into()));
        self
    }

    /// Adds a webhook to [`webhooks`](Self#structfield.webhooks).
    ///
    /// ```
    /// use stockade::openapi::{OpenApiOptions, Webhook};
    /// use stockade::prelude::*;
    ///
    /// #[derive(serde::Serialize, serde::Deserialize, Schema)]
    /// struct Shipped {
    ///     order: u64,
    /// }
    ///
    /// let options = OpenApiOptions::new("Shop", "1.4.0")
    ///     .webhook("order.shipped", Webhook::of::<Shipped>().summary("An order is on its way"));
    /// assert_eq!(options.webhooks.len(), 1);
    /// ```
    pub fn webhook(mut self, name: impl Into<String>, webhook: Webhook) -> Self {
        self.webhooks.push((name.into(), webhook));
        self
    }

    /// Serves the document and the page to all clients, even if the router has
    /// `auth`. `reason` documents this decision for reviewers of the routes.
    pub fn public(mut self, reason: impl Into<String>) -> Self {
        self.access = Some(Access::Public(reason.into()));
        self
    }

    /// Serves the document and the page to clients that this middleware
    /// accepts. The `auth` of the router does not apply to the document and the
    /// page, so list `with_auth` here.
    pub fn guarded<M>(mut self, middleware: impl IntoMiddlewareList<M>) -> Self {
        self.access = Some(Access::Guarded(middleware.into_list()));
        self
    }
}

/// Returns true for `#rgb` and `#rrggbb`.
fn is_color(text: &str) -> bool {
    let digits = text.strip_prefix('#').unwrap_or_default();
    matches!(digits.len(), 3 | 6) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// An image at the top of the page, 28 pixels high.
#[derive(Clone, Debug)]
pub struct Logo {
    pub(crate) media_type: &'static str,
    pub(crate) content: Bytes,
}

impl Logo {
    /// Creates a logo from the text of an SVG file. A browser does not run
    /// scripts in it.
    #[must_use]
    pub fn svg(text: impl Into<String>) -> Self {
        let text: String = text.into();
        Self { media_type: "image/svg+xml", content: text.into() }
    }

    /// Creates a logo from the bytes of a PNG file.
    #[must_use]
    pub fn png(content: impl Into<Bytes>) -> Self {
        Self { media_type: "image/png", content: content.into() }
    }
}

impl From<ApiInfo> for OpenApiOptions {
    fn from(info: ApiInfo) -> Self {
        Self::of(info)
    }
}

/// Converts a pair of title and version.
impl<T: Into<String>, V: Into<String>> From<(T, V)> for OpenApiOptions {
    fn from(info: (T, V)) -> Self {
        Self::of(info)
    }
}

/// A request that an API sends to other servers after an event.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Webhook {
    /// A short summary. Default: none.
    pub summary: Option<String>,
    /// The description, as Markdown. Default: none.
    pub description: Option<String>,
    pub(crate) body: WebhookBody,
}

/// The body of a webhook.
#[derive(Clone, Debug)]
pub(crate) enum WebhookBody {
    Of(SchemaOf),
    Json(Value),
}

impl Webhook {
    /// Creates a webhook with a `T` as its JSON body.
    #[must_use]
    pub fn of<T: HasSchema>() -> Self {
        Self::with(WebhookBody::Of(SchemaOf::reply::<T>()))
    }

    /// Creates a webhook with a body that follows a JSON Schema.
    #[must_use]
    pub fn schema(schema: Value) -> Self {
        Self::with(WebhookBody::Json(schema))
    }

    fn with(body: WebhookBody) -> Self {
        Self { summary: None, description: None, body }
    }

    setters! {
        /// Sets [`summary`](Self#structfield.summary).
        summary: some into String;

        /// Sets [`description`](Self#structfield.description).
        description: some into String;
    }
}
