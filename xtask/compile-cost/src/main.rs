//! `compile-cost`: the compile time of an API with many modules, compared with
//! the same API on axum and validator.
//!
//! `--modules N` sets the size of the programs. The full form, a part of
//! `nightly`, prints a table of times and sizes with the goals. It takes at
//! least half an hour and needs 8 GB of disk space. The short form, `--short`,
//! a part of `ci`, counts the repeatable figures with the crates that `ci` has
//! compiled. Both fail only if a repeatable figure is 10 % above
//! `tests/compile-cost.txt`, which `--save` writes. They never fail because of
//! a time.
//!
//! `first-minute` measures the smallest program and the shop.

mod first_minute;
mod full;
mod library;
mod measure;
mod program;
mod recorded;
mod short;
mod table;

use std::env;
use std::process::ExitCode;

use xtask::{Outcome, end_of, is_part_of};

/// The number of modules in the full form.
const MODULES: usize = 300;

/// The number of modules in the short form.
const FEW_MODULES: usize = 50;

/// The maximum number of modules, so that a typo does not fill the disk.
const MAX_MODULES: usize = 1_000;

fn main() -> ExitCode {
    end_of(run())
}

fn run() -> Outcome {
    if env::args().nth(1).is_some_and(|task| task == "first-minute") {
        return first_minute::run();
    }
    let arguments: Vec<String> = env::args().skip(2).collect();
    let mut options = Options::read(&arguments)?;
    options.short |= is_part_of("ci");
    let usual = if options.short { FEW_MODULES } else { MODULES };
    let modules = options.modules.unwrap_or(usual);
    let counted = if options.short { short::count(modules)? } else { full::count(modules)? };
    for figure in &counted {
        println!("{} of stockade's program: {}", figure.name, figure.count);
    }
    recorded::settle(&counted, options.save, modules == usual)
}

/// The options of `cargo xtask compile-cost`.
#[derive(Debug, Default, PartialEq)]
struct Options {
    modules: Option<usize>,
    short: bool,
    save: bool,
}

impl Options {
    fn read(arguments: &[String]) -> Result<Self, String> {
        let mut options = Self::default();
        let mut arguments = arguments.iter().map(String::as_str);
        while let Some(argument) = arguments.next() {
            match argument {
                "--short" => options.short = true,
                "--save" => options.save = true,
                "--modules" => {
                    let number = arguments.next().and_then(|number| number.parse().ok());
                    let number = number.filter(|number| (1..=MAX_MODULES).contains(number));
                    options.modules = Some(number.ok_or(USAGE)?);
                }
                _ => return Err(USAGE.to_owned()),
            }
        }
        Ok(options)
    }
}

const USAGE: &str = "usage: cargo xtask compile-cost [--modules 1..1000] [--short] [--save]";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_in_any_order() {
        #[track_caller]
        fn check(line: &str, expected: Option<Options>) {
            let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            assert_eq!(Options::read(&arguments).ok(), expected, "{line}");
        }
        check("", Some(Options::default()));
        let all = || Options { modules: Some(50), short: true, save: true };
        check("--short --save --modules 50", Some(all()));
        check("--modules 50 --save --short", Some(all()));
        for line in ["--modules", "--modules 0", "--modules 1001", "--modules x", "--shrt", "50"] {
            check(line, None);
        }
    }
}
