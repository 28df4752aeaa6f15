//! The serde attributes that affect the form of a type.

use syn::meta::ParseNestedMeta;
use syn::spanned::Spanned as _;
use syn::{Attribute, Expr, LitStr, Token, Type, token};

use super::case::Case;
use crate::errors::Errors;

/// The direction of a conversion.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Direction {
    Read,
    Write,
}

/// A setting for each direction.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Both<T> {
    pub(crate) read: T,
    pub(crate) write: T,
}

impl<T> Both<T> {
    pub(crate) fn get(&self, direction: Direction) -> &T {
        match direction {
            Direction::Read => &self.read,
            Direction::Write => &self.write,
        }
    }

    fn map<U>(self, mut change: impl FnMut(T) -> U) -> Both<U> {
        Both { read: change(self.read), write: change(self.write) }
    }
}

impl<T: Clone> Both<T> {
    fn of(value: T) -> Self {
        Self { read: value.clone(), write: value }
    }
}

impl Both<bool> {
    fn set(&mut self, read: bool, write: bool) {
        self.read |= read;
        self.write |= write;
    }
}

/// Attributes of serde that the derive supports, or rejects in another place.
const FOLLOWED: &[&str] = &[
    "alias",
    "content",
    "default",
    "deny_unknown_fields",
    "deserialize_with",
    "flatten",
    "from",
    "into",
    "other",
    "rename",
    "rename_all",
    "rename_all_fields",
    "serialize_with",
    "skip",
    "skip_deserializing",
    "skip_serializing",
    "skip_serializing_if",
    "tag",
    "transparent",
    "try_from",
    "untagged",
    "with",
];

/// Attributes of serde that affect neither direction.
const WITHOUT_EFFECT: &[&str] = &["borrow", "bound", "crate", "expecting", "getter", "remote"];

/// Attribute macros of `serde_with` that change field attributes.
const MACROS: &[&str] = &["serde_as", "skip_serializing_none"];

/// Rejects serde attributes with an unknown effect on the form of the type.
pub(crate) fn refuse_unknown(attributes: &[Attribute], errors: &mut Errors) {
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
        let _ = attribute.parse_nested_meta(|meta| {
            let name = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
            read_value(&meta)?;
            let name = name.as_str();
            if !FOLLOWED.contains(&name) && !WITHOUT_EFFECT.contains(&name) {
                errors.push(
                    meta.path.span(),
                    format_args!(
                        "`Schema` does not support serde's `{name}`: implement `HasSchema` by \
                         hand, or use `Unchecked<T>` for the type"
                    ),
                );
            }
            Ok(())
        });
    }
}

/// Rejects attribute macros that run after the derive and change its fields.
pub(crate) fn refuse_later_macros(attributes: &[Attribute], errors: &mut Errors) {
    for attribute in attributes {
        let Some(last) = attribute.path().segments.last() else {
            continue;
        };
        if MACROS.iter().any(|name| last.ident == name) {
            let name = &last.ident;
            errors.push(
                attribute.path().span(),
                format_args!("`#[{name}]` changes the fields: put it above `#[derive(Schema)]`"),
            );
        }
    }
}

/// The attributes of a type, variant or field. serde reports errors in them.
#[derive(Default)]
pub(crate) struct Serde {
    rename: Both<Option<String>>,
    pub(crate) rename_all: Both<Case>,
    /// `None` if the attribute is absent.
    pub(crate) rename_all_fields: Both<Option<Case>>,
    pub(crate) default: bool,
    pub(crate) skip: Both<bool>,
    /// The function that decides whether serde skips the field.
    pub(crate) skip_if: Option<String>,
    pub(crate) flatten: bool,
    pub(crate) deny_unknown_fields: bool,
    pub(crate) transparent: bool,
    /// True if a function reads or writes the value.
    pub(crate) with: Both<bool>,
    pub(crate) aliases: Vec<LitStr>,
    pub(crate) tag: Option<String>,
    pub(crate) content: Option<String>,
    pub(crate) untagged: bool,
    pub(crate) other: bool,
    /// The type that serde reads or writes instead.
    pub(crate) instead: Both<Option<Type>>,
}

impl Serde {
    pub(crate) fn read(attributes: &[Attribute]) -> Self {
        let mut serde = Self::default();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
            // serde reports malformed attributes.
            let _ = attribute.parse_nested_meta(|meta| serde.keep(&meta));
        }
        serde
    }

    fn keep(&mut self, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
        // A path with several segments matches no name.
        let name = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
        let value = read_value(meta)?;
        // All other names apply to both directions.
        let one = || value.read.as_ref().map(LitStr::value);
        let texts = || value.clone().map(|text| text.map(|text| text.value()));
        let cases = || texts().map(|text| text.map(|text| Case::of(&text)));
        let ty = || value.read.as_ref().and_then(|text| text.parse().ok());
        match name.as_str() {
            "rename" => self.rename = texts(),
            // A direction without a value keeps names unchanged.
            "rename_all" => self.rename_all = cases().map(Option::unwrap_or_default),
            "rename_all_fields" => self.rename_all_fields = cases(),
            "default" => self.default = true,
            "skip" => self.skip.set(true, true),
            "skip_deserializing" => self.skip.set(true, false),
            "skip_serializing" => self.skip.set(false, true),
            "skip_serializing_if" => self.skip_if = one(),
            "flatten" => self.flatten = true,
            "deny_unknown_fields" => self.deny_unknown_fields = true,
            "transparent" => self.transparent = true,
            "with" => self.with.set(true, true),
            "deserialize_with" => self.with.set(true, false),
            "serialize_with" => self.with.set(false, true),
            "alias" => self.aliases.extend(value.read),
            "tag" => self.tag = one(),
            "content" => self.content = one(),
            "untagged" => self.untagged = true,
            "other" => self.other = true,
            "from" | "try_from" => self.instead.read = ty(),
            "into" => self.instead.write = ty(),
            _ => {}
        }
        Ok(())
    }

    /// Returns true if a name of the enum or variant itself differs between the
    /// directions.
    pub(crate) fn has_two_names(&self) -> bool {
        self.rename.read != self.rename.write || self.rename_all.read != self.rename_all.write
    }

    /// Returns the name of a field in JSON.
    pub(crate) fn field_name(&self, name: &str, case: Case, direction: Direction) -> String {
        let renamed = self.rename.get(direction).clone();
        renamed.unwrap_or_else(|| case.field(name))
    }

    /// Returns the name that serde writes for a struct.
    pub(crate) fn struct_name(&self, name: &str) -> String {
        self.rename.write.clone().unwrap_or_else(|| name.to_owned())
    }

    /// Returns the name of a variant in JSON.
    pub(crate) fn variant_name(&self, name: &str, case: Case, direction: Direction) -> String {
        let renamed = self.rename.get(direction).clone();
        renamed.unwrap_or_else(|| case.variant(name))
    }
}

/// Reads `= "…"` or `(serialize = "…", deserialize = "…")`. Skips anything
/// else.
fn read_value(meta: &ParseNestedMeta<'_>) -> syn::Result<Both<Option<LitStr>>> {
    if meta.input.peek(Token![=]) {
        meta.input.parse::<Token![=]>()?;
        if meta.input.peek(LitStr) {
            return meta.input.parse().map(|text| Both::of(Some(text)));
        }
        meta.input.parse::<Expr>()?;
        return Ok(Both::default());
    }
    let mut found = Both::default();
    if meta.input.peek(token::Paren) {
        meta.parse_nested_meta(|inner| {
            let value = read_value(&inner)?.read;
            if inner.path.is_ident("deserialize") {
                found.read = value;
            } else if inner.path.is_ident("serialize") {
                found.write = value;
            }
            Ok(())
        })?;
    }
    Ok(found)
}
