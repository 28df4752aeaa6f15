//! Generates `impl Reply` for `#[derive(Schema)]` if the calling crate has the
//! trait.

use proc_macro2::{Ident, TokenStream};
use quote::quote_spanned;
use syn::Generics;

use crate::paths::CratePath;

/// Returns `impl Reply` for a type: status 200 with the JSON of the value, if
/// the type is `Serialize`. `generics` are the generics of its
/// `impl HasSchema`, and `types` are its arguments.
///
/// The `Serialize` bound starts with `for<'a>`. Otherwise rustc would reject an
/// unsatisfied bound on a type without parameters. A type that is only
/// `Deserialize` therefore compiles, but it is not a reply.
pub(crate) fn reply(
    name: &Ident,
    generics: &Generics,
    types: &TokenStream,
    core: &CratePath,
) -> TokenStream {
    let span = name.span();
    let core = core.at(span);
    let mut generics = generics.clone();
    let bound =
        quote_spanned!(span=> for<'a> #name #types: #core::reply::derive_internals::Serialize);
    if let Ok(bound) = syn::parse2(bound) {
        generics.make_where_clause().predicates.push(bound);
    }
    let (parameters, _, bounds) = generics.split_for_impl();
    // Inlining avoids compiling these methods in a library that never returns
    // the type.
    quote_spanned! {span=>
        #[automatically_derived]
        #[allow(unused_lifetimes)]
        impl #parameters #core::Reply for #name #types #bounds {
            #[inline]
            fn into_response(
                self,
            ) -> ::core::result::Result<#core::Response, #core::ApiError> {
                #core::reply::json_response::<Self>(&self)
            }

            #[inline]
            fn describe(doc: &mut #core::RouteDescription) {
                #core::reply::describe_json::<Self>(doc);
            }
        }
    }
}
