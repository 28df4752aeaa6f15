//! What the compiler says to what is no key and no lifetime: each file of
//! `tests/ui` beside its message.
//!
//! A changed message is looked at, then accepted with
//! `TRYBUILD=overwrite cargo test -p stockade-auth compile_fail`.

use std::io::Write as _;
use std::process::Command;

#[test]
fn mistakes_are_named_where_they_are() {
    let version = rustc_version();
    if !version.starts_with(&format!("rustc {PINNED}.")) {
        let notice = format!("SKIPPED: tests/ui holds the messages of rustc {PINNED}, not of");
        // Not `eprintln!`, which the test harness keeps to itself.
        let _ = writeln!(std::io::stderr(), "\n{notice} {version}");
        return;
    }
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}

fn rustc_version() -> String {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// Another version words its messages in another way.
const PINNED: &str = "1.95";
