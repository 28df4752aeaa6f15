//! [`Observers`]: the observation of every request of a router.

use stockade_core::{Request, RouteDescription};

use super::{AccessLogLine, Observation, ToolLabels};
use crate::logging::AccessLog;
#[cfg(feature = "metrics")]
use crate::metrics::Metrics;
use crate::request_id::{RequestIds, RequestNames};
#[cfg(feature = "tracing")]
use crate::spans::{RequestSpan, RequestSpans};

/// The observation settings of a router. Default: none.
#[derive(Clone, Debug, Default)]
pub struct Observers {
    request_ids: Option<RequestIds>,
    access_log: AccessLog,
    #[cfg(feature = "metrics")]
    metrics: Option<Metrics>,
    #[cfg(feature = "tracing")]
    spans: Option<RequestSpans>,
}

impl Observers {
    /// Creates observers. They assign request ids if `request_ids` is set, and
    /// write access log lines if `access_log` is on. The log costs little if
    /// the logger ignores the info level of `stockade::access`.
    #[must_use]
    pub fn new(request_ids: Option<RequestIds>, access_log: AccessLog) -> Self {
        Self {
            request_ids,
            access_log,
            #[cfg(feature = "metrics")]
            metrics: None,
            #[cfg(feature = "tracing")]
            spans: None,
        }
    }

    /// Sets the metrics that count requests.
    #[cfg(feature = "metrics")]
    #[must_use]
    pub fn metrics(mut self, metrics: Option<Metrics>) -> Self {
        self.metrics = metrics;
        self
    }

    /// Returns the metrics that count requests.
    #[cfg(feature = "metrics")]
    #[must_use]
    pub fn counts(&self) -> Option<&Metrics> {
        self.metrics.as_ref()
    }

    /// Sets the spans to create for requests.
    #[cfg(feature = "tracing")]
    #[must_use]
    pub fn spans(mut self, spans: Option<RequestSpans>) -> Self {
        self.spans = spans;
        self
    }

    /// Describes the headers that are added to responses.
    pub fn describe(&self, doc: &mut RouteDescription) {
        if let Some(request_ids) = self.request_ids {
            request_ids.describe(doc);
        }
    }

    /// Returns true if nothing is observed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        #[cfg(feature = "metrics")]
        if self.metrics.is_some() {
            return false;
        }
        #[cfg(feature = "tracing")]
        if self.spans.is_some() {
            return false;
        }
        self.request_ids.is_none() && !self.access_log.is_on()
    }

    /// Begins the observation of a request with a known route and client, and
    /// assigns an id. Returns `None` if no observer needs it.
    ///
    /// If the system cannot provide random bytes, the request continues without
    /// an id, and this is logged.
    pub fn enter(&self, req: &mut Request) -> Option<Observation> {
        let names = self.request_ids.and_then(|ids| known(ids.enter(req)));
        let line = self.logs().then(|| AccessLogLine::of(req, self.access_log));
        let is_wanted = names.is_some() || line.is_some();
        #[cfg(feature = "metrics")]
        let is_wanted = is_wanted || self.metrics.is_some();
        #[cfg(feature = "tracing")]
        let span = self.spans.as_ref().map(|spans| RequestSpan::begin(req, spans));
        #[cfg(feature = "tracing")]
        let is_wanted = is_wanted || span.as_ref().is_some_and(RequestSpan::is_wanted);
        if !is_wanted {
            return None;
        }
        let observation = Observation::begin(req.method()).named(names).logging(line);
        #[cfg(feature = "metrics")]
        let observation = self.counting(req, None, observation);
        #[cfg(feature = "tracing")]
        let observation = match span {
            Some(span) => observation.within(span),
            None => observation,
        };
        Some(observation)
    }

    /// Begins the observation of a part of a request, with the id and the span
    /// of the whole request. The part has its own log line, and is counted
    /// under its own label.
    #[must_use]
    pub fn enter_part(&self, req: &Request) -> Option<Observation> {
        self.part(req, None)
    }

    /// Begins the observation of a call of a tool, with the id and the span of
    /// the whole request. Its log line and its counters name the tool.
    #[must_use]
    pub fn enter_tool(&self, req: &Request, labels: &ToolLabels) -> Option<Observation> {
        self.part(req, Some(labels))
    }

    #[inline]
    fn part(&self, req: &Request, labels: Option<&ToolLabels>) -> Option<Observation> {
        let line = self.logs().then(|| AccessLogLine::of(req, self.access_log));
        let line = match labels {
            Some(labels) => line.map(|line| line.calling(req, labels)),
            None => line,
        };
        let is_wanted = line.is_some();
        #[cfg(feature = "metrics")]
        let is_wanted = is_wanted || self.metrics.is_some();
        if !is_wanted {
            return None;
        }
        let observation = Observation::begin(req.method()).logging(line);
        #[cfg(feature = "metrics")]
        let observation = self.counting(req, labels, observation);
        Some(observation)
    }

    fn logs(&self) -> bool {
        self.access_log.is_on() && AccessLogLine::is_wanted()
    }

    #[cfg(feature = "metrics")]
    #[inline]
    fn counting(
        &self,
        req: &Request,
        labels: Option<&ToolLabels>,
        observation: Observation,
    ) -> Observation {
        let Some(metrics) = &self.metrics else { return observation };
        let route = match labels {
            Some(labels) => Some(labels.series()),
            None => req.route(),
        };
        observation.counting(metrics, req.method(), route)
    }
}

/// Returns the ids, or logs that the system cannot provide random bytes.
fn known(names: Result<RequestNames, stockade_core::ApiError>) -> Option<RequestNames> {
    names
        .inspect_err(|error| log::error!(target: "stockade", "cannot name a request: {error}"))
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::with_request_id;

    #[test]
    fn a_request_and_its_response_have_the_same_id() {
        let observers = Observers::new(Some(with_request_id()), AccessLog::default());
        let sent = http::Request::get("/").header("x-request-id", "7f3a").body(()).unwrap();
        let mut req = Request::from(sent);
        let observation = observers.enter(&mut req).unwrap();
        assert_eq!(req.id(), Some("7f3a"));

        let mut response = stockade_core::Response::default();
        observation.name(response.headers_mut());
        assert_eq!(response.headers()["x-request-id"], "7f3a");
        observation.leave(&mut response);
    }
}
