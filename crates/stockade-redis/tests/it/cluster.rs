//! Tests a cluster of three masters with one replica each.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use redis::cluster::ClusterClientBuilder;
use redis::cluster_async::ClusterConnection;
use stockade_redis::{Redis, RedisOptions, RedisRateLimits};
use stockade_stages::rate_limit::{ChargeOutcome, HOUR, RateKey, RateLimitPolicy, RateStore as _};

use crate::engine::{Engine, free_port, until, url};
use crate::faults::{Load, Ours, PATIENCE, Row, Subject, longest_gap};
use crate::proxy::Proxy;

/// The first slot of each master, and the end.
const SLOTS: [u16; 4] = [0, 5_461, 10_923, 16_384];
const MASTERS: usize = SLOTS.len() - 1;

pub(crate) struct Nodes {
    /// The first three start as masters.
    pub(crate) engines: Vec<Engine>,
    /// Forwards clients to the first master, which announces the proxy's port.
    proxy: Proxy,
}

impl Nodes {
    pub(crate) async fn start() -> Self {
        let mut engines = Vec::new();
        let mut ports = Vec::new();
        let proxy = Proxy::to(0).await;
        let announced = proxy.port.to_string();
        for index in 0..2 * MASTERS {
            let port = free_port().to_string();
            let settings = [
                "--cluster-enabled yes",
                "--cluster-config-file nodes.conf",
                "--cluster-node-timeout 1000",
                "--cluster-replica-validity-factor 0",
                "--cluster-allow-replica-migration no",
                // Available slots keep working while other slots are down.
                "--cluster-require-full-coverage no",
            ];
            let mut words: Vec<_> = settings.iter().flat_map(|it| it.split(' ')).collect();
            words.extend(["--cluster-port", &port]);
            if index == 0 {
                words.extend(["--cluster-announce-port", &announced]);
            }
            engines.push(Engine::start_with(&words));
            ports.push(port);
        }
        proxy.lead_to(engines[0].port);
        for (index, engine) in engines.iter().enumerate() {
            engine.admin(&["CLUSTER", "SET-CONFIG-EPOCH", &(index + 1).to_string()]);
            if index < MASTERS {
                let range = [SLOTS[index], SLOTS[index + 1] - 1].map(|slot| slot.to_string());
                engine.admin(&["CLUSTER", "ADDSLOTSRANGE", &range[0], &range[1]]);
            }
            let meet = ["CLUSTER", "MEET", "127.0.0.1", &engine.port.to_string(), &ports[index]];
            assert_eq!(engines[0].admin(&meet), "+OK");
        }
        let nodes = Self { engines, proxy };
        for engine in &nodes.engines {
            let info = || engine.admin(&["CLUSTER", "INFO"]);
            until("all nodes", || info().contains("cluster_known_nodes:6")).await;
        }
        for (index, replica) in nodes.engines[MASTERS..].iter().enumerate() {
            let master = nodes.engines[index].admin(&["CLUSTER", "MYID"]);
            let replicate = || replica.admin(&["CLUSTER", "REPLICATE", &master]);
            until("its master", || replicate() == "+OK").await;
        }
        nodes.are_whole().await;
        nodes
    }

    /// Waits until every node covers all slots and every replica is in sync.
    async fn are_whole(&self) {
        for engine in &self.engines {
            let info = || engine.admin(&["CLUSTER", "INFO"]);
            until("a cluster", || info().contains("cluster_state:ok")).await;
        }
        let replicas = || {
            let states = self.engines.iter().map(|it| it.admin(&["INFO", "replication"]));
            states.filter(|it| it.contains("master_link_status:up")).count()
        };
        until("replicas in step", || replicas() == MASTERS).await;
    }

    /// Returns the master or the replica of the first slot range.
    fn first(&self, role: &str) -> usize {
        let is = |it: &Engine| it.admin(&["INFO", "replication"]).contains(&format!("role:{role}"));
        [0, MASTERS].into_iter().find(|&index| is(&self.engines[index])).unwrap()
    }

    fn addresses(&self) -> Vec<String> {
        self.engines[1..].iter().map(|it| url(it.port)).collect()
    }

    pub(crate) fn open(&self) -> Redis {
        Redis::cluster(self.addresses(), RedisOptions::new().prefix("shop")).unwrap()
    }

    /// Returns the index of a key's initial master. The index of its replica is
    /// three higher.
    pub(crate) fn master_of(&self, key: &str) -> usize {
        let slot = self.engines[1].admin(&["CLUSTER", "KEYSLOT", key]);
        let slot = slot.trim_start_matches(':').parse().unwrap();
        (0..MASTERS).rfind(|&it| SLOTS[it] <= slot).unwrap()
    }

    /// Waits until the replica of a master has replaced it.
    pub(crate) async fn failed_over(&self, master: usize) {
        let replica = &self.engines[master + MASTERS];
        until("a failover", || replica.admin(&["INFO", "replication"]).contains("role:master"))
            .await;
    }

    /// Returns a client with a key on the master with this index.
    fn client(&self, master: usize) -> String {
        let slot = |client: &String| {
            let name = Ours::name(client);
            let slot = self.engines[1].admin(&["CLUSTER", "KEYSLOT", &name]);
            slot.trim_start_matches(':').parse::<u16>().unwrap()
        };
        let range = SLOTS[master]..SLOTS[master + 1];
        (0..).map(|it| format!("client {it}")).find(|it| range.contains(&slot(it))).unwrap()
    }
}

/// The cluster connection of the `redis` crate, with our deadlines.
#[derive(Clone)]
struct Library(ClusterConnection, String);

impl Subject for Library {
    async fn write(&self) -> bool {
        let mut to = self.0.clone();
        let mut set = redis::cmd("SET");
        set.arg(&self.1).arg(1).arg("PX").arg(1_000);
        set.exec_async(&mut to).await.is_ok()
    }
}

/// A row of the table, with separate results for keys on the faulty node and on
/// other nodes.
struct Rows {
    first: Row,
    gap: Duration,
    others: Row,
}

impl fmt::Display for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, gap, others } = self;
        let Row { failed, slow, .. } = others;
        write!(f, "{first}; none done for {gap:.1?}; of other nodes {failed} failed, {slow} slow")
    }
}

/// Runs the table; `open` creates a subject for a client.
async fn table<S: Subject>(open: impl AsyncFn(&Nodes, String) -> S) -> Vec<Rows> {
    let mut nodes = Nodes::start().await;
    let mut rows = Vec::new();
    for fault in ["half-open", "CLIENT KILL", "kill -9", "SIGSTOP", "CLUSTER FAILOVER"] {
        let of = [open(&nodes, nodes.client(0)).await, open(&nodes, nodes.client(1)).await];
        let loads = of.each_ref().map(Load::on);
        for load in &loads {
            assert!(load.wait_for_success(PATIENCE).await.is_some(), "before {fault}");
        }
        let (master, replica) = (nodes.first("master"), nodes.first("slave"));
        let role = |nodes: &Nodes| nodes.engines[replica].admin(&["INFO", "replication"]);
        match fault {
            "kill -9" => nodes.engines[master].kill(),
            "SIGSTOP" => nodes.engines[master].freeze(),
            "CLUSTER FAILOVER" => {
                nodes.engines[replica].admin(&["CLUSTER", "FAILOVER"]);
            }
            "CLIENT KILL" => {
                nodes.engines[master].admin(&["CLIENT", "KILL", "TYPE", "normal"]);
            }
            // The first master keeps its role behind the proxy.
            _ => nodes.proxy.silence(),
        }
        if ["kill -9", "SIGSTOP", "CLUSTER FAILOVER"].contains(&fault) {
            let asks = fault == "CLUSTER FAILOVER";
            until("a failover", || {
                let is_master = role(&nodes).contains("role:master");
                // A write may time out on a busy machine.
                if asks && !is_master {
                    nodes.engines[replica].admin(&["CLUSTER", "FAILOVER"]);
                }
                is_master
            })
            .await;
        }
        let back = loads[0].wait_for_success(PATIENCE).await;
        let [first, others] = loads.map(Load::end);
        let gap = longest_gap(&first).unwrap_or_default();
        let others = Row::of("", back, &others);
        rows.push(Rows { first: Row::of(fault, back, &first), gap, others });
        match fault {
            "kill -9" => nodes.engines[master].restart(),
            "SIGSTOP" => nodes.engines[master].thaw(),
            _ => {}
        }
        until("both roles", || {
            let roles = [master, replica].map(|it| nodes.engines[it].admin(&["ROLE"]));
            roles[0] != roles[1]
        })
        .await;
        nodes.are_whole().await;
    }
    rows
}

/// Tests our links. A fault of a node affects only its own keys.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn cluster_links_recover_from_faults() {
    let open = async |nodes: &Nodes, client| Ours::with_key(&nodes.open(), RateKey::text(client));
    for rows in table(open).await {
        eprintln!("Cluster: {rows}");
        assert!(rows.first.back.is_some(), "{rows}");
        // About 20 writes start within a deadline, and several hundred during a
        // fault. The bound between the two allows for a busy machine.
        assert!(rows.first.slow <= 200, "{rows}");
        assert!(rows.others.slow <= 200, "{rows}");
    }
}

/// Prints the results of the `redis` crate, which show whether our link is
/// needed.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs minutes: cargo xtask redis --long"]
async fn the_cluster_connection_of_the_client_library() {
    let open = async |nodes: &Nodes, client: String| {
        let deadline = Duration::from_millis(100);
        let client_of_cluster = ClusterClientBuilder::new(nodes.addresses())
            .connection_timeout(Duration::from_secs(1))
            .response_timeout(deadline)
            .overall_response_timeout(Some(deadline))
            .build();
        let connection = client_of_cluster.unwrap().get_async_connection().await.unwrap();
        Library(connection, Ours::name(&client))
    };
    for rows in table(open).await {
        eprintln!("ClusterConnection: {rows}");
    }
}

async fn charge(store: &RedisRateLimits, key: &RateKey) -> bool {
    let policy = RateLimitPolicy::new("default", 100 / HOUR).unwrap();
    match store.charge(key, &policy, Duration::ZERO) {
        ChargeOutcome::Ready(decision) => decision.allowed,
        ChargeOutcome::Pending(decision) => decision.await.unwrap().allowed,
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn limits_are_exact_on_every_node() {
    let nodes = Nodes::start().await;
    let patient = || Arc::new(nodes.open().rate_limits().deadline(Duration::from_secs(10)));
    let stores = [patient(), patient(), patient()];
    for round in 0..6 {
        let key = RateKey::text(nodes.client(round % MASTERS) + &"{a}".repeat(round / MASTERS));
        let mut tasks = Vec::new();
        for connection in 0..30 {
            let (store, key) = (Arc::clone(&stores[connection % 3]), key.clone());
            tasks.push(tokio::spawn(async move {
                let mut passed = 0;
                for _ in 0..100 {
                    passed += u32::from(charge(&store, &key).await);
                }
                passed
            }));
        }
        let mut passed = 0;
        for task in tasks {
            passed += task.await.unwrap();
        }
        assert_eq!(passed, 100, "{key}");
    }
}

/// Moves a slot to another node, as when a cluster grows.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn follows_a_moved_slot() {
    let nodes = Nodes::start().await;
    let store = nodes.open().rate_limits().deadline(Duration::from_secs(10));
    let client = nodes.client(1);
    let key = RateKey::text(client.clone());
    let policy_name = Ours::name(&client).replace(&u32::MAX.to_string(), "100");
    let (from, to) = (&nodes.engines[1], &nodes.engines[2]);
    let slot = from.admin(&["CLUSTER", "KEYSLOT", &policy_name]);
    let slot = slot.trim_start_matches(':');
    // This policy's key may be in a slot of another node.
    let owner = (0..MASTERS).rfind(|&it| SLOTS[it] <= slot.parse().unwrap()).unwrap();
    let from = if owner == 2 { to } else { &nodes.engines[owner] };
    let to = if owner == 2 { &nodes.engines[1] } else { to };
    let ids = [from, to].map(|it| it.admin(&["CLUSTER", "MYID"]));
    for _ in 0..40 {
        assert!(charge(&store, &key).await);
    }
    // From now on, missing keys are redirected to the other node (ASK).
    to.admin(&["CLUSTER", "SETSLOT", slot, "IMPORTING", &ids[0]]);
    from.admin(&["CLUSTER", "SETSLOT", slot, "MIGRATING", &ids[1]]);
    let port = to.port.to_string();
    let moved = from.admin(&["MIGRATE", "127.0.0.1", &port, &policy_name, "0", "5000"]);
    assert_eq!(moved, "+OK");
    for _ in 0..30 {
        assert!(charge(&store, &key).await);
    }
    for node in [to, from] {
        assert_eq!(node.admin(&["CLUSTER", "SETSLOT", slot, "NODE", &ids[1]]), "+OK");
    }
    for _ in 0..30 {
        assert!(charge(&store, &key).await);
    }
    assert!(!charge(&store, &key).await, "it has kept its count");
}

#[test]
fn reports_configuration_errors_without_a_network() {
    let options = || RedisOptions::new().prefix("shop");
    let error = |addresses: &[&str], options| {
        let error = Redis::cluster(addresses, options).unwrap_err().to_string();
        assert!(!error.contains("secret"), "{error}");
    };
    let node = "redis://shop:secret@127.0.0.1:7000";
    error(&[], options());
    error(&[node, "127.0.0.1:7001"], options());
    error(&["redis://shop:secret@127.0.0.1:7000/1"], options());
    error(&[node], options().engine_login("shop", "secret"));
    error(&[node], RedisOptions::new());
    let redis = Redis::cluster([node], options()).unwrap();
    assert!(format!("{redis:?}").contains("cluster of 127.0.0.1:7000"), "{redis:?}");
    assert!(!format!("{redis:?}").contains("secret"), "{redis:?}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask redis"]
async fn a_single_server_is_not_a_cluster() {
    let engine = Engine::start();
    let redis = Redis::cluster([url(engine.port)], RedisOptions::new().prefix("shop")).unwrap();
    // The user of this server may not read the slots.
    until("a reason", || format!("{:?}", redis.health()).contains("ermission")).await;
    assert!(!redis.health().is_up());
}
