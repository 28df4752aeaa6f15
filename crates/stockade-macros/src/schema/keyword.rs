//! The keywords of `#[schema(…)]`: reading them and finding the mistakes.

use proc_macro2::{Ident, Span};
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::{Attribute, Expr, Lit, LitStr, Token, Type, UnOp, token};

use crate::errors::Errors;
use crate::suggest::closest;

/// A keyword with its value.
pub(crate) struct Keyword {
    pub(crate) name: Ident,
    pub(crate) value: Value,
}

pub(crate) enum Value {
    /// `trim`, or `trim = true`.
    Flag(bool),
    Expr(Box<Expr>),
    /// `items(…)`.
    Keywords(Vec<Keyword>),
}

/// Where an attribute stands.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Place {
    Container,
    Variant,
    Field,
    Items,
}

/// The kind of value that a keyword takes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Takes {
    Flag,
    Any,
    Count,
    Number,
    Text,
    List,
    Kind,
    Format,
    Keywords,
}

/// The keywords of one place.
#[derive(Default)]
pub(crate) struct Keywords {
    pub(crate) list: Vec<Keyword>,
}

impl Keywords {
    /// Reads all attributes `schema`.
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
            let message = "`opaque` takes any value, and `with` gives a rule: keep one of them";
            errors.push(opaque.name.span(), message);
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Keyword> {
        self.list.iter().find(|keyword| keyword.name == name)
    }

    /// Returns the expression that a keyword holds.
    pub(crate) fn expr(&self, name: &str) -> Option<&Expr> {
        match &self.get(name)?.value {
            Value::Expr(expr) => Some(expr),
            Value::Flag(_) | Value::Keywords(_) => None,
        }
    }

    pub(crate) fn has_flag(&self, name: &str) -> bool {
        self.get(name).is_some_and(|keyword| matches!(keyword.value, Value::Flag(true)))
    }

    /// Returns true if the type of the field needs no schema.
    pub(crate) fn replaces_rule(&self) -> bool {
        self.get("with").is_some() || self.has_flag("opaque")
    }

    /// Notes the keywords that say nothing about values of this type.
    pub(crate) fn check_type(&self, ty: &Type, errors: &mut Errors) {
        // Its rule is another one then.
        if self.get("kind").is_none() && !self.replaces_rule() {
            check_type(&self.list, ty, errors);
        }
    }
}

fn read_list(
    input: ParseStream<'_>,
    place: Place,
    list: &mut Vec<Keyword>,
    errors: &mut Errors,
) -> syn::Result<()> {
    while !input.is_empty() {
        if let Some(keyword) = read_keyword(input, place, errors)? {
            let repeats = list.iter().any(|earlier| earlier.name == keyword.name);
            if repeats && keyword.name != "example" {
                errors.push(keyword.name.span(), format!("`{}` is there twice", keyword.name));
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

/// Reads one keyword; `None` if it is wrong and noted.
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
    let known = KEYWORDS.iter().find(|(known, ..)| *known == text);
    let takes = known.map_or(Takes::Any, |(_, takes, ..)| *takes);

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

    let Some((_, takes, places, _)) = known else {
        errors.push(name.span(), unknown(&text));
        return Ok(None);
    };
    if !places.contains(&place) {
        errors.push(name.span(), misplaced(&text, place));
        return Ok(None);
    }
    match fit(*takes, value) {
        Ok(value) => Ok(Some(Keyword { name, value })),
        Err(message) => {
            errors.push(name.span(), format!("`{text}` {message}"));
            Ok(None)
        }
    }
}

fn unknown(name: &str) -> String {
    let ours = match name {
        "enum" => Some("one_of"),
        "const" => Some("constant"),
        "type" => Some("kind"),
        _ => None,
    };
    match ours.or_else(|| nearest(name, KEYWORDS.iter().map(|(known, ..)| *known))) {
        Some(near) => format!("unknown keyword `{name}`, did you mean `{near}`?"),
        None => format!("unknown keyword `{name}`"),
    }
}

fn misplaced(name: &str, place: Place) -> String {
    match place {
        Place::Container => format!("`{name}` stands on a field"),
        Place::Variant => format!("`{name}` cannot stand on a variant"),
        Place::Field if name == "name" => {
            "`name` stands on a type; a field gets another name by `#[serde(rename = \"…\")]`"
                .to_owned()
        }
        Place::Field | Place::Items => format!("`{name}` cannot stand here"),
    }
}

/// Returns the value in the form that the keyword takes. The error says which
/// value it takes.
fn fit(takes: Takes, value: Value) -> Result<Value, String> {
    let expr = match value {
        Value::Flag(flag) if takes == Takes::Flag => return Ok(Value::Flag(flag)),
        Value::Keywords(list) if takes == Takes::Keywords => return Ok(Value::Keywords(list)),
        Value::Expr(expr) if takes != Takes::Keywords => expr,
        Value::Flag(_) | Value::Expr(_) | Value::Keywords(_) => {
            return Err(match takes {
                Takes::Keywords => "takes keywords: `items(min_length = 3)`".to_owned(),
                Takes::Flag => "stands alone, or with `= true` or `= false`".to_owned(),
                _ => "needs a value: `= …`".to_owned(),
            });
        }
    };
    let literal = literal(&expr);
    let negative = matches!(&*expr, Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)));
    let wrong = match (takes, literal) {
        (Takes::Flag, Some(Lit::Bool(flag))) => return Ok(Value::Flag(flag.value)),
        (Takes::Flag, _) => Some("stands alone, or with `= true` or `= false`".to_owned()),
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

/// Returns the message for a name that is not among the known ones.
fn unknown_name(name: &LitStr, known: &[&str]) -> Option<String> {
    let text = name.value();
    if known.contains(&text.as_str()) {
        return None;
    }
    Some(match nearest(&text, known.iter().copied()) {
        Some(near) => format!("has no {text:?}, did you mean `{near}`?"),
        None => format!("has no {text:?}: it is one of {}", known.join(", ")),
    })
}

/// Returns the closest word of about the same length, else the closest of any
/// length. Length counts because `min` begins many words, and means few of
/// them.
fn nearest<'k>(word: &str, known: impl Iterator<Item = &'k str> + Clone) -> Option<&'k str> {
    let similar = known.clone().filter(|known| known.len().abs_diff(word.len()) <= 3);
    closest(word, similar).or_else(|| closest(word, known))
}

impl Takes {
    fn fits(self, literal: &Lit, negative: bool) -> bool {
        match self {
            Self::Count => matches!(literal, Lit::Int(_)) && !negative,
            Self::Number => matches!(literal, Lit::Int(_) | Lit::Float(_)),
            Self::Text => matches!(literal, Lit::Str(_)),
            Self::List => false,
            Self::Flag | Self::Any | Self::Kind | Self::Format | Self::Keywords => true,
        }
    }

    fn wanted(self) -> &'static str {
        match self {
            Self::Count => "a whole number of 0 or more",
            Self::Number => "a number",
            Self::Text => "a string",
            Self::List => "a list: `[…]`",
            Self::Flag | Self::Any | Self::Kind | Self::Format | Self::Keywords => "a value",
        }
    }
}

/// Returns the literal that an expression is, perhaps behind a minus sign.
fn literal(expr: &Expr) -> Option<&Lit> {
    match expr {
        Expr::Lit(literal) => Some(&literal.lit),
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => literal(&unary.expr),
        _ => None,
    }
}

/// Notes lower bounds above upper ones.
fn check_bounds(list: &[Keyword], errors: &mut Errors) {
    let bound = |name: &str| {
        let keyword = list.iter().find(|keyword| keyword.name == name)?;
        let Value::Expr(expr) = &keyword.value else {
            return None;
        };
        Some((keyword.name.span(), number(expr)?))
    };
    for (low, high, strict) in PAIRS {
        let (Some((span, least)), Some((_, most))) = (bound(low), bound(high)) else {
            continue;
        };
        let relation = if *strict { "is not below" } else { "is above" };
        if least > most || *strict && least >= most {
            errors.push(span, format!("`{low}` {least} {relation} `{high}` {most}"));
        }
    }
}

fn number(expr: &Expr) -> Option<f64> {
    let number: f64 = match literal(expr)? {
        Lit::Int(literal) => literal.base10_parse().ok()?,
        Lit::Float(literal) => literal.base10_parse().ok()?,
        _ => return None,
    };
    Some(if matches!(expr, Expr::Unary(_)) { -number } else { number })
}

fn check_type(list: &[Keyword], ty: &Type, errors: &mut Errors) {
    let Some(class) = class_of(ty) else {
        return;
    };
    for keyword in list {
        let Some((name, _, _, classes)) = KEYWORDS.iter().find(|(name, ..)| keyword.name == name)
        else {
            continue;
        };
        if !classes.is_empty() && !classes.contains(&class) {
            let wanted: Vec<&str> = classes.iter().map(|class| class.plural()).collect();
            let message = format!(
                "`{name}` is for {}, and this is {}",
                wanted.join(" and "),
                class.singular()
            );
            errors.push(keyword.name.span(), message);
        }
        if let (Value::Keywords(inner), Some(element)) = (&keyword.value, element_of(ty))
            && inner.iter().all(|keyword| keyword.name != "kind")
        {
            check_type(inner, element, errors);
        }
    }
}

/// The kind of JSON value that a type becomes, as far as the name of the type
/// tells it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Class {
    Boolean,
    Number,
    Text,
    List,
    Map,
}

impl Class {
    fn singular(self) -> &'static str {
        match self {
            Self::Boolean => "a boolean",
            Self::Number => "a number",
            Self::Text => "a string",
            Self::List => "a list",
            Self::Map => "a map",
        }
    }

    fn plural(self) -> &'static str {
        match self {
            Self::Boolean => "booleans",
            Self::Number => "numbers",
            Self::Text => "strings",
            Self::List => "lists",
            Self::Map => "maps",
        }
    }
}

fn class_of(ty: &Type) -> Option<Class> {
    let ty = inside(ty);
    if matches!(ty, Type::Array(_) | Type::Slice(_)) {
        return Some(Class::List);
    }
    let Type::Path(path) = ty else {
        return None;
    };
    let name = path.path.segments.last()?.ident.to_string();
    Some(match name.as_str() {
        "bool" => Class::Boolean,
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" | "u8" | "u16" | "u32" | "u64" | "u128"
        | "usize" | "f32" | "f64" => Class::Number,
        "String" | "str" | "char" => Class::Text,
        "Vec" | "VecDeque" | "HashSet" | "BTreeSet" => Class::List,
        "HashMap" | "BTreeMap" => Class::Map,
        _ => return None,
    })
}

/// Returns the type in `Option` and pointers, which change nothing here.
fn inside(ty: &Type) -> &Type {
    match argument(ty, &["Option", "Box", "Arc", "Rc"]) {
        Some(inner) => inside(inner),
        None => ty,
    }
}

fn element_of(ty: &Type) -> Option<&Type> {
    match inside(ty) {
        Type::Array(array) => Some(&array.elem),
        Type::Slice(slice) => Some(&slice.elem),
        list => argument(list, &["Vec", "VecDeque", "HashSet", "BTreeSet"]),
    }
}

/// Returns the only argument of a type with one of these names.
fn argument<'t>(ty: &'t Type, names: &[&str]) -> Option<&'t Type> {
    let Type::Path(path) = ty else {
        return None;
    };
    let last = path.path.segments.last()?;
    if !names.iter().any(|name| last.ident == name) {
        return None;
    }
    let syn::PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    match arguments.args.first()? {
        syn::GenericArgument::Type(inner) => Some(inner),
        _ => None,
    }
}

/// Returns true if a type is written as one that may be absent.
pub(crate) fn may_be_absent(ty: &Type) -> bool {
    argument(ty, &["Option", "Optional", "Patch"]).is_some()
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

const EVERYWHERE: &[Place] = &[Place::Container, Place::Field, Place::Items];
const WORDS: &[Place] = &[Place::Container, Place::Variant, Place::Field, Place::Items];
const FIELDS: &[Place] = &[Place::Field];
const PARTS: &[Place] = &[Place::Field, Place::Items];

const ANY: &[Class] = &[];
const TEXT: &[Class] = &[Class::Text];
const NUMBER: &[Class] = &[Class::Number];
const LIST: &[Class] = &[Class::List];
const MAP: &[Class] = &[Class::Map];
const SIZED: &[Class] = &[Class::Number, Class::Text, Class::List];

type Entry = (&'static str, Takes, &'static [Place], &'static [Class]);

/// The keywords: each with its kind of value, its places, and the types that it
/// fits.
const KEYWORDS: &[Entry] = &[
    ("kind", Takes::Kind, EVERYWHERE, ANY),
    ("required", Takes::Flag, FIELDS, ANY),
    ("one_of", Takes::List, EVERYWHERE, ANY),
    ("constant", Takes::Any, EVERYWHERE, ANY),
    ("pattern", Takes::Text, EVERYWHERE, TEXT),
    ("min_length", Takes::Count, EVERYWHERE, TEXT),
    ("max_length", Takes::Count, EVERYWHERE, TEXT),
    ("minimum", Takes::Number, EVERYWHERE, NUMBER),
    ("maximum", Takes::Number, EVERYWHERE, NUMBER),
    ("exclusive_minimum", Takes::Number, EVERYWHERE, NUMBER),
    ("exclusive_maximum", Takes::Number, EVERYWHERE, NUMBER),
    ("min", Takes::Number, EVERYWHERE, SIZED),
    ("max", Takes::Number, EVERYWHERE, SIZED),
    ("items", Takes::Keywords, EVERYWHERE, LIST),
    ("min_items", Takes::Count, EVERYWHERE, LIST),
    ("max_items", Takes::Count, EVERYWHERE, LIST),
    ("unique_items", Takes::Flag, EVERYWHERE, LIST),
    ("min_properties", Takes::Count, EVERYWHERE, MAP),
    ("max_properties", Takes::Count, EVERYWHERE, MAP),
    ("additional_properties", Takes::Any, EVERYWHERE, MAP),
    ("nullable", Takes::Flag, PARTS, ANY),
    ("format", Takes::Format, EVERYWHERE, TEXT),
    ("custom", Takes::Any, EVERYWHERE, ANY),
    ("message", Takes::Text, EVERYWHERE, ANY),
    ("trim", Takes::Flag, EVERYWHERE, TEXT),
    ("transform", Takes::Any, EVERYWHERE, ANY),
    ("default", Takes::Any, FIELDS, ANY),
    ("title", Takes::Text, WORDS, ANY),
    ("description", Takes::Text, WORDS, ANY),
    ("example", Takes::Any, WORDS, ANY),
    ("deprecated", Takes::Flag, WORDS, ANY),
    ("opaque", Takes::Flag, FIELDS, ANY),
    ("with", Takes::Any, &[Place::Container, Place::Field], ANY),
    ("name", Takes::Text, &[Place::Container], ANY),
];

/// The names of types. A test holds them and the formats equal to those of the
/// validation.
pub(super) const KINDS: &[&str] = &[
    "string",
    "number",
    "boolean",
    "object",
    "array",
    "integer",
    "null",
    "email",
    "url",
    "uuid",
    "phone",
    "credit-card",
    "date",
];

pub(super) const FORMATS: &[&str] = &[
    "email",
    "uri",
    "url",
    "uuid",
    "phone",
    "credit-card",
    "date",
    "date-time",
    "time",
    "hostname",
    "ipv4",
    "ipv6",
];

/// Pairs of a lower and an upper bound; true if the two must differ.
const PAIRS: &[(&str, &str, bool)] = &[
    ("min_length", "max_length", false),
    ("minimum", "maximum", false),
    ("exclusive_minimum", "exclusive_maximum", true),
    ("minimum", "exclusive_maximum", true),
    ("exclusive_minimum", "maximum", true),
    ("min", "max", false),
    ("min_items", "max_items", false),
    ("min_properties", "max_properties", false),
];
