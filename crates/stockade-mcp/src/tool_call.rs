//! The call of a tool: the request to its route, its progress and its result.
//!
//! Hot: a call without progress is one future in the handler of the endpoint.
//! The response becomes a stream only when the tool reports progress, so a 401
//! before that is a 401 of HTTP. The call ends when its future is dropped: with
//! the handler or with the stream, if the client disconnects.

use std::borrow::Cow;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use serde_json::{Map, Value};
use stockade_core::extract::UserLifetime;
use stockade_core::headers::list_items;
use stockade_core::login_end::end_with;
use stockade_core::reply::{EndsAtShutdown, Event, Sse};
use stockade_core::{BoxFuture, Reply as _, Request, Response};
use stockade_errors::ApiError;
use stockade_json::repeated_name;
use stockade_routing::subrequest::ToolClient;

use crate::message::Params;
use crate::progress::{Reports, ReportsOfCall};
use crate::protocol_error::{ProtocolError, respond};
use crate::service::Asked;
use crate::tools::{CallResult, FoundTool, Outcome, Tools};

/// Calls a tool.
pub(crate) async fn call(
    asked: Asked,
    req: Request,
    params: Params<'_>,
) -> Result<Response, ApiError> {
    let arguments = match params.arguments {
        None => Map::new(),
        Some(text) => match serde_json::from_str::<Map<String, Value>>(text) {
            // A host shows one of the values to its user, and the route gets
            // another.
            Ok(_) if repeated_name(text.as_bytes()).is_some() => {
                let error = ProtocolError::params("duplicate member name");
                return Ok(error.respond(Some(&asked.id)));
            }
            Ok(arguments) => arguments,
            Err(_) => return Ok(ProtocolError::ARGUMENTS.respond(Some(&asked.id))),
        },
    };
    let token = params.meta.progress_token.filter(|_| accepts_events(req.headers()));
    let reports = token.map(|token| Arc::new(Reports::new(token)));
    let name = params.name.map(Cow::into_owned).unwrap_or_default();
    let client = params.meta.client();
    // A stream ends with the login of its user, which also cancels the call.
    let lifetime = reports.as_ref().and_then(|_| UserLifetime::of(&req));
    let mut running: Running = Box::pin(run(req, name, arguments, (reports.clone(), client)));
    let Some(reports) = reports else { return asked.finish(running.await) };
    match poll_fn(|cx| begin(&mut running, &reports, cx)).await {
        Begun::Reported(first) => {
            let next = Some(first);
            events(Events { asked, reports, next, running: Some(running), last: None }, lifetime)
        }
        Begun::Done(ended @ Ended::Result(_)) if reports.has_waiting() => {
            let last = Some(asked.last_event(ended));
            events(Events { asked, reports, next: None, running: None, last }, lifetime)
        }
        Begun::Done(ended) => asked.finish(ended),
    }
}

type Running = BoxFuture<'static, Ended>;

/// The end of a call.
enum Ended {
    Result(CallResult),
    /// The call did not reach its route.
    Refused(ProtocolError),
    /// The endpoint responds with an error, usually because the caller has to
    /// log in.
    Failed(ApiError),
    Unauthorized(Response),
}

/// Runs the request of a call.
async fn run(
    req: Request,
    name: String,
    arguments: Map<String, Value>,
    (reports, client): (Option<Arc<Reports>>, Option<ToolClient>),
) -> Ended {
    let Some(tools) = Tools::of(&req) else {
        let error = "this is a bug in stockade: the tools of the endpoint were not compiled";
        return Ended::Failed(ApiError::new(500, error));
    };
    let tool = match tools.find(&name, &tools.visible_to(&req)) {
        FoundTool::Found(tool) => tool,
        FoundTool::LoginRequired => return Ended::Failed(req.unauthorized()),
        FoundTool::Unknown => return Ended::Refused(ProtocolError::tool(&name)),
    };
    let running = tool.child(&req, arguments).and_then(|mut child| {
        if let Some(reports) = reports {
            child.extensions_mut().insert(ReportsOfCall(reports));
        }
        if let Some(client) = client {
            child.extensions_mut().insert(client);
        }
        tool.run(&req, child)
    });
    // The parent is not needed while the call runs.
    drop(req);
    let response = match running {
        Ok(running) => running.await,
        Err(failure) => return Ended::Result(failure.into()),
    };
    match tool.result(response).await {
        Outcome::Result(result) => Ended::Result(result),
        Outcome::Unauthorized(response) => Ended::Unauthorized(response),
    }
}

/// The first event of a call.
enum Begun {
    Reported(String),
    Done(Ended),
}

fn begin(running: &mut Running, reports: &Reports, cx: &mut Context<'_>) -> Poll<Begun> {
    if let Poll::Ready(ended) = running.as_mut().poll(cx) {
        return Poll::Ready(Begun::Done(ended));
    }
    reports.next(cx).map_or(Poll::Pending, |report| Poll::Ready(Begun::Reported(report)))
}

impl Asked {
    /// Creates the response to a call without progress.
    fn finish(&self, ended: Ended) -> Result<Response, ApiError> {
        match ended {
            Ended::Result(result) => Ok(respond(StatusCode::OK, self.message_of(&result))),
            Ended::Refused(error) => Ok(error.respond(Some(&self.id))),
            Ended::Failed(error) => Err(error),
            Ended::Unauthorized(response) => Ok(response),
        }
    }

    /// Returns the last event of a call. Its stream has already the status 200.
    fn last_event(&self, ended: Ended) -> Bytes {
        match ended {
            Ended::Result(result) => self.message_of(&result),
            Ended::Refused(error) => error.write(Some(&self.id)).into(),
            Ended::Failed(_) | Ended::Unauthorized(_) => {
                self.message_of(&CallResult::error("HTTP 401: Unauthorized"))
            }
        }
    }

    fn message_of(&self, result: &CallResult) -> Bytes {
        let CallResult { content, structured, is_error, status, .. } = result;
        let structured = structured.as_ref();
        let structured =
            structured.map_or_else(String::new, |json| format!(",\"structuredContent\":{json}"));
        let (begin, meta) = (self.begin(), self.meta(*status));
        let result =
            format!("{begin}\"content\":{content}{structured},\"isError\":{is_error}{meta}}}");
        self.message(result.as_bytes())
    }
}

/// The reports of a call, then its result.
struct Events {
    asked: Asked,
    reports: Arc<Reports>,
    /// The report that began the stream.
    next: Option<String>,
    /// `None` once the call has ended.
    running: Option<Running>,
    /// The result, after all reports.
    last: Option<Bytes>,
}

impl Stream for Events {
    type Item = Result<Event, ApiError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(report) = self.next.take() {
            return Poll::Ready(Some(Ok(Event::data(report))));
        }
        if let Some(running) = &mut self.running
            && let Poll::Ready(ended) = running.as_mut().poll(cx)
        {
            self.running = None;
            self.last = Some(self.asked.last_event(ended));
        }
        // The result follows all reports.
        if let Some(report) = self.reports.next(cx) {
            return Poll::Ready(Some(Ok(Event::data(report))));
        }
        if self.running.is_some() {
            return Poll::Pending;
        }
        let last = self.last.take();
        Poll::Ready(last.map(|last| Ok(Event::data(String::from_utf8_lossy(&last)))))
    }
}

fn events(events: Events, lifetime: Option<UserLifetime>) -> Result<Response, ApiError> {
    let mut response = Sse::new(events).keep_alive(KEEP_ALIVE).into_response()?;
    response.headers_mut().insert(ACCEL_BUFFERING, HeaderValue::from_static("no"));
    // The stream ends with its call. A shutdown waits for it, like for other
    // responses.
    response.extensions_mut().remove::<EndsAtShutdown>();
    end_with(&mut response, lifetime);
    Ok(response)
}

/// Returns true if a client accepts server-sent events.
fn accepts_events(headers: &HeaderMap) -> bool {
    list_items(headers, &header::ACCEPT).any(|range| {
        let mut parts = range.split(';').map(str::trim);
        let is_events = parts.next().is_some_and(|it| it.eq_ignore_ascii_case("text/event-stream"));
        let is_zero = |quality: &str| quality.parse::<f32>().is_ok_and(|quality| quality == 0.0);
        let mut weights = parts.filter_map(|part| part.strip_prefix("q="));
        is_events && !weights.any(is_zero)
    })
}

/// Prevents nginx from delaying the events.
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// The idle time before a comment is sent, which makes proxies keep the
/// connection open.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_must_be_accepted_by_name() {
        #[track_caller]
        fn check(accept: &str, expected: bool) {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT, accept.parse().unwrap());
            assert_eq!(accepts_events(&headers), expected, "{accept}");
        }
        check("application/json, text/event-stream", true);
        check("Text/Event-Stream;q=0.5", true);
        check("application/json", false);
        check("text/event-stream;q=0", false);
        check("*/*", false);
        assert!(!accepts_events(&HeaderMap::new()));
    }
}
