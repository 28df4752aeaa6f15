//! `#[derive(Schema)]`.
//!
//! - `serde_attribute`, `case`: serde attributes.
//! - `keyword`: `#[schema(…)]` and its errors.
//! - `borrowed`: types with lifetimes.
//! - `expand`, `union`: the code that generates the rule.
//! - `presence`: whether a property is read or written.

mod borrowed;
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
use syn::spanned::Spanned as _;
use syn::{Data, DataEnum, DeriveInput, Field, Fields, GenericArgument, Generics};
use syn::{PathArguments, Type, Variant};
use syn::{parenthesized, token};

use self::expand::{Owner, Writer, call, in_both, write_only};
use self::keyword::{Keywords, Place};
use self::serde_attribute::{Both, Direction, Serde, refuse_later_macros, refuse_unknown};
use self::union::{Enum, differs, union};
use crate::errors::Errors;
use crate::paths::CratePath;
use crate::reply::reply;

/// Returns the expansion: `impl HasSchema`, and `impl Reply` if the calling
/// crate has HTTP.
pub(crate) fn schema(input: &DeriveInput) -> TokenStream {
    let mut errors = Errors::default();
    let core = CratePath::core_if_there();
    let tokens = expand(input, CratePath::validation(), core.as_ref(), &mut errors);
    let errors = errors.into_tokens();
    quote!(#errors #tokens)
}

fn expand(
    input: &DeriveInput,
    root: CratePath,
    core: Option<&CratePath>,
    errors: &mut Errors,
) -> TokenStream {
    let owned = borrowed::with_static(input);
    let types = borrowed::arguments(&input.generics);
    let input = owned.as_ref().unwrap_or(input);
    refuse_foreign(input, errors);
    let serde = Serde::read(&input.attrs);
    let keywords = Keywords::read(&input.attrs, Place::Container, errors);
    let name = &input.ident;
    let span = name.span();
    let mut writer = Writer { root, errors, borrows: owned.is_some() };
    let Some((rule, is_optional)) = whole(&mut writer, input, &serde, &keywords) else {
        return TokenStream::new();
    };
    let rule = writer.with_keywords(rule, &keywords, &input.attrs);

    let root = writer.root.at(span);
    let generics = with_bounds(&input.generics, &root);
    let core = core.filter(|_| !keywords.has_flag("no_reply"));
    let reply = core.map(|core| reply(name, &generics, &types, core));
    let (parameters, _, bounds) = generics.split_for_impl();
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
    // If this were part of `rule`, every location would be the caller's
    // location.
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

        #reply
    }
}

/// Rejects attributes with an unknown effect on the form of the type.
fn refuse_foreign(input: &DeriveInput, errors: &mut Errors) {
    refuse_later_macros(&input.attrs, errors);
    refuse_unknown(&input.attrs, errors);
    let fields = |fields: &Fields, errors: &mut Errors| {
        fields.iter().for_each(|field| refuse_unknown(&field.attrs, errors));
    };
    match &input.data {
        Data::Struct(data) => {
            refuse_early_streams(&data.fields, errors);
            fields(&data.fields, errors);
        }
        Data::Enum(data) => {
            for variant in &data.variants {
                refuse_unknown(&variant.attrs, errors);
                fields(&variant.fields, errors);
            }
        }
        Data::Union(_) => {}
    }
}

/// Reports a `FileStream` that is not the last field. The handler starts at
/// this part of the form, so later parts would arrive too late.
fn refuse_early_streams(fields: &Fields, errors: &mut Errors) {
    let last = fields.len().saturating_sub(1);
    for field in fields.iter().take(last).filter(|field| is_stream(&field.ty)) {
        let message = "a `FileStream` must be the last field: the handler reads it after the \
                       other parts of the form";
        errors.push(field.ty.span(), message);
    }
}

/// Returns true for `FileStream` and `Option<FileStream>`.
fn is_stream(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    let Some(last) = path.path.segments.last() else { return false };
    match &last.arguments {
        PathArguments::AngleBracketed(list) if last.ident == "Option" => {
            list.args.iter().any(|it| matches!(it, GenericArgument::Type(ty) if is_stream(ty)))
        }
        _ => last.ident == "FileStream",
    }
}

/// Returns the rule of the type. If the type itself decides whether its
/// property may be absent, also returns this decision.
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
    let borrows = writer.borrows;
    // `kind` replaces the form that the fields define.
    let is_own = keywords.get("kind").is_none();
    let checked = |(rule, is_optional): (TokenStream, _)| {
        let is_read = is_own && !borrows;
        let rule = if is_read { agreed(rule, input, serde, &root) } else { rule };
        (rule, is_optional)
    };
    Some(match (read, write) {
        (None, None) => return Some(checked(by_fields(writer, input, serde, false))),
        (Some(read), Some(write)) => {
            let same = quote!(#read).to_string() == quote!(#write).to_string();
            (in_both(from(read), (!same).then(|| into(write)), &root), None)
        }
        (None, Some(write)) => {
            let (rule, is_optional) = checked(by_fields(writer, input, serde, false));
            (in_both(rule, Some(into(write)), &root), is_optional)
        }
        (Some(read), None) => {
            // serde does not read these fields, so they may have types that
            // rules cannot describe.
            let mut errors = Errors::default();
            let mut writer = Writer { root: writer.root.clone(), errors: &mut errors, borrows };
            let (written, _) = by_fields(&mut writer, input, serde, true);
            let any = quote_spanned!(span=> #root::Rule::any());
            let written = if errors.is_empty() { written } else { any };
            (in_both(from(read), Some(written), &root), None)
        }
    })
}

/// Compares the rule of a type with the form that serde reads. This happens
/// when the schema is built. Other derives or a handwritten `impl` may use a
/// different form.
fn agreed(
    rule: TokenStream,
    input: &DeriveInput,
    serde: &Serde,
    root: &TokenStream,
) -> TokenStream {
    let span = input.ident.span();
    let kinds = |ty: &TokenStream| {
        quote_spanned! {span=> {
            #[allow(unused_imports)]
            use #root::__private::NotRead as _;
            #root::__private::Reads::<#ty>::kinds()
        }}
    };
    let described = match &input.data {
        Data::Struct(data) => match &data.fields {
            fields if serde.transparent || is_newtype(fields) => {
                let Some(field) = only_field(fields) else { return rule };
                let own = Serde::read(&field.attrs);
                let keywords = Keywords::read(&field.attrs, Place::Field, &mut Errors::default());
                let is_replaced = keywords.replaces_rule() || keywords.get("kind").is_some();
                if own.with.read || is_replaced {
                    return rule;
                }
                let ty = &field.ty;
                kinds(&quote!(#ty))
            }
            Fields::Named(_) => quote!(#root::__private::Kinds::OBJECT),
            Fields::Unnamed(_) => quote!(#root::__private::Kinds::ARRAY),
            Fields::Unit => quote!(#root::__private::Kinds::NULL),
        },
        Data::Enum(data) => match union::form(data, serde) {
            // The rule already follows serde.
            union::Form::Names if is_numbered(input) => return rule,
            union::Form::Names => quote!(#root::__private::Kinds::STRING),
            union::Form::Objects => quote!(#root::__private::Kinds::OBJECT),
            union::Form::Any => return rule,
        },
        Data::Union(_) => return rule,
    };
    let read = kinds(&quote!(Self));
    quote_spanned!(span=> #root::__private::agrees(#rule, #described, #read))
}

/// Returns the rule that the fields or variants define.
fn by_fields(
    writer: &mut Writer<'_>,
    input: &DeriveInput,
    serde: &Serde,
    never_read: bool,
) -> (TokenStream, Option<TokenStream>) {
    let span = input.ident.span();
    let fields = match &input.data {
        Data::Struct(data) => &data.fields,
        Data::Enum(data) => return (of_enum(writer, input, data, serde, never_read), None),
        // Already rejected.
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
    // serde writes the tag of a struct but does not read it.
    let name = serde.struct_name(&input.ident.unraw().to_string());
    let root = writer.root.at(span);
    let tag = quote_spanned!(span=> #root::__private::written_tag(#rule, #tag, #name));
    (tag, None)
}

fn of_enum(
    writer: &mut Writer<'_>,
    input: &DeriveInput,
    data: &DataEnum,
    serde: &Serde,
    never_read: bool,
) -> TokenStream {
    let (name, numbered) = (&input.ident, is_numbered(input));
    let borrows = writer.borrows;
    let direction = Direction::Read;
    let whole = Enum { name, data, serde, direction, never_read, numbered, borrows };
    let written = Enum { direction: Direction::Write, ..whole };
    if never_read {
        return union(writer, written);
    }
    let read = union(writer, whole);
    // The other direction reports the same errors.
    let mut errors = Errors::default();
    let mut writer = Writer { root: writer.root.clone(), errors: &mut errors, borrows };
    let root = writer.root.at(name.span());
    in_both(read, differs(whole).then(|| union(&mut writer, written)), &root)
}

/// Returns true for an enum without fields that has an integer `repr`. The
/// `serde_repr` derives read and write its number.
fn is_numbered(input: &DeriveInput) -> bool {
    let Data::Enum(data) = &input.data else { return false };
    let is_unit = |variant: &Variant| matches!(variant.fields, Fields::Unit);
    let mut has_integer = false;
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("repr")) {
        // The compiler reports an invalid `repr`.
        let _ = attribute.parse_nested_meta(|meta| {
            let name = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
            has_integer |= INTEGERS.contains(&name.as_str());
            if meta.input.peek(token::Paren) {
                let content;
                parenthesized!(content in meta.input);
                content.parse::<TokenStream>()?;
            }
            Ok(())
        });
    }
    has_integer && !data.variants.is_empty() && data.variants.iter().all(is_unit)
}

const INTEGERS: [&str; 12] =
    ["i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize"];

fn is_newtype(fields: &Fields) -> bool {
    matches!(fields, Fields::Unnamed(fields) if fields.unnamed.len() == 1)
}

/// Returns the field that represents a transparent struct.
fn only_field(fields: &Fields) -> Option<&Field> {
    fields.iter().find(|field| !Serde::read(&field.attrs).skip.read && !is_phantom(&field.ty))
}

fn is_phantom(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "PhantomData"))
}

/// Requires a schema for each type parameter.
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
