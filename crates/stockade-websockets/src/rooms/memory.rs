//! [`MemoryHub`]: a backplane between several `Rooms` in one process, for
//! tests.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;
use stockade_errors::locks::lock;

use super::backplane::{Audience, Backplane, BackplaneFuture, Order, Presence, PublishReceipt};
use super::{Rooms, WeakRooms};
use crate::socket::SocketId;

/// Connects several [`Rooms`] in one process, as Redis connects several
/// processes. Use it to test a program that will run in many processes.
///
/// It loses no messages and stores no history.
///
/// ```
/// use stockade::websockets::{Audience, MemoryHub, RoomLimits, Rooms};
///
/// let hub = MemoryHub::default();
/// let [here, there] =
///     [(), ()].map(|()| Rooms::with_backplane(RoomLimits::new(), hub.backplane()));
/// // Reaches the members of both.
/// here.broadcast(Audience::All, "hello");
/// # drop(there);
/// ```
#[derive(Clone, Default)]
pub struct MemoryHub {
    order: Order,
    nodes: Arc<Mutex<Nodes>>,
}

#[derive(Default)]
struct Nodes {
    next: usize,
    rooms: Vec<(usize, WeakRooms)>,
}

/// The backplane of one [`Rooms`] on a [`MemoryHub`].
pub struct MemoryBackplane {
    hub: MemoryHub,
    node: usize,
}

impl MemoryHub {
    /// Creates a hub with this message order.
    #[must_use]
    pub fn new(order: Order) -> Self {
        Self { order, nodes: Arc::default() }
    }

    /// Creates the backplane for one `Rooms`. Each `Rooms` needs a separate
    /// backplane.
    #[must_use]
    pub fn backplane(&self) -> MemoryBackplane {
        let mut nodes = self.lock();
        nodes.next += 1;
        MemoryBackplane { hub: self.clone(), node: nodes.next }
    }

    fn lock(&self) -> MutexGuard<'_, Nodes> {
        lock(&self.nodes)
    }
}

impl MemoryBackplane {
    fn others(&self) -> Vec<Rooms> {
        let nodes = self.hub.lock();
        let others = nodes.rooms.iter().filter(|(node, _)| *node != self.node);
        others.filter_map(|(_, rooms)| rooms.upgrade()).collect()
    }
}

impl Backplane for MemoryBackplane {
    fn attach(&self, rooms: &Rooms) {
        self.hub.lock().rooms.push((self.node, rooms.downgrade()));
    }

    fn publish(
        &self,
        audience: Audience<'_>,
        text: &Bytes,
        except: Option<SocketId>,
    ) -> PublishReceipt {
        // If this holds the last handle of some rooms, they are dropped after
        // the lock is released.
        let mut reached = Vec::new();
        // Locked throughout, because all members must receive all messages in
        // one order.
        let nodes = self.hub.lock();
        for (node, rooms) in &nodes.rooms {
            let is_echo = *node == self.node && self.hub.order == Order::Room;
            if let Some(rooms) = rooms.upgrade()
                && (is_echo || *node != self.node)
            {
                rooms.share(audience, text, except);
                reached.push(rooms);
            }
        }
        drop(nodes);
        drop(reached);
        match self.hub.order {
            Order::Local => PublishReceipt::SENT,
            Order::Room => PublishReceipt::ECHOED,
        }
    }

    fn presence<'a>(&'a self, room: &'a str) -> BackplaneFuture<'a, Presence> {
        let others = self.others();
        let members = others.iter().flat_map(|rooms| rooms.members(room)).collect();
        Box::pin(std::future::ready(Ok(Presence::new(members, 0))))
    }
}

impl Drop for MemoryBackplane {
    fn drop(&mut self) {
        self.hub.lock().rooms.retain(|(node, _)| *node != self.node);
    }
}

impl fmt::Debug for MemoryHub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nodes = self.lock().rooms.len();
        f.debug_struct("MemoryHub").field("order", &self.order).field("nodes", &nodes).finish()
    }
}

impl fmt::Debug for MemoryBackplane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryBackplane").field("hub", &self.hub).finish_non_exhaustive()
    }
}
