//! Measurements of one step: the processor time and duration of a command, and
//! lines of LLVM IR.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use xtask::run;

/// The cost of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// The time on all processors together, including child processes.
    pub processor: Duration,
    /// The elapsed time.
    pub time: Duration,
}

/// Runs a command and returns its cost.
pub fn cost_of(command: &mut Command) -> Result<Cost, String> {
    let (before, start) = (processor_time()?, Instant::now());
    run(command)?;
    let time = start.elapsed();
    let processor = processor_time()?.saturating_sub(before);
    println!("  {:.1} s of processors, {:.1} s", processor.as_secs_f64(), time.as_secs_f64());
    Ok(Cost { processor, time })
}

/// Returns the median cost, separately for processor time and elapsed time.
pub fn median(costs: &[Cost]) -> Cost {
    let middle = |of: fn(&Cost) -> Duration| {
        let mut times: Vec<Duration> = costs.iter().map(of).collect();
        times.sort();
        times.get(times.len() / 2).copied().unwrap_or_default()
    };
    Cost { processor: middle(|cost| cost.processor), time: middle(|cost| cost.time) }
}

/// The file with the processor time of this program and its child processes.
pub const TIMES: &str = "/proc/self/stat";

/// Returns the processor time of all finished child processes.
fn processor_time() -> Result<Duration, String> {
    let stat = fs::read_to_string(TIMES).map_err(|error| format!("{TIMES}: {error}"))?;
    children_time(&stat).ok_or(format!("{TIMES} does not contain the processor time"))
}

/// Returns the sum of `cutime` and `cstime`; a tick is 1/100 s. Source:
/// proc_pid_stat(5).
fn children_time(stat: &str) -> Option<Duration> {
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut times = fields.split(' ').skip(13).map(str::parse::<u64>);
    let ticks = times.next()?.ok()? + times.next()?.ok()?;
    Some(Duration::from_millis(10 * ticks))
}

/// Returns compiler arguments that also write a crate as LLVM IR before any
/// LLVM optimization. `cargo llvm-lines` uses the same arguments, so the
/// figures are comparable.
pub fn ir_arguments(file: &Path) -> [String; 3] {
    [
        format!("--emit=llvm-ir={}", file.display()),
        "-Ccodegen-units=1".to_owned(),
        "-Cno-prepopulate-passes".to_owned(),
    ]
}

/// Counts the instructions in an LLVM IR file and deletes the file, which may
/// be several gigabytes large.
pub fn count_ir(file: &Path) -> Result<u64, String> {
    let fault = |error: std::io::Error| format!("{}: {error}", file.display());
    let mut reader = BufReader::with_capacity(1 << 20, File::open(file).map_err(fault)?);
    let (mut line, mut counter) = (Vec::new(), IrCounter::default());
    while reader.read_until(b'\n', &mut line).map_err(fault)? > 0 {
        counter.line(&line);
        line.clear();
    }
    fs::remove_file(file).map_err(fault)?;
    println!("  {} lines of LLVM IR", counter.lines);
    Ok(counter.lines)
}

/// Counts the lines within functions, like `cargo llvm-lines`.
#[derive(Default)]
struct IrCounter {
    is_in_function: bool,
    lines: u64,
}

impl IrCounter {
    fn line(&mut self, line: &[u8]) {
        if line.starts_with(b"define ") {
            self.is_in_function = true;
        } else if line.starts_with(b"}") {
            self.is_in_function = false;
        } else if self.is_in_function && line.starts_with(b"  ") && !line.starts_with(b"   ") {
            self.lines += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_time_of_children_after_any_name() {
        let stat = "7 (a) b) S 1 1 1 0 -1 4194304 1 2 3 4 11 12 250 50 20 0 1 0";
        assert_eq!(children_time(stat), Some(Duration::from_secs(3)));
        assert_eq!(children_time("7 (a) S 1"), None);
    }

    #[test]
    fn computes_the_median_of_each_figure() {
        let cost = |processor, time| Cost {
            processor: Duration::from_secs(processor),
            time: Duration::from_secs(time),
        };
        assert_eq!(median(&[cost(9, 2), cost(1, 3), cost(5, 1)]), cost(5, 2));
        assert_eq!(median(&[]), Cost::default());
    }

    #[test]
    fn instructions_are_lines_within_functions() {
        let ir = "source_filename = \"a\"\n\ndefine i32 @a() {\nstart:\n  %a = add i32 1, 2\n    \
            #dbg_value(i32 1)\n  switch i32 %a, label %b [\n    i32 1, label %b\n  ]\n\nb:\n  \
            ret i32 %a\n}\n\n  no instruction\n";
        let mut counter = IrCounter::default();
        ir.lines().for_each(|line| counter.line(line.as_bytes()));
        assert_eq!(counter.lines, 4);
    }
}
