//! The data of a [`RouteMap`].

use std::collections::BTreeMap;
use std::fmt;
use std::panic::Location;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::idempotency::millis;
use crate::{
    ConfigurationInfo, ContentInfo, CrossOriginInfo, IdempotencyInfo, McpInfo, MethodInfo,
    PasswordInfo, PolicyInfo, ResponseInfo, RouteDocs, SignatureInfo, ToolInfo, TrailingSlash,
};

/// The routes of a built application, as data.
///
/// `App::route_map` creates it. Its text is a table with a line for each route;
/// serde serializes it as JSON.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RouteMap {
    /// The settings for all routes.
    pub router: RouterInfo,
    /// The routes, in the order of registration.
    pub routes: Vec<RouteInfo>,
    /// The fallback, if the router has one, with the path `/**`. Documents do
    /// not contain it.
    pub fallback: Option<RouteInfo>,
    /// The schemas of named types, each under a unique name. A schema of a
    /// route refers to them by `#/schemas/`.
    pub schemas: BTreeMap<String, Value>,
    /// The configuration errors in the schemas of responses and in the pinned
    /// names of types. A document cannot be generated from a map with such
    /// errors.
    pub mistakes: Vec<String>,
    /// The policy of the router; `None` if it does not have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyInfo>,
    /// The configuration file with the values of `router`, if a policy checks
    /// one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configuration: Option<ConfigurationInfo>,
    /// The settings under each configuration file that the router declares;
    /// `App::route_map` does not read the files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub configurations: Vec<ConfigurationInfo>,
}

/// The settings of a router for all of its routes.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RouterInfo {
    /// The security headers of each response, as name and value. A response may
    /// have its own value.
    pub security_headers: Vec<(String, String)>,
    /// The rules of CORS; `None` if CORS is off.
    pub cors: Option<CorsInfo>,
    /// The rate limit of each client; `None` if it is off.
    pub rate_limit: Option<QuotaInfo>,
    /// The largest body, in bytes, of routes without their own limit.
    pub max_body: u64,
    /// The trusted proxies, as configured: their number, such as `1`, or their
    /// networks. Empty if no proxy is trusted.
    pub trust_proxy: Vec<String>,
    /// True if the router may have WebSocket routes.
    pub web_sockets: bool,
    /// True if clients receive the messages of 5xx errors.
    pub exposes_errors: bool,
    /// True if an option sends these messages to clients in every environment.
    pub exposes_errors_always: bool,
    /// True if errors are problem details (RFC 9457).
    pub problem_details: bool,
    /// The treatment of paths that differ from a route only by a trailing
    /// slash.
    #[serde(default, skip_serializing_if = "TrailingSlash::is_strict")]
    pub trailing_slash: TrailingSlash,
    /// The cost of new password hashes: the `PasswordHasher` in the state. `None`
    /// if the state does not contain one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passwords: Option<PasswordInfo>,
    /// The base of relative problem types; `None` if problem details do not
    /// have a base.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem_base: Option<String>,
    /// The languages of error messages, the default first; empty if all are
    /// English.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub languages: Vec<String>,
    /// True if the router has a fallback.
    pub has_fallback: bool,
    /// True if the routes are in another host, which replaces the stages: CORS,
    /// rate limit, security headers.
    pub is_hosted: bool,
    /// The source location that creates the router with its options, if it is
    /// known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<Place>,
}

/// A route.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RouteInfo {
    /// Its kind.
    pub kind: RouteKind,
    /// Its method; `ANY` for every method without its own route.
    pub method: String,
    /// The host of its requests; `None` for any host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<HostInfo>,
    /// Its declared path, with prefixes: `/users/:id`.
    pub path: String,
    /// Its paths with parameters in braces, such as `/users/{id}`: one for each
    /// choice of its optional parameters, the longest first.
    pub templates: Vec<String>,
    /// Its name for `generate_url`.
    pub name: Option<String>,
    /// Its name, or a name generated from method and path: `getUsersById`.
    pub operation_id: String,
    /// The source location of its declaration.
    pub location: Place,
    /// The parameters of the path, in order.
    pub params: Vec<ParamInfo>,
    /// The JSON Schema of the query; `None` if no schema reads the query.
    pub query: Option<Value>,
    /// The request headers that the route reads.
    pub headers: Vec<FieldInfo>,
    /// The request cookies that the route reads.
    pub cookies: Vec<FieldInfo>,
    /// The request body; `None` if the route does not read it.
    pub body: Option<BodyInfo>,
    /// The responses, in the order of the parts that send them. A status may
    /// appear several times, each time from a different part.
    pub answers: Vec<ResponseInfo>,
    /// The users that may call it.
    pub access: RouteAccess,
    /// Its limits.
    pub limits: Limits,
    /// The connections of a WebSocket; `None` for other routes.
    pub web_socket: Option<WebSocketInfo>,
    /// The schema of its GraphQL requests; `None` for other routes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graphql: Option<GraphQlInfo>,
    /// The idempotency keys; `None` if the route runs a retried request again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency: Option<IdempotencyInfo>,
    /// The signature that a request must have; `None` if the route does not
    /// verify one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<SignatureInfo>,
    /// The tool that the MCP endpoint offers for it; `None` for other routes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<Box<ToolInfo>>,
    /// The MCP endpoint that it is; `None` for other routes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp: Option<Box<McpInfo>>,
    /// The rules of CORS, if they differ from the router's rules.
    pub cors: Option<CorsInfo>,
    /// The middleware, in the order of execution.
    pub middleware: Vec<MiddlewareInfo>,
    /// The types of the arguments that do not describe themselves, and may
    /// reject a request with any status. Each is a type path, which depends on
    /// the compiler.
    pub opaque_arguments: Vec<String>,
    /// Its documentation for readers.
    pub docs: RouteDocs,
}

impl RouteInfo {
    /// Returns the method for display: `WS` for a WebSocket.
    #[doc(hidden)]
    #[must_use]
    pub fn shown_method(&self) -> &str {
        match self.kind {
            RouteKind::WebSocket => "WS",
            RouteKind::RpcMethod => "RPC",
            _ => &self.method,
        }
    }

    /// Returns the path for display, after the host if it has one.
    #[doc(hidden)]
    #[must_use]
    pub fn shown_path(&self) -> String {
        let host = self.host.as_ref().map_or("", |host| &host.pattern);
        format!("{host}{}", self.path)
    }

    /// Returns each schema of the route.
    #[doc(hidden)]
    pub fn values(&self) -> impl Iterator<Item = &Value> {
        let body = self.body.iter().flat_map(|body| &body.content);
        let answers = self.answers.iter().flat_map(|answer| answer.body.contents());
        let contents = body.chain(answers).map(|content| &content.schema);
        let problems = self.answers.iter().filter_map(|answer| answer.problem.as_ref());
        let members = problems.flat_map(|it| &it.members).map(|member| &member.schema);
        let contents = contents.chain(members);
        let messages = self.web_socket.iter();
        let messages = messages.flat_map(|it| it.receives.iter().chain(&it.sends));
        let params = self.host.iter().flat_map(|host| &host.params).chain(&self.params);
        let params = params.map(|param| &param.schema);
        params.chain(&self.query).chain(contents).chain(messages)
    }
}

/// A GraphQL schema.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GraphQlInfo {
    /// The schema in the GraphQL schema definition language.
    pub sdl: String,
    /// Its members with their types, such as `Query.add` and `Query.add(a)`
    /// with `Int!`, `input Filter.text` with `String! = ""`, and `enum
    /// Color.RED`.
    pub members: BTreeMap<String, String>,
}

impl GraphQlInfo {
    /// Creates the description of a schema.
    #[must_use]
    pub fn new(sdl: impl Into<String>, members: BTreeMap<String, String>) -> Self {
        Self { sdl: sdl.into(), members }
    }
}

/// The kind of a route.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RouteKind {
    /// Handles HTTP requests.
    #[default]
    Http,
    /// Upgrades the connection to a WebSocket.
    WebSocket,
    /// Passes requests to a tower service.
    Mount,
    /// Handles requests that match no route.
    Fallback,
    /// Handles the calls of a method that arrive by another route. Its path is
    /// the path of that route, followed by `#` and the name of the method.
    RpcMethod,
}

/// A source file and a line.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Place {
    /// The file, as the compiler names it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

impl From<&Location<'_>> for Place {
    fn from(location: &Location<'_>) -> Self {
        Self { file: location.file().to_owned(), line: location.line() }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// The host of a route.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct HostInfo {
    /// The declared host, in lower case: `:tenant.example.com`.
    pub pattern: String,
    /// The host with its parameters in braces: `{tenant}.example.com`.
    pub template: String,
    /// Its parameters, in order.
    pub params: Vec<ParamInfo>,
}

impl HostInfo {
    /// Returns a host that the pattern matches.
    #[doc(hidden)]
    #[must_use]
    pub fn example(&self) -> String {
        let replace =
            |host: String, param: &ParamInfo| host.replace(&format!("{{{}}}", param.name), "1");
        self.params.iter().fold(self.template.clone(), replace)
    }
}

/// A parameter of a path.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ParamInfo {
    /// Its name; `splat` for `*` and `**`.
    pub name: String,
    /// The expression that its value must match, if it has one: `\d+`.
    pub constraint: Option<String>,
    /// True if it may be absent.
    #[serde(default)]
    pub optional: bool,
    /// True if it may contain slashes, like `**`.
    #[serde(default)]
    pub is_rest: bool,
    /// Its JSON Schema. The default is the schema of a text.
    pub schema: Value,
}

/// A header or a cookie of the request that a route reads.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FieldInfo {
    /// Its name.
    pub name: String,
    /// True if a request without it is rejected.
    pub required: bool,
    /// The JSON Schema of its text. `None` for any text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// The part of the route that reads it.
    pub by: String,
}

/// The body of a request.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct BodyInfo {
    /// True if a request without a body is rejected.
    pub required: bool,
    /// The accepted media types, each with the JSON Schema of its content.
    pub content: Vec<ContentInfo>,
}

/// The users that may call a route.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RouteAccess {
    /// The user requirement.
    pub user: Need,
    /// The authentication methods; one of them suffices. Each has a short name
    /// such as `bearer`.
    #[serde(default)]
    pub schemes: Vec<SchemeInfo>,
    /// The strictness of each of the `schemes`, in the same order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub methods: Vec<MethodInfo>,
    /// The sessions that arguments of the handler read, without authentication
    /// by these sessions. Each has the name of its cookie.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<MethodInfo>,
    /// The protection against requests of other origins that middleware adds,
    /// for all authentication methods. `None` without such middleware, and for
    /// a route with a safe method such as GET.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cross_origin: Option<CrossOriginInfo>,
    /// The required roles: one of each inner list.
    #[serde(default)]
    pub roles: Vec<Vec<String>>,
    /// The names of the required permissions; `None` for a permission without a
    /// name.
    #[serde(default)]
    pub permissions: Vec<Option<String>>,
    /// True if the route requires a user, a role or a permission, and later
    /// middleware authenticates the user again. The handler receives the later
    /// user.
    #[serde(default)]
    pub judges_earlier_user: bool,
    /// The reason why the route is public, if it declares one.
    pub public: Option<String>,
    /// The reason why its WebSocket or event stream may outlive the login of
    /// its user, if the route declares one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outlives_user: Option<String>,
}

impl RouteAccess {
    /// Returns the methods of authentication, and the sessions of the handler.
    #[doc(hidden)]
    pub fn methods_and_sessions(&self) -> impl Iterator<Item = &MethodInfo> {
        self.methods.iter().chain(&self.sessions)
    }
}

/// An authentication method.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum SchemeInfo {
    /// `Authorization` with this scheme.
    #[non_exhaustive]
    Http {
        /// The name in documents.
        name: String,
        /// The scheme, as it appears in the header.
        scheme: String,
        /// The format of the token, if it is known.
        bearer_format: Option<String>,
    },
    /// A key in a header.
    #[non_exhaustive]
    Header {
        /// The name in documents.
        name: String,
        /// The name of the header.
        header: String,
    },
    /// A cookie.
    #[non_exhaustive]
    Cookie {
        /// The name in documents.
        name: String,
        /// The name of the cookie.
        cookie: String,
    },
    /// A method of the application.
    #[non_exhaustive]
    Other {
        /// The name in documents.
        name: String,
        /// The text for readers.
        text: String,
    },
}

impl SchemeInfo {
    /// Returns its name in documents.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Http { name, .. }
            | Self::Header { name, .. }
            | Self::Cookie { name, .. }
            | Self::Other { name, .. } => name,
        }
    }

    /// Returns true if browsers send these credentials automatically: a cookie,
    /// or the name and the password of Basic.
    #[doc(hidden)]
    #[must_use]
    pub fn is_ambient(&self) -> bool {
        match self {
            Self::Cookie { .. } => true,
            Self::Http { scheme, .. } => scheme.eq_ignore_ascii_case("basic"),
            _ => false,
        }
    }
}

/// The user requirement of a route.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Need {
    /// The route does not authenticate users.
    #[default]
    None,
    /// The route authenticates a user if the request has credentials.
    Optional,
    /// An unauthenticated request gets a 401.
    Required,
}

/// The limits of a route.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Limits {
    /// The rate limits that apply to its requests, the router's limit first.
    pub rate: Vec<QuotaInfo>,
    /// True if the route is exempt from the rate limit of the router.
    pub rate_exempt: bool,
    /// The reason for the exemption, if the framework sets one, as for
    /// `health_routes`.
    pub rate_exempt_reason: Option<String>,
    /// The largest body, in bytes.
    pub max_body: u64,
    /// The time limit until the head of the response, in milliseconds, and the
    /// status of the response when it expires.
    pub timeout: Option<(u64, u16)>,
    /// The accepted media types of a body; `None` for any type.
    pub accepts: Option<Vec<String>>,
}

/// A rate limit.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct QuotaInfo {
    /// Its name: `default` for the limit of the router.
    pub name: String,
    /// The number of requests of one client in a window; `None` if it depends
    /// on the request.
    pub limit: Option<u64>,
    /// The length of the window in milliseconds; `None` if it depends on the
    /// request.
    pub window_ms: Option<u64>,
}

impl QuotaInfo {
    /// Creates the description of a limit: its name, the number of requests of
    /// a client, and the window.
    #[must_use]
    pub fn new(name: impl Into<String>, quota: Option<(u64, Duration)>) -> Self {
        let (limit, window) = quota.unzip();
        Self { name: name.into(), limit, window_ms: window.map(millis) }
    }
}

/// The connections of a WebSocket route, and the schemas of their messages.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct WebSocketInfo {
    /// The other origins that may connect: `*` for all. Empty if no other
    /// origin may connect.
    pub allowed_origins: Vec<String>,
    /// True if only the same origin may connect.
    pub same_origin: bool,
    /// The largest message of a client, in bytes.
    pub max_payload: u64,
    /// The number of messages that a client may send per second; `None` for no
    /// limit.
    pub max_rate: Option<u64>,
    /// True if messages are compressed for clients that support it
    /// (permessage-deflate).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub compression: bool,
    /// The subprotocols, in order of preference.
    pub subprotocols: Vec<String>,
    /// The JSON Schema of the messages that are read as JSON, if it is known.
    pub receives: Option<Value>,
    /// The JSON Schema of the messages that are sent as JSON, if it is known.
    pub sends: Option<Value>,
}

/// The rules of CORS.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CorsInfo {
    /// The origins that may read responses: `*` for all.
    pub origins: Vec<String>,
    /// True if these origins may send cookies and other credentials.
    pub credentials: bool,
}

/// A middleware of a route.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MiddlewareInfo {
    /// Its name.
    pub name: String,
    /// True if `Middleware::named` set the name. Otherwise the name is the path
    /// of the function, which depends on the compiler.
    pub is_named: bool,
    /// The level of the definition that contains it; `None` if the framework
    /// adds it.
    pub level: Option<MiddlewareLevel>,
    /// The source location that adds it.
    pub location: Option<Place>,
    /// True if it does not describe itself, so it may send any response.
    pub is_opaque: bool,
    /// True if it is a function of the program that may set the user of a
    /// request: it does not declare that it authenticates users. The name does
    /// not matter.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_set_user: bool,
}

/// The level of a definition that contains middleware.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum MiddlewareLevel {
    /// The router, or one of its groups.
    Router,
    /// A node of the tree.
    Node,
    /// The options of the route.
    Entry,
}
