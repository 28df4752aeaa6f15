//! Checks the documents of the shop, of Conduit and of a library with
//! third-party tools.
//!
//! `tests/openapi` contains the tool versions and settings, with a reason for
//! each exception. Installed and generated files are below `target/openapi`.

use std::env::consts::EXE_SUFFIX;
use std::fs;
use std::io::{BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use crate::{Outcome, announce, cargo_command, root, run as started, skip, target_directory_of};

/// A program with a document to check.
struct Program {
    /// The name of its folder in `tests/openapi`.
    name: &'static str,
    /// The folder of its workspace.
    workspace: &'static str,
    /// The cargo arguments that run it.
    run: &'static [&'static str],
    /// The cargo arguments that build the server program.
    build: &'static [&'static str],
    /// The file of the server program, below the folder of the profile.
    server: &'static str,
}

const PROGRAMS: [Program; 3] = [
    Program {
        name: "shop",
        workspace: ".",
        run: &["-p", "shop", "--all-features"],
        build: &["-p", "stockade-tests-openapi"],
        server: "stockade-tests-openapi",
    },
    Program {
        name: "library",
        workspace: ".",
        run: &["-p", "stockade-tests-openapi", "--bin", "library"],
        build: &["-p", "stockade-tests-openapi"],
        server: "library",
    },
    Program {
        name: "conduit",
        workspace: "examples/conduit",
        run: &["--locked"],
        build: &["--locked"],
        server: "conduit",
    },
];

pub fn run() -> Outcome {
    let folder = target_directory_of(".")?.join("openapi");
    copy(&root().join("tests/openapi"), &folder)?;
    for program in &PROGRAMS {
        program.write_document(&folder)?;
    }
    if install_python(&folder) {
        for program in &PROGRAMS {
            program.judge_with_python(&folder)?;
        }
    } else {
        skip(
            "openapi-spec-validator and schemathesis (python3 with `venv`, such as \
             `apt-get install python3-venv`, and access to PyPI)",
        );
    }
    if install_node(&folder) {
        for program in &PROGRAMS {
            program.judge_with_node(&folder)?;
        }
        // Checks all uses of the clients, and the uses that must not compile.
        node(&folder, "tsc", &["-p", "."])
    } else {
        skip(
            "redocly, spectral and two generators of clients (Node 20 with npm, and its registry)",
        );
        Ok(())
    }
}

impl Program {
    fn cargo(&self, command: &str, args: &[&str]) -> Command {
        let mut cargo = cargo_command();
        cargo.args([command, "--quiet"]).args(args).current_dir(root().join(self.workspace));
        cargo
    }

    /// Writes the document of the program as its users get it.
    fn write_document(&self, folder: &Path) -> Outcome {
        for (arguments, file) in
            [(&["openapi"][..], "openapi.json"), (&["openapi", "--ruleset"], "exceptions.json")]
        {
            let mut cargo = self.cargo("run", self.run);
            cargo.arg("--").args(arguments).env("CONDUIT_DB", database(folder, "conduit")?);
            announce(&cargo);
            let output = cargo.stderr(Stdio::inherit()).output();
            let output = output.map_err(|error| format!("cannot start cargo: {error}"))?;
            if !output.status.success() {
                return Err(format!("{} does not create {file}", self.name));
            }
            let output = String::from_utf8(output.stdout).map_err(|error| error.to_string())?;
            // Disables the rules that no document can satisfy.
            let output = output.replace("@stoplight/spectral-owasp-ruleset", "../owasp.yaml");
            fs::write(folder.join(self.name).join(file), output).map_err(text)?;
        }
        Ok(())
    }

    fn judge_with_python(&self, folder: &Path) -> Outcome {
        let document = format!("{}/openapi.json", self.name);
        started(python(folder, "openapi-spec-validator").arg(&document))?;
        started(&mut self.cargo("build", self.build))?;
        let server = target_directory_of(self.workspace)?.join("debug").join(self.server);
        let mut server = Command::new(server.with_extension(EXE_SUFFIX.trim_start_matches('.')));
        server.env("PORT", "0").env("RUST_LOG", "info,stockade::access=off");
        server.env("CONDUIT_DB", database(folder, "conduit")?).env("CONDUIT_PROXIES", "1");
        server.env("SHOP_DATABASE", database(folder, "shop")?);
        announce(&server);
        let server = server.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut server = server.map_err(|error| format!("cannot start {}: {error}", self.name))?;
        let outcome = self.send_requests(folder, &mut server);
        // The server must never be left running.
        let _ = server.kill();
        let _ = server.wait();
        outcome
    }

    /// Sends requests that follow the document, and some that violate it.
    fn send_requests(&self, folder: &Path, server: &mut Child) -> Outcome {
        let (url, token) = address(server)?;
        let config = format!("{}/schemathesis.toml", self.name);
        let document = format!("{}/openapi.json", self.name);
        let mut tool = python(folder, "schemathesis");
        tool.args(["--config-file", &config, "run", &document, "--url", &url]);
        tool.env("SCHEMATHESIS_HOOKS", format!("{}.hooks", self.name));
        tool.env("PYTHONPATH", folder).env("URL", &url).env("TOKEN", token);
        started(&mut tool)
    }

    fn judge_with_node(&self, folder: &Path) -> Outcome {
        let file = |name: &str| format!("{}/{name}", self.name);
        let document = file("openapi.json");
        node(folder, "redocly", &["lint", "--config", "redocly-rules.yaml", &document])?;
        for rules in ["spectral.yaml", &file("exceptions.json")] {
            node(folder, "spectral", &["lint", &document, "-r", rules, "-F", "error"])?;
        }
        node(folder, "openapi-typescript", &[&document, "-o", &file("schema.d.ts")])?;
        // The prefix `./` prevents the tool from treating the path as a project
        // name on its vendor's server.
        let document = format!("./{document}");
        node(folder, "openapi-ts", &["-i", &document, "-o", &file("sdk"), "--silent"])
    }
}

/// Returns the file of an unused database.
pub(crate) fn database(folder: &Path, name: &str) -> Result<PathBuf, String> {
    let file = folder.join(format!("{name}.db"));
    for ending in ["", "-wal", "-shm"] {
        let file = folder.join(format!("{name}.db{ending}"));
        if file.exists() {
            fs::remove_file(file).map_err(text)?;
        }
    }
    Ok(file)
}

/// Returns the address that a server prints, and the text after it.
pub(crate) fn address(server: &mut Child) -> Result<(String, String), String> {
    let (sender, receiver) = std::sync::mpsc::channel();
    let outputs: [Option<Box<dyn Read + Send>>; 2] = [
        server.stdout.take().map(|it| Box::new(it) as _),
        server.stderr.take().map(|it| Box::new(it) as _),
    ];
    for output in outputs.into_iter().flatten() {
        let sender = sender.clone();
        // The output is read to its end, because a server with unread output
        // would block forever.
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let words = line.split_once("http://").map(|(_, rest)| {
                    let (address, rest) = rest.split_once(' ').unwrap_or((rest, ""));
                    (format!("http://{address}"), rest.to_owned())
                });
                match words {
                    Some(words) => drop(sender.send(words)),
                    None => eprintln!("{line}"),
                }
            }
        });
    }
    drop(sender);
    receiver.recv().map_err(|_| "the server ended without an address".to_owned())
}

/// Installs the Python tools. Returns false if this is not possible.
pub fn install_python(folder: &Path) -> bool {
    let wanted = fs::read(folder.join("requirements.txt")).unwrap_or_default();
    let installed = folder.join("python/requirements.txt");
    // A missing file counts as different.
    if fs::read(&installed).unwrap_or_default() == wanted {
        return true;
    }
    let mut venv = Command::new("python3");
    venv.args(["-m", "venv", "--clear", "python"]).current_dir(folder);
    let mut pip = python(folder, "pip");
    pip.args(["install", "--quiet", "-r", "requirements.txt"]);
    started(&mut venv).is_ok() && started(&mut pip).is_ok() && fs::write(installed, wanted).is_ok()
}

/// Installs the npm tools. Returns false if this is not possible.
pub(crate) fn install_node(folder: &Path) -> bool {
    install_npm(folder, &["ci"])
}

/// Installs the npm tools with a command of npm, such as `ci`. Returns false if
/// this is not possible.
pub(crate) fn install_npm(folder: &Path, command: &[&str]) -> bool {
    let wanted = fs::read(folder.join("package-lock.json")).unwrap_or_default();
    let installed = folder.join("node_modules/installed.json");
    // A missing file counts as different.
    if fs::read(&installed).unwrap_or_default() == wanted {
        return true;
    }
    let mut npm = Command::new("npm");
    npm.args(command).args(["--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(folder);
    started(&mut npm).is_ok() && fs::write(installed, wanted).is_ok()
}

pub fn python(folder: &Path, tool: &str) -> Command {
    let mut command = Command::new(folder.join("python/bin").join(tool));
    command.current_dir(folder);
    command
}

fn node(folder: &Path, tool: &str, args: &[&str]) -> Outcome {
    let mut command = Command::new(folder.join("node_modules/.bin").join(tool));
    started(command.args(args).current_dir(folder))
}

/// Copies the files of a folder and its subfolders.
pub(crate) fn copy(from: &Path, to: &Path) -> Outcome {
    fs::create_dir_all(to).map_err(text)?;
    for entry in fs::read_dir(from).map_err(text)? {
        let entry = entry.map_err(text)?;
        let target = to.join(entry.file_name());
        if entry.file_type().map_err(text)?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target).map_err(text)?;
        }
    }
    Ok(())
}

fn text(error: std::io::Error) -> String {
    format!("tests/openapi: {error}")
}
