//! The data of a [`RouteMap`].

use std::collections::BTreeMap;
use std::fmt;
use std::panic::Location;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::idempotency::millis;
use crate::{ContentInfo, IdempotencyInfo, ResponseInfo, RouteDocs, TrailingSlash};

/// Everything that a built application knows about its routes, as data.
///
/// `App::route_map` makes it. Its text is a table, a
/// line for each route; serde writes and reads it as JSON.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RouteMap {
    /// The settings that hold for all routes.
    pub router: RouterInfo,
    /// The routes, in the order in which they were added.
    pub routes: Vec<RouteInfo>,
    /// The route that takes the requests which no other one takes, if the router
    /// has a fallback; its path is `/**`. No document has it.
    pub fallback: Option<RouteInfo>,
    /// The schemas of types with a name, each by a name that no other has. A
    /// schema of a route points to them by `#/schemas/`.
    pub schemas: BTreeMap<String, Value>,
    /// The mistakes in the schemas of replies, and in names that types are pinned
    /// to. A document cannot be made of such a map.
    pub mistakes: Vec<String>,
}

/// The settings of a router that hold for all of its routes.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RouterInfo {
    /// The headers of security that each response has, unless it has its own:
    /// name and value.
    pub security_headers: Vec<(String, String)>,
    /// The rules of CORS; none where CORS is off.
    pub cors: Option<CorsInfo>,
    /// The rate limit of each client; none where it is off.
    pub rate_limit: Option<QuotaInfo>,
    /// The largest body, in bytes, of routes that have no limit of their own.
    pub max_body: u64,
    /// The proxies that say who the client is, as they were configured: their
    /// number, such as `1`, or their networks. Empty where nobody is believed.
    pub trust_proxy: Vec<String>,
    /// True if the router may have WebSocket routes.
    pub web_sockets: bool,
    /// True if clients get the messages of 5xx errors.
    pub exposes_errors: bool,
    /// True if clients get them in every environment, because an option says so.
    pub exposes_errors_always: bool,
    /// True if errors are problem details (RFC 9457).
    pub problem_details: bool,
    /// The treatment of paths that differ from a route by a slash at the end.
    #[serde(default, skip_serializing_if = "TrailingSlash::is_strict")]
    pub trailing_slash: TrailingSlash,
    /// The base of relative problem types; none where problem details have no base.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem_base: Option<String>,
    /// The languages of error messages, the default first; none where all are English.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub languages: Vec<String>,
    /// True if a handler takes the requests that no route takes.
    pub has_fallback: bool,
    /// True if the routes are those of another host, which does the work of the
    /// stages: CORS, rate limit, security headers.
    pub is_hosted: bool,
}

/// A route.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RouteInfo {
    /// Its kind.
    pub kind: RouteKind,
    /// Its method; `ANY` for every method that has no route of its own.
    pub method: String,
    /// The host of its requests; none for any host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<HostInfo>,
    /// Its path as it was declared, with prefixes: `/users/:id`.
    pub path: String,
    /// Its path in braces, such as `/users/{id}`: one for each choice of its
    /// optional parameters, the longest first.
    pub templates: Vec<String>,
    /// Its name for `generate_url`.
    pub name: Option<String>,
    /// Its name, or one made of method and path: `getUsersById`.
    pub operation_id: String,
    /// The place where it was declared.
    pub location: Place,
    /// The parameters of the path, in order.
    pub params: Vec<ParamInfo>,
    /// The JSON Schema of the query; none where it is not read by a schema.
    pub query: Option<Value>,
    /// The headers of the request that are read.
    pub headers: Vec<FieldInfo>,
    /// The cookies of the request that are read.
    pub cookies: Vec<FieldInfo>,
    /// The body of the request; none where it is not read.
    pub body: Option<BodyInfo>,
    /// The answers, in the order in which the parts of the route give them. A
    /// status may stand here several times, each time with another giver.
    pub answers: Vec<ResponseInfo>,
    /// The users whom it lets through.
    pub access: RouteAccess,
    /// Its limits.
    pub limits: Limits,
    /// The connections of a WebSocket; none of a route of another kind.
    pub web_socket: Option<WebSocketInfo>,
    /// The schema of GraphQL by which requests ask; none of another route.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graphql: Option<GraphQlInfo>,
    /// The idempotency keys by which its requests run once; none where a request
    /// that comes twice runs twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency: Option<IdempotencyInfo>,
    /// The rules of CORS, if they are others than those of the router.
    pub cors: Option<CorsInfo>,
    /// The middleware, in the order in which it runs.
    pub middleware: Vec<MiddlewareInfo>,
    /// The types of the arguments that do not describe themselves, so that they may
    /// refuse a request with any status. Each is the path of the type, which may
    /// change from one compiler to the next.
    pub opaque_arguments: Vec<String>,
    /// Its documentation for people.
    pub docs: RouteDocs,
}

impl RouteInfo {
    /// Returns its method for people: `WS` for a WebSocket.
    #[doc(hidden)]
    #[must_use]
    pub fn shown_method(&self) -> &str {
        match self.kind {
            RouteKind::WebSocket => "WS",
            RouteKind::RpcMethod => "RPC",
            _ => &self.method,
        }
    }

    /// Returns its path for people, after its host if it has one.
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

/// A schema of GraphQL.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GraphQlInfo {
    /// The schema in the schema definition language.
    pub sdl: String,
    /// Its members with their types, such as `Query.add` and `Query.add(a)` with
    /// `Int!`, `input Filter.text` with `String! = ""`, and `enum Color.RED`.
    pub members: BTreeMap<String, String>,
}

impl GraphQlInfo {
    /// Makes the description of a schema.
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
    /// Answers requests.
    #[default]
    Http,
    /// Takes over the connection as a WebSocket.
    WebSocket,
    /// Hands requests to a tower service.
    Mount,
    /// Takes the requests that no route takes.
    Fallback,
    /// Answers the calls of a method, which come by another route. Its path is that
    /// of this route, with `#` and the name of the method behind it.
    RpcMethod,
}

/// A file and a line.
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
    /// The host as it was declared, in lower case: `:tenant.example.com`.
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
    /// The expression that its value matches, if it has one: `\d+`.
    pub constraint: Option<String>,
    /// True if it may be absent.
    #[serde(default)]
    pub optional: bool,
    /// True if it may hold slashes, as that of `**`.
    #[serde(default)]
    pub is_rest: bool,
    /// Its JSON Schema; that of a text where nothing is known.
    pub schema: Value,
}

/// A header or a cookie of the request that a route reads.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FieldInfo {
    /// Its name.
    pub name: String,
    /// True if a request without it is refused.
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
    /// True if a request without one is refused.
    pub required: bool,
    /// The forms that are read, each a media type and the JSON Schema of what it
    /// holds.
    pub content: Vec<ContentInfo>,
}

/// The users whom a route lets through.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RouteAccess {
    /// The need of a user.
    pub user: Need,
    /// The methods that find the user, each of which suffices: short names such
    /// as `bearer`.
    #[serde(default)]
    pub schemes: Vec<SchemeInfo>,
    /// The roles, one of each list.
    #[serde(default)]
    pub roles: Vec<Vec<String>>,
    /// The names of the permissions that are asked for; `None` stands for a
    /// function that has no name.
    #[serde(default)]
    pub permissions: Vec<Option<String>>,
    /// True if a role, a permission or the user itself is asked for in front of
    /// middleware that finds the user anew, as the handler gets it.
    #[serde(default)]
    pub judges_earlier_user: bool,
    /// The reason why the route is open to everybody, if its entry gives one.
    pub public: Option<String>,
    /// The reason why its WebSocket or event stream may outlive the login of its user,
    /// if its entry gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outlives_user: Option<String>,
}

/// A method that finds the user.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum SchemeInfo {
    /// `Authorization` with this scheme.
    #[non_exhaustive]
    Http {
        /// The name in documents.
        name: String,
        /// The scheme, as it stands in the header.
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
    /// A way of the application's own.
    #[non_exhaustive]
    Other {
        /// The name in documents.
        name: String,
        /// The text for people.
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
}

/// The need of a user.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Need {
    /// The route does not authenticate users.
    #[default]
    None,
    /// A user is found where there is one.
    Optional,
    /// A request without a user is answered with 401.
    Required,
}

/// The limits of a route.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Limits {
    /// The rate limits that count its requests, that of the router first.
    pub rate: Vec<QuotaInfo>,
    /// True if it is taken out of the rate limit of the router.
    pub rate_exempt: bool,
    /// The reason for that, where the framework gives one, as it does for
    /// `health_routes`.
    pub rate_exempt_reason: Option<String>,
    /// The largest body, in bytes.
    pub max_body: u64,
    /// The time until the head of the response, in milliseconds, and the status
    /// of the answer when it is over.
    pub timeout: Option<(u64, u16)>,
    /// The types that a body may have; none where any may come.
    pub accepts: Option<Vec<String>>,
}

/// A rate limit.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct QuotaInfo {
    /// Its name: `default` for that of the router.
    pub name: String,
    /// The number of requests of one client in a window; none where it depends
    /// on the request.
    pub limit: Option<u64>,
    /// The length of the window in milliseconds; none as `limit`.
    pub window_ms: Option<u64>,
}

impl QuotaInfo {
    /// Makes the description of a limit: its name, the number of requests of a client, and
    /// the window.
    #[must_use]
    pub fn new(name: impl Into<String>, quota: Option<(u64, Duration)>) -> Self {
        let (limit, window) = quota.unzip();
        Self { name: name.into(), limit, window_ms: window.map(millis) }
    }
}

/// The connections of a WebSocket route, and the forms of their messages.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[non_exhaustive]
pub struct WebSocketInfo {
    /// The origins whose pages may connect: `*` for all. Empty where the same
    /// origin alone may, or no page at all.
    pub allowed_origins: Vec<String>,
    /// True if the pages of the same origin may connect, and no others.
    pub same_origin: bool,
    /// The largest message of a client, in bytes.
    pub max_payload: u64,
    /// The number of messages that a client may send in a second; none for no
    /// limit.
    pub max_rate: Option<u64>,
    /// True if messages are compressed for clients that offer it (permessage-deflate).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub compression: bool,
    /// The subprotocols, in order of preference.
    pub subprotocols: Vec<String>,
    /// The JSON Schema of the messages that are read as JSON, if it is known.
    pub receives: Option<Value>,
    /// The JSON Schema of the messages that are sent as JSON, if it is known.
    pub sends: Option<Value>,
}

/// Rules of CORS.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CorsInfo {
    /// The origins whose pages read answers: `*` for all.
    pub origins: Vec<String>,
    /// True if they may send cookies and other credentials.
    pub credentials: bool,
}

/// A middleware of a route.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MiddlewareInfo {
    /// Its name.
    pub name: String,
    /// True if `Middleware::named` gave the name. Another name is the path of the
    /// function, which may change from one compiler to the next.
    pub is_named: bool,
    /// The part of the definition that it was added to; none for one that the
    /// framework adds.
    pub level: Option<MiddlewareLevel>,
    /// The place where it was added.
    pub location: Option<Place>,
    /// True if it does not describe itself, so that it may answer anything.
    pub is_opaque: bool,
}

/// The part of a definition that middleware was added to.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum MiddlewareLevel {
    /// The router, or one of its groups.
    Router,
    /// A node of the tree.
    Node,
    /// The entry of the route.
    Entry,
}
