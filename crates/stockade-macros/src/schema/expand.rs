//! The code that makes the rule.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{Attribute, Expr, Field, Fields, Lit};

use super::case::Case;
use super::field_type::may_be_absent;
use super::keyword::{Keyword, Keywords, Place, Value, doc_text};
use super::serde_attribute::Serde;
use crate::errors::Errors;
use crate::paths::CratePath;

/// The state that all functions of the expansion share.
pub(crate) struct Writer<'e> {
    pub(crate) root: CratePath,
    pub(crate) errors: &'e mut Errors,
}

/// The rule of a field, with an expression that tells if its property may be
/// absent.
pub(crate) struct FieldRule {
    pub(crate) rule: TokenStream,
    pub(crate) optional: TokenStream,
}

impl Writer<'_> {
    /// Returns the rule of a struct, or of the content of a variant.
    pub(crate) fn fields(&mut self, fields: &Fields, span: Span, owner: Owner) -> TokenStream {
        match fields {
            Fields::Unit => {
                let root = self.root.at(span);
                quote_spanned!(span=> #root::Rule::kind("null"))
            }
            Fields::Named(fields) => self.object(fields.named.iter(), span, owner),
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                let field = &fields.unnamed[0];
                self.field(field, false).rule
            }
            Fields::Unnamed(fields) => {
                let fields: Vec<&Field> = fields.unnamed.iter().collect();
                let read = fields.into_iter().filter(|field| !Serde::read(&field.attrs).skip);
                let rules: Vec<_> = read.map(|field| self.field(field, false).rule).collect();
                let root = self.root.at(span);
                quote_spanned!(span=> #root::Rule::tuple([#(#rules),*]))
            }
        }
    }

    /// Returns the rule of an object with a property for each field.
    pub(crate) fn object<'f>(
        &mut self,
        fields: impl Iterator<Item = &'f Field>,
        span: Span,
        owner: Owner,
    ) -> TokenStream {
        let rule = local(span);
        let mut steps = TokenStream::new();
        for field in fields {
            let serde = Serde::read(&field.attrs);
            if serde.skip {
                continue;
            }
            if let Some(alias) = serde.aliases.first() {
                self.errors.push(
                    alias.span(),
                    "`alias` is not supported by `Schema`: write one name with `rename`, or wrap \
                     the whole type: `Unchecked<T>`",
                );
            }
            let FieldRule { rule: field_rule, optional } = self.field(field, owner.default);
            let at = field.span();
            let root = self.root.at(at);
            if serde.flatten {
                steps.extend(quote_spanned!(at=> let #rule = #rule.flatten(#field_rule);));
                continue;
            }
            let written = field.ident.as_ref().map(|name| name.unraw().to_string());
            // Fields without names do not come here.
            let name = serde.field_name(&written.unwrap_or_default(), owner.case);
            steps.extend(quote_spanned! {at=>
                let #rule = #root::__private::property(#rule, #name, #field_rule, #optional);
            });
        }
        let root = self.root.at(span);
        let deny = owner
            .deny_unknown_fields
            .then(|| quote_spanned!(span=> let #rule = #rule.additional_properties(false);));
        quote_spanned! {span=> {
            let #rule = #root::__private::object();
            #steps
            #deny
            #rule
        }}
    }

    /// Returns the rule of a field with its keywords.
    pub(crate) fn field(&mut self, field: &Field, owner_default: bool) -> FieldRule {
        let serde = Serde::read(&field.attrs);
        let keywords = Keywords::read(&field.attrs, Place::Field, self.errors);
        let (ty, span) = (&field.ty, field.span());
        let root = self.root.at(span);
        if !serde.with {
            keywords.check_type(ty, self.errors);
        }
        let excused = serde.default
            || owner_default
            || keywords.get("default").is_some()
            || keywords.has_flag("required");
        let (rule, optional) = if let Some(with) = keywords.expr("with") {
            let with = call(with);
            (quote_spanned!(span=> #with), may_be_absent(ty) && !serde.with)
        } else if serde.with || keywords.has_flag("opaque") {
            (quote_spanned!(span=> #root::Rule::any()), may_be_absent(ty) && !serde.with)
        } else {
            let optional = if excused {
                quote!(true)
            } else {
                quote_spanned!(span=> <#ty as #root::HasSchema>::is_optional())
            };
            let rule = quote_spanned!(span=> #root::__private::rule_of::<#ty>());
            let rule = self.with_keywords(rule, &keywords, &field.attrs);
            return FieldRule { rule, optional };
        };
        let rule = self.with_keywords(rule, &keywords, &field.attrs);
        let optional = excused || optional;
        FieldRule { rule, optional: quote!(#optional) }
    }

    /// Makes a rule with the keywords and doc comments of a place.
    pub(crate) fn with_keywords(
        &mut self,
        rule: TokenStream,
        keywords: &Keywords,
        attributes: &[Attribute],
    ) -> TokenStream {
        let mut steps = self.steps(&keywords.list);
        let span = Span::call_site();
        let this = local(span);
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

    fn steps(&mut self, list: &[Keyword]) -> TokenStream {
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
            Value::Flag(_) if name == "opaque" => return TokenStream::new(),
            Value::Flag(true) => quote_spanned!(span=> #this.#name()),
            Value::Flag(false) => return TokenStream::new(),
            Value::Keywords(list) => {
                let steps = self.steps(list);
                quote_spanned!(span=> #root::__private::items(#this, |#this| { #steps #this }))
            }
            Value::Expr(expr) => match name.to_string().as_str() {
                "kind" => quote_spanned!(span=> #root::__private::with(#this, "type", #expr)),
                "format" => quote_spanned!(span=> #root::__private::with(#this, "format", #expr)),
                "one_of" => {
                    let list = match &**expr {
                        Expr::Array(array) => {
                            let values = array.elems.iter().map(|value| json_of(value, &root));
                            quote!([#(#values),*])
                        }
                        other => quote!(#other),
                    };
                    quote_spanned!(span=> #this.one_of(#list))
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

    /// Returns an expression that is true if the property of this field may be
    /// absent, apart from keywords for its presence.
    pub(crate) fn is_optional(&self, field: &Field) -> TokenStream {
        // `field` notes the mistakes.
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

/// The settings of a type or variant that hold for its fields.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Owner {
    pub(crate) case: Case,
    pub(crate) default: bool,
    pub(crate) deny_unknown_fields: bool,
}

/// Returns the value of JSON that an expression stands for. The elements of a
/// list are taken one by one, so that it may be empty, or have elements of
/// several types.
fn json_of(expr: &Expr, root: &TokenStream) -> TokenStream {
    match expr {
        Expr::Array(array) => {
            let values = array.elems.iter().map(|value| json_of(value, root));
            quote!(#root::__private::list([#(#values),*]))
        }
        other => quote!(#root::__private::Value::from(#other)),
    }
}

/// Calls the function that a path, or a path in quotes, names.
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

/// Returns the variable that holds the rule. Its span hides it from the
/// caller's code.
fn local(span: Span) -> Ident {
    Ident::new("rule", span.resolved_at(Span::mixed_site()))
}
