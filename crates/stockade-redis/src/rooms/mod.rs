//! [`RedisRooms`]: rooms of WebSockets across processes.

// Where things are:
// - `channel`, `envelope`: the names and the form of messages in the engine.
// - `script`: what the engine does in one step.
// - `node`: what the three tasks share: `publisher` empties the `queue`, `subscription`
//   hears on a `connection` for each `open_channel`, with `listening` (which messages are
//   delivered) and `log` (what is read where some are missing), and `presence` writes the
//   members.
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

/// A [`Backplane`] that joins the rooms of all processes with the same engine and prefix.
///
/// A broadcast is one script: it gets a number, stands in a short log, and is published.
/// A process hears the rooms in which it has members, on a connection of its own, and
/// delivers each message once and in the order of the numbers. One that did not arrive is
/// read from the log before anything newer goes out, and after each reconnect and every
/// 30 s all rooms are compared with the engine. Messages that the log no longer has are
/// reported by [`Rooms::on_gap`], and so is an engine that was restarted, replaced or has
/// lost its data. Nothing is lost silently.
///
/// [`Rooms::broadcast`] never waits. Up to 4,096 messages or 8 MiB wait for the engine;
/// more are dropped with a line in the log, and [`Rooms::try_broadcast`] fails. A message
/// has 64 KiB at most. A message whose answer did not come is published again, and
/// delivered once.
///
/// While the engine is away, members of the same process get everything
/// ([`Order::Local`]), and the queue keeps the rest.
///
/// The members of a process stand in the engine 100 ms after joins and leaves, under a
/// lease of 15 s: those of a process that has died count no longer after that.
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
    /// Set when rooms take it.
    node: OnceLock<Arc<Node>>,
}

impl Redis {
    /// Returns a backplane for the rooms of this process. Each `Rooms` needs its own.
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
    /// Sets the order in which members get messages. Default: [`Order::Local`].
    #[must_use]
    pub fn order(mut self, order: Order) -> Self {
        self.settings.order = order;
        self
    }

    /// Sets how many messages of each room the log keeps at least, and for how long after
    /// the last one. Default: 100, for 5 minutes. Both are at least 1.
    #[must_use]
    pub fn log(mut self, messages: usize, time: Duration) -> Self {
        self.settings.log_messages = messages.max(1);
        self.settings.log_time = time.max(Duration::from_millis(1));
        self
    }

    /// Publishes without numbers and without a log, for messages that are many and soon
    /// out of date, such as the places of cursors. Default: off.
    ///
    /// A message that is published while a process does not hear is lost to it, without a
    /// [`DeliveryGap`](stockade_websockets::DeliveryGap), and there is no history.
    #[must_use]
    pub fn at_most_once(mut self) -> Self {
        self.settings.is_numbered = false;
        self
    }

    fn unattached() -> ApiError {
        ApiError::new(503, "the backplane has no rooms")
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
        // Rooms send texts.
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
                ApiError::new(503, "the other processes are not heard yet")
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
    /// Ends the tasks, after what waits was published.
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

/// The time that [`Member::ready`](stockade_websockets::Member::ready) waits.
const READY: Duration = Duration::from_secs(5);
