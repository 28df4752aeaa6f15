//! [`Member`]: one connection in the rooms.

use std::sync::Arc;

use stockade_errors::ApiError;

use super::{Audience, Rooms};
use crate::socket::SocketId;

/// The membership of a connection. Dropping it leaves all rooms.
#[derive(Debug)]
#[must_use = "the connection leaves when this is dropped"]
pub struct Member {
    pub(super) rooms: Rooms,
    pub(super) id: SocketId,
}

impl Member {
    /// Joins a room. Does nothing if the member is already in it.
    ///
    /// # Errors
    /// 400 if the name is too long, 429 if the member is in too many rooms or
    /// its client has created too many, 503 if there are too many rooms in
    /// total. See [`RoomLimits`](super::RoomLimits).
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
        let backplane = self.rooms.inner.backplane();
        let name = match known {
            Some(name) => name,
            None => table.make(room, maker, limits)?,
        };
        table.join(&name, self.id, backplane);
        Ok(())
    }

    /// Waits until this process receives messages that other processes send to
    /// a room. Later broadcasts are not missed. Returns immediately without a
    /// [`Backplane`](super::Backplane).
    ///
    /// # Errors
    /// 503 if the backplane does not subscribe to the room in time; it
    /// continues to try.
    pub async fn ready(&self, room: &str) -> Result<(), ApiError> {
        match self.rooms.inner.backplane() {
            Some(backplane) => backplane.ready(Audience::Room(room)).await,
            None => Ok(()),
        }
    }

    /// Leaves a room. Does nothing if the member is not in it.
    pub fn leave(&self, room: &str) {
        let mut table = self.rooms.lock();
        if let Some(entry) = table.members.get_mut(&self.id) {
            entry.rooms.remove(room);
        }
        table.remove(room, self.id, self.rooms.inner.backplane());
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let mut table = self.rooms.lock();
        table.leave_all(self.id, self.rooms.inner.backplane());
    }
}
