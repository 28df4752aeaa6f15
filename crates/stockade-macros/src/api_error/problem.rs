//! Generates problem types and their members.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::LitStr;

use super::input::{Input, MemberField, Variant};
use super::{is_option, match_on};
use crate::errors::Errors;
use crate::paths::CratePath;

/// Returns `let (problem_type, members) = …` if a variant has a problem type.
pub(super) fn read(
    input: &Input<'_>,
    serde_json: Option<&CratePath>,
    errors: &mut Errors,
) -> TokenStream {
    let typed: Vec<_> = input
        .variants
        .iter()
        .filter_map(|variant| Some((variant, variant.problem_type.as_ref()?)))
        .collect();
    if typed.is_empty() {
        return TokenStream::new();
    }
    let mut arms = Vec::new();
    for (variant, uri) in &typed {
        let (mut bound, mut values) = (Vec::new(), Vec::new());
        // Clients never see the members of a 5xx.
        let members = variant.members.iter().filter(|_| variant.status < 500);
        for (index, MemberField { field, name }) in members.enumerate() {
            let Some(serde_json) = serde_json else {
                let message = "`#[member]` requires `serde_json`: add it to the dependencies of \
                               this crate";
                errors.push(field.span, message);
                continue;
            };
            let value = Ident::new(&format!("member{index}"), Span::mixed_site());
            let root = serde_json.at(field.span);
            let to_value = quote_spanned!(field.span=> #root::to_value(#value).ok());
            values.push(if is_option(field.ty) {
                // `null` is an absent `Option`.
                quote!((#name, #to_value.filter(|value| !value.is_null())))
            } else {
                quote!((#name, #to_value))
            });
            bound.push((&field.member, value));
        }
        let bound = bound.iter().map(|(member, value)| (*member, value));
        let pattern = variant.pattern_of(input.name, bound);
        let some = quote!(::core::option::Option::Some(#uri));
        arms.push(quote!(#pattern => (#some, ::std::vec![#(#values),*])));
    }
    let rest = quote!(_ => (::core::option::Option::None, ::std::vec::Vec::new()));
    let rest = (arms.len() < input.variants.len()).then_some(rest);
    let problem = match_on(&quote!(&error), arms.into_iter().chain(rest));
    // The compiler could not infer the type of the values if all variants lack
    // members.
    let has_members = typed.iter().any(|(it, _)| !it.members.is_empty() && it.status < 500);
    let value = if let Some(serde_json) = serde_json.filter(|_| has_members) {
        let root = serde_json.at(Span::call_site());
        quote!(::core::option::Option<#root::Value>)
    } else {
        quote!(::core::option::Option<::core::primitive::bool>)
    };
    quote! {
        let (problem_type, members): (
            ::core::option::Option<&'static ::core::primitive::str>,
            ::std::vec::Vec<(&'static ::core::primitive::str, #value)>,
        ) = #problem;
    }
}

/// Returns the code that adds the problem type and the members to `answer`.
pub(super) fn add() -> TokenStream {
    quote! {
        let answer = match problem_type {
            ::core::option::Option::Some(problem_type) => answer.with_problem_type(problem_type),
            ::core::option::Option::None => answer,
        };
        let answer = members.into_iter().fold(answer, |answer, (name, value)| match value {
            ::core::option::Option::Some(value) => answer.with_member(name, value),
            ::core::option::Option::None => answer,
        });
    }
}

/// Generates the code that describes a variant with a problem type. The tokens
/// have the span of the type, so a configuration error can point to it.
pub(super) fn description(
    variant: &Variant<'_>,
    uri: &LitStr,
    (status, meaning): &(u16, String),
    core: &TokenStream,
) -> TokenStream {
    let members = variant.members.iter().filter(|_| *status < 500).map(|member| {
        let (ty, name) = (member.field.ty, &member.name);
        let method = if is_option(ty) { "optional_member" } else { "member" };
        let method = Ident::new(method, member.field.span);
        quote_spanned!(member.field.span=> .#method::<#ty>(#name))
    });
    let new = quote_spanned!(uri.span()=> #core::description::ProblemDoc::new(#uri));
    quote! {
        doc.responds(
            #core::description::ResponseDoc::error(#status)
                .meaning(#meaning)
                .problem(#new #(#members)*)
        );
    }
}
