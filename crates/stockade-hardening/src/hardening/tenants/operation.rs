//! [`Operation`]: a route with the parts of its requests that may contain ids.

use http::Method;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};
use stockade_routing::map::{
    ContentInfo, GraphQlInfo, HostInfo, Need, RouteInfo, RouteKind, RouteMap,
};

use super::graphql::{self, GraphQlField};
use super::names::{Verb, collection_noun, ends_login, method_noun, noun_of, verb_of};
use super::tool_call::{self, ToolCall};
use crate::hardening::attack_target::{label_of, methods_of};
use crate::sample::{Sample, encoded};

/// A route that authenticates users, with one of its methods.
#[derive(Clone, Debug)]
pub(super) struct Operation {
    pub(super) route: RouteInfo,
    /// The method and the declared path, such as `DELETE /users/:id`.
    pub(super) label: String,
    pub(super) method: Method,
    /// The path with parameters in braces.
    template: String,
    /// The path with empty braces, so that names of parameters do not matter.
    pub(super) shape: String,
    /// The parameters of the path.
    pub(super) params: Vec<Param>,
    pub(super) query: Vec<Member>,
    /// The members of a JSON body, of the parameters of a JSON-RPC method, or of
    /// the arguments of a GraphQL field.
    pub(super) body: Vec<Member>,
    /// The function that the body names, if the path does not identify it.
    pub(super) call: Option<Call>,
    pub(super) verb: Verb,
}

/// A function that the body of a request names.
#[derive(Clone, Debug)]
pub(super) enum Call {
    /// The name of a JSON-RPC method.
    Rpc(String),
    GraphQl(GraphQlField),
    Tool(ToolCall),
}

impl Call {
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Rpc(name) => name,
            Self::GraphQl(field) => &field.name,
            Self::Tool(tool) => &tool.name,
        }
    }

    /// Returns the name of the objects of the function.
    fn noun(&self) -> String {
        match self {
            Self::Tool(tool) => tool.noun.clone(),
            call => method_noun(call.name()),
        }
    }

    /// Returns the result in a response body. `Null` if the call failed.
    pub(super) fn result(&self, body: &Value) -> Value {
        let result = match self {
            Self::Rpc(_) => body.get("result"),
            Self::GraphQl(field) => body.get("data").and_then(|data| data.get(&field.name)),
            Self::Tool(_) => return ToolCall::result(body),
        };
        result.cloned().unwrap_or_default()
    }

    /// Returns true if a response body reports an error.
    pub(super) fn is_error(&self, body: &Value) -> bool {
        match self {
            Self::Rpc(_) => body.get("error").is_some(),
            Self::GraphQl(_) => body.get("errors").is_some(),
            Self::Tool(_) => ToolCall::is_error(body),
        }
    }
}

/// A parameter of a path.
#[derive(Clone, Debug)]
pub(super) struct Param {
    pub(super) name: String,
    /// The shape of the path up to this parameter, such as `/users/{}`.
    pub(super) anchor: String,
    /// The objects that the value identifies, such as `user`.
    pub(super) noun: String,
    is_rest: bool,
}

/// A member of a body or a query.
#[derive(Clone, Debug)]
pub(super) struct Member {
    /// The members that contain it, outermost first. If one is a list, its first
    /// item contains the member.
    pub(super) parents: Vec<String>,
    pub(super) name: String,
    /// The schema without references.
    pub(super) schema: Map<String, Value>,
    pub(super) is_required: bool,
    /// The objects that the value may identify.
    pub(super) noun: String,
    /// True if the value is a list of such ids.
    pub(super) is_list: bool,
}

impl Member {
    /// Returns its name with the names around it, such as `owner.teamId`.
    pub(super) fn path(&self) -> String {
        let names = self.parents.iter().chain([&self.name]);
        names.map(String::as_str).collect::<Vec<_>>().join(".")
    }
}

impl Operation {
    /// Returns the operations of a map that authenticate users.
    pub(super) fn all(map: &RouteMap) -> Vec<Self> {
        let routes = map.routes.iter().filter(|route| {
            // Its methods are separate operations.
            let methods = format!("{}#", route.path);
            let has_methods = map.routes.iter().any(|it| it.path.starts_with(&methods));
            route.access.user != Need::None && !has_methods && route.mcp.is_none()
        });
        let of_route = |route: &RouteInfo| {
            let mut operations = Self::of(map, route);
            operations.extend(Self::of_tool(map, route));
            operations
        };
        routes.flat_map(of_route).collect()
    }

    fn of(map: &RouteMap, route: &RouteInfo) -> Vec<Self> {
        if route.kind == RouteKind::Mount || route.kind == RouteKind::Fallback {
            return Vec::new();
        }
        if let Some(info) = &route.graphql {
            return Self::of_graphql(route, info);
        }
        let sample = Sample::of(map);
        let template = route.templates.first().cloned().unwrap_or_else(|| route.path.clone());
        let rpc = route.path.split_once('#').filter(|_| route.kind == RouteKind::RpcMethod);
        let rpc = rpc.map(|(_, name)| name.to_owned());
        let template = match template.split_once('#') {
            Some((path, _)) if rpc.is_some() => path.to_owned(),
            _ => template,
        };
        let methods: Vec<Method> = match (&rpc, route.kind) {
            (Some(_), _) => vec![Method::POST],
            (None, RouteKind::WebSocket) => vec![Method::GET],
            _ => methods_of(route).collect(),
        };
        let query = route.query.as_ref().map_or_else(Vec::new, |it| members(sample, it));
        let mut body = json_content(route).map_or_else(Vec::new, |it| members(sample, &it.schema));
        if let Some(name) = &rpc {
            let ids = body.iter_mut().filter(|member| member.name == "id");
            ids.for_each(|member| member.noun = method_noun(name));
        }
        let params = params_of(route, &template);
        let operation = |method: Method| Self {
            route: route.clone(),
            label: match route.method.as_str() {
                "ANY" => format!("{method} {}", route.shown_path()),
                _ => label_of(route),
            },
            verb: verb_of(&method, rpc.as_deref()),
            method,
            shape: shape_of(&template),
            template: template.clone(),
            params: params.clone(),
            query: query.clone(),
            body: body.clone(),
            call: rpc.clone().map(Call::Rpc),
        };
        methods.into_iter().map(operation).collect()
    }

    /// Returns the fields of a GraphQL schema. Only POST runs mutations.
    fn of_graphql(route: &RouteInfo, info: &GraphQlInfo) -> Vec<Self> {
        if !methods_of(route).any(|method| method == Method::POST) {
            return Vec::new();
        }
        let template = route.templates.first().cloned().unwrap_or_else(|| route.path.clone());
        let operation = |mut field: GraphQlField| {
            let mut body = std::mem::take(&mut field.arguments);
            let ids = body.iter_mut().filter(|it| it.name == "id" && it.parents.is_empty());
            ids.for_each(|member| member.noun = method_noun(&field.name));
            let verb = match field.is_query {
                true => Verb::Read,
                false => match verb_of(&Method::POST, Some(&field.name)) {
                    Verb::Read => Verb::Change,
                    verb => verb,
                },
            };
            Self {
                route: route.clone(),
                label: format!("GRAPHQL {}#{}", route.shown_path(), field.name),
                method: Method::POST,
                verb,
                shape: shape_of(&template),
                template: template.clone(),
                params: params_of(route, &template),
                query: Vec::new(),
                body,
                call: Some(Call::GraphQl(field)),
            }
        };
        graphql::fields(info).into_iter().map(operation).collect()
    }

    /// Returns the call of the tool of a route.
    fn of_tool(map: &RouteMap, route: &RouteInfo) -> Option<Self> {
        let tool = route.tool.as_deref()?;
        let endpoint = tool_call::endpoint(map)?;
        let path = |route: &RouteInfo| {
            route.templates.first().cloned().unwrap_or_else(|| route.path.clone())
        };
        let (template, own) = (path(endpoint), path(route));
        let params = params_of(route, &own);
        let method = methods_of(route).next()?;
        let verb = match verb_of(&method, None) {
            // A POST to an object does not create one.
            Verb::Create if !params.is_empty() => Verb::Change,
            verb => verb,
        };
        let noun = collection_noun(&shape_of(&own));
        let call = ToolCall::new(map, tool, noun, label_of(route));
        let mut target = endpoint.clone();
        // A failure names the place of the tool.
        target.location.clone_from(&route.location);
        Some(Self {
            route: target,
            label: format!("TOOL {}", tool.name),
            method: Method::POST,
            verb,
            shape: shape_of(&template),
            params: params_of(endpoint, &template),
            template,
            query: Vec::new(),
            body: tool_call::arguments(map, tool, &params),
            call: Some(Call::Tool(call)),
        })
    }

    /// Returns true if a request may invalidate the credentials of its user.
    pub(super) fn ends_login(&self) -> bool {
        ends_login(&self.shape) || self.call.as_ref().is_some_and(|call| ends_login(call.name()))
    }

    /// Returns the path with these values.
    pub(super) fn path(&self, values: &[String]) -> String {
        let pairs = self.params.iter().zip(values);
        pairs.fold(self.template.clone(), |path, (param, value)| {
            path.replacen(&format!("{{{}}}", param.name), &encoded(value, param.is_rest), 1)
        })
    }

    /// Returns the values of the parameters, if the path has the shape of this
    /// operation.
    pub(super) fn values_of(&self, path: &str) -> Option<Vec<String>> {
        let path = path.trim_end_matches('/');
        let (own, other): (Vec<_>, Vec<_>) =
            (self.shape.split('/').collect(), path.split('/').collect());
        if own.len() != other.len() {
            return None;
        }
        let mut values = Vec::new();
        for (own, other) in own.into_iter().zip(other) {
            match own {
                "{}" if !other.is_empty() => values.push(decoded(other)),
                own if own == other => {}
                _ => return None,
            }
        }
        Some(values)
    }

    /// Returns the shape of the items of this path.
    pub(super) fn items(&self) -> String {
        format!("{}/{{}}", self.shape.trim_end_matches('/'))
    }

    /// Returns the name of the objects that this path contains.
    pub(super) fn noun(&self) -> String {
        match &self.call {
            Some(call) => call.noun(),
            None => collection_noun(&self.shape),
        }
    }

    pub(super) fn host(&self) -> Option<&HostInfo> {
        self.route.host.as_ref()
    }
}

/// Returns the path with empty braces.
fn shape_of(template: &str) -> String {
    let segments = template.trim_end_matches('/').split('/');
    let shape = segments.map(|segment| match segment.contains('{') {
        true => "{}",
        false => segment,
    });
    shape.collect::<Vec<_>>().join("/")
}

fn params_of(route: &RouteInfo, template: &str) -> Vec<Param> {
    let place = |name: &str| template.find(&format!("{{{name}}}"));
    let params = route.params.iter().filter_map(|param| {
        let start = place(&param.name)?;
        let end = template.get(start..)?.find('/').map_or(template.len(), |length| start + length);
        let anchor = shape_of(template.get(..end)?);
        let collection = collection_noun(anchor.strip_suffix("/{}").unwrap_or(&anchor));
        let noun = match noun_of(&param.name) {
            // The name does not describe the object.
            _ if is_plain_id(&param.name) => collection,
            noun => noun,
        };
        let is_rest = param.is_rest;
        Some(Param { name: param.name.clone(), anchor, noun, is_rest })
    });
    params.collect()
}

/// Returns true if a name does not say which object it identifies.
fn is_plain_id(name: &str) -> bool {
    ["id", "uuid", "slug", "key", "number", "name", "code", "splat", "token"].contains(&name)
}

fn json_content(route: &RouteInfo) -> Option<&ContentInfo> {
    let mut contents = route.body.iter().flat_map(|body| &body.content);
    contents.find(|content| {
        content.media_type.ends_with("json")
            || content.media_type == "application/x-www-form-urlencoded"
            || content.media_type == "multipart/form-data"
            || (route.kind == RouteKind::RpcMethod && content.media_type == "*/*")
    })
}

/// Returns the members of an object schema.
pub(super) fn members(sample: Sample<'_>, schema: &Value) -> Vec<Member> {
    members_below(sample, schema, &[])
}

/// Returns the members of an object schema below these members.
fn members_below(sample: Sample<'_>, schema: &Value, parents: &[String]) -> Vec<Member> {
    let Some(schema) = resolved(sample, schema) else { return Vec::new() };
    let mut found: Vec<Member> = Vec::new();
    let parts = schema.get("allOf").and_then(Value::as_array);
    for part in parts.into_iter().flatten() {
        found.extend(members_below(sample, part, parents));
    }
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|it| it == name));
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, member) in properties.into_iter().flatten() {
        let Some(schema) = resolved(sample, member) else { continue };
        let item = schema.get("items").and_then(|items| resolved(sample, items));
        let (is_list, schema) = (item.is_some(), item.unwrap_or(schema));
        if parents.len() < MAX_NESTED {
            let inner = Value::Object(schema.clone());
            let parents = [parents, std::slice::from_ref(name)].concat();
            found.extend(members_below(sample, &inner, &parents));
        }
        found.push(Member {
            parents: parents.to_vec(),
            name: name.clone(),
            is_required: is_required(name),
            noun: match parents.last() {
                Some(parent) if name == "id" => noun_of(parent),
                _ => noun_of(name),
            },
            is_list,
            schema,
        });
    }
    found
}

/// The maximum number of members around an attacked member.
const MAX_NESTED: usize = 3;

/// Returns the alternatives of a schema: a value must match one of them.
pub(super) fn variants<'s>(sample: Sample<'s>, schema: &'s Value) -> Vec<&'s Value> {
    let mut schema = schema;
    // A schema that refers to itself ends here.
    for _ in 0..8 {
        let reference = schema.get("$ref").and_then(Value::as_str);
        let Some(next) = reference.and_then(|reference| sample.referred(reference)) else { break };
        schema = next;
    }
    let choices = ["oneOf", "anyOf"].iter().find_map(|word| schema.get(*word)?.as_array());
    choices.map_or_else(|| vec![schema], |choices| choices.iter().collect())
}

/// Follows references and returns the first choice that is not `null`.
fn resolved(sample: Sample<'_>, schema: &Value) -> Option<Map<String, Value>> {
    let mut schema = schema.as_object()?.clone();
    // A schema that refers to itself ends here.
    for _ in 0..8 {
        let reference = schema.get("$ref").and_then(Value::as_str);
        let choices = ["oneOf", "anyOf"].iter().find_map(|word| schema.get(*word)?.as_array());
        let next = match (reference, choices) {
            (Some(reference), _) => sample.referred(reference).cloned(),
            (None, Some(choices)) => {
                choices.iter().find(|it| it.get("type") != Some(&"null".into())).cloned()
            }
            _ => break,
        };
        schema = next?.as_object()?.clone();
    }
    Some(schema)
}

/// Decodes percent-encoded characters.
pub(super) fn decoded(segment: &str) -> String {
    percent_decode_str(segment).decode_utf8_lossy().into_owned()
}
