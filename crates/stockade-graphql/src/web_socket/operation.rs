//! An operation that runs over a WebSocket.

use std::task::{Context, Poll, ready};

use futures_core::stream::BoxStream;
use stockade_core::BoxFuture;
use stockade_errors::ApiError;
use stockade_errors::panic::catch_panic_in_poll;

use crate::engine::Outcome;
use crate::graphql_error::GraphQlError;

/// A running operation.
pub(super) struct Operation {
    pub(super) id: String,
    pub(super) state: OperationState,
}

pub(super) enum OperationState {
    /// Its payload is being read and charged.
    Starting(BoxFuture<'static, Result<BoxStream<'static, Outcome>, GraphQlError>>),
    Running(BoxStream<'static, Outcome>),
}

/// The progress of an operation.
pub(super) enum Step {
    Started,
    Outcome(Outcome),
    /// The operation was rejected.
    Refused(GraphQlError),
    /// The operation panicked.
    Panicked(ApiError),
    Ended,
}

impl Operation {
    /// Polls the operation. A panic affects only this operation.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Step> {
        catch_panic_in_poll(|| self.poll_unguarded(cx))
            .map(|step| step.unwrap_or_else(Step::Panicked))
    }

    fn poll_unguarded(&mut self, cx: &mut Context<'_>) -> Poll<Step> {
        Poll::Ready(match &mut self.state {
            OperationState::Starting(starting) => match ready!(starting.as_mut().poll(cx)) {
                Ok(stream) => {
                    self.state = OperationState::Running(stream);
                    Step::Started
                }
                Err(error) => Step::Refused(error),
            },
            OperationState::Running(stream) => match ready!(stream.as_mut().poll_next(cx)) {
                Some(outcome) => Step::Outcome(outcome),
                None => Step::Ended,
            },
        })
    }
}
