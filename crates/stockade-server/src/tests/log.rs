//! The lines at warning and error level.

use std::cell::RefCell;

use log::{Level, LevelFilter, Log, Metadata, Record};

thread_local! {
    /// Of this thread alone, so that tests do not see each other's.
    static LINES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// The warnings and errors that `run` logs on this thread.
pub(super) fn of(run: impl FnOnce()) -> Vec<String> {
    // It fails when another test was first, which is as good.
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
