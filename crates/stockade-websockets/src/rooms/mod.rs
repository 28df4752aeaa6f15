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
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use stockade_core::__internal::shrink_map;
use stockade_errors::ApiError;

use crate::limits::ClientCounts;
use crate::options::setters;
use crate::socket::{Sender, SocketId};

/// The members of an application and the rooms in which they are. Clones are
/// the same.
#[derive(Clone)]
pub struct Rooms {
    inner: Arc<RoomsInner>,
}

struct RoomsInner {
    limits: RoomLimits,
    backplane: Option<Box<dyn Backplane>>,
    // Locked to enter, join, leave and to hand a broadcast to the queues, which
    // never waits.
    table: Mutex<RoomTable>,
}

#[derive(Default)]
struct RoomTable {
    members: HashMap<SocketId, MemberEntry>,
    rooms: HashMap<Arc<str>, Room>,
    /// The number of rooms that each client has made and that still exist.
    made: ClientCounts,
}

struct MemberEntry {
    sender: Sender,
    rooms: HashSet<Arc<str>>,
}

/// A room with somebody in it.
struct Room {
    members: HashSet<SocketId>,
    /// The client whose member came first, if its address is known.
    maker: Option<IpAddr>,
}

/// How much [`Rooms`] may hold.
///
/// A room counts against the client whose member came first, until it is empty.
/// So with the defaults fifty clients have to work together to fill the table.
///
/// ```
/// use stockade_websockets::{RoomLimits, Rooms};
///
/// let rooms = Rooms::new(RoomLimits::new().rooms(200_000).rooms_per_client(2_000));
/// assert_eq!(rooms.count(), 0);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct RoomLimits {
    /// Rooms with somebody in them. Default: 50,000, which take up to 16 MB with
    /// names of 20 bytes and 30 MB with names of 256 bytes.
    pub rooms: usize,
    /// Rooms that one client has made, by its address (a network of 64 bits in
    /// IPv6). Clients without an address are not counted apart. Default: 1,000.
    pub rooms_per_client: usize,
    /// Rooms of one member. Default: 100.
    pub rooms_per_member: usize,
    /// Length of the name of a room, in bytes. Default: 256.
    pub name: usize,
}

impl Default for RoomLimits {
    fn default() -> Self {
        Self { rooms: 50_000, rooms_per_client: 1_000, rooms_per_member: 100, name: 256 }
    }
}

impl RoomLimits {
    /// Returns the defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        rooms: usize;
        rooms_per_client: usize;
        rooms_per_member: usize;
        name: usize, in bytes;
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
        Self { inner: Arc::new(RoomsInner { limits, backplane, table: Mutex::default() }) }
    }

    /// Takes in a connection, until what this gives is dropped.
    ///
    /// # Errors
    /// 409 when it is a member already.
    pub fn enter(&self, sender: &Sender) -> Result<Member, ApiError> {
        let id = sender.id();
        let mut table = self.lock();
        if table.members.contains_key(&id) {
            return Err(ApiError::conflict().with_message("a connection enters only once"));
        }
        table.members.insert(id, MemberEntry { sender: sender.clone(), rooms: HashSet::new() });
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
        let table = self.lock();
        let share = |(id, entry): (&SocketId, &MemberEntry)| {
            Some(*id) != except && entry.sender.share(text).is_ok()
        };
        match audience {
            Audience::All => table.members.iter().filter(|member| share(*member)).count(),
            Audience::Route(route) => {
                let members = table.members.iter();
                members.filter(|member| member.1.sender.route() == route && share(*member)).count()
            }
            Audience::Room(room) => {
                let ids = table.rooms.get(room).into_iter().flat_map(|room| &room.members);
                ids.filter_map(|id| table.members.get_key_value(id))
                    .filter(|member| share(*member))
                    .count()
            }
        }
    }

    /// The ids of those who are in a room, in no order.
    #[must_use]
    pub fn members(&self, room: &str) -> Vec<SocketId> {
        let table = self.lock();
        table.rooms.get(room).into_iter().flat_map(|room| &room.members).copied().collect()
    }

    /// How many members there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.lock().members.len()
    }

    fn lock(&self) -> MutexGuard<'_, RoomTable> {
        self.inner.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Rooms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let table = self.lock();
        f.debug_struct("Rooms")
            .field("members", &table.members.len())
            .field("rooms", &table.rooms.len())
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
    /// be in or one client may have made, 503 for more than there may be.
    pub fn join(&self, room: &str) -> Result<(), ApiError> {
        let limits = self.rooms.inner.limits;
        if room.len() > limits.name {
            return Err(ApiError::new(400, "the name of a room is too long"));
        }
        let mut table = self.rooms.lock();
        let Some(entry) = table.members.get(&self.id) else { return Ok(()) };
        if entry.rooms.contains(room) {
            return Ok(());
        }
        if entry.rooms.len() >= limits.rooms_per_member {
            return Err(ApiError::new(429, "too many rooms for one member"));
        }
        let maker = entry.sender.client();
        let known = table.rooms.get_key_value(room).map(|(name, _)| Arc::clone(name));
        let name = known.map_or_else(|| table.make(room, maker, limits), Ok)?;
        if let Some(room) = table.rooms.get_mut(&name) {
            room.members.insert(self.id);
        }
        if let Some(entry) = table.members.get_mut(&self.id) {
            entry.rooms.insert(name);
        }
        Ok(())
    }

    /// Leaves a room; nothing happens if it is not there.
    pub fn leave(&self, room: &str) {
        let mut table = self.rooms.lock();
        if let Some(entry) = table.members.get_mut(&self.id) {
            entry.rooms.remove(room);
        }
        table.remove(room, self.id);
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let mut table = self.rooms.lock();
        let Some(entry) = table.members.remove(&self.id) else { return };
        shrink_map(&mut table.members);
        for room in &entry.rooms {
            table.remove(room, self.id);
        }
    }
}

impl RoomTable {
    /// Makes an empty room that counts against `maker`.
    fn make(
        &mut self,
        name: &str,
        maker: Option<IpAddr>,
        limits: RoomLimits,
    ) -> Result<Arc<str>, ApiError> {
        if maker.is_some_and(|client| self.made.of(client) >= limits.rooms_per_client) {
            return Err(ApiError::new(429, "too many rooms of one client"));
        }
        if self.rooms.len() >= limits.rooms {
            return Err(ApiError::new(503, "too many rooms"));
        }
        if let Some(client) = maker {
            self.made.add(client);
        }
        let name: Arc<str> = name.into();
        self.rooms.insert(Arc::clone(&name), Room { members: HashSet::new(), maker });
        Ok(name)
    }

    /// Takes a member out of a room, which ends when nobody is left.
    fn remove(&mut self, name: &str, id: SocketId) {
        let Some(room) = self.rooms.get_mut(name) else { return };
        room.members.remove(&id);
        if !room.members.is_empty() {
            return;
        }
        let maker = room.maker;
        self.rooms.remove(name);
        shrink_map(&mut self.rooms);
        if let Some(client) = maker {
            self.made.remove(client);
        }
    }
}

#[cfg(test)]
mod tests;
