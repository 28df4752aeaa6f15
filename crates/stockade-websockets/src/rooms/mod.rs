//! [`Rooms`]: connections in named rooms, and messages to all in a room.
//!
//! An application makes one `Rooms` and provides it as state; its handlers enter:
//!
//! ```
//! use stockade::ApiError;
//! use stockade::extract::{Path, State};
//! use stockade::websockets::{Audience, Rooms, WebSocket};
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
use stockade_errors::__internal::setters;
use stockade_errors::ApiError;

use crate::limits::ClientCounts;
use crate::socket::{Sender, SocketId};

/// The members of an application and the rooms that they are in. All clones share
/// them.
#[derive(Clone)]
pub struct Rooms {
    inner: Arc<RoomsInner>,
}

struct RoomsInner {
    limits: RoomLimits,
    backplane: Option<Box<dyn Backplane>>,
    // Locked to enter, join and leave, and while a broadcast is put into the
    // queues of its members, which never waits.
    table: Mutex<RoomTable>,
}

#[derive(Default)]
struct RoomTable {
    members: HashMap<SocketId, MemberEntry>,
    rooms: HashMap<Arc<str>, Room>,
    /// The number of rooms that each client has made, of those that still exist.
    made: ClientCounts,
}

struct MemberEntry {
    sender: Sender,
    rooms: HashSet<Arc<str>>,
}

/// A room with at least one member.
struct Room {
    members: HashSet<SocketId>,
    /// The client whose member came first, if its address is known.
    maker: Option<IpAddr>,
}

/// The limits of [`Rooms`].
///
/// A room counts against the client whose member made it, until the room is
/// empty. So with the defaults it takes fifty clients to fill the table.
///
/// ```
/// use stockade::websockets::{RoomLimits, Rooms};
///
/// let rooms = Rooms::new(RoomLimits::new().rooms(200_000).rooms_per_client(2_000));
/// assert_eq!(rooms.count(), 0);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct RoomLimits {
    /// The number of rooms in all. Default: 50,000, which take up to 16 MB with
    /// names of 20 bytes and 30 MB with names of 256 bytes.
    pub rooms: usize,
    /// The number of rooms that one client has made. A client is an address, or a
    /// network of 64 bits in IPv6. Rooms of clients without an address count only
    /// in all. Default: 1,000.
    pub rooms_per_client: usize,
    /// The number of rooms that one member is in. Default: 100.
    pub rooms_per_member: usize,
    /// The length of the name of a room, in bytes. Default: 256.
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
        /// Sets [`rooms`](Self#structfield.rooms).
        rooms: usize;

        /// Sets [`rooms_per_client`](Self#structfield.rooms_per_client).
        rooms_per_client: usize;

        /// Sets [`rooms_per_member`](Self#structfield.rooms_per_member).
        rooms_per_member: usize;

        /// Sets [`name`](Self#structfield.name), in bytes.
        name: usize;
    }
}

/// The receivers of a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Audience<'a> {
    /// Every member.
    All,
    /// Every member of the room with this name.
    Room(&'a str),
    /// Every member of a route, by its pattern, such as `/chat/:room`.
    Route(&'a str),
}

/// The transport of broadcasts between the processes of an application.
///
/// An implementation calls [`Rooms::deliver`] for each message that another
/// process publishes. [`Rooms::members`] and [`Rooms::count`] know only this
/// process.
pub trait Backplane: Send + Sync + 'static {
    /// Publishes a message to the other processes. This must not block: a message
    /// that cannot be sent now is dropped, or queued up to a bound.
    fn publish(&self, audience: Audience<'_>, text: &Bytes, except: Option<SocketId>);
}

impl Default for Rooms {
    fn default() -> Self {
        Self::new(RoomLimits::default())
    }
}

impl Rooms {
    /// Makes rooms of this process alone.
    #[must_use]
    pub fn new(limits: RoomLimits) -> Self {
        Self::build(limits, None)
    }

    /// Makes rooms that also publish to other processes.
    #[must_use]
    pub fn with_backplane(limits: RoomLimits, backplane: impl Backplane) -> Self {
        Self::build(limits, Some(Box::new(backplane)))
    }

    fn build(limits: RoomLimits, backplane: Option<Box<dyn Backplane>>) -> Self {
        Self { inner: Arc::new(RoomsInner { limits, backplane, table: Mutex::default() }) }
    }

    /// Adds a connection, which is a member until the [`Member`] is dropped.
    ///
    /// # Errors
    /// 409 when the connection is a member already.
    pub fn enter(&self, sender: &Sender) -> Result<Member, ApiError> {
        let id = sender.id();
        let mut table = self.lock();
        if table.members.contains_key(&id) {
            return Err(ApiError::conflict().with_message("a connection enters only once"));
        }
        table.members.insert(id, MemberEntry { sender: sender.clone(), rooms: HashSet::new() });
        Ok(Member { rooms: self.clone(), id })
    }

    /// Sends a text to the audience; returns the number of members in this process
    /// that get it.
    ///
    /// This never waits. [`SlowReader`](crate::SlowReader) decides about members
    /// that read too slowly.
    pub fn broadcast(&self, audience: Audience<'_>, text: impl Into<String>) -> usize {
        self.send(audience, text.into(), None)
    }

    /// Sends a text as [`broadcast`](Self::broadcast) does, except to one member.
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

    /// Sends a text that another process has published, without publishing it again.
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

    /// Returns the ids of the members of a room, in no order.
    #[must_use]
    pub fn members(&self, room: &str) -> Vec<SocketId> {
        let table = self.lock();
        table.rooms.get(room).into_iter().flat_map(|room| &room.members).copied().collect()
    }

    /// Returns the number of members.
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

/// The membership of a connection, which leaves all rooms when this is dropped.
#[derive(Debug)]
#[must_use = "the connection leaves when this is dropped"]
pub struct Member {
    rooms: Rooms,
    id: SocketId,
}

impl Member {
    /// Joins a room; does nothing if the member is in it already.
    ///
    /// # Errors
    /// 400 when the name is too long, 429 when the member is in too many rooms or
    /// its client has made too many, 503 when there are too many rooms in all. See
    /// [`RoomLimits`].
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

    /// Leaves a room; does nothing if the member is not in it.
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

    /// Removes a member from a room, and the room if it is empty then.
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
