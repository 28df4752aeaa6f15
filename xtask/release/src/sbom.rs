//! The software bill of materials: one CycloneDX document of all published
//! crates, their dependencies and their bundled files.
//!
//! cargo-cyclonedx writes a document for each crate, and does not know bundled
//! files. The document does not contain a time or a random number, so the same
//! commit always gives the same document.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use xtask::{openapi, root, run, skip};

use crate::assets::Asset;
use crate::manifests::fail_with;
use crate::metadata::{Package, Workspace};

/// Writes the document into the target directory, and checks it.
pub(crate) fn write(workspace: &Workspace, assets: &[Asset]) -> Result<String, String> {
    let lock = read(&root().join("Cargo.lock"))?;
    let document = document(workspace, assets, &checksums(&lock))?;
    fail_with(faults(&document))?;
    let folder = workspace.target_directory.join("sbom");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let file = folder.join(format!("stockade-{}.cdx.json", workspace.version()));
    let text = serde_json::to_string_pretty(&document).map_err(|error| error.to_string())?;
    fs::write(&file, text + "\n").map_err(|error| format!("{}: {error}", file.display()))?;
    let by = if validate(&folder, &file)? { "schema" } else { "required fields only" };
    let count = document["components"].as_array().map_or(0, Vec::len);
    Ok(format!("{count} components, checked against the {by}: {}", file.display()))
}

/// The version of CycloneDX.
const VERSION: &str = "1.6";

fn document(
    workspace: &Workspace,
    assets: &[Asset],
    checksums: &BTreeMap<(&str, &str), &str>,
) -> Result<Value, String> {
    let shipped = workspace.shipped()?;
    let by_id: BTreeMap<&str, String> =
        shipped.iter().map(|(package, _)| (&*package.id, purl(package))).collect();
    let mut components = Vec::new();
    let mut dependencies = Vec::new();
    let mut facade = Value::Null;
    for (package, below) in &shipped {
        let mut component = component(package);
        if let Some(checksum) = checksums.get(&(&*package.name, &*package.version)) {
            component["hashes"] = json!([{ "alg": "SHA-256", "content": checksum }]);
        }
        if package.name == "stockade" {
            facade = component;
        } else {
            components.push(component);
        }
        let mut on: BTreeSet<String> = below.iter().map(|id| by_id[id].clone()).collect();
        let inside = assets.iter().filter(|asset| asset.inside == package.name);
        on.extend(inside.map(reference));
        dependencies.push(json!({ "ref": purl(package), "dependsOn": on }));
    }
    for asset in assets {
        components.push(asset_component(asset));
        dependencies.push(json!({ "ref": reference(asset), "dependsOn": [] }));
    }
    Ok(json!({
        "$schema": format!("http://cyclonedx.org/schema/bom-{VERSION}.schema.json"),
        "bomFormat": "CycloneDX",
        "specVersion": VERSION,
        "version": 1,
        "metadata": {
            "component": facade,
            "tools": { "components": [{ "type": "application", "name": "stockade xtask" }] },
        },
        "components": components,
        "dependencies": dependencies,
    }))
}

fn component(package: &Package) -> Value {
    let license = package.license.as_deref().unwrap_or_default().replace('/', " OR ");
    let mut component = json!({
        "type": "library",
        "bom-ref": purl(package),
        "name": package.name,
        "version": package.version,
        "licenses": [{ "expression": license }],
        "purl": purl(package),
    });
    let repository = package.repository.as_deref().filter(|url| !url.is_empty());
    if let Some(url) = repository {
        component["externalReferences"] = json!([{ "type": "vcs", "url": url }]);
    }
    component
}

fn purl(package: &Package) -> String {
    // A version may contain `+`, which a package URL escapes.
    format!("pkg:cargo/{}@{}", package.name, package.version.replace('+', "%2B"))
}

fn asset_component(asset: &Asset) -> Value {
    let mut component = json!({
        "type": "library",
        "bom-ref": reference(asset),
        "name": asset.name,
        "licenses": [{ "license": { "id": asset.license } }],
        "description": format!("inside the package {}", asset.inside),
        "purl": versioned(&asset.purl, asset),
    });
    if let Some(version) = &asset.version {
        component["version"] = json!(version);
    }
    component
}

/// Returns the name of a bundled library in the document.
fn reference(asset: &Asset) -> String {
    versioned(&format!("{}/{}", asset.inside, asset.name), asset)
}

fn versioned(text: &str, asset: &Asset) -> String {
    asset.version.as_ref().map_or(text.to_owned(), |version| format!("{text}@{version}"))
}

/// Returns the checksums of the packages from registries in a lock file, by
/// name and version.
fn checksums(lock: &str) -> BTreeMap<(&str, &str), &str> {
    let mut found = BTreeMap::new();
    for package in lock.split("[[package]]").skip(1) {
        let value = |key: &str| {
            let line = package.lines().find_map(|line| line.strip_prefix(key))?;
            line.strip_prefix(" = \"")?.strip_suffix('"')
        };
        if let (Some(name), Some(version), Some(checksum)) =
            (value("name"), value("version"), value("checksum"))
        {
            found.insert((name, version), checksum);
        }
    }
    found
}

/// Returns the faults of a document: fields that the schema requires, duplicate
/// and unknown references, and components without a license or a hash.
fn faults(document: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    for (key, expected) in
        [("bomFormat", json!("CycloneDX")), ("specVersion", json!(VERSION)), ("version", json!(1))]
    {
        if document[key] != expected {
            faults.push(format!("`{key}` is {} instead of {expected}", document[key]));
        }
    }
    let empty = Vec::new();
    let listed = document["components"].as_array().unwrap_or(&empty);
    let mut references = BTreeSet::new();
    for component in listed.iter().chain([&document["metadata"]["component"]]) {
        let text = |key: &str| component[key].as_str().unwrap_or_default();
        let name = text("name");
        if name.is_empty() || text("type") != "library" {
            faults.push(format!("a component lacks a name or a type: {component}"));
        }
        if !references.insert(text("bom-ref")) || text("bom-ref").is_empty() {
            faults.push(format!("{name}: the reference {:?} is not unique", text("bom-ref")));
        }
        let license = &component["licenses"][0];
        let license = license["expression"].as_str().or(license["license"]["id"].as_str());
        if license.is_none_or(str::is_empty) {
            faults.push(format!("{name}: no license"));
        }
        let is_ours = name == "stockade" || name.starts_with("stockade-");
        if text("purl").starts_with("pkg:cargo/") && !is_ours {
            let hash = component["hashes"][0]["content"].as_str().unwrap_or_default();
            if hash.len() != 64 || !hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                faults.push(format!("{name}: no checksum in Cargo.lock"));
            }
        }
    }
    for dependency in document["dependencies"].as_array().unwrap_or(&empty) {
        let on = dependency["dependsOn"].as_array().unwrap_or(&empty);
        for reference in on.iter().chain([&dependency["ref"]]) {
            if !references.contains(reference.as_str().unwrap_or_default()) {
                faults.push(format!("unknown reference {reference}"));
            }
        }
    }
    faults
}

/// Validates the document with the schema in PyPI's `cyclonedx-python-lib`.
/// Returns false if the library cannot be installed.
fn validate(folder: &Path, file: &Path) -> Result<bool, String> {
    let wanted = folder.join("requirements.txt");
    fs::write(&wanted, REQUIREMENTS).map_err(|error| format!("{}: {error}", wanted.display()))?;
    if !openapi::install_python(folder) {
        skip("the schema of the SBOM (python3 with `venv`, and access to PyPI)");
        return Ok(false);
    }
    let mut python = openapi::python(folder, "python");
    run(python.args(["-c", VALIDATE]).arg(file)).map(|()| true)
}

const REQUIREMENTS: &str = include_str!("../requirements.txt");

const VALIDATE: &str = include_str!("../validate.py");

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn library(name: &str, reference: &str) -> Value {
        json!({
            "type": "library", "bom-ref": reference, "name": name,
            "licenses": [{ "license": { "id": "MIT" } }],
        })
    }

    fn complete() -> Value {
        json!({
            "bomFormat": "CycloneDX", "specVersion": VERSION, "version": 1,
            "metadata": { "component": library("stockade", "s") },
            "components": [library("script", "a"), {
                "type": "library", "bom-ref": "b", "name": "http", "purl": "pkg:cargo/http@1.0.0",
                "licenses": [{ "expression": "MIT OR Apache-2.0" }],
                "hashes": [{ "alg": "SHA-256", "content": "0".repeat(64) }],
            }],
            "dependencies": [{ "ref": "s", "dependsOn": ["a", "b"] }],
        })
    }

    #[test]
    fn reports_faults_of_a_document() {
        assert_eq!(faults(&complete()), Vec::<String>::new());
        #[track_caller]
        fn check(change: impl Fn(&mut Value), expected: &str) {
            let mut document = complete();
            change(&mut document);
            let found = faults(&document);
            assert!(found.iter().any(|fault| fault.contains(expected)), "{found:?}");
        }
        check(|it| it["specVersion"] = json!("1.0"), "`specVersion`");
        check(|it| it["components"][0]["name"] = json!(""), "lacks a name");
        check(|it| it["components"][0]["bom-ref"] = json!("b"), "\"b\" is not unique");
        check(|it| it["components"][0]["bom-ref"] = json!("c"), "unknown reference \"a\"");
        check(|it| it["components"][0]["licenses"] = json!([]), "script: no license");
        check(|it| it["components"][1]["hashes"] = json!([]), "http: no checksum");
        check(|it| it["dependencies"][0]["ref"] = json!("c"), "unknown reference \"c\"");
    }

    #[test]
    fn reads_checksums_by_version() {
        let lock = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\n\
            source = \"r\"\nchecksum = \"12\"\ndependencies = [\n \"b\",\n]\n\n\
            [[package]]\nname = \"ours\"\nversion = \"0.1.0\"\n";
        assert_eq!(checksums(lock), BTreeMap::from([(("a", "1.0.0"), "12")]));
    }

    #[test]
    fn escapes_the_metadata_of_a_version() {
        let (name, version) = ("a".to_owned(), "1.0.0+b".to_owned());
        let package = Package { name, version, ..Package::default() };
        assert_eq!(purl(&package), "pkg:cargo/a@1.0.0%2Bb");
    }
}
