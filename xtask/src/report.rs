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
pub(crate) fn skip(what: &str) {
    println!("SKIPPED: {what}");
    SKIPPED.lock().unwrap_or_else(PoisonError::into_inner).push(what.to_owned());
}

static SKIPPED: Mutex<Vec<String>> = Mutex::new(Vec::new());
