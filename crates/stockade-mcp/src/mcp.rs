//! [`Mcp`]: the endpoint that offers routes as tools.

use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use http::Method;
use stockade_core::{Handler, RouteDescription, RouteDocs};
use stockade_errors::__internal::setters;
use stockade_map::McpInfo;
use stockade_routing::__internal::entry_of;
use stockade_routing::RouteTree;

use crate::describe::describe;
use crate::guard::Guard;
use crate::metadata::{Metadata, is_origin};
use crate::service::Service;
use crate::{stdio, tools};

/// The endpoint for AI agents (MCP), which offers routes as tools.
///
/// A route becomes a tool with the key `tool`. A call is a request to its
/// route, with the credentials of the caller. A caller sees only the tools that
/// it may call.
///
/// The endpoint must declare who may use it, like every route: by `auth`, by
/// `with_auth` in the middleware of its node, or by `public`.
///
/// ```
/// use stockade::mcp::Mcp;
/// use stockade::prelude::*;
/// use stockade::testing::TestClient;
///
/// async fn show(Path(id): Path<u64>) -> Json<Value> {
///     Json(json!({ "id": id, "total": 12 }))
/// }
///
/// # #[tokio::main]
/// # async fn main() {
/// let api = routes! {
///     "mcp": { public: "everybody may read orders", ..Mcp::new("Shop", "1.0.0").routes() },
///     "orders": { ":id": { GET: { handler: show, name: "orders.show", tool: "Shows an order." } } },
/// };
/// let client = TestClient::new(create_router(api, RouterOptions::new()));
/// let agent = client.mcp("/mcp");
/// agent.tools().await.assert_names(["orders_show"]);
/// agent.call("orders_show", json!({ "id": 7 })).await.assert_json(json!({ "id": 7, "total": 12 }));
/// # }
/// ```
///
/// It serves the protocol versions 2026-07-28, 2025-11-25 and 2025-06-18 at one
/// path. It offers only tools: no resources, prompts, sampling or sessions.
///
/// Source: <https://modelcontextprotocol.io/specification/2026-07-28/>.
#[derive(Clone, Debug)]
#[must_use = "the endpoint does nothing until its routes are in a tree"]
#[doc(alias = "model context protocol")]
#[doc(alias = "agents")]
pub struct Mcp {
    name: String,
    version: String,
    url: Option<String>,
    authorization_servers: Vec<String>,
    instructions: Option<String>,
    allowed_origins: Option<Vec<String>>,
    max_tools: u64,
    max_result: u64,
    list_ttl: Duration,
    legacy: bool,
    location: &'static Location<'static>,
}

impl Mcp {
    /// Creates an endpoint. Clients show the name and the version of the
    /// server.
    #[track_caller]
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
            url: None,
            authorization_servers: Vec::new(),
            instructions: None,
            allowed_origins: None,
            max_tools: 128,
            max_result: 128 * 1024,
            list_ttl: Duration::from_secs(60),
            legacy: true,
            location: Location::caller(),
        }
    }

    setters! {
        /// Sets the public URL of the endpoint, such as
        /// `https://api.example.com/mcp`. Tokens must name it as their
        /// audience: use the same text for `TokenVerifier::audience`. Default:
        /// unknown, and a 401 does not name an authorization server.
        url: some into String;
        /// Sets the issuers of tokens for this endpoint. A 401 then names the
        /// document of [`well_known`](Self::well_known), which lists them.
        /// Requires [`url`](Self::url). Default: none.
        authorization_servers: list String;
        /// Sets a text for the model about the use of the tools. Default: none.
        instructions: some into String;
        /// Sets the origins of pages that may call the endpoint, such as
        /// `https://app.example.com`. Pages of other origins get a 403.
        /// Default: the origins that CORS lists. Pages from the local machine
        /// may also call an endpoint that runs there.
        allowed_origins: some list String;
        /// Sets the maximum number of tools. More tools are a configuration
        /// error, because clients ignore some of a long list. Default: 128.
        max_tools: u64;
        /// Sets the maximum size of a result, in bytes. The call of a tool with
        /// a larger result fails. Default: 128 KiB.
        max_result: u64;
        /// Sets the time for which clients may reuse the list of tools. Default:
        /// 60 seconds.
        list_ttl: Duration;
        /// Sets whether clients of the protocol versions 2025-11-25 and
        /// 2025-06-18 are served. Most hosts still use them. Default: true.
        legacy: bool;
    }

    /// Adds an issuer of tokens to
    /// [`authorization_servers`](Self::authorization_servers).
    pub fn authorization_server(mut self, url: impl Into<String>) -> Self {
        self.authorization_servers.push(url.into());
        self
    }

    /// Creates the route of the endpoint. Spread it into the tree of an
    /// application: `"mcp": { ..mcp.routes() }`.
    ///
    /// Invalid options are configuration errors, which the build of the router
    /// reports.
    #[track_caller]
    pub fn routes(&self) -> RouteTree {
        let service = Arc::new(Service::new(
            &self.name,
            &self.version,
            self.instructions.as_deref(),
            self.list_ttl,
            self.legacy,
        ));
        let issues = self.issues();
        let describe = move |doc: &mut RouteDescription| {
            describe(doc);
            issues.iter().for_each(|issue| doc.issue(issue));
        };
        let handler =
            Handler::erased(move |req| Box::pin(Arc::clone(&service).answer(req)), describe);
        let guard = Guard {
            origins: self.allowed_origins.clone(),
            metadata: self.metadata().ok().flatten().map(|it| it.location()),
        };
        let entry = entry_of(handler, self.location)
            .docs(RouteDocs::new("Calls tools over the Model Context Protocol"))
            .outermost(guard.into_middleware())
            .with_command(stdio::command());
        RouteTree::new().method(Method::POST, tools::serving(entry, self.info()))
    }

    /// Creates the routes of the document that names the authorization servers
    /// (RFC 9728). Spread them into the root of the tree:
    /// `..mcp.well_known()`. The paths begin with
    /// `/.well-known/oauth-protected-resource`, so the router must not have a
    /// prefix.
    ///
    /// It is a configuration error if [`url`](Self::url) or
    /// [`authorization_servers`](Self::authorization_servers) is missing or
    /// invalid.
    #[track_caller]
    pub fn well_known(&self) -> RouteTree {
        let metadata = self.metadata().and_then(|it| {
            it.ok_or_else(|| "add `authorization_server`, which the document names".to_owned())
        });
        Metadata::routes(metadata, self.location)
    }

    /// Returns the document about the authorization servers, if there are some.
    fn metadata(&self) -> Result<Option<Metadata>, String> {
        let metadata =
            self.url.as_deref().map(|url| Metadata::new(url, &self.authorization_servers));
        match metadata.transpose()? {
            _ if self.authorization_servers.is_empty() => Ok(None),
            Some(metadata) => Ok(Some(metadata)),
            None => Err("`authorization_server` is set, but `url` is missing: add the public URL \
                         of the endpoint"
                .to_owned()),
        }
    }

    /// Returns the configuration errors in the options.
    fn issues(&self) -> Vec<String> {
        let mut issues: Vec<String> = self.metadata().err().into_iter().collect();
        for (key, text) in [("name", &self.name), ("version", &self.version)] {
            if text.is_empty() || text.chars().any(char::is_control) {
                issues.push(format!(
                    "the {key} of the MCP server is empty or has control characters"
                ));
            }
        }
        let origins = self.allowed_origins.iter().flatten();
        issues.extend(origins.filter(|origin| !is_origin(origin)).map(|origin| {
            format!(
                "allowed_origins: {origin:?} is not an origin such as \"https://app.example.com\""
            )
        }));
        for (key, value) in [("max_tools", self.max_tools), ("max_result", self.max_result)] {
            if value == 0 {
                issues.push(format!("`{key}` must be at least 1"));
            }
        }
        issues
    }

    /// Returns the options for the map.
    fn info(&self) -> McpInfo {
        let mut info = McpInfo::new(self.name.clone(), self.version.clone());
        info.instructions.clone_from(&self.instructions);
        info.url.clone_from(&self.url);
        info.authorization_servers.clone_from(&self.authorization_servers);
        info.allowed_origins = self.allowed_origins.clone().unwrap_or_default();
        info.max_tools = self.max_tools;
        info.max_result = self.max_result;
        info.list_ttl_ms = u64::try_from(self.list_ttl.as_millis()).unwrap_or(u64::MAX);
        info.legacy = self.legacy;
        info
    }
}
