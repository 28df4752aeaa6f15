//! `routes!`: read ([`parse`]), checked ([`check`]) and written as calls of the
//! builder ([`expand`]).

mod check;
mod expand;
mod parse;
#[cfg(test)]
mod tests;
mod tree;

use proc_macro2::TokenStream;

use crate::paths::CratePath;

/// Returns the expansion: an expression that gives a `RouteTree`.
pub(crate) fn routes(input: TokenStream) -> TokenStream {
    let (node, mut errors) = parse::parse(input);
    check::check(&node, &mut errors);
    expand::expand(&node, errors, &CratePath::routing())
}
