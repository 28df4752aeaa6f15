//! WebSocket rooms across processes.

// Modules:
// - `channel`, `envelope`: the names and the message format in Redis.
// - `script`: the atomic steps in Redis.
// - `node`: the state that the three tasks share. `publisher` empties the
//   `queue`. `subscription` receives messages on a `connection` for each
//   `open_channel`; `listening` decides which messages are delivered, and `log`
//   reads missing ones. `presence` writes the members.
mod channel;
mod connection;
mod envelope;
mod listening;
mod log;
mod node;
mod open_channel;
mod presence;
mod publisher;
mod queue;
mod script;
#[cfg(test)]
mod simulation;
mod subscription;

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use stockade_errors::ApiError;
use stockade_websockets::{
    Audience, Backplane, BackplaneFuture, History, Order, Presence, PublishReceipt, Rooms, SocketId,
};
use tokio::time::timeout;

use self::channel::Channel;
use self::node::{Node, Settings};
use crate::link::Redis;

/// A [`Backplane`] that connects the rooms of all processes with the same Redis
/// server and prefix.
///
/// A broadcast is one script: it numbers the message, appends it to a short
/// log, and publishes it. A process subscribes to the rooms of its members, on
/// a separate connection. It delivers each message once, in the order of the
/// numbers. Missing messages are read from the log before newer ones are
/// delivered. After each reconnect and every 30 s, all rooms are compared with
/// Redis. [`Rooms::on_gap`] reports messages that are no longer in the log. It
/// also reports a server that was restarted or replaced, or that has lost its
/// data. Nothing is lost silently.
///
/// [`Rooms::broadcast`] never waits. The queue holds up to 4,096 messages or 8
/// MiB. Further messages are dropped with a log line, and
/// [`Rooms::try_broadcast`] returns an error. A message has at most 64 KiB. A
/// message without an acknowledgment is published again but delivered once.
///
/// While Redis is down, members of the same process still receive everything
/// ([`Order::Local`]), and the queue holds messages for the other processes.
///
/// Redis lists the members of a process 100 ms after they join or leave, under
/// a lease of 15 s. When a process dies, its members stop counting after this
/// lease.
///
/// ```
/// use stockade::redis::{Redis, RedisOptions};
/// use stockade::websockets::{RoomLimits, Rooms};
///
/// # #[tokio::main]
/// # async fn main() -> Result<(), stockade::ConfigError> {
/// let redis = Redis::open("redis://127.0.0.1:6379", RedisOptions::new().prefix("shop"))?;
/// let rooms = Rooms::with_backplane(RoomLimits::new(), redis.rooms())
///     .on_gap(|gap| eprintln!("{} missed {:?} messages", gap.audience, gap.missed));
/// assert_eq!(rooms.count(), 0);
/// # Ok(())
/// # }
/// ```
pub struct RedisRooms {
    redis: Redis,
    settings: Settings,
    /// Set when the backplane is attached to rooms.
    node: OnceLock<Arc<Node>>,
}

impl Redis {
    /// Returns a backplane for the rooms of this process. Each `Rooms` needs a
    /// separate one.
    #[must_use]
    pub fn rooms(&self) -> RedisRooms {
        RedisRooms {
            redis: self.clone(),
            settings: Settings {
                order: Order::Local,
                is_numbered: true,
                log_messages: 100,
                log_time: Duration::from_secs(300),
            },
            node: OnceLock::new(),
        }
    }
}

impl RedisRooms {
    /// Sets the order of messages. Default: [`Order::Local`].
    #[must_use]
    pub fn order(mut self, order: Order) -> Self {
        self.settings.order = order;
        self
    }

    /// Sets the minimum number of messages in each room's log, and how long the
    /// log is kept after the last message. Default: 100 messages, 5 minutes.
    /// The minimum is 1 message and 1 ms.
    #[must_use]
    pub fn log(mut self, messages: usize, time: Duration) -> Self {
        self.settings.log_messages = messages.max(1);
        self.settings.log_time = time.max(Duration::from_millis(1));
        self
    }

    /// Publishes without numbers and without a log. Use this for frequent
    /// messages that soon become outdated, such as cursor positions. Default:
    /// off.
    ///
    /// If a process is disconnected when a message is published, it misses the
    /// message without a [`DeliveryGap`](stockade_websockets::DeliveryGap).
    /// History is not available.
    #[must_use]
    pub fn at_most_once(mut self) -> Self {
        self.settings.is_numbered = false;
        self
    }

    fn unattached() -> ApiError {
        ApiError::new(503, "the backplane does not have rooms")
    }
}

impl Backplane for RedisRooms {
    fn attach(&self, rooms: &Rooms) {
        let node = Arc::new(Node::new(self.redis.clone(), self.settings, rooms));
        self.node.get_or_init(|| node).start();
    }

    fn publish(
        &self,
        audience: Audience<'_>,
        text: &Bytes,
        except: Option<SocketId>,
    ) -> PublishReceipt {
        let order = self.settings.order;
        let (Some(node), Some(channel)) = (self.node.get(), Channel::of(audience)) else {
            return PublishReceipt::SENT;
        };
        node.start();
        // Rooms send only text.
        let text = str::from_utf8(text).unwrap_or_default();
        match (node.queue.push(channel, node.id, except, text), order) {
            (Err(error), order) => PublishReceipt::dropped(order, error),
            (Ok(()), Order::Room) => PublishReceipt::ECHOED,
            (Ok(()), _) => PublishReceipt::SENT,
        }
    }

    fn opened(&self, audience: Audience<'_>) {
        if let Some(node) = self.node.get() {
            node.start();
            node.opened(audience);
        }
    }

    fn closed(&self, audience: Audience<'_>) {
        if let Some(node) = self.node.get() {
            node.closed(audience);
        }
    }

    fn changed(&self, room: &str) {
        if let Some(node) = self.node.get() {
            node.write_later([room.into()]);
        }
    }

    fn ready<'a>(&'a self, audience: Audience<'a>) -> BackplaneFuture<'a, ()> {
        Box::pin(async move {
            let node = self.node.get().ok_or_else(Self::unattached)?;
            let Some(channel) = Channel::of(audience) else { return Ok(()) };
            node.start();
            let heard = timeout(READY, node.heard(channel)).await;
            heard.map_err(|_| {
                ApiError::new(503, "messages from other processes are not received yet")
                    .with_header("Retry-After", "1")
            })
        })
    }

    fn presence<'a>(&'a self, room: &'a str) -> BackplaneFuture<'a, Presence> {
        Box::pin(async move {
            let node = self.node.get().ok_or_else(Self::unattached)?;
            Ok(presence::read(node, room).await?)
        })
    }

    fn count<'a>(&'a self, room: &'a str) -> BackplaneFuture<'a, usize> {
        Box::pin(async move {
            let node = self.node.get().ok_or_else(Self::unattached)?;
            Ok(presence::count(node, room).await?)
        })
    }

    fn since<'a>(&'a self, room: &'a str, id: &'a str) -> BackplaneFuture<'a, History> {
        Box::pin(async move {
            let node = self.node.get().ok_or_else(Self::unattached)?;
            Ok(log::since(node, room, id).await?)
        })
    }
}

impl Drop for RedisRooms {
    /// Ends the tasks after the queued messages are published.
    fn drop(&mut self) {
        if let Some(node) = self.node.get() {
            node.ended.send_replace(true);
        }
    }
}

impl fmt::Debug for RedisRooms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisRooms")
            .field("redis", &self.redis)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// The time limit of [`Member::ready`](stockade_websockets::Member::ready).
const READY: Duration = Duration::from_secs(5);
