//! Parses the input of `#[derive(ApiError)]`.

use proc_macro2::{Ident, Span};
use stockade_path::problem_type::{self, check_member};
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned as _;
use syn::{Attribute, Data, DeriveInput, Fields, Generics, LitInt, LitStr, Member, Token, Type};

use crate::errors::Errors;

/// The type and its variants. A struct is one variant without a name.
pub(crate) struct Input<'i> {
    pub(crate) name: &'i Ident,
    pub(crate) generics: &'i Generics,
    pub(crate) variants: Vec<Variant<'i>>,
}

pub(crate) struct Variant<'i> {
    /// `None` for a struct.
    pub(crate) variant: Option<&'i Ident>,
    pub(crate) status: u16,
    /// True if the status could be parsed. Otherwise it is 500.
    readable: bool,
    pub(crate) message: Option<LitStr>,
    /// The problem type: `type = "…"`.
    pub(crate) problem_type: Option<LitStr>,
    /// The fields that are members of the body.
    pub(crate) members: Vec<MemberField<'i>>,
    /// The field that provides the response: `#[status(transparent)]`.
    pub(crate) transparent: Option<Field<'i>>,
    pub(crate) fields: Vec<Field<'i>>,
    pub(crate) source: Option<Field<'i>>,
    /// True if the source gets a `From` impl that creates this variant.
    pub(crate) from: bool,
    pub(crate) details: Option<Field<'i>>,
}

#[derive(Clone)]
pub(crate) struct Field<'i> {
    pub(crate) member: Member,
    pub(crate) ty: &'i Type,
    pub(crate) span: Span,
}

/// A field with `#[member]`.
pub(crate) struct MemberField<'i> {
    pub(crate) field: Field<'i>,
    /// The member name in the body.
    pub(crate) name: String,
}

impl Field<'_> {
    /// Returns the name of a field, or its position.
    pub(crate) fn name(&self) -> String {
        match &self.member {
            Member::Named(name) => name.unraw().to_string(),
            Member::Unnamed(index) => index.index.to_string(),
        }
    }
}

impl<'i> Input<'i> {
    /// Parses the type and records errors. Returns `None` if the type is
    /// unusable.
    pub(crate) fn read(input: &'i DeriveInput, errors: &mut Errors) -> Option<Self> {
        let name = &input.ident;
        let variants = match &input.data {
            Data::Struct(data) => {
                vec![Variant::read(None, name, &input.attrs, &data.fields, errors)]
            }
            Data::Enum(data) => {
                for attribute in input.attrs.iter().filter(|attribute| is(attribute, "status")) {
                    let message = "`#[status(…)]` belongs on each variant, not on the enum";
                    errors.keep(syn::Error::new_spanned(attribute, message));
                }
                let read = |variant: &'i syn::Variant| {
                    let name = &variant.ident;
                    Variant::read(Some(name), name, &variant.attrs, &variant.fields, errors)
                };
                data.variants.iter().map(read).collect()
            }
            Data::Union(data) => {
                let message = "`ApiError` can be derived for enums and structs";
                errors.push(data.union_token.span, message);
                return None;
            }
        };
        let read = Self { name, generics: &input.generics, variants };
        if read.has_messages() {
            for variant in read.variants.iter().filter(|variant| variant.lacks_message()) {
                let name = variant.variant.unwrap_or(name);
                let message = format!(
                    "`{name}` does not have a message, but another variant does: add messages to \
                     all variants, as in `#[status({}, \"…\")]`, or to none",
                    variant.status,
                );
                errors.push(name.span(), message);
            }
        }
        Some(read)
    }

    /// Returns true if the derive implements `Display` and `Error`.
    pub(crate) fn has_messages(&self) -> bool {
        self.variants.is_empty() || self.variants.iter().any(|variant| variant.message.is_some())
    }
}

impl<'i> Variant<'i> {
    fn lacks_message(&self) -> bool {
        self.readable && self.message.is_none() && self.transparent.is_none()
    }

    fn read(
        variant: Option<&'i Ident>,
        name: &Ident,
        attributes: &[Attribute],
        fields: &'i Fields,
        errors: &mut Errors,
    ) -> Self {
        let all: Vec<_> = fields
            .members()
            .zip(fields)
            .map(|(member, field)| {
                let span = field.ty.span();
                (Field { member, ty: &field.ty, span }, field.attrs.as_slice())
            })
            .collect();

        let from = marked(&all, "from", errors);
        let source = from.clone().or_else(|| marked(&all, "source", errors)).or_else(|| {
            let mut fields = all.iter().map(|(field, _)| field);
            fields.find(|field| field.name() == "source").cloned()
        });
        if let Some(from) = &from
            && all.len() > 1
        {
            errors.push(from.span, "`#[from]` requires a variant with exactly one field");
        }
        let details = marked(&all, "details", errors);
        let status = status(name, attributes, errors);
        let readable = status.is_some();
        let status = status.unwrap_or(Status::Own { code: 500, message: None, problem_type: None });
        let is_own = matches!(status, Status::Own { .. });
        let members = members(&all, errors);
        let (code, message, problem_type, transparent) = match status {
            Status::Own { code, message, problem_type } => {
                if let (true, None, Some(member)) = (readable, &problem_type, members.first()) {
                    let message = format!(
                        "`#[member]` requires a problem type, which defines the members: use \
                         `#[status({code}, \"…\", type = \"…\")]`"
                    );
                    errors.push(member.field.span, &message);
                }
                (code, message, problem_type, None)
            }
            Status::Transparent(span) => {
                let inner = all.first().map(|(field, _)| field.clone());
                let inner = inner.filter(|_| all.len() == 1);
                if inner.is_none() {
                    errors.push(span, "`transparent` requires a variant with exactly one field");
                }
                if let Some(details) = &details {
                    let message = "`#[details]` cannot be combined with `transparent`: remove one \
                                   of them";
                    errors.push(details.span, message);
                }
                if let Some(member) = members.first() {
                    let message = "`#[member]` cannot be combined with `transparent`: remove one \
                                   of them";
                    errors.push(member.field.span, message);
                }
                (500, None, None, inner)
            }
        };
        Self {
            variant,
            status: code,
            // A transparent variant cannot respond without its field.
            readable: readable && (is_own || transparent.is_some()),
            message,
            problem_type,
            members,
            from: from.is_some() && all.len() == 1,
            source: transparent.clone().or(source),
            transparent,
            details,
            fields: all.into_iter().map(|(field, _)| field).collect(),
        }
    }
}

/// Returns the field with this attribute, if there is one.
fn marked<'i>(
    fields: &[(Field<'i>, &[Attribute])],
    name: &str,
    errors: &mut Errors,
) -> Option<Field<'i>> {
    let mut marked = fields.iter().flat_map(|(field, attributes)| {
        attributes
            .iter()
            .filter(|attribute| is(attribute, name))
            .map(move |attribute| (field, attribute))
    });
    let (first, _) = marked.next()?;
    for (_, again) in marked {
        errors.keep(syn::Error::new_spanned(again, format!("duplicate `#[{name}]`")));
    }
    Some(first.clone())
}

/// Returns the fields with `#[member]` in source order.
fn members<'i>(fields: &[(Field<'i>, &[Attribute])], errors: &mut Errors) -> Vec<MemberField<'i>> {
    let mut members: Vec<MemberField<'i>> = Vec::new();
    for (field, attributes) in fields {
        let mut marks = attributes.iter().filter(|attribute| is(attribute, "member"));
        let Some(mark) = marks.next() else { continue };
        for again in marks {
            errors.keep(syn::Error::new_spanned(again, "duplicate `#[member]`"));
        }
        let name = match member_name(mark, field) {
            Ok(name) => name,
            Err(error) => {
                errors.keep(error);
                continue;
            }
        };
        if members.iter().any(|known| known.name == name) {
            errors.push(field.span, format!("duplicate member name `{name}`"));
        }
        members.push(MemberField { field: field.clone(), name });
    }
    members
}

/// Returns the name of a member: the field's name, or the name in
/// `#[member("orderId")]`.
fn member_name(mark: &Attribute, field: &Field<'_>) -> syn::Result<String> {
    let (name, span) = match (&mark.meta, &field.member) {
        (syn::Meta::Path(_), Member::Named(name)) => (name.unraw().to_string(), name.span()),
        (syn::Meta::Path(_), Member::Unnamed(_)) => {
            let message = "the field does not have a name: add one, as in `#[member(\"sku\")]`";
            return Err(syn::Error::new_spanned(mark, message));
        }
        _ => {
            let literal: LitStr = mark.parse_args().map_err(|error| {
                syn::Error::new(error.span(), "expected a name, as in `#[member(\"sku\")]`")
            })?;
            (literal.value(), literal.span())
        }
    };
    match check_member(&name) {
        Ok(()) => Ok(name),
        Err(reason) => Err(syn::Error::new(span, format!("the member `{name}` {reason}"))),
    }
}

fn is(attribute: &Attribute, name: &str) -> bool {
    attribute.path().is_ident(name)
}

/// The arguments of `#[status(…)]`.
enum Status {
    /// `404`, `404, "no product {id}"` or `404, "no product {id}", type = "no-product"`.
    Own { code: u16, message: Option<LitStr>, problem_type: Option<LitStr> },
    /// `transparent`.
    Transparent(Span),
}

/// Reads `#[status(…)]`.
fn status(name: &Ident, attributes: &[Attribute], errors: &mut Errors) -> Option<Status> {
    let mut attributes = attributes.iter().filter(|attribute| is(attribute, "status"));
    let Some(attribute) = attributes.next() else {
        let message = format!("`{name}` does not have a status: add one, as in `#[status(404)]`");
        errors.push(name.span(), message);
        return None;
    };
    for again in attributes {
        errors.keep(syn::Error::new_spanned(again, "duplicate `#[status(…)]`"));
    }
    attribute.parse_args().map_err(|error| errors.keep(error)).ok()
}

impl Parse for Status {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        const FORM: &str = "expected a status and an optional message, as in `404, \"no product \
                            {id}\"`";
        if let Some(word) = input.call(transparent)? {
            return Ok(Self::Transparent(word));
        }
        if !input.peek(LitInt) {
            return Err(input.error(FORM));
        }
        let literal: LitInt = input.parse()?;
        let code = literal.base10_parse().ok().filter(|code| (400..=599).contains(code));
        let Some(code) = code else {
            let message = format!("expected an error status from 400 to 599, found {literal}");
            return Err(syn::Error::new(literal.span(), message));
        };
        let (mut message, mut problem_type) = (None, None);
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            let is_form = |error: syn::Error| syn::Error::new(error.span(), FORM);
            if input.peek(Token![type]) && problem_type.is_none() {
                input.parse::<Token![type]>()?;
                problem_type = Some(uri(input)?);
            } else if message.is_none() && problem_type.is_none() {
                message = Some(input.parse().map_err(is_form)?);
            } else {
                return Err(input.error(FORM));
            }
        }
        Ok(Self::Own { code, message, problem_type })
    }
}

/// Parses the problem type after `type`.
fn uri(input: ParseStream<'_>) -> syn::Result<LitStr> {
    input.parse::<Token![=]>()?;
    let literal: LitStr = input.parse().map_err(|error: syn::Error| {
        syn::Error::new(
            error.span(),
            "expected a problem type as a string, as in `type = \"sold-out\"`",
        )
    })?;
    match problem_type::check(&literal.value()) {
        Ok(_) => Ok(literal),
        Err(reason) => {
            let message = format!("the problem type {:?} {reason}", literal.value());
            Err(syn::Error::new(literal.span(), message))
        }
    }
}

/// Parses `transparent` if it comes next, and rejects anything after it.
fn transparent(input: ParseStream<'_>) -> syn::Result<Option<Span>> {
    mod word {
        syn::custom_keyword!(transparent);
    }
    if !input.peek(word::transparent) {
        return Ok(None);
    }
    let word: word::transparent = input.parse()?;
    input.parse::<Option<Token![,]>>()?;
    if input.is_empty() {
        return Ok(Some(word.span));
    }
    let message = "`transparent` does not accept other arguments: the field defines the status \
                   and the message";
    Err(input.error(message))
}
