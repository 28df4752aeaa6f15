//! Types with lifetimes. Their schema is implemented for `'static`, because
//! rules do not depend on lifetimes.

use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::Parse;
use syn::{Data, DeriveInput, Field, GenericParam, Generics, WherePredicate};

/// Replaces the lifetime parameters of a type with `'static`. Returns `None`
/// for a type without lifetimes.
pub(super) fn with_static(input: &DeriveInput) -> Option<DeriveInput> {
    let names: Vec<String> =
        input.generics.lifetimes().map(|it| it.lifetime.ident.to_string()).collect();
    if names.is_empty() {
        return None;
    }
    let mut input = input.clone();
    let params = std::mem::take(&mut input.generics.params);
    let owned = params.into_iter().filter(|it| !matches!(it, GenericParam::Lifetime(_)));
    input.generics.params = owned.map(|param| replaced(&param, &names)).collect();
    if let Some(bounds) = &mut input.generics.where_clause {
        let predicates = std::mem::take(&mut bounds.predicates).into_iter();
        let predicates = predicates.filter(|it| !matches!(it, WherePredicate::Lifetime(_)));
        bounds.predicates = predicates.map(|bound| replaced(&bound, &names)).collect();
    }
    let own = |field: &mut Field| field.ty = replaced(&field.ty, &names);
    match &mut input.data {
        Data::Struct(data) => data.fields.iter_mut().for_each(own),
        Data::Enum(data) => {
            data.variants.iter_mut().flat_map(|it| &mut it.fields).for_each(own);
        }
        Data::Union(_) => {}
    }
    Some(input)
}

/// Returns the type arguments for the `impl`.
pub(super) fn arguments(generics: &Generics) -> TokenStream {
    let arguments = generics.params.iter().map(|param| match param {
        GenericParam::Lifetime(_) => quote!('static),
        GenericParam::Type(param) => param.ident.to_token_stream(),
        GenericParam::Const(param) => param.ident.to_token_stream(),
    });
    let arguments: Vec<_> = arguments.collect();
    if arguments.is_empty() { TokenStream::new() } else { quote!(<#(#arguments),*>) }
}

/// Replaces these lifetimes with `'static`.
fn replaced<T: Clone + ToTokens + Parse>(syntax: &T, names: &[String]) -> T {
    let tokens = tokens_of(syntax.to_token_stream(), names);
    // This cannot fail, because the same syntax was parsed before.
    syn::parse2(tokens).unwrap_or_else(|_| syntax.clone())
}

fn tokens_of(tokens: TokenStream, names: &[String]) -> TokenStream {
    let mut is_lifetime = false;
    let replace = |token| {
        let token = match token {
            TokenTree::Ident(name) if is_lifetime && names.contains(&name.to_string()) => {
                TokenTree::Ident(Ident::new("static", name.span()))
            }
            TokenTree::Group(group) => {
                let inner = tokens_of(group.stream(), names);
                let mut replaced = Group::new(group.delimiter(), inner);
                replaced.set_span(group.span());
                TokenTree::Group(replaced)
            }
            token => token,
        };
        is_lifetime = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '\'');
        token
    };
    tokens.into_iter().map(replace).collect()
}
