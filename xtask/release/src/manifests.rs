//! The keys of the published manifests.

use serde_json::json;

use crate::checklist::Checklist;
use crate::metadata::{Package, Workspace};

/// Checks that all crates have one version and require exactly this version of
/// each other.
pub(crate) fn versions(workspace: &Workspace) -> Result<String, String> {
    let version = workspace.version();
    let required = format!("^{version}");
    let mut faults = Vec::new();
    let mut edges = 0;
    for package in workspace.published() {
        if package.version != version {
            faults.push(format!("{}: {} instead of {version}", package.name, package.version));
        }
        let dependencies = package.dependencies.iter();
        for dependency in dependencies.filter(|it| it.path.is_some() && it.is_published()) {
            edges += 1;
            if dependency.req != required {
                faults.push(format!(
                    "{}: requires {} {:?} instead of {required:?}",
                    package.name, dependency.name, dependency.req
                ));
            }
        }
    }
    fail_with(faults)?;
    Ok(format!("all crates have {version}, and their {edges} dependencies require it"))
}

/// Checks the settings of docs.rs and the keys that a registry requires.
pub(crate) fn docs_rs(workspace: &Workspace) -> Result<String, String> {
    let faults = workspace.published().flat_map(faults_of).collect();
    fail_with(faults)?;
    Ok("each has a description, a license, a Rust version and the settings of docs.rs".to_owned())
}

fn faults_of(package: &Package) -> Vec<String> {
    let mut faults = Vec::new();
    let settings = &package.metadata["docs"]["rs"];
    if settings["all-features"] != json!(true) {
        faults.push("`[package.metadata.docs.rs]` needs `all-features = true`");
    }
    if settings["rustdoc-args"] != json!(["--cfg", "docsrs"]) {
        faults.push("`[package.metadata.docs.rs]` needs `rustdoc-args = [\"--cfg\", \"docsrs\"]`");
    }
    for (key, value) in [
        ("description", &package.description),
        ("license", &package.license),
        ("rust-version", &package.rust_version),
    ] {
        if value.as_deref().is_none_or(str::is_empty) {
            faults.push(match key {
                "description" => "`description` is missing",
                "license" => "`license` is missing",
                _ => "`rust-version` is missing",
            });
        }
    }
    faults.iter().map(|fault| format!("{}: {fault}", package.name)).collect()
}

/// Adds the addresses that a maintainer has to set. A dry run passes without
/// them.
pub(crate) fn addresses(workspace: &Workspace, list: &mut Checklist) {
    let is_empty = |value: &Option<String>| value.as_deref().is_none_or(str::is_empty);
    let mut empty = Vec::new();
    for package in workspace.published() {
        let addresses = [
            ("repository", &package.repository),
            ("homepage", &package.homepage),
            ("documentation", &package.documentation),
        ];
        empty.extend(addresses.iter().filter(|(_, it)| is_empty(it)).map(|(key, _)| *key));
    }
    empty.sort_unstable();
    empty.dedup();
    if empty.is_empty() {
        list.check("addresses", Ok::<_, String>("all are set"));
    } else {
        list.open(
            "addresses",
            &format!(
                "set {} in `[workspace.package]` of Cargo.toml before the real release; \
                 a dry run passes without them",
                empty.join(", ")
            ),
        );
    }
}

/// Fails if there are faults.
pub(crate) fn fail_with(faults: Vec<String>) -> Result<(), String> {
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::tests::{on, workspace};

    #[test]
    fn all_crates_have_one_version() {
        let same = [on("a", "^0.1.0", None), on("a", "*", Some("dev"))];
        let found = workspace(&[("a", "0.1.0", &[]), ("stockade", "0.1.0", &same)]);
        let expected = "all crates have 0.1.0, and their 1 dependencies require it";
        assert_eq!(versions(&found).as_deref(), Ok(expected));

        let other = [on("a", "^0.1.1", Some("dev"))];
        let found = workspace(&[("a", "0.2.0", &[]), ("stockade", "0.1.0", &other)]);
        let expected = "a: 0.2.0 instead of 0.1.0\n\
                        stockade: requires a \"^0.1.1\" instead of \"^0.1.0\"";
        assert_eq!(versions(&found), Err(expected.to_owned()));
    }

    #[test]
    fn reports_each_missing_key() {
        let text = |text: &str| Some(text.to_owned());
        let metadata = json!({ "docs": { "rs": {
            "all-features": true, "rustdoc-args": ["--cfg", "docsrs"]
        } } });
        let complete = Package {
            name: "a".to_owned(),
            description: text("A"),
            license: text("MIT"),
            rust_version: text("1.88"),
            metadata,
            ..Package::default()
        };
        assert_eq!(faults_of(&complete), Vec::<String>::new());
        assert_eq!(faults_of(&Package::default()).len(), 5);
        let empty = Package { description: text(""), ..complete };
        assert_eq!(faults_of(&empty), ["a: `description` is missing"]);
    }
}
