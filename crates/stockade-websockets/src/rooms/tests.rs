//! Tests the room limits: which client they count against, when they are
//! released, and memory use.

use super::*;
use crate::loopback::Loopback;
use crate::options::WebSocketOptions;
use crate::socket::{DriverEnd, WebSocket, pair};

/// A client's connection without a running driver.
fn connection(client: Option<&str>) -> (WebSocket, DriverEnd) {
    let client = client.map(|client| client.parse().unwrap());
    let id = SocketId::random().unwrap();
    pair(id, &Arc::new(WebSocketOptions::new()), "/chat".into(), None, client)
}

/// A membership and the connection it needs.
struct Joined {
    member: Member,
    _connection: (WebSocket, DriverEnd),
}

fn enter(rooms: &Rooms, client: Option<&str>) -> Joined {
    let connection = connection(client);
    let member = rooms.enter(connection.0.sender()).unwrap();
    Joined { member, _connection: connection }
}

/// Returns 200, or the status of the error if the room cannot be joined.
fn join(joined: &Joined, room: &str) -> u16 {
    joined.member.join(room).map_or_else(|error| error.status(), |()| 200)
}

#[test]
fn limits_the_rooms_of_a_client() {
    let rooms = Rooms::new(RoomLimits::new().rooms(5).rooms_per_client(2).rooms_per_member(4));
    let one = enter(&rooms, Some("2001:db8::1"));
    let neighbour = enter(&rooms, Some("2001:db8::2"));
    assert_eq!([join(&one, "a"), join(&neighbour, "b"), join(&one, "c")], [200, 200, 429]);
    assert_eq!(join(&neighbour, "a"), 200, "an existing room can be joined");

    let other = enter(&rooms, Some("192.0.2.1"));
    assert_eq!([join(&other, "a"), join(&other, "c"), join(&other, "d")], [200; 3]);
    let unknown = enter(&rooms, None);
    assert_eq!([join(&unknown, "e"), join(&unknown, "f")], [200, 503]);

    // The room counts until it is empty, whichever members remain.
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
fn one_address_can_use_a_fiftieth_of_the_rooms() {
    let rooms = Rooms::default();
    let mut made = 0;
    let sockets: Vec<Joined> = (0..100).map(|_| enter(&rooms, Some("192.0.2.1"))).collect();
    for (number, socket) in sockets.iter().enumerate() {
        made += (0..100).filter(|room| join(socket, &format!("{number}/{room}")) == 200).count();
    }
    assert!(made * 50 <= RoomLimits::default().rooms, "{made} rooms");
    assert_eq!(join(&enter(&rooms, Some("192.0.2.2")), "mine"), 200);
}

/// Returns the memory in bytes of a full table of rooms with names of this
/// length.
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
fn a_full_table_uses_the_documented_memory() {
    let (short, long) = (full_table(17), full_table(253));
    assert!(short < 16_000_000, "{short} bytes");
    assert!(long < 30_000_000, "{long} bytes");
}

/// Creates rooms on one hub, each with members in the room `a`.
fn nodes(order: Order, members: usize) -> (Vec<Rooms>, Vec<(Member, WebSocket, Loopback)>) {
    let hub = MemoryHub::new(order);
    let limits = RoomLimits::new();
    let nodes: Vec<Rooms> =
        (0..3).map(|_| Rooms::with_backplane(limits, hub.backplane())).collect();
    let mut joined = Vec::new();
    for rooms in &nodes {
        for _ in 0..members {
            let (socket, client) = Loopback::open("/chat").unwrap();
            let member = rooms.enter(socket.sender()).unwrap();
            member.join("a").unwrap();
            joined.push((member, socket, client));
        }
    }
    (nodes, joined)
}

#[tokio::test]
async fn a_hub_joins_the_rooms_of_several_processes() {
    for order in [Order::Local, Order::Room] {
        let (nodes, mut joined) = nodes(order, 2);
        joined[0].0.ready("a").await.unwrap();
        let except = joined[5].1.id();
        assert_eq!(nodes[0].broadcast(Audience::Room("a"), "1"), 2);
        assert_eq!(nodes[1].try_broadcast(Audience::Route("/chat"), "2"), Ok(2));
        assert_eq!(nodes[2].broadcast_except(Audience::All, "3", except), 1);
        assert_eq!(nodes[2].broadcast(Audience::Room("b"), "nobody"), 0);
        nodes[0].broadcast(Audience::All, "4");
        for (number, (_, _, client)) in joined.iter_mut().enumerate() {
            let mut expected = vec!["1", "2", "3", "4"];
            expected.retain(|it| number < 5 || *it != "3");
            for text in expected {
                assert_eq!(client.next().await.as_deref(), Some(text), "{number}");
            }
        }
        assert_eq!(nodes[0].count_everywhere("a").await.unwrap(), 6);
        joined.truncate(3);
        let present = nodes[1].members_everywhere("a").await.unwrap();
        assert_eq!((present.members.len(), present.stale_nodes), (3, 0));
        assert_eq!(nodes[0].since("a", "").await.unwrap(), History::default());
    }
}

/// Records the calls it receives.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    fn add(&self, note: String) {
        self.0.lock().unwrap().push(note);
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl Backplane for Notes {
    fn publish(&self, _: Audience<'_>, text: &Bytes, _: Option<SocketId>) -> PublishReceipt {
        if text.len() > 3 {
            return PublishReceipt::dropped(Order::Room, BroadcastError::TooLarge);
        }
        PublishReceipt::dropped(Order::Local, BroadcastError::Overloaded)
    }

    fn opened(&self, audience: Audience<'_>) {
        self.add(format!("{audience} opened"));
    }

    fn closed(&self, audience: Audience<'_>) {
        self.add(format!("{audience} closed"));
    }

    fn changed(&self, room: &str) {
        self.add(format!("{room} changed"));
    }
}

#[test]
fn a_backplane_learns_of_the_first_and_last_member() {
    let notes = Notes::default();
    let rooms = Rooms::with_backplane(RoomLimits::new(), notes.clone());
    let first = enter(&rooms, None);
    let second = enter(&rooms, None);
    assert_eq!(notes.take(), ["all members opened", "the route \"/chat\" opened"]);
    assert_eq!([join(&first, "a"), join(&second, "a"), join(&second, "a")], [200; 3]);
    assert_eq!(notes.take(), ["the room \"a\" opened", "a changed", "a changed"]);
    first.member.leave("a");
    first.member.leave("a");
    drop(first);
    assert_eq!(notes.take(), ["a changed"]);
    drop(second);
    let route = "the route \"/chat\" closed";
    assert_eq!(notes.take(), ["a changed", "the room \"a\" closed", route, "all members closed"]);
}

#[test]
fn try_broadcast_reports_a_dropped_message() {
    let rooms = Rooms::with_backplane(RoomLimits::new(), Notes::default());
    let _member = enter(&rooms, None);
    assert_eq!(rooms.broadcast(Audience::All, "abc"), 1, "only members of this process receive it");
    assert_eq!(rooms.broadcast(Audience::All, "abcd"), 0, "no member receives it");
    let outcome = |text: &str| rooms.try_broadcast(Audience::All, text).unwrap_err();
    assert_eq!(ApiError::from(outcome("abc")).status(), 503);
    assert_eq!(ApiError::from(outcome("abcd")).status(), 413);
}

#[tokio::test]
async fn sends_gaps_and_ids_as_configured() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let gaps = Arc::clone(&told);
    let rooms = Rooms::default()
        .on_gap(move |gap| gaps.lock().unwrap().push((gap.audience.to_string(), gap.missed)))
        .with_ids(|id, text| format!("{id}: {text}"));
    rooms.report_gap(Audience::Room("a"), Some(3));
    rooms.report_gap(Audience::All, None);
    let expected = [("the room \"a\"", Some(3)), ("all members", None)];
    let expected = expected.map(|(audience, missed)| (audience.to_owned(), missed));
    assert_eq!(*told.lock().unwrap(), expected);

    let (socket, mut client) = Loopback::open("/chat").unwrap();
    let _member = rooms.enter(socket.sender()).unwrap();
    rooms.deliver_with_id(Audience::All, "e-1", "hello", None);
    assert_eq!(client.next().await.as_deref(), Some("e-1: hello"));
    assert_eq!(socket.id().to_string().parse(), Ok(socket.id()));
    assert!(rooms.downgrade().upgrade().is_some());
}
