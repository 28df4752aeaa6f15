//! Examples of README and book, and the list of examples.

use std::fs;
use std::path::Path;

use crate::tidy::files_below;

/// Returns the faults of README and book in the workspace in this folder.
pub fn check(root: &Path) -> Result<Vec<String>, String> {
    let read = |name: &str| {
        fs::read_to_string(root.join(name)).map_err(|error| format!("{name}: {error}"))
    };
    let readme = read(README)?;
    let mut programs = flat_programs(&read("examples/Cargo.toml")?);
    programs.extend(packaged_programs(root)?);
    let mut faults = missing_examples(&read(EXAMPLES)?, &programs);
    faults.extend(hidden_lines(README, &readme));
    for path in files_below(&root.join(BOOK)) {
        let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        if !name.ends_with(".md") {
            continue;
        }
        let chapter = read(&name)?;
        faults.extend(hidden_lines(&name, &chapter));
        for part in parts(&chapter) {
            if !part.is_in(&read(part.path)?) {
                faults.push(format!("{name}:{}: `{}` has different lines", part.number, part.path));
            }
        }
    }
    Ok(faults)
}

/// A part of an example in a chapter: a code block that begins with the path of
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

fn parts(chapter: &str) -> Vec<Part<'_>> {
    let lines: Vec<(usize, &str)> = (1..).zip(chapter.lines()).collect();
    let blocks = lines.split(|(_, line)| line.starts_with("```")).skip(1).step_by(2);
    blocks.filter_map(part).collect()
}

fn part<'g>(block: &[(usize, &'g str)]) -> Option<Part<'g>> {
    let ((number, first), lines) = block.split_first()?;
    // A Dockerfile has other comments than Rust.
    let path = first.strip_prefix("// ").or_else(|| first.strip_prefix("# "));
    let path = path.filter(|path| path.starts_with("examples/"))?;
    Some(Part { number: *number, path, lines: trimmed(lines.iter().map(|(_, line)| *line)) })
}

/// Returns the lines without indentation and without empty lines.
fn trimmed<'l>(lines: impl Iterator<Item = &'l str>) -> Vec<&'l str> {
    lines.map(str::trim).filter(|line| !line.is_empty()).collect()
}

/// Returns the lines of Rust examples that only rustdoc hides.
fn hidden_lines(name: &str, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let (mut is_example, mut is_rust) = (false, false);
    for (number, line) in (1..).zip(text.lines()) {
        if let Some(language) = line.strip_prefix("```") {
            is_example = !is_example;
            is_rust = is_example && (language.is_empty() || language.starts_with("rust"));
        } else if is_rust && (line == "#" || line.starts_with("# ")) {
            faults.push(format!("{name}:{number}: only rustdoc hides a line with `# `: {line}"));
        }
    }
    faults
}

/// Returns the programs of the package `stockade-examples`.
fn flat_programs(manifest: &str) -> Vec<String> {
    let sections = manifest.split("\n[[bin]]\n").skip(1);
    sections.filter_map(|section| section.split('"').nth(1)).map(str::to_owned).collect()
}

/// Returns the programs of the other example packages: the files in `src/bin`,
/// or the name of the folder.
fn packaged_programs(root: &Path) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    let folders = fs::read_dir(root.join("examples")).map_err(|error| error.to_string())?;
    for folder in folders.filter_map(Result::ok).map(|folder| folder.path()) {
        let name = name_of(&folder);
        if ELSEWHERE.contains(&name.as_str()) || !folder.join("Cargo.toml").exists() {
            continue;
        }
        match fs::read_dir(folder.join("src/bin")) {
            Ok(files) => names.extend(files.filter_map(Result::ok).map(|it| name_of(&it.path()))),
            Err(_) => names.push(name),
        }
    }
    Ok(names)
}

/// Packages that other pages list.
const ELSEWHERE: [&str; 3] = ["from-axum", "internal", "tutorial"];

fn name_of(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns the faults of the list of examples. Each program needs a row.
fn missing_examples(page: &str, programs: &[String]) -> Vec<String> {
    let has_row =
        |name: &str| ["| `", "| [`"].iter().any(|row| page.contains(&format!("{row}{name}`")));
    let missing = programs.iter().filter(|name| !has_row(name));
    missing.map(|name| format!("{EXAMPLES}: add a row for the example `{name}`")).collect()
}

const README: &str = "README.md";
const EXAMPLES: &str = "examples/README.md";
const BOOK: &str = "book/src";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chapter_shows_lines_of_its_example() {
        let source = "fn one() {\n    first();\n\n    second();\n    third();\n}\n";
        let check = |shown: &str, expected: bool| {
            let chapter = format!(
                "# Chapter\n```rust\nfree();\n```\n```text\n// examples/a.rs\n{shown}\n```\n"
            );
            let parts = parts(&chapter);
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
        let faults = hidden_lines("a.md", text);
        assert_eq!(faults.len(), 2, "{faults:?}");
        assert!(faults[0].starts_with("a.md:4: "), "{faults:?}");
    }

    #[test]
    fn each_example_has_a_row() {
        let example = |name: &str| format!("\n[[bin]]\nname = \"{name}\"\npath = \"{name}.rs\"\n");
        let programs = flat_programs(&["a", "c", "d"].map(example).concat());
        let page = "| `a` | first |\n| [`d`](d) | fourth |\n";
        let faults = missing_examples(page, &programs);
        assert_eq!(faults, [format!("{EXAMPLES}: add a row for the example `c`")]);
    }
}
