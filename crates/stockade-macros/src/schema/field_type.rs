//! The types of fields, as far as their names tell what they are.

use syn::Type;

/// The kind of JSON value that a type becomes, as far as the name of the type
/// tells it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Class {
    Boolean,
    Number,
    Text,
    List,
    Map,
}

impl Class {
    /// Returns the name of one value.
    pub(super) fn singular(self) -> &'static str {
        match self {
            Self::Boolean => "a boolean",
            Self::Number => "a number",
            Self::Text => "a string",
            Self::List => "a list",
            Self::Map => "a map",
        }
    }

    /// Returns the name of several values.
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

/// Returns the class of a type; `None` if its name does not tell it.
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

/// Returns the type in `Option` and pointers, which change nothing here.
fn inside(ty: &Type) -> &Type {
    if let Type::Reference(reference) = ty {
        return inside(&reference.elem);
    }
    match argument(ty, &["Option", "Box", "Arc", "Rc"]) {
        Some(inner) => inside(inner),
        None => ty,
    }
}

/// Returns the type of the elements of a list.
pub(super) fn element_of(ty: &Type) -> Option<&Type> {
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

/// Returns true for an `Option` that is null only as `None`, as far as the
/// names of the types tell it.
pub(super) fn only_null_is_none(ty: &Type) -> bool {
    argument(ty, &["Option"]).is_some_and(|inner| argument(inner, &["Option", "Patch"]).is_none())
}

/// Returns true if a type is written as one that may be absent.
pub(super) fn may_be_absent(ty: &Type) -> bool {
    argument(ty, &["Option", "Optional", "Patch"]).is_some()
}
