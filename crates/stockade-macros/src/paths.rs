//! The paths of crates in generated code.
//!
//! They use the facade if the calling crate depends on it. Otherwise they refer
//! to the individual crates. The calling crate may rename its dependencies.

use proc_macro_crate::{FoundCrate, crate_name};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;

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
    match crate_name(package) {
        Ok(FoundCrate::Name(name)) => Some(name),
        Ok(FoundCrate::Itself) => Some(package.replace('-', "_")),
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
