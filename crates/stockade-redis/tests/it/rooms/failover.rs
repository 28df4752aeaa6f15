//! Tests rooms on a cluster and with Sentinel: nothing is lost silently when
//! the master moves.

use stockade_websockets::Audience;

use super::faults::Talk;
use super::{Process, once, until};
use crate::cluster::Nodes;
use crate::engine::Engine;
use crate::sentinel::Group;

/// The name of [`Talk`]'s room in Redis.
const LOBBY: &str = "shop:rooms:{room:lobby}:head";

fn on_cluster(nodes: &Nodes) -> [Process; 3] {
    [0, 1, 2].map(|_| Process::over(&nodes.open(), |rooms| rooms))
}

fn behind_sentinel(group: &Group) -> [Process; 3] {
    [0, 1, 2].map(|_| Process::over(&group.open(), |rooms| rooms))
}

/// Broadcasts in three processes to rooms on all masters, and counts members.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn cluster_delivers_every_broadcast_once() {
    let nodes = Nodes::start().await;
    let processes = on_cluster(&nodes);
    let rooms: Vec<String> = (0..12).map(|number| format!("room {number}")).collect();
    let head = |room: &String| format!("shop:rooms:{{room:{room}}}:head");
    for master in 0..3 {
        assert!(rooms.iter().any(|room| nodes.master_of(&head(room)) == master));
    }
    let mut clients = Vec::new();
    for process in &processes {
        for room in &rooms {
            clients.push(process.join(room).await);
        }
    }
    for number in 0..50 {
        for (process, sender) in processes.iter().zip(0..) {
            for room in &rooms {
                process.rooms.broadcast(Audience::Room(room), format!("{sender} {number}"));
            }
        }
        tokio::task::yield_now().await;
    }
    for client in &clients {
        for sender in 0..3 {
            client.has(&format!("{sender} 49")).await;
        }
        assert_eq!(once(&client.texts()).len(), 150);
    }
    for process in &processes {
        assert_eq!(process.gaps(), []);
        for room in &rooms {
            let begin = std::time::Instant::now();
            while process.rooms.count_everywhere(room).await.ok() != Some(3) {
                assert!(begin.elapsed() < super::PATIENCE, "{room} has other members");
                Talk::pause(20).await;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn connections_closed_by_a_cluster_lose_nothing() {
    let nodes = Nodes::start().await;
    let masters = || -> Vec<bool> {
        let role = |engine: &Engine| engine.admin(&["INFO", "replication"]).contains("role:master");
        nodes.engines.iter().map(role).collect()
    };
    let before = masters();
    let talk = Talk::of(on_cluster(&nodes)).await;
    for kind in ["pubsub", "normal", "pubsub"] {
        Talk::pause(200).await;
        for engine in &nodes.engines {
            engine.admin(&["CLIENT", "KILL", "TYPE", kind]);
        }
    }
    Talk::pause(200).await;
    let found = talk.end().await;
    // On a busy machine the nodes may assume a failure; such a failover is a
    // gap.
    if masters() == before {
        assert_eq!(found, (0, 0));
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn a_failover_of_a_cluster_loses_nothing_silently() {
    for fault in ["CLUSTER FAILOVER", "SIGSTOP", "kill -9"] {
        let mut nodes = Nodes::start().await;
        let master = nodes.master_of(LOBBY);
        let talk = Talk::of(on_cluster(&nodes)).await;
        Talk::pause(300).await;
        match fault {
            "kill -9" => nodes.engines[master].kill(),
            "SIGSTOP" => nodes.engines[master].freeze(),
            _ => drop(nodes.engines[master + 3].admin(&["CLUSTER", "FAILOVER"])),
        }
        nodes.failed_over(master).await;
        Talk::pause(500).await;
        if fault == "SIGSTOP" {
            nodes.engines[master].thaw();
            Talk::pause(500).await;
        }
        let (missing, gaps) = talk.end().await;
        eprintln!("rooms on a cluster, {fault}: {missing} missing, {gaps} gaps");
    }
}

/// A promoted replica may lack acknowledged messages. Nothing else reveals this
/// to a process that has not received them.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn the_death_of_a_cluster_master_is_a_gap() {
    let mut nodes = Nodes::start().await;
    let processes = on_cluster(&nodes);
    let mut clients = Vec::new();
    for process in &processes {
        clients.push(process.join("lobby").await);
    }
    let master = nodes.master_of(LOBBY);
    nodes.engines[master].kill();
    nodes.failed_over(master).await;
    for process in &processes {
        assert!(until(|| !process.gaps().is_empty()).await, "nobody is told");
    }
    assert!(clients.iter().all(|client| client.texts().is_empty()));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn a_failover_by_sentinel_loses_nothing_silently() {
    for fault in ["SENTINEL FAILOVER", "SIGSTOP", "kill -9"] {
        let mut group = Group::start().await;
        let talk = Talk::of(behind_sentinel(&group)).await;
        assert!(until(|| group.master().is_some()).await);
        let from = group.master().unwrap();
        Talk::pause(300).await;
        match fault {
            "kill -9" => group.engines[from].kill(),
            "SIGSTOP" => group.engines[from].freeze(),
            _ => drop(group.sentinels[0].admin(&["SENTINEL", "FAILOVER", "shop"])),
        }
        group.failed_over(from, fault == "SENTINEL FAILOVER").await;
        Talk::pause(500).await;
        if fault == "SIGSTOP" {
            group.engines[from].thaw();
            Talk::pause(500).await;
        }
        let (missing, gaps) = talk.end().await;
        eprintln!("rooms behind Sentinel, {fault}: {missing} missing, {gaps} gaps");
    }
}
