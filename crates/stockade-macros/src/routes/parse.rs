//! The parser of `routes!`.
//!
//! An error affects only its item. The parser records it, skips the rest of the
//! item and continues. All errors are therefore reported at once, and editors
//! keep the rest of the tree.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use syn::ext::IdentExt as _;
use syn::parse::discouraged::Speculative as _;
use syn::parse::{ParseStream, Parser as _};
use syn::spanned::Spanned as _;
use syn::{Attribute, Expr, ExprLit, Lit, LitStr, Token, braced, token};

use super::tree::{
    HOST, Item, METHODS, MOUNT, Method, Node, Route, WEB_SOCKET, entry_keys, node_settings,
};
use crate::errors::{Errors, first_at};
use crate::suggest::{closest, did_you_mean};

/// Returns the parsed tree and the errors.
pub(crate) fn parse(input: TokenStream) -> (Node, Errors) {
    let mut errors = Errors::default();
    let parser = |input: ParseStream<'_>| {
        let mut root = Node::default();
        items(input, &mut errors, |input, errors| {
            root.items.extend(item(input, errors)?);
            Ok(())
        });
        Ok(root)
    };
    match parser.parse2(input) {
        Ok(root) => (root, errors),
        Err(error) => {
            errors.keep(error);
            (Node::default(), errors)
        }
    }
}

/// Parses comma-separated items until the end.
fn items(
    input: ParseStream<'_>,
    errors: &mut Errors,
    mut read: impl FnMut(ParseStream<'_>, &mut Errors) -> syn::Result<()>,
) {
    while !input.is_empty() {
        if let Err(error) = read(input, errors) {
            errors.keep(error);
            skip_item(input);
        }
        if input.is_empty() || input.parse::<Token![,]>().is_ok() {
            continue;
        }
        if starts_item(input) {
            errors.keep(input.error("expected `,` before this"));
        } else {
            errors.keep(input.error("expected `,`"));
            skip_item(input);
            // A comma follows unless the input ends here.
            let _ = input.parse::<Token![,]>();
        }
    }
}

/// Skips the rest of an item, up to the comma before the next one.
///
/// Other commas can appear in closure parameters or generic arguments.
fn skip_item(input: ParseStream<'_>) {
    let mut whole = true;
    while !input.is_empty() {
        if input.peek(Token![,]) {
            let ahead = input.fork();
            // The comma was already peeked.
            let _ = ahead.parse::<Token![,]>();
            let next = ahead.is_empty() || ahead.peek(Token![#]) || ahead.peek(LitStr);
            if whole || next || starts_item(&ahead) {
                return;
            }
        }
        whole = false;
        if input.parse::<TokenTree>().is_err() {
            return;
        }
    }
}

fn starts_item(input: ParseStream<'_>) -> bool {
    input.peek(Token![..])
        || (input.peek(Ident::peek_any) || input.peek(LitStr))
            && input.peek2(Token![:])
            && !input.peek2(Token![::])
}

/// Parses one item of a node. Returns `None` if its error has already been
/// reported.
fn item(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Option<Item>> {
    for attribute in Attribute::parse_outer(input)? {
        let message = "a tree cannot contain attributes or doc comments: use `//` for comments";
        errors.keep(syn::Error::new_spanned(attribute, message));
    }
    if input.peek(Token![..]) {
        let dots: Token![..] = input.parse()?;
        let tree = value(input, dots.spans[0], "a tree after `..`")?;
        return Ok(Some(Item::Spread(tree)));
    }
    if input.peek(LitStr) {
        return segment(input, errors).map(Some);
    }
    if !input.peek(Ident::peek_any) {
        return Err(input.error(
            "expected a method such as `GET`, a path segment such as \"users\", `middleware` or `..tree`",
        ));
    }
    let key = input.call(Ident::parse_any)?;
    if key == "middleware" {
        colon(input, &key)?;
        return middleware(input, &key).map(Item::Middleware).map(Some);
    }
    if node_settings().iter().any(|setting| key == setting) {
        colon(input, &key)?;
        let value = value(input, key.span(), "a value")?;
        if without_unit(&key, &value, errors) {
            return Ok(None);
        }
        return Ok(Some(Item::Setting { key, value }));
    }
    match Method::of(&key.to_string()) {
        Some(method) => {
            colon(input, &key)?;
            route(input, key, method, errors).map(Box::new).map(Item::Route).map(Some)
        }
        None => Err(unknown_key(&key, input)),
    }
}

fn segment(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Item> {
    let key: LitStr = input.parse()?;
    if !input.peek(Token![:]) {
        let message = format!("expected `: {{ … }}` after the path segment {:?}", key.value());
        return Err(syn::Error::new(key.span(), message));
    }
    input.parse::<Token![:]>()?;
    if !input.peek(token::Brace) {
        let handler = value(input, key.span(), "`{ … }`")?;
        let text = key.value();
        let message = format!(
            "a path segment requires `{{ … }}`: use `{text:?}: {{ GET: … }}` for a handler, \
             `{text:?}: {{ ..… }}` for a tree"
        );
        return Err(syn::Error::new_spanned(handler, message));
    }
    let content;
    braced!(content in input);
    let mut node = Node::default();
    items(&content, errors, |input, errors| {
        node.items.extend(item(input, errors)?);
        Ok(())
    });
    Ok(Item::Segment { key, node })
}

/// Parses the part after `GET:`.
fn route(
    input: ParseStream<'_>,
    key: Ident,
    method: Method,
    errors: &mut Errors,
) -> syn::Result<Route> {
    let mut route =
        Route { method, key, handler: None, middleware: Vec::new(), fields: Vec::new() };
    match braces(input) {
        Some(Braces::Entry) => {
            entry(input, &mut route, errors)?;
            return Ok(route);
        }
        Some(Braces::Tree) => {
            let message = format!(
                "`{0}` expects a handler or an entry, such as `{{ f, … }}`: put path segments \
                 next to `{0}`",
                route.key
            );
            return Err(input.error(message));
        }
        Some(Braces::Block) | None => {}
    }
    route.handler = Some(value(input, route.key.span(), "a handler")?);
    Ok(route)
}

/// The meaning of braces in handler position.
enum Braces {
    Block,
    Entry,
    /// A misplaced tree.
    Tree,
}

fn braces(input: ParseStream<'_>) -> Option<Braces> {
    if !input.peek(token::Brace) {
        return None;
    }
    let ahead = input.fork();
    let read = |ahead: ParseStream<'_>| {
        let content;
        braced!(content in ahead);
        let colon = content.peek2(Token![:]) && !content.peek2(Token![::]);
        let braces = match () {
            () if content.peek(LitStr) && colon => Braces::Tree,
            () if content.is_empty() => Braces::Entry,
            () if content.peek(Ident::peek_any) && colon => Braces::Entry,
            // `{ f, … }` contains route options, because a block cannot have a
            // comma there.
            () if content.parse::<Expr>().is_ok() && content.peek(Token![,]) => Braces::Entry,
            () => Braces::Block,
        };
        Ok::<_, syn::Error>(braces)
    };
    read(&ahead).ok()
}

fn entry(input: ParseStream<'_>, route: &mut Route, errors: &mut Errors) -> syn::Result<()> {
    let content;
    braced!(content in input);
    let mut seen: Vec<Ident> = Vec::new();
    items(&content, errors, |input, errors| {
        if seen.is_empty() && !starts_item(input) && !input.peek(LitStr) {
            // `{ f, … }`.
            seen.push(Ident::new("handler", input.span()));
            route.handler = Some(value(input, input.span(), "a handler")?);
            return Ok(());
        }
        field(input, route, &mut seen, errors)
    });
    if !seen.iter().any(|key| key == "handler") {
        let message = format!(
            "the entry of `{0}` does not have a handler: add it as the first item, as in `{0}: {{ \
             f, … }}`",
            route.key
        );
        errors.push(route.key.span(), message);
    }
    Ok(())
}

fn field(
    input: ParseStream<'_>,
    route: &mut Route,
    seen: &mut Vec<Ident>,
    errors: &mut Errors,
) -> syn::Result<()> {
    if input.peek(LitStr) {
        let message =
            format!("an entry cannot contain path segments: put them next to `{}`", route.key);
        return Err(input.error(message));
    }
    if !input.peek(Ident::peek_any) {
        let keys = entry_keys().join(", ");
        return Err(input.error(format!("expected one of the entry keys {keys}")));
    }
    let key = input.call(Ident::parse_any)?;
    let known = entry_keys();
    if !known.iter().chain(route.method.own_keys()).any(|known| key == known) {
        return Err(unknown_field(&key, route));
    }
    let first = seen.iter().find(|earlier| **earlier == key);
    if let Some(first) = first {
        errors.push(key.span(), format!("duplicate `{key}`{}", first_at(first.span())));
    }
    let again = first.is_some();
    seen.push(key.clone());

    colon(input, &key)?;
    if key == "middleware" {
        route.middleware.extend(middleware(input, &key)?);
        return Ok(());
    }
    let value = value(input, key.span(), "a value")?;
    if again {
        return Ok(());
    }
    if key == "handler" {
        route.handler = Some(value);
    } else if !without_unit(&key, &value, errors) {
        route.fields.push((key, value));
    }
    Ok(())
}

/// Returns true, and reports an error, if a timeout is a plain number.
fn without_unit(key: &Ident, value: &Expr, errors: &mut Errors) -> bool {
    let is_number = matches!(value, Expr::Lit(ExprLit { lit: Lit::Int(_) | Lit::Float(_), .. }));
    let is_error = is_number && key == "timeout";
    if is_error {
        let text = "`timeout` requires a unit: use `std::time::Duration::from_secs(…)`";
        errors.push(value.span(), text);
    }
    is_error
}

/// Parses `[first, second]`, or a single expression.
fn middleware(input: ParseStream<'_>, key: &Ident) -> syn::Result<Vec<Expr>> {
    Ok(match value(input, key.span(), "middleware")? {
        Expr::Array(list) => list.elems.into_iter().collect(),
        single => vec![single],
    })
}

fn colon(input: ParseStream<'_>, key: &Ident) -> syn::Result<()> {
    if input.peek(Token![:]) && !input.peek(Token![::]) {
        input.parse::<Token![:]>()?;
        return Ok(());
    }
    Err(syn::Error::new(key.span(), format!("expected `:` and a value after `{key}`")))
}

/// Parses an expression. A missing expression is reported at `place`.
fn value(input: ParseStream<'_>, place: Span, what: &str) -> syn::Result<Expr> {
    if input.is_empty() || input.peek(Token![,]) {
        return Err(syn::Error::new(place, format!("expected {what}")));
    }
    // Parse a fork first. A failed parse can leave tokens in a group, which
    // would be an error for the whole input.
    let ahead = input.fork();
    let value = ahead.parse().map_err(|error: syn::Error| {
        // The end of the input does not have a span.
        if ahead.is_empty() { syn::Error::new(place, error) } else { error }
    })?;
    input.advance_to(&ahead);
    Ok(value)
}

fn unknown_key(key: &Ident, input: ParseStream<'_>) -> syn::Error {
    let text = key.to_string();
    let message = match text.to_ascii_uppercase().as_str() {
        name @ ("CONNECT" | "TRACE" | "QUERY") => format!(
            "a tree cannot contain `{name}`: use the router's `route` method, or one of {}",
            METHODS.join(", "),
        ),
        "HANDLER" => "`handler` belongs in an entry: `GET: { f, … }`".to_owned(),
        _ if entry_keys().contains(&text.as_str()) => {
            format!("`{text}` belongs in an entry: `GET: {{ f, {text}: … }}`")
        }
        _ => {
            let settings = node_settings();
            let known = METHODS.into_iter().chain(["middleware"]).chain(settings.iter().copied());
            let near = closest(&text, known.clone());
            if near.is_none() && input.peek(Token![:]) && input.peek2(token::Brace) {
                format!("a path segment must be a string: use `\"{text}\": {{ … }}`")
            } else if near.is_none() {
                format!(
                    "unknown key `{text}`: a tree can contain {}, {WEB_SOCKET}, {MOUNT}, \
                     middleware, {}, path segments in quotes and `..tree`",
                    METHODS.join(", "),
                    settings.join(", "),
                )
            } else {
                format!("unknown key `{text}`{}", did_you_mean(&text, known))
            }
        }
    };
    syn::Error::new(key.span(), message)
}

fn unknown_field(key: &Ident, route: &Route) -> syn::Error {
    let text = key.to_string();
    if Method::of(&text).is_some() {
        let message = format!("an entry cannot contain `{text}`: put it next to `{}`", route.key);
        return syn::Error::new(key.span(), message);
    }
    if text == HOST {
        let message = format!("`{HOST}` is a node key: put it next to `{}`", route.key);
        return syn::Error::new(key.span(), message);
    }
    let known = entry_keys();
    let message = match closest(&text, known.iter().copied()) {
        Some(_) => format!("unknown key `{text}`{}", did_you_mean(&text, known)),
        None => format!("unknown key `{text}`: an entry can contain {}", known.join(", ")),
    };
    syn::Error::new(key.span(), message)
}
