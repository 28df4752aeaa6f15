//! [`Observation`]: the observation of one request.

use std::fmt;
use std::time::Instant;

use http::{HeaderMap, Method, StatusCode, header};
use stockade_core::reply::sse_internals::EndOfStream;
use stockade_core::{ApiError, Response};

use super::access_log::{AccessLogLine, Ending, RequestEnd};
use super::counted_body::CountedBody;
#[cfg(feature = "metrics")]
use crate::metrics::{InFlight, Metrics, Reason};
use crate::request_id::RequestNames;
#[cfg(feature = "tracing")]
use crate::spans::RequestSpan;

/// A request under observation, from its beginning to the end of its response.
///
/// Dropping the observation before [`leave`](Self::leave) means that the client
/// has disconnected: the log line reports it, and the request is no longer in
/// flight.
#[must_use = "dropping it means that the client has disconnected"]
pub struct Observation {
    started: Instant,
    is_head: bool,
    status: Option<StatusCode>,
    names: Option<RequestNames>,
    /// `None` if the line was written or is not needed.
    line: Option<AccessLogLine>,
    #[cfg(feature = "metrics")]
    in_flight: Option<InFlight>,
    #[cfg(feature = "tracing")]
    span: RequestSpan,
}

impl Observation {
    /// Begins an observation and starts its timer.
    pub(crate) fn begin(method: &Method) -> Self {
        Self {
            started: Instant::now(),
            is_head: *method == Method::HEAD,
            status: None,
            names: None,
            line: None,
            #[cfg(feature = "metrics")]
            in_flight: None,
            #[cfg(feature = "tracing")]
            span: RequestSpan::none(),
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

    /// Sets the span of the request.
    #[cfg(feature = "tracing")]
    pub(crate) fn within(mut self, span: RequestSpan) -> Self {
        self.span = span;
        self
    }

    /// Runs `work` within the span of the request, if it has one.
    #[inline]
    pub fn in_span<T>(&self, work: impl FnOnce() -> T) -> T {
        #[cfg(feature = "tracing")]
        return self.span.in_scope(work);
        #[cfg(not(feature = "tracing"))]
        work()
    }

    /// Records the result of the rest of a chain.
    pub(crate) fn observed(
        self,
        outcome: Result<Response, ApiError>,
    ) -> Result<Response, ApiError> {
        match outcome {
            Ok(mut response) => {
                self.leave(&mut response);
                Ok(response)
            }
            Err(error) => {
                self.fail(&error);
                Err(error)
            }
        }
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
        #[cfg(feature = "tracing")]
        self.span.record_status(status);
        #[cfg(feature = "metrics")]
        if let Some(in_flight) = &self.in_flight {
            in_flight.record(status, Reason::of(response), self.started.elapsed());
        }
        let has_body = !self.is_head && !matches!(status.as_u16(), 101 | 204 | 205 | 304);
        let whole = response.body().as_bytes().map(<[u8]>::len);
        match whole {
            None if has_body => {
                let body = std::mem::take(response.body_mut());
                let length = response.headers().get(header::CONTENT_LENGTH);
                let announced = length.and_then(|length| length.to_str().ok()?.parse().ok());
                let end = EndOfStream::of(response);
                let counted = CountedBody::new(body, self, announced).ending(end);
                *response.body_mut() = counted.into_body();
            }
            Some(length) if has_body => self.end(Some(length as u64), Ending::Whole),
            _ => self.end(Some(0), Ending::Whole),
        }
    }

    /// Records an error that outer code will convert to a response.
    pub(crate) fn fail(mut self, error: &ApiError) {
        self.status = StatusCode::from_u16(error.status()).ok();
        #[cfg(feature = "tracing")]
        if let Some(status) = self.status {
            self.span.record_status(status);
        }
        self.end(None, Ending::Whole);
    }

    /// Writes the line, and ends the counting and the span. A second call has
    /// no effect.
    pub(super) fn end(&mut self, bytes: Option<u64>, ending: Ending) {
        if let Some(line) = self.line.take() {
            let end = RequestEnd { status: self.status, bytes, ending };
            self.in_span(|| line.log_end(end, self.started.elapsed()));
        }
        #[cfg(feature = "metrics")]
        drop(self.in_flight.take());
        #[cfg(feature = "tracing")]
        self.span.end(ending);
    }
}

impl Drop for Observation {
    fn drop(&mut self) {
        self.end(None, Ending::Left);
    }
}

impl fmt::Debug for Observation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observation").field("status", &self.status).finish_non_exhaustive()
    }
}
