//! One operation of a document.

use serde_json::{Map, Value, json};
use stockade_map::ToolInfo;
use stockade_map::schemas::schema_name;
use stockade_routing::map::{
    ContentInfo, FieldInfo, HostInfo, ParamInfo, RouteInfo, SchemeInfo, WebSocketInfo,
};
use stockade_validation::pattern::ecma as ecma_pattern;

use super::paths::Written;
use super::{examples, responses, security};

/// Headers that OpenAPI does not allow as parameters (OpenAPI 3.1, "Parameter
/// Object").
const NO_PARAMETERS: [&str; 3] = ["accept", "content-type", "authorization"];

/// Creates the operation of a route.
pub(super) fn operation(route: &RouteInfo, written: &Written<'_>) -> Value {
    let mut operation = Map::new();
    let mut put = |key: &str, value: Value| drop(operation.insert(key.to_owned(), value));
    put("tags", json!(written.tags));
    if let Some(summary) = &route.docs.summary {
        put("summary", json!(summary));
    }
    if let Some(description) = description(route) {
        put("description", json!(description));
    }
    put("operationId", json!(written.id));
    if route.docs.deprecated {
        put("deprecated", json!(true));
    }
    let parameters = parameters(route, written);
    if !parameters.is_empty() {
        put("parameters", parameters.into());
    }
    if let Some(body) = &route.body {
        let content = body.content.iter();
        let content = content.map(|it| (it.media_type.to_string(), media_type(it, written)));
        let content: Map<String, Value> = content.collect();
        put("requestBody", json!({ "required": body.required, "content": content }));
    }
    put("responses", responses::of(route, written.map, written.shared));
    match security::of(&route.access) {
        Some(security) => put("security", security),
        None => put("x-requires-user", json!(true)),
    }
    if let Some(host) = &route.host {
        put("servers", json!([server(host, &written.options.servers)]));
    }
    if !route.access.roles.is_empty() {
        put("x-required-roles", json!(route.access.roles));
    }
    if let Some(info) = &route.web_socket {
        put("x-websocket", web_socket(info));
    }
    if let Some(tool) = &route.tool {
        put("x-mcp-tool", mcp_tool(tool));
    }
    if written.options.internals {
        put("x-limits", json!(route.limits));
        let names = route.middleware.iter().map(|middleware| middleware.name.as_str());
        put("x-middleware", names.collect());
    }
    examples::add(&mut operation, route);
    Value::Object(operation)
}

/// Returns a media type of a body: its schema, and the media types of files in
/// a form.
///
/// Source: OpenAPI 3.1, section 4.8.15 (encoding object).
fn media_type(content: &ContentInfo, written: &Written<'_>) -> Value {
    let mut value = json!({ "schema": content.schema });
    if content.media_type != "multipart/form-data" {
        return value;
    }
    let named = schema_name(&content.schema).and_then(|name| written.map.schemas.get(name));
    let schema = named.unwrap_or(&content.schema);
    let properties = schema.get("properties").and_then(Value::as_object);
    let encoding = properties.into_iter().flatten().filter_map(|(name, schema)| {
        let listed = schema.get("x-media-types")?.as_array()?.iter().filter_map(Value::as_str);
        let types: Vec<&str> = listed.collect();
        Some((name.clone(), json!({ "contentType": types.join(", ") })))
    });
    let encoding: Map<String, Value> = encoding.collect();
    if !encoding.is_empty() {
        value["encoding"] = encoding.into();
    }
    value
}

/// Returns the server for the routes of a host. The scheme and the path come
/// from the first server in the options.
fn server(host: &HostInfo, servers: &[String]) -> Value {
    let first = servers.first().map_or("", String::as_str);
    let (scheme, rest) = first.split_once("://").unwrap_or(("https", first));
    let path = rest.find('/').map_or("", |start| rest[start..].trim_end_matches('/'));
    let mut server = json!({ "url": format!("{scheme}://{}{path}", host.template) });
    let variables = host.params.iter().map(|param| {
        let values = param.schema.get("enum").and_then(Value::as_array);
        let values: Vec<&Value> =
            values.into_iter().flatten().filter(|it| it.is_string()).collect();
        let default = values.first().map_or_else(|| json!(param.name), |first| json!(first));
        let mut variable = json!({ "default": default });
        if !values.is_empty() {
            variable["enum"] = json!(values);
        }
        (param.name.clone(), variable)
    });
    let variables: Map<String, Value> = variables.collect();
    if !variables.is_empty() {
        server["variables"] = variables.into();
    }
    server
}

/// Returns the description of a route, including details that its path cannot
/// express.
fn description(route: &RouteInfo) -> Option<String> {
    let mut parts: Vec<String> = route.docs.description.clone().into_iter().collect();
    parts.extend(security::demand(&route.access).map(|demand| demand + "."));
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

fn parameters(route: &RouteInfo, written: &Written<'_>) -> Vec<Value> {
    let mut parameters = Vec::new();
    for (own, name) in written.own.iter().zip(written.names) {
        let param = route.params.iter().find(|param| param.name == *own);
        parameters.extend(param.map(|param| path_parameter(param, name)));
    }
    if let Some(query) = &route.query {
        parameters.extend(query_parameters(query));
    }
    // The security requirements of the operation already describe credentials.
    let schemes = &route.access.schemes;
    let is_parameter = |field: &&FieldInfo| {
        let is_key = schemes.iter().any(
            |scheme| matches!(scheme, SchemeInfo::Header { header, .. } if *header == field.name),
        );
        // Browsers, proxies and tracers send the headers that the stages read.
        let is_of_stage = ["CORS", "request id"].contains(&field.by.as_str());
        !is_key
            && !is_of_stage
            && !NO_PARAMETERS.contains(&field.name.to_ascii_lowercase().as_str())
    };
    parameters.extend(route.headers.iter().filter(is_parameter).map(|it| field(it, "header")));
    let is_session = |field: &&FieldInfo| {
        schemes.iter().any(
            |scheme| matches!(scheme, SchemeInfo::Cookie { cookie, .. } if *cookie == field.name),
        )
    };
    let cookies = route.cookies.iter().filter(|field| !is_session(field));
    parameters.extend(cookies.map(|it| field(it, "cookie")));
    parameters
}

/// Returns the extension that describes WebSocket messages, which OpenAPI
/// cannot describe: the subprotocols, the schemas in both directions, the
/// maximum message size in bytes, the maximum number of messages per second,
/// and whether compression is allowed.
fn web_socket(info: &WebSocketInfo) -> Value {
    let mut value = json!({ "subprotocols": info.subprotocols, "maxPayload": info.max_payload });
    let more = [
        ("maxRate", info.max_rate.map(Value::from)),
        ("compression", info.compression.then_some(Value::Bool(true))),
        ("receives", info.receives.clone()),
        ("sends", info.sends.clone()),
    ];
    for (key, more) in more {
        if let Some(more) = more {
            value[key] = more;
        }
    }
    value
}

/// Returns the extension that describes the tool of a route for AI agents: its
/// name, its texts, its hints, and the arguments with other names than in the
/// request.
fn mcp_tool(tool: &ToolInfo) -> Value {
    let mut value = json!({ "name": tool.name });
    if let Some(title) = &tool.title {
        value["title"] = json!(title);
    }
    value["description"] = json!(tool.description);
    value["hints"] = json!({
        "readOnly": tool.hints.read_only,
        "destructive": tool.hints.destructive,
        "idempotent": tool.hints.idempotent,
        "openWorld": tool.hints.open_world,
    });
    let renamed = tool.arguments.iter().filter(|it| !it.original.is_empty());
    let renamed = renamed.filter(|it| it.name != it.original);
    let renamed: Map<String, Value> =
        renamed.map(|it| (it.name.clone(), json!(it.original))).collect();
    if !renamed.is_empty() {
        value["renamed"] = renamed.into();
    }
    value
}

fn path_parameter(param: &ParamInfo, name: &str) -> Value {
    let mut schema = param.schema.clone();
    if let (Some(constraint), Some(object)) = (&param.constraint, schema.as_object_mut()) {
        let is_text = object.get("type").is_some_and(|it| it == "string");
        // The document omits constraints without an equivalent in ECMA-262.
        if is_text
            && !object.contains_key("pattern")
            && let Ok(pattern) = ecma_pattern(constraint)
        {
            object.insert("pattern".to_owned(), json!(format!("^(?:{pattern})$")));
        }
    }
    if let Some(object) = schema.as_object_mut() {
        say_what_paths_hold(object);
    }
    let mut value = json!({ "name": name, "in": "path", "required": true, "schema": schema });
    if param.is_rest {
        value["description"] = json!("The rest of the path, including slashes");
    }
    value
}

/// Adds the constraints of every path parameter to a text schema: it is not
/// empty and contains no control characters.
fn say_what_paths_hold(schema: &mut Map<String, Value>) {
    let is_text = schema.get("type").is_some_and(|it| it == "string");
    let is_bounded = BOUNDS.iter().any(|keyword| schema.contains_key(*keyword));
    if is_text && !is_bounded {
        schema.entry("minLength").or_insert(json!(1));
        schema.insert("pattern".to_owned(), json!(r"^[^\u0000-\u001F\u007F]*$"));
    }
}

/// Keywords that are more specific than the constraints of every path
/// parameter.
const BOUNDS: [&str; 4] = ["const", "enum", "format", "pattern"];

fn query_parameters(schema: &Value) -> Vec<Value> {
    let required = |name: &str| {
        let names = schema.get("required").and_then(Value::as_array);
        names.is_some_and(|names| names.iter().any(|known| known == name))
    };
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return Vec::new();
    };
    let parameter = |(name, schema): (&String, &Value)| {
        let mut value = json!({ "name": name, "in": "query" });
        if required(name) {
            value["required"] = json!(true);
        }
        if let Some(text) = schema.get("description") {
            value["description"] = text.clone();
        }
        let mut schema = schema.clone();
        write_style(&mut value, &mut schema);
        value["schema"] = schema;
        value
    };
    properties.iter().map(parameter).collect()
}

/// Moves the extensions `x-separator` and `x-style` from a schema to its
/// parameter, as the OpenAPI style.
///
/// Source: OpenAPI 3.1, section 4.8.12.3.
fn write_style(parameter: &mut Value, schema: &mut Value) {
    let Some(schema) = schema.as_object_mut() else { return };
    let separator = schema.shift_remove("x-separator");
    let style = schema.shift_remove("x-style");
    let style = match separator.as_ref().and_then(Value::as_str) {
        Some(",") => Some("form".into()),
        Some("|") => Some("pipeDelimited".into()),
        Some(" ") => Some("spaceDelimited".into()),
        _ => style,
    };
    if let Some(style) = style {
        parameter["style"] = style;
        parameter["explode"] = separator.is_none().into();
    }
}

fn field(field: &FieldInfo, place: &str) -> Value {
    let mut value = json!({ "name": field.name, "in": place });
    if field.required {
        value["required"] = json!(true);
    }
    value["schema"] = field.schema.clone().unwrap_or_else(|| json!({ "type": "string" }));
    value
}
