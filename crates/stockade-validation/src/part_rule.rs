//! [`PartRule`]: the rules of a schema for one part of `multipart/form-data`.

use serde_json::{Map, Value, json};

use crate::node::{Compiled, Inner, Node};
use crate::{Rule, Schema};

/// The rules of a part that do not concern its value.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PartRule {
    /// The name of the field.
    pub name: String,
    /// The kind of content.
    pub kind: PartKind,
    /// True if several parts may have the name.
    pub is_list: bool,
    /// The maximum content size in bytes; `None` for the limit of the form.
    pub max_bytes: Option<usize>,
    /// The allowed media types of a file; empty allows all.
    pub media_types: Vec<String>,
}

/// The content of a part.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PartKind {
    /// Text, which may represent a number or a boolean.
    Text,
    /// A file that is read before the request handler starts.
    File,
    /// A file that the request handler reads.
    Stream,
}

/// The document keyword for a file that the request handler reads.
const STREAM: &str = "x-stream";

impl Rule {
    /// Creates the rule of a file in `multipart/form-data`. Any value passes,
    /// because the form reader creates it.
    ///
    /// Client generators support `format: binary`. Source: OpenAPI 3.0, section
    /// 4.7.14.2 (considerations for file uploads).
    #[doc(hidden)]
    #[track_caller]
    pub fn file(kind: PartKind) -> Self {
        let mut keywords = json!({ "type": "string", "format": "binary" });
        if kind == PartKind::Stream {
            keywords[STREAM] = true.into();
        }
        Self::any().documented(keywords)
    }
}

impl Schema {
    /// Returns the rules of the form parts that the schema describes.
    #[doc(hidden)]
    #[must_use]
    pub fn part_rules(&self) -> Vec<PartRule> {
        let compiled = self.compiled();
        let Some(root) = compiled.root.resolved(&compiled.definitions) else { return Vec::new() };
        let properties = root.object.as_deref().into_iter().flat_map(|rules| rules.properties());
        let rule = |(name, node): (&str, &Node)| {
            let number = |keyword: &str| node.keywords.get(keyword).and_then(Value::as_u64);
            let listed = node.keywords.get("mediaTypes").and_then(Value::as_array);
            let listed = listed.into_iter().flatten().filter_map(Value::as_str);
            PartRule {
                name: name.to_owned(),
                kind: kind_of(node, compiled),
                is_list: node
                    .resolved(&compiled.definitions)
                    .is_some_and(|node| node.array.is_some()),
                max_bytes: number("maxBytes").and_then(|bytes| usize::try_from(bytes).ok()),
                media_types: listed.map(str::to_owned).collect(),
            }
        };
        properties.map(|property| rule((&property.name, &property.node))).collect()
    }

    /// Returns true if the value contains a file, which only
    /// `multipart/form-data` supports.
    #[doc(hidden)]
    #[must_use]
    pub fn has_files(&self) -> bool {
        let compiled = self.compiled();
        let mut nodes: Vec<&Node> = compiled.definitions.iter().map(|it| &it.node).collect();
        nodes.push(&compiled.root);
        while let Some(node) = nodes.pop() {
            if file_kind(&node.documented).is_some() {
                return true;
            }
            let properties = node.object.as_deref().into_iter().flat_map(|it| it.properties());
            nodes.extend(properties.map(|property| &property.node));
            nodes.extend(node.array.as_deref().and_then(|rules| rules.items.as_ref()));
            if let Some(Inner::Tagged(tagged)) = node.inner.as_deref() {
                nodes.extend(tagged.variants.iter().map(|(_, variant)| variant));
            }
        }
        false
    }
}

fn kind_of(node: &Node, compiled: &Compiled) -> PartKind {
    let kind = |node: &Node| {
        node.resolved(&compiled.definitions).and_then(|node| file_kind(&node.documented))
    };
    let items = node.array.as_deref().and_then(|rules| rules.items.as_ref());
    kind(node).or_else(|| items.and_then(kind)).unwrap_or(PartKind::Text)
}

fn file_kind(documented: &Map<String, Value>) -> Option<PartKind> {
    let is_file = documented.get("format").is_some_and(|format| format == "binary");
    let is_stream = documented.contains_key(STREAM);
    is_file.then_some(if is_stream { PartKind::Stream } else { PartKind::File })
}
