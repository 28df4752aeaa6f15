//! The presence of a property in input and in output.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::Type;

use super::field_type::only_null_is_none;
use super::serde_attribute::Serde;

/// The presence of a property in both directions, with the names used by
/// validation.
#[derive(Clone, Copy, Debug)]
pub(super) enum FieldPresence {
    Always,
    Sometimes,
    UnlessNull,
    ReadOnly,
    WriteOnly,
    WriteOnlySometimes,
}

impl FieldPresence {
    /// Returns the presence of a field.
    pub(super) fn of(serde: &Serde, ty: &Type, never_read: bool) -> Self {
        let presence = match &serde.skip_if {
            _ if serde.skip.write => return Self::ReadOnly,
            None => Self::Always,
            Some(function) if is_none(function) && only_null_is_none(ty) => Self::UnlessNull,
            Some(_) => Self::Sometimes,
        };
        if never_read { presence.written() } else { presence }
    }

    /// Returns the same presence for writing, and none for reading.
    pub(super) fn written(self) -> Self {
        match self {
            Self::Always | Self::WriteOnly => Self::WriteOnly,
            Self::Sometimes | Self::UnlessNull | Self::WriteOnlySometimes => {
                Self::WriteOnlySometimes
            }
            Self::ReadOnly => Self::ReadOnly,
        }
    }

    pub(super) fn path(self, root: &TokenStream) -> TokenStream {
        let name = Ident::new(&format!("{self:?}"), Span::call_site());
        quote!(#root::__private::FieldPresence::#name)
    }
}

/// Returns true for a path to `Option::is_none`.
fn is_none(function: &str) -> bool {
    let path: String = function.split_whitespace().collect();
    path == "Option::is_none" || path.ends_with("::Option::is_none")
}
