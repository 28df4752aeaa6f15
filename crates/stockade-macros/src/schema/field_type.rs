//! Recognizes field types by name.

use syn::Type;

/// The JSON type of a Rust type, as recognized by name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Class {
    Boolean,
    Number,
    Text,
    List,
    Map,
}

impl Class {
    /// Returns the name of this kind in the singular.
    pub(super) fn singular(self) -> &'static str {
        match self {
            Self::Boolean => "a boolean",
            Self::Number => "a number",
            Self::Text => "a string",
            Self::List => "a list",
            Self::Map => "a map",
        }
    }

    /// Returns the name of this kind in the plural.
    pub(super) fn plural(self) -> &'static str {
        match self {
            Self::Boolean => "booleans",
            Self::Number => "numbers",
            Self::Text => "strings",
            Self::List => "lists",
            Self::Map => "maps",
        }
    }
}

/// Returns the class of a type, or `None` if its name is not recognized.
pub(super) fn class_of(ty: &Type) -> Option<Class> {
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

/// Returns the type inside `Option` and pointers, which do not matter here.
fn inside(ty: &Type) -> &Type {
    if let Type::Reference(reference) = ty {
        return inside(&reference.elem);
    }
    match argument(ty, &["Option", "Box", "Arc", "Rc"]) {
        Some(inner) => inside(inner),
        None => ty,
    }
}

/// Returns the element type of a list.
pub(super) fn element_of(ty: &Type) -> Option<&Type> {
    match inside(ty) {
        Type::Array(array) => Some(&array.elem),
        Type::Slice(slice) => Some(&slice.elem),
        list => argument(list, &["Vec", "VecDeque", "HashSet", "BTreeSet"]),
    }
}

/// Returns the only type argument of a type with one of these names.
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

/// Returns true for an `Option` that writes only `None` as null. Types are
/// recognized by their names.
pub(super) fn only_null_is_none(ty: &Type) -> bool {
    argument(ty, &["Option"]).is_some_and(|inner| argument(inner, &["Option", "Patch"]).is_none())
}

/// Returns true if the name of a type means that it may be absent.
pub(super) fn may_be_absent(ty: &Type) -> bool {
    argument(ty, &["Option", "Optional", "Patch"]).is_some()
}
