//! Generates the code that creates a rule.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{Attribute, Expr, Field, Fields, FieldsUnnamed, Lit, LitStr, Type};

use super::case::Case;
use super::field_type::may_be_absent;
use super::keyword::{Keyword, Keywords, Place, Value, doc_text};
use super::presence::FieldPresence;
use super::serde_attribute::{Both, Direction, Serde};
use crate::errors::Errors;
use crate::paths::CratePath;

/// State shared by the functions of the expansion.
pub(crate) struct Writer<'e> {
    pub(crate) root: CratePath,
    pub(crate) errors: &'e mut Errors,
    /// True if the type borrows from its input. serde then cannot read it from
    /// temporary data.
    pub(crate) borrows: bool,
}

/// The rule of a field, with an expression for whether its property may be
/// absent when it is read.
pub(crate) struct FieldRule {
    pub(crate) rule: TokenStream,
    /// The rule for writing, if it differs.
    pub(crate) written: Option<TokenStream>,
    pub(crate) optional: TokenStream,
}

impl FieldRule {
    /// Returns one rule that covers both directions.
    pub(crate) fn in_both(self, root: &TokenStream) -> TokenStream {
        in_both(self.rule, self.written, root)
    }
}

/// Adds the rule for writing to the rule for reading.
pub(crate) fn in_both(
    rule: TokenStream,
    written: Option<TokenStream>,
    root: &TokenStream,
) -> TokenStream {
    match written {
        Some(written) => quote!(#root::Rule::in_replies(#rule, #written)),
        None => rule,
    }
}

impl Writer<'_> {
    /// Returns the rule of a struct, or of a variant's content.
    pub(crate) fn fields(&mut self, fields: &Fields, span: Span, owner: Owner) -> TokenStream {
        match fields {
            Fields::Unit => {
                let root = self.root.at(span);
                quote_spanned!(span=> #root::Rule::kind("null"))
            }
            Fields::Named(fields) => self.object(fields.named.iter(), span, owner),
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                let root = self.root.at(span);
                self.field(&fields.unnamed[0], owner).in_both(&root)
            }
            Fields::Unnamed(fields) => self.tuple(fields, span, owner),
        }
    }

    /// Returns the rule of a tuple that does not have exactly one field.
    fn tuple(&mut self, fields: &FieldsUnnamed, span: Span, owner: Owner) -> TokenStream {
        let (mut read, mut written, mut differs) = (Vec::new(), Vec::new(), false);
        // The number of required elements.
        let mut least = owner.default.then_some(0);
        for field in &fields.unnamed {
            let serde = Serde::read(&field.attrs);
            let skip = serde.skip;
            if skip.read && skip.write {
                continue;
            }
            if serde.skip_if.is_some() && !skip.write {
                let message = "`Schema` cannot describe a tuple with an optional element, because \
                               the next element moves to its position: use named fields";
                self.errors.push(field.span(), message);
            }
            let never_read = owner.never_read || skip.read;
            let rule = self.field(field, Owner { never_read, ..owner });
            differs |= skip.read != skip.write || rule.written.is_some();
            if !skip.write {
                written.push(rule.written.unwrap_or_else(|| rule.rule.clone()));
            }
            if !skip.read {
                if serde.default && least.is_none() {
                    least = Some(read.len());
                }
                read.push(rule.rule);
            }
        }
        let root = self.root.at(span);
        let tuple =
            |rules: &[TokenStream]| quote_spanned!(span=> #root::Rule::tuple([#(#rules),*]));
        let mut rule = tuple(&read);
        if let Some(least) = least.filter(|least| *least < read.len()) {
            rule = quote_spanned!(span=> #root::__private::at_least(#rule, #least));
            // serde always writes all elements.
            differs = true;
        }
        in_both(rule, differs.then(|| tuple(&written)), &root)
    }

    /// Returns the rule of an object with one property for each field.
    pub(crate) fn object<'f>(
        &mut self,
        fields: impl Iterator<Item = &'f Field>,
        span: Span,
        owner: Owner,
    ) -> TokenStream {
        let rule = local(span);
        let mut steps: TokenStream = fields.map(|field| self.property(field, owner)).collect();
        let root = self.root.at(span);
        let mutable = (!steps.is_empty()).then(|| quote!(mut));
        if owner.deny_unknown_fields {
            steps.extend(quote_spanned!(span=> let #rule = #rule.additional_properties(false);));
        }
        quote_spanned! {span=> {
            let #mutable #rule = #root::__private::object();
            #steps
            #rule
        }}
    }

    /// Returns the statements that add a field's property.
    fn property(&mut self, field: &Field, owner: Owner) -> TokenStream {
        let serde = Serde::read(&field.attrs);
        if serde.skip.read && serde.skip.write {
            return TokenStream::new();
        }
        let never_read = owner.never_read || serde.skip.read;
        let FieldRule { rule: field_rule, written, optional } =
            self.field(field, Owner { never_read, ..owner });
        let at = field.span();
        let (rule, root) = (local(at), self.root.at(at));
        let presence = FieldPresence::of(&serde, &field.ty, never_read);
        // Unnamed fields do not reach this function.
        let ident = field.ident.as_ref().map(|name| name.unraw().to_string()).unwrap_or_default();
        let name_in = |direction| serde.field_name(&ident, *owner.case.get(direction), direction);
        let (name, written_name) = (name_in(Direction::Read), name_in(Direction::Write));
        let aliases: Vec<String> =
            serde.aliases.iter().map(LitStr::value).filter(|alias| *alias != name).collect();
        let field_rule = if aliases.is_empty() || never_read || serde.flatten {
            field_rule
        } else {
            quote_spanned!(at=> #root::__private::aliased(#field_rule, [#(#aliases),*]))
        };
        let add = |name: &str, field_rule: &TokenStream, presence: FieldPresence| {
            let path = || presence.path(&root);
            match (presence, serde.flatten) {
                (FieldPresence::Always, true) => quote_spanned! {at=>
                    #root::__private::flatten(&mut #rule, #field_rule);
                },
                (FieldPresence::Always, false) => quote_spanned! {at=>
                    #root::__private::property(&mut #rule, #name, #field_rule, #optional);
                },
                (_, true) => {
                    let path = path();
                    quote_spanned! {at=>
                        #root::__private::flatten_in(&mut #rule, #field_rule, #path);
                    }
                }
                (_, false) => {
                    let path = path();
                    quote_spanned! {at=>
                        #root::__private::property_in(
                            &mut #rule, #name, #field_rule, #optional, #path
                        );
                    }
                }
            }
        };
        if never_read {
            return add(&written_name, written.as_ref().unwrap_or(&field_rule), presence);
        }
        let same_name = serde.flatten || name == written_name;
        if matches!(presence, FieldPresence::ReadOnly) || written.is_none() && same_name {
            return add(&name, &field_rule, presence);
        }
        let read = add(&name, &field_rule, FieldPresence::ReadOnly);
        let written = written.as_ref().unwrap_or(&field_rule);
        [read, add(&written_name, written, presence.written())].into_iter().collect()
    }

    /// Returns the rule of a field, including its keywords.
    pub(crate) fn field(&mut self, field: &Field, owner: Owner) -> FieldRule {
        let serde = Serde::read(&field.attrs);
        let keywords = Keywords::read(&field.attrs, Place::Field, self.errors);
        let (ty, span) = (&field.ty, field.span());
        if !serde.with.read {
            keywords.check_type(ty, self.errors);
        }
        let root = self.root.at(span);
        let rule = base(field, &keywords, serde.with.read, owner.never_read, &root);
        let rule = self.with_keywords(rule, &keywords, &field.attrs);
        let differs = serde.with.read != serde.with.write && !keywords.replaces_rule();
        let written = differs.then(|| {
            let written = base(field, &keywords, serde.with.write, true, &root);
            self.with_keywords(written, &keywords, &field.attrs)
        });
        let excused = serde.default
            || owner.default
            || keywords.get("default").is_some()
            || keywords.has_flag("required");
        let optional = if excused {
            quote!(true)
        } else if keywords.replaces_rule() || serde.with.read {
            let optional = may_be_absent(ty) && !serde.with.read;
            quote!(#optional)
        } else if owner.never_read {
            quote!(false)
        } else {
            quote_spanned!(span=> <#ty as #root::HasSchema>::is_optional())
        };
        FieldRule { rule, written, optional }
    }

    /// Adds keywords and doc comments to a rule.
    pub(crate) fn with_keywords(
        &mut self,
        rule: TokenStream,
        keywords: &Keywords,
        attributes: &[Attribute],
    ) -> TokenStream {
        let span = Span::call_site();
        let this = local(span);
        // A JSON kind describes the type itself, because serde also checks it.
        // The program adds all other keywords.
        let (kinds, added): (Vec<&Keyword>, Vec<&Keyword>) =
            keywords.list.iter().partition(|keyword| is_json_kind(keyword));
        let mut steps = self.steps(&kinds);
        if added.iter().any(|keyword| is_checked(keyword)) {
            let root = self.root.at(span);
            steps.extend(quote!(let #this = #root::__private::typed(#this);));
        }
        steps.extend(self.steps(&added));
        if keywords.get("description").is_none()
            && let Some(text) = doc_text(attributes)
        {
            steps.extend(quote!(let #this = #this.description(#text);));
        }
        let is_deprecated =
            attributes.iter().any(|attribute| attribute.path().is_ident("deprecated"));
        if keywords.get("deprecated").is_none() && is_deprecated {
            steps.extend(quote!(let #this = #this.deprecated();));
        }
        if steps.is_empty() {
            return rule;
        }
        quote!({
            let #this = #rule;
            #steps
            #this
        })
    }

    fn steps(&mut self, list: &[&Keyword]) -> TokenStream {
        let mut steps: TokenStream = list.iter().map(|keyword| self.step(keyword)).collect();
        let examples = list.iter().filter(|keyword| keyword.name == "example");
        let examples: Vec<_> = examples
            .filter_map(|keyword| match &keyword.value {
                Value::Expr(expr) => Some((keyword.name.span(), &**expr)),
                Value::Flag(_) | Value::Keywords(_) => None,
            })
            .collect();
        if let Some((span, _)) = examples.first() {
            let (this, root) = (local(*span), self.root.at(*span));
            let values = examples.iter().map(|(_, value)| json_of(value, &root));
            steps.extend(quote_spanned!(*span=> let #this = #this.examples([#(#values),*]);));
        }
        steps
    }

    /// Returns the statement `let rule = rule.keyword(value);`.
    fn step(&mut self, Keyword { name, value }: &Keyword) -> TokenStream {
        let span = name.span();
        let (this, root) = (local(span), self.root.at(span));
        let call = match value {
            Value::Flag(_) if name == "opaque" || name == "no_reply" => {
                return TokenStream::new();
            }
            Value::Flag(true) => quote_spanned!(span=> #this.#name()),
            Value::Flag(false) => return TokenStream::new(),
            Value::Keywords(list) => {
                let steps = self.steps(&list.iter().collect::<Vec<_>>());
                quote_spanned!(span=> #root::__private::items(#this, |#this| { #steps #this }))
            }
            Value::Expr(expr) => match name.to_string().as_str() {
                "kind" => quote_spanned!(span=> #root::__private::with(#this, "type", #expr)),
                "format" => quote_spanned!(span=> #root::__private::with(#this, "format", #expr)),
                list @ ("values" | "media_types") => {
                    let method = Ident::new(list, span);
                    let list = match &**expr {
                        Expr::Array(array) => {
                            let values = array.elems.iter().map(|value| json_of(value, &root));
                            quote!([#(#values),*])
                        }
                        other => quote!(#other),
                    };
                    quote_spanned!(span=> #this.#method(#list))
                }
                "default" | "constant" if matches!(**expr, Expr::Array(_)) => {
                    let value = json_of(expr, &root);
                    quote_spanned!(span=> #this.#name(#value))
                }
                "with" | "name" | "example" => return TokenStream::new(),
                _ => quote_spanned!(span=> #this.#name(#expr)),
            },
        };
        quote_spanned!(span=> let #this = #call;)
    }

    /// Returns an expression that is true if the property may be absent.
    /// Keywords for its presence are not considered.
    pub(crate) fn is_optional(&self, field: &Field) -> TokenStream {
        // `field` reports the errors.
        let keywords = Keywords::read(&field.attrs, Place::Field, &mut Errors::default());
        let ty = &field.ty;
        if keywords.replaces_rule() {
            let is_optional = may_be_absent(ty);
            return quote!(#is_optional);
        }
        let root = self.root.at(ty.span());
        quote!(<#ty as #root::HasSchema>::is_optional())
    }
}

/// Returns the rule of a field in one direction, without its keywords. `with`
/// is true if a function reads or writes the field.
fn base(
    field: &Field,
    keywords: &Keywords,
    with: bool,
    never_read: bool,
    root: &TokenStream,
) -> TokenStream {
    let (ty, span) = (&field.ty, field.span());
    if let Some(with) = keywords.expr("with") {
        let with = call(with);
        quote_spanned!(span=> #with)
    } else if with || keywords.has_flag("opaque") {
        quote_spanned!(span=> #root::Rule::any())
    } else if never_read {
        write_only(ty, span, root)
    } else {
        quote_spanned!(span=> #root::__private::rule_of::<#ty>())
    }
}

/// Returns the rule of a type that is only written, if it has one.
pub(crate) fn write_only(ty: &Type, span: Span, root: &TokenStream) -> TokenStream {
    quote_spanned! {span=> {
        #[allow(unused_imports)]
        use #root::__private::AnyValue as _;
        #root::__private::WriteOnly::<#ty>::rule()
    }}
}

/// Settings that a type or variant passes to its fields.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Owner {
    pub(crate) case: Both<Case>,
    pub(crate) default: bool,
    pub(crate) deny_unknown_fields: bool,
    /// True if serde reads another type instead. The field types then do not
    /// need a schema.
    pub(crate) never_read: bool,
}

/// Returns true for a kind that is a JSON type.
fn is_json_kind(keyword: &Keyword) -> bool {
    let names = ["string", "number", "boolean", "object", "array", "integer", "null"];
    keyword.name == "kind"
        && matches!(&keyword.value, Value::Expr(expr) if matches!(
            &**expr,
            Expr::Lit(literal) if matches!(
                &literal.lit,
                Lit::Str(name) if names.contains(&name.value().as_str())
            )
        ))
}

/// Returns true for a keyword that checks or changes a value.
fn is_checked(keyword: &Keyword) -> bool {
    let others = [
        "with",
        "opaque",
        "name",
        "no_reply",
        "title",
        "description",
        "deprecated",
        "example",
        "read_only",
        "write_only",
    ];
    others.iter().all(|other| keyword.name != other)
}

/// Returns the JSON value of an expression. List elements are converted one by
/// one, because the list may be empty or contain several types.
fn json_of(expr: &Expr, root: &TokenStream) -> TokenStream {
    match expr {
        Expr::Array(array) => {
            let values = array.elems.iter().map(|value| json_of(value, root));
            quote!(#root::__private::list([#(#values),*]))
        }
        other => quote!(#root::__private::Value::from(#other)),
    }
}

/// Calls a function by its path or quoted path.
pub(crate) fn call(with: &Expr) -> TokenStream {
    if let Expr::Lit(literal) = with
        && let Lit::Str(text) = &literal.lit
        && let Ok(path) = text.parse::<syn::Path>()
    {
        return quote!(#path());
    }
    let span = with.span();
    quote_spanned!(span=> (#with)())
}

/// Returns the variable for the rule. Its span hides it from the caller's code.
fn local(span: Span) -> Ident {
    Ident::new("rule", span.resolved_at(Span::mixed_site()))
}
