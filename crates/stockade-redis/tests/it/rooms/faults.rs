//! Tests server and network faults: nothing is lost silently.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use stockade_conformance as conformance;
use stockade_websockets::{Audience, Order};

use super::{Client, Process, once, until};
use crate::engine::{Engine, url};
use crate::proxy::Proxy;
use crate::stores::linked;

/// Three processes with one member each. The first two broadcast continuously.
pub(super) struct Talk {
    processes: Arc<Vec<Process>>,
    clients: Vec<Client>,
    ended: Arc<AtomicBool>,
    talking: tokio::task::JoinHandle<usize>,
}

impl Talk {
    async fn begin(urls: [String; 3]) -> Self {
        Self::of(urls.map(|url| Process::open(&url))).await
    }

    pub(super) async fn of(processes: [Process; 3]) -> Self {
        let processes = Arc::new(Vec::from(processes));
        let mut clients = Vec::new();
        for process in processes.iter() {
            clients.push(process.join("lobby").await);
        }
        let ended = Arc::new(AtomicBool::new(false));
        let (by, until) = (Arc::clone(&processes), Arc::clone(&ended));
        let talking = tokio::spawn(async move {
            let mut number = 0;
            while !until.load(Ordering::Relaxed) {
                for (process, sender) in by.iter().zip(0..2) {
                    process.rooms.broadcast(Audience::Room("lobby"), format!("{sender} {number}"));
                }
                number += 1;
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            number
        });
        Self { processes, clients, ended, talking }
    }

    pub(super) async fn pause(millis: u64) {
        tokio::time::sleep(Duration::from_millis(millis)).await;
    }

    /// Waits for the last messages. Fails on duplicates and on messages that
    /// are missing without a gap. Returns the number of missing messages and of
    /// gaps.
    pub(super) async fn end(self) -> (usize, usize) {
        // The last message of each process arrives after the fault is over.
        self.ended.store(true, Ordering::Relaxed);
        let sent = self.talking.await.unwrap();
        for (process, sender) in self.processes.iter().zip(0..2) {
            process.rooms.broadcast(Audience::Room("lobby"), format!("{sender} last"));
        }
        let mut all = (0, 0);
        for (process, client) in self.processes.iter().zip(&self.clients) {
            for sender in 0..2 {
                client.has(&format!("{sender} last")).await;
            }
            let texts = client.texts();
            let missing = 2 * (sent + 1) - once(&texts).len();
            // The next comparison detects messages that were not replicated.
            let is_told = || missing == 0 || !process.gaps().is_empty();
            assert!(until(is_told).await, "{missing} are missing silently");
            let gaps = process.gaps();
            for sender in ["0 ", "1 "] {
                let numbers = texts.iter().filter_map(|text| text.strip_prefix(sender));
                let numbers: Vec<u64> = numbers.filter_map(|it| it.parse().ok()).collect();
                assert!(numbers.is_sorted(), "the order of {sender}");
            }
            all = (all.0 + missing, all.1 + gaps.len());
        }
        all
    }
}

fn urls(engine: &Engine) -> [String; 3] {
    [engine.url(), engine.url(), engine.url()]
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn cut_links_lose_nothing() {
    let engine = Engine::start();
    let talk = Talk::begin(urls(&engine)).await;
    for kind in ["pubsub", "normal", "pubsub", "normal", "pubsub", "pubsub"] {
        Talk::pause(150).await;
        engine.admin(&["CLIENT", "KILL", "TYPE", kind]);
    }
    Talk::pause(150).await;
    engine.admin(&["SCRIPT", "FLUSH"]);
    Talk::pause(150).await;
    assert_eq!(talk.end().await, (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn a_restart_of_redis_loses_nothing_silently() {
    let engine = Engine::start();
    let (url, engine) = (engine.url(), tokio::sync::Mutex::new(engine));
    let fault = async || {
        let mut engine = engine.lock().await;
        Talk::pause(200).await;
        engine.kill();
        Talk::pause(200).await;
        engine.restart();
        Talk::pause(500).await;
    };
    let make = || linked(&url).rooms();
    conformance::backplane_under_faults(Order::Local, make, fault).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn a_pause_of_redis_loses_nothing() {
    let engine = Engine::start();
    let talk = Talk::begin(urls(&engine)).await;
    Talk::pause(200).await;
    engine.freeze();
    Talk::pause(3_000).await;
    engine.thaw();
    Talk::pause(500).await;
    // The queued messages arrive at once, and the log stores them for
    // reconnecting processes.
    assert_eq!(talk.end().await, (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn data_loss_of_redis_is_a_gap() {
    let engine = Engine::start();
    let talk = Talk::begin(urls(&engine)).await;
    for _ in 0..3 {
        Talk::pause(200).await;
        engine.admin(&["FLUSHALL"]);
    }
    Talk::pause(200).await;
    let (_, gaps) = talk.end().await;
    assert!(gaps >= 3, "{gaps} gaps of three processes");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn the_death_of_redis_is_a_gap() {
    let mut engine = Engine::start();
    let talk = Talk::begin(urls(&engine)).await;
    for _ in 0..2 {
        Talk::pause(300).await;
        engine.kill();
        Talk::pause(300).await;
        engine.restart();
    }
    Talk::pause(300).await;
    let (_, gaps) = talk.end().await;
    assert!(gaps >= 3, "{gaps} gaps of three processes");
}

/// One process is half-open to the server, which has small output buffers for
/// it.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn a_process_that_missed_messages_catches_up() {
    let engine = Engine::start();
    engine.admin(&["CONFIG", "SET", "client-output-buffer-limit", "pubsub 32kb 16kb 1"]);
    let proxy = Proxy::to(engine.port).await;
    let [here, there] = [engine.url(), url(proxy.port)].map(|url| Process::open(&url));
    let (_own, deaf) = (here.join("lobby").await, there.join("lobby").await);
    let text = "x".repeat(500);
    let round = async |name: &str, messages: usize| {
        let (before, missed) = (deaf.texts().len(), there.gaps().iter().flatten().sum::<u64>());
        proxy.silence();
        for number in 0..messages {
            here.rooms.broadcast(Audience::Room("lobby"), format!("{name} {number} {text}"));
        }
        deaf.has(&format!("{name} {} {text}", messages - 1)).await;
        let missing = messages - (deaf.texts().len() - before);
        once(&deaf.texts());
        let missed = there.gaps().iter().flatten().sum::<u64>() - missed;
        assert_eq!(u64::try_from(missing).unwrap(), missed, "of {messages}");
        missing
    };
    assert_eq!(round("few", 80).await, 0, "the log reaches");
    // If a busy machine makes the server late, the log is longer for 15 s.
    for attempt in 0..5 {
        if round(&format!("many {attempt}"), 1_000).await > 0 {
            return;
        }
        Talk::pause(5_000).await;
    }
    panic!("a log of 100 has kept 1,000 messages");
}

/// Numbers decrease, as after a failover to a lagging replica.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn a_failover_to_a_lagging_replica_is_a_gap() {
    let engine = Engine::start();
    let [here, there] = [(), ()].map(|()| Process::open(&engine.url()));
    let (_own, client) = (here.join("lobby").await, there.join("lobby").await);
    let room = Audience::Room("lobby");
    for number in 0..20 {
        here.rooms.broadcast(room, number.to_string());
    }
    client.has("19").await;
    // The last ten messages were not replicated.
    let (head, log) = ("shop:rooms:{room:lobby}:head", "shop:rooms:{room:lobby}:log");
    engine.admin(&["HSET", head, "n", "10"]);
    engine.admin(&["DEL", log]);
    for number in 20..40 {
        here.rooms.broadcast(room, number.to_string());
    }
    assert!(until(|| !there.gaps().is_empty()).await, "it is reported");
    assert!(until(|| !here.gaps().is_empty()).await, "to all");
    here.rooms.broadcast(room, "after");
    client.has("after").await;
    once(&client.texts());
}
