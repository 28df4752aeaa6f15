//! Parses messages in `format!` syntax, with fields as arguments.

use proc_macro2::Span;
use syn::LitStr;

use super::input::{Field, Variant};
use crate::errors::Errors;
use crate::suggest::{closest, did_you_mean};

/// A message with placeholders that are positions in `arguments`.
pub(crate) struct Message<'v> {
    pub(crate) text: LitStr,
    pub(crate) arguments: Vec<Argument<'v>>,
}

pub(crate) struct Argument<'v> {
    pub(crate) field: &'v Field<'v>,
    /// The `std::fmt` traits that the message requires. A width requires none.
    pub(crate) traits: Vec<&'static str>,
}

impl<'v> Message<'v> {
    /// Parses a message and records unknown fields.
    ///
    /// `write!` reports all other syntax errors.
    pub(crate) fn read(literal: &LitStr, variant: &'v Variant<'v>, errors: &mut Errors) -> Self {
        let mut reader = Reader {
            variant,
            arguments: Vec::new(),
            errors,
            span: literal.span(),
            text: String::new(),
        };
        let text = literal.value();
        let mut rest = text.as_str();
        while let Some(at) = rest.find(['{', '}']) {
            let (before, after) = rest.split_at(at);
            reader.text.push_str(before);
            let doubled = after.starts_with("{{") || after.starts_with("}}");
            let end =
                if doubled { None } else { after.find('}').filter(|_| after.starts_with('{')) };
            let Some(end) = end else {
                let width = if doubled { 2 } else { 1 };
                reader.text.push_str(&after[..width]);
                rest = &after[width..];
                continue;
            };
            reader.placeholder(&after[1..end]);
            rest = &after[end + 1..];
        }
        reader.text.push_str(rest);
        Self { text: LitStr::new(&reader.text, literal.span()), arguments: reader.arguments }
    }
}

/// Returns a message as shown in API documents: `no product {id}`. A field
/// without a name becomes an ellipsis.
pub(crate) fn shown(literal: &LitStr) -> String {
    let text = literal.value();
    let mut shown = String::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find(['{', '}']) {
        let (before, after) = rest.split_at(at);
        shown.push_str(before);
        let doubled = after.starts_with("{{") || after.starts_with("}}");
        let Some(end) = after.find('}').filter(|_| !doubled && after.starts_with('{')) else {
            shown.push_str(&after[..1]);
            rest = &after[if doubled { 2 } else { 1 }..];
            continue;
        };
        let inner = &after[1..end];
        let name = inner.split_once(':').map_or(inner, |(name, _)| name).trim();
        let name = name.strip_prefix("r#").unwrap_or(name);
        if name.starts_with(|letter: char| letter.is_ascii_digit()) {
            shown.push('…');
        } else {
            shown.push_str(&format!("{{{name}}}"));
        }
        rest = &after[end + 1..];
    }
    shown + rest
}

struct Reader<'v, 'e> {
    variant: &'v Variant<'v>,
    arguments: Vec<Argument<'v>>,
    errors: &'e mut Errors,
    span: Span,
    text: String,
}

impl<'v> Reader<'v, '_> {
    /// Parses the text between braces: `id`, `0:?`, `id:>width$`.
    fn placeholder(&mut self, inner: &str) {
        let (name, spec) = match inner.split_once(':') {
            Some((name, spec)) => (name, Some(spec)),
            None => (inner, None),
        };
        let Some(at) = self.argument(name.trim(), Some(trait_of(spec.unwrap_or("")))) else {
            return;
        };
        // A placeholder without a colon has no format options.
        let spec = spec.map(|spec| format!(":{}", self.spec(spec))).unwrap_or_default();
        self.text.push_str(&format!("{{{at}{spec}}}"));
    }

    /// Replaces the names in `>width$` and `.precision$` with positions.
    fn spec(&mut self, spec: &str) -> String {
        let mut text = String::new();
        let mut rest = spec;
        while let Some(end) = rest.find('$') {
            let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
            let start = rest[..end].trim_end_matches(is_word).len();
            let mut name = &rest[start..end];
            text.push_str(&rest[..start]);
            // A leading `0` is the flag for zero padding.
            if let Some(after) = name.strip_prefix('0').filter(|after| !after.is_empty()) {
                text.push('0');
                name = after;
            }
            if name.is_empty() {
                text.push('$');
            } else if let Some(at) = self.argument(name, None) {
                text.push_str(&format!("{at}$"));
            }
            rest = &rest[end + 1..];
        }
        text + rest
    }

    /// Returns the position of a field in the arguments.
    fn argument(&mut self, name: &str, trait_name: Option<&'static str>) -> Option<usize> {
        let fields = &self.variant.fields;
        let name = name.strip_prefix("r#").unwrap_or(name);
        let Some(field) = fields.iter().find(|field| field.name() == name) else {
            self.unknown(name);
            return None;
        };
        let known = self.arguments.iter().position(|known| known.field.member == field.member);
        let at = known.unwrap_or_else(|| {
            self.arguments.push(Argument { field, traits: Vec::new() });
            self.arguments.len() - 1
        });
        self.arguments[at].traits.extend(trait_name);
        Some(at)
    }

    fn unknown(&mut self, name: &str) {
        let names: Vec<_> = self.variant.fields.iter().map(Field::name).collect();
        let known = names.iter().map(String::as_str);
        let is_position = name.parse::<usize>().is_ok();
        let message = match names.first() {
            Some(first) if name.is_empty() => {
                format!("`{{}}` must name a field, as in `{{{first}}}`")
            }
            Some(_) if !is_position && closest(name, known.clone()).is_some() => {
                format!("unknown field `{name}`{}", did_you_mean(name, known))
            }
            Some(_) => {
                format!("unknown field `{name}`: the fields are {}", names.join(", "))
            }
            None => format!("unknown field `{name}`: there are no fields"),
        };
        self.errors.push(self.span, message);
    }
}

/// Returns the trait for the last letter of a format.
fn trait_of(spec: &str) -> &'static str {
    match spec.trim_end().chars().last() {
        Some('?') => "Debug",
        Some('x') => "LowerHex",
        Some('X') => "UpperHex",
        Some('o') => "Octal",
        Some('b') => "Binary",
        Some('p') => "Pointer",
        Some('e') => "LowerExp",
        Some('E') => "UpperExp",
        _ => "Display",
    }
}
