//! Third-party files inside the published crates, and C sources inside their
//! dependencies.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::license::satisfies;
use crate::manifests::fail_with;
use crate::metadata::{Package, Workspace};

/// A bundled program or library.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Asset {
    /// The name of the package that contains it.
    pub(crate) inside: String,
    pub(crate) name: String,
    /// The version, if the package contains it.
    pub(crate) version: Option<String>,
    pub(crate) license: &'static str,
    /// The package URL without a version.
    pub(crate) purl: String,
}

/// Returns all bundled files. Fails if a file, a native library or a license is
/// not in the lists of this module.
pub(crate) fn check(workspace: &Workspace) -> Result<Vec<Asset>, String> {
    let mut assets = Vec::new();
    let mut faults = Vec::new();
    for package in workspace.published() {
        let folder = package.folder().join("assets");
        match BUNDLES.iter().find(|bundle| bundle.inside == package.name) {
            Some(bundle) => {
                faults.extend(unlisted(bundle, &names_in(&folder)?));
                assets.extend(bundle.assets(package.folder())?);
            }
            None if folder.exists() => faults.push(format!(
                "{}: list the files in `assets` in xtask/release/src/assets.rs",
                package.name
            )),
            None => {}
        }
    }
    for (package, _) in workspace.shipped()? {
        match native(package) {
            Ok(found) => assets.extend(found),
            Err(fault) => faults.push(fault),
        }
    }
    faults.extend(undeclared(workspace, &assets));
    fail_with(faults)?;
    Ok(assets)
}

/// Formats the number of bundled libraries in each package.
pub(crate) fn summary(assets: &[Asset]) -> String {
    let packages: BTreeSet<&str> = assets.iter().map(|asset| &*asset.inside).collect();
    let counts = packages.iter().map(|name| {
        let count = assets.iter().filter(|asset| asset.inside == **name).count();
        format!("{count} in {name}")
    });
    counts.collect::<Vec<_>>().join(", ")
}

/// The third-party files of a crate, below its folder `assets`.
struct Bundle {
    inside: &'static str,
    /// Files of other authors, with the texts of their licenses.
    foreign: &'static [&'static str],
    /// Our own files.
    own: &'static [&'static str],
    /// The npm packages: the constant with the version, and the license.
    npm: &'static [(&'static str, &'static str, &'static str)],
    /// A file with a section for each library in a script.
    sections: Option<&'static str>,
}

const BUNDLES: &[Bundle] = &[
    Bundle {
        inside: "stockade-swagger-ui",
        foreign: &[
            "LICENSE",
            "NOTICE",
            "swagger-ui-bundle.js.LICENSE.txt",
            "swagger-ui-bundle.js.gz",
            "swagger-ui.css.gz",
        ],
        own: &["SHA256SUMS", "swagger-ui-start.js"],
        npm: &[("swagger-ui-dist", "VERSION", "Apache-2.0")],
        sections: None,
    },
    Bundle {
        inside: "stockade-graphiql",
        foreign: &["LICENSES.txt", "graphiql.html.gz"],
        own: &["SHA256SUMS", "page.css", "page.html", "policy.txt", "start.js"],
        npm: &[
            ("graphiql", "VERSION", "MIT"),
            ("react", "REACT_VERSION", "MIT"),
            ("react-dom", "REACT_VERSION", "MIT"),
        ],
        sections: Some("LICENSES.txt"),
    },
];

impl Bundle {
    /// Returns the libraries of the crate in this folder.
    fn assets(&self, folder: &Path) -> Result<Vec<Asset>, String> {
        let source = read(&folder.join("src/lib.rs"))?;
        let mut assets = Vec::new();
        for (name, constant, license) in self.npm {
            let version = version_in(&source, constant);
            let version = version.ok_or_else(|| {
                format!("{}: src/lib.rs does not define `{constant}`", self.inside)
            })?;
            assets.push(self.asset(name, Some(version), license));
        }
        let Some(file) = self.sections else { return Ok(assets) };
        let text = read(&folder.join("assets").join(file))?;
        for section in sections(&text) {
            let (name, license) = section?;
            match assets.iter().find(|asset| asset.name == name) {
                None => assets.push(self.asset(name, None, license)),
                Some(asset) if asset.license == license => {}
                Some(_) => return Err(format!("{file}: the license of {name} is {license}")),
            }
        }
        Ok(assets)
    }

    fn asset(&self, name: &str, version: Option<&str>, license: &'static str) -> Asset {
        Asset {
            inside: self.inside.to_owned(),
            name: name.to_owned(),
            version: version.map(str::to_owned),
            license,
            purl: format!("pkg:npm/{}", name.replace('@', "%40")),
        }
    }
}

/// Returns files that are not in the lists of a bundle, and files that are
/// missing.
fn unlisted(bundle: &Bundle, files: &BTreeSet<String>) -> Vec<String> {
    let listed: BTreeSet<String> =
        bundle.foreign.iter().chain(bundle.own).map(|name| (*name).to_owned()).collect();
    let differences = files.symmetric_difference(&listed);
    let fault = |name: &String| {
        format!("{}: assets/{name} is only in one of folder and list", bundle.inside)
    };
    differences.map(fault).collect()
}

/// Returns the names and the licenses in a file of sections.
fn sections(text: &str) -> impl Iterator<Item = Result<(&str, &'static str), String>> {
    let line = "-".repeat(78);
    let sections: Vec<&str> = text.split(&line).map(str::trim).collect();
    sections.into_iter().filter(|section| !section.is_empty()).map(|section| {
        let (name, license) = section.split_once('\n').unwrap_or((section, ""));
        Ok((name, identify(license).ok_or(format!("{name}: unknown text of a license"))?))
    })
}

/// Returns the SPDX name of the license with this text.
fn identify(text: &str) -> Option<&'static str> {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some(name) = words.strip_suffix(", by its package.json") {
        return ["MIT", "Apache-2.0"].into_iter().find(|known| *known == name);
    }
    let (_, name) = TEXTS.iter().find(|(begin, _)| words.contains(begin))?;
    match *name {
        "0BSD" if words.contains("provided that the above copyright notice") => Some("ISC"),
        "BSD-2-Clause" if words.contains("Neither the name") => Some("BSD-3-Clause"),
        name => Some(name),
    }
}

/// A characteristic part of each license.
const TEXTS: &[(&str, &str)] = &[
    ("Permission is hereby granted, free of charge", "MIT"),
    ("Apache License Version 2.0", "Apache-2.0"),
    ("Redistribution and use in source and binary forms", "BSD-2-Clause"),
    ("Permission to use, copy, modify, and/or distribute this software", "0BSD"),
];

/// Returns the C libraries that a dependency contains.
fn native(package: &Package) -> Result<Option<Asset>, String> {
    let Some(links) = &package.links else { return Ok(None) };
    if links == "sqlite3" {
        let header = package.folder().join("sqlite3/sqlite3.h");
        let text = read(&header)?;
        let version = text.lines().find_map(|line| line.strip_prefix("#define SQLITE_VERSION "));
        let version = version.map(|version| version.trim().trim_matches('"').to_owned());
        return Ok(Some(Asset {
            inside: package.name.clone(),
            name: "SQLite".to_owned(),
            version: Some(version.ok_or(format!("{}: no version", header.display()))?),
            license: "blessing",
            purl: "pkg:generic/sqlite".to_owned(),
        }));
    }
    if LICENSED_BY_PACKAGE.contains(&&*package.name) {
        return Ok(None);
    }
    Err(format!(
        "{}: add the native library {links:?} to xtask/release/src/assets.rs",
        package.name
    ))
}

/// Packages with a license expression that includes their C sources, and one
/// package without C sources.
const LICENSED_BY_PACKAGE: &[&str] = &["ring", "wasm-bindgen-shared", "zstd-sys"];

/// Returns licenses of bundled files that the manifest of their crate lacks.
fn undeclared(workspace: &Workspace, assets: &[Asset]) -> Vec<String> {
    let mut faults = Vec::new();
    for package in workspace.published() {
        let expression = package.license.as_deref().unwrap_or_default();
        for asset in assets.iter().filter(|asset| asset.inside == package.name) {
            // Only an expression that requires this license fails without it.
            if satisfies(expression, &|id| id != asset.license) {
                faults.push(format!(
                    "{}: `license` does not require {}, the license of {}",
                    package.name, asset.license, asset.name
                ));
            }
        }
    }
    faults
}

/// Returns the value of a text constant in a source file.
fn version_in<'t>(source: &'t str, constant: &str) -> Option<&'t str> {
    let (_, rest) = source.split_once(&format!("pub const {constant}: &str = \""))?;
    rest.split_once('"').map(|(version, _)| version)
}

fn names_in(folder: &Path) -> Result<BTreeSet<String>, String> {
    let fault = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(folder).map_err(fault)? {
        names.insert(entry.map_err(fault)?.file_name().to_string_lossy().into_owned());
    }
    Ok(names)
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::tests::workspace;

    fn asset(license: &'static str) -> Asset {
        let (inside, name) = ("a".to_owned(), "script".to_owned());
        Asset { inside, name, version: None, license, purl: String::new() }
    }

    #[test]
    fn identifies_licenses() {
        #[track_caller]
        fn check(text: &str, expected: Option<&str>) {
            assert_eq!(identify(text), expected, "{text}");
        }
        check("MIT, by its package.json", Some("MIT"));
        check("GPL-3.0, by its package.json", None);
        check("(c) A\n\nPermission is hereby granted,\nfree of charge, to", Some("MIT"));
        let bsd = "Redistribution and use in source and binary forms, with";
        check(bsd, Some("BSD-2-Clause"));
        check(&format!("{bsd} Neither the name of"), Some("BSD-3-Clause"));
        let free = "Permission to use, copy, modify, and/or distribute this software for any";
        check(free, Some("0BSD"));
        check(&format!("{free} provided that the above copyright notice"), Some("ISC"));
        check("All rights reserved.", None);
    }

    #[test]
    fn sections_have_a_name_and_a_license() {
        let line = "-".repeat(78);
        let text =
            format!("@a/b\n\nMIT, by its package.json\n\n{line}\n\nc\n\nunknown\n\n{line}\n");
        let found: Vec<_> = sections(&text).collect();
        assert_eq!(found[0], Ok(("@a/b", "MIT")));
        assert_eq!(found[1], Err("c: unknown text of a license".to_owned()));
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn the_manifest_requires_the_licenses_of_the_files() {
        let mut found = workspace(&[("a", "0.1.0", &[])]);
        let mut check = |license: &str, expected: usize| {
            found.packages[0].license = Some(license.to_owned());
            assert_eq!(undeclared(&found, &[asset("0BSD")]).len(), expected, "{license}");
        };
        check("(MIT OR Apache-2.0) AND 0BSD", 0);
        check("MIT OR Apache-2.0", 1);
        check("MIT OR 0BSD", 1);
    }

    #[test]
    fn reports_new_files_and_new_native_libraries() {
        let bundle = &BUNDLES[0];
        let mut files: BTreeSet<String> =
            bundle.foreign.iter().chain(bundle.own).map(|name| (*name).to_owned()).collect();
        assert_eq!(unlisted(bundle, &files), Vec::<String>::new());
        files.insert("font.woff2".to_owned());
        assert_eq!(unlisted(bundle, &files).len(), 1);

        let package = |name: &str, links: Option<&str>| Package {
            name: name.to_owned(),
            links: links.map(str::to_owned),
            ..Package::default()
        };
        assert_eq!(native(&package("a", None)), Ok(None));
        assert_eq!(native(&package("ring", Some("ring_core"))), Ok(None));
        assert!(native(&package("a", Some("z"))).unwrap_err().contains("the native library \"z\""));
    }
}
