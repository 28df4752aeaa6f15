//! Runs the quick start of the README in an empty folder, as a new user would:
//! its five commands, its program, and its requests.

use std::env;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::examples::{Exchange, exchanges};
use crate::running::Running;
use crate::{Outcome, announce, root, target_directory};

pub fn run() -> Outcome {
    let readme = fs::read_to_string(root().join("README.md")).map_err(|error| error.to_string())?;
    let (_, start) = readme.split_once("## Quick start").ok_or("README.md has no quick start")?;
    let (start, _) = start.split_once("\n## ").unwrap_or((start, ""));
    let commands: Vec<&str> = block(start, "text")?.lines().collect();
    let [new, enter, add, add_others, start_program] = commands[..] else {
        return Err(format!("the quick start has {} commands instead of 5", commands.len()));
    };
    let port = free_port()?;
    let listen = format!(".listen({port})");
    let program = block(start, "rust,no_run")?;
    if !program.contains(".listen(3000)") {
        return Err("the program of the quick start does not listen on port 3000".to_owned());
    }

    let folder = Folder::new()?;
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

/// Creates a command that builds into a folder of the target directory, so that
/// the next run is short.
fn command(line: &str, folder: &Path) -> Result<Command, String> {
    let mut command = Command::new("sh");
    // `exec` lets the end of this process end the program.
    command.args(["-c", &format!("exec {line}")]).current_dir(folder);
    command.env("CARGO_TARGET_DIR", target_directory()?.join("quickstart"));
    // These variables describe the package of this program.
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("CARGO_PKG_")) {
            command.env_remove(name);
        }
    }
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

/// Returns a port that was free at this moment.
pub(crate) fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(|error| error.to_string())?;
    listener.local_addr().map(|address| address.port()).map_err(|error| error.to_string())
}

/// Waits until the program accepts connections.
pub(crate) fn wait_for(address: &str) -> Outcome {
    let end = Instant::now() + Duration::from_secs(60);
    while TcpStream::connect(address).is_err() {
        if Instant::now() > end {
            return Err(format!("the program does not listen on {address}"));
        }
        thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

/// An empty folder outside of the workspace, removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self, String> {
        let path = env::temp_dir().join(format!("stockade-quickstart-{}", std::process::id()));
        fs::create_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // The folder holds a few small files; the system removes them too.
        let _ = fs::remove_dir_all(&self.0);
    }
}
