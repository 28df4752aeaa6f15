//! [`Backplane`]: transports broadcasts between the processes of an
//! application.

use std::fmt;
use std::future::{Future, ready};
use std::pin::Pin;

use bytes::Bytes;
use stockade_errors::ApiError;

use super::Rooms;
use crate::socket::SocketId;

/// The receivers of a message.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Audience<'a> {
    /// Every member.
    All,
    /// Every member of the named room.
    Room(&'a str),
    /// Every member of the route with this pattern, such as `/chat/:room`.
    Route(&'a str),
}

impl fmt::Display for Audience<'_> {
    /// Writes a short description for logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all members"),
            Self::Room(room) => write!(f, "the room {room:?}"),
            Self::Route(route) => write!(f, "the route {route:?}"),
        }
    }
}

/// The transport of broadcasts between the processes of an application.
///
/// An implementation calls [`Rooms::deliver`] or [`Rooms::deliver_with_id`] for
/// each message that another process publishes. Only [`publish`](Self::publish)
/// is required; the other methods do nothing and return nothing by default.
///
/// `opened`, `closed` and `changed` are called while the table of the rooms is
/// locked. They must only record the event, and must not call a method of
/// [`Rooms`].
pub trait Backplane: Send + Sync + 'static {
    /// Publishes a message to the other processes. This must not block: drop a
    /// message that cannot be sent now, or queue it up to a limit.
    fn publish(
        &self,
        audience: Audience<'_>,
        text: &Bytes,
        except: Option<SocketId>,
    ) -> PublishReceipt;

    /// Receives the rooms to deliver messages to. Called once, before
    /// everything else. Store [`Rooms::downgrade`] of them, because the rooms
    /// own the backplane.
    fn attach(&self, rooms: &Rooms) {
        let _ = rooms;
    }

    /// Reports that an audience has its first member in this process.
    fn opened(&self, audience: Audience<'_>) {
        let _ = audience;
    }

    /// Reports that the last member of an audience has left.
    fn closed(&self, audience: Audience<'_>) {
        let _ = audience;
    }

    /// Reports that a member has joined or left a room.
    fn changed(&self, room: &str) {
        let _ = room;
    }

    /// Waits until this process receives messages that others send to an
    /// audience.
    fn ready<'a>(&'a self, audience: Audience<'a>) -> BackplaneFuture<'a, ()> {
        let _ = audience;
        Box::pin(ready(Ok(())))
    }

    /// Returns the members of a room in the other processes.
    fn presence<'a>(&'a self, room: &'a str) -> BackplaneFuture<'a, Presence> {
        let _ = room;
        Box::pin(ready(Ok(Presence::default())))
    }

    /// Returns the number of members of a room in the other processes.
    fn count<'a>(&'a self, room: &'a str) -> BackplaneFuture<'a, usize> {
        Box::pin(async move { Ok(self.presence(room).await?.members.len()) })
    }

    /// Returns the messages to a room after the message with this id.
    fn since<'a>(&'a self, room: &'a str, id: &'a str) -> BackplaneFuture<'a, History> {
        let _ = (room, id);
        Box::pin(ready(Ok(History::default())))
    }
}

/// The future returned by the methods of a [`Backplane`].
pub type BackplaneFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, ApiError>> + Send + 'a>>;

/// The outcome of [`Backplane::publish`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[must_use]
pub struct PublishReceipt {
    pub(super) error: Option<BroadcastError>,
    pub(super) is_echoed: bool,
}

impl PublishReceipt {
    /// The message is on its way to the other processes. [`Rooms`] deliver it
    /// to the members of this process.
    pub const SENT: Self = Self { error: None, is_echoed: false };

    /// The backplane also delivers the message to the members of this process,
    /// in the common order ([`Order::Room`]).
    pub const ECHOED: Self = Self { error: None, is_echoed: true };

    /// Returns the outcome for a dropped message. With [`Order::Room`], no
    /// member receives it; otherwise the members of this process do.
    pub fn dropped(order: Order, error: BroadcastError) -> Self {
        Self { error: Some(error), is_echoed: order == Order::Room }
    }
}

/// The order of the messages to an audience.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Order {
    /// Members in the same process receive a message immediately, others when
    /// it arrives. The messages from one process arrive in order. The default.
    #[default]
    Local,
    /// All members receive all messages in one order. Members in the same
    /// process wait until the backplane returns the message. They do not
    /// receive messages while the backplane is down.
    Room,
}

/// The reason why a broadcast does not reach the other processes.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum BroadcastError {
    /// Too many messages wait for the backplane.
    Overloaded,
    /// The message exceeds the size limit of the backplane.
    TooLarge,
}

impl fmt::Display for BroadcastError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Overloaded => "too many messages are queued for other processes",
            Self::TooLarge => "the message is too long to send to other processes",
        })
    }
}

impl std::error::Error for BroadcastError {}

impl From<BroadcastError> for ApiError {
    /// Converts to a 503 with `Retry-After`, or to a 413.
    fn from(error: BroadcastError) -> Self {
        match error {
            BroadcastError::Overloaded => {
                Self::new(503, error.to_string()).with_header("Retry-After", "1")
            }
            BroadcastError::TooLarge => Self::new(413, error.to_string()),
        }
    }
}

/// A report that members of this process have missed messages.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct DeliveryGap<'a> {
    /// The receivers.
    pub audience: Audience<'a>,
    /// The number of messages, possibly including some that were delivered.
    /// `None` if unknown, because the backplane has lost its data.
    pub missed: Option<u64>,
}

/// The members of a room in all processes.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Presence {
    /// The ids of the members, in no order.
    pub members: Vec<SocketId>,
    /// The number of processes that had members and no longer respond. Their
    /// members are not among `members`.
    pub stale_nodes: usize,
}

impl Presence {
    /// Creates the result of a backplane.
    #[must_use]
    pub fn new(members: Vec<SocketId>, stale_nodes: usize) -> Self {
        Self { members, stale_nodes }
    }
}

/// The latest messages to a room.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct History {
    /// The messages, oldest first.
    pub messages: Vec<HistoryEntry>,
    /// True if no message is missing between the requested id and the first of
    /// `messages`.
    pub is_complete: bool,
}

impl History {
    /// Creates the result of a backplane.
    #[must_use]
    pub fn new(messages: Vec<HistoryEntry>, is_complete: bool) -> Self {
        Self { messages, is_complete }
    }
}

/// An earlier message to a room.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct HistoryEntry {
    /// The id to pass to [`Rooms::since`].
    pub id: String,
    /// The text as it was broadcast.
    pub text: String,
}

impl HistoryEntry {
    /// Creates a message of a [`History`].
    #[must_use]
    pub fn new(id: String, text: String) -> Self {
        Self { id, text }
    }
}
