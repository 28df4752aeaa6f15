//! The modules of a crate, and the names that its files use from each other.
//!
//! A name is resolved through re-exports to the file that defines it. A
//! re-export therefore does not connect files, and `use crate::Name` connects
//! to the file that defines `Name`. Methods are not resolved, and tests are
//! ignored.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};
use syn::{Attribute, Item, UseTree, Visibility};

use crate::graph::Uses;

/// The path of a module from the root of its crate.
type ModulePath = Vec<String>;

#[derive(Debug, Default)]
struct Module {
    file: String,
    /// Names that the module defines itself.
    defined: BTreeSet<String>,
    children: BTreeSet<String>,
    /// Names that the module imports, with their paths.
    imported: BTreeMap<String, Vec<String>>,
    /// Paths of glob imports.
    globs: Vec<Vec<String>>,
    /// Paths that the file uses, except in re-exports.
    used: Vec<Vec<String>>,
}

/// The files of one crate.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    modules: BTreeMap<ModulePath, Module>,
    files: BTreeSet<String>,
    uses: Uses,
}

impl Sources {
    /// Reads the crate with its `lib.rs` in this folder.
    pub(crate) fn read(folder: &Path) -> Result<Self, String> {
        let mut sources = Self::default();
        sources.file(folder, &folder.join("lib.rs"), Vec::new())?;
        sources.find_uses();
        Ok(sources)
    }

    pub(crate) fn uses(&self) -> &Uses {
        &self.uses
    }

    pub(crate) fn len(&self) -> usize {
        self.files.len()
    }

    fn file(&mut self, root: &Path, path: &Path, module: ModulePath) -> Result<(), String> {
        let describe = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let text = fs::read_to_string(path).map_err(|error| describe(&error))?;
        let parsed = syn::parse_file(&text).map_err(|error| describe(&error))?;
        let name = path.strip_prefix(root).unwrap_or(path).display().to_string();
        self.files.insert(name.clone());
        self.items(root, path, module, &name, &parsed.items)
    }

    fn items(
        &mut self,
        root: &Path,
        path: &Path,
        module: ModulePath,
        file: &str,
        items: &[Item],
    ) -> Result<(), String> {
        let mut found = Module { file: file.to_owned(), ..Module::default() };
        for item in items {
            match item {
                Item::Mod(it) if is_test(&it.attrs) => {}
                Item::Mod(it) => {
                    let name = it.ident.to_string();
                    found.children.insert(name.clone());
                    let child = [module.clone(), vec![name.clone()]].concat();
                    match &it.content {
                        Some((_, items)) => {
                            self.items(root, path, child, file, items)?;
                        }
                        None => self.file(root, &file_of(path, &name)?, child)?,
                    }
                }
                Item::Use(it) => {
                    let is_private = matches!(it.vis, Visibility::Inherited);
                    flatten(&it.tree, &mut Vec::new(), &mut |name, path| {
                        if is_private {
                            found.used.push(path.clone());
                        }
                        match name {
                            Some(name) => _ = found.imported.insert(name, path),
                            None => found.globs.push(path),
                        }
                    });
                }
                other => {
                    found.defined.extend(defined(other));
                    let mut paths = Paths::default();
                    paths.visit_item(other);
                    found.used.extend(paths.found);
                }
            }
        }
        self.modules.insert(module, found);
        Ok(())
    }

    fn find_uses(&mut self) {
        let mut uses = Uses::new();
        for (path, module) in &self.modules {
            for used in &module.used {
                let Some((file, name)) = self.resolve(path, used, 0) else { continue };
                if file != module.file {
                    let names = uses.entry((module.file.clone(), file)).or_default();
                    names.insert(name);
                }
            }
        }
        self.uses = uses;
    }

    /// Returns the file that defines the last name of a path, if the path is
    /// inside the crate.
    fn resolve(&self, from: &[String], path: &[String], depth: usize) -> Option<(String, String)> {
        if depth > 16 {
            return None;
        }
        let (first, rest) = path.split_first()?;
        let (mut module, mut rest) = match first.as_str() {
            "crate" => (Vec::new(), rest),
            "self" => (from.to_vec(), rest),
            "super" => (from[..from.len().checked_sub(1)?].to_vec(), rest),
            _ => (from.to_vec(), path),
        };
        while let Some((name, after)) = rest.split_first() {
            let found = self.modules.get(&module)?;
            if name == "super" {
                module.pop()?;
            } else if name == "*" {
                break;
            } else if found.defined.contains(name) {
                return Some((found.file.clone(), name.clone()));
            } else if found.children.contains(name) {
                module.push(name.clone());
            } else if let Some(import) = found.imported.get(name) {
                // An import with the same name from another crate ends here.
                if import == path && module == from {
                    return None;
                }
                let import = [import.as_slice(), after].concat();
                return self.resolve(&module, &import, depth + 1);
            } else {
                let mut globs = found.globs.iter();
                return globs.find_map(|glob| {
                    let end = glob.len().checked_sub(1)?;
                    let path = [&glob[..end], rest].concat();
                    self.resolve(&module, &path, depth + 1)
                });
            }
            rest = after;
        }
        let found = self.modules.get(&module)?;
        // A module as a name, such as in `use crate::policy`.
        (module != from).then(|| (found.file.clone(), module.last().cloned().unwrap_or_default()))
    }
}

/// Returns the file of a child module.
fn file_of(parent: &Path, name: &str) -> Result<PathBuf, String> {
    let stem = parent.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let folder = parent.parent().unwrap_or(parent);
    let folder = match stem.as_deref() {
        Some("lib" | "mod" | "main") | None => folder.to_path_buf(),
        Some(stem) => folder.join(stem),
    };
    let candidates = [folder.join(format!("{name}.rs")), folder.join(name).join("mod.rs")];
    let found = candidates.into_iter().find(|path| path.is_file());
    found.ok_or_else(|| format!("{}: no file of module `{name}`", parent.display()))
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test"))
    })
}

fn defined(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(it) => &it.ident,
        Item::Enum(it) => &it.ident,
        Item::Fn(it) => &it.sig.ident,
        Item::Macro(it) => it.ident.as_ref()?,
        Item::Static(it) => &it.ident,
        Item::Struct(it) => &it.ident,
        Item::Trait(it) => &it.ident,
        Item::Type(it) => &it.ident,
        Item::Union(it) => &it.ident,
        _ => return None,
    };
    Some(name.to_string())
}

/// Calls a function with each name that a `use` imports, and its path. For a
/// glob, the name is `None` and the path ends with `*`.
fn flatten(
    tree: &UseTree,
    path: &mut Vec<String>,
    found: &mut impl FnMut(Option<String>, Vec<String>),
) {
    match tree {
        UseTree::Path(it) => {
            path.push(it.ident.to_string());
            flatten(&it.tree, path, found);
            path.pop();
        }
        UseTree::Name(it) if it.ident == "self" => found(path.last().cloned(), path.clone()),
        UseTree::Name(it) => {
            let name = it.ident.to_string();
            found(Some(name.clone()), [path.as_slice(), &[name]].concat());
        }
        UseTree::Rename(it) => {
            let full = [path.as_slice(), &[it.ident.to_string()]].concat();
            found(Some(it.rename.to_string()), full);
        }
        UseTree::Glob(_) => found(None, [path.as_slice(), &["*".to_owned()]].concat()),
        UseTree::Group(it) => it.items.iter().for_each(|tree| flatten(tree, path, found)),
    }
}

/// The paths of an item that name a module.
#[derive(Default)]
struct Paths {
    found: Vec<Vec<String>>,
}

impl Visit<'_> for Paths {
    fn visit_item_mod(&mut self, item: &syn::ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_path(&mut self, path: &syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|it| it.ident.to_string()).collect();
        if names.len() > 1 {
            self.found.push(names);
        }
        visit::visit_path(self, path);
    }
}
