//! The attributes of serde that change how a type is read.

use proc_macro2::Span;
use syn::meta::ParseNestedMeta;
use syn::spanned::Spanned as _;
use syn::{Attribute, Expr, LitStr, Token, Type, token};

use super::case::Case;

/// The attributes of a type, a variant or a field. Mistakes in them are left to
/// serde.
#[derive(Default)]
pub(crate) struct Serde {
    pub(crate) rename: Option<String>,
    pub(crate) rename_all: Case,
    /// `None` where it is not said.
    pub(crate) rename_all_fields: Option<Case>,
    pub(crate) default: bool,
    pub(crate) skip: bool,
    pub(crate) flatten: bool,
    pub(crate) deny_unknown_fields: bool,
    pub(crate) transparent: bool,
    /// A function reads the value.
    pub(crate) with: bool,
    pub(crate) aliases: Vec<LitStr>,
    pub(crate) tag: Option<String>,
    pub(crate) content: Option<String>,
    pub(crate) untagged: Option<Span>,
    pub(crate) other: Option<Span>,
    /// The type that is read instead.
    pub(crate) from: Option<Type>,
}

impl Serde {
    pub(crate) fn read(attributes: &[Attribute]) -> Self {
        let mut serde = Self::default();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
            // serde itself reports an attribute that cannot be read.
            let _ = attribute.parse_nested_meta(|meta| serde.keep(&meta));
        }
        serde
    }

    fn keep(&mut self, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
        // A path of several segments is none of the names.
        let name = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
        let span = meta.path.span();
        let value = read_value(meta)?;
        let text = || value.as_ref().map(LitStr::value);
        match name.as_str() {
            "rename" => self.rename = text(),
            "rename_all" => {
                // Without a text serde complains.
                self.rename_all = text().map(|text| Case::of(&text)).unwrap_or_default()
            }
            "rename_all_fields" => {
                self.rename_all_fields = text().map(|text| Case::of(&text));
            }
            "default" => self.default = true,
            "skip" | "skip_deserializing" => self.skip = true,
            "flatten" => self.flatten = true,
            "deny_unknown_fields" => self.deny_unknown_fields = true,
            "transparent" => self.transparent = true,
            "with" | "deserialize_with" => self.with = true,
            "alias" => self.aliases.extend(value),
            "tag" => self.tag = text(),
            "content" => self.content = text(),
            "untagged" => self.untagged = Some(span),
            "other" => self.other = Some(span),
            "from" | "try_from" => self.from = value.and_then(|text| text.parse().ok()),
            _ => {}
        }
        Ok(())
    }

    /// Returns the name of a field in JSON.
    pub(crate) fn field_name(&self, name: &str, case: Case) -> String {
        self.rename.clone().unwrap_or_else(|| case.field(name))
    }

    /// Returns the name of a variant in JSON.
    pub(crate) fn variant_name(&self, name: &str, case: Case) -> String {
        self.rename.clone().unwrap_or_else(|| case.variant(name))
    }
}

/// Reads `= "…"`, or the text for reading of `(serialize = "…", deserialize =
/// "…")`; anything else is skipped.
fn read_value(meta: &ParseNestedMeta<'_>) -> syn::Result<Option<LitStr>> {
    if meta.input.peek(Token![=]) {
        meta.input.parse::<Token![=]>()?;
        if meta.input.peek(LitStr) {
            return meta.input.parse().map(Some);
        }
        meta.input.parse::<Expr>()?;
        return Ok(None);
    }
    if !meta.input.peek(token::Paren) {
        return Ok(None);
    }
    let mut found = None;
    let pairs = meta.parse_nested_meta(|inner| {
        let value = read_value(&inner)?;
        if inner.path.is_ident("deserialize") {
            found = value;
        }
        Ok(())
    });
    pairs.map(|()| found)
}
