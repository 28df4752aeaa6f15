//! Converts tokens to JSON, with the syntax of `serde_json::json!`.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};

/// A value, as far as it is known at compile time.
#[derive(Debug)]
pub(super) enum Json {
    Null,
    Bool,
    Number,
    Text,
    List(Vec<Self>),
    Map(Vec<Entry>),
    /// An expression.
    Unknown,
}

/// A member of an object.
#[derive(Debug)]
pub(super) struct Entry {
    /// `None` for an expression.
    pub(super) name: Option<(String, Span)>,
    pub(super) value: Json,
}

impl Entry {
    pub(super) fn name(&self) -> Option<&str> {
        self.name.as_ref().map(|(name, _)| name.as_str())
    }
}

/// Parses a value. Anything other than JSON is an expression.
pub(super) fn read(tokens: TokenStream) -> Json {
    value(&tokens.into_iter().collect::<Vec<_>>())
}

fn value(tokens: &[TokenTree]) -> Json {
    match tokens {
        [TokenTree::Group(group)] => {
            let content: Vec<TokenTree> = group.stream().into_iter().collect();
            match group.delimiter() {
                Delimiter::Brace => map(&content),
                Delimiter::Bracket => Json::List(parts(&content).map(value).collect()),
                // Comes from a macro, or is an expression in parentheses.
                Delimiter::None => value(&content),
                Delimiter::Parenthesis => Json::Unknown,
            }
        }
        [TokenTree::Ident(ident)] => match ident.to_string().as_str() {
            "null" => Json::Null,
            "true" | "false" => Json::Bool,
            _ => Json::Unknown,
        },
        [TokenTree::Literal(literal)] => match syn::Lit::new(literal.clone()) {
            syn::Lit::Str(_) => Json::Text,
            syn::Lit::Int(_) | syn::Lit::Float(_) => Json::Number,
            _ => Json::Unknown,
        },
        [TokenTree::Punct(minus), TokenTree::Literal(_)] if minus.as_char() == '-' => Json::Number,
        _ => Json::Unknown,
    }
}

fn map(content: &[TokenTree]) -> Json {
    let entries: Option<Vec<Entry>> = parts(content).map(entry).collect();
    entries.map_or(Json::Unknown, Json::Map)
}

/// Parses `"name": value`. Returns `None` for anything else, such as part of an
/// expression.
fn entry(tokens: &[TokenTree]) -> Option<Entry> {
    let is_colon = |token: &TokenTree| matches!(token, TokenTree::Punct(it) if it.as_char() == ':');
    let (name, rest) = tokens.split_first()?;
    let (colon, rest) = rest.split_first()?;
    if !is_colon(colon) || rest.is_empty() || rest.first().is_some_and(is_colon) {
        return None;
    }
    let name = match name {
        TokenTree::Literal(literal) => match syn::Lit::new(literal.clone()) {
            syn::Lit::Str(text) => Some((text.value(), text.span())),
            _ => None,
        },
        _ => None,
    };
    Some(Entry { name, value: value(rest) })
}

/// Returns the parts between commas.
fn parts(content: &[TokenTree]) -> impl Iterator<Item = &[TokenTree]> {
    let is_comma = |token: &TokenTree| matches!(token, TokenTree::Punct(it) if it.as_char() == ',');
    content.split(is_comma).filter(|part| !part.is_empty())
}
