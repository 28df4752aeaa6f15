//! [`Progress`]: an argument of handlers that report the progress of a call.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};

use serde_json::Value;
use stockade_core::{FromRequest, Request, RouteDescription};
use stockade_errors::ApiError;
use stockade_errors::locks::lock;

/// Reports the progress of a long-running tool to the agent that called it.
///
/// Each report is a `notifications/progress` message in a stream of
/// server-sent events; the result is the last event. Reports have no effect if
/// the client did not request them, and in other requests to the route. The
/// call is cancelled if the client disconnects: the future of the handler is
/// dropped.
///
/// ```
/// use stockade::mcp::{Mcp, Progress};
/// use stockade::prelude::*;
///
/// async fn import(progress: Progress) -> &'static str {
///     for done in 1..=3 {
///         // … import a file …
///         progress.report(done, 3);
///     }
///     "imported 3 files"
/// }
///
/// let api = routes! {
///     "mcp": { public: "an example", ..Mcp::new("Files", "1.0.0").routes() },
///     "imports": { POST: { handler: import, name: "import", tool: "Imports all files." } },
/// };
/// assert!(create_router(api, RouterOptions::new()).build().is_ok());
/// ```
///
/// Source: the page `basic/utilities/progress` of the specification.
#[derive(Clone, Default)]
pub struct Progress {
    reports: Option<Arc<Reports>>,
}

impl Progress {
    /// Reports that `done` of `total` steps are done. Use `None` if the total
    /// is unknown.
    ///
    /// A report is dropped if `done` is not greater than in the last report. If
    /// the client reads slowly, it receives only the latest 64 reports.
    pub fn report(&self, done: u64, total: impl Into<Option<u64>>) {
        self.send(done, total.into(), None);
    }

    /// Reports like [`report`](Self::report), with a text for the user.
    pub fn report_text(&self, done: u64, total: impl Into<Option<u64>>, text: &str) {
        self.send(done, total.into(), Some(text));
    }

    /// Returns true if the client requested reports.
    #[must_use]
    pub fn is_requested(&self) -> bool {
        self.reports.is_some()
    }

    fn send(&self, done: u64, total: Option<u64>, text: Option<&str>) {
        if let Some(reports) = &self.reports {
            reports.add(done, total, text);
        }
    }
}

impl FromRequest for Progress {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        let reports = req.extensions().get::<ReportsOfCall>();
        Ok(Self { reports: reports.map(|ReportsOfCall(reports)| Arc::clone(reports)) })
    }

    fn describe(_doc: &mut RouteDescription) {}
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Progress").field("is_requested", &self.is_requested()).finish()
    }
}

/// The reports of a call, in the extensions of its request.
#[derive(Clone)]
pub(crate) struct ReportsOfCall(pub(crate) Arc<Reports>);

/// The reports that are not sent yet.
pub(crate) struct Reports {
    /// The token of the client, as JSON.
    token: String,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<String>,
    /// The number of steps in the last report.
    last: Option<u64>,
    /// The task that sends the reports. The handler may run in another task.
    waker: Option<Waker>,
}

impl Reports {
    pub(crate) fn new(token: &str) -> Self {
        Self { token: token.to_owned(), state: Mutex::default() }
    }

    fn add(&self, done: u64, total: Option<u64>, text: Option<&str>) {
        let mut state = lock(&self.state);
        if state.last.is_some_and(|last| done <= last) {
            return;
        }
        state.last = Some(done);
        if state.waiting.len() == MOST_WAITING {
            state.waiting.pop_front();
        }
        state.waiting.push_back(self.message(done, total, text));
        let waker = state.waker.take();
        // Waking may run code of the runtime, which must not hold the lock.
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn message(&self, done: u64, total: Option<u64>, text: Option<&str>) -> String {
        let total = total.map_or_else(String::new, |total| format!(",\"total\":{total}"));
        let text =
            text.map_or_else(String::new, |text| format!(",\"message\":{}", Value::from(text)));
        format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{{\
             \"progressToken\":{},\"progress\":{done}{total}{text}}}}}",
            self.token
        )
    }

    /// Returns the next report. Otherwise, the task wakes for the next one.
    pub(crate) fn next(&self, cx: &Context<'_>) -> Option<String> {
        let mut state = lock(&self.state);
        let next = state.waiting.pop_front();
        if next.is_none() {
            state.waker = Some(cx.waker().clone());
        }
        next
    }

    /// Returns true if a report waits.
    pub(crate) fn has_waiting(&self) -> bool {
        !lock(&self.state).waiting.is_empty()
    }
}

/// The maximum number of reports that wait for a slow client.
const MOST_WAITING: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(reports: &Reports) -> Vec<String> {
        let cx = Context::from_waker(Waker::noop());
        std::iter::from_fn(|| reports.next(&cx)).collect()
    }

    #[test]
    fn a_report_increases() {
        let reports = Arc::new(Reports::new("\"t\""));
        let progress = Progress { reports: Some(Arc::clone(&reports)) };
        progress.report(1, None);
        progress.report(1, 3);
        progress.report_text(2, 3, "a\"b");
        assert!(reports.has_waiting());
        assert_eq!(
            sent(&reports),
            [
                r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}}"#,
                r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":2,"total":3,"message":"a\"b"}}"#,
            ]
        );
    }

    #[test]
    fn a_slow_client_gets_the_latest_reports() {
        let reports = Reports::new("1");
        (0..100).for_each(|done| reports.add(done, None, None));
        let sent = sent(&reports);
        assert_eq!(sent.len(), MOST_WAITING);
        assert!(sent[0].contains("\"progress\":36") && sent[63].contains("\"progress\":99"));
    }

    #[test]
    fn other_requests_ignore_reports() {
        let progress = Progress::default();
        progress.report(1, 2);
        assert!(!progress.is_requested());
    }
}
