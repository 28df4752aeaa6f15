//! Pages that are both Markdown files and documentation: README and the guides
//! of the facade. Code of examples, also in the pages of the book.

use std::fs;
use std::path::Path;

use crate::tidy::files_below;

/// Returns the faults of the pages in the workspace in this folder.
pub fn check(root: &Path) -> Result<Vec<String>, String> {
    let read = |name: &str| {
        fs::read_to_string(root.join(name)).map_err(|error| format!("{name}: {error}"))
    };
    let readme = read(README)?;
    let mut faults = missing_features(&readme, &read("facade/Cargo.toml")?);
    faults.extend(page(README, &readme));
    for entry in fs::read_dir(root.join(GUIDES)).map_err(|error| format!("{GUIDES}: {error}"))? {
        let file = entry.map_err(|error| error.to_string())?.file_name();
        let name = format!("{GUIDES}/{}", file.to_string_lossy());
        let guide = read(&name)?;
        faults.extend(page(&name, &guide));
        faults.extend(changed_parts(root, &name, &guide));
    }
    for path in files_below(&root.join(BOOK)) {
        let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        if name.ends_with(".md") {
            faults.extend(changed_parts(root, &name, &read(&name)?));
        }
    }
    Ok(faults)
}

/// Returns the faults of the code blocks in a page that differ from their
/// files.
fn changed_parts(root: &Path, name: &str, page: &str) -> Vec<String> {
    let fault = |part: Part<'_>| match fs::read_to_string(root.join(part.path)) {
        Ok(source) if part.is_in(&source) => None,
        Ok(_) => Some(format!("{name}:{}: `{}` has other lines", part.number, part.path)),
        Err(error) => Some(format!("{name}:{}: `{}`: {error}", part.number, part.path)),
    };
    parts(page).into_iter().filter_map(fault).collect()
}

/// A part of an example in a guide: a code block that begins with the path of
/// its file, as a comment.
struct Part<'g> {
    /// The number of the line with the path.
    number: usize,
    path: &'g str,
    lines: Vec<&'g str>,
}

impl Part<'_> {
    /// Returns true if the source contains these lines consecutively, with any
    /// indentation. `…` in the part matches any further lines in the source.
    fn is_in(&self, source: &str) -> bool {
        let source: Vec<&str> = trimmed(source.lines());
        let mut rest = source.as_slice();
        self.lines.split(|line| *line == "…").all(|run| {
            let found = rest.windows(run.len().max(1)).position(|lines| lines == run);
            rest = found.and_then(|at| rest.get(at + run.len()..)).unwrap_or_default();
            found.is_some()
        })
    }
}

fn parts(guide: &str) -> Vec<Part<'_>> {
    let lines: Vec<(usize, &str)> = (1..).zip(guide.lines()).collect();
    let blocks = lines.split(|(_, line)| line.starts_with("```")).skip(1).step_by(2);
    blocks.filter_map(part).collect()
}

fn part<'g>(block: &[(usize, &'g str)]) -> Option<Part<'g>> {
    let ((number, first), lines) = block.split_first()?;
    // `#` begins a comment in a Dockerfile or a configuration file.
    let path = first.strip_prefix("// ").or_else(|| first.strip_prefix("# "));
    let path = path.filter(|path| path.starts_with("examples/"))?;
    Some(Part { number: *number, path, lines: trimmed(lines.iter().map(|(_, line)| *line)) })
}

/// Returns the lines without indentation and without empty lines.
fn trimmed<'l>(lines: impl Iterator<Item = &'l str>) -> Vec<&'l str> {
    lines.map(str::trim).filter(|line| !line.is_empty()).collect()
}

/// Returns the faults of a page: lines that only rustdoc hides, and file links,
/// which are broken in the documentation.
fn page(name: &str, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let (mut is_example, mut is_rust) = (false, false);
    for (number, line) in (1..).zip(text.lines()) {
        if let Some(language) = line.strip_prefix("```") {
            is_example = !is_example;
            is_rust = is_example && (language.is_empty() || language.starts_with("rust"));
        } else if is_rust && (line == "#" || line.starts_with("# ")) {
            faults.push(format!("{name}:{number}: only rustdoc hides a line with `# `: {line}"));
        } else if !is_example {
            let targets = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
            let files = targets.filter(|target| {
                !target.starts_with(['#', '<']) && !target.contains(':') && target.contains('.')
            });
            faults.extend(files.map(|file| {
                format!("{name}:{number}: the link to `{file}` is dead in the documentation")
            }));
        }
    }
    faults
}

/// Returns the faults of the feature table: each facade feature needs a row.
fn missing_features(readme: &str, manifest: &str) -> Vec<String> {
    let section = manifest.split_once("\n[features]\n").map_or("", |(_, rest)| rest);
    let section = section.split("\n[").next().unwrap_or_default();
    let names = section.lines().filter(|line| !line.starts_with(['#', ' ', ']']));
    let names = names.filter_map(|line| line.split_once(" = ")).map(|(name, _)| name);
    let rows: Vec<&str> = readme.lines().filter(|line| line.starts_with("| `")).collect();
    let has_row = |name: &str| {
        let code = format!("`{name}`");
        rows.iter().any(|row| row.split('|').nth(1).is_some_and(|cell| cell.contains(&code)))
    };
    names
        .filter(|name| *name != "default" && !has_row(name))
        .map(|name| format!("{README}: the feature `{name}` is in no table"))
        .collect()
}

const README: &str = "README.md";
const GUIDES: &str = "facade/docs";
const BOOK: &str = "book/src";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guide_shows_lines_that_its_example_has() {
        let source = "fn one() {\n    first();\n\n    second();\n    third();\n}\n";
        let check = |shown: &str, expected: bool| {
            let guide = format!(
                "# Guide\n```rust\nfree();\n```\n```text\n// examples/a.rs\n{shown}\n```\n"
            );
            let parts = parts(&guide);
            assert_eq!((parts.len(), parts[0].number, parts[0].path), (1, 6, "examples/a.rs"));
            assert_eq!(parts[0].is_in(source), expected, "{shown}");
        };
        check("first();\nsecond();", true);
        check("    second();\n\n    third();", true);
        check("first();\n…\nthird();", true);
        check("first();\nthird();", false);
        check("third();\n…\nfirst();", false);
        check("third();\n…\nthird();", false);
        check("fourth();", false);
    }

    #[test]
    fn the_pages_of_this_workspace_have_no_faults() {
        let faults = check(&crate::root()).unwrap();
        assert!(faults.is_empty(), "{faults:#?}");
    }

    #[test]
    fn examples_have_no_hidden_lines() {
        let text =
            "# A page\n```rust\n#[derive(Debug)]\n# fn main() {}\n#\n```\n```toml\n# hidden\n```\n";
        let faults = page("a.md", text);
        assert_eq!(faults.len(), 2, "{faults:?}");
        assert!(faults[0].starts_with("a.md:4: "), "{faults:?}");
    }

    #[test]
    fn links_to_files_are_dead_in_the_documentation() {
        #[track_caller]
        fn check(text: &str, expected: usize) {
            assert_eq!(page("a.md", text).len(), expected, "{text}");
        }
        check("[a](b/c.md) and ![d](e.svg)", 2);
        check("[a](https://a.example/c.md), [b](#c.d), [x](crate::y::z)", 0);
        check("```text\n[a](b.md)\n```", 0);
    }

    #[test]
    fn each_feature_has_a_row() {
        let manifest = "[a]\nb = 1\n\n[features]\ndefault = [\"a\"]\n# It.\na = []\nb-c = [\n    \"x\",\n]\n\n[c]\nd = 1\n";
        let readme = "| `a`, `x` | all about `b-c` |\n";
        let faults = missing_features(readme, manifest);
        assert_eq!(faults, ["README.md: the feature `b-c` is in no table"]);
    }
}
