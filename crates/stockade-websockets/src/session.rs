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
use stockade_errors::{ApiError, catch_panic};
use tokio::io::{AsyncRead as _, AsyncWrite as _, ReadBuf};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

use crate::bell::{Bell, Rope};
use crate::clock::{Alarm, Clock};
use crate::close::{Close, Fault};
use crate::decoder::{Decoder, Event};
use crate::frame::OpCode;
use crate::limits::Permit;
use crate::message::{Message, Outgoing, SocketError, cost};
use crate::options::WebSocketOptions;
use crate::outbox::Outbox;
use crate::rate::Rate;
use crate::socket::{Ends, Link, MAX_UNREAD};

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

type Handling = BoxFuture<'static, Result<Response, ApiError>>;

/// A connection that runs. It ends when both the connection and the handler
/// have ended.
pub(crate) struct Running {
    session: Session,
    // Beside the session, so that they need not be cloned to be used.
    wakers: Wakers,
    /// The waker that was left with the bell.
    task: Option<Waker>,
}

/// Of the ropes that others pull.
struct Wakers {
    handler: Waker,
    aside: Waker,
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
    last: Option<Result<Close, Fault>>,
    outbox: Outbox,
    /// What was read after the end was said, in bytes.
    forgotten: usize,
    /// Whether our end is closed.
    shut: bool,
    messages: Option<UnboundedSender<Result<Message, SocketError>>>,
    outgoing: UnboundedReceiver<Outgoing>,
    link: Arc<Link>,
    handler: Option<Handling>,
    shutdown: Option<BoxFuture<'static, ()>>,
    clock: Clock,
    rate: Option<Rate>,
    context: Box<ErrorContext>,
    permit: Option<Permit>,
    bell: Arc<Bell>,
}

impl Session {
    pub(crate) fn start(
        upgraded: Upgraded,
        ends: Ends,
        handler: Handling,
        options: &WebSocketOptions,
        max_payload: u64,
        context: ErrorContext,
        permit: Permit,
    ) -> Running {
        let Upgraded { io, read, shutdown } = upgraded;
        let bell = Arc::clone(&ends.link.bell);
        // The handler begins by itself.
        bell.pull(Rope::Handler);
        bell.pull(Rope::Aside);
        let wakers = Wakers { handler: bell.waker(Rope::Handler), aside: bell.waker(Rope::Aside) };
        let session = Self {
            phase: Phase::Open,
            io: Some(io),
            read_ahead: read,
            decoder: Decoder::new(max_payload, options.binary),
            last: None,
            outbox: Outbox::default(),
            forgotten: 0,
            shut: false,
            messages: Some(ends.messages),
            outgoing: ends.outgoing,
            link: ends.link,
            handler: Some(handler),
            shutdown: Some(shutdown),
            clock: Clock::new(options),
            rate: options.max_rate.map(Rate::new),
            context: Box::new(context),
            permit: Some(permit),
            bell,
        };
        Running { session, wakers, task: None }
    }

    /// Whether there is room for more messages of the client. What comes after
    /// our close frame needs none.
    fn may_read(&self) -> bool {
        self.phase > Phase::Open
            || self.link.unread.load(Ordering::Acquire) < MAX_UNREAD && !self.outbox.is_full()
    }

    /// Reads once; says whether something came.
    fn read(&mut self, cx: &mut Context<'_>) -> bool {
        if self.phase == Phase::Over || self.last.is_some() || !self.may_read() {
            return false;
        }
        if !self.read_ahead.is_empty() {
            let bytes = std::mem::take(&mut self.read_ahead);
            self.came(&bytes);
            return true;
        }
        let Some(io) = &mut self.io else { return false };
        // On the stack, so that a silent connection holds no buffer.
        let mut space = [const { MaybeUninit::uninit() }; READ_SIZE];
        let mut buffer = ReadBuf::uninit(&mut space);
        match Pin::new(io).poll_read(cx, &mut buffer) {
            Poll::Pending => false,
            Poll::Ready(Ok(())) if buffer.filled().is_empty() => {
                self.broke_off();
                true
            }
            Poll::Ready(Ok(())) => {
                self.came(buffer.filled());
                true
            }
            Poll::Ready(Err(error)) => {
                self.failed(&error);
                true
            }
        }
    }

    /// Takes what the client sent.
    fn came(&mut self, mut bytes: &[u8]) {
        self.clock.heard();
        if self.phase > Phase::Open {
            self.forgotten += bytes.len();
            if self.forgotten > MAX_FORGOTTEN {
                self.over();
                return;
            }
        }
        while self.phase < Phase::Lingering && self.last.is_none() {
            match self.decoder.next(&mut bytes) {
                Ok(Some(event)) => self.take(event),
                Ok(None) => return,
                Err(fault) => self.last = Some(Err(fault)),
            }
        }
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Text(text) => self.deliver(Message::Text(text)),
            Event::Binary(bytes) => self.deliver(Message::Binary(bytes.into())),
            Event::Ping(payload) if self.phase == Phase::Open => {
                self.outbox.control(OpCode::Pong, &payload);
            }
            Event::Ping(_) | Event::Pong => {}
            Event::Close(close) => self.last = Some(Ok(close)),
        }
    }

    fn deliver(&mut self, message: Message) {
        if self.phase > Phase::Open {
            return;
        }
        self.clock.exchanged();
        if self.rate.as_mut().is_some_and(|rate| !rate.allows()) {
            self.last = Some(Err(Fault::TooMany));
            return;
        }
        if let Some(messages) = &self.messages {
            let cost = cost(message.len());
            self.link.unread.fetch_add(cost, Ordering::AcqRel);
            if messages.send(Ok(message)).is_err() {
                // Nobody receives any more; what comes is read and forgotten.
                self.link.unread.fetch_sub(cost, Ordering::AcqRel);
                self.messages = None;
            }
        }
    }

    /// Acts on the last word of the client, when everything before it has been
    /// answered.
    fn conclude(&mut self) -> bool {
        let Some(last) = self.last.take() else { return false };
        // What another task has sent until now goes first too.
        self.drain();
        match last {
            Ok(close) => self.client_closed(close),
            Err(fault) => self.refuse(fault),
        }
        true
    }

    /// The client has said its last word.
    fn client_closed(&mut self, close: Close) {
        if self.phase == Phase::Open {
            // The same code back, and what waits is not wanted any more.
            let answer = Close::new(close.code, "");
            self.say_close(&answer);
            // Set once.
            let _ = self.link.closed.set(close);
        }
        self.messages = None;
        self.linger();
    }

    /// The client broke a rule: it is told so, and nothing more is read.
    fn refuse(&mut self, fault: Fault) {
        if self.phase == Phase::Open {
            self.say_close(&fault.close());
        }
        self.end_of_messages(fault.into());
        self.linger();
    }

    /// Begins the closing handshake.
    fn close(&mut self, close: &Close) {
        if self.phase == Phase::Open {
            self.say_close(close);
            self.messages = None;
            self.phase = Phase::Closing;
            self.clock.set_deadline();
            self.bell.pull(Rope::Aside);
        }
    }

    /// Our close frame, the last one.
    fn say_close(&mut self, close: &Close) {
        self.outgoing.close();
        self.outbox.forget_waiting(&self.link);
        self.outbox.control(OpCode::Close, &close.payload());
        while let Ok(outgoing) = self.outgoing.try_recv() {
            self.link.release(outgoing.cost());
        }
        self.link.room.notify_waiters();
    }

    fn linger(&mut self) {
        self.phase = self.phase.max(Phase::Lingering);
        self.clock.set_deadline();
        self.bell.pull(Rope::Aside);
    }

    fn end_of_messages(&mut self, error: SocketError) {
        if let Some(messages) = self.messages.take() {
            // Whether somebody listens does not matter.
            let _ = messages.send(Err(error));
        }
    }

    fn broke_off(&mut self) {
        if self.phase == Phase::Open {
            self.end_of_messages(SocketError::Broken);
        }
        self.over();
    }

    fn failed(&mut self, error: &io::Error) {
        log::debug!(target: "stockade::websocket", "a connection failed: {}", escaped(error));
        self.broke_off();
    }

    /// Lets go of everything but the handler, which has a while to end.
    fn over(&mut self) {
        if self.phase == Phase::Over {
            return;
        }
        self.phase = Phase::Over;
        self.io = None;
        self.permit = None;
        self.messages = None;
        self.shutdown = None;
        self.outbox = Outbox::default();
        self.outgoing.close();
        while self.outgoing.try_recv().is_ok() {}
        self.tell_the_end();
        self.clock.set_deadline();
        self.bell.pull(Rope::Aside);
    }

    /// Wakes whoever waits to send or for the end.
    fn tell_the_end(&mut self) {
        self.outgoing.close();
        self.link.room.notify_waiters();
        self.link.over.tell();
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
        self.drain();
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
        self.drained_close(close);
        true
    }

    /// Closes after what waits; the handler will not send more.
    fn drained_close(&mut self, close: Close) {
        if self.phase == Phase::Open {
            self.messages = None;
            self.outbox.push(Outgoing::Close(close), &self.link);
        }
    }

    /// Takes what is to be sent.
    fn drain(&mut self) -> bool {
        if self.phase > Phase::Open {
            return false;
        }
        let mut moved = false;
        while let Ok(outgoing) = self.outgoing.try_recv() {
            moved = true;
            self.send(outgoing);
        }
        moved
    }

    fn send(&mut self, outgoing: Outgoing) {
        match outgoing {
            Outgoing::ReadOn => {}
            Outgoing::TooSlow => self.refuse(Fault::TooSlow),
            outgoing => {
                self.clock.exchanged();
                self.outbox.push(outgoing, &self.link);
            }
        }
    }

    /// Writes what can be written; says whether something went.
    fn write(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(io) = &mut self.io else { return false };
        let (count, outcome) = self.outbox.poll_write(&mut **io, &self.link, cx);
        self.clock.wrote(count, outcome.is_pending());
        if let Poll::Ready(Err(error)) = outcome {
            self.failed(&error);
            return true;
        }
        if let Some(close) = self.outbox.take_close() {
            self.close(&close);
            return true;
        }
        if outcome.is_ready() && self.phase == Phase::Lingering && !self.shut {
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
                self.shut = true;
                true
            }
            Poll::Ready(Err(error)) => {
                self.failed(&error);
                true
            }
        }
    }

    /// Does what the clock says.
    fn poll_clock(&mut self, cx: &mut Context<'_>) -> bool {
        let reading = self.may_read();
        let Poll::Ready(alarm) = self.clock.poll(reading, cx) else { return false };
        match alarm {
            Alarm::Ping if self.phase == Phase::Open => self.outbox.control(OpCode::Ping, &[]),
            Alarm::Nothing | Alarm::Ping => {}
            Alarm::Idle => self.close(&Close::new(Close::GOING_AWAY, "idle")),
            Alarm::Silent => {
                self.end_of_messages(SocketError::Silent);
                self.over();
            }
            Alarm::Stalled => self.broke_off(),
            // The handler had its time too.
            Alarm::Deadline if self.phase == Phase::Over => {
                if self.handler.take().is_some() {
                    log::debug!(target: "stockade::websocket", "a handler outlived its connection");
                }
            }
            Alarm::Deadline => self.over(),
        }
        true
    }

    /// The clock and the shutdown.
    fn look_aside(&mut self, cx: &mut Context<'_>) -> bool {
        let moved = self.poll_shutdown(cx) | self.poll_clock(cx);
        if moved {
            // Once more, until both wait.
            self.bell.pull(Rope::Aside);
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

impl Future for Running {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Self { session: this, wakers, task } = &mut *self;
        this.bell.wake_up(task, cx);
        let handler = &mut Context::from_waker(&wakers.handler);
        for _ in 0..MAX_ROUNDS {
            let came = this.read(cx);
            let rung = this.bell.answer(Rope::Handler);
            let ended = rung && this.poll_handler(handler);
            let sent = this.bell.answer(Rope::Post) && this.drain();
            let mut moved = came | ended | sent | this.conclude() | this.write(cx);
            if this.phase == Phase::Over && this.handler.is_none() {
                return Poll::Ready(());
            }
            if !moved {
                moved = this.bell.answer(Rope::Aside)
                    && this.look_aside(&mut Context::from_waker(&wakers.aside));
                if !moved && this.bell.fall_asleep() {
                    return Poll::Pending;
                }
            }
        }
        // The other tasks first.
        this.bell.fall_asleep();
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Whoever waits for the end is told, also when the task is dropped.
        self.tell_the_end();
        self.bell.forget_task();
    }
}

/// How much one read takes, in bytes.
const READ_SIZE: usize = 16_384;

/// How much is read and forgotten after the end was said, in bytes: 8 MiB.
const MAX_FORGOTTEN: usize = 8 << 20;

/// How often to go round before other tasks have their turn.
const MAX_ROUNDS: usize = 32;
