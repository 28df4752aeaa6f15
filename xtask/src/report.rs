//! The end of a run of several tasks: passed tasks and skipped checks.

use std::sync::{Mutex, PoisonError};

/// Reports that a run has passed, with a line for each task and each skipped
/// check.
pub(crate) fn report(run: &str, summary: &str) {
    println!("\n{run} passed\n{summary}");
    for what in SKIPPED.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        println!("  SKIPPED: {what}");
    }
}

/// Reports a skipped check immediately, and repeats it at the end of `ci`.
pub fn skip(what: &str) {
    println!("{MARK}{what}");
    note_of(what);
}

/// Stores another program's line about a skipped check.
pub(crate) fn note(line: &str) {
    if let Some(what) = line.strip_prefix(MARK) {
        note_of(what);
    }
}

fn note_of(what: &str) {
    SKIPPED.lock().unwrap_or_else(PoisonError::into_inner).push(what.to_owned());
}

const MARK: &str = "SKIPPED: ";

static SKIPPED: Mutex<Vec<String>> = Mutex::new(Vec::new());
