//! [`describe`]: adds the tools to the map of a router, and finds configuration
//! errors.

use std::collections::HashMap;

use serde_json::{Map, Value, json};
use stockade_errors::ConfigIssue;
use stockade_map::{
    McpInfo, MethodKind, Need, RouteInfo, RouteKind, RouteMap, SchemeInfo, Tool, ToolHints,
    ToolInfo,
};
use stockade_routing::tool_internals::{ToolRoutes, place_of};

use super::arguments::{Argument, arguments_of};
use super::names::{
    MAX_DESCRIPTION, MAX_TITLE, from_route, hidden_character, text_fault, tool_name_fault,
};
use super::schema::{Converter, Direction, is_union};

/// Adds the endpoint and its tools to a map. Returns the configuration errors.
/// A tool with an error is not in the map.
pub(super) fn describe(map: &mut RouteMap, routes: &ToolRoutes) -> Vec<ConfigIssue> {
    let Some(endpoint) = map.routes.get(routes.endpoint) else { return Vec::new() };
    let info = endpoint_info(map, endpoint, &routes.info);
    let mut issues = endpoint_issues(endpoint, &info, routes);
    let mut names: HashMap<String, String> = HashMap::new();
    let mut described = Vec::new();
    for (index, tool) in &routes.tools {
        let Some(route) = map.routes.get(*index) else { continue };
        let mut faults = route_faults(route, endpoint, &info);
        // The other errors would only repeat that the route cannot be a tool.
        let is_possible = faults.is_empty();
        let found = is_possible.then(|| tool_info(map, route, tool, &mut faults));
        if let Some(found) = found.as_ref().filter(|found| !found.name.is_empty())
            && let Some(earlier) = names.insert(found.name.clone(), found.location.to_string())
        {
            let name = &found.name;
            faults.push(format!("duplicate name {name:?} of a tool, already used at {earlier}"));
        }
        let label = format!("{} {}", route.shown_method(), route.shown_path());
        let place = tool.location.unwrap_or(routes.location);
        let is_right = faults.is_empty();
        issues.extend(
            faults
                .into_iter()
                .map(|fault| ConfigIssue::new(format!("tool: {fault}")).on(&label).at(place)),
        );
        described.extend(found.filter(|_| is_right).map(|found| (*index, found)));
    }
    crate::describe::describe_body(&mut map.routes[routes.endpoint]);
    map.routes[routes.endpoint].mcp = Some(Box::new(info));
    for (index, tool) in described {
        map.routes[index].tool = Some(Box::new(tool));
    }
    issues
}

/// Describes the endpoint. Pages of the origins that CORS lists may call it,
/// unless it declares its own list.
fn endpoint_info(map: &RouteMap, endpoint: &RouteInfo, declared: &McpInfo) -> McpInfo {
    let mut info = declared.clone();
    let cors = endpoint.cors.as_ref().or(map.router.cors.as_ref());
    if info.allowed_origins.is_empty()
        && let Some(cors) = cors
    {
        info.allowed_origins.clone_from(&cors.origins);
    }
    info
}

/// Returns the configuration errors of the endpoint.
fn endpoint_issues(endpoint: &RouteInfo, info: &McpInfo, routes: &ToolRoutes) -> Vec<ConfigIssue> {
    let mut faults = Vec::new();
    let count = routes.tools.len();
    if count as u64 > info.max_tools {
        let max = info.max_tools;
        faults.push(format!(
            "the router has {count} tools, but clients accept {max}: remove the key `tool` of \
             some routes, or raise `Mcp::max_tools`"
        ));
    }
    if let Some(url) = &info.url {
        let tokens = endpoint.access.methods.iter().filter(|it| it.kind == MethodKind::Token);
        let mut audiences = tokens.filter_map(|it| it.token.as_ref()).map(|it| &it.audiences);
        if audiences.any(|audiences| !audiences.contains(url)) {
            faults.push(format!(
                "the tokens of the endpoint must be issued for its URL: add \
                 `audience({url:?})` to its `TokenVerifier`"
            ));
        }
    }
    let label = format!("{} {}", endpoint.shown_method(), endpoint.shown_path());
    let issue = |fault: String| ConfigIssue::new(fault).on(&label).at(routes.location);
    faults.into_iter().map(issue).collect()
}

/// Returns the reasons why a route cannot be a tool.
fn route_faults(route: &RouteInfo, endpoint: &RouteInfo, info: &McpInfo) -> Vec<String> {
    let never = match route.kind {
        RouteKind::WebSocket => Some("a WebSocket cannot be a tool"),
        RouteKind::Mount => Some("a mounted service cannot be a tool"),
        _ if route.mcp.is_some() || std::ptr::eq(route, endpoint) => {
            Some("the endpoint of the tools cannot be a tool itself")
        }
        _ if route.method == "ANY" => Some("a route for any method cannot be a tool"),
        _ if matches!(&*route.method, "HEAD" | "OPTIONS") => {
            Some("the responses to this method do not have a result for agents")
        }
        _ if is_stream(route) => Some("an event stream does not end, so it cannot be a tool"),
        _ => None,
    };
    if let Some(never) = never {
        return vec![never.to_owned()];
    }
    access_faults(route, endpoint, info)
}

fn is_stream(route: &RouteInfo) -> bool {
    let mut contents = route.answers.iter().flat_map(|answer| answer.body.contents());
    contents.any(|content| content.media_type == "text/event-stream")
}

/// Returns the reasons why no agent could call a route.
fn access_faults(route: &RouteInfo, endpoint: &RouteInfo, info: &McpInfo) -> Vec<String> {
    let mut faults = Vec::new();
    if requires_user(route) && endpoint.access.user == Need::None {
        faults.push(format!(
            "the tool requires a user, but its endpoint {} does not authenticate users: add \
             `with_auth` to the endpoint",
            endpoint.shown_path()
        ));
    }
    let schemes = &route.access.schemes;
    let is_cookie = |scheme: &SchemeInfo| matches!(scheme, SchemeInfo::Cookie { .. });
    if requires_user(route) && !schemes.is_empty() && schemes.iter().all(is_cookie) {
        faults.push(
            "the route authenticates only by cookies, which agents do not send: add a method with \
             a header, such as `Auth::secret`"
                .to_owned(),
        );
    }
    faults.extend(audience_fault(route, endpoint, info));
    faults
}

/// Returns the error if tokens for the endpoint are not valid for the route.
fn audience_fault(route: &RouteInfo, endpoint: &RouteInfo, info: &McpInfo) -> Option<String> {
    let audiences = |route: &RouteInfo| -> Option<Vec<String>> {
        let mut all = Vec::new();
        for method in &route.access.methods {
            let audiences = &method.token.as_ref()?.audiences;
            if method.kind != MethodKind::Token || audiences.is_empty() {
                return None;
            }
            all.extend_from_slice(audiences);
        }
        (!all.is_empty()).then_some(all)
    };
    let (accepted, needed) = (audiences(route)?, audiences(endpoint)?);
    if needed.iter().any(|audience| accepted.contains(audience)) {
        return None;
    }
    let wanted = info.url.as_ref().or_else(|| needed.first())?;
    Some(format!(
        "the route does not accept the tokens of its endpoint: add `audience({wanted:?})` to its \
         `TokenVerifier`"
    ))
}

/// Returns true if only requests with a user can call a route.
pub(super) fn requires_user(route: &RouteInfo) -> bool {
    let access = &route.access;
    access.user == Need::Required || !access.roles.is_empty() || !access.permissions.is_empty()
}

/// Describes a tool. Adds configuration errors to `faults`.
fn tool_info(map: &RouteMap, route: &RouteInfo, tool: &Tool, faults: &mut Vec<String>) -> ToolInfo {
    let mut info = ToolInfo::default();
    match tool.name.clone().or_else(|| route.name.as_deref().map(from_route)) {
        Some(name) => {
            faults.extend(tool_name_fault(&name));
            info.name = name;
        }
        None => faults.push(
            "the tool does not have a name: add `name` to the route, or use `Tool::name`"
                .to_owned(),
        ),
    }
    faults.extend(text_fault("description", &tool.description, MAX_DESCRIPTION));
    let title = tool.title.as_ref();
    faults.extend(title.and_then(|title| text_fault("title", title, MAX_TITLE)));
    info.title = title.cloned();
    info.description.clone_from(&tool.description);
    let (hints, loosened) = hints_of(&route.method, tool);
    if hints.read_only && hints.destructive {
        faults.push(
            "`read_only` and `destructive` are both true: a call that changes nothing cannot \
             destroy data"
                .to_owned(),
        );
    }
    (info.hints, info.loosened) = (hints, loosened);
    let arguments = arguments_of(map, route, tool, faults);
    info.input_schema = input_schema(&arguments);
    faults.extend(hidden_text(&info.input_schema));
    info.arguments = arguments.into_iter().map(|argument| argument.info).collect();
    if tool.output_schema {
        match output_schema(map, route) {
            Ok(schema) => info.output_schema = Some(schema),
            Err(fault) => faults.push(fault),
        }
    }
    info.location = place_of(tool, &route.location);
    info
}

/// Returns the hints of a tool, and the names of the hints that are weaker than
/// the default of the method.
fn hints_of(method: &str, tool: &Tool) -> (ToolHints, Vec<String>) {
    let is_get = method == "GET";
    let is_repeatable = matches!(method, "GET" | "PUT" | "DELETE");
    let read_only = tool.read_only.unwrap_or(is_get);
    let destructive = tool.destructive.unwrap_or(!read_only);
    let idempotent = tool.idempotent.unwrap_or(read_only || is_repeatable);
    let open_world = tool.open_world.unwrap_or(true);
    let loosened = [
        ("read_only", tool.read_only == Some(true) && !is_get),
        ("destructive", tool.destructive == Some(false) && !is_get),
        ("idempotent", tool.idempotent == Some(true) && !is_repeatable),
        ("open_world", tool.open_world == Some(false)),
    ];
    let loosened = loosened.into_iter().filter(|(_, is_weaker)| *is_weaker);
    let loosened = loosened.map(|(name, _)| name.to_owned()).collect();
    (ToolHints::new(read_only, destructive, idempotent, open_world), loosened)
}

fn input_schema(arguments: &[Argument]) -> Value {
    let properties = arguments.iter().map(|it| (it.info.name.clone(), it.schema.clone()));
    let properties: Map<String, Value> = properties.collect();
    let required = arguments.iter().filter(|it| it.is_required);
    let required: Vec<&str> = required.map(|it| it.info.name.as_str()).collect();
    let mut schema = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema["additionalProperties"] = json!(false);
    schema
}

/// Returns the error of a text in a schema that readers cannot see.
fn hidden_text(schema: &Value) -> Option<String> {
    match schema {
        Value::Object(keywords) => keywords.iter().find_map(|(key, value)| {
            let text = value.as_str().filter(|_| matches!(&**key, "description" | "title"));
            match text.and_then(hidden_character) {
                Some(hidden) => Some(format!(
                    "a description in the schema of the arguments contains the character \
                     U+{:04X}, which readers cannot see: remove it",
                    u32::from(hidden)
                )),
                None => hidden_text(value),
            }
        }),
        Value::Array(items) => items.iter().find_map(hidden_text),
        _ => None,
    }
}

/// Returns the schema of the structured result: the JSON object of all
/// successful responses.
fn output_schema(map: &RouteMap, route: &RouteInfo) -> Result<Value, String> {
    let mut found: Option<Value> = None;
    for answer in route.answers.iter().filter(|answer| answer.status.is_success()) {
        let contents = answer.body.contents();
        let content = contents.iter().find(|it| it.media_type == "application/json");
        let schema = content.and_then(|content| {
            Converter::new(&map.schemas, Direction::Output).convert(&content.schema)
        });
        let is_object = |it: &Map<String, Value>| {
            it.get("type").is_some_and(|it| it == "object") && !is_union(it)
        };
        let schema =
            schema.filter(|it| contents.len() == 1 && it.as_object().is_some_and(is_object));
        let Some(schema) = schema else {
            let status = answer.status;
            return Err(format!(
                "`output_schema` needs a JSON object in each response, but the response {status} \
                 is not described as one"
            ));
        };
        match &found {
            Some(earlier) if *earlier != schema => {
                return Err("`output_schema` needs one schema, but the route has different \
                            responses"
                    .to_owned());
            }
            _ => found = Some(schema),
        }
    }
    found.ok_or_else(|| {
        "`output_schema` needs a JSON object, but the responses of the route are unknown".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_follow_the_method_unless_the_tool_declares_them() {
        let check = |method: &str, tool: Tool, expected: [bool; 4], loosened: &[&str]| {
            let [read_only, destructive, idempotent, open_world] = expected;
            let hints = ToolHints::new(read_only, destructive, idempotent, open_world);
            let (found, names) = hints_of(method, &tool);
            assert_eq!(
                (found, &names[..]),
                (hints, &loosened.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>()[..]),
                "{method}"
            );
        };
        let tool = || Tool::new("A tool");
        check("GET", tool(), [true, false, true, true], &[]);
        check("PUT", tool(), [false, true, true, true], &[]);
        check("DELETE", tool(), [false, true, true, true], &[]);
        check("POST", tool(), [false, true, false, true], &[]);
        check("PATCH", tool(), [false, true, false, true], &[]);
        check("POST", tool().read_only(true), [true, false, true, true], &["read_only"]);
        check("POST", tool().destructive(false), [false, false, false, true], &["destructive"]);
        check("POST", tool().idempotent(true), [false, true, true, true], &["idempotent"]);
        check("GET", tool().open_world(false), [true, false, true, false], &["open_world"]);
        check("GET", tool().read_only(false), [false, true, true, true], &[]);
        check("GET", tool().destructive(false).idempotent(true), [true, false, true, true], &[]);
    }
}
