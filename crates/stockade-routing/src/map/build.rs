//! Builds the [`RouteMap`] of an application.

use std::ops::Deref;
use std::sync::Arc;

use http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};
use stockade_auth::PasswordHasher;
use stockade_core::description::{
    BodyDoc, ContentSchema, DescribedRoute, InputFact, InputFrom, ResponseDoc,
};
use stockade_core::endpoint_internals::EndpointKind;
use stockade_core::{Accepts, BodyKind, Endpoint, RouteDescription};
use stockade_map::policy::Policy;
use stockade_path::host::HostPattern;
use stockade_path::{Param, Pattern, Segment, SegmentPart};
use stockade_stages::cors::policy_internals::Cors;
use stockade_stages::rate_limit::{RateLimitPolicy, RateLimiter};
use stockade_validation::{Schema, ValidationOptions};

use super::answers::describe;
use super::path::{operation_id, templates};
use super::schemas::Schemas;
use super::{
    BodyInfo, ContentInfo, CorsInfo, HostInfo, ParamInfo, PasswordInfo, QuotaInfo, RouteInfo,
    RouteKind, RouteMap, RouterInfo,
};
use crate::app::Resolved;
use crate::built_methods::{name_of, path_of};
use crate::route::Route;

/// Builds the map of an application. The map of routes for another host does
/// not contain the built-in stages, because they do not run there.
pub(crate) fn map_of(app: &Resolved, is_hosted: bool) -> RouteMap {
    // Another host has its own fallback.
    let fallback = app.routes.fallback.as_ref().filter(|_| !is_hosted);
    let all = app.routes.all.iter().chain(fallback);
    let described: Vec<(&Arc<Route>, RouteDescription)> =
        all.map(|route| (route, describe(app, route, is_hosted))).collect();
    let schemas = Schemas::of(described.iter().map(|(route, doc)| (&*route.endpoint, doc)));
    let app = Described { app, schemas: &schemas, is_hosted };
    let mut described = described.into_iter().map(|(route, doc)| info(app, route, doc));
    let mut map = RouteMap::default();
    map.router = router_of(app);
    map.routes = described.by_ref().take(app.routes.all.len()).collect();
    for methods in &app.routes.methods {
        methods.describe(&mut map.routes);
    }
    map.fallback = described.next().map(as_fallback);
    map.schemas = schemas.used_by(map.routes.iter().chain(&map.fallback));
    map.mistakes.clone_from(&schemas.mistakes);
    map.policy = app.routes.policy.as_deref().map(Policy::info);
    if let Some(tools) = &app.routes.tools {
        tools.describe(&mut map);
    }
    map
}

/// Describes one route, with all schemas inlined.
pub(super) fn info_of(app: &Resolved, route: &Route) -> RouteInfo {
    let doc = describe(app, route, false);
    let schemas = Schemas::of(std::iter::once((&*route.endpoint, &doc)));
    info(Described { app, schemas: &schemas, is_hosted: false }, route, doc)
}

/// Describes the settings of the router.
pub(super) fn router_info(app: &Resolved) -> RouterInfo {
    let schemas = Schemas::of(std::iter::empty());
    router_of(Described { app, schemas: &schemas, is_hosted: false })
}

/// An application and the form of its map.
#[derive(Clone, Copy)]
pub(crate) struct Described<'a> {
    app: &'a Resolved,
    pub(super) schemas: &'a Schemas,
    is_hosted: bool,
}

impl Described<'_> {
    /// Returns the rate limit of the router, if it runs here.
    fn limiter(&self) -> Option<&RateLimiter> {
        self.app.stages.limiter.as_deref().filter(|_| !self.is_hosted)
    }
}

impl Deref for Described<'_> {
    type Target = Resolved;

    fn deref(&self) -> &Resolved {
        self.app
    }
}

fn router_of(app: Described<'_>) -> RouterInfo {
    let mut headers = HeaderMap::new();
    let cors = app.stages.cors.as_deref().filter(|_| !app.is_hosted);
    if !app.is_hosted {
        app.stages.security_headers().apply(&mut headers);
    }
    let headers = headers.iter().map(|(name, value)| (name.to_string(), text_of(value)));
    let limiter = app.limiter();
    let mut router = RouterInfo::default();
    router.security_headers = headers.collect();
    router.cors = cors.map(cors_of);
    router.rate_limit = limiter.map(|limiter| quota_of(limiter.policy()));
    router.max_body = app.max_body;
    router.trust_proxy = app.stages.trusted_proxies();
    router.web_sockets = app.routes.enables_web_sockets;
    router.exposes_errors = app.settings.expose_errors;
    router.exposes_errors_always = app.expose_errors == Some(true);
    router.problem_details = app.settings.problem_details;
    router.trailing_slash = app.routes.trailing_slash;
    router.problem_base = app.settings.problem_base.map(|base| base.as_str().to_owned());
    let languages = app.languages.as_ref().map(|languages| languages.tags().to_vec());
    router.languages = languages.unwrap_or_default();
    router.passwords = app.routes.states.get::<PasswordHasher>().map(|it| passwords_of(*it));
    router.has_fallback = app.routes.fallback.is_some();
    router.is_hosted = app.is_hosted;
    router.location = app.routes.location.map(Into::into);
    router
}

/// Describes the cost of the password hashes.
fn passwords_of(hasher: PasswordHasher) -> PasswordInfo {
    let cost = hasher.cost();
    let (algorithm, numbers) = cost.parameters();
    let mut info = PasswordInfo::new(algorithm, numbers);
    info.is_recommended = cost.is_recommended();
    info
}

/// Describes the fallback, which is compiled as a POST route at the root.
fn as_fallback(mut route: RouteInfo) -> RouteInfo {
    route.kind = RouteKind::Fallback;
    "ANY".clone_into(&mut route.method);
    "/**".clone_into(&mut route.path);
    route.templates.clear();
    "fallback".clone_into(&mut route.operation_id);
    route
}

/// Completes the description of a route with its place in the router, its
/// settings, and the schemas as JSON.
fn info(app: Described<'_>, compiled: &Route, doc: RouteDescription) -> RouteInfo {
    let endpoint = &*compiled.endpoint;
    let body = body_of(app, endpoint, &doc);
    let has_connections = has_connections(endpoint, &doc);
    let DescribedRoute { mut route, answers, receives, sends, inputs, .. } = doc.into_facts();
    let (method, path) = (endpoint.method().as_str(), endpoint.pattern());
    let call = name_of(endpoint);
    route.kind = endpoint.kind().into();
    method.clone_into(&mut route.method);
    let host = endpoint.host().and_then(|host| HostPattern::parse(host).ok());
    route.host = host.as_ref().map(|host| host_of(app, endpoint, &inputs, host));
    let before = host.as_ref().map_or(0, |host| host.params().count());
    route.path = call.map_or_else(|| path.to_owned(), |name| path_of(path, name));
    // The router has already parsed the path, so this cannot fail.
    if let Ok(pattern) = Pattern::parse(path) {
        // An RPC method does not have its own path.
        if call.is_none() {
            route.templates = templates(&pattern);
        }
        route.operation_id = operation_id(method, &pattern);
        route.params = params_of(app, endpoint, &inputs, &pattern, before);
    }
    route.name = endpoint.name().map(str::to_owned);
    if let Some(name) = call.or_else(|| endpoint.name()) {
        name.clone_into(&mut route.operation_id);
    }
    route.location = endpoint.location().into();
    let query = schema_of(endpoint, &inputs, InputFrom::Query);
    route.query = query.map(|it| app.schemas.value_in_place(it));
    route.body = body;
    let answers = answers.into_iter();
    let json = |schema: ContentSchema| app.schemas.described(&schema);
    route.answers = answers.map(|answer| answer.with_schemas(json)).collect();
    route.access.public = endpoint.public_reason().map(str::to_owned);
    route.access.outlives_user = endpoint.outlives_user_reason().map(str::to_owned);
    if !has_connections {
        let access = &mut route.access;
        let methods = access.methods.iter_mut().chain(&mut access.sessions);
        methods.for_each(|method| method.recheck_ms = None);
    }
    let limits = &mut route.limits;
    limits.rate_exempt = !endpoint.is_rate_limited();
    limits.rate_exempt_reason = endpoint.rate_exempt_reason().map(str::to_owned);
    limits.max_body = endpoint.max_body().unwrap_or(app.max_body);
    limits.accepts = endpoint.accepts().map(|accepts| accepts.types().map(str::to_owned).collect());
    if let Some(web_socket) = &mut route.web_socket {
        web_socket.receives = receives.map(|schema| json(ContentSchema::Made(schema)));
        web_socket.sends = sends.map(|schema| json(ContentSchema::Of(schema)));
    }
    route.cors = compiled.cors.as_ref().map(|cors| cors_of(cors));
    route.docs = endpoint.docs().clone();
    route.docs.tag = endpoint.tag().cloned();
    route
}

/// Returns true if a response of a route may outlive the login of its user: a
/// WebSocket, a stream, another protocol, or a handler that waits for it.
fn has_connections(endpoint: &Endpoint, doc: &RouteDescription) -> bool {
    let is_stream = |answer: &ResponseDoc| match &answer.body {
        BodyDoc::Content(contents) => {
            contents.iter().any(|it| it.media_type.starts_with("text/event-stream"))
        }
        _ => false,
    };
    endpoint.kind() == EndpointKind::WebSocket
        || doc.has_writer()
        || doc.upgrades() > 0
        || doc.takes_lifetime()
        || doc.facts().answers.iter().any(is_stream)
}

/// Returns the schema that validates a source: the schema of the route options,
/// of the handler's argument type, or of the last middleware that validates the
/// source.
pub(super) fn schema_of<'r>(
    endpoint: &'r Endpoint,
    inputs: &'r [InputFact],
    from: InputFrom,
) -> Option<InputSchema<'r>> {
    let mut all = input_schemas(endpoint, inputs, from);
    let own = endpoint.schema(from).and_then(|_| all.next());
    // A schema that accepts any value is less specific than a schema of
    // middleware.
    own.filter(|own| !own.schema.is_any()).or_else(|| all.last()).or(own)
}

/// Returns the schemas that validate a source. The schema of the handler or of
/// the route options comes first.
pub(super) fn input_schemas<'r>(
    endpoint: &'r Endpoint,
    inputs: &'r [InputFact],
    from: InputFrom,
) -> impl Iterator<Item = InputSchema<'r>> {
    let input_schema = |schema: &'r Schema, options: &ValidationOptions| InputSchema {
        schema,
        is_closed: options.allow_unknown == Some(false),
    };
    let own = endpoint.schema(from);
    let own = own.map(|schema| input_schema(schema, &endpoint.validation().options));
    let checked = inputs.iter().filter(move |input| input.from == from);
    own.into_iter().chain(checked.map(move |it| input_schema(&it.schema, &it.options)))
}

/// A schema that validates a source.
#[derive(Clone, Copy)]
pub(super) struct InputSchema<'r> {
    pub(super) schema: &'r Schema,
    /// True if unlisted members are rejected, as with `allow_unknown(false)`.
    pub(super) is_closed: bool,
}

fn params_of(
    app: Described<'_>,
    endpoint: &Endpoint,
    inputs: &[InputFact],
    pattern: &Pattern,
    before: usize,
) -> Vec<ParamInfo> {
    let schema = schema_of(endpoint, inputs, InputFrom::Params);
    let schema = schema.map(|schema| app.schemas.value_in_place(schema));
    let names: Vec<(&str, bool)> = pattern.params().collect();
    let parts = pattern.segments().iter().flat_map(|segment| match segment {
        Segment::Parts(parts) => parts.iter().filter_map(param).map(Some).collect(),
        Segment::Literal(_) => Vec::new(),
        _ => vec![None],
    });
    let is_rest = |index: usize| {
        index + 1 == names.len() && matches!(pattern.segments().last(), Some(Segment::Rest))
    };
    let infos = names.iter().zip(parts).enumerate().map(|(index, ((name, optional), param))| {
        let constraint = param.and_then(|param| param.constraint.as_ref());
        let mut info = ParamInfo::default();
        (*name).clone_into(&mut info.name);
        info.constraint = constraint.map(|constraint| constraint.as_str().to_owned());
        info.optional = *optional;
        info.is_rest = is_rest(index);
        info.schema = param_schema(schema.as_ref(), name, before + index);
        info
    });
    infos.collect()
}

/// Describes the host of a route.
fn host_of(
    app: Described<'_>,
    endpoint: &Endpoint,
    inputs: &[InputFact],
    host: &HostPattern,
) -> HostInfo {
    let mut info = HostInfo::default();
    host.as_str().clone_into(&mut info.pattern);
    // The labels form a path. IPv6 addresses in brackets do not contain a
    // slash, so each slash becomes a dot.
    let template = templates(host.labels()).into_iter().next().unwrap_or_default();
    info.template = template.trim_start_matches('/').replace('/', ".");
    info.params = params_of(app, endpoint, inputs, host.labels(), 0);
    info
}

fn param(part: &SegmentPart) -> Option<&Param> {
    match part {
        SegmentPart::Param(param) => Some(param),
        _ => None,
    }
}

/// Returns the schema of one parameter from the schema of all parameters. An
/// object contains it by name, and a tuple by position. Any other schema is
/// returned unchanged.
fn param_schema(schema: Option<&Value>, name: &str, index: usize) -> Value {
    let Some(schema) = schema else { return json!({ "type": "string" }) };
    let own = match schema.get("type").and_then(Value::as_str) {
        Some("object") => schema.get("properties").and_then(|fields| fields.get(name)),
        Some("array") => schema.get("prefixItems").and_then(|items| items.get(index)),
        _ => Some(schema),
    };
    own.cloned().unwrap_or_else(|| json!({ "type": "string" }))
}

fn body_of(app: Described<'_>, endpoint: &Endpoint, doc: &RouteDescription) -> Option<BodyInfo> {
    let schemas = body_schemas(app, endpoint, &doc.facts().inputs);
    let takes = |form: &str| {
        let mut in_place = schemas.iter().map(|schema| app.schemas.in_place(schema));
        in_place.all(|schema| is_read_from(app, schema, form))
    };
    let forms: Vec<&str> = FORMS.into_iter().filter(|form| takes(form)).collect();
    let schema = match schemas.len() {
        0 | 1 => schemas.into_iter().next(),
        _ => Some(json!({ "allOf": schemas })),
    };
    let kind = doc.body();
    if kind.is_none() && schema.is_none() {
        return None;
    }
    let content = |media_type: &str, schema: Value| ContentInfo::new(media_type.to_owned(), schema);
    let content = match (kind, schema) {
        (Some(BodyKind::Multipart), schema) => {
            let open = || json!({ "type": "object" });
            vec![content("multipart/form-data", schema.unwrap_or_else(open))]
        }
        (_, Some(schema)) => {
            let listed = endpoint.accepts().into_iter().flat_map(Accepts::types);
            // JSON with a specific media type, such as a patch.
            let own = listed.filter(|listed| listed.ends_with("+json") && !listed.contains('*'));
            let of = |form: &str| match form {
                JSON_PATCH => json_patch(),
                _ => schema.clone(),
            };
            forms.into_iter().chain(own).map(|form| content(form, of(form))).collect()
        }
        (_, None) => vec![content("*/*", Value::Bool(true))],
    };
    let accepts = endpoint.accepts();
    let content = content.into_iter().filter(|content| {
        accepts.is_none_or(|accepts| {
            content.media_type == "*/*" || accepts.admits(&content.media_type)
        })
    });
    // A raw body may be empty.
    let required = matches!(kind, Some(BodyKind::Typed | BodyKind::Multipart))
        || (kind.is_none() && endpoint.validation().body.is_some());
    let mut info = BodyInfo::default();
    info.required = required;
    info.content = content.collect();
    Some(info)
}

/// Returns the schemas that a body must match. Omits a schema that accepts any
/// value if there are other schemas.
fn body_schemas(app: Described<'_>, endpoint: &Endpoint, inputs: &[InputFact]) -> Vec<Value> {
    let all = input_schemas(endpoint, inputs, InputFrom::Body);
    let mut all: Vec<Value> = all.map(|it| app.schemas.value(it)).collect();
    let takes_any = |schema: &Value| match app.schemas.in_place(schema) {
        Value::Bool(any) => *any,
        Value::Object(keywords) => keywords.is_empty(),
        _ => false,
    };
    if all.iter().all(takes_any) {
        all.truncate(1);
    } else {
        all.retain(|schema| !takes_any(schema));
    }
    all
}

/// The media types of parsed values.
const FORMS: [&str; 3] = ["application/json", FORM, "text/plain"];

const JSON_PATCH: &str = "application/json-patch+json";

/// Returns the schema of a JSON Patch. Each operation has its own members;
/// other members have no effect.
///
/// Source: RFC 6902, section 4.
fn json_patch() -> Value {
    let pointer = json!({ "type": "string", "pattern": "^(/.*)?$" });
    let operation = |names: &[&str], member: &str, schema: &Value| {
        json!({
            "type": "object",
            "properties": { "op": { "enum": names }, "path": pointer, member: schema },
            "required": ["op", "path", member],
        })
    };
    let remove = json!({
        "type": "object",
        "properties": { "op": { "enum": ["remove"] }, "path": pointer },
        "required": ["op", "path"],
    });
    let operations = [
        operation(&["add", "replace", "test"], "value", &json!({})),
        operation(&["copy", "move"], "from", &pointer),
        remove,
    ];
    json!({ "type": "array", "items": { "anyOf": operations } })
}

const FORM: &str = "application/x-www-form-urlencoded";

/// Returns true if a body of this media type can contain a value that matches
/// the schema.
fn is_read_from(app: Described<'_>, schema: &Value, media_type: &str) -> bool {
    match media_type {
        FORM => {
            let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
            let mut required = required.filter_map(Value::as_str);
            // The fields of a form are texts and lists of texts.
            may_be(schema, &["object"])
                && required.all(|name| {
                    let field = schema.get("properties").and_then(|all| all.get(name));
                    field.is_none_or(|field| may_be(app.schemas.in_place(field), &IN_FORMS))
                })
        }
        "text/plain" => may_be(schema, &["string"]),
        _ => true,
    }
}

/// The types of the values that form fields can contain.
const IN_FORMS: [&str; 5] = ["array", "boolean", "integer", "number", "string"];

/// Returns true if a schema may accept a value of one of these types.
fn may_be(schema: &Value, wanted: &[&str]) -> bool {
    let is_wanted = |one: &Value| one.as_str().is_some_and(|one| wanted.contains(&one));
    match schema.get("type") {
        Some(Value::Array(several)) => several.iter().any(is_wanted),
        Some(one) => is_wanted(one),
        None => true,
    }
}

fn quota_of(policy: &RateLimitPolicy) -> QuotaInfo {
    let quota = (u64::from(policy.limit().get()), policy.window());
    QuotaInfo::new(policy.name(), Some(quota))
}

fn cors_of(cors: &Cors) -> CorsInfo {
    let (origins, credentials) = cors.allowed();
    let mut info = CorsInfo::default();
    info.origins = origins.into_iter().map(text_of).collect();
    info.credentials = credentials;
    info
}

fn text_of(value: &HeaderValue) -> String {
    String::from_utf8_lossy(value.as_bytes()).into_owned()
}
