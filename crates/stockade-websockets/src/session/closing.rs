//! The end of a connection: close frames, violations and failures.

use std::io;

use stockade_core::log_text::escaped;

use super::{Phase, Session};
use crate::close::{Close, Violation};
use crate::frame::OpCode;
use crate::message::{Message, SocketError};
use crate::send_queue::SendQueue;
use crate::waker_set::WakeReason;

impl Session {
    /// Handles the client's close frame or violation, after the handler has
    /// processed all earlier messages.
    pub(super) fn handle_client_end(&mut self) -> bool {
        let Some(end) = self.client_end.take() else { return false };
        // Messages that other tasks have sent so far go first.
        self.drain_outgoing();
        match end {
            Ok(close) => self.client_closed(close),
            Err(violation) => self.refuse(violation),
        }
        true
    }

    /// Answers the client's close frame, or accepts it as the answer to ours.
    fn client_closed(&mut self, close: Close) {
        if self.phase == Phase::Open {
            self.show(|| Message::Close(close.clone()));
            // The client gets its own code back and expects no more messages.
            let answer = Close::new(close.code, "");
            self.send_close(&answer);
            // The client sends one close frame, so this is set at most once.
            let _ = self.shared.closed.set(close);
        }
        self.messages = None;
        self.has_client_closed = true;
        self.linger();
    }

    /// Reports the violation to the client, and stops decoding.
    pub(super) fn refuse(&mut self, violation: Violation) {
        if self.phase == Phase::Open {
            self.send_close(&violation.close());
        }
        self.fail_receiver(violation.into());
        self.linger();
    }

    /// Begins the closing handshake.
    pub(super) fn close(&mut self, close: &Close) {
        if self.phase == Phase::Open {
            self.send_close(close);
            self.messages = None;
            self.phase = Phase::Closing;
            self.timeouts.set_deadline();
            self.waker_set.mark(WakeReason::Housekeeping);
        }
    }

    /// Sends our close frame, which is our last frame.
    fn send_close(&mut self, close: &Close) {
        self.outgoing.close();
        self.send_queue.clear_waiting(&self.shared);
        self.send_queue.push_control(OpCode::Close, &close.payload());
        while let Ok(outgoing) = self.outgoing.try_recv() {
            self.shared.release(outgoing.cost());
        }
        self.shared.room.notify_waiters();
    }

    /// Waits for the client to close, and reads no more messages.
    fn linger(&mut self) {
        self.phase = self.phase.max(Phase::Lingering);
        self.timeouts.set_deadline();
        self.waker_set.mark(WakeReason::Housekeeping);
    }

    /// Delivers an error to the handler as its last item.
    pub(super) fn fail_receiver(&mut self, error: SocketError) {
        if let Some(messages) = self.messages.take() {
            // Fails only if the handler has dropped its receiver.
            let _ = messages.send(Err(error));
        }
    }

    /// Ends a connection after the client has disconnected.
    pub(super) fn disconnected(&mut self) {
        if self.phase == Phase::Open {
            self.fail_receiver(SocketError::Broken);
        }
        self.finish();
    }

    /// Ends a connection after a socket error.
    pub(super) fn io_failed(&mut self, error: &io::Error) {
        log::debug!(target: "stockade::websocket", "a connection failed: {}", escaped(error));
        self.disconnected();
    }

    /// Closes the connection and frees everything except the handler, which has
    /// `close_timeout` to end.
    pub(super) fn finish(&mut self) {
        if self.phase == Phase::Over {
            return;
        }
        self.phase = Phase::Over;
        self.io = None;
        self.permit = None;
        self.messages = None;
        self.shutdown = None;
        self.user = None;
        self.send_queue = SendQueue::default();
        self.outgoing.close();
        while self.outgoing.try_recv().is_ok() {}
        self.notify_end();
        self.timeouts.set_deadline();
        self.waker_set.mark(WakeReason::Housekeeping);
    }

    /// Wakes all tasks that wait to send, or for the end.
    pub(super) fn notify_end(&mut self) {
        self.outgoing.close();
        self.shared.room.notify_waiters();
        // A second call has no effect.
        let _ = self.shared.end.set(());
    }
}
