//! Resolves `$ref` within a document: pointers, anchors and `$id`.
//!
//! Source: JSON Schema 2020-12, core, section 8.2; RFC 3986, section 5.2; RFC
//! 6901.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::fmt;
use std::panic::Location;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::notation::Reader;
use crate::depth::exceeds;
use crate::inner::{InnerRule, Key, Reference};
use crate::rule::Rule;

/// The document that contains a schema.
pub(super) struct Document<'v> {
    root: &'v Value,
    /// The copy that references share, created for the first reference.
    shared: OnceCell<Arc<Shared>>,
}

impl<'v> Document<'v> {
    pub(super) fn new(root: &'v Value) -> Self {
        Self { root, shared: OnceCell::new() }
    }

    /// Returns the rule for a reference in the schema at `at`.
    ///
    /// # Errors
    ///
    /// Returns a message if the reference cannot be resolved.
    pub(super) fn refer(
        &self,
        reference: &str,
        at: &str,
        guess: bool,
        location: &'static Location<'static>,
    ) -> Result<Rule, String> {
        if self.shared.get().is_none() && exceeds(self.root, MAX_NESTED) {
            return Err("the schema is nested too deeply for `$ref`".to_owned());
        }
        let shared = self.shared.get_or_init(|| {
            let root = self.root.clone();
            Arc::new(Shared { root, guess, location, index: OnceLock::new() })
        });
        let pointer = shared.resolve(reference, at)?;
        let name = shared.name(&pointer);
        let key = Key::Document(Arc::as_ptr(shared) as usize, pointer.clone());
        let shared = Arc::clone(shared);
        let reference = Reference::new(key, name, move || shared.rule(&pointer));
        Ok(Rule::at(location).with_inner(InnerRule::Reference(reference)))
    }
}

/// Maximum nesting depth of a document. Documents may be nested more deeply
/// than their schemas, because `properties` adds a level.
const MAX_NESTED: usize = 1_024;

/// A document shared by its references.
struct Shared {
    root: Value,
    guess: bool,
    location: &'static Location<'static>,
    index: OnceLock<Index>,
}

/// The named positions in a document.
#[derive(Default)]
struct Index {
    /// Maps absolute `$id`s to pointers.
    ids: HashMap<String, String>,
    /// Maps the pointer of a resource and an anchor to a pointer.
    anchors: HashMap<(String, String), String>,
}

/// The nearest enclosing schema with an `$id`, or the whole document.
#[derive(Clone)]
struct Resource {
    /// Absolute `$id`. Empty if there is none.
    id: String,
    pointer: String,
}

impl Shared {
    /// Reads the schema at a pointer.
    fn rule(self: &Arc<Self>, pointer: &str) -> Rule {
        let document = Document { root: &self.root, shared: OnceCell::from(Arc::clone(self)) };
        let reader = Reader { location: self.location, guess: self.guess, document: &document };
        match self.root.pointer(pointer) {
            Some(value) => reader.read_at(value, pointer),
            None => Rule::at(self.location),
        }
    }

    /// Resolves a reference in the schema at `at` to a pointer.
    fn resolve(&self, reference: &str, at: &str) -> Result<String, String> {
        let here = self.resource(at);
        let (uri, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let resource = if uri.is_empty() {
            here.pointer
        } else {
            let id = resolve_uri(&here.id, uri);
            if id == self.resource("").id {
                String::new()
            } else {
                let known = self.index().ids.get(&id);
                known.cloned().ok_or("is outside the document: copy it to `$defs`")?
            }
        };
        let fragment = percent_decoded(fragment).ok_or("is not a URI reference")?;
        let pointer = if fragment.is_empty() {
            resource
        } else if fragment.starts_with('/') {
            resource + &fragment
        } else {
            let anchor = self.index().anchors.get(&(resource, fragment));
            anchor.cloned().ok_or("refers to an unknown `$anchor`")?
        };
        match self.root.pointer(&pointer) {
            None => Err("does not exist".to_owned()),
            Some(Value::Object(_) | Value::Bool(_)) => Ok(pointer),
            Some(_) => Err("refers to a value that is not a schema".to_owned()),
        }
    }

    /// Returns the resource that contains the schema at a pointer.
    fn resource(&self, pointer: &str) -> Resource {
        let mut resource = Resource { id: String::new(), pointer: String::new() };
        let ends = pointer.match_indices('/').map(|(end, _)| end).chain([pointer.len()]);
        for end in ends {
            let pointer = &pointer[..end];
            if let Some(id) = self.root.pointer(pointer).and_then(id_of) {
                let id = resolve_uri(&resource.id, id);
                resource = Resource { id, pointer: pointer.to_owned() };
            }
        }
        resource
    }

    fn index(&self) -> &Index {
        self.index.get_or_init(|| {
            let mut index = Index::default();
            index.add(&self.root, "", &Resource { id: String::new(), pointer: String::new() });
            index
        })
    }

    /// Returns the preferred name for the definition at this pointer.
    fn name(&self, pointer: &str) -> String {
        let last = pointer.rsplit('/').next().filter(|name| !name.is_empty());
        let title = self.root.get("title").and_then(Value::as_str).unwrap_or("Root");
        last.map_or_else(|| title.to_owned(), |name| name.replace("~1", "/").replace("~0", "~"))
    }
}

impl Index {
    fn add(&mut self, value: &Value, pointer: &str, resource: &Resource) {
        match value {
            Value::Object(map) => {
                let mut resource = resource.clone();
                if let Some(id) = id_of(value) {
                    let id = resolve_uri(&resource.id, id);
                    self.ids.entry(id.clone()).or_insert_with(|| pointer.to_owned());
                    resource = Resource { id, pointer: pointer.to_owned() };
                }
                for keyword in ["$anchor", "$dynamicAnchor"] {
                    if let Some(anchor) = map.get(keyword).and_then(Value::as_str) {
                        let key = (resource.pointer.clone(), anchor.to_owned());
                        self.anchors.entry(key).or_insert_with(|| pointer.to_owned());
                    }
                }
                // The values of these keywords are data rather than schemas.
                let schemas = map.iter().filter(|(keyword, _)| {
                    !matches!(keyword.as_str(), "enum" | "const" | "default" | "examples")
                });
                for (step, value) in schemas {
                    let mut pointer = pointer.to_owned();
                    push_step(&mut pointer, step);
                    self.add(value, &pointer, &resource);
                }
            }
            Value::Array(items) => {
                for (index, value) in items.iter().enumerate() {
                    self.add(value, &format!("{pointer}/{index}"), resource);
                }
            }
            _ => {}
        }
    }
}

/// Returns the `$id` of a schema without its empty fragment (`#`).
fn id_of(schema: &Value) -> Option<&str> {
    let id = schema.get("$id")?.as_str()?;
    Some(id.strip_suffix('#').unwrap_or(id))
}

/// Resolves a URI reference without a fragment against a base.
fn resolve_uri(base: &str, reference: &str) -> String {
    if scheme_of(reference).is_some() {
        return reference.to_owned();
    }
    let Some(scheme) = scheme_of(base) else {
        // The names are compared unchanged if the base is not absolute.
        return reference.to_owned();
    };
    if reference.starts_with("//") {
        return format!("{scheme}:{reference}");
    }
    let rest = &base[scheme.len() + 1..];
    let authority = rest
        .strip_prefix("//")
        .map_or(0, |after| 2 + after.find(['/', '?']).unwrap_or(after.len()));
    let (authority, path) = rest.split_at(authority);
    let path = path.split('?').next().unwrap_or_default();
    let merged = if reference.starts_with('/') {
        reference.to_owned()
    } else {
        let folder = path.rfind('/').map_or("", |end| &path[..=end]);
        let slash = if folder.is_empty() && !authority.is_empty() { "/" } else { "" };
        format!("{slash}{folder}{reference}")
    };
    format!("{scheme}:{authority}{}", without_dots(&merged))
}

fn scheme_of(uri: &str) -> Option<&str> {
    let (scheme, _) = uri.split_once(':')?;
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    is_scheme.then_some(scheme)
}

/// Removes the segments `.` and `..` from a path.
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let last = path.rsplit('/').next().unwrap_or_default();
    for segment in path.split('/') {
        match segment {
            ".." if kept.len() > 1 => drop(kept.pop()),
            "." | ".." => {}
            segment => kept.push(segment),
        }
    }
    if matches!(last, "." | "..") {
        kept.push("");
    }
    kept.join("/")
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (code, after) = rest.split_at_checked(2)?;
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let code = digit(code[0])? * 16 + digit(code[1])?;
        bytes.push(u8::try_from(code).ok()?);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

/// Appends a step to a JSON pointer.
pub(crate) fn push_step(pointer: &mut String, step: &str) {
    pointer.push('/');
    for letter in step.chars() {
        match letter {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            letter => pointer.push(letter),
        }
    }
}

/// A position in a document, stored as a linked list on the stack. It is
/// converted to a pointer only when needed.
#[derive(Clone, Copy)]
pub(super) enum At<'a> {
    Start(&'a str),
    Step(&'a Self, &'a str),
}

impl<'a> At<'a> {
    pub(super) fn step(&'a self, step: &'a str) -> Self {
        Self::Step(self, step)
    }

    fn write(&self, pointer: &mut String) {
        match self {
            Self::Start(start) => pointer.push_str(start),
            Self::Step(parent, step) => {
                parent.write(pointer);
                push_step(pointer, step);
            }
        }
    }

    pub(super) fn pointer(&self) -> String {
        let mut pointer = String::new();
        self.write(&mut pointer);
        pointer
    }
}

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.pointer())
    }
}
