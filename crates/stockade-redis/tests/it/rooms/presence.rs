//! Tests presence: the members of a room, also when processes die.

use std::time::Duration;

use stockade_websockets::Presence;
use tokio::runtime::Runtime;

use super::{PATIENCE, Process};
use crate::engine::Engine;

/// Waits until a process sees this number of members and stale processes.
async fn sees(process: &Process, members: usize, stale: usize) {
    let begin = std::time::Instant::now();
    loop {
        let found = process.rooms.members_everywhere("lobby").await;
        let found = found.map(|it: Presence| (it.members.len(), it.stale_nodes));
        let count = process.rooms.count_everywhere("lobby").await;
        if found.as_ref().ok() == Some(&(members, stale)) && count.as_ref().ok() == Some(&members) {
            return;
        }
        assert!(begin.elapsed() < PATIENCE, "{found:?} and {count:?}, not {members}, {stale}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Simulates a process that dies: its tasks end, and its members stay in Redis.
fn die(url: &str, members: usize) {
    let runtime = Runtime::new().unwrap();
    runtime.block_on(async {
        let process = Process::open(url);
        let mut clients = Vec::new();
        for _ in 0..members {
            clients.push(process.join("lobby").await);
        }
        sees(&process, members + 1, 0).await;
        let written = process.rooms.members("lobby").len();
        assert_eq!(written, members);
        // The members are written once the other process sees them.
        let other = Process::open(url);
        sees(&other, members + 1, 0).await;
        tokio::spawn(async move {
            let _kept = (process, clients);
            std::future::pending::<()>().await;
        });
        // This process is not part of the test, so it may end.
        drop(other);
        tokio::time::sleep(Duration::from_millis(50)).await;
    });
    // The tasks end before the rooms are dropped.
    runtime.shutdown_background();
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn members_lost_by_redis_are_registered_again() {
    let engine = Engine::start();
    let [here, there] = [(), ()].map(|()| Process::open(&engine.url()));
    let _first = here.join("lobby").await;
    let second = there.join("lobby").await;
    sees(&here, 2, 0).await;
    sees(&there, 2, 0).await;
    engine.admin(&["FLUSHALL"]);
    sees(&here, 2, 0).await;
    sees(&there, 2, 0).await;
    drop(second);
    sees(&here, 1, 0).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn members_of_a_dead_process_leave_after_its_lease() {
    let engine = Engine::start();
    let here = Process::open(&engine.url());
    let _client = here.join("lobby").await;
    sees(&here, 1, 0).await;
    let url = engine.url();
    tokio::task::spawn_blocking(move || die(&url, 2)).await.unwrap();
    // Leases use the server's clock; rewriting them makes the time pass at
    // once.
    let nodes = engine.list(&["KEYS", "*:nodes"]).remove(0);
    let found = engine.list(&["HKEYS", "shop:rooms:{room:lobby}:here"]);
    assert_eq!(found.len(), 2);
    if std::env::var("STOCKADE_REDIS_LONG").is_err() {
        for node in &found {
            engine.admin(&["ZADD", &nodes, "XX", "1", node]);
        }
    }
    // The lease of this process is renewed.
    sees(&here, 1, 1).await;
    for node in &found {
        engine.admin(&["ZREM", &nodes, node]);
    }
    sees(&here, 1, 0).await;
    let found = || engine.list(&["HKEYS", "shop:rooms:{room:lobby}:here"]);
    assert!(super::until(|| found().len() == 1).await, "what it left is removed");
}
