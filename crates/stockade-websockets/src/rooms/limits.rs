//! [`RoomLimits`]: the limits of the rooms of a process.

use stockade_errors::__internal::setters;

/// The limits of [`Rooms`](super::Rooms).
///
/// A room counts against the client that created it until the room is empty.
/// With the defaults, at least fifty clients are needed to fill the table.
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
    /// The total number of rooms. Default: 50,000, which use up to 16 MB with
    /// names of 20 bytes and 30 MB with names of 256 bytes.
    pub rooms: usize,
    /// The number of rooms that one client may create. A client is an IPv4
    /// address or a 64-bit IPv6 network. Rooms of clients without an address
    /// count only toward the total. Default: 1,000.
    pub rooms_per_client: usize,
    /// The number of rooms that one member may be in. Default: 100.
    pub rooms_per_member: usize,
    /// The length of a room name, in bytes. Default: 256.
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
