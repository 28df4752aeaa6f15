//! Timing tests for an idle machine: `cargo xtask redis --long`.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use stockade_websockets::__internal::Loopback;
use stockade_websockets::{Audience, Order};

use super::{Process, until};
use crate::engine::Engine;

/// Broadcasts at a fixed rate to three processes with 300 members each and
/// prints the delivery times.
async fn latency(engine: &Engine, order: Order) {
    let processes: Vec<Process> =
        (0..3).map(|_| Process::open_with(&engine.url(), |rooms| rooms.order(order))).collect();
    let begin = Instant::now();
    let times = Arc::new(Mutex::new(Vec::new()));
    let mut members = Vec::new();
    for process in &processes {
        for _ in 0..MEMBERS {
            let (socket, mut end) = Loopback::open("/chat").unwrap();
            let member = process.rooms.enter(socket.sender()).unwrap();
            member.join("lobby").unwrap();
            let times = Arc::clone(&times);
            tokio::spawn(async move {
                while let Some(text) = end.next().await {
                    let sent: u128 = text.split(' ').next().unwrap().parse().unwrap();
                    times.lock().unwrap().push(begin.elapsed().as_micros().saturating_sub(sent));
                }
            });
            members.push((socket, member));
        }
        members[members.len() - 1].1.ready("lobby").await.unwrap();
    }
    let text = "x".repeat(180);
    let mut tick = tokio::time::interval(Duration::from_millis(10));
    for number in 0..BROADCASTS {
        tick.tick().await;
        let sent = begin.elapsed().as_micros();
        processes[number % 3].rooms.broadcast(Audience::Room("lobby"), format!("{sent} {text}"));
    }
    let all = BROADCASTS * MEMBERS * 3;
    assert!(until(|| times.lock().unwrap().len() >= all).await);
    tokio::time::sleep(Duration::from_millis(100)).await;
    let mut times = times.lock().unwrap().clone();
    assert_eq!(times.len(), all, "0 lost, 0 double");
    times.sort_unstable();
    let part = |share: usize| times[times.len() * share / 1_000];
    eprintln!(
        "rooms: {order:?}, 3 x {MEMBERS} members, 100 broadcasts a second: \
         p50 {} us, p99 {} us, longest {} us",
        part(500),
        part(990),
        times[times.len() - 1]
    );
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs minutes: cargo xtask redis --long"]
async fn the_time_of_a_broadcast() {
    let engine = Engine::start();
    latency(&engine, Order::Local).await;
    latency(&engine, Order::Room).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs minutes: cargo xtask redis --long"]
async fn broadcasts_in_a_second() {
    let engine = Engine::start();
    let text = "x".repeat(200);
    for at_most_once in [false, true] {
        let set = |rooms: stockade_redis::RedisRooms| match at_most_once {
            true => rooms.at_most_once(),
            false => rooms,
        };
        let [here, there] = [(), ()].map(|()| Process::open_with(&engine.url(), set));
        let (_own, other) = (here.join("lobby").await, there.join("lobby").await);
        let begin = Instant::now();
        let mut sent = 0_u64;
        while sent < 100_000 {
            match here.rooms.try_broadcast(Audience::Room("lobby"), text.as_str()) {
                Ok(_) => sent += 1,
                // The queue is full: this is the maximum rate.
                Err(_) => tokio::time::sleep(Duration::from_millis(1)).await,
            }
        }
        let missed = || there.gaps().iter().flatten().sum::<u64>();
        assert!(until(|| other.texts.lock().unwrap().len() as u64 + missed() >= sent).await);
        let time = begin.elapsed();
        eprintln!(
            "rooms: at most once {at_most_once}: {sent} broadcasts in {time:.1?}, {} missed",
            missed()
        );
    }
}

const MEMBERS: usize = 300;
const BROADCASTS: usize = 1_000;
