//! The rules about data: each text, list and number of a request has bounds,
//! and so does each list of a response.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::super::finding::Finding;
use super::super::rule::{BuiltIn, all_routes};
use super::documents::handler_answers;
use super::referred;
use crate::{BodyDoc, ParamInfo, RouteInfo, RouteMap};

/// The largest number of places that a finding lists.
const NAMED: usize = 5;

pub(super) const STRINGS_BOUNDED: BuiltIn = BuiltIn {
    id: "strings-bounded",
    text: "each string of a request has a maximum length",
    owasp: "API4",
    find: |map| {
        unbounded(
            map,
            Kind::Text,
            "these strings do not have a maximum length",
            "`max_length`, or a format",
        )
    },
};

pub(super) const ARRAYS_BOUNDED: BuiltIn = BuiltIn {
    id: "arrays-bounded",
    text: "each list of a request has a maximum number of elements",
    owasp: "API4",
    find: |map| {
        let mend = "`max_items`, `max_properties` for a map";
        unbounded(map, Kind::List, "these lists do not have a maximum number of elements", mend)
    },
};

pub(super) const NUMBERS_BOUNDED: BuiltIn = BuiltIn {
    id: "numbers-bounded",
    text: "each number of a request has a minimum and a maximum",
    owasp: "API4",
    find: |map| {
        unbounded(map, Kind::Number, "these numbers are not bounded", "`minimum` and `maximum`")
    },
};

pub(super) const REPLIES_BOUNDED: BuiltIn = BuiltIn {
    id: "replies-bounded",
    text: "each list of a response has a maximum number of elements",
    owasp: "API4",
    find: |map| {
        let message = "these lists of its responses do not have a maximum number of elements";
        let mend = "`max_items`, and a limit to the query that reads them";
        found(map, Kind::List, answered, message, mend)
    },
};

fn unbounded(map: &RouteMap, kind: Kind, message: &str, mend: &str) -> Vec<Finding> {
    found(map, kind, |route| asked(route, kind), message, mend)
}

/// A schema of a route with the name of its place.
type Part<'m> = (String, &'m Value);

fn found<'m>(
    map: &'m RouteMap,
    kind: Kind,
    parts: impl Fn(&'m RouteInfo) -> Vec<Part<'m>>,
    message: &str,
    mend: &str,
) -> Vec<Finding> {
    let findings = all_routes(map).filter_map(|route| {
        let places = places(map, kind, parts(route));
        if places.is_empty() {
            return None;
        }
        let mut names: Vec<&str> = places.iter().map(String::as_str).take(NAMED).collect();
        let others = places.len().saturating_sub(NAMED);
        let others = (others > 0).then(|| format!("and {others} others"));
        names.extend(others.as_deref());
        let message = format!("{message}: {}", names.join(", "));
        Some(Finding::on(route, message).mend(format!("add {mend}")))
    });
    findings.collect()
}

/// Returns the places of unbounded values.
fn places<'m>(map: &'m RouteMap, kind: Kind, parts: Vec<Part<'m>>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (place, root) in parts {
        let mut walk = Walk { map, root, kind, seen: BTreeSet::new(), found: &mut found };
        walk.visit(root, &place, false);
    }
    found
}

/// Returns the schemas of the requests to a route.
fn asked(route: &RouteInfo, kind: Kind) -> Vec<Part<'_>> {
    let params = route.params.iter().filter(|it| !(kind == Kind::Text && is_short(it)));
    let params = params.map(|it| (format!("path.{}", it.name), &it.schema));
    let query = route.query.iter().map(|it| ("query".to_owned(), it));
    let contents = route.body.iter().flat_map(|body| &body.content);
    let body = contents.map(|content| ("body".to_owned(), &content.schema));
    let messages = route.web_socket.iter().flat_map(|it| &it.receives);
    let messages = messages.map(|it| ("message".to_owned(), it));
    params.chain(query).chain(body).chain(messages).collect()
}

/// Returns the schemas of a handler's successful responses.
fn answered(route: &RouteInfo) -> Vec<Part<'_>> {
    let answers = handler_answers(route).filter(|answer| answer.status.is_success());
    let contents = answers.flat_map(|answer| match &answer.body {
        BodyDoc::Content(contents) => contents.as_slice(),
        _ => &[],
    });
    contents.map(|content| ("body".to_owned(), &content.schema)).collect()
}

/// Returns true if the expression of a parameter limits the length of its text:
/// it does not contain an unbounded repetition. An escaped repetition operator
/// counts as a repetition.
fn is_short(param: &ParamInfo) -> bool {
    let constraint = param.constraint.as_deref();
    constraint.is_some_and(|it| !it.contains(['*', '+']) && !it.contains(",}"))
}

/// The kind of value that must have bounds.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Kind {
    Text,
    List,
    Number,
}

impl Kind {
    fn types(self) -> &'static [&'static str] {
        match self {
            Self::Text => &["string"],
            Self::List => &["array", "object"],
            Self::Number => &["number", "integer"],
        }
    }

    /// Returns true if a schema's own keywords bound a value. Does not follow
    /// references.
    fn is_bounded_by(self, schema: &Map<String, Value>) -> bool {
        let has = |name: &str| schema.contains_key(name);
        if has("enum") || has("const") {
            return true;
        }
        match self {
            Self::Text => has("maxLength") || has_bounded_format(schema),
            Self::List if has_type(schema, "object") => has("maxProperties") || !is_map(schema),
            Self::List => has("maxItems") || (has("prefixItems") && is_closed(schema)),
            Self::Number => {
                (has("minimum") || has("exclusiveMinimum"))
                    && (has("maximum") || has("exclusiveMaximum"))
            }
        }
    }
}

/// Returns true for a format with short texts: all formats except web
/// addresses.
fn has_bounded_format(schema: &Map<String, Value>) -> bool {
    let format = schema.get("format").and_then(Value::as_str);
    format.is_some_and(|format| {
        matches!(
            format,
            "uuid"
                | "date"
                | "date-time"
                | "time"
                | "ipv4"
                | "ipv6"
                | "hostname"
                | "email"
                | "phone"
                | "credit-card"
        )
    })
}

/// Returns true for an object with arbitrary member names.
fn is_map(schema: &Map<String, Value>) -> bool {
    let additional = schema.get("additionalProperties");
    additional.is_some_and(|it| it.is_object()) && !schema.contains_key("properties")
}

fn is_closed(schema: &Map<String, Value>) -> bool {
    schema.get("items").and_then(Value::as_bool) == Some(false)
}

/// Returns true if a schema names a type.
fn has_type(schema: &Map<String, Value>, wanted: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(one)) => one == wanted,
        Some(Value::Array(several)) => several.iter().any(|one| one == wanted),
        _ => false,
    }
}

/// A walk through a schema.
struct Walk<'w> {
    map: &'w RouteMap,
    root: &'w Value,
    kind: Kind,
    /// The references that were followed, each with true if the value was
    /// bounded there. A type that is used in several places is reported once.
    seen: BTreeSet<(String, bool)>,
    found: &'w mut BTreeSet<String>,
}

/// The keywords that combine several schemas for one value.
const COMBINED: [&str; 4] = ["$ref", "allOf", "anyOf", "oneOf"];

impl Walk<'_> {
    /// Records the unbounded places in a value. `is_bounded` is true if an
    /// enclosing schema bounds the same value.
    fn visit(&mut self, schema: &Value, place: &str, is_bounded: bool) {
        let Value::Object(object) = schema else {
            // `true` accepts anything.
            if schema.as_bool() == Some(true) && self.kind == Kind::Text {
                self.note(format!("{place} (anything)"));
            }
            return;
        };
        if object.contains_key("enum") || object.contains_key("const") {
            return;
        }
        let is_bounded = is_bounded || self.bounds(object);
        let is_wanted = self.kind.types().iter().any(|name| has_type(object, name));
        if is_wanted && !is_bounded {
            self.note(place.to_owned());
        }
        if self.kind == Kind::Text && takes_anything(object) && !is_bounded {
            self.note(format!("{place} (anything)"));
        }
        self.visit_combined(object, place, is_bounded);
        self.visit_parts(object, place);
    }

    /// Visits the combined schemas of the same value.
    fn visit_combined(&mut self, object: &Map<String, Value>, place: &str, is_bounded: bool) {
        if let Some(reference) = object.get("$ref").and_then(Value::as_str)
            && self.seen.insert((reference.to_owned(), is_bounded))
            && let Some(target) = referred(&self.map.schemas, self.root, reference)
        {
            self.visit(target, place, is_bounded);
        }
        for name in &COMBINED[1..] {
            for branch in object.get(*name).and_then(Value::as_array).into_iter().flatten() {
                // A branch without a type adds to the schema around it.
                let says_type = branch.get("type").is_some()
                    || COMBINED.iter().any(|name| branch.get(name).is_some());
                if says_type {
                    self.visit(branch, place, is_bounded);
                }
            }
        }
    }

    /// Visits the schemas of the parts of a value.
    fn visit_parts(&mut self, object: &Map<String, Value>, place: &str) {
        let properties = object.get("properties").and_then(Value::as_object);
        for (name, schema) in properties.into_iter().flatten() {
            self.visit(schema, &format!("{place}.{name}"), false);
        }
        // Handlers do not read additional members.
        if let Some(schema) = object.get("additionalProperties").filter(|it| it.is_object()) {
            self.visit(schema, &format!("{place}.*"), false);
        }
        let places = object.get("prefixItems").and_then(Value::as_array);
        for (index, schema) in places.into_iter().flatten().enumerate() {
            self.visit(schema, &format!("{place}[{index}]"), false);
        }
        if let Some(schema) = object.get("items") {
            self.visit(schema, &format!("{place}[]"), false);
        }
    }

    /// Returns true if a schema or one of its combined schemas bounds a value.
    fn bounds(&self, object: &Map<String, Value>) -> bool {
        let branches = |name: &str| object.get(name).and_then(Value::as_array);
        let bounds = |branch: &Value| match branch {
            Value::Object(branch) => {
                let is_other = branch.contains_key("type")
                    && !self.kind.types().iter().any(|name| has_type(branch, name));
                is_other || self.kind.is_bounded_by(branch)
            }
            _ => false,
        };
        self.kind.is_bounded_by(object)
            || branches("allOf").is_some_and(|all| all.iter().any(bounds))
            || ["anyOf", "oneOf"].iter().any(|name| {
                branches(name).is_some_and(|any| !any.is_empty() && any.iter().all(bounds))
            })
    }

    fn note(&mut self, place: String) {
        self.found.insert(place);
    }
}

/// Returns true for a schema that no keyword restricts to a type.
fn takes_anything(object: &Map<String, Value>) -> bool {
    let is_open_object = || {
        has_type(object, "object")
            && !object.contains_key("properties")
            && object.get("additionalProperties").is_none_or(|it| it.as_bool() == Some(true))
    };
    let names = ["type", "enum", "const"].iter().chain(&COMBINED);
    names.copied().all(|name| !object.contains_key(name)) || is_open_object()
}
