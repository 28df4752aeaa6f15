//! The keywords of `#[schema(…)]`: their definitions ([`table`]), parser
//! ([`read`]) and checks ([`check`]).

mod check;
mod names;
mod read;
mod table;

use proc_macro2::{Ident, Span};
use syn::parse::ParseStream;
use syn::{Attribute, Expr, Lit, LitStr, Type, UnOp};

use self::check::{check_bounds, check_type};
use self::read::read_list;
use crate::errors::Errors;

/// A keyword and its value.
pub(crate) struct Keyword {
    pub(crate) name: Ident,
    pub(crate) value: Value,
}

pub(crate) enum Value {
    /// `trim` or `trim = true`.
    Flag(bool),
    Expr(Box<Expr>),
    /// `items(…)`.
    Keywords(Vec<Keyword>),
}

/// The position of an attribute.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Place {
    Container,
    Variant,
    Field,
    Items,
}

/// The keywords in one position.
#[derive(Default)]
pub(crate) struct Keywords {
    pub(crate) list: Vec<Keyword>,
}

impl Keywords {
    /// Reads all `schema` attributes.
    pub(crate) fn read(attributes: &[Attribute], place: Place, errors: &mut Errors) -> Self {
        let mut list = Vec::new();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("schema")) {
            let parse = |input: ParseStream<'_>| read_list(input, place, &mut list, errors);
            let parsed = attribute.parse_args_with(parse);
            if let Err(error) = parsed {
                errors.keep(error);
            }
        }
        check_bounds(&list, errors);
        let keywords = Self { list };
        keywords.check_opaque(errors);
        keywords
    }

    fn check_opaque(&self, errors: &mut Errors) {
        if let Some(opaque) = self.get("opaque")
            && self.has_flag("opaque")
            && self.get("with").is_some()
        {
            let message = "`opaque` and `with` are both set: remove one of them";
            errors.push(opaque.name.span(), message);
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Keyword> {
        self.list.iter().find(|keyword| keyword.name == name)
    }

    /// Returns the expression of a keyword.
    pub(crate) fn expr(&self, name: &str) -> Option<&Expr> {
        match &self.get(name)?.value {
            Value::Expr(expr) => Some(expr),
            Value::Flag(_) | Value::Keywords(_) => None,
        }
    }

    pub(crate) fn has_flag(&self, name: &str) -> bool {
        self.get(name).is_some_and(|keyword| matches!(keyword.value, Value::Flag(true)))
    }

    /// Returns true if the field's type does not need a schema.
    pub(crate) fn replaces_rule(&self) -> bool {
        self.get("with").is_some() || self.has_flag("opaque")
    }

    /// Reports keywords that do not apply to this type.
    pub(crate) fn check_type(&self, ty: &Type, errors: &mut Errors) {
        // Otherwise a different rule replaces the rule of the type.
        if self.get("kind").is_none() && !self.replaces_rule() {
            check_type(&self.list, ty, errors);
        }
    }
}

/// Returns the literal in an expression, with or without a minus sign.
fn literal(expr: &Expr) -> Option<&Lit> {
    match expr {
        Expr::Lit(literal) => Some(&literal.lit),
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => literal(&unary.expr),
        _ => None,
    }
}

/// Returns the text of the doc comments.
pub(crate) fn doc_text(attributes: &[Attribute]) -> Option<LitStr> {
    let mut lines = Vec::new();
    let mut span = Span::call_site();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("doc")) {
        let syn::Meta::NameValue(pair) = &attribute.meta else {
            continue;
        };
        if let Some(Lit::Str(line)) = literal(&pair.value) {
            let text = line.value();
            lines.push(text.strip_prefix(' ').unwrap_or(&text).trim_end().to_owned());
            span = line.span();
        }
    }
    let text = lines.join("\n");
    let text = text.trim();
    (!text.is_empty()).then(|| LitStr::new(text, span))
}
