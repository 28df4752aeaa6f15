//! `#[derive(ApiError)]`: parses the input ([`input`]), messages in `format!`
//! syntax ([`message`]) and problem types ([`problem`]), and generates the
//! impls.

mod input;
mod message;
mod problem;
#[cfg(test)]
mod tests;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};
use syn::{DeriveInput, Generics, Member, Type, WherePredicate, parse_quote};

use self::input::{Field, Input, Variant};
use self::message::{Argument, Message, shown};
use crate::errors::Errors;
use crate::paths::CratePath;

/// Returns the expansion: `From<Self> for ApiError`, and `IntoError` if the
/// calling crate has it. A type with messages also gets `Display`, `Error` and
/// `From` impls for its causes.
pub(crate) fn api_error(input: &DeriveInput) -> TokenStream {
    let mut errors = Errors::default();
    let Some(read) = Input::read(input, &mut errors) else {
        return errors.into_tokens();
    };
    let (root, serde_json) = (CratePath::errors(), CratePath::serde_json());
    let mut impls = expand(&read, &root, serde_json.as_ref(), &mut errors);
    if let Some(core) = CratePath::core_if_there() {
        impls.extend(failure(&read, &root, &core));
    }
    let errors = errors.into_tokens();
    quote!(#errors #impls)
}

fn expand(
    input: &Input<'_>,
    root: &CratePath,
    serde_json: Option<&CratePath>,
    errors: &mut Errors,
) -> TokenStream {
    let details = details(input, serde_json, errors);
    let problem = problem::read(input, serde_json, errors);
    let into_api_error = into_api_error(input, root, &details, &problem);
    if !input.has_messages() {
        return into_api_error;
    }
    let display = display(input, errors);
    let error = error(input);
    let causes = input.variants.iter().filter_map(|variant| from_cause(input, variant));
    quote!(#into_api_error #display #error #(#causes)*)
}

fn into_api_error(
    input: &Input<'_>,
    root: &CratePath,
    details: &TokenStream,
    problem: &TokenStream,
) -> TokenStream {
    let (name, span) = (input.name, input.name.span());
    let root = root.at(span);
    let (parameters, types, _) = input.generics.split_for_impl();
    let has_parameters = input.generics.type_params().next().is_some();
    let has_own = input.variants.iter().any(|variant| variant.transparent.is_none());
    let mut bounds: Vec<WherePredicate> = Vec::new();
    // The compiler would check the bound a second time if the type is not
    // generic.
    if has_parameters && has_own {
        bounds.extend(syn::parse2(quote_spanned!(span=> #name #types: __HasText)));
    }
    let inner = input.variants.iter().filter_map(|variant| variant.transparent.as_ref());
    for Field { ty, .. } in inner.filter(|field| mentions_parameter(field.ty, input.generics)) {
        bounds.push(parse_quote!(#ty: ::core::convert::Into<#root::ApiError>));
    }
    let bounds = with_bounds(input.generics, bounds);
    let body = answer(input, details, problem);
    let traits = has_text(&root, has_own);
    quote! {
        const _: () = {
            #traits

            #[automatically_derived]
            impl #parameters ::core::convert::From<#name #types> for #root::ApiError #bounds {
                fn from(error: #name #types) -> Self {
                    #body
                }
            }
        };
    }
}

/// Generates `IntoError`, which uses the `From` conversion.
fn failure(input: &Input<'_>, root: &CratePath, core: &CratePath) -> TokenStream {
    let (name, span) = (input.name, input.name.span());
    let (root, core) = (root.at(span), core.at(span));
    let (parameters, types, _) = input.generics.split_for_impl();
    let mut bounds: Vec<WherePredicate> = Vec::new();
    if input.generics.type_params().next().is_some() {
        bounds.push(parse_quote!(#root::ApiError: ::core::convert::From<#name #types>));
    }
    let bounds = with_bounds(input.generics, bounds);
    let describe = description(input, &core);
    quote! {
        #[automatically_derived]
        impl #parameters #core::reply::IntoError for #name #types #bounds {
            fn into_error_response(self) -> ::core::result::Result<#core::Response, #root::ApiError> {
                ::core::result::Result::Err(::core::convert::From::from(self))
            }

            fn describe(doc: &mut #core::RouteDescription) {
                #describe
            }
        }
    }
}

/// Generates the body of `IntoError::describe`. It describes each variant by
/// its status and message, and each transparent variant by its field.
fn description(input: &Input<'_>, core: &TokenStream) -> TokenStream {
    let mut failures: Vec<(u16, String)> = Vec::new();
    let mut typed = Vec::new();
    for variant in input.variants.iter().filter(|variant| variant.transparent.is_none()) {
        // Clients never see the message of a 5xx.
        let message = variant.message.as_ref().filter(|_| variant.status < 500);
        // A variant without a message gets the standard text of its status.
        let failure = (variant.status, message.map(shown).unwrap_or_default());
        if let Some(uri) = &variant.problem_type {
            typed.push(problem::description(variant, uri, &failure, core));
        } else if !failures.contains(&failure) {
            failures.push(failure);
        }
    }
    let failures = failures.iter().map(|(status, meaning)| quote!((#status, #meaning)));
    let inner = input.variants.iter().filter_map(|variant| variant.transparent.as_ref());
    let inner = inner.map(|Field { ty, .. }| {
        quote! {
            {
                // The second trait supports fields without `IntoError`.
                use #core::reply::into_error_internals::{DescribesFailure as _, DescribesUnknown as _};
                (&#core::reply::into_error_internals::InnerFailure::<#ty>::NEW).describe(doc);
            }
        }
    });
    quote! {
        doc.may_fail(&[#(#failures),*]);
        #(#typed)*
        #(#inner)*
    }
}

/// Generates the body of `From`. A transparent variant uses the `ApiError` of
/// its field. All others use the status, text and details.
fn answer(input: &Input<'_>, details: &TokenStream, problem: &TokenStream) -> TokenStream {
    let (name, span) = (input.name, input.name.span());
    let is_own = |variant: &&Variant<'_>| variant.transparent.is_none();
    let inner = input.variants.iter().filter_map(|variant| {
        let field = variant.transparent.as_ref()?;
        let inner = Ident::new("inner", Span::mixed_site());
        let pattern = variant.pattern(name, Some((&field.member, &inner)));
        Some((pattern, quote_spanned!(field.span=> ::core::convert::Into::into(#inner))))
    });
    let own: Vec<_> = input.variants.iter().filter(is_own).collect();
    if own.is_empty() {
        // This also covers an enum without variants. Code after its `match`
        // would be unreachable.
        let arms = inner.map(|(pattern, answer)| quote!(#pattern => #answer));
        return quote!(match error { #(#arms,)* });
    }
    let own = own.into_iter().map(|variant| {
        let (pattern, status) = (variant.pattern(name, None), variant.status);
        quote!(error @ #pattern => (#status, error))
    });
    let arms = own.chain(inner.map(|(pattern, answer)| quote!(#pattern => return #answer)));
    let answer = quote_spanned!(span=> __answer(status, error));
    let with_details = (!details.is_empty()).then(|| {
        quote! {
            let answer = match details {
                // `null` is an absent `Option`.
                ::core::option::Option::Some(details) if !details.is_null() => {
                    answer.with_details(details)
                }
                _ => answer,
            };
        }
    });
    let with_problem = (!problem.is_empty()).then(problem::add);
    quote! {
        let (status, error): (u16, _) = match error { #(#arms,)* };
        #details
        #problem
        let answer = #answer;
        #with_details
        #with_problem
        answer
    }
}

/// Generates the code that creates the response of a variant that is not
/// transparent. The error message of its bound names the missing trait.
///
/// The names share a scope with the caller's names.
fn has_text(root: &TokenStream, is_used: bool) -> TokenStream {
    if !is_used {
        return TokenStream::new();
    }
    let bounds = quote! {
        ::core::error::Error + ::core::marker::Send + ::core::marker::Sync + 'static
    };
    let note = "add a message to every variant, as in `#[status(404, \"no product {id}\")]`, or \
                implement Display and Error";
    quote! {
        #[diagnostic::on_unimplemented(
            message = "`{Self}` does not have a message for the response",
            label = "not a `std::error::Error` that is Send and Sync",
            note = #note,
        )]
        trait __HasText: #bounds {}
        impl<E: #bounds> __HasText for E {}

        fn __answer<E: __HasText>(status: u16, error: E) -> #root::ApiError {
            let message = ::std::string::ToString::to_string(&error);
            #root::ApiError::new(status, message).with_source(error)
        }
    }
}

/// Returns `let details = …` if a field has `#[details]`.
fn details(input: &Input<'_>, serde_json: Option<&CratePath>, errors: &mut Errors) -> TokenStream {
    let mut arms = Vec::new();
    for variant in &input.variants {
        let Some(field) = &variant.details else {
            continue;
        };
        let Some(serde_json) = serde_json else {
            let message = "`#[details]` requires `serde_json`: add it to the dependencies of this \
                           crate";
            errors.push(field.span, message);
            continue;
        };
        let details = Ident::new("details", Span::mixed_site());
        let pattern = variant.pattern(input.name, Some((&field.member, &details)));
        let root = serde_json.at(field.span);
        let to_value = quote_spanned!(field.span=> #root::to_value(#details));
        arms.push(quote!(#pattern => #to_value.ok()));
    }
    if arms.is_empty() {
        return TokenStream::new();
    }
    let rest =
        (arms.len() < input.variants.len()).then(|| quote!(_ => ::core::option::Option::None));
    let details = match_on(&quote!(&error), arms.into_iter().chain(rest));
    quote!(let details = #details;)
}

fn display(input: &Input<'_>, errors: &mut Errors) -> TokenStream {
    let name = input.name;
    let mut bounds = Vec::new();
    let mut arms = Vec::new();
    for variant in &input.variants {
        if let Some(Field { member, ty, span }) = &variant.transparent {
            let inner = Ident::new("inner", Span::mixed_site());
            let pattern = variant.pattern(name, Some((member, &inner)));
            let f = quote!(f);
            let text = quote_spanned!(*span=> ::core::fmt::Display::fmt(#inner, #f));
            arms.push(quote!(#pattern => #text));
            if mentions_parameter(ty, input.generics) {
                bounds.push(parse_quote!(#ty: ::core::fmt::Display));
            }
            continue;
        }
        let message = variant.message.as_ref();
        let message = message.map(|literal| Message::read(literal, variant, errors));
        let Some(Message { text, arguments }) = message else {
            // Already reported. The arm only lets the rest compile.
            let pattern = variant.pattern(name, None);
            arms.push(quote!(#pattern => f.write_str("")));
            continue;
        };
        let span = text.span().resolved_at(Span::mixed_site());
        let names: Vec<_> =
            (0..arguments.len()).map(|at| format_ident!("argument{at}", span = span)).collect();
        let members = arguments.iter().map(|argument| &argument.field.member);
        let pattern = variant.pattern_of(name, members.zip(&names));
        for Argument { field, traits } in &arguments {
            let ty = field.ty;
            for name in traits.iter().filter(|_| mentions_parameter(ty, input.generics)) {
                let name = Ident::new(name, Span::call_site());
                bounds.push(parse_quote!(#ty: ::core::fmt::#name));
            }
        }
        arms.push(quote!(#pattern => ::core::write!(f, #text #(, #names)*)));
    }
    let (parameters, types, _) = input.generics.split_for_impl();
    let bounds = with_bounds(input.generics, bounds);
    let text = match_on(&quote!(self), arms);
    quote! {
        #[automatically_derived]
        impl #parameters ::core::fmt::Display for #name #types #bounds {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                #text
            }
        }
    }
}

fn error(input: &Input<'_>) -> TokenStream {
    let name = input.name;
    let (parameters, types, _) = input.generics.split_for_impl();
    let mut bounds: Vec<WherePredicate> = Vec::new();
    if input.generics.type_params().next().is_some() {
        bounds.push(parse_quote!(#name #types: ::core::fmt::Debug + ::core::fmt::Display));
    }
    let sources =
        input.variants.iter().filter_map(|variant| Some((variant, variant.source.as_ref()?)));
    for (_, Field { ty, .. }) in sources.clone() {
        if mentions_parameter(ty, input.generics) {
            bounds.push(parse_quote!(#ty: ::core::error::Error + 'static));
        }
    }
    let has_sources = sources.clone().next().is_some();
    let arms = sources.map(|(variant, field)| {
        let source = Ident::new("source", Span::mixed_site());
        let pattern = variant.pattern(name, Some((&field.member, &source)));
        let span = field.span;
        let some = quote!(::core::option::Option::Some);
        if variant.transparent.is_some() {
            // A transparent variant has the text of its field, so it also has
            // the field's causes.
            let cause = quote_spanned!(span=> #source.as_dyn_error().source());
            quote!(#pattern => #cause)
        } else if is_option(field.ty) {
            let cause = quote_spanned!(span=> cause.as_dyn_error());
            quote!(#pattern => match #source { #some(cause) => #some(#cause), _ => ::core::option::Option::None })
        } else {
            let cause = quote_spanned!(span=> #source.as_dyn_error());
            quote!(#pattern => #some(#cause))
        }
    });
    let source = has_sources.then(|| {
        let arms: Vec<_> = arms.collect();
        let rest =
            (arms.len() < input.variants.len()).then(|| quote!(_ => ::core::option::Option::None));
        let source = match_on(&quote!(self), arms.into_iter().chain(rest));
        source_method(&source)
    });
    let bounds = with_bounds(input.generics, bounds);
    let error = quote_spanned!(name.span()=> ::core::error::Error);
    quote! {
        #[automatically_derived]
        impl #parameters #error for #name #types #bounds { #source }
    }
}

/// Generates the method `Error::source`. The trait allows the same call for an
/// error and for a boxed `dyn Error`, which does not implement `Error` itself.
fn source_method(source: &TokenStream) -> TokenStream {
    let dyn_error = quote!(dyn ::core::error::Error + 'static);
    let boxed = [
        quote!(),
        quote!(+ ::core::marker::Send),
        quote!(+ ::core::marker::Send + ::core::marker::Sync),
    ];
    quote! {
        fn source(&self) -> ::core::option::Option<&(#dyn_error)> {
            trait AsDynError {
                fn as_dyn_error(&self) -> &(#dyn_error);
            }
            impl<E: ::core::error::Error + 'static> AsDynError for E {
                fn as_dyn_error(&self) -> &(#dyn_error) { self }
            }
            #(impl AsDynError for dyn ::core::error::Error #boxed + 'static {
                fn as_dyn_error(&self) -> &(#dyn_error) { self }
            })*
            #source
        }
    }
}

fn from_cause(input: &Input<'_>, variant: &Variant<'_>) -> Option<TokenStream> {
    let field = variant.source.as_ref().filter(|_| variant.from)?;
    let (name, ty, member) = (input.name, field.ty, &field.member);
    let (parameters, types, bounds) = input.generics.split_for_impl();
    let path = variant.path(name);
    Some(quote! {
        #[automatically_derived]
        impl #parameters ::core::convert::From<#ty> for #name #types #bounds {
            fn from(cause: #ty) -> Self {
                #path { #member: cause }
            }
        }
    })
}

/// Generates a `match` that also supports an enum without variants.
fn match_on(value: &TokenStream, arms: impl IntoIterator<Item = TokenStream>) -> TokenStream {
    let mut arms = arms.into_iter().peekable();
    if arms.peek().is_none() {
        return quote!(match *#value {});
    }
    quote!(match #value { #(#arms,)* })
}

/// Adds predicates to the type's where clause.
fn with_bounds(
    generics: &Generics,
    more: impl IntoIterator<Item = WherePredicate>,
) -> Option<syn::WhereClause> {
    let mut generics = generics.clone();
    generics.make_where_clause().predicates.extend(more);
    generics.where_clause.filter(|bounds| !bounds.predicates.is_empty())
}

fn mentions_parameter(ty: &Type, generics: &Generics) -> bool {
    let mentions = |word: &Ident| generics.type_params().any(|parameter| parameter.ident == *word);
    any_word(quote!(#ty), &mentions)
}

fn any_word(tokens: TokenStream, wanted: &impl Fn(&Ident) -> bool) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(word) => wanted(&word),
        TokenTree::Group(group) => any_word(group.stream(), wanted),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

fn is_option(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Option"))
}

impl Variant<'_> {
    /// Returns `Enum::Variant`, or the struct name.
    fn path(&self, name: &Ident) -> TokenStream {
        let variant = self.variant.map(|variant| quote!(::#variant));
        quote!(#name #variant)
    }

    /// Returns a pattern that binds one named or unnamed field, or none.
    fn pattern(&self, name: &Ident, field: Option<(&Member, &Ident)>) -> TokenStream {
        self.pattern_of(name, field)
    }

    fn pattern_of<'f>(
        &self,
        name: &Ident,
        fields: impl IntoIterator<Item = (&'f Member, &'f Ident)>,
    ) -> TokenStream {
        let path = self.path(name);
        let fields = fields.into_iter().map(|(member, bound)| quote!(#member: #bound,));
        quote!(#path { #(#fields)* .. })
    }
}
