//! [`Session`]: the driver of one connection, and its handler, in one future.
//!
//! Hot: one read takes all frames that have come, one poll of the handler takes
//! all messages, one write sends all answers. A silent connection holds no
//! buffer.
//!
//! [`Phase`] lists the steps in the life of a connection.

use std::future::Future;
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use stockade_core::__internal::{ErrorContextExt as _, escaped};
use stockade_core::upgrade::{Io, Upgraded};
use stockade_core::{BoxFuture, ErrorContext, Response};
use stockade_errors::__internal::catch_panic;
use stockade_errors::ApiError;
use tokio::io::{AsyncRead as _, AsyncWrite as _, ReadBuf};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

use crate::close::{Close, Violation};
use crate::decoder::{Decoder, Event};
use crate::frame::OpCode;
use crate::limits::Permit;
use crate::message::{Message, Outgoing, SocketError, cost};
use crate::send_queue::SendQueue;
use crate::socket::{DriverEnd, MAX_UNREAD, Shared};
use crate::timeouts::{Alarm, Timeouts};
use crate::token_bucket::TokenBucket;
use crate::waker_set::{WakeReason, WakerSet};

/// The step that a connection has reached.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Phase {
    /// Messages go in both directions.
    Open,
    /// Our close frame is sent; the connection waits for that of the client.
    Closing,
    /// Both sides have sent their close frame, and our end is closed. Further bytes
    /// are read and discarded: a socket that is closed with unread bytes resets the
    /// connection, and the client would lose our close frame.
    Lingering,
    /// The connection is closed; the handler may still come to its end.
    Over,
}

type HandlerFuture = BoxFuture<'static, Result<Response, ApiError>>;

/// The future of a connection, which ends when both the connection and the
/// handler have ended.
pub(crate) struct SessionFuture {
    session: Session,
    // Beside the session, so that they can be borrowed while it is.
    wakers: Wakers,
}

/// The wakers of the two parts that are polled with a waker of their own.
struct Wakers {
    handler: Waker,
    housekeeping: Waker,
}

/// A connection with its handler and its state.
pub(crate) struct Session {
    phase: Phase,
    io: Option<Box<dyn Io>>,
    /// The bytes that were read together with the request.
    read_ahead: Bytes,
    decoder: Decoder,
    /// The close frame of the client, or the rule that it broke. It waits here until
    /// the handler has had the messages before it.
    client_end: Option<Result<Close, Violation>>,
    send_queue: SendQueue,
    /// The number of bytes that came after our close frame.
    discarded: usize,
    /// True once our end is closed.
    is_shut_down: bool,
    messages: Option<UnboundedSender<Result<Message, SocketError>>>,
    outgoing: UnboundedReceiver<Outgoing>,
    shared: Arc<Shared>,
    handler: Option<HandlerFuture>,
    shutdown: Option<BoxFuture<'static, ()>>,
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
    ) -> SessionFuture {
        let Upgraded { io, read, shutdown } = upgraded;
        let options = Arc::clone(&ends.shared.options);
        let waker_set = Arc::clone(&ends.shared.waker_set);
        // The handler starts without being woken by anything.
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
            messages: Some(ends.messages),
            outgoing: ends.outgoing,
            shared: ends.shared,
            handler: Some(handler),
            shutdown: Some(shutdown),
            rate: options.max_rate.map(TokenBucket::new),
            timeouts: Timeouts::new(options),
            context: Box::new(context),
            permit: Some(permit),
            waker_set,
        };
        SessionFuture { session, wakers }
    }

    /// Returns true if there is room for more messages of the client. Bytes after
    /// our close frame are discarded and need none.
    fn may_read(&self) -> bool {
        self.phase > Phase::Open
            || self.shared.unread.load(Ordering::Acquire) < MAX_UNREAD && !self.send_queue.is_full()
    }

    /// Reads once; returns true if the connection changed.
    fn read(&mut self, cx: &mut Context<'_>) -> bool {
        if self.phase == Phase::Over || self.client_end.is_some() || !self.may_read() {
            return false;
        }
        if !self.read_ahead.is_empty() {
            let bytes = std::mem::take(&mut self.read_ahead);
            self.receive_bytes(&bytes);
            return true;
        }
        let Some(io) = &mut self.io else { return false };
        // On the stack, so that a silent connection holds no buffer.
        let mut space = [const { MaybeUninit::uninit() }; READ_SIZE];
        let mut buffer = ReadBuf::uninit(&mut space);
        match Pin::new(io).poll_read(cx, &mut buffer) {
            Poll::Pending => return false,
            Poll::Ready(Ok(())) if buffer.filled().is_empty() => self.disconnected(),
            Poll::Ready(Ok(())) => self.receive_bytes(buffer.filled()),
            Poll::Ready(Err(error)) => self.io_failed(&error),
        }
        true
    }

    /// Decodes bytes of the client.
    fn receive_bytes(&mut self, mut bytes: &[u8]) {
        self.timeouts.received_bytes();
        if self.phase > Phase::Open {
            self.discarded += bytes.len();
            if self.discarded > MAX_DISCARDED {
                self.finish();
                return;
            }
        }
        while self.phase < Phase::Lingering && self.client_end.is_none() {
            match self.decoder.next(&mut bytes) {
                Ok(Some(event)) => self.handle_event(event),
                Ok(None) => return,
                Err(violation) => self.client_end = Some(Err(violation)),
            }
        }
    }

    fn handle_event(&mut self, event: Event) {
        match event {
            Event::Text(text) => self.deliver(Message::Text(text)),
            Event::Binary(bytes) => self.deliver(Message::Binary(bytes.into())),
            Event::Ping(payload) if self.phase == Phase::Open => {
                self.send_queue.push_control(OpCode::Pong, &payload);
                self.show(|| Message::Ping(payload.into()));
            }
            Event::Ping(_) => {}
            Event::Pong(payload) => self.show(|| Message::Pong(payload.into())),
            Event::Close(close) => self.client_end = Some(Ok(close)),
        }
    }

    fn deliver(&mut self, message: Message) {
        if self.phase > Phase::Open {
            return;
        }
        self.timeouts.moved_message();
        if self.rate.as_mut().is_some_and(|rate| !rate.allows()) {
            self.client_end = Some(Err(Violation::TooMany));
            return;
        }
        self.hand_over(message);
    }

    /// Gives a control frame to a handler that asked for them.
    fn show(&mut self, message: impl FnOnce() -> Message) {
        if self.phase == Phase::Open && self.shared.options.control_messages {
            self.hand_over(message());
        }
    }

    fn hand_over(&mut self, message: Message) {
        if let Some(messages) = &self.messages {
            let cost = cost(message.len());
            self.shared.unread.fetch_add(cost, Ordering::AcqRel);
            if messages.send(Ok(message)).is_err() {
                // The handler dropped its receiver: messages are read and discarded.
                self.shared.unread.fetch_sub(cost, Ordering::AcqRel);
                self.messages = None;
            }
        }
    }

    /// Acts on the close frame or the violation of the client, after everything
    /// before it was answered.
    fn handle_client_end(&mut self) -> bool {
        let Some(end) = self.client_end.take() else { return false };
        // Messages that other tasks have sent until now go first.
        self.drain_outgoing();
        match end {
            Ok(close) => self.client_closed(close),
            Err(violation) => self.refuse(violation),
        }
        true
    }

    /// Answers the close frame of the client, or takes it as the answer to ours.
    fn client_closed(&mut self, close: Close) {
        if self.phase == Phase::Open {
            self.show(|| Message::Close(close.clone()));
            // The client gets its own code back and wants no more messages.
            let answer = Close::new(close.code, "");
            self.send_close(&answer);
            // The client sends one close frame, so that this is never set twice.
            let _ = self.shared.closed.set(close);
        }
        self.messages = None;
        self.linger();
    }

    /// Tells the client which rule it broke, and stops decoding.
    fn refuse(&mut self, violation: Violation) {
        if self.phase == Phase::Open {
            self.send_close(&violation.close());
        }
        self.fail_receiver(violation.into());
        self.linger();
    }

    /// Begins the closing handshake.
    fn close(&mut self, close: &Close) {
        if self.phase == Phase::Open {
            self.send_close(close);
            self.messages = None;
            self.phase = Phase::Closing;
            self.timeouts.set_deadline();
            self.waker_set.mark(WakeReason::Housekeeping);
        }
    }

    /// Sends our close frame, the last frame of ours.
    fn send_close(&mut self, close: &Close) {
        self.outgoing.close();
        self.send_queue.clear_waiting(&self.shared);
        self.send_queue.push_control(OpCode::Close, &close.payload());
        while let Ok(outgoing) = self.outgoing.try_recv() {
            self.shared.release(outgoing.cost());
        }
        self.shared.room.notify_waiters();
    }

    fn linger(&mut self) {
        self.phase = self.phase.max(Phase::Lingering);
        self.timeouts.set_deadline();
        self.waker_set.mark(WakeReason::Housekeeping);
    }

    fn fail_receiver(&mut self, error: SocketError) {
        if let Some(messages) = self.messages.take() {
            // The handler may have dropped its receiver: then it does not want
            // the error.
            let _ = messages.send(Err(error));
        }
    }

    fn disconnected(&mut self) {
        if self.phase == Phase::Open {
            self.fail_receiver(SocketError::Broken);
        }
        self.finish();
    }

    fn io_failed(&mut self, error: &io::Error) {
        log::debug!(target: "stockade::websocket", "a connection failed: {}", escaped(error));
        self.disconnected();
    }

    /// Closes the connection and frees everything but the handler, which has
    /// `close_timeout` to end.
    fn finish(&mut self) {
        if self.phase == Phase::Over {
            return;
        }
        self.phase = Phase::Over;
        self.io = None;
        self.permit = None;
        self.messages = None;
        self.shutdown = None;
        self.send_queue = SendQueue::default();
        self.outgoing.close();
        while self.outgoing.try_recv().is_ok() {}
        self.notify_end();
        self.timeouts.set_deadline();
        self.waker_set.mark(WakeReason::Housekeeping);
    }

    /// Wakes all tasks that wait to send or for the end.
    fn notify_end(&mut self) {
        self.outgoing.close();
        self.shared.room.notify_waiters();
        // A second call finds it set, and changes nothing.
        let _ = self.shared.end.set(());
    }

    /// Polls the handler; returns true if it has ended.
    fn poll_handler(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(handler) = &mut self.handler else { return false };
        let polled = catch_panic(|| handler.as_mut().poll(cx));
        let outcome = match polled {
            Ok(Poll::Pending) => return false,
            Ok(Poll::Ready(outcome)) => outcome,
            Err(panic) => Err(panic),
        };
        self.handler = None;
        // The messages of the handler go before the close frame.
        self.drain_outgoing();
        let is_open = self.phase == Phase::Open;
        let close = match outcome {
            Ok(_) => Close::new(Close::NORMAL, ""),
            Err(error) if is_open => {
                self.context.log_late(&error);
                Close::new(Close::INTERNAL, "")
            }
            Err(error) => {
                // Most likely an error because the connection has ended.
                log::debug!(
                    target: "stockade::websocket", "a handler ended: {}", escaped(error)
                );
                return true;
            }
        };
        if self.phase == Phase::Open {
            // Behind the messages that wait.
            self.messages = None;
            self.send_queue.push(Outgoing::Close(close), &self.shared);
        }
        true
    }

    /// Moves messages from the channel of the senders to the send queue; returns
    /// true if there was one.
    fn drain_outgoing(&mut self) -> bool {
        if self.phase > Phase::Open {
            return false;
        }
        let mut moved = false;
        while let Ok(outgoing) = self.outgoing.try_recv() {
            moved = true;
            match outgoing {
                Outgoing::ResumeReading => {}
                Outgoing::TooSlow => self.refuse(Violation::TooSlow),
                outgoing => {
                    self.timeouts.moved_message();
                    self.send_queue.push(outgoing, &self.shared);
                }
            }
        }
        moved
    }

    /// Writes as much as the socket takes; returns true if the connection changed.
    fn write(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(io) = &mut self.io else { return false };
        let (count, outcome) = self.send_queue.poll_write(&mut **io, &self.shared, cx);
        self.timeouts.wrote(count, outcome.is_pending());
        if let Poll::Ready(Err(error)) = outcome {
            self.io_failed(&error);
            return true;
        }
        if let Some(close) = self.send_queue.take_close() {
            self.close(&close);
            return true;
        }
        if outcome.is_ready() && self.phase == Phase::Lingering && !self.is_shut_down {
            return self.shut_down(cx);
        }
        count > 0
    }

    /// Closes our end, so that the client sees the end of the stream.
    fn shut_down(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(io) = &mut self.io else { return false };
        match Pin::new(io).poll_shutdown(cx) {
            Poll::Pending => return false,
            Poll::Ready(Ok(())) => self.is_shut_down = true,
            Poll::Ready(Err(error)) => self.io_failed(&error),
        }
        true
    }

    /// Acts on the timeout that is due, if any.
    fn poll_timeouts(&mut self, cx: &mut Context<'_>) -> bool {
        let reading = self.may_read();
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
            // The handler has used up its time, too.
            Alarm::Deadline if self.phase == Phase::Over => {
                if self.handler.take().is_some() {
                    log::debug!(target: "stockade::websocket", "a handler outlived its connection");
                }
            }
            Alarm::Deadline => self.finish(),
        }
        true
    }

    /// Polls the shutdown and the timeouts.
    fn poll_housekeeping(&mut self, cx: &mut Context<'_>) -> bool {
        let moved = self.poll_shutdown(cx) | self.poll_timeouts(cx);
        if moved {
            // Polled again until both are pending, so that both have our waker.
            self.waker_set.mark(WakeReason::Housekeeping);
        }
        moved
    }

    fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(shutdown) = &mut self.shutdown else { return false };
        if shutdown.as_mut().poll(cx).is_pending() {
            return false;
        }
        self.shutdown = None;
        self.close(&Close::new(Close::GOING_AWAY, "the server shuts down"));
        true
    }
}

impl Future for SessionFuture {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Self { session: this, wakers } = &mut *self;
        this.waker_set.begin_poll(cx);
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
        // Gives other tasks their turn.
        this.waker_set.end_poll();
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Also for a task that is dropped before its end.
        self.notify_end();
        self.waker_set.clear_task();
    }
}

/// The bytes that one read takes at most.
const READ_SIZE: usize = 16_384;

/// The bytes that are discarded after our close frame: 8 MiB. More of them end
/// the connection.
const MAX_DISCARDED: usize = 8 << 20;

/// The number of rounds before other tasks have their turn.
const MAX_ROUNDS: usize = 32;
