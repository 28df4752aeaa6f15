//! Expands `#[middleware]`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{
    Attribute, GenericArgument, Ident, ItemFn, LitInt, LitStr, PathArguments, ReturnType, Token,
    Type, parenthesized,
};

use crate::errors::Errors;
use crate::paths::CratePath;

/// `may_respond(404, "No such organization")`.
struct MayRespond {
    status: LitInt,
    meaning: LitStr,
}

impl Parse for MayRespond {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let key: Ident = input.parse()?;
        if key != "may_respond" {
            let message = format!("unknown option `{key}`: expected `may_respond(404, \"…\")`");
            return Err(syn::Error::new(key.span(), message));
        }
        let content;
        parenthesized!(content in input);
        let status = content.parse()?;
        content.parse::<Token![,]>()?;
        let meaning = content.parse()?;
        content.parse::<Option<Token![,]>>()?;
        Ok(Self { status, meaning })
    }
}

/// The responses declared by the attribute.
struct Responses {
    list: Vec<MayRespond>,
}

impl Parse for Responses {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let list = Punctuated::<MayRespond, Token![,]>::parse_terminated(input)?;
        Ok(Self { list: list.into_iter().collect() })
    }
}

impl Responses {
    /// Validates each response and returns its status and meaning.
    fn checked(&self, errors: &mut Errors) -> Vec<TokenStream> {
        let mut seen = Vec::new();
        let mut checked = Vec::new();
        for MayRespond { status: literal, meaning } in &self.list {
            match literal.base10_parse::<u16>() {
                Ok(status @ 400..=599) if seen.contains(&status) => {
                    errors.push(literal.span(), format!("duplicate status {status}"));
                }
                Ok(status @ 400..=599) => {
                    seen.push(status);
                    checked.push(quote!((#status, #meaning)));
                }
                _ => errors.push(literal.span(), "expected an error status, 400 to 599"),
            }
        }
        checked
    }
}

/// Returns the expansion: a function without arguments that creates the
/// middleware.
pub(crate) fn middleware(options: TokenStream, item: &TokenStream) -> TokenStream {
    let function = match syn::parse2::<ItemFn>(item.clone()) {
        Ok(function) => function,
        Err(error) => {
            let error = error.into_compile_error();
            return quote!(#error #item);
        }
    };
    let mut errors = Errors::default();
    let responses = syn::parse2::<Responses>(options).unwrap_or_else(|error| {
        errors.keep(error);
        Responses { list: Vec::new() }
    });
    let tokens = expand(&function, &responses, &CratePath::core(), &mut errors);
    let errors = errors.into_tokens();
    quote!(#errors #tokens)
}

fn expand(
    function: &ItemFn,
    responses: &Responses,
    core_path: &CratePath,
    errors: &mut Errors,
) -> TokenStream {
    let name = &function.sig.ident;
    let core = core_path.at(name.span());
    for lifetime in function.sig.generics.lifetimes() {
        let message = "a middleware function cannot have lifetime parameters: remove the lifetime";
        errors.push(lifetime.lifetime.span(), message);
    }
    let checked = responses.checked(errors);
    let describe = match (&checked[..], failure(&function.sig.output)) {
        ([], Some(failure)) => {
            let core = core_path.at(failure.span());
            quote!(<#failure as #core::reply::IntoError>::describe(doc))
        }
        (list, _) => quote!(doc.may_fail(&[#(#list),*])),
    };
    let (outer, inner): (Vec<_>, Vec<_>) = function.attrs.iter().partition(|it| is_outer(it));
    let ItemFn { vis, block, .. } = function;
    let signature = &function.sig;
    let (parameters, types, bounds) = signature.generics.split_for_impl();
    let types = types.as_turbofish();
    let make = quote_spanned!(name.span()=> #core::Middleware::new(#name #types));
    quote! {
        #(#outer)*
        #[must_use]
        #vis fn #name #parameters () -> #core::Middleware #bounds {
            #(#inner)*
            #signature #block
            #make
                .at_path(::core::concat!(::core::module_path!(), "::", ::core::stringify!(#name)))
                .describing(|doc: &mut #core::RouteDescription| #describe)
        }
    }
}

/// Returns true for attributes that belong on the function that creates the
/// middleware.
fn is_outer(attribute: &Attribute) -> bool {
    const OUTER: [&str; 7] = ["doc", "cfg", "deprecated", "allow", "expect", "warn", "deny"];
    OUTER.iter().any(|name| attribute.path().is_ident(name))
}

/// Returns `E` if a function returns `Result<…, E>`.
fn failure(output: &ReturnType) -> Option<&Type> {
    let ReturnType::Type(_, ty) = output else { return None };
    let Type::Path(path) = &**ty else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == "Result")?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.iter().nth(1)? {
        GenericArgument::Type(failure) => Some(failure),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(options: &str, item: &str, expected: &[&str]) {
        let responses = syn::parse_str::<Responses>(options);
        let responses = match responses {
            Ok(responses) => responses,
            Err(error) => return assert_eq!([error.to_string()], expected),
        };
        let function = syn::parse_str(item).unwrap();
        let mut errors = Errors::default();
        let _ = expand(&function, &responses, &CratePath::core(), &mut errors);
        let messages = errors.messages();
        let messages: Vec<_> =
            messages.iter().map(|text| text.split_once(' ').unwrap().1).collect();
        assert_eq!(messages, expected);
    }

    #[test]
    fn reports_invalid_options() {
        let item = "async fn f(req: &mut Request) {}";
        check("", item, &[]);
        check("may_respond(404, \"no\"), may_respond(503, \"busy\"),", item, &[]);
        check("may_respond(404, \"a\"), may_respond(404, \"b\")", item, &["duplicate status 404"]);
        for status in ["200", "600", "70000"] {
            let expected = ["expected an error status, 400 to 599"];
            check(&format!("may_respond({status}, \"no\")"), item, &expected);
        }
        let unknown = ["unknown option `responds`: expected `may_respond(404, \"…\")`"];
        check("responds(404, \"no\")", item, &unknown);
        check("may_respond(404)", item, &["expected `,`"]);
        check("may_respond(\"404\", \"no\")", item, &["expected integer literal"]);
        let borrows = "fn f<'a>(req: &'a mut Request) {}";
        let message = "a middleware function cannot have lifetime parameters: remove the lifetime";
        check("", borrows, &[message]);
    }

    #[test]
    fn finds_the_error_type() {
        let error_of = |output: &str| {
            let output = syn::parse_str::<ReturnType>(output).unwrap();
            failure(&output).map(|ty| quote!(#ty).to_string())
        };
        assert_eq!(error_of("-> Result<(), OrgError>").as_deref(), Some("OrgError"));
        assert_eq!(error_of("-> std::result::Result<(), E>").as_deref(), Some("E"));
        assert_eq!(error_of("-> Result<()>"), None);
        assert_eq!(error_of("-> Option<Response>"), None);
        assert_eq!(error_of(""), None);
    }
}
