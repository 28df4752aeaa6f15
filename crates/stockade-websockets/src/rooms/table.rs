//! [`RoomTable`]: the members and the rooms of a process.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::Arc;

use stockade_core::client::shrink_map;
use stockade_errors::ApiError;

use super::backplane::{Audience, Backplane};
use super::limits::RoomLimits;
use crate::limits::ClientCounts;
use crate::socket::{Sender, SocketId};

#[derive(Default)]
pub(super) struct RoomTable {
    pub(super) members: HashMap<SocketId, MemberEntry>,
    pub(super) rooms: HashMap<Arc<str>, Room>,
    /// The number of existing rooms that each client has created.
    pub(super) made: ClientCounts,
    /// The number of members per route. Empty without a backplane.
    routes: HashMap<Box<str>, usize>,
}

pub(super) struct MemberEntry {
    pub(super) sender: Sender,
    pub(super) rooms: HashSet<Arc<str>>,
}

/// A room with at least one member.
pub(super) struct Room {
    pub(super) members: HashSet<SocketId>,
    /// The client of the first member, if its address is known.
    maker: Option<IpAddr>,
}

impl RoomTable {
    /// Adds a member.
    pub(super) fn enter(&mut self, sender: &Sender, backplane: Option<&dyn Backplane>) {
        if let Some(backplane) = backplane {
            if self.members.is_empty() {
                backplane.opened(Audience::All);
            }
            let of_route = self.routes.entry(sender.route().into()).or_default();
            *of_route += 1;
            if *of_route == 1 {
                backplane.opened(Audience::Route(sender.route()));
            }
        }
        let entry = MemberEntry { sender: sender.clone(), rooms: HashSet::new() };
        self.members.insert(sender.id(), entry);
    }

    /// Calls `visit` for each member of an audience except one. Returns how
    /// many calls returned true.
    pub(super) fn visit(
        &self,
        audience: Audience<'_>,
        except: Option<SocketId>,
        visit: &dyn Fn(&Sender) -> bool,
    ) -> usize {
        let visit =
            |(id, entry): (&SocketId, &MemberEntry)| Some(*id) != except && visit(&entry.sender);
        match audience {
            Audience::All => self.members.iter().filter(|member| visit(*member)).count(),
            Audience::Route(route) => {
                let members = self.members.iter();
                members.filter(|member| member.1.sender.route() == route && visit(*member)).count()
            }
            Audience::Room(room) => {
                let Some(room) = self.rooms.get(room) else { return 0 };
                let members = room.members.iter().filter_map(|id| self.members.get_key_value(id));
                members.filter(|member| visit(*member)).count()
            }
        }
    }

    /// Adds a member to a room.
    pub(super) fn join(
        &mut self,
        name: &Arc<str>,
        id: SocketId,
        backplane: Option<&dyn Backplane>,
    ) {
        if let Some(room) = self.rooms.get_mut(name) {
            room.members.insert(id);
            if let Some(backplane) = backplane {
                if room.members.len() == 1 {
                    backplane.opened(Audience::Room(name));
                }
                backplane.changed(name);
            }
        }
        if let Some(entry) = self.members.get_mut(&id) {
            entry.rooms.insert(Arc::clone(name));
        }
    }

    /// Removes a member.
    pub(super) fn leave_all(&mut self, id: SocketId, backplane: Option<&dyn Backplane>) {
        let Some(entry) = self.members.remove(&id) else { return };
        shrink_map(&mut self.members);
        for room in &entry.rooms {
            self.remove(room, id, backplane);
        }
        let Some(backplane) = backplane else { return };
        let route = entry.sender.route();
        if let Some(of_route) = self.routes.get_mut(route) {
            *of_route -= 1;
            if *of_route == 0 {
                self.routes.remove(route);
                backplane.closed(Audience::Route(route));
            }
        }
        if self.members.is_empty() {
            backplane.closed(Audience::All);
        }
    }

    /// Creates an empty room that counts against `maker`.
    pub(super) fn make(
        &mut self,
        name: &str,
        maker: Option<IpAddr>,
        limits: RoomLimits,
    ) -> Result<Arc<str>, ApiError> {
        if maker.is_some_and(|client| self.made.of(client) >= limits.rooms_per_client) {
            return Err(ApiError::new(429, "too many rooms for one client"));
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

    /// Removes a member from a room, and the room if it is then empty.
    pub(super) fn remove(&mut self, name: &str, id: SocketId, backplane: Option<&dyn Backplane>) {
        let Some(room) = self.rooms.get_mut(name) else { return };
        if let (true, Some(backplane)) = (room.members.remove(&id), backplane) {
            backplane.changed(name);
        }
        if !room.members.is_empty() {
            return;
        }
        let maker = room.maker;
        self.rooms.remove(name);
        if let Some(backplane) = backplane {
            backplane.closed(Audience::Room(name));
        }
        shrink_map(&mut self.rooms);
        if let Some(client) = maker {
            self.made.remove(client);
        }
    }
}
