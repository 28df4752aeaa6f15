//! The names in the `__internal` module of a crate.

use std::fs;
use std::path::Path;

use syn::{Item, UseTree};

/// Returns the names that the `__internal` module in `lib.rs` exports.
pub(crate) fn names(lib: &Path) -> Result<Vec<String>, String> {
    let error = |error: &dyn std::fmt::Display| format!("{}: {error}", lib.display());
    let source = fs::read_to_string(lib).map_err(|it| error(&it))?;
    let file = syn::parse_file(&source).map_err(|it| error(&it))?;
    Ok(names_in(&file.items))
}

fn names_in(items: &[Item]) -> Vec<String> {
    let modules = items.iter().filter_map(|item| match item {
        Item::Mod(module) if module.ident == "__internal" => module.content.as_ref(),
        _ => None,
    });
    let mut names = Vec::new();
    for item in modules.flat_map(|(_, items)| items) {
        match item {
            Item::Use(it) if !matches!(it.vis, syn::Visibility::Inherited) => {
                leaves(&it.tree, &mut names);
            }
            Item::Fn(it) => names.push(it.sig.ident.to_string()),
            Item::Const(it) => names.push(it.ident.to_string()),
            Item::Struct(it) => names.push(it.ident.to_string()),
            Item::Enum(it) => names.push(it.ident.to_string()),
            Item::Trait(it) => names.push(it.ident.to_string()),
            Item::Type(it) => names.push(it.ident.to_string()),
            Item::Mod(it) => names.push(it.ident.to_string()),
            _ => {}
        }
    }
    names
}

fn leaves(tree: &UseTree, names: &mut Vec<String>) {
    match tree {
        UseTree::Path(path) => leaves(&path.tree, names),
        UseTree::Group(group) => group.items.iter().for_each(|tree| leaves(tree, names)),
        UseTree::Name(name) => names.push(name.ident.to_string()),
        UseTree::Rename(rename) => names.push(rename.rename.to_string()),
        UseTree::Glob(_) => names.push("*".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_every_exported_name() {
        let source = "
            pub use crate::Other;
            pub mod __internal {
                use crate::Hidden;
                pub use crate::a::{One, two as Two, b::{Three, Four}};
                pub fn five() {}
                pub const SIX: u8 = 6;
            }
        ";
        let file = syn::parse_file(source).unwrap();
        assert_eq!(names_in(&file.items), ["One", "Two", "Three", "Four", "five", "SIX"]);
    }
}
