//! [`RoomLimits`].

use stockade_errors::__internal::setters;

/// The limits of [`Rooms`](super::Rooms).
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
