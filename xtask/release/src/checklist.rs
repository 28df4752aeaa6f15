//! [`Checklist`]: the steps of a release with their results.

use std::fmt::Display;

use xtask::Outcome;

/// The steps so far.
#[derive(Debug, Default)]
pub(crate) struct Checklist(Vec<Step>);

#[derive(Debug)]
struct Step {
    mark: Mark,
    name: String,
    result: String,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Mark {
    Passed,
    Failed,
    /// A step that did not run.
    Skipped,
    /// A step that only a maintainer can do, before the real release.
    Open,
}

impl Checklist {
    /// Adds a step that passed or failed.
    pub(crate) fn check(&mut self, name: &str, result: Result<impl Display, impl Display>) {
        match result {
            Ok(result) => self.add(Mark::Passed, name, &result.to_string()),
            Err(error) => self.add(Mark::Failed, name, &error.to_string()),
        }
    }

    /// Adds a step that did not run, with the reason.
    pub(crate) fn skip(&mut self, name: &str, reason: &str) {
        self.add(Mark::Skipped, name, reason);
    }

    /// Adds a step for a maintainer.
    pub(crate) fn open(&mut self, name: &str, what: &str) {
        self.add(Mark::Open, name, what);
    }

    fn add(&mut self, mark: Mark, name: &str, result: &str) {
        let step = Step { mark, name: name.to_owned(), result: result.to_owned() };
        println!("{}", step.line());
        self.0.push(step);
    }

    /// Prints all steps. Fails if a step failed.
    pub(crate) fn end(self) -> Outcome {
        println!("\nChecklist");
        for step in &self.0 {
            println!("{}", step.line());
        }
        let count = |mark| self.0.iter().filter(|step| step.mark == mark).count();
        println!(
            "{} passed, {} failed, {} skipped, {} open for a maintainer",
            count(Mark::Passed),
            count(Mark::Failed),
            count(Mark::Skipped),
            count(Mark::Open)
        );
        let failed = self.0.iter().filter(|step| step.mark == Mark::Failed);
        let failed: Vec<&str> = failed.map(|step| &*step.name).collect();
        if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", "))) }
    }
}

impl Step {
    fn line(&self) -> String {
        let mark = match self.mark {
            Mark::Passed => "[x]",
            Mark::Failed => "[FAILED]",
            Mark::Skipped => "[skipped]",
            Mark::Open => "[open]",
        };
        format!("  {mark} {}: {}", self.name, self.result.replace('\n', "\n      "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_failed_steps_fail_the_run() {
        let mut list = Checklist::default();
        list.check("versions", Ok::<_, String>("all 0.1.0"));
        list.skip("ci", "not here");
        list.open("addresses", "set them");
        assert_eq!(list.0[0].line(), "  [x] versions: all 0.1.0");
        assert_eq!(list.end(), Ok(()));

        let mut list = Checklist::default();
        list.check("versions", Err::<String, _>("two\nversions"));
        assert_eq!(list.0[0].line(), "  [FAILED] versions: two\n      versions");
        assert_eq!(list.end(), Err("failed: versions".to_owned()));
    }
}
