//! The lines of the access log.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use http::StatusCode;
use log::Level;
use log::kv::Value;
use stockade_core::__internal::ErrorContextExt as _;
use stockade_core::{ErrorContext, Request};

use crate::request_id::{TraceParent, X_REQUEST_ID};

/// The part of a line that is known before the response.
pub(crate) struct AccessLogLine {
    context: ErrorContext,
    client: Option<IpAddr>,
    trace: Option<TraceParent>,
}

/// The end of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestEnd {
    /// `None` if there was no response.
    pub(super) status: Option<StatusCode>,
    pub(super) bytes: Option<u64>,
    /// True if the client has not got the whole response.
    pub(super) aborted: bool,
}

impl fmt::Display for RequestEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(status) = self.status {
            write!(f, " {}", status.as_u16())?;
        }
        f.write_str(if self.aborted { " aborted" } else { "" })
    }
}

impl AccessLogLine {
    /// Returns true if the logger wants the lines.
    pub(crate) fn is_wanted() -> bool {
        log::log_enabled!(target: TARGET, Level::Info)
    }

    /// Begins the line of a request, which may have an id from outside.
    pub(crate) fn of(req: &Request) -> Self {
        let mut context = ErrorContext::of(req);
        if context.id().is_none() {
            let sent = req.headers().get(X_REQUEST_ID).and_then(|id| id.to_str().ok());
            if let Some(id) = sent.filter(|id| is_plain(id)) {
                context = context.with_id(id);
            }
        }
        Self { context, client: req.client_ip(), trace: TraceParent::of(req.headers()) }
    }

    /// Logs the arrival of the request.
    pub(crate) fn log_request(&self) {
        let (method, route) = self.place();
        log::debug!(
            target: TARGET,
            method = method,
            route = route,
            client = self.client.as_ref().map(Value::from_display),
            request_id = self.context.id();
            "{method} {route}"
        );
    }

    /// Logs the end of the request.
    pub(super) fn log_end(&self, end: RequestEnd, duration: Duration) {
        let (method, route) = self.place();
        let status = end.status.map(|status| status.as_u16());
        let trace = self.trace.map(|trace| trace.trace_id());
        log::info!(
            target: TARGET,
            method = method,
            route = route,
            status = status,
            // More than 500,000 years do not happen.
            duration_us = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX),
            bytes = end.bytes,
            client = self.client.as_ref().map(Value::from_display),
            request_id = self.context.id(),
            trace_id = trace.as_deref(),
            aborted = end.aborted.then_some(true);
            "{method} {route}{end}"
        );
    }

    fn place(&self) -> (&str, &str) {
        (self.context.method().as_str(), self.context.route().unwrap_or("-"))
    }
}

/// Returns true if an id of a client has nothing but plain characters.
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
