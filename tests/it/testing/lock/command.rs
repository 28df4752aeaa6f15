//! The commands `lock` and `lock --check` of `run_command`.

use std::env;
use std::fs;

use stockade::prelude::*;

use super::{api, lock_of};
use crate::support::command;

fn run(app: &App, args: &[&str]) -> Result<String, String> {
    let outcome = command(app, args.iter().copied()).unwrap();
    // Formats the error as a failing `main` does.
    outcome.map_err(|error| format!("{error:?}"))
}

#[test]
fn commands_print_and_compare_a_lock() {
    let one = api(routes! { "a": { GET: async || () } }).build().unwrap();
    let two = api(routes! { "a": { GET: async || (), PUT: async || () } }).build().unwrap();
    let path = env::temp_dir().join(format!("stockade-command-{}.lock", std::process::id()));
    let file = path.to_str().unwrap();
    assert_eq!(run(&two, &["lock"]), Ok(lock_of(&two).to_string()));
    fs::write(&path, lock_of(&two).to_string()).unwrap();
    assert_eq!(run(&two, &["lock", "--check", file]), Ok(format!("the routes match {file}\n")));
    let error = run(&one, &["lock", "--check", file]).unwrap_err();
    assert!(error.contains("\n\n[breaking] route-removed: "), "{error}");
    assert!(error.contains("\n    PUT /a\n"), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), lock_of(&two).to_string());
    let other_form = lock_of(&one).to_string().replace(": ", ":  ");
    fs::write(&path, other_form).unwrap();
    let error = run(&one, &["lock", "--check", file]).unwrap_err();
    assert!(
        error.ends_with(
            "has the same routes in a different format: write the output of `lock` to it"
        ),
        "{error}"
    );
    fs::write(&path, lock_of(&one).to_string().replace('\n', "\r\n")).unwrap();
    assert!(run(&one, &["lock", "--check", file]).is_ok());
    fs::write(&path, "{}").unwrap();
    assert!(run(&one, &["lock", "--check", file]).unwrap_err().contains("its `format` is missing"));
    fs::remove_file(&path).unwrap();
    let error = run(&one, &["lock", "--check", file]).unwrap_err();
    assert_eq!(error, format!("{file} does not exist: write the output of `lock` to it"));
    for wrong in [&["lock", file][..], &["lock", "--json"], &["lock", "--check", file, file]] {
        assert!(run(&one, wrong).unwrap_err().contains("invalid command: expected"), "{wrong:?}");
    }
}
