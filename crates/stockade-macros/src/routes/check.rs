//! Checks a parsed tree.
//!
//! The router also finds these errors when it is built. The macro reports them
//! at compile time and points to their source.

use std::collections::HashMap;
use std::ops::Range;

use proc_macro2::Span;
use quote::ToTokens as _;
use stockade_path::host::HostPattern;
use stockade_path::{Pattern, join};
use syn::{Expr, ExprLit, Lit, LitStr};

use super::tree::{HOST, Item, Method, Node, Route};
use crate::errors::{Errors, first_at};

/// Records every error in `root`.
pub(crate) fn check(root: &Node, errors: &mut Errors) {
    let mut checker = Checker { errors, routes: HashMap::new(), names: HashMap::new() };
    let top =
        TreePosition { path: Some("/".into()), params: Vec::new(), takes_rest: false, host: None };
    checker.node(root, &top);
}

struct Checker<'e> {
    errors: &'e mut Errors,
    /// The method, host and canonical path of every route so far.
    routes: HashMap<(Method, String), Span>,
    names: HashMap<String, Span>,
}

/// The position of a node in the tree.
#[derive(Clone)]
struct TreePosition {
    /// `None` if a path key is malformed, which has already been reported.
    path: Option<String>,
    /// The path parameters so far, each with the span of its key.
    params: Vec<(String, Span)>,
    takes_rest: bool,
    /// The enclosing host and its span.
    host: Option<(String, Span)>,
}

impl Checker<'_> {
    fn node(&mut self, node: &Node, position: &TreePosition) {
        let mut methods: HashMap<Method, Span> = HashMap::new();
        let mut keys: HashMap<String, &LitStr> = HashMap::new();
        let mut settings: HashMap<String, Span> = HashMap::new();
        let position = &self.host(node, position);
        for item in &node.items {
            match item {
                Item::Route(route) => self.route(route, position, &mut methods),
                Item::Segment { key, node } => {
                    let below = self.segment(key, position, &mut keys);
                    self.node(node, &below);
                }
                Item::Setting { key, .. } => {
                    if let Some(first) = settings.insert(key.to_string(), key.span()) {
                        let line = first_at(first);
                        self.errors.push(key.span(), format!("duplicate `{key}`{line}"));
                    }
                }
                Item::Middleware(_) | Item::Spread(_) => {}
            }
        }
    }

    /// Checks a node's host and returns the position with this host.
    fn host(&mut self, node: &Node, position: &TreePosition) -> TreePosition {
        let mut below = position.clone();
        let hosts = node.items.iter().filter_map(|item| match item {
            Item::Setting { key, value } if key == HOST => Some((key, value)),
            _ => None,
        });
        for (key, value) in hosts.take(1) {
            if let Some((_, outer)) = &position.host {
                let line = first_at(*outer);
                self.errors.push(key.span(), format!("hosts cannot be nested{line}"));
            }
            below.host = Some((value.to_token_stream().to_string(), key.span()));
            if let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = value
                && let Err(message) = HostPattern::parse(&text.value())
            {
                self.errors.push(text.span(), message);
            }
        }
        below
    }

    fn segment<'n>(
        &mut self,
        key: &'n LitStr,
        position: &TreePosition,
        keys: &mut HashMap<String, &'n LitStr>,
    ) -> TreePosition {
        let Some(pattern) = self.pattern(key) else {
            return TreePosition { path: None, ..position.clone() };
        };
        let text = key.value();
        if let Some(first) = keys.insert(pattern.canonical(), key) {
            let line = first_at(first.span());
            let message = if first.value() == text {
                format!("duplicate path segment {text:?}{line}")
            } else {
                format!(
                    "the path segment {text:?} matches the same requests as {:?}{line}",
                    first.value()
                )
            };
            self.errors.push(key.span(), message);
        }
        if position.takes_rest && pattern.as_str() != "/" {
            let message = format!("`**` must be the last segment: remove {text:?} below it");
            self.errors.push(key.span(), message);
            return TreePosition { path: None, ..position.clone() };
        }
        let mut below = TreePosition {
            path: position.path.as_ref().map(|path| join(path, &text)),
            params: position.params.clone(),
            takes_rest: position.takes_rest || pattern.as_str().ends_with("/**"),
            host: position.host.clone(),
        };
        for (name, _) in pattern.params() {
            if let Some((_, first)) = position.params.iter().find(|(earlier, _)| earlier == name) {
                let message =
                    format!("duplicate parameter `{name}` in the path{}", first_at(*first));
                self.errors.push(key.span(), message);
                below.path = None;
            }
            below.params.push((name.to_owned(), key.span()));
        }
        below
    }

    fn route(
        &mut self,
        route: &Route,
        position: &TreePosition,
        methods: &mut HashMap<Method, Span>,
    ) {
        if let Some(name) = route.text("name")
            && let Some(first) = self.names.insert(name.value(), name.span())
        {
            let line = first_at(first);
            let message = format!("duplicate route name {:?}{line}", name.value());
            self.errors.push(name.span(), message);
        }
        let method = route.method;
        let (pattern, span) = if route.has("path") {
            let Some(path) = route.text("path") else {
                return;
            };
            (self.pattern(path), path.span())
        } else {
            let span = route.key.span();
            if let Some(first) = methods.insert(method, span) {
                let message = format!("duplicate `{}`{}", method.name(), first_at(first));
                self.errors.push(span, message);
                return;
            }
            (self.whole(position, span), span)
        };
        let Some(pattern) = pattern else {
            return;
        };
        let host = position.host.as_ref().map_or("", |(text, _)| text);
        let key = (method, format!("{host} {}", pattern.canonical()));
        if let Some(first) = self.routes.insert(key, span) {
            let (method, path, line) = (method.name(), pattern.as_str(), first_at(first));
            self.errors.push(span, format!("duplicate route `{method} {path}`{line}"));
        }
    }

    /// Parses the whole path of a node. It can be too long even if each key is
    /// valid.
    fn whole(&mut self, position: &TreePosition, span: Span) -> Option<Pattern> {
        let path = Pattern::parse(position.path.as_ref()?);
        path.map_err(|error| self.errors.push(span, error)).ok()
    }

    /// Parses the path in a literal and records errors.
    fn pattern(&mut self, literal: &LitStr) -> Option<Pattern> {
        match Pattern::parse(&literal.value()) {
            Ok(pattern) => Some(pattern),
            Err(error) => {
                self.errors.push(span_in(literal, error.at()), error);
                None
            }
        }
    }
}

/// Returns the span of the bytes `at` in a literal. Falls back to the whole
/// literal, because stable compilers do not support this yet.
fn span_in(literal: &LitStr, at: Range<usize>) -> Span {
    let token = literal.token();
    let source = token.to_string();
    // Escapes and raw literals are longer in source than their value.
    let plain = source.starts_with('"') && source.len() == literal.value().len() + 2;
    let position = if plain { token.subspan(at.start + 1..at.end + 1) } else { None };
    position.unwrap_or_else(|| literal.span())
}
