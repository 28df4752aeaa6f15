//! Captures the log lines at warn and error level.

use std::cell::RefCell;

use log::{Level, LevelFilter, Log, Metadata, Record};

thread_local! {
    /// Per thread, because tests must not see each other's lines.
    static LINES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Returns the warnings and errors that `run` logs on this thread.
pub(super) fn of(run: impl FnOnce()) -> Vec<String> {
    // It fails harmlessly if another test has already set the logger.
    if log::set_logger(&Watch).is_ok() {
        log::set_max_level(LevelFilter::Warn);
    }
    LINES.take();
    run();
    LINES.take()
}

struct Watch;

impl Log for Watch {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.level() <= Level::Warn
    }

    fn log(&self, record: &Record<'_>) {
        let line = format!("{} {}: {}", record.level(), record.target(), record.args());
        LINES.with_borrow_mut(|lines| lines.push(line));
    }

    fn flush(&self) {}
}
