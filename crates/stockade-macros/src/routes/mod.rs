//! `routes!`: parses ([`parse`]) and checks ([`check`]) the tree, and expands
//! it to builder calls ([`expand`]).

mod check;
mod expand;
mod parse;
#[cfg(test)]
mod tests;
mod tree;

use proc_macro2::TokenStream;

use crate::paths::CratePath;

/// Returns the expansion, which evaluates to a `RouteTree`.
pub(crate) fn routes(input: TokenStream) -> TokenStream {
    let (node, mut errors) = parse::parse(input);
    check::check(&node, &mut errors);
    expand::expand(&node, errors, &CratePath::routing())
}
