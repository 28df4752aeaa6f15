//! The connection that receives messages, and changes to its subscriptions.

use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use futures_core::Stream as _;
use redis::aio::{PubSubSink, PubSubStream};
use redis::{Msg, RedisError, Value};
use tokio::time::{Instant, timeout};

/// A connection for subscriptions.
pub(super) struct Connection {
    pub(super) number: u64,
    pub(super) sink: PubSubSink,
    pub(super) stream: PubSubStream,
    pub(super) last_heard: Instant,
    pub(super) is_pinged: bool,
}

/// The names to subscribe, the names to unsubscribe, and the unchanged names.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub(super) on: Vec<String>,
    pub(super) off: Vec<String>,
    pub(super) same: Vec<String>,
}

impl Changes {
    /// Applies the changes. Returns false if the connection is no longer
    /// usable.
    pub(super) async fn make(&self, mut sink: PubSubSink) -> bool {
        let changing = async {
            if !self.off.is_empty() {
                sink.unsubscribe(&self.off).await?;
            }
            if !self.on.is_empty() {
                sink.subscribe(&self.on).await?;
            }
            Ok::<_, RedisError>(())
        };
        timeout(CONFIRMED, changing).await.is_ok_and(|outcome| outcome.is_ok())
    }
}

/// Returns true if the server responds to a ping on this connection.
pub(super) async fn ping(mut sink: PubSubSink) -> bool {
    timeout(PING_DEADLINE, sink.ping::<Value>()).await.is_ok_and(|answer| answer.is_ok())
}

/// Waits for messages and returns the available ones, or `None` when the
/// connection has ended.
pub(super) async fn next(connection: &mut Option<Connection>) -> Option<Vec<Msg>> {
    let Some(connection) = connection else { return std::future::pending().await };
    let mut messages = Vec::new();
    std::future::poll_fn(|cx| {
        while messages.len() < MAX_TAKEN {
            match Pin::new(&mut connection.stream).poll_next(cx) {
                Poll::Ready(Some(message)) => messages.push(message),
                Poll::Ready(None) if messages.is_empty() => return Poll::Ready(None),
                Poll::Pending if messages.is_empty() => return Poll::Pending,
                _ => break,
            }
        }
        Poll::Ready(Some(std::mem::take(&mut messages)))
    })
    .await
}

/// The time limits for a subscription and for a ping.
const CONFIRMED: Duration = Duration::from_secs(5);
const PING_DEADLINE: Duration = Duration::from_secs(1);
/// The maximum number of messages per call.
const MAX_TAKEN: usize = 256;
