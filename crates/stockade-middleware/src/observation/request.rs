//! [`Observation`]: what is noted of one request.

use std::fmt;
use std::time::Instant;

use http::{HeaderMap, Method, StatusCode};
use stockade_core::{ApiError, Response};

use super::access_log::{AccessLogLine, RequestEnd};
use super::counted_body::CountedBody;
#[cfg(feature = "metrics")]
use crate::metrics::{InFlight, Metrics, Reason};
use crate::request_id::RequestNames;

/// One request, from its beginning to the end of its answer.
///
/// Dropping it before [`leave`](Self::leave) means that the client has left:
/// then the line in the log says so, and the request is no longer in flight.
#[must_use = "dropping it means that the client has left"]
pub struct Observation {
    started: Instant,
    is_head: bool,
    status: Option<StatusCode>,
    names: Option<RequestNames>,
    /// `None` when it was written, or nobody wants it.
    line: Option<AccessLogLine>,
    #[cfg(feature = "metrics")]
    in_flight: Option<InFlight>,
}

impl Observation {
    /// Nothing is noted yet, and the time runs.
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

    /// Writes this line when the request ends.
    pub(crate) fn logging(mut self, line: Option<AccessLogLine>) -> Self {
        self.line = line;
        self
    }

    /// Counts the request among those of its method and route.
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

    /// Adds the names of the request to the headers of its answer.
    pub fn name(&self, headers: &mut HeaderMap) {
        if let Some(names) = &self.names {
            names.write_to(headers);
        }
    }

    /// The answer goes out. A body that is a stream is put into one that counts
    /// its bytes and knows how it ended.
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

    /// There is no answer but an error, which somebody else answers.
    pub(crate) fn fail(mut self, error: &ApiError) {
        self.status = StatusCode::from_u16(error.status()).ok();
        self.end(None, false);
    }

    /// The end; what is done later has no effect.
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
