//! The full form: compiles both programs from scratch, as their authors would.

use std::env::consts::EXE_SUFFIX;
use std::fs;
use std::path::Path;

use crate::library::{self, Library};
use crate::measure::{Cost, TIMES, cost_of, count_ir, ir_arguments, median};
use crate::program::{Framework, PACKAGE, Program};
use crate::recorded::Figure;
use crate::table::{Figures, table};
use xtask::{cargo_output, skip, target_directory};

/// The number of repeated builds for a median.
const ROUNDS: u32 = 3;

/// Prints the table and returns its repeatable figures, or none if measuring is
/// not possible.
pub fn count(modules: usize) -> Result<Vec<Figure>, String> {
    if !Path::new(TIMES).exists() {
        skip("the cost of compiling (it requires the processor time in /proc)");
        return Ok(Vec::new());
    }
    let folder = target_directory()?.join("compile-cost");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let (library, state) = (Library::write(&folder)?, library::state());
    let write = |framework| Program::write(framework, modules, &library, &folder);
    let programs = [write(Framework::ALL[0])?, write(Framework::ALL[1])?];
    let mut figures = [Figures::default(); 2];
    for (program, figures) in programs.iter().zip(&mut figures) {
        figures.crates = crates(program)?;
        figures.first = cost_of(&mut program.cargo(&["build"]))?;
        figures.binary = size(&program.target().join(format!("debug/{PACKAGE}{EXE_SUFFIX}")))?;
        println!("  {} bytes, {} crates", figures.binary, figures.crates);
    }
    let rebuilds = in_turn(&programs, |program, round| {
        program.edit(round)?;
        cost_of(&mut program.cargo(&["build"]))
    })?;
    let checks = in_turn(&programs, |program, round| {
        if round == 1 {
            cost_of(&mut program.cargo(&["check"]))?;
        }
        program.edit(ROUNDS)?;
        cost_of(&mut program.cargo(&["check"]))
    })?;
    for (index, program) in programs.iter().enumerate() {
        let figures = &mut figures[index];
        (figures.rebuild, figures.check) = (median(&rebuilds[index]), median(&checks[index]));
        figures.lines = lines(program)?;
        figures.release = cost_of(&mut program.cargo(&["build", "--release"]))?;
        program.edit(ROUNDS + 1)?;
        figures.release_alone = cost_of(&mut program.cargo(&["build", "--release"]))?;
    }
    let [stockade, axum] = &figures;
    println!(
        "\n{modules} modules, {} handlers and {} types; this library at {}; rebuilds and checks are \
         medians of {ROUNDS}\n\n{}",
        2 * modules,
        2 * modules,
        state,
        table(stockade, axum)
    );
    let figure = |name, count| Figure::new("full", modules, name, count);
    Ok(vec![
        figure("lines", stockade.lines),
        figure("binary", stockade.binary),
        figure("crates", stockade.crates),
    ])
}

/// Measures all programs in each round, so other work on the machine affects
/// both.
fn in_turn(
    programs: &[Program; 2],
    measure: impl Fn(&Program, u32) -> Result<Cost, String>,
) -> Result<[Vec<Cost>; 2], String> {
    let mut costs = [Vec::new(), Vec::new()];
    for round in 1..=ROUNDS {
        for (program, costs) in programs.iter().zip(&mut costs) {
            costs.push(measure(program, round)?);
        }
    }
    Ok(costs)
}

/// Counts the lines of LLVM IR for a program's own crate.
fn lines(program: &Program) -> Result<u64, String> {
    let file = program.target().join("program.ll");
    let mut command = program.cargo(&["rustc", "--"]);
    // Incremental compilation splits each module into a separate unit.
    cost_of(command.args(ir_arguments(&file)).env("CARGO_INCREMENTAL", "0"))?;
    count_ir(&file)
}

/// Counts the crates compiled for a program.
fn crates(program: &Program) -> Result<u64, String> {
    let manifest = program.manifest_path();
    let tree = cargo_output(&[
        "tree",
        "--manifest-path",
        &manifest,
        "--edges=normal,build",
        "--prefix=none",
        "--no-dedupe",
    ])?;
    Ok(distinct(&tree))
}

/// Counts the distinct packages in a tree.
fn distinct(tree: &str) -> u64 {
    let package = |line| str::rsplit_once(line, " (proc-macro)").map_or(line, |(name, _)| name);
    let mut packages: Vec<&str> = tree.lines().map(package).collect();
    packages.sort_unstable();
    packages.dedup();
    packages.len() as u64
}

pub(super) fn size(file: &Path) -> Result<u64, String> {
    let metadata = fs::metadata(file).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(metadata.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_counts_once() {
        let tree = "app v0.0.0 (/app)\nserde v1.0.0\nserde_derive v1.0.0 (proc-macro)\nsyn v2.0.0\n\
            syn v3.0.0\nserde v1.0.0\nserde_derive v1.0.0 (proc-macro) (*)\n";
        assert_eq!(distinct(tree), 5);
    }
}
