//! [`RequestBody`]: a request body with a time limit, which is drained if the
//! application does not read it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::request::Parts;
use http::{Version, header};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use stockade_core::BodyError;
use tokio::time::{Instant, Sleep, sleep};

use crate::connection_record::{ConnectionRecord, InFlight};
use crate::drain;
use crate::time_budget::{StallPolicy, TimeBudget};

/// A request body from hyper, with a limit on the time that the server waits
/// for it.
///
/// A timer exists only once the server has to wait.
pub(crate) struct RequestBody {
    /// `None` once the body has ended or failed.
    unread: Option<Unread>,
    budget: TimeBudget,
    /// The start of the wait for the next bytes.
    waiting_since: Option<Instant>,
    /// The timer of the first wait, reused for later ones.
    timer: Option<Pin<Box<Sleep>>>,
    /// True if the client waits for `100 Continue`, which the first poll sends.
    unasked: bool,
    http1: bool,
}

/// A body that has not been read to its end. The connection is not idle while
/// it exists, even after the response.
pub(crate) struct Unread {
    // Dropped first: hyper must have seen the end of the body before the
    // connection becomes idle (see `connection`).
    pub(crate) incoming: Incoming,
    pub(crate) in_flight: InFlight,
    /// True if the last poll had to wait for the client.
    awaited: bool,
}

impl Unread {
    /// Records whether the server waits for more of the body.
    pub(crate) fn set_awaited(&mut self, awaited: bool) {
        if self.awaited != awaited {
            self.awaited = awaited;
            let record = self.in_flight.record();
            if awaited { record.await_body() } else { record.end_await() }
        }
    }
}

impl Drop for Unread {
    fn drop(&mut self) {
        self.set_awaited(false);
    }
}

impl RequestBody {
    /// Creates the body of the request with this head.
    pub(crate) fn new(
        incoming: Incoming,
        head: &Parts,
        policy: StallPolicy,
        record: Arc<ConnectionRecord>,
    ) -> Self {
        let http1 = head.version <= Version::HTTP_11;
        if head.headers.contains_key(header::EXPECT) {
            record.http1.exchanges.pin();
        }
        // A client that sends the line anywhere may wait. hyper handles only
        // the last one.
        let mut expectations = head.headers.get_all(header::EXPECT).iter();
        let unasked = head.version == Version::HTTP_11
            && expectations.any(|value| value.as_bytes().eq_ignore_ascii_case(b"100-continue"));
        let budget = TimeBudget::short(policy);
        let unread = Some(Unread { incoming, in_flight: InFlight::of(record), awaited: false });
        Self { unread, budget, waiting_since: None, timer: None, unasked, http1 }
    }

    /// Ends the body with an error. The connection ends with the response.
    fn fail(&mut self, error: BodyError) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if let Some(unread) = self.unread.take() {
            unread.in_flight.record().http1.exchanges.pin();
            unread.in_flight.record().http1.close_after();
        }
        Poll::Ready(Some(Err(error)))
    }

    /// Completes when the time limit of the client is exceeded.
    fn poll_budget(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(Duration::ZERO)));
        if self.waiting_since.is_none() {
            let now = Instant::now();
            self.waiting_since = Some(now);
            timer.as_mut().reset(now + self.budget.left());
        }
        timer.as_mut().poll(cx)
    }

    fn received(&mut self, bytes: usize) {
        let waited = self.waiting_since.take().map_or(Duration::ZERO, |since| since.elapsed());
        self.budget.moved(bytes as u64, waited);
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = &mut *self;
        let Some(unread) = &mut this.unread else { return Poll::Ready(None) };
        this.unasked = false;
        let polled = Pin::new(&mut unread.incoming).poll_frame(cx);
        unread.set_awaited(polled.is_pending());
        match polled {
            Poll::Ready(Some(Ok(frame))) => {
                this.received(frame.data_ref().map_or(0, Bytes::len));
                Poll::Ready(Some(Ok(frame)))
            }
            Poll::Ready(Some(Err(error))) => {
                log::debug!(target: "stockade::server", "a request's body was cut off: {error}");
                this.fail(BodyError::Broken)
            }
            Poll::Ready(None) => {
                this.unread = None;
                Poll::Ready(None)
            }
            Poll::Pending => match this.poll_budget(cx) {
                Poll::Ready(()) => this.fail(BodyError::TimedOut),
                Poll::Pending => Poll::Pending,
            },
        }
    }

    fn is_end_stream(&self) -> bool {
        self.unread.as_ref().is_none_or(|unread| unread.incoming.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        let hint = |unread: &Unread| unread.incoming.size_hint();
        self.unread.as_ref().map_or_else(|| SizeHint::with_exact(0), hint)
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        let Some(unread) = self.unread.take() else { return };
        if unread.incoming.is_end_stream() {
            return;
        }
        unread.in_flight.record().http1.exchanges.pin();
        if !self.unasked {
            let most = if self.http1 { drain::MAX_BYTES } else { drain::MAX_BYTES_HTTP2 };
            drain::start(unread, most);
        } else if self.http1 {
            // Without `100 Continue` the client sends nothing, so there is
            // nothing to drain. hyper closes the connection after the response.
            unread.in_flight.record().http1.close_after();
        }
    }
}
