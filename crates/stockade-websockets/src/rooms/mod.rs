//! [`Rooms`]: groups of connections that receive the same messages.
//!
//! Create one `Rooms` per application and provide it as state. Handlers enter
//! it:
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

mod backplane;
mod everywhere;
mod limits;
mod member;
mod memory;
mod table;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use bytes::Bytes;
use stockade_errors::ApiError;
use stockade_errors::locks::lock;

pub use self::backplane::{
    Audience, Backplane, BackplaneFuture, BroadcastError, DeliveryGap, History, HistoryEntry,
    Order, Presence, PublishReceipt,
};
pub use self::everywhere::WeakRooms;
use self::everywhere::{OnGap, WithIds};
pub use self::limits::RoomLimits;
pub use self::member::Member;
pub use self::memory::{MemoryBackplane, MemoryHub};
use self::table::RoomTable;
use crate::socket::{Sender, SocketId};

/// The members of an application and their rooms. All clones share them.
#[derive(Clone)]
pub struct Rooms {
    inner: Arc<RoomsInner>,
}

struct RoomsInner {
    limits: RoomLimits,
    backplane: Option<Box<dyn Backplane>>,
    /// Called for missed messages.
    on_gap: OnceLock<Box<OnGap>>,
    /// Adds ids to texts.
    with_ids: OnceLock<Box<WithIds>>,
    // Locked to enter, join and leave, and while a broadcast is added to the
    // queues of its members, which never waits.
    table: Mutex<RoomTable>,
}

impl RoomsInner {
    fn backplane(&self) -> Option<&dyn Backplane> {
        self.backplane.as_deref()
    }
}

impl Default for Rooms {
    fn default() -> Self {
        Self::new(RoomLimits::default())
    }
}

impl Rooms {
    /// Creates rooms for this process only.
    #[must_use]
    pub fn new(limits: RoomLimits) -> Self {
        Self::build(limits, None)
    }

    /// Creates rooms that also publish to other processes.
    #[must_use]
    pub fn with_backplane(limits: RoomLimits, backplane: impl Backplane) -> Self {
        Self::build(limits, Some(Box::new(backplane)))
    }

    fn build(limits: RoomLimits, backplane: Option<Box<dyn Backplane>>) -> Self {
        let (on_gap, with_ids) = (OnceLock::new(), OnceLock::new());
        let table = Mutex::default();
        let rooms =
            Self { inner: Arc::new(RoomsInner { limits, backplane, on_gap, with_ids, table }) };
        if let Some(backplane) = rooms.inner.backplane() {
            backplane.attach(&rooms);
        }
        rooms
    }

    /// Adds a connection. It is a member until the [`Member`] is dropped.
    ///
    /// # Errors
    /// 409 if the connection is already a member.
    pub fn enter(&self, sender: &Sender) -> Result<Member, ApiError> {
        let id = sender.id();
        let mut table = self.lock();
        if table.members.contains_key(&id) {
            return Err(ApiError::conflict().with_message("a connection enters only once"));
        }
        table.enter(sender, self.inner.backplane());
        Ok(Member { rooms: self.clone(), id })
    }

    /// Sends a text to the audience. Returns the number of members in this
    /// process that receive it.
    ///
    /// This never waits. [`SlowReader`](crate::SlowReader) determines the
    /// treatment of members that read too slowly.
    pub fn broadcast(&self, audience: Audience<'_>, text: impl Into<String>) -> usize {
        self.send(audience, text.into(), None)
    }

    /// Sends a text like [`broadcast`](Self::broadcast), except to one member.
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
        let published = self.publish(audience, &text, except);
        self.finish(published, audience, &text, except)
    }

    fn publish(
        &self,
        audience: Audience<'_>,
        text: &Bytes,
        except: Option<SocketId>,
    ) -> PublishReceipt {
        let backplane = self.inner.backplane();
        backplane.map_or(PublishReceipt::SENT, |it| it.publish(audience, text, except))
    }

    /// Delivers a message to the members of this process, unless the backplane
    /// does.
    fn finish(
        &self,
        published: PublishReceipt,
        audience: Audience<'_>,
        text: &Bytes,
        except: Option<SocketId>,
    ) -> usize {
        if !published.is_echoed {
            return self.share(audience, text, except);
        }
        match published.error {
            Some(_) => 0,
            None => self.lock().visit(audience, except, &|_| true),
        }
    }

    /// Delivers a text that another process has published, without republishing
    /// it.
    pub fn deliver(
        &self,
        audience: Audience<'_>,
        text: impl Into<String>,
        except: Option<SocketId>,
    ) {
        self.share(audience, &Bytes::from(text.into()), except);
    }

    fn share(&self, audience: Audience<'_>, text: &Bytes, except: Option<SocketId>) -> usize {
        self.lock().visit(audience, except, &|sender| sender.share(text).is_ok())
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
        lock(&self.inner.table)
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

#[cfg(test)]
mod tests;
