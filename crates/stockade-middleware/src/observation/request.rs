//! [`Observation`]: the observation of one request.

use std::fmt;
use std::time::Instant;

use http::{HeaderMap, Method, StatusCode};
use stockade_core::{ApiError, Response};

use super::access_log::{AccessLogLine, RequestEnd};
use super::counted_body::CountedBody;
#[cfg(feature = "metrics")]
use crate::metrics::{InFlight, Metrics, Reason};
use crate::request_id::RequestNames;

/// A request under observation, from its beginning to the end of its response.
///
/// Dropping the observation before [`leave`](Self::leave) means that the client
/// has left: the line in the log says so, and the request is no longer in
/// flight.
#[must_use = "dropping it means that the client has left"]
pub struct Observation {
    started: Instant,
    is_head: bool,
    status: Option<StatusCode>,
    names: Option<RequestNames>,
    /// `None` if the line was written, or is not wanted.
    line: Option<AccessLogLine>,
    #[cfg(feature = "metrics")]
    in_flight: Option<InFlight>,
}

impl Observation {
    /// Begins an observation and starts its time.
    pub(crate) fn begin(method: &Method) -> Self {
        Self {
            started: Instant::now(),
            is_head: *method == Method::HEAD,
            status: None,
            names: None,
            line: None,
            #[cfg(feature = "metrics")]
            in_flight: None,
        }
    }

    pub(super) fn named(mut self, names: Option<RequestNames>) -> Self {
        self.names = names;
        self
    }

    /// Sets the line to write at the end of the request.
    pub(crate) fn logging(mut self, line: Option<AccessLogLine>) -> Self {
        self.line = line;
        self
    }

    /// Counts the request under its method and route.
    #[cfg(feature = "metrics")]
    pub(crate) fn counting(
        mut self,
        metrics: &Metrics,
        method: &Method,
        route: Option<&str>,
    ) -> Self {
        self.in_flight = Some(metrics.begin(method, route));
        self
    }

    /// Adds the ids of the request to the headers of its response.
    pub fn name(&self, headers: &mut HeaderMap) {
        if let Some(names) = &self.names {
            names.write_to(headers);
        }
    }

    /// Records the response. A stream is wrapped in a body that counts its
    /// bytes and reports its end.
    pub fn leave(mut self, response: &mut Response) {
        let status = response.status();
        self.status = Some(status);
        #[cfg(feature = "metrics")]
        if let Some(in_flight) = &self.in_flight {
            in_flight.record(status, Reason::of(response), self.started.elapsed());
        }
        let has_body = !self.is_head && !matches!(status.as_u16(), 101 | 204 | 205 | 304);
        let whole = response.body().as_bytes().map(<[u8]>::len);
        match whole {
            None if has_body => {
                let body = std::mem::take(response.body_mut());
                *response.body_mut() = CountedBody::new(body, self).into_body();
            }
            Some(length) if has_body => self.end(Some(length as u64), false),
            _ => self.end(Some(0), false),
        }
    }

    /// Records an error that outer code will answer.
    pub(crate) fn fail(mut self, error: &ApiError) {
        self.status = StatusCode::from_u16(error.status()).ok();
        self.end(None, false);
    }

    /// Writes the line and ends the counting. A second call has no effect.
    pub(super) fn end(&mut self, bytes: Option<u64>, aborted: bool) {
        if let Some(line) = self.line.take() {
            line.log_end(
                RequestEnd { status: self.status, bytes, aborted },
                self.started.elapsed(),
            );
        }
        #[cfg(feature = "metrics")]
        drop(self.in_flight.take());
    }
}

impl Drop for Observation {
    fn drop(&mut self) {
        self.end(None, true);
    }
}

impl fmt::Debug for Observation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observation").field("status", &self.status).finish_non_exhaustive()
    }
}
