//! [`Progress`]: lines on stderr while a long check runs.

use std::io::{self, Write as _};
use std::time::{Duration, Instant};

/// The progress of a check. Nothing is shown in the first seconds.
pub(super) struct Progress {
    start: Instant,
    /// The time of the next line, since the start.
    next: Duration,
    routes: usize,
}

impl Progress {
    pub(super) fn new(routes: usize) -> Self {
        Self { start: Instant::now(), next: PAUSE, routes }
    }

    /// Writes a line if it is time for one. `index` is the index of the route, and
    /// `requests` the number of all requests so far.
    pub(super) fn show(&mut self, index: usize, route: &str, requests: u32) {
        if let Some(line) = self.line(self.start.elapsed(), index, route, requests) {
            // The test harness does not capture this, unlike the print macros.
            // Errors are ignored because stderr may be closed.
            let _ = writeln!(io::stderr(), "{line}");
        }
    }

    fn line(
        &mut self,
        elapsed: Duration,
        index: usize,
        route: &str,
        requests: u32,
    ) -> Option<String> {
        if elapsed < self.next {
            return None;
        }
        self.next = elapsed + PAUSE;
        let (number, routes, seconds) = (index + 1, self.routes, elapsed.as_secs());
        Some(format!(
            "check_schemas: {seconds} s, {requests} requests, route {number} of {routes}: {route}"
        ))
    }
}

/// The time between two lines.
const PAUSE: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_a_line_every_five_seconds() {
        let mut progress = Progress::new(40);
        let mut line = |millis| {
            let elapsed = Duration::from_millis(millis);
            progress.line(elapsed, 2, "POST /login", 350)
        };
        assert_eq!(line(4_999), None);
        let expected = "check_schemas: 5 s, 350 requests, route 3 of 40: POST /login";
        assert_eq!(line(5_000).as_deref(), Some(expected));
        assert_eq!(line(9_999), None);
        assert!(line(23_000).is_some_and(|line| line.contains("23 s")));
        assert_eq!(line(27_999), None);
    }
}
