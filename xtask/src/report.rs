//! The end of a run of several tasks: what passed, and what was not checked.

use std::sync::{Mutex, PoisonError};

/// Says that a run has passed, with a line for each task, and what was left out.
pub(crate) fn report(run: &str, summary: &str) {
    println!("\n{run} passed\n{summary}");
    for what in SKIPPED.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        println!("  SKIPPED: {what}");
    }
}

/// Says that something was not checked, now and again at the end of `ci`.
pub fn skip(what: &str) {
    println!("{MARK}{what}");
    note_of(what);
}

/// Keeps the line of another program that says that something was not checked.
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
