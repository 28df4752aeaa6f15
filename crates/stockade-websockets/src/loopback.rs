//! [`Loopback`]: a connection without a client, for backplane tests.

use std::sync::Arc;

use crate::message::Outgoing;
use crate::options::WebSocketOptions;
use crate::socket::{DriverEnd, SocketId, WebSocket, pair};

/// The client's end of an in-memory connection. It yields the messages sent to
/// the connection, without a codec.
#[expect(missing_debug_implementations, reason = "it is for tests of sibling crates")]
pub struct Loopback {
    end: DriverEnd,
}

impl Loopback {
    /// Creates a connection of a route with an unbounded queue. Returns `None`
    /// if the system cannot provide random bytes.
    #[must_use]
    pub fn open(route: &str) -> Option<(WebSocket, Self)> {
        let id = SocketId::random().ok()?;
        let options = WebSocketOptions::new().send_queue(u64::MAX);
        let (socket, end) = pair(id, &Arc::new(options), route.into(), None, None);
        Some((socket, Self { end }))
    }

    /// Waits for the next text sent to the connection.
    pub async fn next(&mut self) -> Option<String> {
        loop {
            let outgoing = self.end.outgoing.recv().await?;
            self.end.shared.release(outgoing.cost());
            if let Outgoing::Text(text) = outgoing {
                return Some(String::from_utf8_lossy(text.as_slice()).into_owned());
            }
        }
    }
}
