//! The paths of crates in generated code.
//!
//! They use the facade if the calling crate depends on it. Otherwise they refer
//! to the individual crates. The calling crate may rename its dependencies.

mod manifest;

use std::cell::{LazyCell, RefCell};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;

use self::manifest::Value;

/// The path of a workspace crate, as the calling crate sees it.
#[derive(Clone, Debug)]
pub(crate) struct CratePath {
    segments: Vec<String>,
}

impl CratePath {
    /// Finds the crate that provides `RouteTree`.
    pub(crate) fn routing() -> Self {
        Self::find("routing", &["stockade-routing"])
    }

    /// Finds the crate that provides `Reply`.
    pub(crate) fn core() -> Self {
        Self::find("core", &["stockade-core"])
    }

    /// Finds the crate that provides `ApiError`. `stockade-core` also provides
    /// it.
    pub(crate) fn errors() -> Self {
        Self::find("errors", &["stockade-errors", "stockade-core"])
    }

    /// Finds the crate that provides `HasSchema`.
    pub(crate) fn validation() -> Self {
        Self::find("validation", &["stockade-validation"])
    }

    /// Finds the crate that provides `IntoError`. Returns `None` if the calling
    /// crate does not depend on it, because the derive also works without it.
    pub(crate) fn core_if_there() -> Option<Self> {
        let is_there = ["stockade", "stockade-core"].map(name_of).iter().any(Option::is_some);
        is_there.then(Self::core)
    }

    /// Finds `serde_json`. The calling crate must depend on it unless it uses
    /// the facade.
    pub(crate) fn serde_json() -> Option<Self> {
        let facade = name_of("stockade").map(|name| Self::of(&[name, "serde_json".into()]));
        facade.or_else(|| Some(Self::of(&[name_of("serde_json")?])))
    }

    fn find(part: &str, single: &[&str]) -> Self {
        let through_facade = |name| Self::of(&[name, "__private".into(), part.into()]);
        if let Some(name) = name_of("stockade") {
            return through_facade(name);
        }
        match single.iter().find_map(|package| name_of(package)) {
            Some(name) => Self::of(&[name]),
            // A build that does not use Cargo does not have a manifest to read.
            None => through_facade("stockade".into()),
        }
    }

    fn of(segments: &[String]) -> Self {
        Self { segments: segments.to_vec() }
    }

    /// Returns the path with the span `span` on every token.
    pub(crate) fn at(&self, span: Span) -> TokenStream {
        self.segments
            .iter()
            .map(|segment| {
                let segment = Ident::new(segment, span);
                quote_spanned!(span=> ::#segment)
            })
            .collect()
    }
}

/// Returns the name of a package in the calling crate, or `None` if the crate
/// does not depend on it.
///
/// For the package itself, returns the name used in its examples, tests and doc
/// tests. Its own library needs `extern crate self as …` for this name. The
/// libraries in this workspace have it if their unit tests use a macro.
fn name_of(package: &str) -> Option<String> {
    /// The folder of a crate, and the names in its manifest.
    type Read = (PathBuf, BTreeMap<String, String>);
    thread_local! {
        // A crate may have hundreds of derives.
        static READ: RefCell<Option<Read>> = const { RefCell::new(None) };
    }
    let folder = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR")?);
    READ.with_borrow_mut(|read| {
        if !matches!(read, Some((of, _)) if *of == folder) {
            let names = manifest_in(&folder).map(|manifest| {
                names_in(&manifest, || folder.ancestors().skip(1).find_map(workspace_in))
            });
            *read = Some((folder, names.unwrap_or_default()));
        }
        let (_, names) = read.as_ref()?;
        names.get(package).map(|name| name.replace('-', "_"))
    })
}

fn manifest_in(folder: &Path) -> Option<Value> {
    basic_toml::from_str(&fs::read_to_string(folder.join("Cargo.toml")).ok()?).ok()
}

/// Returns the dependencies of the workspace with its root in `folder`.
fn workspace_in(folder: &Path) -> Option<Value> {
    manifest_in(folder)?.get("workspace")?.get("dependencies").cloned()
}

/// Returns the packages that a manifest depends on and the package itself, with
/// their names in the crate. `workspace` is called at most once.
fn names_in(
    manifest: &Value,
    workspace: impl FnOnce() -> Option<Value>,
) -> BTreeMap<String, String> {
    const TABLES: [&str; 2] = ["dependencies", "dev-dependencies"];
    let workspace = LazyCell::new(workspace);
    let mut names = BTreeMap::new();
    let own_name = manifest.get("package").and_then(|package| package.get("name")?.as_str());
    if let Some(name) = own_name {
        names.insert(name.to_owned(), name.to_owned());
    }
    let targets = manifest.get("target").and_then(Value::as_table);
    let of_targets = targets.into_iter().flat_map(|targets| targets.values());
    let tables = std::iter::once(manifest)
        .chain(of_targets)
        .flat_map(|part| TABLES.iter().filter_map(|name| part.get(name)?.as_table()));
    for (name, dependency) in tables.flatten() {
        let source = match dependency.get("workspace") {
            Some(_) => workspace.as_ref().and_then(|workspace| workspace.get(name)),
            None => Some(dependency),
        };
        let package = source.and_then(|source| source.get("package")?.as_str()).unwrap_or(name);
        names.entry(package.to_owned()).or_insert_with(|| name.clone());
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_renamed_dependency() {
        let find = |manifest: &str| {
            let workspace = "api = { package = \"stockade\" }\nstockade = \"0.1\"";
            let workspace = || basic_toml::from_str(workspace).ok();
            names_in(&basic_toml::from_str(manifest).unwrap(), workspace).remove("stockade")
        };
        for (manifest, name) in [
            ("[dependencies]\nstockade = \"0.1\"", Some("stockade")),
            ("[dependencies]\nstockade = { workspace = true, features = [] }", Some("stockade")),
            ("[dev-dependencies.stockade]\npath = \"x\"", Some("stockade")),
            ("[dependencies]\nweb = { package = \"stockade\", path = \"x\" }", Some("web")),
            ("[dependencies]\napi.workspace = true", Some("api")),
            ("[target.'cfg(unix)'.dependencies]\nstockade = \"0.1\"", Some("stockade")),
            ("[dependencies]\nstockade = { package = \"other\", path = \"x\" }", None),
            ("[dependencies]\nstockade-core = \"0.1\"", None),
            ("[package]\nname = \"x\"", None),
        ] {
            assert_eq!(find(manifest).as_deref(), name, "{manifest}");
        }
    }

    #[test]
    fn names_the_single_crate_without_the_facade() {
        // This crate only has dev-dependencies on the individual crates.
        let path = |path: CratePath| path.at(Span::call_site()).to_string();
        assert_eq!(path(CratePath::routing()), ":: stockade_routing");
        assert_eq!(path(CratePath::core()), ":: stockade_core");
        assert_eq!(path(CratePath::errors()), ":: stockade_errors");
        assert_eq!(path(CratePath::validation()), ":: stockade_validation");
    }
}
