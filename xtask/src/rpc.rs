//! Calls the methods of the example `rpc` with third-party clients: jayson and
//! json-rpc-2.0 (npm), jsonrpclib-pelix (PyPI), and the clients of jsonrpsee.
//!
//! `tests/rpc` contains the calls. Packages are installed below `target/rpc`.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::openapi::{address, copy, install_node, install_python, python};
use crate::{
    Outcome, announce, cargo_command, examples, root, run as started, skip, target_directory,
};

pub fn run() -> Outcome {
    let program = examples::debug_program("rpc")?;
    let folder = target_directory()?.join("rpc");
    copy(&root().join("tests/rpc"), &folder)?;
    let mut command = Command::new(program);
    command.env("PORT", "0").stdout(Stdio::piped()).stderr(Stdio::piped());
    announce(&command);
    let mut server = command.spawn().map_err(|error| format!("cannot start rpc: {error}"))?;
    let outcome = call(&folder, &mut server);
    // The server must never be left running.
    let _ = server.kill();
    let _ = server.wait();
    outcome
}

fn call(folder: &Path, server: &mut Child) -> Outcome {
    let (url, _) = address(server)?;
    let url = format!("{url}/rpc");
    if install_node(folder) {
        let mut node = Command::new("node");
        started(node.arg("clients.mjs").current_dir(folder).env("URL", &url))?;
    } else {
        skip("jayson and json-rpc-2.0 (Node 20 with npm, and its registry)");
    }
    if install_python(folder) {
        started(python(folder, "python").arg("clients.py").env("URL", &url))?;
    } else {
        skip("jsonrpclib-pelix (python3 with `venv`, and access to PyPI)");
    }
    let mut jsonrpsee = cargo_command();
    jsonrpsee.args(["run", "--quiet", "--locked"]).env("URL", &url);
    started(jsonrpsee.current_dir(root().join("tests/rpc/jsonrpsee")))
}
