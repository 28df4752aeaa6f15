//! Generates the rules of enums.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::{DataEnum, Fields, Ident, Variant};

use super::case::Case;
use super::expand::{Owner, Writer};
use super::keyword::{Keywords, Place};
use super::serde_attribute::{Both, Direction, Serde};

/// An enum for one direction.
#[derive(Clone, Copy)]
pub(crate) struct Enum<'i> {
    pub(crate) name: &'i Ident,
    pub(crate) data: &'i DataEnum,
    pub(crate) serde: &'i Serde,
    pub(crate) direction: Direction,
    /// True if serde reads another type instead.
    pub(crate) never_read: bool,
    /// True if the enum has an integer `repr`. serde may use its numbers.
    pub(crate) numbered: bool,
    /// True if the enum borrows from its input. serde then cannot read it from
    /// temporary data.
    pub(crate) borrows: bool,
}

/// The JSON form of an enum in serde.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Form {
    /// The name of the variant as a string.
    Names,
    /// An object. For some variants, only the name.
    Objects,
    /// Any value, if variants do not have a tag.
    Any,
}

/// Returns the form of an enum according to its serde attributes.
pub(crate) fn form(data: &DataEnum, serde: &Serde) -> Form {
    let has_content = |variant: &Variant| {
        let own = Serde::read(&variant.attrs);
        !own.skip.read && !is_unit(variant, &own, Direction::Read)
    };
    let is_untagged = |variant: &Variant| Serde::read(&variant.attrs).untagged;
    if serde.untagged || data.variants.iter().any(is_untagged) {
        Form::Any
    } else if serde.tag.is_none() && !data.variants.iter().any(has_content) {
        Form::Names
    } else {
        Form::Objects
    }
}

/// Returns true if serde treats the variant as a unit. A tuple variant is a
/// unit if serde skips its only field. A variant with a `with` function is
/// never a unit.
fn is_unit(variant: &Variant, own: &Serde, direction: Direction) -> bool {
    if *own.with.get(direction) {
        return false;
    }
    match &variant.fields {
        Fields::Unit => true,
        Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
            *Serde::read(&fields.unnamed[0].attrs).skip.get(direction)
        }
        Fields::Unnamed(_) | Fields::Named(_) => false,
    }
}

/// Returns true if reading and writing use different forms, apart from the
/// fields of the variants.
pub(crate) fn differs(Enum { data, serde, numbered, .. }: Enum<'_>) -> bool {
    let differs = |variant: &Variant| {
        let own = Serde::read(&variant.attrs);
        let is_written_otherwise = own.has_two_names() || own.skip.read != own.skip.write;
        let is_unit_when_read = is_unit(variant, &own, Direction::Read);
        let has_two_forms = is_unit_when_read != is_unit(variant, &own, Direction::Write);
        let is_skipped_tuple = is_unit_when_read && !matches!(variant.fields, Fields::Unit);
        is_written_otherwise
            || has_two_forms
            || is_skipped_tuple
            || own.with.read != own.with.write
            || own.other
            || !own.aliases.is_empty()
    };
    numbered || serde.has_two_names() || data.variants.iter().any(differs)
}

/// A variant used by serde, with its names.
type Named<'v> = (&'v Variant, Serde, Vec<String>);

/// Returns the rule of an enum in serde's form.
pub(crate) fn union(writer: &mut Writer<'_>, whole: Enum<'_>) -> TokenStream {
    let Enum { name, data, serde, direction, .. } = whole;
    let mut tagged = Vec::new();
    let mut untagged = Vec::new();
    for variant in &data.variants {
        let own = Serde::read(&variant.attrs);
        if *own.skip.get(direction) {
            continue;
        }
        if serde.untagged || own.untagged {
            untagged.push((variant, own));
        } else {
            let names = names(variant, &own, whole);
            tagged.push((variant, own, names));
        }
    }
    if untagged.is_empty() {
        return by_tag(writer, &tagged, whole);
    }
    let span = name.span();
    let root = writer.root.at(span);
    let mut rules = Vec::new();
    // The index of each variant's rule.
    let mut places: Vec<(&Ident, usize)> = Vec::new();
    if !tagged.is_empty() {
        rules.push(by_tag(writer, &tagged, whole));
        places.extend(tagged.iter().map(|(variant, ..)| (&variant.ident, 0)));
    }
    for (variant, own) in &untagged {
        places.push((&variant.ident, rules.len()));
        rules.push(without_tag(writer, variant, own, whole));
    }
    let chosen = chosen(&places, whole, &root);
    quote_spanned!(span=> #root::__private::first_of([#(#rules),*], #chosen))
}

/// Returns the rule of an untagged variant.
fn without_tag(
    writer: &mut Writer<'_>,
    variant: &Variant,
    own: &Serde,
    whole: Enum<'_>,
) -> TokenStream {
    let keywords = Keywords::read(&variant.attrs, Place::Variant, writer.errors);
    let rule = if is_unit(variant, own, whole.direction) {
        let root = writer.root.at(variant.ident.span());
        quote!(#root::Rule::kind("null"))
    } else {
        content(writer, variant, own, whole)
    };
    writer.with_keywords(rule, &keywords, &variant.attrs)
}

/// Returns the function that finds the variant built by serde.
fn chosen(places: &[(&Ident, usize)], whole: Enum<'_>, root: &TokenStream) -> TokenStream {
    let Enum { name, direction, never_read, borrows, .. } = whole;
    if direction == Direction::Write || never_read || borrows {
        return quote!(#root::__private::Chosen::default());
    }
    let span = name.span().resolved_at(Span::mixed_site());
    let arms = places.iter().map(|(variant, place)| quote!(Self::#variant { .. } => #place));
    quote_spanned! {span=> {
        #[allow(unused_imports)]
        use #root::__private::NotChosen as _;
        #root::__private::VariantOf::<Self>::by(|value: &Self| {
            #[allow(unreachable_patterns)]
            match value {
                #(#arms,)*
                _ => ::core::primitive::usize::MAX,
            }
        })
    }}
}

/// Returns the rule of variants that a tag or name distinguishes.
fn by_tag(writer: &mut Writer<'_>, variants: &[Named<'_>], whole: Enum<'_>) -> TokenStream {
    let Enum { name, serde, direction, .. } = whole;
    let span = name.span();
    let root = writer.root.at(span);
    let has_other = direction == Direction::Read && variants.iter().any(|(_, own, _)| own.other);
    let all_units = variants.iter().all(|(variant, own, _)| is_unit(variant, own, direction));
    let rule = match (&serde.tag, &serde.content) {
        (None, _) if all_units => {
            let names = variants.iter().flat_map(|(_, _, names)| names);
            for (variant, ..) in variants {
                // Called only to report errors in the keywords.
                Keywords::read(&variant.attrs, Place::Variant, writer.errors);
            }
            let names = quote!([#(#names),*]);
            return match (has_other, whole.numbered) {
                (true, true) => {
                    quote_spanned!(span=> #root::Rule::kinds(["string", "integer"]))
                }
                (true, false) => quote_spanned!(span=> #root::Rule::kind("string")),
                (false, true) => numbers_of(whole, &names, &root),
                (false, false) => quote_spanned!(span=> #root::__private::names(#names)),
            };
        }
        (None, _) => {
            let pairs = pairs(writer, variants, whole);
            quote_spanned!(span=> #root::__private::variants([#(#pairs),*]))
        }
        (Some(tag), Some(content)) => {
            let pairs = pairs(writer, variants, whole);
            quote_spanned!(span=>
                #root::__private::tagged_content(#tag, #content, [#(#pairs),*])
            )
        }
        (Some(tag), None) => {
            let mut pairs = Vec::new();
            for (variant, own, names) in variants {
                let rule = internal(writer, variant, own, whole);
                pairs.extend(names.iter().map(|name| quote!((#name, #rule))));
            }
            quote_spanned!(span=> #root::__private::tagged(#tag, [#(#pairs),*]))
        }
    };
    let rule =
        if has_other { quote_spanned!(span=> #root::__private::or_other(#rule)) } else { rule };
    if serde.content.is_some() && serde.deny_unknown_fields {
        quote_spanned!(span=> #root::__private::closed(#rule))
    } else {
        rule
    }
}

/// Returns the rule of an enum that serde represents by names or numbers.
fn numbers_of(whole: Enum<'_>, names: &TokenStream, root: &TokenStream) -> TokenStream {
    let span = whole.name.span().resolved_at(Span::mixed_site());
    let variants = whole.data.variants.iter().map(|variant| &variant.ident);
    let first = whole.data.variants.first().map(|variant| &variant.ident);
    let is_written = whole.direction == Direction::Write;
    let numbers = variants.map(|variant| quote_spanned!(span=> Self::#variant as i128));
    quote_spanned! {span=> {
        #[allow(unused_imports)]
        use #root::__private::{NotRead as _, NotWritten as _};
        #root::__private::names_or_numbers(
            #names,
            [#(#numbers),*],
            #root::__private::Reads::<Self>::kinds(),
            #root::__private::Writes::<Self>::kinds(&Self::#first),
            #is_written,
        )
    }}
}

/// Returns the name of a variant. If serde reads the enum, its aliases follow.
fn names(variant: &Variant, own: &Serde, Enum { serde, direction, .. }: Enum<'_>) -> Vec<String> {
    let ident = variant.ident.unraw().to_string();
    let name = own.variant_name(&ident, *serde.rename_all.get(direction), direction);
    // An `other` variant accepts every name that is not the name of another
    // variant, so its aliases are not listed.
    let aliases = own.aliases.iter().filter(|_| direction == Direction::Read && !own.other);
    std::iter::once(name).chain(aliases.map(syn::LitStr::value)).collect()
}

/// Returns each name with the rule of the variant's content.
fn pairs(writer: &mut Writer<'_>, variants: &[Named<'_>], whole: Enum<'_>) -> Vec<TokenStream> {
    let mut pairs = Vec::new();
    for (variant, own, names) in variants {
        let keywords = Keywords::read(&variant.attrs, Place::Variant, writer.errors);
        // For a skipped tuple field, serde writes no content but reads null.
        let reads_null = whole.serde.content.is_some()
            && whole.direction == Direction::Read
            && !matches!(variant.fields, Fields::Unit);
        let content = if is_unit(variant, own, whole.direction) && reads_null {
            let root = writer.root.at(variant.ident.span());
            quote!(::core::option::Option::Some(#root::Rule::kind("null")))
        } else if is_unit(variant, own, whole.direction) {
            quote!(::core::option::Option::None)
        } else {
            let rule = content(writer, variant, own, whole);
            let rule = writer.with_keywords(rule, &keywords, &variant.attrs);
            quote!(::core::option::Option::Some(#rule))
        };
        pairs.extend(names.iter().map(|name| quote!((#name, #content))));
    }
    pairs
}

fn content(
    writer: &mut Writer<'_>,
    variant: &Variant,
    own: &Serde,
    whole: Enum<'_>,
) -> TokenStream {
    let span = variant.ident.span();
    if *own.with.get(whole.direction) {
        let root = writer.root.at(span);
        return quote_spanned!(span=> #root::Rule::any());
    }
    writer.fields(&variant.fields, span, owner(own, whole))
}

/// Returns the rule of a variant as an object. The tag is added later.
fn internal(
    writer: &mut Writer<'_>,
    variant: &Variant,
    own: &Serde,
    whole: Enum<'_>,
) -> TokenStream {
    let span = variant.ident.span();
    let keywords = Keywords::read(&variant.attrs, Place::Variant, writer.errors);
    let rule = match &variant.fields {
        _ if *own.with.get(whole.direction) => content(writer, variant, own, whole),
        _ if is_unit(variant, own, whole.direction) => {
            writer.object(std::iter::empty(), span, owner(own, whole))
        }
        Fields::Unnamed(fields) if fields.unnamed.len() != 1 => {
            let message = "a tuple variant cannot contain the tag: add serde's `content` \
                           attribute to the enum";
            writer.errors.push(span, message);
            writer.object(std::iter::empty(), span, owner(own, whole))
        }
        Fields::Unit | Fields::Named(_) | Fields::Unnamed(_) => {
            content(writer, variant, own, whole)
        }
    };
    writer.with_keywords(rule, &keywords, &variant.attrs)
}

fn owner(own: &Serde, Enum { serde, never_read, .. }: Enum<'_>) -> Owner {
    let case_in = |direction| match *own.rename_all.get(direction) {
        // Names stay unchanged if the attribute is absent.
        Case::AsWritten => serde.rename_all_fields.get(direction).unwrap_or_default(),
        case => case,
    };
    Owner {
        case: Both { read: case_in(Direction::Read), write: case_in(Direction::Write) },
        default: false,
        deny_unknown_fields: serde.deny_unknown_fields,
        never_read: never_read || own.skip.read || own.with.read,
    }
}
