//! Operations over POST with server-sent events: `next` for each outcome, then
//! `complete`.
//!
//! Source: <https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md>,
//! "Distinct connections mode".

use std::future::Future as _;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_core::Stream;
use futures_core::stream::BoxStream;
use stockade_core::extract::UserLifetime;
use stockade_core::login_end::EndsItself;
use stockade_core::reply::{Event, Sse};
use stockade_core::{Reply as _, Response};
use stockade_errors::ApiError;
use stockade_errors::panic::catch_panic_in_poll;

use crate::engine::Outcome;
use crate::graphql_error::{GraphQlError, Shown};
use crate::graphql_response::GraphQlResponse;
use crate::request_context::RequestContext;

/// Sends the outcomes of an operation. The operation ends early if the response
/// is dropped or the user logs out.
pub(crate) fn respond(
    outcomes: BoxStream<'static, Outcome>,
    shown: Shown,
    caller: RequestContext,
    lifetime: Option<UserLifetime>,
) -> Result<Response, ApiError> {
    send(Events::Running { outcomes, shown, caller, lifetime })
}

/// Sends the error of an operation that does not run. A client that accepts
/// only events cannot read another response format.
pub(crate) fn refuse(error: GraphQlError) -> Result<Response, ApiError> {
    send(Events::Refused(error))
}

fn send(events: Events) -> Result<Response, ApiError> {
    let mut response = Sse::new(events).keep_alive(KEEP_ALIVE).into_response()?;
    response.extensions_mut().insert(EndsItself);
    Ok(response)
}

/// The events of an operation.
enum Events {
    Running {
        outcomes: BoxStream<'static, Outcome>,
        shown: Shown,
        caller: RequestContext,
        lifetime: Option<UserLifetime>,
    },
    Refused(GraphQlError),
    /// All outcomes were sent.
    Complete,
    Ended,
}

impl Stream for Events {
    type Item = Result<Event, ApiError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Self::Running { outcomes, shown, caller, lifetime } = &mut *self {
            if let Some(lifetime) = lifetime
                && Pin::new(lifetime).poll(cx).is_ready()
            {
                *self = Self::Complete;
                return Poll::Ready(Some(next(&GraphQlResponse::refused(
                    GraphQlError::logged_out(),
                ))));
            }
            let response = match ready!(catch_panic_in_poll(|| outcomes.as_mut().poll_next(cx))) {
                Ok(outcome) => outcome.map(|outcome| GraphQlResponse::of(outcome, *shown, caller)),
                Err(panic) => {
                    caller.context().log(&panic);
                    let error = GraphQlError::of_error(&panic, shown.settings);
                    *self = Self::Complete;
                    return Poll::Ready(Some(next(&GraphQlResponse::refused(error))));
                }
            };
            if let Some(response) = response {
                return Poll::Ready(Some(next(&response)));
            }
        }
        let (event, following) = match std::mem::replace(&mut *self, Self::Ended) {
            Self::Refused(error) => (next(&GraphQlResponse::refused(error)), Self::Complete),
            Self::Running { .. } | Self::Complete => {
                (Ok(Event::data("").name("complete")), Self::Ended)
            }
            Self::Ended => return Poll::Ready(None),
        };
        *self = following;
        Poll::Ready(Some(event))
    }
}

fn next(response: &GraphQlResponse) -> Result<Event, ApiError> {
    Ok(Event::json(response)?.name("next"))
}

/// The idle time before a comment is sent, which makes proxies keep the
/// connection open.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
