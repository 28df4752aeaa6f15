//! [`Loopback`]: a connection without a client, for tests of backplanes.

use std::sync::Arc;

use crate::message::Outgoing;
use crate::options::WebSocketOptions;
use crate::socket::{DriverEnd, SocketId, WebSocket, pair};

/// The client's end of a connection in memory. The messages that are sent to the
/// connection come out here, without a codec between.
#[expect(missing_debug_implementations, reason = "it is for tests of sibling crates")]
pub struct Loopback {
    end: DriverEnd,
}

impl Loopback {
    /// Makes a connection of a route, whose queue has no bound; `None` if the system has
    /// no random bytes.
    #[must_use]
    pub fn open(route: &str) -> Option<(WebSocket, Self)> {
        let id = SocketId::random().ok()?;
        let options = WebSocketOptions::new().send_queue(u64::MAX);
        let (socket, end) = pair(id, &Arc::new(options), route.into(), None, None);
        Some((socket, Self { end }))
    }

    /// Waits for the next text that was sent to the connection.
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
