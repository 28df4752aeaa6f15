//! The arguments of a tool, from the description of its route.

use std::collections::HashSet;

use serde_json::{Map, Value, json};
use stockade_map::schemas::schema_name;
use stockade_map::{
    ArgumentPlace, BodyInfo, ContentInfo, ParamInfo, RouteInfo, RouteMap, SchemeInfo, Tool,
    ToolArgument,
};
use stockade_validation::pattern::ecma as ecma_pattern;

use super::names::is_argument_name;
use super::schema::{Converter, Direction, is_union};

/// An argument with its schema.
#[derive(Debug)]
pub(super) struct Argument {
    pub(super) info: ToolArgument,
    pub(super) schema: Value,
    pub(super) is_required: bool,
}

/// Returns the arguments of a tool. Adds configuration errors to `faults`.
pub(super) fn arguments_of(
    map: &RouteMap,
    route: &RouteInfo,
    tool: &Tool,
    faults: &mut Vec<String>,
) -> Vec<Argument> {
    let mut names = Names { tool, used: HashSet::new() };
    let mut all: Vec<Argument> = Vec::new();
    for param in &route.params {
        let schema = param_schema(map, param);
        let is_required = !param.optional;
        all.push(names.argument(ArgumentPlace::Path, &param.name, schema, is_required));
    }
    add_query(map, route, &mut names, &mut all, faults);
    add_headers(map, route, &mut names, &mut all, faults);
    let cookies = route.cookies.iter().filter(|cookie| cookie.required);
    faults.extend(cookies.filter(|it| !is_session(route, &it.name)).map(|cookie| {
        format!("the route requires the cookie {:?}, but agents do not send cookies", cookie.name)
    }));
    if let Some(body) = &route.body {
        match json_content(body) {
            Ok(content) => add_body(map, body, content, &mut names, &mut all),
            Err(fault) => faults.push(fault),
        }
    }
    check_names(&all, faults);
    let unused = tool.renames.iter().filter(|(original, _)| !names.used.contains(&**original));
    faults.extend(unused.map(|(original, _)| {
        format!("`rename` names {original:?}, but no argument has this name: remove it")
    }));
    all
}

/// The names of arguments.
struct Names<'t> {
    tool: &'t Tool,
    /// The original names that have been renamed.
    used: HashSet<&'t str>,
}

impl<'t> Names<'t> {
    fn argument(
        &mut self,
        place: ArgumentPlace,
        original: &str,
        schema: Value,
        is_required: bool,
    ) -> Argument {
        let name = self.name(place, original);
        Argument { info: ToolArgument::new(name, place, original), schema, is_required }
    }

    fn name(&mut self, place: ArgumentPlace, original: &str) -> String {
        match self.renamed(original) {
            Some(name) => name.to_owned(),
            None if place == ArgumentPlace::Header => original.replace('-', "_"),
            None => original.to_owned(),
        }
    }

    fn renamed(&mut self, original: &str) -> Option<&'t str> {
        let (original, name) = self.tool.renames.iter().find(|(known, _)| known == original)?;
        self.used.insert(original);
        Some(name)
    }
}

/// Returns the schema of a parameter, with the rules of every path.
fn param_schema(map: &RouteMap, param: &ParamInfo) -> Value {
    let mut converter = Converter::new(&map.schemas, Direction::Input);
    let schema = converter.convert(&param.schema);
    let mut schema = schema.unwrap_or_else(|| json!({ "type": "string" }));
    if let Some(object) = schema.as_object_mut()
        && object.get("type").is_some_and(|it| it == "string")
    {
        if !["enum", "format", "pattern", "minLength"].iter().any(|key| object.contains_key(*key)) {
            object.insert("minLength".to_owned(), json!(1));
        }
        if let Some(constraint) = &param.constraint
            && !object.contains_key("pattern")
            && let Ok(pattern) = ecma_pattern(constraint)
        {
            object.insert("pattern".to_owned(), json!(format!("^(?:{pattern})$")));
        }
    }
    schema
}

fn add_query(
    map: &RouteMap,
    route: &RouteInfo,
    names: &mut Names<'_>,
    all: &mut Vec<Argument>,
    faults: &mut Vec<String>,
) {
    let Some(query) = &route.query else { return };
    let Some(Value::Object(query)) = Converter::new(&map.schemas, Direction::Input).convert(query)
    else {
        return;
    };
    let Some(Value::Object(properties)) = query.get("properties") else {
        if is_union(&query) && query.get("type").is_none() && is_declared(route) {
            let fault = "the schema of the query is a union, which a tool cannot have: use one \
                         object for it";
            faults.push(fault.to_owned());
        }
        return;
    };
    for (name, schema) in properties {
        let is_required = is_required(&query, name);
        let schema = without_null(schema.clone());
        all.push(names.argument(ArgumentPlace::Query, name, schema, is_required));
    }
}

/// Returns the schema of a key in the query, which an agent leaves out instead
/// of sending null.
fn without_null(mut schema: Value) -> Value {
    let Some(keywords) = schema.as_object_mut() else { return schema };
    let Some(Value::Array(branches)) = keywords.get_mut("anyOf") else { return schema };
    branches.retain(|branch| branch.get("type").is_none_or(|it| it != "null"));
    if let [Value::Object(one)] = branches.as_mut_slice() {
        let one = std::mem::take(one);
        keywords.shift_remove("anyOf");
        for (key, value) in one {
            keywords.entry(key).or_insert(value);
        }
    }
    schema
}

/// Returns true if the schema of the query lists alternatives, rather than
/// accepting any query.
fn is_declared(route: &RouteInfo) -> bool {
    let query = route.query.as_ref().and_then(Value::as_object);
    query.is_some_and(is_union)
}

fn add_headers(
    map: &RouteMap,
    route: &RouteInfo,
    names: &mut Names<'_>,
    all: &mut Vec<Argument>,
    faults: &mut Vec<String>,
) {
    let tool = names.tool;
    for name in &tool.headers {
        if let Some(fault) = header_fault(name) {
            faults.push(fault);
            continue;
        }
        let field = route.headers.iter().find(|field| field.name.eq_ignore_ascii_case(name));
        let schema = field.and_then(|field| field.schema.as_ref());
        let mut converter = Converter::new(&map.schemas, Direction::Input);
        let schema = schema.and_then(|schema| converter.convert(schema));
        let schema = schema.unwrap_or_else(|| json!({ "type": "string" }));
        let is_required = field.is_some_and(|field| field.required);
        all.push(names.argument(ArgumentPlace::Header, name, schema, is_required));
    }
    for field in route.headers.iter().filter(|field| field.required) {
        let name = field.name.to_ascii_lowercase();
        if !tool.headers.contains(&name) && !is_sent(route, &name) {
            faults.push(format!(
                "the route requires the header {name:?}, which agents do not send: add \
                 `Tool::header({name:?})`"
            ));
        }
    }
}

/// Returns the configuration error of a header that cannot be an argument.
fn header_fault(name: &str) -> Option<String> {
    if http::HeaderName::from_bytes(name.as_bytes()).is_err() {
        return Some(format!("{name:?} is not the name of a header"));
    }
    let is_reserved = RESERVED.contains(&name)
        || ["access-control-", "mcp-", "proxy-", "sec-", "x-forwarded-"]
            .iter()
            .any(|prefix| name.starts_with(prefix));
    is_reserved.then(|| {
        format!(
            "the header {name:?} cannot be an argument, because it describes the client or its \
             connection: remove it"
        )
    })
}

/// Returns true if each call has the header, or may have it because the client
/// of the endpoint sent it.
fn is_sent(route: &RouteInfo, name: &str) -> bool {
    FORWARDED.contains(&name)
        || SENT.contains(&name)
        || credential_headers(route).any(|it| it == name)
}

/// Returns the headers with credentials of the route, in lower case.
pub(super) fn credential_headers(route: &RouteInfo) -> impl Iterator<Item = String> {
    let schemes = route.access.schemes.iter().filter_map(|scheme| match scheme {
        SchemeInfo::Header { header, .. } => Some(header.to_ascii_lowercase()),
        _ => None,
    });
    let methods = route.access.methods.iter().filter_map(|method| method.header.clone());
    schemes.chain(methods).filter(|name| name != "cookie" && name != "host")
}

/// Returns true if a cookie has the credentials of an authentication method.
fn is_session(route: &RouteInfo, name: &str) -> bool {
    route
        .access
        .schemes
        .iter()
        .any(|scheme| matches!(scheme, SchemeInfo::Cookie { cookie, .. } if cookie == name))
}

/// Returns the JSON representation of a body.
fn json_content(body: &BodyInfo) -> Result<&ContentInfo, String> {
    let is_json =
        |it: &&ContentInfo| it.media_type == "application/json" || it.media_type.ends_with("+json");
    body.content.iter().find(is_json).ok_or_else(|| {
        let types: Vec<&str> = body.content.iter().map(|it| &*it.media_type).collect();
        match types[..] {
            ["*/*"] => "the route reads a raw body, so its arguments are unknown: a tool needs a \
                        typed body"
                .to_owned(),
            _ if types.iter().any(|it| it.starts_with("multipart/")) => {
                "the route reads a form with files, which agents cannot send".to_owned()
            }
            _ => format!(
                "the route reads a body of type {}, but a tool needs a JSON body",
                types.join(", ")
            ),
        }
    })
}

/// Returns the JSON representation of the body of a tool's route.
pub(super) fn body_type(route: &RouteInfo) -> Option<&str> {
    let content = json_content(route.body.as_ref()?).ok()?;
    Some(&*content.media_type)
}

fn add_body(
    map: &RouteMap,
    body: &BodyInfo,
    content: &ContentInfo,
    names: &mut Names<'_>,
    all: &mut Vec<Argument>,
) {
    let mut converter = Converter::new(&map.schemas, Direction::Input);
    let schema = converter.convert(&content.schema).unwrap_or_else(|| json!({ "type": "object" }));
    let original = schema_name(&content.schema).and_then(|name| map.schemas.get(name));
    let original = original.unwrap_or(&content.schema);
    if let Some(fields) = fields_of(original, &schema).filter(|_| body.required) {
        let fields: Vec<(String, &str, &Value)> = fields
            .iter()
            .map(|(name, schema)| {
                (names.name(ArgumentPlace::BodyField, name), name.as_str(), schema)
            })
            .collect();
        let is_taken = |name: &String| all.iter().any(|it| it.info.name == *name);
        if !fields.iter().any(|(name, ..)| is_taken(name)) {
            let keywords = schema.as_object();
            all.extend(fields.into_iter().map(|(name, original, schema)| Argument {
                info: ToolArgument::new(name, ArgumentPlace::BodyField, original),
                schema: schema.clone(),
                is_required: keywords.is_some_and(|it| is_required(it, original)),
            }));
            return;
        }
    }
    let name = names.renamed(BODY).unwrap_or(BODY);
    let info = ToolArgument::new(name, ArgumentPlace::Body, "");
    all.push(Argument { info, schema, is_required: body.required });
}

/// Returns the properties of a body if it is a plain object, without rules for
/// several properties together.
fn fields_of<'s>(original: &Value, converted: &'s Value) -> Option<&'s Map<String, Value>> {
    let keywords = original.as_object()?;
    let is_plain = keywords.iter().all(|(key, value)| match key.as_str() {
        "type" | "properties" | "required" | "title" | "description" | "default" | "examples"
        | "example" | "$schema" | "$comment" => true,
        "additionalProperties" | "unevaluatedProperties" => value.is_boolean(),
        key => key.starts_with("x-"),
    });
    let converted = converted.as_object()?;
    let is_object = converted.get("type").is_some_and(|it| it == "object");
    let properties = converted.get("properties")?.as_object()?;
    (is_plain && is_object && !properties.is_empty()).then_some(properties)
}

fn is_required(keywords: &Map<String, Value>, name: &str) -> bool {
    let names = keywords.get("required").and_then(Value::as_array);
    names.is_some_and(|names| names.iter().any(|known| known == name))
}

/// Adds the configuration errors in the names of arguments.
fn check_names(all: &[Argument], faults: &mut Vec<String>) {
    for (index, argument) in all.iter().enumerate() {
        let ToolArgument { name, original, .. } = &argument.info;
        if !is_argument_name(name) {
            faults.push(format!(
                "clients do not accept {name:?} as the name of an argument: add \
                 `Tool::rename({original:?}, …)` with letters, digits and `_`"
            ));
        } else if all[..index].iter().any(|earlier| earlier.info.name == *name) {
            let original = if original.is_empty() { BODY } else { original };
            faults.push(format!(
                "two arguments have the name {name:?}: add `Tool::rename({original:?}, …)`"
            ));
        }
    }
}

/// The name of an argument with a whole body.
const BODY: &str = "body";

/// The headers that each call of a tool takes from the request of the client.
pub(super) const FORWARDED: [&str; 4] =
    ["authorization", "accept-language", "traceparent", "tracestate"];

/// The headers that the framework sets for each call.
const SENT: [&str; 2] = ["content-type", "host"];

/// The headers that cannot be arguments.
const RESERVED: [&str; 19] = [
    "accept-encoding",
    "authorization",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "cookie",
    "expect",
    "forwarded",
    "host",
    "keep-alive",
    "origin",
    "referer",
    "te",
    "traceparent",
    "tracestate",
    "trailer",
    "transfer-encoding",
    "upgrade",
];
