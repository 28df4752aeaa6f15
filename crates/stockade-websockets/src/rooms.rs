//! [`Rooms`]: who is where, and messages to all of them.
//!
//! An application makes one, provides it as state, and lets handlers enter:
//!
//! ```
//! use stockade_core::ApiError;
//! use stockade_core::extract::{Path, State};
//! use stockade_websockets::{Audience, Rooms, WebSocket};
//!
//! async fn chat(
//!     mut socket: WebSocket,
//!     Path(room): Path<String>,
//!     rooms: State<Rooms>,
//! ) -> Result<(), ApiError> {
//!     let member = rooms.enter(socket.sender())?;
//!     member.join(&room)?;
//!     while let Some(text) = socket.recv_text().await {
//!         rooms.broadcast_except(Audience::Room(&room), text?, socket.id());
//!     }
//!     // The member leaves all rooms when it is dropped.
//!     Ok(())
//! }
//! ```

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use stockade_errors::ApiError;

use crate::socket::{Sender, SocketId};

/// The members of an application and the rooms in which they are. Clones are
/// the same.
#[derive(Clone)]
pub struct Rooms {
    inner: Arc<Inner>,
}

struct Inner {
    limits: RoomLimits,
    backplane: Option<Box<dyn Backplane>>,
    // Locked to enter, join, leave and to hand a broadcast to the queues, which
    // never waits.
    lists: Mutex<Lists>,
}

#[derive(Default)]
struct Lists {
    members: HashMap<SocketId, Entry>,
    rooms: HashMap<Box<str>, HashSet<SocketId>>,
}

struct Entry {
    sender: Sender,
    rooms: HashSet<Box<str>>,
}

/// How much [`Rooms`] may hold.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct RoomLimits {
    /// Rooms with somebody in them. Default: 10,000.
    pub rooms: usize,
    /// Rooms of one member. Default: 100.
    pub rooms_per_member: usize,
    /// Length of the name of a room, in bytes. Default: 256.
    pub name: usize,
}

impl Default for RoomLimits {
    fn default() -> Self {
        Self { rooms: 10_000, rooms_per_member: 100, name: 256 }
    }
}

/// Who gets a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Audience<'a> {
    /// Every member.
    All,
    /// Everybody in a room.
    Room(&'a str),
    /// Every member of a route, by its pattern, such as `/chat/:room`.
    Route(&'a str),
}

/// What carries broadcasts to the other processes of an application.
///
/// It calls [`Rooms::deliver`] with what the others publish. Presence
/// ([`Rooms::members`]) is that of this process.
pub trait Backplane: Send + Sync + 'static {
    /// Tells the others. It must not wait; what it cannot send now it queues,
    /// to a bound of its own, or drops.
    fn publish(&self, audience: Audience<'_>, text: &Bytes, except: Option<SocketId>);
}

impl Default for Rooms {
    fn default() -> Self {
        Self::new(RoomLimits::default())
    }
}

impl Rooms {
    /// Empty rooms of this process alone.
    #[must_use]
    pub fn new(limits: RoomLimits) -> Self {
        Self::build(limits, None)
    }

    /// Empty rooms that also tell other processes.
    #[must_use]
    pub fn with_backplane(limits: RoomLimits, backplane: impl Backplane) -> Self {
        Self::build(limits, Some(Box::new(backplane)))
    }

    fn build(limits: RoomLimits, backplane: Option<Box<dyn Backplane>>) -> Self {
        Self { inner: Arc::new(Inner { limits, backplane, lists: Mutex::default() }) }
    }

    /// Takes in a connection, until what this gives is dropped.
    ///
    /// # Errors
    /// 409 when it is a member already.
    pub fn enter(&self, sender: &Sender) -> Result<Member, ApiError> {
        let id = sender.id();
        let mut lists = self.lock();
        if lists.members.contains_key(&id) {
            return Err(ApiError::conflict().with_message("a connection enters only once"));
        }
        lists.members.insert(id, Entry { sender: sender.clone(), rooms: HashSet::new() });
        Ok(Member { rooms: self.clone(), id })
    }

    /// Sends a text to everybody in the audience; gives the number of those in
    /// this process who get it.
    ///
    /// It never waits: what becomes of those who read too slowly is a matter of
    /// [`SlowReader`](crate::SlowReader).
    pub fn broadcast(&self, audience: Audience<'_>, text: impl Into<String>) -> usize {
        self.send(audience, text.into(), None)
    }

    /// As [`broadcast`](Self::broadcast), with one left out.
    pub fn broadcast_except(
        &self,
        audience: Audience<'_>,
        text: impl Into<String>,
        except: SocketId,
    ) -> usize {
        self.send(audience, text.into(), Some(except))
    }

    fn send(&self, audience: Audience<'_>, text: String, except: Option<SocketId>) -> usize {
        let text = Bytes::from(text);
        if let Some(backplane) = &self.inner.backplane {
            backplane.publish(audience, &text, except);
        }
        self.share(audience, &text, except)
    }

    /// Sends a text that another process has published; it is not published
    /// again.
    pub fn deliver(
        &self,
        audience: Audience<'_>,
        text: impl Into<String>,
        except: Option<SocketId>,
    ) {
        self.share(audience, &Bytes::from(text.into()), except);
    }

    fn share(&self, audience: Audience<'_>, text: &Bytes, except: Option<SocketId>) -> usize {
        let lists = self.lock();
        let share = |(id, entry): (&SocketId, &Entry)| {
            Some(*id) != except && entry.sender.share(text).is_ok()
        };
        match audience {
            Audience::All => lists.members.iter().filter(|member| share(*member)).count(),
            Audience::Route(route) => {
                let members = lists.members.iter();
                members.filter(|member| member.1.sender.route() == route && share(*member)).count()
            }
            Audience::Room(room) => {
                let ids = lists.rooms.get(room).into_iter().flatten();
                ids.filter_map(|id| lists.members.get_key_value(id))
                    .filter(|member| share(*member))
                    .count()
            }
        }
    }

    /// The ids of those who are in a room, in no order.
    #[must_use]
    pub fn members(&self, room: &str) -> Vec<SocketId> {
        self.lock().rooms.get(room).into_iter().flatten().copied().collect()
    }

    /// How many members there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.lock().members.len()
    }

    fn lock(&self) -> MutexGuard<'_, Lists> {
        self.inner.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Rooms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lists = self.lock();
        f.debug_struct("Rooms")
            .field("members", &lists.members.len())
            .field("rooms", &lists.rooms.len())
            .finish_non_exhaustive()
    }
}

/// A connection's membership; it leaves all rooms when it is dropped.
#[derive(Debug)]
#[must_use = "the connection leaves when this is dropped"]
pub struct Member {
    rooms: Rooms,
    id: SocketId,
}

impl Member {
    /// Goes into a room; nothing happens if it is there already.
    ///
    /// # Errors
    /// 400 for a name that is too long, 429 for more rooms than one member may
    /// be in, 503 for more than there may be.
    pub fn join(&self, room: &str) -> Result<(), ApiError> {
        let limits = self.rooms.inner.limits;
        if room.len() > limits.name {
            return Err(ApiError::new(400, "the name of a room is too long"));
        }
        let mut lists = self.rooms.lock();
        let Lists { members, rooms } = &mut *lists;
        let Some(entry) = members.get_mut(&self.id) else { return Ok(()) };
        if entry.rooms.contains(room) {
            return Ok(());
        }
        if entry.rooms.len() >= limits.rooms_per_member {
            return Err(ApiError::new(429, "too many rooms for one member"));
        }
        if rooms.len() >= limits.rooms && !rooms.contains_key(room) {
            return Err(ApiError::new(503, "too many rooms"));
        }
        entry.rooms.insert(room.into());
        rooms.entry(room.into()).or_default().insert(self.id);
        Ok(())
    }

    /// Leaves a room; nothing happens if it is not there.
    pub fn leave(&self, room: &str) {
        let mut lists = self.rooms.lock();
        if let Some(entry) = lists.members.get_mut(&self.id) {
            entry.rooms.remove(room);
        }
        lists.remove(room, self.id);
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let mut lists = self.rooms.lock();
        let Some(entry) = lists.members.remove(&self.id) else { return };
        for room in &entry.rooms {
            lists.remove(room, self.id);
        }
    }
}

impl Lists {
    fn remove(&mut self, room: &str, id: SocketId) {
        if let Some(ids) = self.rooms.get_mut(room) {
            ids.remove(&id);
            if ids.is_empty() {
                self.rooms.remove(room);
            }
        }
    }
}
