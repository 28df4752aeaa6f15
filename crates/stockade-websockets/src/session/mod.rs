//! [`Session`]: the driver of one connection and its handler, in one future.
//!
//! Hot: one read accepts all frames that have arrived, one poll of the handler
//! processes all messages, and one write sends all output. A silent connection
//! holds no buffer.
//!
//! [`Phase`] lists the steps in the life of a connection. The methods of a
//! session are grouped by subject: `incoming` reads, `outgoing` writes,
//! `closing` ends the connection. The handler and the clock are in this file.

mod closing;
mod incoming;
mod outgoing;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use stockade_core::extract::UserLifetime;
use stockade_core::log_text::escaped;
use stockade_core::upgrade::{Io, Upgraded};
use stockade_core::{BoxFuture, ErrorContext, Response};
use stockade_errors::ApiError;
use stockade_errors::panic::catch_panic_in_poll;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::time::sleep;

use crate::close::{Close, Violation};
use crate::decoder::Decoder;
#[cfg(feature = "ws-compression")]
use crate::deflate::{Agreed, Deflater, Inflater};
use crate::frame::OpCode;
use crate::limits::Permit;
use crate::message::{Message, Outgoing, SocketError};
use crate::send_queue::SendQueue;
use crate::socket::{DriverEnd, Shared};
use crate::timeouts::{Alarm, Timeouts};
use crate::token_bucket::TokenBucket;
use crate::waker_set::{WakeReason, WakerSet};

/// The current step in the life of a connection.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Phase {
    /// Messages flow in both directions.
    Open,
    /// Our close frame is sent; the connection waits for the client's close
    /// frame.
    Closing,
    /// Our side closes after our close frame. The connection then ends if the
    /// client has sent its close frame. Otherwise further bytes are read and
    /// discarded: closing a socket with unread bytes resets the connection, and
    /// the client would lose our close frame.
    Lingering,
    /// The connection is closed; the handler may still be running.
    Over,
}

type HandlerFuture = BoxFuture<'static, Result<Response, ApiError>>;

/// The future of a connection. It completes when both the connection and the
/// handler have ended.
pub(crate) struct SessionFuture {
    session: Session,
    // The wakers are not part of the session, so both can be borrowed together.
    wakers: Wakers,
    /// True if the last poll ended only to yield to other tasks.
    was_busy: bool,
}

/// The wakers of the two parts that need separate ones.
struct Wakers {
    handler: Waker,
    housekeeping: Waker,
}

/// A connection with its handler and its state.
pub(crate) struct Session {
    phase: Phase,
    io: Option<Box<dyn Io>>,
    /// The bytes read together with the request.
    read_ahead: Bytes,
    decoder: Decoder,
    /// The client's close frame or violation. It waits here until the handler
    /// has received all earlier messages.
    client_end: Option<Result<Close, Violation>>,
    send_queue: SendQueue,
    /// The number of bytes received after our close frame.
    discarded: usize,
    /// True once our side is closed.
    is_shut_down: bool,
    /// True once the client has sent its close frame. Nothing may follow this
    /// frame.
    has_client_closed: bool,
    messages: Option<UnboundedSender<Result<Message, SocketError>>>,
    outgoing: UnboundedReceiver<Outgoing>,
    shared: Arc<Shared>,
    handler: Option<HandlerFuture>,
    shutdown: Option<BoxFuture<'static, ()>>,
    /// Completes when the user is logged out.
    user: Option<UserLifetime>,
    timeouts: Timeouts,
    rate: Option<TokenBucket>,
    context: Box<ErrorContext>,
    permit: Option<Permit>,
    waker_set: Arc<WakerSet>,
}

impl Session {
    pub(crate) fn start(
        upgraded: Upgraded,
        ends: DriverEnd,
        handler: HandlerFuture,
        max_payload: u64,
        context: ErrorContext,
        permit: Permit,
        user: Option<UserLifetime>,
    ) -> SessionFuture {
        let Upgraded { io, read, shutdown } = upgraded;
        let options = Arc::clone(&ends.shared.options);
        let waker_set = Arc::clone(&ends.shared.waker_set);
        // The first poll of the handler does not need a wake.
        waker_set.mark(WakeReason::Handler);
        waker_set.mark(WakeReason::Housekeeping);
        let wakers = Wakers {
            handler: waker_set.waker(WakeReason::Handler),
            housekeeping: waker_set.waker(WakeReason::Housekeeping),
        };
        let session = Self {
            phase: Phase::Open,
            io: Some(io),
            read_ahead: read,
            decoder: Decoder::new(max_payload, options.binary),
            client_end: None,
            send_queue: SendQueue::default(),
            discarded: 0,
            is_shut_down: false,
            has_client_closed: false,
            messages: Some(ends.messages),
            outgoing: ends.outgoing,
            shared: ends.shared,
            handler: Some(handler),
            shutdown: Some(shutdown),
            user,
            rate: options.max_rate.map(TokenBucket::new),
            timeouts: Timeouts::new(options),
            context: Box::new(context),
            permit: Some(permit),
            waker_set,
        };
        SessionFuture { session, wakers, was_busy: false }
    }

    /// Compresses messages in both directions, as the handshake negotiated.
    #[cfg(feature = "ws-compression")]
    fn compress(&mut self, agreed: Agreed) {
        self.decoder.accept_compressed(Inflater::new(agreed));
        self.send_queue.compress(Deflater::new(agreed));
    }

    /// Polls the handler; returns true if it has ended.
    fn poll_handler(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(handler) = &mut self.handler else { return false };
        let polled = catch_panic_in_poll(|| handler.as_mut().poll(cx));
        let Poll::Ready(outcome) = polled else { return false };
        let outcome = outcome.and_then(|outcome| outcome);
        self.handler = None;
        // The handler's messages precede the close frame.
        self.drain_outgoing();
        let is_open = self.phase == Phase::Open;
        let close = match outcome {
            Ok(_) => Close::new(Close::NORMAL, ""),
            Err(error) if is_open => {
                self.context.log_late(&error);
                Close::new(Close::INTERNAL, "")
            }
            Err(error) => {
                // Usually an error because the connection has ended.
                log::debug!(
                    target: "stockade::websocket", "a handler ended: {}", escaped(error)
                );
                return true;
            }
        };
        if self.phase == Phase::Open {
            // The close follows the waiting messages.
            self.messages = None;
            self.send_queue.push(Outgoing::Close(close), &self.shared);
        }
        true
    }

    /// Handles the due timeout, if any.
    fn poll_timeouts(&mut self, cx: &mut Context<'_>) -> bool {
        let reading = self.is_in_time();
        let Poll::Ready(alarm) = self.timeouts.poll(reading, cx) else { return false };
        match alarm {
            Alarm::Ping if self.phase == Phase::Open => {
                self.send_queue.push_control(OpCode::Ping, &[])
            }
            Alarm::Nothing | Alarm::Ping => {}
            Alarm::Idle => self.close(&Close::new(Close::GOING_AWAY, "idle")),
            Alarm::Silent => {
                self.fail_receiver(SocketError::Silent);
                self.finish();
            }
            Alarm::Stalled => self.disconnected(),
            // The handler has also exceeded its time.
            Alarm::Deadline if self.phase == Phase::Over => {
                if self.handler.take().is_some() {
                    log::debug!(
                        target: "stockade::websocket",
                        "a handler is still running after its connection closed"
                    );
                }
            }
            Alarm::Deadline => self.finish(),
        }
        true
    }

    /// Polls the lifetime of the user, the shutdown and the timeouts.
    fn poll_housekeeping(&mut self, cx: &mut Context<'_>) -> bool {
        let moved = self.poll_user(cx) | self.poll_shutdown(cx) | self.poll_timeouts(cx);
        if moved {
            // Polls again until all three are pending, because each needs our
            // waker.
            self.waker_set.mark(WakeReason::Housekeeping);
        }
        moved
    }

    /// Closes the connection after the user is logged out. Waiting messages are
    /// not sent.
    fn poll_user(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(user) = &mut self.user else { return false };
        if Pin::new(user).poll(cx).is_pending() {
            return false;
        }
        self.user = None;
        let code = self.shared.options.logged_out_code;
        self.close(&Close::new(code, "the login has ended"));
        true
    }

    fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(shutdown) = &mut self.shutdown else { return false };
        if shutdown.as_mut().poll(cx).is_pending() {
            return false;
        }
        self.shutdown = None;
        if self.handler.is_some() && self.shared.announce_shutdown() {
            // The handler has this much time for its last messages.
            self.shutdown = Some(Box::pin(sleep(self.shared.options.close_timeout)));
        } else {
            self.close(&Close::new(Close::GOING_AWAY, "the server is shutting down"));
        }
        true
    }
}

impl SessionFuture {
    /// Compresses messages in both directions, as the handshake negotiated.
    #[cfg(feature = "ws-compression")]
    pub(crate) fn compressed(mut self, agreed: Option<Agreed>) -> Self {
        if let Some(agreed) = agreed {
            self.session.compress(agreed);
        }
        self
    }
}

impl Future for SessionFuture {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Self { session: this, wakers, was_busy } = &mut *self;
        this.waker_set.begin_poll(cx);
        // A client that sends continuously must not delay the end of its
        // connection.
        if std::mem::take(was_busy) && this.waker_set.take_reason(WakeReason::Housekeeping) {
            this.poll_housekeeping(&mut Context::from_waker(&wakers.housekeeping));
        }
        let handler = &mut Context::from_waker(&wakers.handler);
        for _ in 0..MAX_ROUNDS {
            let came = this.read(cx);
            let rung = this.waker_set.take_reason(WakeReason::Handler);
            let ended = rung && this.poll_handler(handler);
            let sent = this.waker_set.take_reason(WakeReason::Outgoing) && this.drain_outgoing();
            let mut moved = came | ended | sent | this.handle_client_end() | this.write(cx);
            if this.phase == Phase::Over && this.handler.is_none() {
                return Poll::Ready(());
            }
            if !moved {
                moved = this.waker_set.take_reason(WakeReason::Housekeeping)
                    && this.poll_housekeeping(&mut Context::from_waker(&wakers.housekeeping));
                if !moved && this.waker_set.end_poll() {
                    return Poll::Pending;
                }
            }
        }
        // Yields to other tasks.
        *was_busy = true;
        this.waker_set.end_poll();
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // This also covers a task that is dropped before it completes.
        self.notify_end();
        self.waker_set.clear_task();
    }
}

/// The number of rounds before yielding to other tasks.
const MAX_ROUNDS: usize = 32;
