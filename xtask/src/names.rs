//! Each public type name belongs to one crate. Two types with the same name are hard to
//! find in the documentation, and a file that needs both must rename one in its import.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Returns a fault for each public type name that several crates define.
pub fn check(root: &Path) -> Vec<String> {
    let folders = fs::read_dir(root.join("crates")).into_iter().flatten().flatten();
    let mut lists: Vec<String> = folders
        .map(|folder| folder.path())
        .chain([root.join("facade")])
        .filter_map(|folder| fs::read_to_string(folder.join("public-api.txt")).ok())
        .collect();
    lists.sort();
    duplicates(&lists)
}

/// Returns a fault for each type name that several of these lists of public items define.
///
/// A crate that exports the type of another crate lists it as `pub use`, so it does not
/// count as a definition.
fn duplicates(lists: &[String]) -> Vec<String> {
    let mut definitions: BTreeMap<&str, BTreeMap<&str, &str>> = BTreeMap::new();
    for path in lists.iter().flat_map(|list| list.lines()).filter_map(defined_type) {
        let crate_name = path.split("::").next().unwrap_or_default();
        let type_name = path.rsplit("::").next().unwrap_or_default();
        // A crate may export its own type from several modules.
        definitions.entry(type_name).or_default().entry(crate_name).or_insert(path);
    }
    let shared = definitions.into_iter().filter(|(_, crates)| crates.len() > 1);
    let fault = |(name, crates): (&str, BTreeMap<&str, &str>)| {
        let paths: Vec<&str> = crates.into_values().collect();
        format!(
            "duplicate public type name `{name}`: {}; rename all but one of them",
            paths.join(", ")
        )
    };
    shared.map(fault).collect()
}

/// Returns the path of the type that a line of `public-api.txt` defines. Associated types
/// belong to a type or trait, so they may have any name.
fn defined_type(line: &str) -> Option<&str> {
    let mut line = line;
    while line.starts_with("#[") {
        line = line.split_once("] ")?.1;
    }
    let line = line.strip_prefix("pub ")?;
    let line = line.strip_prefix("unsafe ").unwrap_or(line);
    let (kind, item) = line.split_once(' ')?;
    if !["struct", "enum", "trait", "type", "union"].contains(&kind) {
        return None;
    }
    let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let end = item.find(|c| !is_path(c)).unwrap_or(item.len());
    // A trait with supertraits continues with `: Bound`.
    let path = item[..end].trim_end_matches(':');
    let (modules, _) = path.rsplit_once("::")?;
    let is_module = |part: &str| part.starts_with(|c: char| c.is_lowercase());
    modules.split("::").all(is_module).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_a_type_name_of_two_crates() {
        let lists = [
            "pub struct one::Rule<T>\npub struct one::nested::Rule<T>\npub fn one::Rule::new()\n",
            "#[non_exhaustive] pub enum two::lock::Rule\npub two::lock::Rule::First\n",
        ];
        let expected = "duplicate public type name `Rule`: one::Rule, two::lock::Rule; rename all but one of \
             them";
        assert_eq!(duplicates(&lists.map(String::from)), [expected]);
    }

    #[test]
    fn accepts_re_exports_and_associated_types() {
        let lists = [
            "pub struct one::Rule\npub type one::Rule::Output = u8\npub trait one::Lookup: Sized\n",
            "pub use two::Rule\npub type two::Other::Output = u8\npub fn two::lookup()\n",
        ];
        assert_eq!(duplicates(&lists.map(String::from)), Vec::<String>::new());
    }

    #[test]
    fn finds_every_kind_of_type() {
        for (line, expected) in [
            ("pub struct one::A", Some("one::A")),
            ("#[non_exhaustive] pub enum one::a::B<'a>", Some("one::a::B")),
            ("#[must_use] #[non_exhaustive] pub struct one::C", Some("one::C")),
            ("pub trait one::D: core::fmt::Debug", Some("one::D")),
            ("pub unsafe trait one::D<T>: Sized", Some("one::D")),
            ("pub type one::E = u8", Some("one::E")),
            ("pub union one::F", Some("one::F")),
            ("pub type one::A::Item = u8", None),
            ("pub mod one::a", None),
            ("pub use one::A", None),
            ("pub one::A::Variant", None),
            ("impl core::fmt::Debug for one::A", None),
        ] {
            assert_eq!(defined_type(line), expected, "{line}");
        }
    }
}
