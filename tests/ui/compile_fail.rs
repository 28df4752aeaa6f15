//! Compiler messages for errors in handlers, middleware, `routes!` and the
//! derives. Each file in `cases/` has its message next to it.
//!
//! After a change, review the new messages and accept them with
//! `TRYBUILD=overwrite cargo test -p stockade-tests-ui`.

use std::io::Write as _;
use std::process::Command;

#[test]
fn compile_errors_have_exact_positions() {
    let version = rustc_version();
    if !version.starts_with(&format!("rustc {PINNED}.")) {
        let line = "=".repeat(72);
        let notice = format!("SKIPPED: tests/ui holds the messages of rustc {PINNED}, not of");
        // The test harness captures the output of `eprintln!`.
        let _ = write!(std::io::stderr(), "\n{line}\n{notice} {version}{line}\n");
        return;
    }
    trybuild::TestCases::new().compile_fail("cases/*.rs");
}

fn rustc_version() -> String {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output().expect("rustc runs");
    String::from_utf8(output.stdout).expect("rustc writes UTF-8")
}

/// The pinned compiler version; other versions word their messages differently.
const PINNED: &str = "1.95";
