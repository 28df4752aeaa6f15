//! Delivery without faults: once, in order, with history, and nothing left behind.

use std::time::Duration;

use stockade_websockets::{Audience, BroadcastError, Order};

use super::{Process, once, until};
use crate::engine::Engine;

/// Broadcasts in three processes at once, and returns what each member got.
async fn broadcast_in_three(engine: &Engine, order: Order) -> Vec<Vec<String>> {
    let processes: Vec<Process> =
        (0..3).map(|_| Process::open_with(&engine.url(), |rooms| rooms.order(order))).collect();
    let mut clients = Vec::new();
    for process in &processes {
        for _ in 0..2 {
            clients.push(process.join("lobby").await);
        }
    }
    for number in 0..200 {
        for (process, sender) in processes.iter().zip(0..) {
            process.rooms.broadcast(Audience::Room("lobby"), format!("{sender} {number}"));
        }
        if number % 10 == 0 {
            tokio::task::yield_now().await;
        }
    }
    for client in &clients {
        for sender in 0..3 {
            client.has(&format!("{sender} 199")).await;
        }
    }
    for process in &processes {
        assert_eq!(process.gaps(), []);
    }
    clients.iter().map(|client| client.texts()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_broadcast_comes_once() {
    let Some(engine) = Engine::start() else { return };
    for texts in broadcast_in_three(&engine, Order::Local).await {
        assert_eq!(once(&texts).len(), 600);
        for sender in ["0 ", "1 ", "2 "] {
            let of_sender = texts.iter().filter(|text| text.starts_with(sender));
            let expected = (0..200).map(|number| format!("{sender}{number}"));
            assert!(of_sender.cloned().eq(expected), "the order of {sender}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn all_members_see_one_order() {
    let Some(engine) = Engine::start() else { return };
    let received = broadcast_in_three(&engine, Order::Room).await;
    assert_eq!(once(&received[0]).len(), 600);
    for texts in &received {
        assert!(*texts == received[0]);
    }
}

/// A member that has just joined hears what its own process broadcasts.
#[tokio::test(flavor = "multi_thread")]
async fn a_new_member_gets_the_echo_of_its_process() {
    let Some(engine) = Engine::start() else { return };
    let process = Process::open_with(&engine.url(), |rooms| rooms.order(Order::Room));
    for number in 0..20 {
        let room = format!("room {number}");
        let client = process.enter(&room);
        process.rooms.broadcast(Audience::Room(&room), "hello");
        client.has("hello").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn all_audiences_are_reached_and_one_member_is_left_out() {
    let Some(engine) = Engine::start() else { return };
    for at_most_once in [false, true] {
        let set = |rooms: stockade_redis::RedisRooms| match at_most_once {
            true => rooms.at_most_once(),
            false => rooms,
        };
        let [here, there] = [(), ()].map(|()| Process::open_with(&engine.url(), set));
        let (one, two, other) =
            (here.join("{a} b").await, there.join("{a} b").await, there.join("b").await);
        for client in [&one, &two, &other] {
            client.member.ready("{a} b").await.unwrap();
        }
        here.rooms.broadcast_except(Audience::Room("{a} b"), "1", two.socket.id());
        here.rooms.broadcast(Audience::Room("b"), "2");
        // The routes and all members are heard soon, and nobody waits for them.
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
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_comes_back_gets_what_it_has_missed() {
    let Some(engine) = Engine::start() else { return };
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
    assert!(missed.is_complete);
    let found: Vec<_> = missed.messages.iter().map(|it| it.text.as_str()).collect();
    assert_eq!(found, ["50", "51", "52", "53", "54", "55", "56", "57", "58", "59"]);
    assert_eq!(format!("{} 59", missed.messages[9].id), texts[59]);
    let nothing = there.rooms.since("lobby", &missed.messages[9].id).await.unwrap();
    assert!(nothing.is_complete && nothing.messages.is_empty());

    for wrong in ["", "0-0", "-", "x", "other-7"] {
        let all = there.rooms.since("lobby", wrong).await.unwrap();
        assert_eq!((all.is_complete, all.messages.len()), (false, 60), "{wrong}");
    }
    let unknown = there.rooms.since("nobody", "x-1").await.unwrap();
    assert!(!unknown.is_complete && unknown.messages.is_empty());
    for number in 0..1_000 {
        there.rooms.broadcast(Audience::Room("lobby"), number.to_string());
    }
    assert!(until(|| client.texts().len() == 1_060).await);
    let late = here.rooms.since("lobby", id).await.unwrap();
    let kept = late.messages.len();
    assert!(!late.is_complete && (100..=300).contains(&kept), "{kept} are kept");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_engine_cannot_take_is_an_error() {
    let Some(mut engine) = Engine::start() else { return };
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
    assert_eq!(here.rooms.broadcast(room, "dropped"), 1, "own members get it");
    own.has("dropped").await;
    engine.restart();
    // They waited for the engine, and none is missing.
    other.has(&(taken - 1).to_string()).await;
    let texts = other.texts();
    let found = once(&texts);
    assert_eq!(found.len(), taken + 1);
    assert!(!found.contains("dropped"));
    assert!(here.rooms.try_broadcast(room, "again").is_ok());
    other.has("again").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_behind() {
    let Some(engine) = Engine::start() else { return };
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
    // The lease goes with the rooms, and so do their connections, but for that of here.
    assert!(until(|| engine.list(&["KEYS", "*:nodes"]).is_empty()).await);
    let clients = || engine.admin(&["CLIENT", "LIST"]).lines().count();
    assert!(until(|| clients() == 1).await, "{}", engine.admin(&["CLIENT", "LIST"]));
}

/// A room that is left and joined all the time is heard whenever somebody is in it.
#[tokio::test(flavor = "multi_thread")]
async fn a_room_that_is_left_and_joined_again_is_heard() {
    let Some(engine) = Engine::start() else { return };
    let [here, there] = [(), ()].map(|()| Process::open(&engine.url()));
    let _other = here.join("lobby").await;
    for round in 0..50 {
        for _ in 0..round % 4 {
            drop(there.enter("lobby"));
            tokio::time::sleep(Duration::from_micros(round * 30)).await;
        }
        let client = there.join("lobby").await;
        here.rooms.broadcast(Audience::Room("lobby"), round.to_string());
        client.has(&round.to_string()).await;
        assert_eq!(client.texts().len(), 1);
    }
    assert_eq!(there.gaps(), []);
    drop(there);
    let count = || engine.list(&["PUBSUB", "NUMSUB", "shop:rooms:{room:lobby}"]);
    assert!(until(|| count()[1] == ":1").await, "{:?}", count());
}
