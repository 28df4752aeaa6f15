//! Makes a [`RouteMap`] of a built application.

use std::ops::Deref;
use std::sync::Arc;

use http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};
use stockade_core::__internal::{EndpointExt as _, MiddlewareExt as _, RouteDocExt as _};
use stockade_core::description::{
    Content, ContentSchema, InputFrom, Permission, QuotaFact, ReadField, ReadFrom, RouteFacts,
    SecurityScheme, WebSocketFact,
};
use stockade_core::{Accepts, BodyKind, Endpoint, RouteDoc, Tag};
use stockade_map::__internal::millis;
use stockade_path::{Param, Part, Pattern, Segment};
use stockade_stages::__internal::Cors;
use stockade_stages::rate_limit::{Policy, RateLimiter};
use stockade_validation::{Schema, ValidationOptions};

use super::answers::Told;
use super::path::{operation_id, templates};
use super::schemas::Schemas;
use super::{
    Access, BodyInfo, ContentInfo, CorsInfo, DocsInfo, FieldInfo, Limits, MiddlewareInfo, Need,
    ParamInfo, QuotaInfo, RouteInfo, RouteKind, RouteMap, RouterInfo, SchemeInfo, TagInfo,
    WebSocketInfo, answers,
};
use crate::app::Resolved;
use crate::calls::{name_of, path_of};

/// Makes the map of an application. For the routes of another host, where no
/// stage of ours runs, none is in it.
pub(crate) fn map_of(app: &Resolved, is_hosted: bool) -> RouteMap {
    let routes = app.routes.endpoints.iter();
    let told: Vec<(&Arc<Endpoint>, Told)> =
        routes.map(|endpoint| (endpoint, Told::of(app, endpoint, is_hosted))).collect();
    // Another host has a fallback of its own.
    let fallback = app.routes.fallback.as_ref().filter(|_| !is_hosted);
    let fallback = fallback.map(|endpoint| (endpoint, Told::of(app, endpoint, is_hosted)));
    let all = told.iter().chain(&fallback);
    let schemas = Schemas::of(all.map(|(endpoint, told)| (&***endpoint, told)));
    let app = Described { app, schemas: &schemas, is_hosted };
    let routes = told.iter().map(|(endpoint, told)| info(app, endpoint, told));
    let mut routes: Vec<RouteInfo> = routes.collect();
    for calls in &app.routes.calls {
        calls.describe(&app.routes.endpoints, &mut routes);
    }
    let fallback = fallback.map(|(endpoint, told)| fallback_info(app, endpoint, &told));
    let schemas_in_use = schemas.used_by(routes.iter().chain(&fallback));
    let router = router_of(app);
    RouteMap { router, routes, fallback, schemas: schemas_in_use, mistakes: schemas.mistakes }
}

/// Makes the description of one route, with all schemas written out.
pub(super) fn info_of(app: &Resolved, endpoint: &Arc<Endpoint>) -> RouteInfo {
    let told = Told::of(app, endpoint, false);
    let schemas = Schemas::of(std::iter::once((&**endpoint, &told)));
    info(Described { app, schemas: &schemas, is_hosted: false }, endpoint, &told)
}

/// An application whose map is made.
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
    RouterInfo {
        security_headers: headers.collect(),
        cors: cors.map(cors_of),
        rate_limit: limiter.map(|limiter| quota_of_policy(limiter.policy())),
        max_body: app.max_body,
        trust_proxy: app.stages.trusted_proxies(),
        web_sockets: app.routes.enables_web_sockets,
        exposes_errors: app.settings.expose_errors,
        exposes_errors_always: app.exposes_errors_always,
        problem_details: app.settings.problem_details,
        has_fallback: app.routes.fallback.is_some(),
        is_hosted: app.is_hosted,
    }
}

/// Makes the description of the fallback, which is compiled as a route of POST at
/// the root.
fn fallback_info(app: Described<'_>, endpoint: &Arc<Endpoint>, told: &Told) -> RouteInfo {
    RouteInfo {
        kind: RouteKind::Fallback,
        method: "ANY".to_owned(),
        path: "/**".to_owned(),
        templates: Vec::new(),
        operation_id: "fallback".to_owned(),
        ..info(app, endpoint, told)
    }
}

/// Makes the description of one route.
fn info(app: Described<'_>, endpoint: &Arc<Endpoint>, told: &Told) -> RouteInfo {
    let doc = &told.doc;
    let facts = doc.facts();
    let method = endpoint.method().as_str();
    let pattern = told.pattern.as_ref();
    // The router has read the path, so that there is a pattern.
    let generated = || pattern.map(|pattern| operation_id(method, pattern)).unwrap_or_default();
    let params =
        pattern.map(|pattern| params_of(app, endpoint, facts, pattern)).unwrap_or_default();
    let call = name_of(endpoint);
    let path = endpoint.pattern();
    RouteInfo {
        kind: endpoint.kind().into(),
        method: method.to_owned(),
        path: call.map_or_else(|| path.to_owned(), |name| path_of(path, name)),
        // A method has no path of its own.
        templates: pattern.filter(|_| call.is_none()).map(templates).unwrap_or_default(),
        name: endpoint.name().map(str::to_owned),
        operation_id: call.or_else(|| endpoint.name()).map_or_else(generated, str::to_owned),
        location: endpoint.location().into(),
        query: schema_of(endpoint, facts, InputFrom::Query)
            .map(|it| app.schemas.value_in_place(it)),
        headers: fields_of(facts, ReadFrom::Header),
        cookies: fields_of(facts, ReadFrom::Cookie),
        body: body_of(app, endpoint, doc),
        answers: told.answers.iter().map(|answer| answers::info_of(app.schemas, answer)).collect(),
        params,
        access: access_of(endpoint, facts),
        limits: limits_of(app, endpoint, facts),
        web_socket: facts.web_socket.as_ref().map(|fact| web_socket_of(app.schemas, fact)),
        graphql: facts.graphql.as_deref().map(Into::into),
        idempotency: facts.idempotency.map(Into::into),
        cors: app.routes.cors_of(endpoint).map(|cors| cors_of(cors)),
        middleware: middleware_of(endpoint, facts),
        opaque_arguments: facts.opaque_arguments.iter().map(|&name| name.to_owned()).collect(),
        docs: docs_of(endpoint),
    }
}

/// Returns the schema that judges a source: that of the entry, that of the type
/// which the handler takes, or that of the last middleware which checks it.
pub(super) fn schema_of<'r>(
    endpoint: &'r Endpoint,
    facts: &'r RouteFacts,
    from: InputFrom,
) -> Option<Judging<'r>> {
    let mut all = judging(endpoint, facts, from);
    let own = endpoint.schema(from).and_then(|_| all.next());
    // One that takes any value says less than middleware that checks it.
    own.filter(|own| !own.schema.is_any()).or_else(|| all.last()).or(own)
}

/// Returns the schemas that judge a source, that of the handler or the entry
/// first.
pub(super) fn judging<'r>(
    endpoint: &'r Endpoint,
    facts: &'r RouteFacts,
    from: InputFrom,
) -> impl Iterator<Item = Judging<'r>> {
    let judging = |schema: &'r Schema, options: &ValidationOptions| Judging {
        schema,
        is_closed: options.allow_unknown == Some(false),
    };
    let own = endpoint.schema(from);
    let own = own.map(|schema| judging(schema, &endpoint.validation().options));
    let checked = facts.inputs.iter().filter(move |input| input.from == from);
    own.into_iter().chain(checked.map(move |it| judging(&it.schema, &it.options)))
}

/// A schema that judges a source.
#[derive(Clone, Copy)]
pub(super) struct Judging<'r> {
    pub(super) schema: &'r Schema,
    /// Members that it does not list are refused, as `allow_unknown(false)` says.
    pub(super) is_closed: bool,
}

fn params_of(
    app: Described<'_>,
    endpoint: &Endpoint,
    facts: &RouteFacts,
    pattern: &Pattern,
) -> Vec<ParamInfo> {
    let schema = schema_of(endpoint, facts, InputFrom::Params);
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
        ParamInfo {
            name: (*name).to_owned(),
            constraint: constraint.map(|constraint| constraint.as_str().to_owned()),
            optional: *optional,
            is_rest: is_rest(index),
            schema: param_schema(schema.as_ref(), name, index),
        }
    });
    infos.collect()
}

fn param(part: &Part) -> Option<&Param> {
    match part {
        Part::Param(param) => Some(param),
        _ => None,
    }
}

/// Returns the part of the schema of all parameters for one of them: the
/// schema of an object by its name, that of a tuple by its place, and that of a
/// single value as it is.
fn param_schema(schema: Option<&Value>, name: &str, index: usize) -> Value {
    let Some(schema) = schema else { return json!({ "type": "string" }) };
    let own = match schema.get("type").and_then(Value::as_str) {
        Some("object") => schema.get("properties").and_then(|fields| fields.get(name)),
        Some("array") => schema.get("prefixItems").and_then(|items| items.get(index)),
        _ => Some(schema),
    };
    own.cloned().unwrap_or_else(|| json!({ "type": "string" }))
}

fn fields_of(facts: &RouteFacts, from: ReadFrom) -> Vec<FieldInfo> {
    let info = |field: &ReadField| FieldInfo {
        name: field.name.to_string(),
        required: field.required,
        schema: field.schema.clone(),
        by: field.by.to_string(),
    };
    let mut infos: Vec<FieldInfo> = Vec::new();
    for field in facts.reads.iter().filter(|field| field.from == from) {
        match infos.iter_mut().find(|known| known.name.eq_ignore_ascii_case(&field.name)) {
            Some(known) => {
                known.required |= field.required;
                known.schema = known.schema.take().or_else(|| field.schema.clone());
            }
            None => infos.push(info(field)),
        }
    }
    infos
}

fn body_of(app: Described<'_>, endpoint: &Endpoint, doc: &RouteDoc) -> Option<BodyInfo> {
    let schemas = body_schemas(app, endpoint, doc.facts());
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
    let content =
        |media_type: &str, schema: Value| ContentInfo { media_type: media_type.to_owned(), schema };
    let content = match (kind, schema) {
        (Some(BodyKind::Multipart), schema) => {
            let open = || json!({ "type": "object" });
            vec![content("multipart/form-data", schema.unwrap_or_else(open))]
        }
        (_, Some(schema)) => {
            let listed = endpoint.accepts().into_iter().flat_map(Accepts::types);
            // JSON of a type of its own, such as a patch.
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
    Some(BodyInfo { required, content: content.collect() })
}

/// Returns the schemas that a body must follow, of which one that takes any value
/// says nothing beside others.
fn body_schemas(app: Described<'_>, endpoint: &Endpoint, facts: &RouteFacts) -> Vec<Value> {
    let all = judging(endpoint, facts, InputFrom::Body);
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

/// The media types that values are read from.
const FORMS: [&str; 3] = ["application/json", FORM, "text/plain"];

const JSON_PATCH: &str = "application/json-patch+json";

/// Returns the schema of a JSON patch: each operation has its own members, and others
/// have no effect.
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

/// Returns true if a value that the schema takes may come in a body of this type.
fn is_read_from(app: Described<'_>, schema: &Value, media_type: &str) -> bool {
    match media_type {
        FORM => {
            let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
            let mut required = required.filter_map(Value::as_str);
            // The fields of a form are texts, and lists of them.
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

/// The types of values that a field of a form may have.
const IN_FORMS: [&str; 5] = ["array", "boolean", "integer", "number", "string"];

/// Returns true if a schema may take a value of one of these types.
fn may_be(schema: &Value, wanted: &[&str]) -> bool {
    let is_wanted = |one: &Value| one.as_str().is_some_and(|one| wanted.contains(&one));
    match schema.get("type") {
        Some(Value::Array(several)) => several.iter().any(is_wanted),
        Some(one) => is_wanted(one),
        None => true,
    }
}

fn access_of(endpoint: &Endpoint, facts: &RouteFacts) -> Access {
    let user = facts.user.as_ref();
    // Each `with_auth` answers for itself.
    let is_required = user.into_iter().chain(&facts.earlier_users).any(|user| user.required);
    let need = match user {
        _ if is_required => Need::Required,
        _ if facts.takes_user || !facts.roles.is_empty() || !facts.permissions.is_empty() => {
            Need::Required
        }
        Some(_) => Need::Optional,
        None => Need::None,
    };
    let permissions = facts.permissions.iter().map(|permission| match permission {
        Permission::Named(name) => Some(name.clone()),
        _ => None,
    });
    Access {
        user: need,
        schemes: user.into_iter().flat_map(|user| &user.schemes).map(scheme_of).collect(),
        roles: facts.roles.clone(),
        permissions: permissions.collect(),
        judges_earlier_user: facts.judges_earlier_user,
        public: endpoint.public_reason().map(str::to_owned),
        outlives_user: endpoint.outlives_user_reason().map(str::to_owned),
    }
}

fn scheme_of(scheme: &SecurityScheme) -> SchemeInfo {
    let name = scheme.name();
    match scheme {
        SecurityScheme::Http { scheme, bearer_format } => SchemeInfo::Http {
            name,
            scheme: scheme.to_string(),
            bearer_format: bearer_format.as_deref().map(str::to_owned),
        },
        SecurityScheme::Header(header) => SchemeInfo::Header { name, header: header.to_string() },
        SecurityScheme::Cookie(cookie) => SchemeInfo::Cookie { name, cookie: cookie.to_string() },
        SecurityScheme::Other(text) => SchemeInfo::Other { name, text: text.to_string() },
        other => SchemeInfo::Other { name, text: format!("{other:?}") },
    }
}

fn limits_of(app: Described<'_>, endpoint: &Endpoint, facts: &RouteFacts) -> Limits {
    let timeout = facts.timeout.map(|timeout| (millis(timeout.after), timeout.status));
    Limits {
        rate: facts.quotas.iter().map(quota_of).collect(),
        rate_exempt: !endpoint.is_rate_limited(),
        rate_exempt_reason: endpoint.rate_exempt_reason().map(str::to_owned),
        max_body: endpoint.max_body().unwrap_or(app.max_body),
        timeout,
        accepts: endpoint.accepts().map(|accepts| accepts.types().map(str::to_owned).collect()),
    }
}

fn quota_of_policy(policy: &Policy) -> QuotaInfo {
    let quota = (u64::from(policy.limit().get()), policy.window());
    quota_of(&QuotaFact::new(policy.name(), Some(quota)))
}

fn quota_of(fact: &QuotaFact) -> QuotaInfo {
    QuotaInfo {
        name: fact.name.clone(),
        limit: fact.quota.map(|(limit, _)| limit),
        window_ms: fact.quota.map(|(_, window)| millis(window)),
    }
}

fn web_socket_of(schemas: &Schemas, fact: &WebSocketFact) -> WebSocketInfo {
    WebSocketInfo {
        // `same_origin` says which rule counts where there is no list.
        allowed_origins: fact.allowed_origins.clone().unwrap_or_default(),
        same_origin: fact.allowed_origins.is_none(),
        max_payload: fact.max_payload,
        max_rate: fact.max_rate,
        subprotocols: fact.subprotocols.clone(),
        receives: fact
            .receives
            .as_ref()
            .map(|schema| schemas.value(Judging { schema, is_closed: false })),
        sends: fact.sends.map(|schema| schemas.of_reply(schema)),
    }
}

fn cors_of(cors: &Cors) -> CorsInfo {
    let (origins, credentials) = cors.allowed();
    CorsInfo { origins: origins.into_iter().map(text_of).collect(), credentials }
}

fn text_of(value: &HeaderValue) -> String {
    String::from_utf8_lossy(value.as_bytes()).into_owned()
}

fn middleware_of(endpoint: &Endpoint, facts: &RouteFacts) -> Vec<MiddlewareInfo> {
    let pairs = endpoint.middleware().iter().zip(&facts.middleware);
    let info = pairs.map(|(middleware, fact)| MiddlewareInfo {
        name: fact.name.clone(),
        is_named: fact.is_named,
        level: middleware.place().map(|(level, _)| level),
        location: middleware.place().map(|(_, location)| location.into()),
        is_opaque: fact.is_opaque,
    });
    info.collect()
}

fn docs_of(endpoint: &Endpoint) -> DocsInfo {
    let docs = endpoint.docs();
    let tag = |tag: &Tag| TagInfo { name: tag.name.clone(), description: tag.description.clone() };
    DocsInfo {
        summary: docs.summary.clone(),
        description: docs.description.clone(),
        tags: docs.tags.clone(),
        tag: endpoint.tag().map(tag),
        deprecated: docs.deprecated,
        responses: docs.responses.clone(),
        example: docs.example.clone(),
        reply_examples: docs.reply_examples.clone(),
        hidden: docs.hidden.clone(),
        deprecated_since: docs.deprecated_since.clone(),
        sunset: docs.sunset.clone(),
    }
}

/// Returns the content of an answer as data.
pub(super) fn content_of(schemas: &Schemas, content: &Content) -> ContentInfo {
    let schema = match &content.schema {
        ContentSchema::Text => json!({ "type": "string" }),
        ContentSchema::Of(schema) => schemas.of_reply(*schema),
        ContentSchema::Made(schema) => schemas.value(Judging { schema, is_closed: false }),
        ContentSchema::Json(schema) => schema.clone(),
        _ => Value::Bool(true),
    };
    ContentInfo { media_type: content.media_type.to_string(), schema }
}
