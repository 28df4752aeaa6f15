//! Expansion of the tree to calls of the builder.
//!
//! Every call has the span of its source, with the context of the user's code.
//! So `#[track_caller]` gives the line of the entry and not that of `routes!`,
//! and rustc puts its caret on the handler.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::Expr;
use syn::spanned::Spanned as _;

use super::tree::{Item, Node, Route};
use crate::errors::Errors;
use crate::paths::CratePath;

/// Returns the errors, and the part of the tree that was parsed.
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

/// Makes a call for each, so that each has its own type and its own caret.
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
    let method = Ident::new(route.method.name(), span);
    quote_spanned! {span=>
        .method(#root::Method::#method, #root::RouteEntry::new(#handler) #middleware #fields)
    }
}
