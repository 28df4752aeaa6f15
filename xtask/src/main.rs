//! `cargo xtask <task>`: the program of the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    xtask::main()
}
