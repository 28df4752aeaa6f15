//! Moves messages from the senders to the socket.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::AsyncWrite as _;

use super::{Phase, Session};
use crate::close::Violation;
use crate::message::Outgoing;

impl Session {
    /// Moves messages from the senders' channel to the send queue. Returns true
    /// if there was one.
    pub(super) fn drain_outgoing(&mut self) -> bool {
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
                    // Pings and pongs do not count as messages.
                    if !matches!(outgoing, Outgoing::Control(..)) {
                        self.timeouts.moved_message();
                    }
                    self.send_queue.push(outgoing, &self.shared);
                }
            }
        }
        moved
    }

    /// Writes as much as the socket accepts. Returns true if the connection
    /// changed.
    pub(super) fn write(&mut self, cx: &mut Context<'_>) -> bool {
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

    /// Closes our side, which ends the client's stream.
    fn shut_down(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(io) = &mut self.io else { return false };
        match Pin::new(io).poll_shutdown(cx) {
            Poll::Pending => return false,
            Poll::Ready(Ok(())) => self.is_shut_down = true,
            Poll::Ready(Err(error)) => self.io_failed(&error),
        }
        true
    }
}
