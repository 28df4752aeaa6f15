//! Downloads the Swagger UI files from npm and compares them with the recorded
//! hashes.
//!
//! For a new version: change `VERSION` of stockade-swagger-ui, run this task,
//! review the changed files, and write their hashes into `SHA256SUMS`.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use crate::{Outcome, announce, run, target_directory};

const CRATE: &str = "crates/stockade-swagger-ui";

/// The files stored unchanged.
const PLAIN: [&str; 3] = ["LICENSE", "NOTICE", "swagger-ui-bundle.js.LICENSE.txt"];

/// The files stored compressed.
const COMPRESSED: [&str; 2] = ["swagger-ui-bundle.js", "swagger-ui.css"];

pub fn refresh() -> Outcome {
    let fault = |error: std::io::Error| format!("{CRATE}: {error}");
    let source = fs::read_to_string(format!("{CRATE}/src/lib.rs")).map_err(fault)?;
    let version = source.split_once("VERSION: &str = \"").and_then(|(_, it)| it.split_once('"'));
    let (version, _) = version.ok_or("the crate does not contain a version")?;
    let folder = target_directory()?.join("swagger-ui");
    fs::create_dir_all(&folder).map_err(fault)?;

    // npm checks the package against the hash from the registry.
    let package = format!("swagger-ui-dist@{version}");
    run(Command::new("npm").args(["pack", "--silent", &package]).current_dir(&folder))?;
    let archive = format!("swagger-ui-dist-{version}.tgz");
    run(Command::new("tar").args(["-xzf", &archive]).current_dir(&folder))?;
    let (package, assets) = (folder.join("package"), Path::new(CRATE).join("assets"));
    let sums = fs::canonicalize(assets.join("SHA256SUMS")).map_err(fault)?;
    run(Command::new("sha256sum").arg("--check").arg(sums).current_dir(&package))?;

    for name in PLAIN {
        fs::copy(package.join(name), assets.join(name)).map_err(fault)?;
    }
    for name in COMPRESSED {
        let file = File::create(assets.join(format!("{name}.gz"))).map_err(fault)?;
        // Omits name and time, which makes the output reproducible.
        let mut gzip = Command::new("gzip");
        gzip.args(["--best", "--no-name", "--stdout"]).arg(package.join(name));
        announce(&gzip);
        let status = gzip.stdout(file).status().map_err(fault)?;
        if !status.success() {
            return Err(format!("gzip failed for {name}"));
        }
    }
    Ok(())
}
