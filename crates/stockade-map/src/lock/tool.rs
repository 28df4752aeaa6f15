//! Routes as tools for AI agents, and the endpoint that offers them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::compare::{Comparison, value_of};
use super::router::origins;
use super::rules::{
    LockRule, MCP_ADDED, MCP_AUTHORIZATION, MCP_LEGACY_OFF, MCP_LEGACY_ON, MCP_REMOVED, MCP_URL,
    TOOL_ADDED, TOOL_ARGUMENT_ADDED, TOOL_ARGUMENT_REMOVED, TOOL_ARGUMENT_RENAMED,
    TOOL_HINT_LOOSER, TOOL_HINT_STRICTER, TOOL_OUTPUT, TOOL_REMOVED, TOOL_RENAMED, TOOL_TEXT,
};
use crate::{McpInfo, ToolArgument, ToolHints, ToolInfo};

/// A tool in a lock. The lock contains its schemas only as the schemas of its
/// route.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ToolLock {
    pub(super) name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    description: String,
    hints: ToolHints,
    /// The part of the request of each argument, such as `path id`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    arguments: BTreeMap<String, String>,
    /// The texts in the schemas, which a model also reads, by their place.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    texts: BTreeMap<String, String>,
    /// True if the result has structured content.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    structured: bool,
}

/// The endpoint of tools in a lock, without its version and its limits.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct McpLock {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    instructions: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    authorization_servers: Vec<String>,
    /// Sorted, because their order does not matter.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    allowed_origins: Vec<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    legacy: bool,
}

impl ToolLock {
    pub(super) fn of(tool: &ToolInfo) -> Self {
        let mut texts = BTreeMap::new();
        add_texts(&tool.input_schema, "input", &mut texts);
        if let Some(schema) = &tool.output_schema {
            add_texts(schema, "output", &mut texts);
        }
        let arguments = tool.arguments.iter();
        Self {
            name: tool.name.clone(),
            title: tool.title.clone(),
            description: tool.description.clone(),
            hints: tool.hints,
            arguments: arguments.map(|it| (it.name.clone(), source_of(it))).collect(),
            texts,
            structured: tool.output_schema.is_some(),
        }
    }
}

impl McpLock {
    pub(super) fn of(mcp: &McpInfo) -> Self {
        let mut allowed_origins = mcp.allowed_origins.clone();
        allowed_origins.sort_unstable();
        Self {
            name: mcp.name.clone(),
            instructions: mcp.instructions.clone(),
            url: mcp.url.clone(),
            authorization_servers: mcp.authorization_servers.clone(),
            allowed_origins,
            legacy: mcp.legacy,
        }
    }
}

/// Returns the part of the request that an argument becomes.
fn source_of(argument: &ToolArgument) -> String {
    let place = value_of(argument.place);
    let place = place.as_str().unwrap_or_default();
    format!("{place} {}", argument.original).trim_end().to_owned()
}

/// The keywords of a schema that a model reads as text.
const TEXTS: [&str; 5] = ["title", "description", "examples", "example", "$comment"];

/// The keywords with values instead of schemas.
const VALUES: [&str; 3] = ["const", "default", "enum"];

/// Adds the texts of a schema and of the schemas in it.
fn add_texts(schema: &Value, at: &str, texts: &mut BTreeMap<String, String>) {
    match schema {
        Value::Object(members) => {
            for (name, member) in members {
                let place = format!("{at}/{name}");
                let is_schema = member.is_object();
                match member {
                    Value::String(text) if TEXTS.contains(&name.as_str()) => {
                        texts.insert(place, text.clone());
                    }
                    value if TEXTS.contains(&name.as_str()) && !is_schema => {
                        texts.insert(place, value.to_string());
                    }
                    _ if VALUES.contains(&name.as_str()) && !is_schema => {}
                    _ => add_texts(member, &place, texts),
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                add_texts(item, &format!("{at}/{index}"), texts);
            }
        }
        _ => {}
    }
}

/// Reports the tool and the endpoint of a new route.
pub(super) fn added(c: &mut Comparison<'_>, tool: Option<&ToolLock>, mcp: Option<&McpLock>) {
    compare(c, None, tool);
    endpoint(c, None, mcp);
}

/// Compares the tool of a route.
pub(super) fn compare(c: &mut Comparison<'_>, old: Option<&ToolLock>, new: Option<&ToolLock>) {
    let (old, new) = match (old, new) {
        (None, None) => return,
        (None, Some(new)) => return c.note(TOOL_ADDED, "tool", Value::Null, &new.name),
        (Some(old), None) => return c.note(TOOL_REMOVED, "tool", &old.name, Value::Null),
        (Some(old), Some(new)) => (old, new),
    };
    if old.name != new.name {
        c.note(TOOL_RENAMED, "tool/name", &old.name, &new.name);
    }
    if old.title != new.title {
        c.note(TOOL_TEXT, "tool/title", &old.title, &new.title);
    }
    if old.description != new.description {
        c.note(TOOL_TEXT, "tool/description", &old.description, &new.description);
    }
    texts(c, &old.texts, &new.texts);
    hints(c, old.hints, new.hints);
    arguments(c, &old.arguments, &new.arguments);
    if old.structured != new.structured {
        c.note(TOOL_OUTPUT, "tool/structured", old.structured, new.structured);
    }
}

/// Compares the texts of the schemas. A new text is also a change, because a
/// model reads it.
fn texts(c: &mut Comparison<'_>, old: &BTreeMap<String, String>, new: &BTreeMap<String, String>) {
    let added = new.keys().filter(|place| !old.contains_key(*place));
    for place in old.keys().chain(added) {
        let (before, after) = (old.get(place), new.get(place));
        if before != after {
            c.note(TOOL_TEXT, format!("tool/texts/{place}"), before, after);
        }
    }
}

fn hints(c: &mut Comparison<'_>, old: ToolHints, new: ToolHints) {
    // Each hint with the value that makes clients less careful.
    let all = [
        ("read_only", old.read_only, new.read_only, true),
        ("destructive", old.destructive, new.destructive, false),
        ("idempotent", old.idempotent, new.idempotent, true),
        ("open_world", old.open_world, new.open_world, false),
    ];
    for (name, before, after, loose) in all {
        if before != after {
            let rule = if after == loose { TOOL_HINT_LOOSER } else { TOOL_HINT_STRICTER };
            c.note(rule, format!("tool/hints/{name}"), before, after);
        }
    }
}

/// Compares the arguments by the part of the request that they become.
fn arguments(
    c: &mut Comparison<'_>,
    old: &BTreeMap<String, String>,
    new: &BTreeMap<String, String>,
) {
    let name_of = |all: &BTreeMap<String, String>, source: &String| {
        all.iter().find(|(_, it)| *it == source).map(|(name, _)| name.clone())
    };
    for (name, source) in old {
        let at = format!("tool/arguments/{name}");
        match name_of(new, source) {
            Some(after) if after == *name => {}
            Some(after) => c.note(TOOL_ARGUMENT_RENAMED, at, name, after),
            None => c.note(TOOL_ARGUMENT_REMOVED, at, source, Value::Null),
        }
    }
    for (name, source) in new {
        if name_of(old, source).is_none() {
            c.note(TOOL_ARGUMENT_ADDED, format!("tool/arguments/{name}"), Value::Null, source);
        }
    }
}

/// Compares the endpoint of tools.
pub(super) fn endpoint(c: &mut Comparison<'_>, old: Option<&McpLock>, new: Option<&McpLock>) {
    let (old, new) = match (old, new) {
        (None, None) => return,
        (None, Some(new)) => return c.note(MCP_ADDED, "mcp", Value::Null, &new.name),
        (Some(old), None) => return c.note(MCP_REMOVED, "mcp", &old.name, Value::Null),
        (Some(old), Some(new)) => (old, new),
    };
    let mut changed = |rule: LockRule, at: &str, before: Value, after: Value| {
        if before != after {
            c.note(rule, at, before, after);
        }
    };
    changed(TOOL_TEXT, "mcp/name", value_of(&old.name), value_of(&new.name));
    let (before, after) = (value_of(&old.instructions), value_of(&new.instructions));
    changed(TOOL_TEXT, "mcp/instructions", before, after);
    changed(MCP_URL, "mcp/url", value_of(&old.url), value_of(&new.url));
    let servers = |mcp: &McpLock| value_of(&mcp.authorization_servers);
    changed(MCP_AUTHORIZATION, "mcp/authorization_servers", servers(old), servers(new));
    if old.legacy != new.legacy {
        let rule = if new.legacy { MCP_LEGACY_ON } else { MCP_LEGACY_OFF };
        c.note(rule, "mcp/legacy", old.legacy, new.legacy);
    }
    origins(c, "mcp/allowed_origins", &old.allowed_origins, &new.allowed_origins);
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use serde_json::json;

    use super::*;
    use crate::lock::Lock;
    use crate::{ArgumentPlace, RouteInfo, RouteMap};

    fn tool() -> ToolInfo {
        let input = json!({
            "type": "object",
            "properties": { "id": { "type": "integer", "description": "The order" } },
        });
        ToolInfo {
            name: "orders_cancel".to_owned(),
            title: Some("Cancel".to_owned()),
            description: "Cancels an order for good.".to_owned(),
            input_schema: input,
            hints: ToolHints::new(false, true, true, true),
            arguments: vec![
                ToolArgument::new("id", ArgumentPlace::Path, "id"),
                ToolArgument::new("tag", ArgumentPlace::Query, "filter[tag]"),
            ],
            ..ToolInfo::default()
        }
    }

    fn mcp() -> McpInfo {
        let mut mcp = McpInfo::new("Shop", "1.0.0");
        mcp.instructions = Some("Ask before you cancel.".to_owned());
        mcp.url = Some("https://api.example.com/mcp".to_owned());
        mcp.authorization_servers = vec!["https://login.example.com".to_owned()];
        mcp.allowed_origins = vec!["https://b.example".to_owned(), "https://a.example".to_owned()];
        mcp.legacy = true;
        mcp
    }

    fn route(method: &str, path: &str) -> RouteInfo {
        RouteInfo { method: method.to_owned(), path: path.to_owned(), ..RouteInfo::default() }
    }

    fn map(tool: Option<ToolInfo>, mcp: Option<McpInfo>) -> RouteMap {
        let mut cancel = route("DELETE", "/orders/:id");
        cancel.tool = tool.map(Box::new);
        let mut endpoint = route("POST", "/mcp");
        endpoint.mcp = mcp.map(Box::new);
        RouteMap { routes: vec![cancel, endpoint], ..RouteMap::default() }
    }

    /// Returns the class of each change, its rule and its place.
    fn changes(old: &RouteMap, new: &RouteMap) -> Vec<String> {
        let lock = |map: &RouteMap| Lock::read(&Lock::of(map).unwrap().to_string()).unwrap();
        let changes = lock(old).changes_to(&lock(new), SystemTime::UNIX_EPOCH);
        changes.iter().map(|it| format!("{}: {} {}", it.rule.class(), it.rule.id, it.at)).collect()
    }

    #[track_caller]
    fn check_tool(change: impl Fn(&mut ToolInfo), forward: &[&str], backward: &[&str]) {
        let mut changed = tool();
        change(&mut changed);
        let (old, new) = (map(Some(tool()), None), map(Some(changed), None));
        assert_eq!(changes(&old, &new), forward);
        assert_eq!(changes(&new, &old), backward);
    }

    #[track_caller]
    fn check_mcp(change: impl Fn(&mut McpInfo), forward: &[&str], backward: &[&str]) {
        let mut changed = mcp();
        change(&mut changed);
        let (old, new) = (map(None, Some(mcp())), map(None, Some(changed)));
        assert_eq!(changes(&old, &new), forward);
        assert_eq!(changes(&new, &old), backward);
    }

    #[test]
    fn reports_new_and_removed_tools() {
        let (without, with) = (map(None, None), map(Some(tool()), Some(mcp())));
        let expected = ["weakening: tool-added tool", "weakening: mcp-added mcp"];
        assert_eq!(changes(&without, &with), expected);
        let expected = ["breaking: tool-removed tool", "breaking: mcp-removed mcp"];
        assert_eq!(changes(&with, &without), expected);
        assert!(changes(&with, &with).is_empty());
        // A new route with a tool, and a removed one.
        let mut less = with.clone();
        less.routes.truncate(1);
        let found = changes(&less, &with);
        assert!(found.contains(&"weakening: mcp-added mcp".to_owned()), "{found:?}");
        assert_eq!(changes(&with, &less), ["breaking: route-removed "]);
    }

    #[test]
    fn a_lock_without_tools_stays_the_same() {
        let text = Lock::of(&map(None, None)).unwrap().to_string();
        assert!(!text.contains("\"tool\"") && !text.contains("\"mcp\""), "{text}");
    }

    #[test]
    fn reports_names_and_texts() {
        let renamed = ["breaking: tool-renamed tool/name"];
        check_tool(|it| it.name = "orders_delete".to_owned(), &renamed, &renamed);
        let text = ["weakening: tool-text-changed tool/description"];
        check_tool(|it| it.description += " Always call it first.", &text, &text);
        let text = ["weakening: tool-text-changed tool/title"];
        check_tool(|it| it.title = None, &text, &text);
        let text = ["weakening: tool-text-changed tool/texts/input/properties/id/description"];
        let change = |it: &mut ToolInfo| {
            it.input_schema["properties"]["id"]["description"] = json!("Any id");
        };
        check_tool(change, &text, &text);
        check_tool(|it| it.input_schema["properties"]["id"] = json!({}), &text, &text);
    }

    #[test]
    fn reports_hints() {
        let check = |hints: [bool; 4], place: &str| {
            let [read_only, destructive, idempotent, open_world] = hints;
            let hints = ToolHints::new(read_only, destructive, idempotent, open_world);
            let looser = format!("weakening: tool-hint-loosened tool/hints/{place}");
            let tighter = format!("compatible: tool-hint-tightened tool/hints/{place}");
            check_tool(|it| it.hints = hints, &[&looser], &[&tighter]);
        };
        check([true, true, true, true], "read_only");
        check([false, false, true, true], "destructive");
        check([false, true, true, false], "open_world");
        let tighter = ["compatible: tool-hint-tightened tool/hints/idempotent"];
        let looser = ["weakening: tool-hint-loosened tool/hints/idempotent"];
        check_tool(|it| it.hints.idempotent = false, &tighter, &looser);
    }

    #[test]
    fn reports_arguments() {
        let renamed = |name: &str| format!("breaking: tool-argument-renamed tool/arguments/{name}");
        let change = |it: &mut ToolInfo| it.arguments[1].name = "label".to_owned();
        check_tool(change, &[&renamed("tag")], &[&renamed("label")]);
        let removed = ["breaking: tool-argument-removed tool/arguments/tag"];
        let added = ["compatible: tool-argument-added tool/arguments/tag"];
        check_tool(|it| it.arguments.truncate(1), &removed, &added);
        let swapped = [
            "breaking: tool-argument-renamed tool/arguments/id",
            "breaking: tool-argument-renamed tool/arguments/tag",
        ];
        let change = |it: &mut ToolInfo| {
            it.arguments[0].name = "tag".to_owned();
            it.arguments[1].name = "id".to_owned();
        };
        check_tool(change, &swapped, &swapped);
        let output = ["breaking: tool-output-changed tool/structured"];
        check_tool(|it| it.output_schema = Some(json!({ "type": "object" })), &output, &output);
    }

    #[test]
    fn reports_the_endpoint() {
        let both =
            |rule: &str, at: &str| format!("breaking, weakening: mcp-{rule}-changed mcp/{at}");
        let url = both("url", "url");
        check_mcp(|it| it.url = None, &[&url], &[&url]);
        let servers = both("authorization", "authorization_servers");
        let change = |it: &mut McpInfo| it.authorization_servers.push("https://x.example".into());
        check_mcp(change, &[&servers], &[&servers]);
        let off = ["breaking: mcp-legacy-disabled mcp/legacy"];
        let on = ["compatible: mcp-legacy-enabled mcp/legacy"];
        check_mcp(|it| it.legacy = false, &off, &on);
        let text = ["weakening: tool-text-changed mcp/instructions"];
        check_mcp(|it| it.instructions = None, &text, &text);
        let added = ["weakening: origin-added mcp/allowed_origins"];
        let removed = ["breaking: origin-removed mcp/allowed_origins"];
        check_mcp(|it| it.allowed_origins.push("https://c.example".into()), &added, &removed);
        check_mcp(|it| it.allowed_origins.reverse(), &[], &[]);
        check_mcp(|it| it.version = "2.0.0".into(), &[], &[]);
        check_mcp(|it| it.max_result = 7, &[], &[]);
    }

    #[test]
    fn finds_texts_and_skips_values() {
        let schema = json!({
            "type": "object",
            "description": "all",
            "properties": {
                "description": { "type": "string", "title": "a", "default": "x", "enum": ["x"] },
                "list": { "anyOf": [{ "examples": ["e"] }, { "type": "null" }] },
                "default": { "type": "string", "description": "b" },
            },
        });
        let mut texts = BTreeMap::new();
        add_texts(&schema, "input", &mut texts);
        let texts: Vec<(&str, &str)> =
            texts.iter().map(|(place, text)| (place.as_str(), text.as_str())).collect();
        let expected = [
            ("input/description", "all"),
            ("input/properties/default/description", "b"),
            ("input/properties/description/title", "a"),
            ("input/properties/list/anyOf/0/examples", "[\"e\"]"),
        ];
        assert_eq!(texts, expected);
    }

    #[test]
    fn an_argument_names_its_source() {
        let text = |place, original: &str| source_of(&ToolArgument::new("a", place, original));
        assert_eq!(text(ArgumentPlace::Path, "id"), "path id");
        assert_eq!(text(ArgumentPlace::BodyField, "new name"), "body-field new name");
        assert_eq!(text(ArgumentPlace::Body, ""), "body");
    }
}
