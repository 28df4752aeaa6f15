//! Runs the GraphQL over HTTP audits of the npm package `graphql-http` against
//! the example `graphql`. All audits must pass.
//!
//! `tests/graphql` contains the call. Packages are installed below
//! `target/graphql`.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::openapi::{address, copy, install_node};
use crate::{Outcome, announce, examples, root, run as started, skip, target_directory};

pub fn run() -> Outcome {
    let program = examples::debug_program("graphql")?;
    let folder = target_directory()?.join("graphql");
    copy(&root().join("tests/graphql"), &folder)?;
    if !install_node(&folder) {
        skip("the audits of graphql-http (Node 20 with npm, and its registry)");
        return Ok(());
    }
    let mut command = Command::new(program);
    command.env("PORT", "0").stdout(Stdio::piped()).stderr(Stdio::piped());
    announce(&command);
    let mut server = command.spawn().map_err(|error| format!("cannot start graphql: {error}"))?;
    let outcome = audit(&folder, &mut server);
    // The server must never be left running.
    let _ = server.kill();
    let _ = server.wait();
    outcome
}

fn audit(folder: &Path, server: &mut Child) -> Outcome {
    let (url, _) = address(server)?;
    let mut node = Command::new("node");
    started(node.arg("audits.mjs").current_dir(folder).env("URL", format!("{url}/graphql")))
}
