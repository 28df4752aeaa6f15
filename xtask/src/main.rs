//! `cargo xtask <task>`: the binary of this library.

use std::process::ExitCode;

fn main() -> ExitCode {
    xtask::main()
}
