//! Expands the tree into builder calls.
//!
//! Every call has the span of its source, with the hygiene of the user's code.
//! `#[track_caller]` therefore reports the line of the entry rather than the
//! line of `routes!`, and rustc points to the handler.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::Expr;
use syn::spanned::Spanned as _;

use super::tree::{Item, Node, Route};
use crate::errors::Errors;
use crate::paths::CratePath;

/// Returns the errors and the successfully parsed part of the tree.
pub(crate) fn expand(node: &Node, errors: Errors, routing: &CratePath) -> TokenStream {
    let errors = errors.into_tokens();
    let tree = tree(node, routing, Span::call_site());
    if errors.is_empty() { tree } else { quote!({ #errors #tree }) }
}

fn tree(node: &Node, routing: &CratePath, span: Span) -> TokenStream {
    let root = routing.at(span);
    let calls = node.items.iter().map(|item| match item {
        Item::Middleware(list) => middleware(list),
        Item::Route(route) => method(route, routing),
        Item::Segment { key, node } => {
            let span = key.span();
            let tree = tree(node, routing, span);
            quote_spanned!(span=> .segment(#key, #tree))
        }
        Item::Setting { key, value } => {
            let span = value.span();
            let key = Ident::new(&key.to_string(), span);
            quote_spanned!(span=> .#key(#value))
        }
        Item::Spread(tree) => {
            let span = tree.span();
            quote_spanned!(span=> .spread(#tree))
        }
    });
    let calls: TokenStream = calls.collect();
    let new = quote_spanned!(span=> #root::RouteTree::new());
    quote!(#new #calls)
}

/// Generates a separate call for each middleware, which gives each its own type
/// and span.
fn middleware(list: &[Expr]) -> TokenStream {
    list.iter()
        .map(|middleware| {
            let span = middleware.span();
            quote_spanned!(span=> .middleware(#middleware))
        })
        .collect()
}

fn method(route: &Route, routing: &CratePath) -> TokenStream {
    let Some(handler) = &route.handler else {
        return TokenStream::new();
    };
    let span = route.key.span();
    let root = routing.at(span);
    let middleware = middleware(&route.middleware);
    let fields: TokenStream = route
        .fields
        .iter()
        .map(|(key, value)| {
            let span = value.span();
            let key = Ident::new(&key.to_string(), span);
            quote_spanned!(span=> .#key(#value))
        })
        .collect();
    if route.method.is_web_socket() {
        return quote_spanned! {span=>
            .web_socket(#root::RouteEntry::web_socket(#handler) #middleware #fields)
        };
    }
    if route.method.is_mount() {
        return quote_spanned! {span=>
            .mount(#root::RouteEntry::mount(#handler) #middleware #fields)
        };
    }
    if route.method.is_any() {
        return quote_spanned!(span=> .any(#root::RouteEntry::new(#handler) #middleware #fields));
    }
    let method = Ident::new(route.method.name(), span);
    quote_spanned! {span=>
        .method(#root::Method::#method, #root::RouteEntry::new(#handler) #middleware #fields)
    }
}
