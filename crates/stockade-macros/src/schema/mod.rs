//! `#[derive(Schema)]`.
//!
//! - `serde_attribute`, `case`: the attributes of serde.
//! - `keyword`: `#[schema(…)]`, and its mistakes.
//! - `expand`, `union`: the code that makes the rule.

mod case;
mod expand;
mod field_type;
mod keyword;
mod serde_attribute;
#[cfg(test)]
mod tests;
mod union;

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Data, DeriveInput, Field, Fields, Generics, Type};

use self::expand::{Owner, Writer, call};
use self::keyword::{Keywords, Place};
use self::serde_attribute::Serde;
use crate::errors::Errors;
use crate::paths::CratePath;

/// Returns the expansion: `impl HasSchema`.
pub(crate) fn schema(input: &DeriveInput) -> TokenStream {
    let mut errors = Errors::default();
    let tokens = expand(input, CratePath::validation(), &mut errors);
    let errors = errors.into_tokens();
    quote!(#errors #tokens)
}

fn expand(input: &DeriveInput, root: CratePath, errors: &mut Errors) -> TokenStream {
    for lifetime in input.generics.lifetimes() {
        let message = "a type that borrows has no schema: let its fields own what they hold";
        errors.push(lifetime.lifetime.span(), message);
    }
    if input.generics.lifetimes().next().is_some() {
        return TokenStream::new();
    }
    let serde = Serde::read(&input.attrs);
    let keywords = Keywords::read(&input.attrs, Place::Container, errors);
    let name = &input.ident;
    let span = name.span();
    let mut writer = Writer { root, errors };
    let Some((rule, is_optional)) = whole(&mut writer, input, &serde, &keywords) else {
        return TokenStream::new();
    };
    let rule = writer.with_keywords(rule, &keywords, &input.attrs);

    let root = writer.root.at(span);
    let generics = with_bounds(&input.generics, &root);
    let (parameters, types, bounds) = generics.split_for_impl();
    let is_optional =
        is_optional.map(|is_optional| quote!(fn is_optional() -> bool { #is_optional }));
    let schema_name = keywords.expr("name").map(|name| {
        quote! {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                ::std::borrow::Cow::Borrowed(#name)
            }
        }
    });
    // Not in `rule` itself: there each place would be that of the caller.
    let make = quote_spanned!(span=> let make = || -> #root::Rule { #rule };);
    quote! {
        #[automatically_derived]
        impl #parameters #root::HasSchema for #name #types #bounds {
            fn rule() -> #root::Rule {
                #make
                make()
            }

            fn field_rule() -> #root::Rule {
                #root::Rule::of::<Self>()
            }

            #is_optional
            #schema_name
        }
    }
}

/// Returns the rule of the type, and, if the type itself decides it, whether
/// its property may be absent.
fn whole(
    writer: &mut Writer<'_>,
    input: &DeriveInput,
    serde: &Serde,
    keywords: &Keywords,
) -> Option<(TokenStream, Option<TokenStream>)> {
    let span = input.ident.span();
    if let Data::Union(data) = &input.data {
        let message = "`Schema` can be derived for structs and enums";
        writer.errors.push(data.union_token.span, message);
        return None;
    }
    if let Some(with) = keywords.expr("with") {
        let with = call(with);
        return Some((quote_spanned!(span=> #with), None));
    }
    if let Some(from) = &serde.from {
        let root = writer.root.at(span);
        let rule = quote_spanned!(span=> #root::__private::rule_of::<#from>());
        return Some((rule, None));
    }
    let fields = match &input.data {
        Data::Struct(data) => &data.fields,
        Data::Enum(data) => {
            return Some((union::union(writer, &input.ident, data, serde), None));
        }
        Data::Union(_) => return None,
    };
    if serde.transparent
        && let Some(field) = only_field(fields)
    {
        let is_optional = writer.is_optional(field);
        return Some((writer.field(field, false).rule, Some(is_optional)));
    }
    let owner = Owner {
        case: serde.rename_all,
        default: serde.default,
        deny_unknown_fields: serde.deny_unknown_fields,
    };
    Some((writer.fields(fields, span, owner), None))
}

/// Returns the field that a transparent struct is written as.
fn only_field(fields: &Fields) -> Option<&Field> {
    fields.iter().find(|field| !Serde::read(&field.attrs).skip && !is_phantom(&field.ty))
}

fn is_phantom(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "PhantomData"))
}

/// Adds a bound to each type parameter: it must have a schema.
fn with_bounds(generics: &Generics, root: &TokenStream) -> Generics {
    let mut generics = generics.clone();
    let names: Vec<_> = generics.type_params().map(|parameter| parameter.ident.clone()).collect();
    for name in names {
        if let Ok(bound) = syn::parse2(quote!(#name: #root::HasSchema)) {
            generics.make_where_clause().predicates.push(bound);
        }
    }
    generics
}
