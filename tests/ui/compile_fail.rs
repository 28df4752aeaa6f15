//! What the compiler says to mistakes in handlers, middleware, `routes!` and
//! the derives: each file of `cases/` beside its message.
//!
//! A changed message is looked at, then accepted with
//! `TRYBUILD=overwrite cargo test -p stockade-tests-ui`.

use std::io::Write as _;
use std::process::Command;

#[test]
fn mistakes_are_named_where_they_are() {
    let version = rustc_version();
    if !version.starts_with(&format!("rustc {PINNED}.")) {
        let line = "=".repeat(72);
        let notice = format!("SKIPPED: tests/ui holds the messages of rustc {PINNED}, not of");
        // Not `eprintln!`, which the test harness keeps to itself.
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

/// Another version words its messages in another way.
const PINNED: &str = "1.95";
