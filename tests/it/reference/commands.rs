//! The commands of a program.

use std::collections::BTreeSet;

use stockade::mcp::Mcp;
use stockade::prelude::*;

use super::{codes, rows};

const PAGE: &str = include_str!("../../../book/src/reference/command-line.md");

fn app() -> App {
    let api = routes! {
        "users": { GET: async || "all users" },
        "mcp": { public: "an example", ..Mcp::new("Users", "1.0.0").routes() },
    };
    create_router(api, RouterOptions::new()).open_api(("Users", "1.0.0")).build().unwrap()
}

#[tokio::test]
async fn the_page_lists_each_command() {
    let app = app();
    let args = ["program", "routes", "unknown"].map(String::from);
    let error = app.command_output(args).await.unwrap().unwrap_err().to_string();
    let usage = error.strip_prefix("invalid command: expected ").unwrap();
    let existing = alternatives(usage).into_iter().flat_map(forms).collect::<BTreeSet<_>>();
    let table = rows(PAGE, "## Commands");
    let mut listed: BTreeSet<String> =
        table.iter().flat_map(|row| codes(row[0])).flat_map(forms).collect();
    // The optional arguments of this command have a separate table.
    let arguments = rows(PAGE, "## dashboard").into_iter().filter(|row| row[1] != "required");
    let flags = arguments.filter_map(|row| codes(row[0]).next()?.split(' ').next());
    listed.extend(flags.map(|flag| format!("dashboard --job {flag}")));
    // A section describes this one.
    listed.insert("mcp --stdio --authorization-from".to_owned());
    assert_eq!(existing, listed);
}

/// Returns the parts between bars outside of brackets.
fn alternatives(usage: &str) -> Vec<&str> {
    let mut depth = 0;
    let is_end = |c: char| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        c == '|' && depth == 0
    };
    usage.split(is_end).map(str::trim).collect()
}

/// Returns a command without its arguments: with its required flags, and with
/// each optional flag. `--json` is not in the table.
fn forms(usage: &str) -> Vec<String> {
    let (outside, inside): (Vec<_>, Vec<_>) =
        usage.split(['[', ']']).enumerate().partition(|(number, _)| number % 2 == 0);
    let words = |parts: Vec<(usize, &str)>| -> Vec<String> {
        parts.iter().flat_map(|(_, part)| part.split(' ')).map(str::to_owned).collect()
    };
    let is_flag = |word: &String| word.starts_with("--") && word != "--json";
    let outside = words(outside);
    let name = outside.iter().take(1).chain(outside.iter().filter(|word| is_flag(word)));
    let name = name.cloned().collect::<Vec<_>>().join(" ");
    let optional = words(inside).into_iter().filter(is_flag);
    let mut forms: Vec<String> = optional.map(|flag| format!("{name} {flag}")).collect();
    forms.push(name);
    forms
}

#[tokio::test]
async fn each_command_of_the_page_is_valid() {
    let app = app();
    for row in rows(PAGE, "## Commands") {
        let command = codes(row[0]).next().unwrap().replace("[PATH]", "no-such-file");
        if command.starts_with("docs ")
            || command.contains("--html")
            || command.starts_with("dashboard ")
            || command.starts_with("mcp ")
        {
            // They write files, or read messages.
            continue;
        }
        let args = ["program"].into_iter().chain(command.split(' ')).map(str::to_owned);
        let outcome = app.command_output(args).await.unwrap();
        let error = outcome.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(!error.starts_with("invalid command"), "{command}: {error}");
    }
}

#[test]
fn the_documentation_has_the_same_table() {
    let source = include_str!("../../../crates/stockade-routing/src/commands.rs");
    let lines = source.lines().filter_map(|line| line.trim().strip_prefix("/// | `"));
    let documented: BTreeSet<&str> = lines.filter_map(|line| line.split('`').next()).collect();
    let table = rows(PAGE, "## Commands");
    let listed: BTreeSet<&str> = table.iter().flat_map(|row| codes(row[0])).collect();
    assert_eq!(documented, listed);
}
