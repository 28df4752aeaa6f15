//! Runs the quick start of the README in an empty folder, as a new user would:
//! its five commands, its program, and its requests.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::command::as_from_a_shell;
use crate::examples::{Exchange, exchanges};
use crate::running::{Folder, Running, free_port, wait_for};
use crate::{Outcome, announce, root, target_directory};

pub fn run() -> Outcome {
    let readme = fs::read_to_string(root().join("README.md")).map_err(|error| error.to_string())?;
    let (_, start) = readme.split_once("## Quick start").ok_or("README.md has no quick start")?;
    let (start, _) = start.split_once("\n## ").unwrap_or((start, ""));
    let commands: Vec<&str> = block(start, "text")?.lines().collect();
    let [new, enter, add, add_others, start_program] = commands[..] else {
        return Err(format!("the quick start has {} commands instead of 5", commands.len()));
    };
    let port = free_port();
    let listen = format!(".listen({port})");
    let program = block(start, "rust,no_run")?;
    if !program.contains(".listen(3000)") {
        return Err("the program of the quick start does not listen on port 3000".to_owned());
    }

    let folder = Folder::new("quickstart")?;
    let clone = folder.0.join("stockade");
    link(&root(), &clone)?;
    shell(new, &folder.0)?;
    let project = folder.0.join(enter.trim_start_matches("cd "));
    shell(add, &project)?;
    shell(add_others, &project)?;
    fs::write(project.join("src/main.rs"), program.replace(".listen(3000)", &listen))
        .map_err(|error| error.to_string())?;
    shell("cargo build", &project)?;
    let mut run = command(start_program, &project)?;
    run.stderr(Stdio::null());
    announce(&run);
    let _program = Running::start(&mut run, "the program of the quick start")?;
    let address = format!("127.0.0.1:{port}");
    wait_for(&address)?;
    let exchanges = exchanges(start);
    if exchanges.len() != 3 {
        return Err(format!("the quick start has {} requests instead of 3", exchanges.len()));
    }
    for exchange in &exchanges {
        println!("{}", exchange.command);
        let response = exchange.send(&address)?;
        let differences = exchange.differences(&response);
        if !differences.is_empty() {
            return Err(format!("{}\nthe program sends\n{response}", differences.join("\n")));
        }
    }
    let page = Exchange::get("/docs").send(&address)?;
    if page.starts_with("HTTP/1.1 200") && page.contains("/users/{id}") {
        Ok(())
    } else {
        Err(format!("/docs does not show the routes:\n{page}"))
    }
}

/// Returns the first code block with this language.
fn block<'t>(text: &'t str, language: &str) -> Result<&'t str, String> {
    let (_, rest) = text
        .split_once(&format!("```{language}\n"))
        .ok_or(format!("the quick start has no block ```{language}"))?;
    Ok(rest.split_once("\n```").map_or(rest, |(block, _)| block))
}

fn shell(line: &str, folder: &Path) -> Outcome {
    crate::run(&mut command(line, folder)?)
}

/// Creates a command that builds into a folder of the target directory. The next
/// run can use these files.
fn command(line: &str, folder: &Path) -> Result<Command, String> {
    let mut command = as_from_a_shell(Command::new("sh"));
    // `exec` lets the end of this process end the program.
    command.args(["-c", &format!("exec {line}")]).current_dir(folder);
    command.env("CARGO_TARGET_DIR", target_directory()?.join("quickstart"));
    Ok(command)
}

#[cfg(unix)]
fn link(from: &Path, to: &Path) -> Outcome {
    std::os::unix::fs::symlink(from, to).map_err(|error| error.to_string())
}

#[cfg(windows)]
fn link(from: &Path, to: &Path) -> Outcome {
    std::os::windows::fs::symlink_dir(from, to).map_err(|error| error.to_string())
}
