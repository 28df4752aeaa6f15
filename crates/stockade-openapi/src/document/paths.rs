//! The paths of a document with their operations.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};
use stockade_errors::ConfigIssue;
use stockade_map::Tag;
use stockade_path::{Pattern, Segment};
use stockade_routing::map::path::capitalised;
use stockade_routing::map::{RouteInfo, RouteKind, RouteMap};
use stockade_validation::__internal::did_you_mean;

use super::operation::operation;
use super::shared::Shared;
use crate::options::OpenApiOptions;

/// The methods of the operations in a document: the methods that OpenAPI 3.1
/// supports, except TRACE.
const METHODS: [&str; 7] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

/// The paths of a document.
pub(super) struct Paths {
    /// The path items, in the order of the tree.
    items: Map<String, Value>,
    /// The tags, in the order of their first use.
    tags: Vec<String>,
}

impl Paths {
    /// Creates the operations of all routes that a document can describe.
    pub(super) fn of(
        map: &RouteMap,
        options: &OpenApiOptions,
        shared: &Shared,
        mistakes: &mut Vec<ConfigIssue>,
    ) -> Self {
        let prefix = common_prefix(map);
        let mut paths = Self { items: Map::new(), tags: Vec::new() };
        let mut names: HashMap<String, String> = HashMap::new();
        let mut ids: HashMap<String, &RouteInfo> = HashMap::new();
        let mut taken = HashMap::new();
        let of_host = OfHost::new(map, options, mistakes);
        for route in map.routes.iter().filter(|route| is_listed(route) && of_host.lists(route)) {
            let tags = tags_of(route, prefix);
            for (index, template) in route.templates.iter().enumerate() {
                if of_host.replaces(route, template) {
                    continue;
                }
                let id = operation_id(route, index);
                if let Some(earlier) = ids.insert(id.clone(), route) {
                    let message = format!(
                        "duplicate operation {id:?}, already used by {} {} ({}): use another \
                         `name` for the route",
                        earlier.method,
                        earlier.shown_path(),
                        earlier.location
                    );
                    mistakes.push(mistake(route, message));
                }
                let own = names_in(template);
                let key = names.entry(shape(template)).or_insert_with(|| template.clone()).clone();
                let names = &names_in(&key);
                let written =
                    Written { map, options, shared, id: &id, tags: &tags, own: &own, names };
                let item = paths.items.entry(key).or_insert_with(|| json!({}));
                let method = route.method.to_ascii_lowercase();
                if let Some(earlier) = taken.insert((shape(template), &route.method), route) {
                    mistakes.push(same_operation(route, earlier, template));
                    continue;
                }
                item[method] = operation(route, &written);
                for tag in &tags {
                    if !paths.tags.contains(tag) {
                        paths.tags.push(tag.clone());
                    }
                }
            }
        }
        paths
    }

    /// Returns the tags: first the tags of the options, then the others, with
    /// the descriptions from the tree.
    pub(super) fn tags(
        &self,
        map: &RouteMap,
        options: &OpenApiOptions,
        mistakes: &mut Vec<ConfigIssue>,
    ) -> Vec<Value> {
        let described = |name: &str, text: &str| json!({ "name": name, "description": text });
        let mut tags = Vec::new();
        for (name, text) in &options.tags {
            tags.push(described(name, text));
            let other = tagged(map, name)
                .find(|(_, tag)| !tag.description.is_empty() && tag.description != *text);
            mistakes.extend(other.map(|(route, _)| {
                let message =
                    "has a description here and in `OpenApiOptions::tag`: remove one of them";
                mistake(route, format!("the tag {name:?} {message}"))
            }));
        }
        let is_new = |tag: &&String| options.tags.iter().all(|(name, _)| name != *tag);
        tags.extend(self.tags.iter().filter(is_new).map(|name| {
            let tag = tagged(map, name).find(|(_, tag)| !tag.description.is_empty());
            tag.map_or_else(
                || json!({ "name": name }),
                |(_, tag)| described(name, &tag.description),
            )
        }));
        tags
    }

    pub(super) fn into_value(self) -> Value {
        Value::Object(self.items)
    }
}

/// Returns the error for two routes that a document cannot distinguish.
fn same_operation(route: &RouteInfo, earlier: &RouteInfo, template: &str) -> ConfigIssue {
    let advice = if route.host == earlier.host {
        "hide one of the routes with `RouteDocs::hidden`"
    } else {
        "create a document for each host with `OpenApiOptions::host`, or hide one of the routes \
         with `RouteDocs::hidden`"
    };
    mistake(
        route,
        format!(
            "its path in the document is {} {template}, the same as for {}: {advice}",
            route.method,
            label(earlier)
        ),
    )
}

/// The routes of a document with the option [`OpenApiOptions::host`].
struct OfHost<'m> {
    host: Option<&'m str>,
    /// The operations of the host, which replace operations of any host.
    own: HashSet<(String, &'m str)>,
}

impl<'m> OfHost<'m> {
    fn new(
        map: &'m RouteMap,
        options: &'m OpenApiOptions,
        mistakes: &mut Vec<ConfigIssue>,
    ) -> Self {
        let host = options.host.as_deref();
        let is_own = |route: &&RouteInfo| host.is_some() && host_of(route) == host;
        let routes: Vec<&RouteInfo> = map.routes.iter().filter(is_own).collect();
        if let Some(host) = host
            && routes.is_empty()
        {
            let known = map.routes.iter().filter_map(host_of);
            let hint = did_you_mean(host, known);
            let message = format!("`OpenApiOptions::host`: no route has the host {host:?}{hint}");
            mistakes.push(ConfigIssue::new(message));
        }
        let own = routes.into_iter().flat_map(|route| {
            route.templates.iter().map(|template| (shape(template), route.method.as_str()))
        });
        Self { host, own: own.collect() }
    }

    /// Returns true if the document lists a route: a route of the host, or of
    /// any host.
    fn lists(&self, route: &RouteInfo) -> bool {
        self.host.is_none() || route.host.is_none() || host_of(route) == self.host
    }

    /// Returns true if a route of the host replaces a path of another route.
    fn replaces(&self, route: &RouteInfo, template: &str) -> bool {
        route.host.is_none() && self.own.contains(&(shape(template), &*route.method))
    }
}

fn host_of(route: &RouteInfo) -> Option<&str> {
    route.host.as_ref().map(|host| host.pattern.as_str())
}

/// The context of an operation.
pub(super) struct Written<'a> {
    pub(super) map: &'a RouteMap,
    pub(super) options: &'a OpenApiOptions,
    pub(super) shared: &'a Shared,
    pub(super) id: &'a str,
    /// The tags of the operation.
    pub(super) tags: &'a [String],
    /// The names of the path parameters, in order.
    pub(super) own: &'a [String],
    /// Their names in the document.
    pub(super) names: &'a [String],
}

/// Returns the documented routes of a map, by their operation ids.
pub(crate) fn routes_by_id(map: &RouteMap) -> HashMap<String, &RouteInfo> {
    let routes = map.routes.iter().filter(|route| is_listed(route));
    let ids = routes.flat_map(|route| {
        (0..route.templates.len()).map(move |index| (operation_id(route, index), route))
    });
    ids.collect()
}

/// Returns true if documents list a route.
pub(super) fn is_listed(route: &RouteInfo) -> bool {
    let is_known = METHODS.contains(&route.method.as_str());
    let has_operation = !matches!(route.kind, RouteKind::Mount | RouteKind::RpcMethod);
    route.docs.hidden.is_none() && has_operation && is_known
}

/// Returns a readable name for a route, with its source location.
pub(super) fn label(route: &RouteInfo) -> String {
    format!("{} {} ({})", route.method, route.shown_path(), route.location)
}

fn mistake(route: &RouteInfo, message: String) -> ConfigIssue {
    ConfigIssue::new(message).on(label(route))
}

/// Returns the operation id: the id of the route, followed by the optional
/// parameters that a shorter path omits.
fn operation_id(route: &RouteInfo, index: usize) -> String {
    let (Some(template), Some(longest)) = (route.templates.get(index), route.templates.first())
    else {
        return route.operation_id.clone();
    };
    if index == 0 {
        return route.operation_id.clone();
    }
    let (left, all) = (names_in(template), names_in(longest));
    let missing = all.iter().filter(|name| !left.contains(name));
    missing.fold(route.operation_id.clone(), |id, name| format!("{id}Without{}", capitalised(name)))
}

/// Returns the names in braces.
fn names_in(template: &str) -> Vec<String> {
    let parts = template.split('{').skip(1);
    parts.filter_map(|part| part.split_once('}')).map(|(name, _)| name.to_owned()).collect()
}

/// Returns a path without parameter names. OpenAPI treats paths with the same
/// shape as identical.
fn shape(template: &str) -> String {
    let mut shape = String::new();
    let mut in_braces = false;
    for c in template.chars() {
        match c {
            '{' => in_braces = true,
            '}' => in_braces = false,
            _ if in_braces => continue,
            _ => {}
        }
        shape.push(c);
    }
    shape
}

/// Returns the number of literal segments that all listed paths start with.
fn common_prefix(map: &RouteMap) -> usize {
    let listed = map.routes.iter().filter(|route| is_listed(route));
    let mut paths = listed.map(|route| literals(&route.path));
    let Some(first) = paths.next() else { return 0 };
    let common = paths.fold(first.len(), |common, path| {
        first.iter().zip(&path).take(common).take_while(|(one, other)| one == other).count()
    });
    // The last segment is never part of the prefix.
    common.min(first.len().saturating_sub(1))
}

/// Returns the leading literal segments of a path.
fn literals(path: &str) -> Vec<String> {
    // The router has already parsed the path, so this cannot fail.
    let pattern = Pattern::parse(path);
    let segments = pattern.iter().flat_map(|pattern| pattern.segments());
    let literal = |segment: &Segment| match segment {
        Segment::Literal(text) if !text.is_empty() => Some(text.clone()),
        _ => None,
    };
    segments.map_while(literal).collect()
}

/// Returns the tags of a route: its own tags, the tag of an enclosing node, or
/// the first literal segment after the prefix.
fn tags_of(route: &RouteInfo, prefix: usize) -> Vec<String> {
    if !route.docs.tags.is_empty() {
        return route.docs.tags.clone();
    }
    if let Some(tag) = &route.docs.tag {
        return vec![tag.name.clone()];
    }
    let literals = literals(&route.path);
    let segment = literals.get(prefix).or_else(|| literals.last());
    vec![segment.map_or("api", String::as_str).to_owned()]
}

/// Returns the routes below nodes with this tag.
fn tagged<'m>(map: &'m RouteMap, name: &str) -> impl Iterator<Item = (&'m RouteInfo, &'m Tag)> {
    let tags = map.routes.iter().filter_map(|route| Some((route, route.docs.tag.as_ref()?)));
    tags.filter(move |(_, tag)| tag.name == name)
}
