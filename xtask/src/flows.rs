//! The names in ARCHITECTURE.md: each function of a flow and each house word
//! must appear in the file that the document names. A rename is therefore a
//! fault.
//!
//! The document omits the prefix of a file: `core/extract/body.rs` is
//! `crates/stockade-core/src/extract/body.rs`.

use std::fs;
use std::path::Path;

/// Returns the faults of the document in this folder.
pub fn check(root: &Path) -> Vec<String> {
    let Ok(document) = fs::read_to_string(root.join(DOCUMENT)) else {
        return vec![format!("cannot read {DOCUMENT}")];
    };
    let read = |file: &str| {
        let (name, path) = file.split_once('/')?;
        let path = root.join("crates").join(format!("stockade-{name}")).join("src").join(path);
        fs::read_to_string(path).ok()
    };
    faults(&document, read)
}

/// Returns the faults of a document; `read` returns the text of a file.
fn faults(document: &str, read: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let mut faults = Vec::new();
    let mut seen = Vec::new();
    let mut words = 0;
    let (mut section, mut flow) = ("", "");
    for (number, line) in (1..).zip(document.lines()) {
        let mut fault = |message: String| faults.push(format!("{DOCUMENT}:{number}: {message}"));
        if let Some(title) = line.strip_prefix("## ") {
            (section, flow) = (title, "");
        } else if let Some(title) = line.strip_prefix("### ") {
            flow = title;
        } else if section == FLOWS_SECTION && is_step(line) {
            seen.push(flow);
            let calls: Vec<&str> = spans(line).filter(|span| span.contains(".rs")).collect();
            if calls.is_empty() {
                fault("the step does not name a `file.rs:function`".to_owned());
            }
            calls.into_iter().filter_map(|call| wrong_call(call, &read)).for_each(&mut fault);
        } else if section == WORDS_SECTION && line.starts_with("- ") {
            words += 1;
            if words > MAX_WORDS {
                fault(format!("more than {MAX_WORDS} words"));
            }
            wrong_word(line, &read).into_iter().for_each(fault);
        }
    }
    let missing = FLOWS.iter().filter(|flow| !seen.contains(flow));
    faults.extend(missing.map(|flow| format!("{DOCUMENT}: the flow {flow:?} does not have steps")));
    if words == 0 {
        faults.push(format!("{DOCUMENT}: the section {WORDS_SECTION:?} does not have words"));
    }
    faults
}

/// Returns the fault of a call, written as `file.rs:function`.
fn wrong_call(call: &str, read: impl Fn(&str) -> Option<String>) -> Option<String> {
    let Some((file, function)) = call.split_once(':') else {
        return Some(format!("`{call}` does not name a function"));
    };
    let Some(text) = read(file) else { return Some(format!("the file `{file}` does not exist")) };
    let is_there = code(&text).any(|line| defines(line, function));
    (!is_there).then(|| format!("`{file}` does not have a function `{function}`"))
}

/// Returns the fault of a word, written as ``- **word**, `file.rs`: meaning``.
fn wrong_word(line: &str, read: impl Fn(&str) -> Option<String>) -> Option<String> {
    let word = line.split("**").nth(1).unwrap_or("");
    let file = spans(line).next().unwrap_or("");
    let Some(text) = read(file) else { return Some(format!("the file `{file}` does not exist")) };
    let is_there = !word.is_empty() && code(&text).any(|line| line.contains(word));
    (!is_there).then(|| format!("`{file}` does not contain the word `{word}`"))
}

/// Returns the lines that are not comments, up to the tests at the end.
fn code(text: &str) -> impl Iterator<Item = &str> {
    let is_test = |line: &str| line == "mod tests {";
    text.lines().take_while(move |line| !is_test(line)).filter(|line| {
        let line = line.trim_start();
        !line.starts_with("//")
    })
}

/// Returns true if the line defines a function with this name.
fn defines(line: &str, function: &str) -> bool {
    let mut definitions = line.split("fn ").skip(1);
    definitions
        .any(|rest| rest.strip_prefix(function).is_some_and(|rest| rest.starts_with(['(', '<'])))
}

/// Returns true for a line of a numbered or bulleted list.
fn is_step(line: &str) -> bool {
    let rest = line.trim_start().trim_start_matches(|char: char| char.is_ascii_digit());
    rest.starts_with(". ") || rest.starts_with("- ")
}

/// Returns the texts between backticks.
fn spans(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

const DOCUMENT: &str = "ARCHITECTURE.md";
const FLOWS_SECTION: &str = "Five flows";
const WORDS_SECTION: &str = "Words";

/// The flows that the document must have.
const FLOWS: [&str; 5] = ["A request", "A route", "A schema", "A token", "A WebSocket frame"];

/// The maximum number of words: more cannot be learned in an hour.
const MAX_WORDS: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = "# A\n## Words\n- **Thing**, `core/a.rs`: a thing.\n## Five flows\n\
        ### A request\n1. `core/a.rs:run` runs.\n### A route\n1. `core/a.rs:make` makes.\n\
        ### A schema\n- `core/a.rs:run`.\n### A token\n10. `core/a.rs:run`.\n\
        ### A WebSocket frame\n1. `core/a.rs:run`, then `core/a.rs:make`.\n\
        ## Others\n1. `core/b.rs:gone` is not looked at.\n";

    const CODE: &str = "struct Thing;\n// fn remark() {}\npub(crate) fn run(self) {}\n    \
        async fn make<T>() {}\n#[cfg(test)]\nmod tests {\n    fn tested() {}\n}\n";

    #[track_caller]
    fn check(replaced: &str, by: &str, expected: &[&str]) {
        assert!(WHOLE.contains(replaced));
        let read = |file: &str| (file == "core/a.rs").then(|| CODE.to_owned());
        assert_eq!(faults(&WHOLE.replacen(replaced, by, 1), read), expected);
    }

    #[test]
    fn named_files_and_functions_must_exist() {
        check("", "", &[]);
        let no_function = |name: &str| {
            format!("ARCHITECTURE.md:6: `core/a.rs` does not have a function `{name}`")
        };
        for name in ["ru", "runs", "remark", "tested", ""] {
            check("a.rs:run", &format!("a.rs:{name}"), &[&no_function(name)]);
        }
        check("a.rs:run", "b.rs:run", &["ARCHITECTURE.md:6: the file `core/b.rs` does not exist"]);
        check("a.rs:run", "a.rs", &["ARCHITECTURE.md:6: `core/a.rs` does not name a function"]);
        let nothing = "ARCHITECTURE.md:6: the step does not name a `file.rs:function`";
        check("`core/a.rs:run` runs", "It runs", &[nothing]);
        check(
            "then `core/a.rs:make`",
            "then `core/a.rs:made`",
            &["ARCHITECTURE.md:14: `core/a.rs` does not have a function `made`"],
        );
    }

    #[test]
    fn every_flow_and_word_is_required() {
        let missing = "ARCHITECTURE.md: the flow \"A token\" does not have steps";
        check("### A token\n", "", &[missing]);
        check("10. `core/a.rs:run`.\n", "", &[missing]);
        let no_word = "ARCHITECTURE.md:3: `core/a.rs` does not contain the word `Thong`";
        check("**Thing**", "**Thong**", &[no_word]);
        let no_words = "ARCHITECTURE.md: the section \"Words\" does not have words";
        check("- **Thing**, `core/a.rs`: a thing.\n", "", &[no_words]);
        let line = "- **Thing**, `core/a.rs`: a thing.\n";
        check(line, &line.repeat(21), &["ARCHITECTURE.md:23: more than 20 words"]);
    }

    #[test]
    fn the_document_names_existing_items() {
        assert_eq!(super::check(&crate::root()), Vec::<String>::new());
    }
}
