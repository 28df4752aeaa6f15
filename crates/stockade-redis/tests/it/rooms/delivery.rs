//! Tests delivery without faults: the guarantees of a backplane, its bounds and
//! its cleanup.

use std::time::Duration;

use stockade_conformance as conformance;
use stockade_redis::RedisRooms;
use stockade_websockets::{Audience, BroadcastError, Order};

use super::{Process, once, until};
use crate::engine::Engine;
use crate::stores::linked;

async fn promises(order: Order) {
    let engine = Engine::start();
    conformance::backplane(order, || linked(&engine.url()).rooms().order(order)).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn passes_the_conformance_suite() {
    promises(Order::Local).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn passes_the_conformance_suite_with_order_per_room() {
    promises(Order::Room).await;
}

/// Uses few messages, because a busy machine may legitimately lose one.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn audiences_receive_messages_at_most_once() {
    let engine = Engine::start();
    let [here, there] =
        [(), ()].map(|()| Process::open_with(&engine.url(), RedisRooms::at_most_once));
    let (one, two, other) =
        (here.join("{a} b").await, there.join("{a} b").await, there.join("b").await);
    for client in [&one, &two, &other] {
        client.member.ready("{a} b").await.unwrap();
    }
    here.rooms.broadcast_except(Audience::Room("{a} b"), "1", two.socket.id());
    here.rooms.broadcast(Audience::Room("b"), "2");
    // The channels of the routes and of all members are subscribed soon, but no
    // call waits for them.
    assert!(
        until(|| {
            here.rooms.broadcast(Audience::All, "all");
            std::thread::sleep(Duration::from_millis(1));
            [&two, &other].iter().all(|it| it.texts().contains(&"all".to_owned()))
        })
        .await
    );
    assert!(
        until(|| {
            there.rooms.broadcast(Audience::Route("/chat"), "route");
            std::thread::sleep(Duration::from_millis(1));
            one.texts().contains(&"route".to_owned())
        })
        .await
    );
    here.rooms.broadcast(Audience::Room("{a} b"), "κόσμε\n{}");
    two.has("κόσμε\n{}").await;
    other.has("2").await;
    assert!(!two.texts().contains(&"1".to_owned()));
    assert!(!other.texts().contains(&"1".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn a_client_that_reconnects_late_learns_of_the_gap() {
    let engine = Engine::start();
    let [mut here, there] =
        [(), ()].map(|()| Process::open_with(&engine.url(), |rooms| rooms.order(Order::Room)));
    here.rooms = here.rooms.with_ids(|id, text| format!("{id} {text}"));
    let client = here.join("lobby").await;
    for number in 0..60 {
        there.rooms.broadcast(Audience::Room("lobby"), number.to_string());
    }
    assert!(until(|| client.texts().len() == 60).await);
    let texts = client.texts();
    let id = texts[49].split(' ').next().unwrap();
    let missed = here.rooms.since("lobby", id).await.unwrap();
    assert_eq!((missed.is_complete, missed.messages.len()), (true, 10));
    for number in 0..1_000 {
        there.rooms.broadcast(Audience::Room("lobby"), number.to_string());
    }
    assert!(until(|| client.texts().len() == 1_060).await);
    let late = here.rooms.since("lobby", id).await.unwrap();
    let kept = late.messages.len();
    assert!(!late.is_complete && (100..=300).contains(&kept), "{kept} are kept");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn messages_that_redis_cannot_accept_are_errors() {
    let mut engine = Engine::start();
    let [here, there] = [(), ()].map(|()| Process::open(&engine.url()));
    let (own, other) = (here.join("lobby").await, there.join("lobby").await);
    let room = Audience::Room("lobby");
    let large = "x".repeat(65_537);
    assert_eq!(here.rooms.try_broadcast(room, large.as_str()), Err(BroadcastError::TooLarge));
    assert_eq!(here.rooms.broadcast(room, &large[1..]), 1);
    other.has(&large[1..]).await;

    engine.kill();
    let mut taken = 0;
    while here.rooms.try_broadcast(room, taken.to_string()).is_ok() {
        taken += 1;
        assert!(taken <= 5_000);
    }
    assert!((4_000..=4_096 + 128).contains(&taken), "{taken} fit into the queue");
    assert_eq!(here.rooms.broadcast(room, "dropped"), 1, "only members of this process receive it");
    own.has("dropped").await;
    engine.restart();
    // The messages waited for the server, and none is missing.
    other.has(&(taken - 1).to_string()).await;
    let texts = other.texts();
    let found = once(&texts);
    assert_eq!(found.len(), taken + 1);
    assert!(!found.contains("dropped"));
    assert!(here.rooms.try_broadcast(room, "again").is_ok());
    other.has("again").await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn closed_rooms_leave_no_data_behind() {
    let engine = Engine::start();
    let process = Process::open(&engine.url());
    let client = process.join("lobby").await;
    let other = process.join(&"long ".repeat(40)).await;
    process.rooms.broadcast(Audience::Room("lobby"), "hello");
    process.rooms.broadcast(Audience::All, "hello");
    let channels = || engine.list(&["PUBSUB", "CHANNELS"]);
    assert!(until(|| channels().len() == 4).await, "{:?}", channels());
    assert!(until(|| engine.list(&["KEYS", "*:here"]).len() == 2).await);
    for key in engine.list(&["KEYS", "*"]) {
        let life = engine.admin(&["PTTL", &key]);
        let life: i64 = life.trim_start_matches(':').parse().unwrap();
        assert!((1..=330_000).contains(&life), "{key}: {life}");
    }
    drop((client, other));
    assert!(until(|| channels().is_empty()).await, "{:?}", channels());
    assert!(until(|| engine.list(&["KEYS", "*:here"]).is_empty()).await);
    drop(process);
    // The lease ends with the rooms, and so do all connections except the
    // test's own.
    assert!(until(|| engine.list(&["KEYS", "*:nodes"]).is_empty()).await);
    let clients = || engine.admin(&["CLIENT", "LIST"]).lines().count();
    assert!(until(|| clients() == 1).await, "{}", engine.admin(&["CLIENT", "LIST"]));
}
