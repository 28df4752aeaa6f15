//! [`RouteLock`]: a route in a lock.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::compare::value_of;
use super::tool::{McpLock, ToolLock};
use crate::problems::members_schema;
use crate::{
    BodyDoc, BodyInfo, CorsInfo, IdempotencyInfo, MiddlewareInfo, ParamInfo, QuotaInfo,
    ResponseInfo, RouteAccess, RouteDocs, RouteInfo, RouteKind, RouterInfo, SignatureInfo,
    WebSocketInfo,
};

/// The suffix for middleware that does not describe itself.
pub(super) const OPAQUE: &str = "(opaque)";

/// The method in the label of the fallback route.
pub(super) const FALLBACK: &str = "FALLBACK";

/// A route in a lock: the members of [`RouteInfo`], normalized. Routes with the
/// same contract are therefore equal. The file omits members without a value.
///
/// `others` contains the members of a map that do not have a field here.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct RouteLock {
    pub(super) operation_id: String,
    /// True if the program set the name.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) named: bool,
    #[serde(default, serialize_with = "write_all", skip_serializing_if = "is_default")]
    pub(super) params: Vec<ParamInfo>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) query: Option<Value>,
    /// The key is a lowercase name. The value is true if a request without it
    /// is rejected.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) headers: BTreeMap<String, bool>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) cookies: BTreeMap<String, bool>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) body: Option<BodyLock>,
    /// By status.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) answers: BTreeMap<String, AnswerLock>,
    #[serde(serialize_with = "write")]
    pub(super) access: RouteAccess,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) limits: LimitsLock,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) cors: Option<CorsInfo>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) web_socket: Option<WebSocketInfo>,
    /// The members of a GraphQL schema, with their types.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) graphql: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) idempotency: Option<IdempotencyInfo>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) signature: Option<SignatureInfo>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) tool: Option<ToolLock>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) mcp: Option<McpLock>,
    /// In the order of execution.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) middleware: Vec<String>,
    #[serde(default, serialize_with = "write", skip_serializing_if = "is_default")]
    pub(super) docs: RouteDocs,
    /// The other members of the map, or of a file from another version.
    #[serde(flatten)]
    pub(super) others: Map<String, Value>,
}

/// The members of [`RouteInfo`] that a lock omits or stores in another form.
const NOT_OTHERS: [&str; 26] = [
    "access",
    "answers",
    "body",
    "cookies",
    "cors",
    "docs",
    "graphql",
    "headers",
    "host",
    "idempotency",
    "kind",
    "limits",
    "location",
    "mcp",
    "method",
    "middleware",
    "name",
    "opaque_arguments",
    "operation_id",
    "params",
    "path",
    "query",
    "signature",
    "templates",
    "tool",
    "web_socket",
];

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BodyLock {
    pub(super) required: bool,
    /// By media type.
    pub(super) content: BTreeMap<String, Value>,
}

/// The responses with one status, from all parts of the route.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct AnswerLock {
    /// By media type.
    #[serde(skip_serializing_if = "is_default")]
    pub(super) content: BTreeMap<String, Value>,
    /// True if a response does not have a body.
    #[serde(skip_serializing_if = "is_default")]
    pub(super) empty: bool,
    /// True if a response is an error in the format of the application.
    #[serde(skip_serializing_if = "is_default")]
    pub(super) error: bool,
    /// True if a response is an error that lists fields.
    #[serde(skip_serializing_if = "is_default")]
    pub(super) fields: bool,
    /// The problem types, each with the schema of its members.
    #[serde(skip_serializing_if = "is_default")]
    pub(super) problems: BTreeMap<String, Value>,
    /// True if the content of a response is unknown.
    #[serde(skip_serializing_if = "is_default")]
    pub(super) unknown: bool,
    /// The key is a lowercase name. The value is true if all responses have the
    /// header.
    #[serde(skip_serializing_if = "is_default")]
    pub(super) headers: BTreeMap<String, bool>,
}

/// The limits of a route that differ from the limits of the router.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct LimitsLock {
    #[serde(skip_serializing_if = "is_default")]
    pub(super) rate: Vec<QuotaInfo>,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) rate_exempt: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) max_body: Option<u64>,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) timeout: Option<(u64, u16)>,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) accepts: Option<Vec<String>>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Writes a part of a route, and omits members without a value.
fn write<T: Default + Serialize, S: Serializer>(
    part: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    members_of(part).serialize(serializer)
}

fn write_all<T: Default + Serialize, S: Serializer>(
    parts: &[T],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(parts.iter().map(members_of))
}

/// Returns the members of a part that have a value. A default such as `none` is
/// a value.
fn members_of<T: Default + Serialize>(part: &T) -> Map<String, Value> {
    let is_empty = |value: &Value| match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::String(text) => text.is_empty(),
        _ => false,
    };
    let (Value::Object(mut members), unset) = (value_of(part), value_of(T::default())) else {
        return Map::new();
    };
    members.retain(|name, value| !is_empty(value) || unset.get(name) != Some(value));
    members
}

/// Returns the label of a route: method and path. The method is `WS` for a
/// WebSocket, `MOUNT` for a mounted service, `RPC` for a JSON-RPC method, and
/// `FALLBACK` for the fallback.
pub(super) fn label(route: &RouteInfo) -> String {
    let method = match route.kind {
        RouteKind::WebSocket => "WS",
        RouteKind::Mount => "MOUNT",
        RouteKind::RpcMethod => "RPC",
        RouteKind::Fallback => FALLBACK,
        _ => &route.method,
    };
    format!("{method} {}", route.shown_path())
}

impl RouteLock {
    pub(super) fn of(route: &RouteInfo, router: &RouterInfo) -> Self {
        let param = |param: &ParamInfo| {
            let mut param = param.clone();
            // The path already shows this as `**`.
            param.is_rest = false;
            param
        };
        let mut docs = route.docs.clone();
        docs.tag = None;
        let mut others = members_of(route);
        others.retain(|name, _| !NOT_OTHERS.contains(&name.as_str()));
        let of_host = route.host.iter().flat_map(|host| &host.params);
        let headers = route.headers.iter();
        let cookies = route.cookies.iter();
        Self {
            operation_id: route.operation_id.clone(),
            named: route.name.is_some(),
            params: of_host.chain(&route.params).map(param).collect(),
            query: route.query.clone(),
            headers: headers.map(|it| (it.name.to_ascii_lowercase(), it.required)).collect(),
            cookies: cookies.map(|it| (it.name.clone(), it.required)).collect(),
            body: route.body.as_ref().map(BodyLock::of),
            answers: answers_of(&route.answers),
            access: route.access.clone(),
            limits: LimitsLock::of(route, router),
            cors: route.cors.clone(),
            web_socket: route.web_socket.clone(),
            graphql: route.graphql.as_ref().map(|it| it.members.clone()).unwrap_or_default(),
            idempotency: route.idempotency.clone(),
            signature: route.signature.clone(),
            tool: route.tool.as_deref().map(ToolLock::of),
            mcp: route.mcp.as_deref().map(McpLock::of),
            middleware: route.middleware.iter().filter_map(middleware_of).collect(),
            docs,
            others,
        }
    }
}

/// Returns the entry of a middleware, or `None` if the framework adds it for a
/// route option, because the lock has that option elsewhere. Omits names that
/// the program did not set, because they depend on the compiler.
pub(super) fn middleware_of(middleware: &MiddlewareInfo) -> Option<String> {
    middleware.level?;
    let name = if middleware.is_named { middleware.name.as_str() } else { "" };
    Some(match (name, middleware.is_opaque) {
        ("", true) => OPAQUE.to_owned(),
        ("", false) => "(described)".to_owned(),
        (name, true) => format!("{name} {OPAQUE}"),
        (name, false) => name.to_owned(),
    })
}

impl BodyLock {
    fn of(body: &BodyInfo) -> Self {
        let content = body.content.iter();
        let content = content.map(|it| (it.media_type.to_string(), it.schema.clone())).collect();
        Self { required: body.required, content }
    }
}

impl LimitsLock {
    fn of(route: &RouteInfo, router: &RouterInfo) -> Self {
        let limits = &route.limits;
        // The lock contains the router's limit only once, in the entry of the
        // router.
        let of_router = router.rate_limit.as_ref().filter(|_| !limits.rate_exempt);
        let skipped = usize::from(of_router.is_some() && limits.rate.first() == of_router);
        Self {
            rate: limits.rate.iter().skip(skipped).cloned().collect(),
            rate_exempt: limits.rate_exempt,
            max_body: (limits.max_body != router.max_body).then_some(limits.max_body),
            timeout: limits.timeout,
            accepts: limits.accepts.clone(),
        }
    }
}

/// The prefixes of the headers that result from CORS and rate limits.
const OF_STAGES: [&str; 3] = ["access-control-", "ratelimit", "x-ratelimit-"];

fn answers_of(answers: &[ResponseInfo]) -> BTreeMap<String, AnswerLock> {
    let mut locks: BTreeMap<String, AnswerLock> = BTreeMap::new();
    for answer in answers {
        let status = answer.status.to_string();
        let is_first = !locks.contains_key(&status);
        let lock = locks.entry(status).or_default();
        let own = answer.headers.iter().map(|it| (it.name.to_ascii_lowercase(), it.always));
        // The lock contains the rules that cause these headers.
        let is_own = |name: &str| !OF_STAGES.iter().any(|prefix| name.starts_with(prefix));
        let own: BTreeMap<String, bool> = own.filter(|(name, _)| is_own(name)).collect();
        for (name, always) in &mut lock.headers {
            *always &= own.get(name).is_some_and(|always| *always);
        }
        for (name, always) in own {
            lock.headers.entry(name).or_insert(always && is_first);
        }
        lock.add(&answer.body);
        let problem = answer.problem.iter();
        let problem = problem.map(|it| (it.type_uri.to_string(), members_schema(it)));
        lock.problems.extend(problem);
    }
    locks
}

impl AnswerLock {
    fn add(&mut self, body: &BodyDoc) {
        match body {
            BodyDoc::None => self.empty = true,
            BodyDoc::Error => self.error = true,
            BodyDoc::ValidationError => self.fields = true,
            BodyDoc::Content(content) => {
                for form in content {
                    self.add_form(&form.media_type, &form.schema);
                }
            }
            _ => self.unknown = true,
        }
    }

    /// Adds a media type with its schema. If the media type already has another
    /// schema, either schema may match.
    fn add_form(&mut self, media_type: &str, schema: &Value) {
        match self.content.get_mut(media_type) {
            None => drop(self.content.insert(media_type.to_owned(), schema.clone())),
            Some(known) if known == schema => {}
            Some(known) => *known = json!({ "anyOf": [known.take(), schema] }),
        }
    }
}
