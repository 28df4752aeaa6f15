//! `#[derive(Reply)]`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Data, DeriveInput};

use crate::paths::CratePath;

/// Returns the expansion: `impl Reply` by `json_response`.
pub(crate) fn reply(input: &DeriveInput) -> TokenStream {
    expand(input, &CratePath::core())
}

fn expand(input: &DeriveInput, core: &CratePath) -> TokenStream {
    if let Data::Union(data) = &input.data {
        let message = "`Reply` can be derived for structs and enums";
        return syn::Error::new_spanned(data.union_token, message).to_compile_error();
    }
    let name = &input.ident;
    // The span is the type's name, so that the caret stands there if the type
    // is not `Serialize`.
    let core = core.at(name.span());
    let mut generics = input.generics.clone();
    // Such a type has a schema for some of its parameters alone.
    let is_open = generics.type_params().next().is_some() || generics.lifetimes().next().is_some();
    if is_open {
        let (_, types, _) = input.generics.split_for_impl();
        // `Json<T>` replies if `T: Serialize + HasSchema`, and needs no path to
        // serde.
        let bound = quote!(#core::reply::Json<#name #types>: #core::Reply);
        let bound = syn::parse2(bound);
        if let Ok(bound) = bound {
            generics.make_where_clause().predicates.push(bound);
        }
    }
    let (parameters, types, bounds) = generics.split_for_impl();
    let (body, describe) = if is_open {
        let json = quote_spanned!(name.span()=> #core::reply::Json(self));
        (
            quote_spanned!(name.span()=> #core::Reply::into_response(#json)),
            quote_spanned!(name.span()=> <#core::reply::Json<Self> as #core::Reply>::describe),
        )
    } else {
        (
            quote_spanned!(name.span()=> #core::reply::json_response::<Self>(&self)),
            quote_spanned!(name.span()=> #core::reply::describe_json::<Self>),
        )
    };
    quote! {
        #[automatically_derived]
        impl #parameters #core::Reply for #name #types #bounds {
            fn into_response(
                self,
            ) -> ::core::result::Result<#core::Response, #core::ApiError> {
                #body
            }

            fn describe(doc: &mut #core::RouteDescription) {
                #describe(doc);
            }
        }
    }
}
