//! [`Session`]: the driver of one connection, and its handler, in one future.
//!
//! Hot: one read takes all frames that have come, one poll of the handler takes
//! all messages, one write sends all answers. A connection that is silent holds
//! no buffer.
//!
//! The life of a connection is the list of [`Phase`].

use std::future::Future;
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use stockade_core::upgrade::{Io, Upgraded};
use stockade_core::{BoxFuture, ErrorContext, Response, escaped};
use stockade_errors::__internal::catch_panic;
use stockade_errors::ApiError;
use tokio::io::{AsyncRead as _, AsyncWrite as _, ReadBuf};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

use crate::close::{Close, Violation};
use crate::decoder::{Decoder, Event};
use crate::frame::OpCode;
use crate::limits::Permit;
use crate::message::{Message, Outgoing, SocketError, cost};
use crate::options::WebSocketOptions;
use crate::send_queue::SendQueue;
use crate::socket::{DriverEnd, MAX_UNREAD, Shared};
use crate::timeouts::{Alarm, Timeouts};
use crate::token_bucket::TokenBucket;
use crate::waker_set::{WakeReason, WakerSet};

/// How far a connection has come.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Phase {
    /// Messages go in both directions.
    Open,
    /// Our close frame is on its way; that of the client is awaited.
    Closing,
    /// Both sides have said all: our end is closed, and what still comes is
    /// read and forgotten, since closing with unread bytes would reset the
    /// connection and take our close frame with it.
    Lingering,
    /// The connection is gone; the handler comes to its end.
    Over,
}

type HandlerFuture = BoxFuture<'static, Result<Response, ApiError>>;

/// A connection that runs. It ends when both the connection and the handler
/// have ended.
pub(crate) struct SessionFuture {
    session: Session,
    // Beside the session, so that they need not be cloned to be used.
    wakers: Wakers,
}

/// Of the reasons that others pull.
struct Wakers {
    handler: Waker,
    housekeeping: Waker,
}

/// A connection, and what is known of it.
pub(crate) struct Session {
    phase: Phase,
    io: Option<Box<dyn Io>>,
    /// What was read together with the request.
    read_ahead: Bytes,
    decoder: Decoder,
    /// The last word of the client, or what is wrong with it, until the handler
    /// has had the messages that came before it.
    client_end: Option<Result<Close, Violation>>,
    send_queue: SendQueue,
    /// What was read after the end was said, in bytes.
    discarded: usize,
    /// Whether our end is closed.
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
        options: &WebSocketOptions,
        max_payload: u64,
        context: ErrorContext,
        permit: Permit,
    ) -> SessionFuture {
        let Upgraded { io, read, shutdown } = upgraded;
        let waker_set = Arc::clone(&ends.shared.waker_set);
        // The handler begins by itself.
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
            timeouts: Timeouts::new(options),
            rate: options.max_rate.map(TokenBucket::new),
            context: Box::new(context),
            permit: Some(permit),
            waker_set,
        };
        SessionFuture { session, wakers }
    }

    /// Whether there is room for more messages of the client. What comes after
    /// our close frame needs none.
    fn may_read(&self) -> bool {
        self.phase > Phase::Open
            || self.shared.unread.load(Ordering::Acquire) < MAX_UNREAD && !self.send_queue.is_full()
    }

    /// Reads once; says whether something came.
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
            Poll::Pending => false,
            Poll::Ready(Ok(())) if buffer.filled().is_empty() => {
                self.disconnected();
                true
            }
            Poll::Ready(Ok(())) => {
                self.receive_bytes(buffer.filled());
                true
            }
            Poll::Ready(Err(error)) => {
                self.io_failed(&error);
                true
            }
        }
    }

    /// Takes what the client sent.
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
            }
            Event::Ping(_) | Event::Pong => {}
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
        if let Some(messages) = &self.messages {
            let cost = cost(message.len());
            self.shared.unread.fetch_add(cost, Ordering::AcqRel);
            if messages.send(Ok(message)).is_err() {
                // Nobody receives any more; what comes is read and forgotten.
                self.shared.unread.fetch_sub(cost, Ordering::AcqRel);
                self.messages = None;
            }
        }
    }

    /// Acts on the last word of the client, when everything before it has been
    /// answered.
    fn handle_client_end(&mut self) -> bool {
        let Some(end) = self.client_end.take() else { return false };
        // What another task has sent until now goes first too.
        self.drain_outgoing();
        match end {
            Ok(close) => self.client_closed(close),
            Err(violation) => self.refuse(violation),
        }
        true
    }

    /// The client has said its last word.
    fn client_closed(&mut self, close: Close) {
        if self.phase == Phase::Open {
            // The same code back, and what waits is not wanted any more.
            let answer = Close::new(close.code, "");
            self.send_close(&answer);
            // Set once.
            let _ = self.shared.closed.set(close);
        }
        self.messages = None;
        self.linger();
    }

    /// The client broke a rule: it is told so, and nothing more is read.
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

    /// Our close frame, the last one.
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
            // Whether somebody listens does not matter.
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

    /// Lets go of everything but the handler, which has a while to end.
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

    /// Wakes whoever waits to send or for the end.
    fn notify_end(&mut self) {
        self.outgoing.close();
        self.shared.room.notify_waiters();
        // It ends once: a second call changes nothing.
        let _ = self.shared.end.set(());
    }

    /// Lets the handler go on; says whether it ended.
    fn poll_handler(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(handler) = &mut self.handler else { return false };
        let polled = catch_panic(|| handler.as_mut().poll(cx));
        let outcome = match polled {
            Ok(Poll::Pending) => return false,
            Ok(Poll::Ready(outcome)) => outcome,
            Err(panic) => Err(panic),
        };
        self.handler = None;
        // What it has sent before goes first.
        self.drain_outgoing();
        let is_open = self.phase == Phase::Open;
        let close = match outcome {
            Ok(_) => Close::new(Close::NORMAL, ""),
            Err(error) if is_open => {
                self.context.log_late(&error);
                Close::new(Close::INTERNAL, "")
            }
            Err(error) => {
                // Most likely because the connection has ended.
                log::debug!(
                    target: "stockade::websocket", "a handler ended: {}", escaped(error)
                );
                return true;
            }
        };
        if self.phase == Phase::Open {
            // After what waits; the handler will not send more.
            self.messages = None;
            self.send_queue.push(Outgoing::Close(close), &self.shared);
        }
        true
    }

    /// Takes what is to be sent.
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

    /// Writes what can be written; says whether something went.
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

    /// Closes our end; the client sees that nothing more comes.
    fn shut_down(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(io) = &mut self.io else { return false };
        match Pin::new(io).poll_shutdown(cx) {
            Poll::Pending => false,
            Poll::Ready(Ok(())) => {
                self.is_shut_down = true;
                true
            }
            Poll::Ready(Err(error)) => {
                self.io_failed(&error);
                true
            }
        }
    }

    /// Does what the clock says.
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
            // The handler had its time too.
            Alarm::Deadline if self.phase == Phase::Over => {
                if self.handler.take().is_some() {
                    log::debug!(target: "stockade::websocket", "a handler outlived its connection");
                }
            }
            Alarm::Deadline => self.finish(),
        }
        true
    }

    /// The clock and the shutdown.
    fn poll_housekeeping(&mut self, cx: &mut Context<'_>) -> bool {
        let moved = self.poll_shutdown(cx) | self.poll_timeouts(cx);
        if moved {
            // Once more, until both wait.
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
        // The other tasks first.
        this.waker_set.end_poll();
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Whoever waits for the end is told, also when the task is dropped.
        self.notify_end();
        self.waker_set.clear_task();
    }
}

/// How much one read takes, in bytes.
const READ_SIZE: usize = 16_384;

/// How much is read and forgotten after the end was said, in bytes: 8 MiB.
const MAX_DISCARDED: usize = 8 << 20;

/// How often to go round before other tasks have their turn.
const MAX_ROUNDS: usize = 32;
