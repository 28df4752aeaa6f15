//! The book: its links, anchors, table of contents and chapter lengths, and its
//! HTML by mdBook.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use crate::tidy::{documents, files_below};
use crate::{Outcome, book_page, cargo, root, run as run_command, target_directory};

/// The version that `run` installs. It also accepts other versions of the same
/// series.
const VERSION: &str = "0.5.4";
const SERIES: &str = "mdbook v0.5.";

const SOURCE: &str = "book/src";
const CONTENTS: &str = "book/src/SUMMARY.md";
const APPENDIX: &str = "book/src/appendix/";

/// The maximum number of words of a chapter, including its code.
const WORDS: usize = 2_000;

/// Checks the book, builds it into `target/book`, and opens it in Chromium.
pub fn run() -> Outcome {
    let faults = check(&root());
    if !faults.is_empty() {
        return Err(faults.join("\n"));
    }
    let target = target_directory()?;
    let mdbook = mdbook(&target.join("tools"))?;
    let folder = target.join("book");
    run_command(Command::new(mdbook).args(["build", "book", "--dest-dir"]).arg(&folder))?;
    println!("{}", folder.join("index.html").display());
    book_page::check(&folder)
}

/// Returns the path of mdBook. Installs it below `tools` if it is missing.
fn mdbook(tools: &Path) -> Result<PathBuf, String> {
    let installed = tools.join("bin/mdbook");
    for candidate in [PathBuf::from("mdbook"), installed.clone()] {
        let output = Command::new(&candidate).arg("--version").output();
        if output.is_ok_and(|output| output.stdout.starts_with(SERIES.as_bytes())) {
            return Ok(candidate);
        }
    }
    let tools = tools.to_str().ok_or("the target directory is not UTF-8")?;
    cargo(&["install", "mdbook", "--locked", "--version", VERSION, "--root", tools])?;
    Ok(installed)
}

/// Returns the faults of the book and of the links in other documents.
pub fn check(root: &Path) -> Vec<String> {
    let pages = pages(root);
    let mut faults = Vec::new();
    for (name, text) in &pages {
        faults.extend(dead_links(name, text, &pages, |path| root.join(path).exists()));
        faults.extend(too_long(name, text));
    }
    faults.extend(contents(&pages));
    faults
}

/// Returns the documents by their paths from the root: the book, the documents
/// at the root, and `docs`.
fn pages(root: &Path) -> BTreeMap<String, String> {
    let below = [SOURCE, "docs"].into_iter().flat_map(|folder| files_below(&root.join(folder)));
    let below = below.filter(|path| path.extension().is_some_and(|it| it == "md"));
    let read = |path: PathBuf| {
        let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        Some((name, fs::read_to_string(&path).ok()?))
    };
    documents(root).into_iter().chain(below).filter_map(read).collect()
}

/// Returns the faults of the links in a page to files and anchors.
fn dead_links(
    name: &str,
    text: &str,
    pages: &BTreeMap<String, String>,
    exists: impl Fn(&str) -> bool,
) -> Vec<String> {
    let mut faults = Vec::new();
    for (number, line) in prose(text) {
        for target in targets(&without_code(line)) {
            let (path, anchor) = target.split_once('#').unwrap_or((target.as_str(), ""));
            let path = if path.is_empty() { name.to_owned() } else { resolve(name, path) };
            let leaves = name.starts_with(SOURCE) && !path.starts_with(SOURCE);
            let fault = if leaves {
                "leads out of the book"
            } else if !exists(&path) {
                "leads to no file"
            } else if !anchor.is_empty()
                && pages.get(&path).is_some_and(|page| !anchors(page).contains(anchor))
            {
                "leads to no heading"
            } else {
                continue;
            };
            faults.push(format!("{name}:{number}: the link to `{target}` {fault}"));
        }
    }
    faults
}

/// Returns the lines outside of code blocks, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// Returns a line without its inline code.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

/// Returns the targets of relative links.
fn targets(line: &str) -> Vec<String> {
    let links = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let definition = line.strip_prefix('[').and_then(|rest| rest.split_once("]: "));
    let targets = links.chain(definition.map(|(_, target)| target));
    let targets = targets.map(|target| target.trim().trim_matches(['<', '>']));
    let is_relative = |target: &&str| !target.is_empty() && !target.contains(':');
    targets.filter(is_relative).map(str::to_owned).collect()
}

/// Returns the path from the root for a link in this page.
fn resolve(page: &str, link: &str) -> String {
    let folder = Path::new(page).parent().unwrap_or(Path::new(""));
    let mut path = PathBuf::new();
    for component in folder.join(link).components() {
        match component {
            Component::ParentDir => {
                path.pop();
            }
            Component::Normal(name) => path.push(name),
            _ => {}
        }
    }
    path.display().to_string()
}

/// Returns the anchors of the headings, as mdBook and GitHub name them. A
/// repeated heading gets a number.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut found = BTreeSet::new();
    for (_, line) in prose(text) {
        let heading = line.trim_start_matches('#');
        let level = line.len() - heading.len();
        if !(1..=6).contains(&level) || !heading.starts_with(' ') {
            continue;
        }
        let name = anchor(heading.trim());
        let count = seen.entry(name.clone()).or_default();
        found.insert(if *count == 0 { name } else { format!("{name}-{count}") });
        *count += 1;
    }
    found
}

fn anchor(heading: &str) -> String {
    let keeps = |c: char| match c {
        ' ' => Some('-'),
        '_' | '-' => Some(c),
        _ => c.is_alphanumeric().then(|| c.to_ascii_lowercase()),
    };
    heading.chars().filter_map(keeps).collect()
}

/// Returns the fault of a chapter above the maximum length.
fn too_long(name: &str, text: &str) -> Option<String> {
    let words = text.split_whitespace().count();
    let is_chapter = name.starts_with(SOURCE) && !name.starts_with(APPENDIX);
    (is_chapter && words > WORDS).then(|| {
        format!("{name}: a chapter has at most {WORDS} words, and this one has {words}: split it")
    })
}

/// Returns the chapters that are missing or duplicate in the table of contents,
/// and chapters with a name that mdBook changes.
fn contents(pages: &BTreeMap<String, String>) -> Vec<String> {
    let Some(text) = pages.get(CONTENTS) else {
        return vec![format!("{CONTENTS} is missing")];
    };
    let mut listed: BTreeMap<String, usize> = BTreeMap::new();
    for target in prose(text).flat_map(|(_, line)| targets(line)) {
        *listed.entry(resolve(CONTENTS, &target)).or_default() += 1;
    }
    let chapters = pages.keys().filter(|name| name.starts_with(SOURCE) && *name != CONTENTS);
    let fault = |name: &String| match listed.get(name) {
        _ if name.ends_with("/README.md") => {
            Some(format!("{name}: mdBook renames it, so links to it are dead: use another name"))
        }
        None => Some(format!("{name}: {CONTENTS} does not list this chapter")),
        Some(1) => None,
        Some(count) => Some(format!("{name}: {CONTENTS} lists this chapter {count} times")),
    };
    chapters.filter_map(fault).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages_of(pages: &[(&str, &str)]) -> BTreeMap<String, String> {
        pages.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn finds_dead_links() {
        let other = ("book/src/a/other.md", "# Other\n## In `code`, twice\n## In code twice\n");
        #[track_caller]
        fn check(other: (&str, &str), text: &str, expected: &[&str]) {
            let pages = pages_of(&[("book/src/a/page.md", text), other, ("README.md", "# Top\n")]);
            let known = pages.clone();
            let faults =
                dead_links("book/src/a/page.md", text, &pages, |path| known.contains_key(path));
            let expected: Vec<_> = expected
                .iter()
                .map(|it| format!("book/src/a/page.md:1: the link to {it}"))
                .collect();
            assert_eq!(faults, expected, "{text}");
        }
        check(other, "[a](other.md), [b](../a/other.md#other), [c](https://a.example/x#y)", &[]);
        check(other, "[a](other.md#in-code-twice) and [b](other.md#in-code-twice-1)", &[]);
        check(other, "`[a](none.md)`\n```\n[b](none.md)\n```", &[]);
        check(other, "[a](none.md)", &["`none.md` leads to no file"]);
        check(other, "[a]: none.md", &["`none.md` leads to no file"]);
        check(other, "[a](other.md#none)", &["`other.md#none` leads to no heading"]);
        check(other, "[a](#none)", &["`#none` leads to no heading"]);
        check(other, "[a](../../../README.md)", &["`../../../README.md` leads out of the book"]);
    }

    #[test]
    fn chapters_are_listed_once() {
        let contents_of = |text: &str| {
            contents(&pages_of(&[(CONTENTS, text), ("book/src/a.md", ""), ("README.md", "")]))
        };
        assert_eq!(contents_of("- [A](a.md)\n"), Vec::<String>::new());
        assert_eq!(contents_of("- [A](a.md)\n- [A](a.md)\n").len(), 1);
        assert_eq!(contents_of("").len(), 1);
    }

    #[test]
    fn no_chapter_is_called_readme() {
        let text = "- [A](README.md)\n";
        let faults = contents(&pages_of(&[(CONTENTS, text), ("book/src/README.md", "")]));
        assert_eq!(faults.len(), 1, "{faults:?}");
    }

    #[test]
    fn only_appendices_are_long() {
        let long = "word ".repeat(WORDS + 1);
        assert!(too_long("book/src/how-to/a.md", &long).is_some());
        assert!(too_long("book/src/how-to/a.md", "word").is_none());
        assert!(too_long("book/src/appendix/a.md", &long).is_none());
        assert!(too_long("README.md", &long).is_none());
    }

    #[test]
    fn the_book_has_no_faults() {
        let faults = check(&root());
        assert!(faults.is_empty(), "{faults:#?}");
    }
}
