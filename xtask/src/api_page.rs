//! The page of the API in Chromium: accessibility by axe-core, widths, keyboard,
//! requests, hostile texts, sizes and times. TypeScript checks its script.
//!
//! `tests/page` contains the checks. Packages are installed below
//! `target/page`.

use std::env;
use std::env::consts::EXE_SUFFIX;
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::browser::is_installed;
use crate::live_page::Shop;
use crate::openapi::{address, copy, install_node};
use crate::running::Running;
use crate::{
    Outcome, announce, cargo, cargo_command, examples, root, run as started, skip, target_directory,
};

/// The time until the shop must have started.
const PATIENCE: Duration = Duration::from_secs(60);

/// The script of the page.
const SCRIPT: &str = "crates/stockade-openapi/src/page/page.js";

/// The options of the type checker.
const CHECK: [&str; 9] = [
    "--noEmit",
    "--allowJs",
    "--checkJs",
    "--strict",
    "--noUncheckedIndexedAccess",
    "--target",
    "es2022",
    "--lib",
    "es2022,dom,dom.iterable,dom.asynciterable",
];

pub fn run() -> Outcome {
    let folder = target_directory()?.join("page");
    copy(&root().join("tests/page"), &folder)?;
    if !install_node(&folder) {
        skip("the script of the API's page, and axe-core (Node 20 with npm, and its registry)");
        return Ok(());
    }
    started(
        Command::new(folder.join("node_modules/.bin/tsc")).args(CHECK).arg(root().join(SCRIPT)),
    )?;
    if !is_installed() {
        skip("the page of the API in a browser (it needs `chromium`)");
        return Ok(());
    }
    let pages = folder.join("pages");
    fs::create_dir_all(&pages).map_err(|error| format!("{}: {error}", pages.display()))?;
    let write = ["test", "-p", "stockade-openapi", "--lib", "writes_pages", "--", "--ignored"];
    let mut cargo_test = cargo_command();
    started(cargo_test.args(write).env("STOCKADE_PAGES", &pages).current_dir(root()))?;
    examples::debug_program("shop")?;
    cargo(&["build", "-p", "stockade-tests-openapi", "--bin", "library"])?;
    let shop = Shop::start(&target_directory()?, Instant::now() + PATIENCE)?;
    let mut library = Command::new(target_directory()?.join(format!("debug/library{EXE_SUFFIX}")));
    library.env("RUST_LOG", "warn").stdout(Stdio::piped());
    announce(&library);
    let mut library = Running::start(&mut library, "the library")?;
    let (library_url, token) = address(&mut library)?;
    let mut node = Command::new("node");
    node.arg("check.mjs").current_dir(&folder);
    node.env("URL", format!("http://{}", shop.address)).env("PAGES", &pages);
    node.env("LIBRARY", format!("{library_url} {token}"));
    let pictures = folder.join("pictures");
    let has_pictures = env::args().any(|argument| argument == "--pictures");
    if has_pictures {
        node.env("PICTURES", &pictures);
    }
    started(&mut node)?;
    if has_pictures {
        let image = root().join("book/src/images/docs-page.png");
        let copied = fs::copy(pictures.join("operation-light-1200.png"), &image);
        copied.map_err(|error| format!("{}: {error}", image.display()))?;
    }
    Ok(())
}
