//! The short form: compiles the stockade program with the crates that the tests
//! have already compiled.
//!
//! A build from scratch takes 150 s of processor time even with 50 modules,
//! nearly all of it for dependencies. This form therefore runs rustc directly,
//! with the libraries in our own target folder. These come from path
//! dependencies in a workspace with all features, compiled with clippy. The
//! sizes differ from a user's program, so they are compared only with earlier
//! sizes of the same form.

use std::env::consts::EXE_SUFFIX;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::full::size;
use crate::measure::{cost_of, count_ir, ir_arguments};
use crate::program::Framework;
use crate::recorded::Figure;
use xtask::{announce, cargo_command, clippy, root, target_directory};

/// Counts the lines of LLVM IR and the size of the debug binary.
pub fn count(modules: usize) -> Result<Vec<Figure>, String> {
    let artifacts = artifacts()?;
    let folder = target_directory()?.join("compile-cost/short");
    let fault = |error: std::io::Error| format!("{}: {error}", folder.display());
    fs::create_dir_all(&folder).map_err(fault)?;
    let [source, ir] = ["main.rs", "main.ll"].map(|name| folder.join(name));
    let binary = folder.join(format!("main{EXE_SUFFIX}"));
    fs::write(&source, Framework::Stockade.source(modules, 0)).map_err(fault)?;
    let [stockade, tokio] = ["stockade", "tokio"].map(|name| libraries(&artifacts, name));
    let ([stockade], [tokio]) = (&stockade[..], &tokio[..]) else {
        return Err("cargo did not compile stockade and tokio exactly once".to_owned());
    };
    let compile = |serde: &Path| {
        let mut rustc = Command::new("rustc");
        rustc.args(["--edition=2024", "--crate-name=main", "-Cdebuginfo=2"]).arg(&source);
        rustc.arg(format!("--emit=link={}", binary.display())).args(ir_arguments(&ir));
        for (name, file) in [("serde", serde), ("stockade", stockade), ("tokio", tokio)] {
            rustc.arg("--extern").arg(format!("{name}={}", file.display()));
        }
        let dependencies = stockade.parent().unwrap_or(Path::new("."));
        rustc.arg("-L").arg(format!("dependency={}", dependencies.display()));
        cost_of(rustc.current_dir(&folder))
    };
    // There are two builds of serde that cargo's messages do not distinguish.
    // With the build that stockade does not use, no type implements its traits.
    let serde = libraries(&artifacts, "serde");
    if !serde.iter().any(|serde| compile(serde).is_ok()) {
        return Err(format!("the program does not compile with any of {} serde", serde.len()));
    }
    let figure = |name, count| Figure::new("short", modules, name, count);
    Ok(vec![figure("lines", count_ir(&ir)?), figure("binary", size(&binary)?)])
}

/// Compiles the examples as `ci` does, and returns cargo's messages about each
/// crate.
fn artifacts() -> Result<String, String> {
    let mut command = cargo_command();
    // Also used outside of `ci`, because the figures must be the same.
    clippy::compiles(&mut command);
    command.args(["build", "--workspace", "--bins", "--examples", "--all-features"]);
    command.arg("--message-format=json-render-diagnostics").current_dir(root());
    announce(&command);
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("cannot start cargo: {error}"))?;
    if !output.status.success() {
        return Err("cannot compile the examples".to_owned());
    }
    String::from_utf8(output.stdout).map_err(|error| error.to_string())
}

/// Returns the files of a library from cargo's messages.
fn libraries(artifacts: &str, name: &str) -> Vec<PathBuf> {
    let files = artifacts.lines().filter_map(|message| library_in(message, name));
    let mut files: Vec<PathBuf> = files.map(|file| file.replace("\\\\", "\\").into()).collect();
    files.dedup();
    files
}

/// Returns the file of this library if the message is about it.
fn library_in<'a>(message: &'a str, name: &str) -> Option<&'a str> {
    let (_, target) = message.split_once("\"target\":{")?;
    let is_library = target.starts_with("\"kind\":[\"lib\"]");
    let is_named = target.contains(&format!("\"name\":\"{name}\",\"src_path\""));
    let (_, files) = message.split_once("\"filenames\":[")?;
    let (files, _) = files.split_once(']')?;
    let mut files = files.split(',').map(|file| file.trim_matches('"'));
    files.find(|file| is_library && is_named && file.ends_with(".rlib"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_library_by_its_name() {
        let message = |kind: &str, name: &str, files: &str| {
            format!(
                "{{\"reason\":\"compiler-artifact\",\"package_id\":\"a\",\"target\":{{\"kind\":[\"{kind}\"],\
                 \"crate_types\":[\"{kind}\"],\"name\":\"{name}\",\"src_path\":\"/a/lib.rs\"}},\
                 \"filenames\":[{files}],\"fresh\":true}}\n"
            )
        };
        let one = message("lib", "tokio", "\"/t/libtokio-1.rlib\",\"/t/libtokio-1.rmeta\"");
        let others = message("proc-macro", "serde_derive", "\"/t/libserde_derive.so\"")
            + &message("example", "tokio", "\"/t/tokio\"")
            + "{\"reason\":\"build-finished\",\"success\":true}\n";
        let one = others.clone() + &one;
        let two = one.replace("tokio-1", "tokio-2") + &one;
        let [first, second] = ["/t/libtokio-1.rlib", "/t/libtokio-2.rlib"].map(PathBuf::from);
        assert_eq!(libraries(&others, "tokio"), Vec::<PathBuf>::new());
        assert_eq!(libraries(&one, "tokio"), std::slice::from_ref(&first));
        assert_eq!(libraries(&two, "tokio"), [second, first]);
    }
}
