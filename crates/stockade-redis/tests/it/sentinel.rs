//! Tests a master, its replicas and their sentinels.

use std::time::Instant;

use stockade_redis::{Redis, RedisOptions};
use tokio::net::TcpListener;

use crate::engine::{Engine, until};
use crate::faults::{Load, Ours, PATIENCE, Row, longest_gap};

/// A master named `shop` and two replicas with three sentinels.
pub(crate) struct Group {
    pub(crate) engines: Vec<Engine>,
    pub(crate) sentinels: Vec<Engine>,
}

impl Group {
    pub(crate) async fn start() -> Self {
        let master = Engine::start();
        let port = master.port.to_string();
        let replica = || Engine::start_with(&["--replicaof", "127.0.0.1", &port]);
        let engines = vec![replica(), replica(), master];
        let configuration = format!(
            "sentinel monitor shop 127.0.0.1 {port} 2\n\
            sentinel down-after-milliseconds shop 1000\n\
            sentinel failover-timeout shop 5000\n"
        );
        let sentinel = || Engine::start_sentinel(&configuration);
        let group = Self { engines, sentinels: vec![sentinel(), sentinel(), sentinel()] };
        // All sentinels know each other and the replicas, which are in sync.
        for sentinel in &group.sentinels {
            let known = |word: &str| sentinel.admin(&["INFO", "sentinel"]).contains(word);
            until("a group", || known("slaves=2,sentinels=3")).await;
        }
        for replica in &group.engines[..2] {
            let state = || replica.admin(&["INFO", "replication"]);
            until("a replica", || state().contains("master_link_status:up")).await;
        }
        group
    }

    pub(crate) fn open(&self) -> Redis {
        Redis::sentinel(self.addresses(), "shop", options()).unwrap()
    }

    fn addresses(&self) -> Vec<String> {
        self.sentinels.iter().map(|it| format!("redis://127.0.0.1:{}", it.port)).collect()
    }

    /// Returns the index of the master if all sentinels agree on it.
    pub(crate) fn master(&self) -> Option<usize> {
        let ask = ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", "shop"];
        let named = |it: &Engine| it.list(&ask).pop().unwrap();
        let first = named(&self.sentinels[0]);
        let is_agreed = self.sentinels.iter().all(|it| named(it) == first);
        let position = self.engines.iter().position(|it| it.port.to_string() == first);
        position.filter(|_| is_agreed)
    }

    /// Waits until all sentinels name another master. If the previous master
    /// responds, it must be a replica.
    pub(crate) async fn failed_over(&self, from: usize, answers: bool) {
        until("a new master", || self.master().is_some_and(|it| it != from)).await;
        let role = |it: &Engine| it.admin(&["INFO", "replication"]);
        let new = &self.engines[self.master().unwrap()];
        until("its writes", || role(new).contains("role:master")).await;
        if answers {
            until("a replica", || role(&self.engines[from]).contains("role:slave")).await;
        }
    }
}

fn options() -> RedisOptions {
    RedisOptions::new().prefix("shop").engine_login("shop", "secret")
}

/// Writes during a fault that moves the master, and prints the duration.
async fn fail_over(fault: &'static str, cause: impl FnOnce(&mut Group, usize) -> bool) {
    let mut group = Group::start().await;
    let redis = group.open();
    let load = Load::on(&Ours::over(&redis));
    assert!(load.wait_for_success(PATIENCE).await.is_some(), "{redis:?}");
    let from = group.master().unwrap();
    let begin = Instant::now();
    let answers = cause(&mut group, from);
    group.failed_over(from, answers).await;
    let moved = begin.elapsed();
    let back = load.wait_for_success(PATIENCE).await;
    assert!(redis.health().is_up(), "{redis:?}");
    let samples = load.end();
    let gap = longest_gap(&samples).unwrap();
    let row = Row::of(fault, back, &samples);
    eprintln!("Sentinel: {row}; no write was done for {gap:.1?}, master moved in {moved:.1?}");
    assert!(row.back.is_some(), "{row}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn closes_the_socket_of_a_demoted_master() {
    fail_over("SENTINEL FAILOVER", |group, _| {
        let failover = ["SENTINEL", "FAILOVER", "shop"];
        assert_eq!(group.sentinels[0].admin(&failover), "+OK");
        true
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn leaves_a_dead_master() {
    fail_over("kill -9 of the master", |group, master| {
        group.engines[master].kill();
        false
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn leaves_a_hanging_master() {
    fail_over("SIGSTOP of the master", |group, master| {
        group.engines[master].freeze();
        false
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn skips_sentinels_that_do_not_respond() {
    let group = Group::start().await;
    // One sentinel is down, and one accepts connections but does not respond.
    let mute = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mute = format!("redis://127.0.0.1:{}", mute.local_addr().unwrap().port());
    let mut addresses = vec!["redis://127.0.0.1:1".to_owned(), mute];
    addresses.extend(group.addresses());
    let redis = Redis::sentinel(&addresses, "shop", options()).unwrap();
    let load = Load::on(&Ours::over(&redis));
    assert!(load.wait_for_success(PATIENCE).await.is_some(), "{redis:?}");
    // An unknown master is an outage, and the error contains its name.
    let other = Redis::sentinel(group.addresses(), "other", options()).unwrap();
    until("the reason", || format!("{:?}", other.health()).contains("a master other")).await;
    assert!(!format!("{other:?}").contains("secret"));
}

#[test]
fn reports_configuration_errors_without_a_network() {
    let error = |addresses: &[&str], master: &str, options: RedisOptions| {
        let error = Redis::sentinel(addresses, master, options).unwrap_err().to_string();
        assert!(!error.contains("secret"), "{error}");
    };
    let sentinel = "redis://:secret@127.0.0.1:26379";
    error(&[], "shop", options());
    error(&[sentinel], "", options());
    error(&[sentinel, "127.0.0.1"], "shop", options());
    error(&[sentinel, "redis://127.0.0.1:26380/3"], "shop", options());
    error(&[sentinel], "shop", RedisOptions::new());
    // A connection that does not use Sentinel has its login in the address.
    assert!(Redis::open("redis://127.0.0.1", options()).is_err());
    let redis = Redis::sentinel([sentinel], "shop", options()).unwrap();
    let told = format!("{redis:?} {:?}", options());
    assert!(!told.contains("secret") && told.contains("master shop of 127.0.0.1:26379"), "{told}");
}
