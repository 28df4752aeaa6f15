//! [`Backplane`]: the way of broadcasts between the processes of an application.

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
    /// Every member of the room with this name.
    Room(&'a str),
    /// Every member of a route, by its pattern, such as `/chat/:room`.
    Route(&'a str),
}

impl fmt::Display for Audience<'_> {
    /// Writes a few words for a log.
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
/// An implementation calls [`Rooms::deliver`] or [`Rooms::deliver_with_id`] for each
/// message that another process publishes. Only [`publish`](Self::publish) is
/// required; the defaults of the others do nothing and know nothing.
///
/// `opened`, `closed` and `changed` are called while the table of the rooms is locked:
/// they note the event and return, and call no method of [`Rooms`].
pub trait Backplane: Send + Sync + 'static {
    /// Publishes a message to the other processes. This must not block: a message
    /// that cannot be sent now is dropped, or queued up to a bound.
    fn publish(
        &self,
        audience: Audience<'_>,
        text: &Bytes,
        except: Option<SocketId>,
    ) -> PublishReceipt;

    /// Takes the rooms that messages are delivered to; called once, before everything
    /// else. A backplane keeps [`Rooms::downgrade`] of them, because the rooms own it.
    fn attach(&self, rooms: &Rooms) {
        let _ = rooms;
    }

    /// Notes that the first member of an audience is here.
    fn opened(&self, audience: Audience<'_>) {
        let _ = audience;
    }

    /// Notes that the last member of an audience has left.
    fn closed(&self, audience: Audience<'_>) {
        let _ = audience;
    }

    /// Notes that a member has joined or left a room.
    fn changed(&self, room: &str) {
        let _ = room;
    }

    /// Waits until messages of other processes to an audience arrive here.
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

    /// Returns the messages to a room that came after the one with this id.
    fn since<'a>(&'a self, room: &'a str, id: &'a str) -> BackplaneFuture<'a, History> {
        let _ = (room, id);
        Box::pin(ready(Ok(History::default())))
    }
}

/// The future of an answer of a [`Backplane`].
pub type BackplaneFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, ApiError>> + Send + 'a>>;

/// The outcome of [`Backplane::publish`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[must_use]
pub struct PublishReceipt {
    pub(super) error: Option<BroadcastError>,
    pub(super) is_echoed: bool,
}

impl PublishReceipt {
    /// A message that is on its way to the other processes; [`Rooms`] give it to the
    /// members of this one.
    pub const SENT: Self = Self { error: None, is_echoed: false };

    /// A message that the backplane also gives to the members of this process, in the
    /// order of all ([`Order::Room`]).
    pub const ECHOED: Self = Self { error: None, is_echoed: true };

    /// Returns the outcome for a message that was dropped. With [`Order::Room`] no
    /// member gets it, else those of this process do.
    pub fn dropped(order: Order, error: BroadcastError) -> Self {
        Self { error: Some(error), is_echoed: order == Order::Room }
    }
}

/// The order of the messages to an audience.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Order {
    /// Members of the same process get a message at once, others when it arrives. The
    /// messages of one process arrive in their order. The default.
    #[default]
    Local,
    /// All members get all messages in one order. Members of the same process wait for
    /// the message to come back, and get none while the backplane is down.
    Room,
}

/// A broadcast that the other processes do not get.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum BroadcastError {
    /// Too many messages wait for the backplane.
    Overloaded,
    /// The message is longer than the backplane takes.
    TooLarge,
}

impl fmt::Display for BroadcastError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Overloaded => "too many messages wait for the other processes",
            Self::TooLarge => "the message is too long for the other processes",
        })
    }
}

impl std::error::Error for BroadcastError {}

impl From<BroadcastError> for ApiError {
    /// Makes a 503 with `Retry-After`, or a 413.
    fn from(error: BroadcastError) -> Self {
        match error {
            BroadcastError::Overloaded => {
                Self::new(503, error.to_string()).with_header("Retry-After", "1")
            }
            BroadcastError::TooLarge => Self::new(413, error.to_string()),
        }
    }
}

/// Messages that the members of this process have missed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct DeliveryGap<'a> {
    /// The receivers.
    pub audience: Audience<'a>,
    /// The number of messages, which may include some that were delivered; `None` if
    /// it is unknown, because the backplane has lost its data.
    pub missed: Option<u64>,
}

/// The members of a room in all processes.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Presence {
    /// The ids of the members, in no order.
    pub members: Vec<SocketId>,
    /// The number of processes that had members and give no sign of life any more. Their
    /// members are not among `members`.
    pub stale_nodes: usize,
}

impl Presence {
    /// Makes the answer of a backplane.
    #[must_use]
    pub fn new(members: Vec<SocketId>, stale_nodes: usize) -> Self {
        Self { members, stale_nodes }
    }
}

/// The last messages to a room.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct History {
    /// The messages, oldest first.
    pub messages: Vec<HistoryEntry>,
    /// True if no message is missing between the id that was asked for and the first of
    /// `messages`.
    pub is_complete: bool,
}

impl History {
    /// Makes the answer of a backplane.
    #[must_use]
    pub fn new(messages: Vec<HistoryEntry>, is_complete: bool) -> Self {
        Self { messages, is_complete }
    }
}

/// A message that was sent to a room before.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct HistoryEntry {
    /// The id, by which [`Rooms::since`] goes on.
    pub id: String,
    /// The text as it was broadcast.
    pub text: String,
}

impl HistoryEntry {
    /// Makes a message of a [`History`].
    #[must_use]
    pub fn new(id: String, text: String) -> Self {
        Self { id, text }
    }
}
