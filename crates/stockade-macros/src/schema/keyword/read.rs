//! Reads keywords: their names, positions and values.

use proc_macro2::Ident;
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::{Expr, Lit, LitStr, Token, UnOp, token};

use super::check::check_bounds;
use super::names::{FORMATS, KINDS};
use super::table::{KEYWORDS, Takes, find};
use super::{Keyword, Place, Value, literal};
use crate::errors::Errors;
use crate::suggest::closest;

/// Reads a list of keywords and records errors.
pub(super) fn read_list(
    input: ParseStream<'_>,
    place: Place,
    list: &mut Vec<Keyword>,
    errors: &mut Errors,
) -> syn::Result<()> {
    while !input.is_empty() {
        if let Some(keyword) = read_keyword(input, place, errors)? {
            let repeats = list.iter().any(|earlier| earlier.name == keyword.name);
            if repeats && keyword.name != "example" {
                errors.push(keyword.name.span(), format!("duplicate `{}`", keyword.name));
            } else {
                list.push(keyword);
            }
        }
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
    }
    Ok(())
}

/// Reads one keyword. Records an error and returns `None` if it is invalid.
fn read_keyword(
    input: ParseStream<'_>,
    place: Place,
    errors: &mut Errors,
) -> syn::Result<Option<Keyword>> {
    if !input.peek(Ident::peek_any) {
        return Err(input.error("expected a keyword such as `min_length = 3`"));
    }
    let name = input.call(Ident::parse_any)?;
    let text = name.unraw().to_string();
    let known = find(&text);
    let takes = known.map_or(Takes::Any, |known| known.takes);

    let value = if input.peek(Token![=]) {
        input.parse::<Token![=]>()?;
        if input.is_empty() || input.peek(Token![,]) {
            return Err(syn::Error::new(name.span(), format!("expected a value after `{text} =`")));
        }
        Value::Expr(Box::new(input.parse()?))
    } else if input.peek(token::Paren) {
        let content;
        syn::parenthesized!(content in input);
        let mut list = Vec::new();
        if takes == Takes::Keywords {
            read_list(&content, Place::Items, &mut list, errors)?;
            check_bounds(&list, errors);
        } else {
            content.parse::<proc_macro2::TokenStream>()?;
        }
        Value::Keywords(list)
    } else {
        Value::Flag(true)
    };

    let Some(known) = known else {
        errors.push(name.span(), unknown(&text));
        return Ok(None);
    };
    if !known.places.contains(&place) {
        errors.push(name.span(), misplaced(&text, place));
        return Ok(None);
    }
    match fit(takes, value) {
        Ok(value) => Ok(Some(Keyword { name, value })),
        Err(message) => {
            errors.push(name.span(), format!("`{text}` {message}"));
            Ok(None)
        }
    }
}

fn unknown(name: &str) -> String {
    let ours = match name {
        "enum" => Some("values"),
        "const" => Some("constant"),
        "type" => Some("kind"),
        _ => None,
    };
    match ours.or_else(|| nearest(name, KEYWORDS.iter().map(|known| known.name))) {
        Some(near) => format!("unknown keyword `{name}`, did you mean `{near}`?"),
        None => format!("unknown keyword `{name}`"),
    }
}

fn misplaced(name: &str, place: Place) -> String {
    match place {
        Place::Container => format!("`{name}` belongs on a field"),
        Place::Variant => format!("`{name}` cannot be used on a variant"),
        Place::Field if name == "name" => {
            "`name` belongs on a type: use `#[serde(rename = \"…\")]` to rename a field".to_owned()
        }
        Place::Field | Place::Items => format!("`{name}` cannot be used here"),
    }
}

/// Converts a value to the form that the keyword expects.
///
/// # Errors
///
/// Returns a message that describes the expected value.
fn fit(takes: Takes, value: Value) -> Result<Value, String> {
    let expr = match value {
        Value::Flag(flag) if takes == Takes::Flag => return Ok(Value::Flag(flag)),
        Value::Keywords(list) if takes == Takes::Keywords => return Ok(Value::Keywords(list)),
        Value::Expr(expr) if takes != Takes::Keywords => expr,
        Value::Flag(_) | Value::Expr(_) | Value::Keywords(_) => {
            return Err(match takes {
                Takes::Keywords => "expects keywords, as in `items(min_length = 3)`".to_owned(),
                Takes::Flag => {
                    "does not accept a value other than `= true` or `= false`".to_owned()
                }
                _ => "requires a value: `= …`".to_owned(),
            });
        }
    };
    let literal = literal(&expr);
    let negative = matches!(&*expr, Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)));
    let wrong = match (takes, literal) {
        (Takes::Flag, Some(Lit::Bool(flag))) => return Ok(Value::Flag(flag.value)),
        (Takes::Flag, _) => {
            Some("does not accept a value other than `= true` or `= false`".to_owned())
        }
        (Takes::Format, Some(Lit::Str(name))) => unknown_name(name, FORMATS),
        (Takes::Kind, Some(Lit::Str(name))) => unknown_name(name, KINDS),
        (Takes::Format | Takes::Kind, _) => Some("must be a name in quotes".to_owned()),
        (takes, Some(literal)) if !takes.fits(literal, negative) => {
            Some(format!("must be {}", takes.wanted()))
        }
        _ => None,
    };
    wrong.map_or(Ok(Value::Expr(expr)), Err)
}

/// Returns an error message if the name is unknown.
fn unknown_name(name: &LitStr, known: &[&str]) -> Option<String> {
    let text = name.value();
    if known.contains(&text.as_str()) {
        return None;
    }
    Some(match nearest(&text, known.iter().copied()) {
        Some(near) => format!("does not accept {text:?}, did you mean `{near}`?"),
        None => format!("does not accept {text:?}: expected one of {}", known.join(", ")),
    })
}

/// Returns the closest word of similar length. If there is none, returns the
/// closest word of any length. Length matters because `min` is a prefix of many
/// keywords.
fn nearest<'k>(word: &str, known: impl Iterator<Item = &'k str> + Clone) -> Option<&'k str> {
    let similar = known.clone().filter(|known| known.len().abs_diff(word.len()) <= 3);
    closest(word, similar).or_else(|| closest(word, known))
}
