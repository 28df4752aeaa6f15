//! The library code without comments and tests.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::tidy::files_below;

/// The source files of the library crates, without comments and tests.
pub struct Library {
    files: Vec<File>,
    /// All string literals.
    texts: Vec<String>,
    /// The lists of public items.
    public: Vec<String>,
}

/// A source file.
pub struct File {
    /// The path below `crates`, such as `stockade-auth/src/lib.rs`.
    pub name: String,
    pub text: String,
}

impl Library {
    pub fn read(root: &Path) -> Result<Self, String> {
        let folder = root.join("crates");
        let (mut files, mut public) = (Vec::new(), Vec::new());
        for path in files_below(&folder) {
            let name = path.strip_prefix(&folder).unwrap_or(&path).display().to_string();
            let is_list = name.ends_with("/public-api.txt");
            let is_source =
                name.contains("/src/") && [".rs", ".ftl"].iter().any(|end| name.ends_with(end));
            if !is_list && !is_source {
                continue;
            }
            let text = fs::read_to_string(&path).map_err(|error| format!("{name}: {error}"))?;
            match is_list {
                true => public.push(text),
                false => files.push(File { name, text }),
            }
        }
        let tests: Vec<String> = files.iter().flat_map(test_modules).collect();
        files.retain(|file| !tests.iter().any(|test| file.is_in(test)));
        for file in &mut files {
            file.text = without_comments_and_tests(&file.text);
        }
        let texts = files.iter().flat_map(|file| literals(&file.text)).collect();
        Ok(Self { files, texts, public })
    }

    pub fn files(&self) -> &[File] {
        &self.files
    }

    /// Returns the text of a file.
    pub fn file(&self, name: &str) -> Result<&str, String> {
        let found = self.files.iter().find(|file| file.name == name);
        found.map(|file| file.text.as_str()).ok_or_else(|| {
            format!("xtask/src/reference: crates/{name} does not exist: correct the path")
        })
    }

    /// Returns true if the code contains this text.
    pub fn contains(&self, text: &str) -> bool {
        self.files.iter().any(|file| file.text.contains(text))
    }

    /// Returns true if a string literal contains these words.
    pub fn says(&self, words: &str) -> bool {
        self.texts.iter().any(|text| text.contains(words))
    }

    /// Returns the public methods of a type, without methods of common traits.
    pub fn methods(&self, path: &str) -> BTreeSet<String> {
        const TRAITS: [&str; 5] = ["clone", "default", "deserialize", "fmt", "from"];
        let start = format!("pub fn {path}::");
        let lines = self.public.iter().flat_map(|list| list.lines());
        let names = lines
            .filter_map(|line| line.strip_prefix(&*start))
            .map(|rest| rest.split(['(', '<']).next().unwrap_or_default());
        names.filter(|name| !TRAITS.contains(name)).map(str::to_owned).collect()
    }

    /// Returns true if a public function, method or type has this name.
    pub fn has_item(&self, name: &str) -> bool {
        let ends = ["(", "<", "\n", " "].map(|end| format!("::{name}{end}"));
        self.public.iter().any(|list| ends.iter().any(|end| list.contains(end)))
    }
}

impl File {
    /// Returns true for the module at this path, and for its children.
    fn is_in(&self, module: &str) -> bool {
        let rest = self.name.strip_prefix(module);
        rest.is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
    }

    /// Returns the name of the crate.
    pub fn package(&self) -> &str {
        self.name.split('/').next().unwrap_or_default()
    }
}

/// Returns the paths of the modules that only exist in tests.
fn test_modules(file: &File) -> Vec<String> {
    let path = file.name.trim_end_matches(".rs");
    let parent = match path.rsplit_once('/') {
        Some((folder, "mod" | "lib")) => folder,
        _ => path,
    };
    let (mut found, mut is_tested) = (Vec::new(), false);
    for line in file.text.lines().map(str::trim) {
        if line.starts_with("#[") {
            is_tested |= line.starts_with("#[cfg(") && is_test(line);
            continue;
        }
        let declared = line.split_once("mod ").and_then(|(_, name)| name.strip_suffix(';'));
        found.extend(declared.filter(|_| is_tested).map(|name| format!("{parent}/{name}")));
        is_tested = false;
    }
    found
}

fn is_test(attribute: &str) -> bool {
    attribute.contains("(test") || attribute.contains(", test")
}

/// Returns the code without its items for tests: a module, or a function.
fn without_comments_and_tests(text: &str) -> String {
    let (mut code, mut is_tested) = (String::new(), false);
    for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
        is_tested |= line == "#[cfg(test)]";
        if !is_tested {
            code.push_str(line);
            code.push('\n');
        }
        // The end of an item at the left margin.
        if line == "}" || (line.ends_with(';') && !line.starts_with(' ')) {
            is_tested = false;
        }
    }
    code
}

/// Returns the string literals of the code. Escaped characters stay as written.
pub fn literals(text: &str) -> Vec<String> {
    let (mut found, mut rest) = (Vec::new(), text);
    while let Some(at) = rest.find('"') {
        // A character literal with a quotation mark.
        if rest[..at].ends_with('\'') && rest[at..].starts_with("\"'") {
            rest = &rest[at + 2..];
            continue;
        }
        let Some(end) = end_of_literal(&rest[at + 1..]) else { break };
        found.push(joined(&rest[at + 1..at + 1 + end]));
        rest = &rest[at + 2 + end..];
    }
    found
}

/// Returns the position of the closing quotation mark.
pub fn end_of_literal(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    for (at, character) in text.char_indices() {
        match character {
            '"' if !is_escaped => return Some(at),
            '\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    None
}

/// Joins the lines of a literal with `\` at their ends.
fn joined(literal: &str) -> String {
    let mut parts = literal.split("\\\n");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.trim_start())
}

/// Returns the text between the first `start` and the next `end` after it.
pub fn between<'t>(text: &'t str, start: &str, end: &str) -> Result<&'t str, String> {
    let (_, rest) = text
        .split_once(start)
        .ok_or_else(|| format!("xtask/src/reference: `{start}` does not exist: correct it"))?;
    Ok(rest.split_once(end).map_or(rest, |(found, _)| found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_found_with_their_escapes() {
        let text = "f(\"a\", '\"', \"b \\\"c\\\"\", \"long \\\n      text\")";
        assert_eq!(literals(text), ["a", "b \\\"c\\\"", "long text"]);
    }

    #[test]
    fn comments_and_tests_are_not_code() {
        let check = |text: &str, expected: &str| {
            assert_eq!(without_comments_and_tests(text), expected, "{text}");
        };
        check("// a\nfn f() {}\n    /// b\n", "fn f() {}\n");
        check("fn f() {}\n#[cfg(test)]\nmod tests {\n    fn g() {}\n}\n", "fn f() {}\n");
        check("#[cfg(test)]\nfn f() {\n    g();\n}\nfn h() {}\n", "fn h() {}\n");
        check("#[cfg(test)]\nmod tests;\nfn h() {}\n", "fn h() {}\n");
    }

    #[test]
    fn modules_of_tests_are_found() {
        let check = |name: &str, text: &str, expected: &[&str]| {
            let file = File { name: name.to_owned(), text: text.to_owned() };
            assert_eq!(test_modules(&file), expected, "{name}");
        };
        let text = "#[cfg(test)]\nmod tests;\nmod code;\n#[cfg(test)]\npub(crate) mod model;\n";
        check("a/src/lib.rs", text, &["a/src/tests", "a/src/model"]);
        check("a/src/b/mod.rs", text, &["a/src/b/tests", "a/src/b/model"]);
        check("a/src/b.rs", text, &["a/src/b/tests", "a/src/b/model"]);
        let both = "#[cfg(test)]\n#[cfg(feature = \"x\")]\nmod x;\nmod y;\n";
        check("a/src/lib.rs", both, &["a/src/x"]);
        check("a/src/c.rs", "#[cfg(feature = \"x\")]\nmod x;\n", &[]);
    }

    #[test]
    fn a_module_contains_its_children() {
        let file = |name: &str| File { name: name.to_owned(), text: String::new() };
        assert!(file("a/src/tests.rs").is_in("a/src/tests"));
        assert!(file("a/src/tests/b.rs").is_in("a/src/tests"));
        assert!(!file("a/src/tests_of.rs").is_in("a/src/tests"));
    }
}
