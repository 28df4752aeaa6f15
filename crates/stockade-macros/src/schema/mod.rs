//! `#[derive(Schema)]`.
//!
//! - `serde_attribute`, `case`: the attributes of serde.
//! - `keyword`: `#[schema(…)]`, and its mistakes.
//! - `expand`, `union`: the code that makes the rule.
//! - `presence`: where a property is read and where it is written.

mod case;
mod expand;
mod field_type;
mod keyword;
mod presence;
mod serde_attribute;
#[cfg(test)]
mod tests;
mod union;

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::{Data, DataEnum, DeriveInput, Field, Fields, Generics, Ident, Type};

use self::expand::{Owner, Writer, call, in_both, write_only};
use self::keyword::{Keywords, Place};
use self::serde_attribute::{Both, Direction, Serde};
use self::union::{Enum, differs, union};
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

            fn is_name_pinned() -> bool {
                true
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
    let root = writer.root.at(span);
    let Both { read, write } = &serde.instead;
    let from = |from| quote_spanned!(span=> #root::__private::rule_of::<#from>());
    let into = |into| write_only(into, span, &root);
    Some(match (read, write) {
        (None, None) => return Some(by_fields(writer, input, serde, false)),
        (Some(read), Some(write)) => {
            let same = quote!(#read).to_string() == quote!(#write).to_string();
            (in_both(from(read), (!same).then(|| into(write)), &root), None)
        }
        (None, Some(write)) => {
            let (rule, is_optional) = by_fields(writer, input, serde, false);
            (in_both(rule, Some(into(write)), &root), is_optional)
        }
        (Some(read), None) => {
            // The fields are not read, so that they may have what a rule cannot.
            let mut errors = Errors::default();
            let mut writer = Writer { root: writer.root.clone(), errors: &mut errors };
            let (written, _) = by_fields(&mut writer, input, serde, true);
            let any = quote_spanned!(span=> #root::Rule::any());
            let written = if errors.is_empty() { written } else { any };
            (in_both(from(read), Some(written), &root), None)
        }
    })
}

/// Returns the rule of the type as its fields or variants make it.
fn by_fields(
    writer: &mut Writer<'_>,
    input: &DeriveInput,
    serde: &Serde,
    never_read: bool,
) -> (TokenStream, Option<TokenStream>) {
    let span = input.ident.span();
    let fields = match &input.data {
        Data::Struct(data) => &data.fields,
        Data::Enum(data) => return (of_enum(writer, &input.ident, data, serde, never_read), None),
        // Refused before.
        Data::Union(_) => return (TokenStream::new(), None),
    };
    let owner = Owner {
        case: serde.rename_all,
        default: serde.default,
        deny_unknown_fields: serde.deny_unknown_fields,
        never_read,
    };
    if serde.transparent
        && let Some(field) = only_field(fields)
    {
        let is_optional = (!never_read).then(|| writer.is_optional(field));
        let owner = Owner { default: false, ..owner };
        return (writer.field(field, owner).in_both(&writer.root.at(span)), is_optional);
    }
    let rule = writer.fields(fields, span, owner);
    let Some(tag) = serde.tag.as_ref().filter(|_| matches!(fields, Fields::Named(_))) else {
        return (rule, None);
    };
    // serde writes the tag of a struct, and reads none.
    let name = serde.struct_name(&input.ident.unraw().to_string());
    let root = writer.root.at(span);
    let tag = quote_spanned!(span=> #root::__private::written_tag(#rule, #tag, #name));
    (tag, None)
}

fn of_enum(
    writer: &mut Writer<'_>,
    name: &Ident,
    data: &DataEnum,
    serde: &Serde,
    never_read: bool,
) -> TokenStream {
    let whole = Enum { name, data, serde, direction: Direction::Read, never_read };
    let written = Enum { direction: Direction::Write, ..whole };
    if never_read {
        return union(writer, written);
    }
    let read = union(writer, whole);
    // Its mistakes are those of the other direction.
    let mut errors = Errors::default();
    let mut writer = Writer { root: writer.root.clone(), errors: &mut errors };
    let root = writer.root.at(name.span());
    in_both(read, differs(data, serde).then(|| union(&mut writer, written)), &root)
}

/// Returns the field that a transparent struct is written as.
fn only_field(fields: &Fields) -> Option<&Field> {
    fields.iter().find(|field| !Serde::read(&field.attrs).skip.read && !is_phantom(&field.ty))
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
