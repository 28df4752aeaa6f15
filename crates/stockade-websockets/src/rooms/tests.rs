//! The limits of rooms: whose they are, when they are free again, their memory.

use super::*;
use crate::options::WebSocketOptions;
use crate::socket::{DriverEnd, WebSocket, pair};

/// A connection of a client that nobody drives.
fn connection(client: Option<&str>) -> (WebSocket, DriverEnd) {
    let client = client.map(|client| client.parse().unwrap());
    let id = SocketId::random().unwrap();
    pair(id, &Arc::new(WebSocketOptions::new()), "/chat".into(), None, client)
}

/// A membership with the connection that it needs.
struct Joined {
    member: Member,
    _connection: (WebSocket, DriverEnd),
}

fn enter(rooms: &Rooms, client: Option<&str>) -> Joined {
    let connection = connection(client);
    let member = rooms.enter(connection.0.sender()).unwrap();
    Joined { member, _connection: connection }
}

/// 200, or why the room cannot be joined.
fn join(joined: &Joined, room: &str) -> u16 {
    joined.member.join(room).map_or_else(|error| error.status(), |()| 200)
}

#[test]
fn a_client_makes_so_many_rooms_and_others_go_on() {
    let rooms = Rooms::new(RoomLimits::new().rooms(5).rooms_per_client(2).rooms_per_member(4));
    let one = enter(&rooms, Some("2001:db8::1"));
    let neighbour = enter(&rooms, Some("2001:db8::2"));
    assert_eq!([join(&one, "a"), join(&neighbour, "b"), join(&one, "c")], [200, 200, 429]);
    assert_eq!(join(&neighbour, "a"), 200, "what exists can be joined");

    let other = enter(&rooms, Some("192.0.2.1"));
    assert_eq!([join(&other, "a"), join(&other, "c"), join(&other, "d")], [200; 3]);
    let unknown = enter(&rooms, None);
    assert_eq!([join(&unknown, "e"), join(&unknown, "f")], [200, 503]);

    // The room counts until it is empty, with any members left.
    one.member.leave("a");
    assert_eq!(join(&one, "f"), 429);
    neighbour.member.leave("a");
    assert_eq!(join(&one, "f"), 429);
    other.member.leave("a");
    assert_eq!(join(&one, "f"), 200);
    drop((one, neighbour, other));
    assert_eq!(rooms.lock().made.0.len(), 0);
    drop(unknown);
    let lists = rooms.lock();
    assert_eq!((lists.rooms.len(), lists.members.len()), (0, 0));
}

#[test]
fn one_address_takes_a_fiftieth_of_the_rooms_at_most() {
    let rooms = Rooms::default();
    let mut made = 0;
    let sockets: Vec<Joined> = (0..100).map(|_| enter(&rooms, Some("192.0.2.1"))).collect();
    for (number, socket) in sockets.iter().enumerate() {
        made += (0..100).filter(|room| join(socket, &format!("{number}/{room}")) == 200).count();
    }
    assert!(made * 50 <= RoomLimits::default().rooms, "{made} rooms");
    assert_eq!(join(&enter(&rooms, Some("192.0.2.2")), "mine"), 200);
}

/// The bytes that a full table of rooms with names of this length takes.
fn full_table(name: usize) -> u64 {
    let limits = RoomLimits::new();
    let mut kept = None;
    let counted = allocation_counter::measure(|| {
        let rooms = Rooms::new(limits);
        let sockets: Vec<Joined> = (0..limits.rooms / limits.rooms_per_member)
            .map(|number| enter(&rooms, Some(&format!("192.0.2.{}", number / 10))))
            .collect();
        for (number, socket) in sockets.iter().enumerate() {
            for room in 0..limits.rooms_per_member {
                assert_eq!(join(socket, &format!("{number:0>name$}{room:03}")), 200);
            }
        }
        kept = Some((rooms, sockets));
    });
    let count = kept.map_or(0, |(rooms, _)| rooms.lock().rooms.len());
    assert_eq!(count, limits.rooms);
    counted.bytes_max
}

#[test]
fn a_full_table_takes_as_much_as_the_documentation_says() {
    let (short, long) = (full_table(17), full_table(253));
    assert!(short < 16_000_000, "{short} bytes");
    assert!(long < 30_000_000, "{long} bytes");
}
