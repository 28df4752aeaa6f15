//! Builds the GraphiQL page from npm files with recorded hashes, and from our
//! own template, style and script.
//!
//! For a new version: change `VERSION` and `DATE` of stockade-graphiql, run
//! this task, review the changed files, and write their hashes into
//! `SHA256SUMS`.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use crate::live_page::text_field;
use crate::{Outcome, announce, run, target_directory};

const CRATE: &str = "crates/stockade-graphiql";

/// The parts of the page. Each replaces the comment with its name in the
/// template. Parts with a folder come from npm.
const PARTS: [(&str, &str); 6] = [
    ("graphiql", "graphiql.css"),
    ("", "page.css"),
    ("react/umd", "react.production.min.js"),
    ("react-dom/umd", "react-dom.production.min.js"),
    ("graphiql", "graphiql.min.js"),
    ("", "start.js"),
];

/// The hash of the style that a GraphiQL dialog adds to the page to prevent
/// scrolling. It never changes, because the page does not have scroll bars.
const DIALOG_STYLE: &str = "'sha256-nzTgYzXYDNe6BAHiiI7NNlfK8n/auuOAhh2t92YvuXo='";

pub fn refresh() -> Outcome {
    let assets = Path::new(CRATE).join("assets");
    let folder = target_directory()?.join("graphiql");
    fs::create_dir_all(&folder).map_err(fault)?;
    install(&folder)?;
    let packages = folder.join("node_modules");
    let sums = fs::canonicalize(assets.join("SHA256SUMS")).map_err(fault)?;
    run(Command::new("sha256sum").arg("--check").arg(sums).current_dir(&packages))?;

    let mut page = fs::read_to_string(assets.join("page.html")).map_err(fault)?;
    let (mut scripts, mut styles) = (Vec::new(), vec![DIALOG_STYLE.to_owned()]);
    for (package, name) in PARTS {
        let place = if package.is_empty() { assets.clone() } else { packages.join(package) };
        let text = fs::read_to_string(place.join(name)).map_err(fault)?;
        let text = without_fonts(&text);
        let (element, hashes) =
            if name.ends_with(".css") { ("style", &mut styles) } else { ("script", &mut scripts) };
        check(name, &text)?;
        hashes.push(hash(&folder, &text)?);
        page =
            page.replace(&format!("<!-- {name} -->"), &format!("<{element}>{text}</{element}>\n"));
    }
    fs::write(assets.join("policy.txt"), policy(&scripts, &styles)).map_err(fault)?;
    fs::write(assets.join("LICENSES.txt"), licenses(&packages)?).map_err(fault)?;
    compress(&folder, &page, &assets.join("graphiql.html.gz"))
}

fn fault(error: std::io::Error) -> String {
    format!("{CRATE}: {error}")
}

/// Installs the packages in the versions that the crate names, and their
/// dependencies for their licenses. npm checks the hashes from the registry.
fn install(folder: &Path) -> Outcome {
    let source = fs::read_to_string(format!("{CRATE}/src/lib.rs")).map_err(fault)?;
    let version = |name: &str| {
        let found = source.split_once(&format!("const {name}: &str = \""));
        let version = found.and_then(|(_, rest)| rest.split_once('"'));
        version.map(|(version, _)| version).ok_or(format!("the crate does not contain {name}"))
    };
    let (graphiql, react) = (version("VERSION")?, version("REACT_VERSION")?);
    // Without this file, npm installs into the parent folder.
    fs::write(folder.join("package.json"), r#"{"private":true}"#).map_err(fault)?;
    let mut npm = Command::new("npm");
    npm.args(["install", "--ignore-scripts", "--no-audit", "--no-fund", "--save-exact"]);
    npm.arg(format!("--before={}", version("DATE")?));
    // GraphiQL's script also contains these two packages.
    npm.arg(format!("graphiql@{graphiql}")).args(["graphql@16", "graphql-ws@6"]);
    npm.arg(format!("react@{react}")).arg(format!("react-dom@{react}"));
    run(npm.current_dir(folder))
}

/// Removes the fonts of a style sheet: they make up most of it, their licenses
/// are not in the package, and the sheet names fallback fonts.
fn without_fonts(text: &str) -> String {
    let mut parts = text.split("@font-face {");
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        kept += part.split_once("\n}\n").map_or("", |(_, rest)| rest);
    }
    kept
}

/// Fails if the text would end its element or hide the end of the element.
fn check(name: &str, text: &str) -> Outcome {
    let text = text.to_ascii_lowercase();
    let ends = text.contains("</script") || text.contains("</style");
    let hides = text.contains("<!--") && text.contains("<script");
    if ends || hides { Err(format!("{name} cannot be embedded in the page")) } else { Ok(()) }
}

/// Returns the hash of a text in the format of a content security policy.
fn hash(folder: &Path, text: &str) -> Result<String, String> {
    let file = folder.join("part");
    fs::write(&file, text).map_err(fault)?;
    let mut sum = Command::new("sha256sum");
    announce(sum.arg(&file));
    let output = sum.output().map_err(fault)?;
    let hex = output.stdout.get(..64).ok_or("sha256sum failed")?;
    let byte = |pair: &[u8]| u8::from_str_radix(&String::from_utf8_lossy(pair), 16);
    let bytes: Result<Vec<u8>, _> = hex.chunks(2).map(byte).collect();
    Ok(format!("'sha256-{}'", base64(&bytes.map_err(|error| error.to_string())?)))
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits = (0..3).fold(0, |bits, at| bits << 8 | usize::from(*group.get(at).unwrap_or(&0)));
        for at in 0..4 {
            let digit = DIGITS[bits >> (18 - 6 * at) & 63];
            text.push(if at <= group.len() { digit.into() } else { '=' });
        }
    }
    text
}

/// Returns a policy that allows only the page's scripts and styles, and
/// requests to its own host.
fn policy(scripts: &[String], styles: &[String]) -> String {
    format!(
        "default-src 'none'; script-src {}; style-src {}; connect-src 'self'; img-src data:; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        scripts.join(" "),
        styles.join(" ")
    )
}

/// Returns the licenses of GraphiQL, React, and each package in the source map
/// of the script.
fn licenses(packages: &Path) -> Result<String, String> {
    let map = fs::read_to_string(packages.join("graphiql/graphiql.min.js.map")).map_err(fault)?;
    let (_, sources) =
        map.split_once("\"sources\":[").ok_or("the source map does not list its sources")?;
    let (sources, _) = sources.split_once(']').ok_or("the source map does not list its sources")?;
    let mut names = BTreeSet::from(["graphiql", "react", "react-dom"]);
    names.extend(sources.split('"').filter_map(package_of));
    let mut all = String::new();
    for name in names {
        let text = license(&packages.join(name)).map_err(|error| format!("{name}: {error}"))?;
        all += &format!("{name}\n\n{}\n\n{}\n\n", text.trim().replace('\r', ""), "-".repeat(78));
    }
    Ok(all)
}

/// Returns the license file of a package, or the name of the license if there
/// is no file.
fn license(package: &Path) -> Result<String, String> {
    for entry in fs::read_dir(package).map_err(|error| error.to_string())? {
        let path = entry.map_err(|error| error.to_string())?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        if name.starts_with("license") {
            return fs::read_to_string(path).map_err(|error| error.to_string());
        }
    }
    let manifest = fs::read_to_string(package.join("package.json"));
    let manifest = manifest.map_err(|error| error.to_string())?.replace("\": \"", "\":\"");
    let name = text_field(&manifest, "license")?;
    Ok(format!("{name}, by its package.json"))
}

/// Returns the package of a source, from npm or from the GraphiQL repository.
fn package_of(source: &str) -> Option<&str> {
    let (_, path) = source.rsplit_once("node_modules/")?;
    let end = if path.starts_with('@') { path.find('/')? + 1 } else { 0 };
    let length = path[end..].find('/')?;
    Some(&path[..end + length])
}

/// Compresses the page without a file name and a timestamp, which makes the
/// output reproducible.
fn compress(folder: &Path, page: &str, to: &Path) -> Outcome {
    let from = folder.join("graphiql.html");
    fs::write(&from, page).map_err(fault)?;
    let mut gzip = Command::new("gzip");
    announce(gzip.args(["--best", "--no-name", "--stdout"]).arg(from));
    let status = gzip.stdout(File::create(to).map_err(fault)?).status().map_err(fault)?;
    if status.success() { Ok(()) } else { Err("gzip failed".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root;

    /// Returns the texts inside the elements with this name.
    fn within<'p>(mut page: &'p str, element: &str) -> Vec<&'p str> {
        let (start, end) = (format!("<{element}>"), format!("</{element}>"));
        let mut texts = Vec::new();
        while let Some((_, rest)) = page.split_once(&start) {
            let (text, rest) = rest.split_once(&end).unwrap();
            texts.push(text);
            page = rest;
        }
        texts
    }

    #[test]
    fn the_page_references_its_files_and_the_policy_its_hashes() {
        let assets = root().join(CRATE).join("assets");
        let mut gzip = Command::new("gzip");
        let output = gzip.arg("-dc").arg(assets.join("graphiql.html.gz")).output().unwrap();
        let page = String::from_utf8(output.stdout).unwrap();
        let (scripts, styles) = (within(&page, "script"), within(&page, "style"));
        for (found, own, count) in [(&scripts, "start.js", 4), (&styles, "page.css", 2)] {
            assert_eq!(found.len(), count);
            assert_eq!(found[count - 1], fs::read_to_string(assets.join(own)).unwrap());
        }
        let folder = std::env::temp_dir().join(format!("stockade-graphiql-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let hashes = |texts: Vec<&str>| -> Vec<String> {
            texts.into_iter().map(|text| hash(&folder, text).unwrap()).collect()
        };
        let mut styles = hashes(styles);
        styles.insert(0, DIALOG_STYLE.to_owned());
        let wanted = policy(&hashes(scripts), &styles);
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(fs::read_to_string(assets.join("policy.txt")).unwrap(), wanted);
    }

    #[test]
    fn base64_pads_its_last_group() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v")] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(base64(&[0xfb, 0xff, 0xfe]), "+//+");
    }

    #[test]
    fn removes_only_fonts_from_a_style_sheet() {
        let sheet =
            "a {\n  b: c;\n}\n@font-face {\n  src: url(x);\n}\n@font-face {\n  d: e;\n}\nf {\n}\n";
        assert_eq!(without_fonts(sheet), "a {\n  b: c;\n}\nf {\n}\n");
    }

    #[test]
    fn finds_text_that_ends_its_element() {
        for (text, fits) in [
            ("let a = 1 < 2;", true),
            ("'</ScRipt>'", false),
            ("/^<!--/, /-->/", true),
            ("'<!--' + '<script>'", false),
        ] {
            assert_eq!(check("a.js", text).is_ok(), fits, "{text}");
        }
    }

    #[test]
    fn the_package_of_a_source_is_the_innermost() {
        for (source, package) in [
            ("../node_modules/graphql/language/lexer.mjs", Some("graphql")),
            ("../node_modules/a/node_modules/@b/c/d.js", Some("@b/c")),
            ("../../graphiql-react/dist/provider.js", None),
        ] {
            assert_eq!(package_of(source), package, "{source}");
        }
    }
}
