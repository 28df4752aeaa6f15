//! Access log lines.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use http::StatusCode;
use log::Level;
use log::kv::Value;
use stockade_core::log_text::escaped;
use stockade_core::{ErrorContext, Request};

use super::tool_call::{LoggedTool, ToolLabels};
use crate::logging::AccessLog;
use crate::request_id::{TraceParent, X_REQUEST_ID};

/// The part of a line that is known before the response.
pub(crate) struct AccessLogLine {
    context: ErrorContext,
    /// The escaped path, if it is logged.
    path: Option<String>,
    /// The escaped id: a program may have copied it from a client.
    id: Option<String>,
    client: Option<IpAddr>,
    trace: Option<TraceParent>,
    /// The tool that the request calls; boxed, because most requests do not
    /// call one.
    tool: Option<Box<LoggedTool>>,
}

/// The end of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestEnd {
    /// `None` if there was no response.
    pub(super) status: Option<StatusCode>,
    pub(super) bytes: Option<u64>,
    pub(super) ending: Ending,
}

/// The end of a response.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Ending {
    /// The host received the whole response.
    Whole,
    /// The client disconnected before that.
    Left,
    /// The body ended with an error.
    Broken,
}

impl RequestEnd {
    /// Returns true if the client did not receive the whole response.
    fn is_aborted(self) -> bool {
        self.ending != Ending::Whole
    }
}

impl fmt::Display for RequestEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(status) = self.status {
            write!(f, " {}", status.as_u16())?;
        }
        f.write_str(if self.is_aborted() { " aborted" } else { "" })
    }
}

impl AccessLogLine {
    /// Returns true if the logger accepts the lines.
    pub(crate) fn is_wanted() -> bool {
        log::log_enabled!(target: TARGET, Level::Info)
    }

    /// Begins the line of a request. Its id may come from the client.
    pub(crate) fn of(req: &Request, options: AccessLog) -> Self {
        let context = ErrorContext::of(req);
        let sent = || req.headers().get(X_REQUEST_ID)?.to_str().ok().filter(|id| is_plain(id));
        let id = context.id().or_else(sent).map(|id| escaped(id).to_string());
        let path = options.shows_path().then(|| escaped(req.path()).to_string());
        let (client, trace) = (req.client_ip(), TraceParent::of(req.headers()));
        Self { context, path, id, client, trace, tool: None }
    }

    /// Names the tool that the request calls.
    pub(super) fn calling(mut self, req: &Request, labels: &ToolLabels) -> Self {
        self.tool = Some(Box::new(LoggedTool::of(req, labels)));
        self
    }

    /// Logs the arrival of the request.
    pub(crate) fn log_request(&self) {
        log::debug!(
            target: TARGET,
            method = self.context.method().as_str(),
            route = self.route(),
            path = self.path.as_deref(),
            client = self.client.as_ref().map(Value::from_display),
            request_id = self.id.as_deref();
            "{}{}", Beginning(self), Names(self)
        );
    }

    /// Logs the end of the request.
    pub(super) fn log_end(&self, end: RequestEnd, duration: Duration) {
        if let Some(tool) = &self.tool {
            return self.log_tool(tool, end, duration);
        }
        let status = end.status.map(|status| status.as_u16());
        let trace = self.trace.map(|trace| trace.trace_id());
        let micros = duration.as_micros();
        log::info!(
            target: TARGET,
            method = self.context.method().as_str(),
            route = self.route(),
            path = self.path.as_deref(),
            status = status,
            // Durations above 500,000 years do not occur.
            duration_us = u64::try_from(micros).unwrap_or(u64::MAX),
            bytes = end.bytes,
            client = self.client.as_ref().map(Value::from_display),
            request_id = self.id.as_deref(),
            trace_id = trace.as_deref(),
            aborted = end.is_aborted().then_some(true);
            "{}{end} {}.{:03}ms{}", Beginning(self), micros / 1_000, micros % 1_000, Names(self)
        );
    }

    /// Logs the end of a call. The line of a request without a tool does not
    /// have its keys.
    #[cold]
    fn log_tool(&self, tool: &LoggedTool, end: RequestEnd, duration: Duration) {
        let status = end.status.map(|status| status.as_u16());
        let trace = self.trace.map(|trace| trace.trace_id());
        let micros = duration.as_micros();
        log::info!(
            target: TARGET,
            method = self.context.method().as_str(),
            route = self.route(),
            path = self.path.as_deref(),
            status = status,
            // Durations above 500,000 years do not occur.
            duration_us = u64::try_from(micros).unwrap_or(u64::MAX),
            bytes = end.bytes,
            client = self.client.as_ref().map(Value::from_display),
            request_id = self.id.as_deref(),
            trace_id = trace.as_deref(),
            aborted = end.is_aborted().then_some(true),
            tool = &*tool.name,
            mcp_client = tool.client.as_deref();
            "{}{end} {}.{:03}ms{}{tool}",
            Beginning(self), micros / 1_000, micros % 1_000, Names(self)
        );
    }

    fn route(&self) -> &str {
        self.context.route().unwrap_or("-")
    }
}

/// The beginning of a line: method, pattern and path.
struct Beginning<'l>(&'l AccessLogLine);

impl fmt::Display for Beginning<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0.context.method(), self.0.route())?;
        match &self.0.path {
            Some(path) => write!(f, " ({path})"),
            None => Ok(()),
        }
    }
}

/// The end of a line: client and id.
struct Names<'l>(&'l AccessLogLine);

impl fmt::Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.client {
            Some(client) => write!(f, " {client}")?,
            None => f.write_str(" -")?,
        }
        match &self.0.id {
            Some(id) => write!(f, " [{id}]"),
            None => Ok(()),
        }
    }
}

/// Returns true if a client's id consists of plain characters.
fn is_plain(id: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:+/=".contains(&byte);
    id.len() <= MAX_ID_BYTES && !id.is_empty() && id.bytes().all(is_plain)
}

const TARGET: &str = "stockade::access";
const MAX_ID_BYTES: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_short_and_plain() {
        for id in ["0af7651916cd43dd8448eb211c80319c", "a-b_c.d:e+f/g=", &"a".repeat(128)] {
            assert!(is_plain(id), "{id:?}");
        }
        for id in ["", "a b", "a\"b", "ä", "a\nb", "a,b", &"a".repeat(129)] {
            assert!(!is_plain(id), "{id:?}");
        }
    }
}
