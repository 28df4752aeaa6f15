//! [`ToolLabels`] and [`ToolClient`]: the tool of a call and its caller, for the
//! log and the metrics.

use std::fmt;
use std::sync::Arc;

use stockade_core::Request;
use stockade_core::log_text::escaped;

use super::AccessLogLine;

/// The tool of a call as labels of its log line and its counters. It is created
/// once for each tool.
#[derive(Clone, Debug)]
pub struct ToolLabels {
    name: Arc<str>,
    /// The key of the counters.
    #[cfg(feature = "metrics")]
    series: Arc<str>,
}

impl ToolLabels {
    /// Creates the labels of a tool from the pattern of its route and its name.
    #[must_use]
    #[cfg_attr(not(feature = "metrics"), expect(unused_variables, reason = "only for metrics"))]
    pub fn new(route: Option<&str>, tool: &str) -> Self {
        Self {
            name: tool.into(),
            #[cfg(feature = "metrics")]
            series: crate::metrics::tool_series(route, tool).into(),
        }
    }

    /// Returns the name of the tool.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the key of the counters, which replaces the pattern of the route.
    #[cfg(feature = "metrics")]
    pub(super) fn series(&self) -> &str {
        &self.series
    }
}

/// The name and the version that a client of tools claims, as an extension of
/// its request. Nobody verifies them, so only the log contains them.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ToolClient(Arc<str>);

impl ToolClient {
    /// Stores the first 64 characters of a name and a version.
    #[must_use]
    pub fn new(name: &str, version: &str) -> Self {
        let separator = if version.is_empty() { "" } else { "/" };
        let text: String =
            [name, separator, version].into_iter().flat_map(str::chars).take(MAX).collect();
        Self(text.into())
    }

    /// Returns true if the logger accepts the lines of the access log.
    #[must_use]
    pub fn is_wanted() -> bool {
        AccessLogLine::is_wanted()
    }
}

/// The largest number of characters of a client in the log.
const MAX: usize = 64;

/// The part of an access log line about a tool.
#[derive(Debug)]
pub(super) struct LoggedTool {
    pub(super) name: Arc<str>,
    /// Escaped.
    pub(super) client: Option<String>,
}

impl LoggedTool {
    pub(super) fn of(req: &Request, labels: &ToolLabels) -> Self {
        let client = req.extensions().get::<ToolClient>();
        let client = client.map(|client| escaped(&*client.0).to_string().replace('"', "'"));
        Self { name: Arc::clone(&labels.name), client }
    }
}

/// Writes the end of a line: the tool and the client.
impl fmt::Display for LoggedTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, " tool={}", self.name)?;
        match &self.client {
            Some(client) => write!(f, " mcp_client=\"{client}\""),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_short_and_on_one_line() {
        let check = |name: &str, version: &str, expected: &str| {
            let mut req = Request::from(http::Request::new(()));
            req.extensions_mut().insert(ToolClient::new(name, version));
            let logged = LoggedTool::of(&req, &ToolLabels::new(Some("/x"), "orders_show"));
            assert_eq!(logged.to_string(), format!(" tool=orders_show mcp_client=\"{expected}\""));
        };
        check("claude-code", "2.1", "claude-code/2.1");
        check("codex", "", "codex");
        check("a\nGET /admin 200", "\u{1b}[2J", r"a\nGET /admin 200/\u{1b}[2J");
        check("x\" tool=\"y", "1", "x' tool='y/1");
        check(&"ä".repeat(70), "1", &"ä".repeat(64));
        let req = Request::from(http::Request::new(()));
        let logged = LoggedTool::of(&req, &ToolLabels::new(None, "orders_show"));
        assert_eq!(logged.to_string(), " tool=orders_show");
    }
}
