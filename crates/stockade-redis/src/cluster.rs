//! [`Cluster`]: the nodes of a cluster, each with a link of its own.
//!
//! So a node that hangs or is gone costs the commands for its own slots and no others,
//! and everything that is true of a link is true of each.

use std::collections::{BTreeSet, HashMap};
use std::convert::Infallible;
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use redis::aio::{MultiplexedConnection, PubSub};
use redis::{FromRedisValue, ToRedisArgs};
use stockade_errors::locks::lock;
use stockade_errors::{ConfigError, ConfigIssue};
use tokio::sync::Notify;
use tokio::time::sleep;

use crate::address::Address;
use crate::connect::{ConnectError, Connected, Endpoint, RequiredRole};
use crate::connector::{Connector, in_time};
use crate::error::{LinkError, Redirect};
use crate::health::Health;
use crate::link::Redis;
use crate::options::RedisOptions;
use crate::script::Script;
use crate::slots::{self, SlotRange, slot};

/// A cluster. The link that has it is connected to any of its nodes, by which it learns
/// which node has which slots.
pub(crate) struct Cluster {
    seeds: Vec<Endpoint>,
    options: RedisOptions,
    nodes: Mutex<Nodes>,
    /// Told when a command found a node gone, or a slot elsewhere.
    stale: Notify,
    /// The position at which the next search begins.
    next: AtomicUsize,
}

/// The masters, and the ranges of slots in order.
#[derive(Default)]
struct Nodes {
    links: HashMap<(String, u16), Redis>,
    ranges: Vec<(SlotRange, Redis)>,
}

/// A word in front of a command for a node of a cluster.
#[derive(Clone, Copy)]
pub(crate) enum CommandPrefix {
    None,
    /// `ASKING`: the slot of the command is moving there, and has not arrived.
    Asking,
}

impl Nodes {
    /// Returns the range that has a slot, and its node.
    fn range(&self, slot: u16) -> Option<&(SlotRange, Redis)> {
        let after = self.ranges.partition_point(|(range, _)| range.first <= slot);
        self.ranges.get(after.checked_sub(1)?).filter(|(range, _)| slot <= range.last)
    }
}

impl Redis {
    /// Opens a link to a cluster, whose nodes are learnt from any of these addresses.
    ///
    /// Every master has a link of its own: one that hangs or is gone costs the commands
    /// for its own keys, and no others. Where a key is comes from `CLUSTER SLOTS`,
    /// which is asked anew when a node says that a slot has moved, and when one is
    /// gone. All nodes are logged in to as the first address says. The user needs
    /// [`CLUSTER_COMMANDS`](crate::CLUSTER_COMMANDS) too.
    ///
    /// [`Redis::health`] is down while any master is, and
    /// [`RedisOptions::max_in_flight`] is for each.
    ///
    /// # Errors
    /// Fails for what is seen without a network: no address, one that is none,
    /// addresses of two kinds, a database other than 0, and everything of
    /// [`Redis::open`].
    ///
    /// ```
    /// use stockade::redis::{Redis, RedisOptions};
    ///
    /// let options = RedisOptions::new().prefix("shop");
    /// let nodes = ["redis://10.0.0.1:7000", "redis://10.0.0.2:7000"];
    /// assert!(Redis::cluster(nodes, options.clone()).is_ok());
    /// assert!(Redis::cluster(["redis://10.0.0.1:7000/1"], options).is_err());
    /// ```
    pub fn cluster<U: AsRef<str>>(
        addresses: impl IntoIterator<Item = U>,
        options: RedisOptions,
    ) -> Result<Self, ConfigError> {
        ConfigError::check(options.issues())?;
        let connector = Connector::cluster(Address::read_all(addresses)?, &options)?;
        Ok(Self::start(connector, options))
    }
}

impl Cluster {
    pub(crate) fn new(
        addresses: Vec<Address>,
        options: &RedisOptions,
    ) -> Result<Self, ConfigIssue> {
        if addresses.iter().any(|address| address.database() != 0) {
            return Err(ConfigIssue::new("a cluster has no databases but 0"));
        }
        if options.engine_login.is_some() {
            return Err(ConfigIssue::new("engine_login is for Redis::sentinel"));
        }
        let seeds = addresses.into_iter().map(|address| Endpoint::new(address, options));
        Ok(Self {
            seeds: seeds.collect::<Result<_, _>>()?,
            options: options.clone(),
            nodes: Mutex::default(),
            stale: Notify::new(),
            next: AtomicUsize::new(0),
        })
    }

    /// Connects to one node after the other, until one says where the slots are. The
    /// next attempt begins after it.
    pub(crate) async fn connect(&self, time: Duration) -> Result<Connected, ConnectError> {
        let known = self.known(|_| true);
        // Those of the options may be long gone.
        let nodes: Vec<&Endpoint> = self.seeds.iter().chain(&known).collect();
        let first = self.next.load(Ordering::Relaxed);
        let mut errors = Vec::new();
        for step in 0..nodes.len() {
            let index = first.wrapping_add(step) % nodes.len();
            let node = nodes[index];
            match in_time(time, self.connect_to(node)).await {
                Ok(connected) => {
                    self.next.store(index + 1, Ordering::Relaxed);
                    return Ok(connected);
                }
                Err(error) if errors.len() < MAX_ERRORS => {
                    errors.push(format!("{}: {error}", node.address));
                }
                Err(_) => {}
            }
        }
        Err(ConnectError::new(errors.join("; ")))
    }

    /// Connects for subscriptions: what is published is heard at every node.
    pub(crate) async fn subscriber(&self, time: Duration) -> Result<PubSub, ConnectError> {
        let mut up = self.known(|link| link.current().is_some());
        let down = self.known(|link| link.current().is_none());
        // Another one each time: one that is cut off from the others hears nothing.
        let first = self.next.fetch_add(1, Ordering::Relaxed) % up.len().max(1);
        up.rotate_left(first);
        let mut error = ConnectError::new("there is no node");
        // One that hangs costs the whole time for connecting.
        for node in up.iter().chain(&self.seeds).chain(&down) {
            match in_time(time, node.subscriber()).await {
                Ok(connection) => return Ok(connection),
                Err(other) => error = other,
            }
        }
        Err(error)
    }

    /// Returns the nodes of the map with such a link.
    fn known(&self, is_wanted: impl Fn(&Redis) -> bool) -> Vec<Endpoint> {
        let nodes = lock(&self.nodes);
        let wanted = nodes.links.iter().filter(|(_, link)| is_wanted(link));
        wanted.filter_map(|((host, port), _)| self.endpoint(host, *port).ok()).collect()
    }

    async fn connect_to(&self, node: &Endpoint) -> Result<Connected, ConnectError> {
        let mut connected = node.connect(RequiredRole::Any).await?;
        self.load(&mut connected.connection, &node.address.host).await?;
        Ok(connected)
    }

    /// Asks a node for the map. A node that is new gets a link, and one that has no
    /// slots any more loses its own.
    async fn load(
        &self,
        connection: &mut MultiplexedConnection,
        host: &str,
    ) -> Result<(), ConnectError> {
        let answer = redis::cmd("CLUSTER").arg("SLOTS").query_async(connection).await?;
        let ranges = slots::read(&answer, host);
        if ranges.is_empty() {
            return Err(ConnectError::new("it knows no slots of a cluster"));
        }
        let mut nodes = lock(&self.nodes);
        let before = std::mem::take(&mut *nodes).links;
        for range in ranges {
            let name = (range.host.clone(), range.port);
            let link = match nodes.links.get(&name).or_else(|| before.get(&name)) {
                Some(link) => link.clone(),
                None => self.open(&range.host, range.port)?,
            };
            nodes.links.insert(name, link.clone());
            nodes.ranges.push((range, link));
        }
        Ok(())
    }

    /// Keeps the map true.
    pub(crate) async fn follow(&self, connection: &MultiplexedConnection) -> Infallible {
        loop {
            tokio::select! {
                () = self.stale.notified() => {}
                () = sleep(REFRESH) => {}
            }
            let (mut connection, host) = self.next_node(connection);
            // One that does not answer is asked again, or is another one, in a moment.
            let _ = in_time(REFRESH_DEADLINE, self.load(&mut connection, &host)).await;
            sleep(PAUSE).await;
        }
    }

    /// Returns the nodes that are there in turn: the map of one that is cut off from
    /// the others is old.
    fn next_node(&self, own: &MultiplexedConnection) -> (MultiplexedConnection, String) {
        let nodes = lock(&self.nodes);
        let up = nodes.links.iter().filter_map(|((host, _), link)| Some((link.current()?, host)));
        let up: Vec<_> = up.collect();
        let index = self.next.fetch_add(1, Ordering::Relaxed) % up.len().max(1);
        let own_host = || self.seeds.first().map_or_else(String::new, |it| it.address.host.clone());
        up.get(index).map_or_else(
            || (own.clone(), own_host()),
            |(connection, host)| (connection.clone(), (*host).clone()),
        )
    }

    /// Runs a script where its keys are.
    pub(crate) async fn run<T: FromRedisValue>(
        &self,
        own: &Redis,
        script: &Script,
        keys: &[&str],
        arguments: &[impl ToRedisArgs],
        deadline: Duration,
    ) -> Result<T, LinkError> {
        let begin = Instant::now();
        let slot = keys.first().map_or(0, |key| slot(key));
        if self.find(slot).is_none() {
            // The first map may come in a moment.
            own.wait_for_connection(deadline).await?;
        }
        let none = || LinkError::Down("no node has the slot".to_owned());
        let mut node = self.find(slot).ok_or_else(none)?;
        let mut prefix = CommandPrefix::None;
        for _ in 0..MAX_REDIRECTS {
            let left = deadline.saturating_sub(begin.elapsed());
            let outcome = node.run_here(script, keys, arguments, prefix, left).await;
            let Err(error) = &outcome else { return outcome };
            if error.is_of_a_node() {
                self.stale.notify_one();
            }
            let Some(Redirect { host, port, is_only_once }) = error.redirect() else {
                return outcome;
            };
            prefix = if is_only_once { CommandPrefix::Asking } else { CommandPrefix::None };
            // Without a host it is beside the one that has the slot now.
            let host = if host.is_empty() { self.host(slot) } else { host };
            let told = |error: ConnectError| LinkError::Down(error.to_string());
            node = self.node(&host, port).map_err(told)?;
        }
        Err(LinkError::Down("the nodes do not agree on where the slot is".to_owned()))
    }

    /// Returns the state of the first node that is down.
    pub(crate) fn health(&self) -> Health {
        let nodes = lock(&self.nodes);
        let down = nodes.links.iter().find_map(|((host, port), link)| match link.health() {
            Health::Down { since, error } => Some((since, format!("{host}:{port}: {error}"))),
            Health::Up => None,
        });
        down.map_or(Health::Up, |(since, error)| Health::Down { since, error })
    }

    /// Returns the names of the runs of all masters, of which one is new after a failover
    /// of any. Without an answer of each there is none.
    pub(crate) async fn engine_runs(&self) -> Option<String> {
        let masters: Vec<Redis> =
            lock(&self.nodes).ranges.iter().map(|(_, node)| node.clone()).collect();
        if masters.is_empty() {
            // There is no map yet.
            return None;
        }
        let mut runs = BTreeSet::new();
        for master in masters {
            let Some(run) = master.engine_run_here().await else {
                self.stale.notify_one();
                return None;
            };
            runs.insert(run);
        }
        Some(Vec::from_iter(runs).join(" "))
    }

    fn find(&self, slot: u16) -> Option<Redis> {
        lock(&self.nodes).range(slot).map(|(_, node)| node.clone())
    }

    fn host(&self, slot: u16) -> String {
        lock(&self.nodes).range(slot).map_or_else(String::new, |(range, _)| range.host.clone())
    }

    /// Returns the node that another one has named.
    fn node(&self, host: &str, port: u16) -> Result<Redis, ConnectError> {
        let mut nodes = lock(&self.nodes);
        let name = (host.to_owned(), port);
        if let Some(node) = nodes.links.get(&name) {
            return Ok(node.clone());
        }
        if nodes.links.len() >= MAX_NODES {
            return Err(ConnectError::new("the cluster has too many nodes"));
        }
        let node = self.open(host, port)?;
        nodes.links.insert(name, node.clone());
        Ok(node)
    }

    fn open(&self, host: &str, port: u16) -> Result<Redis, ConnectError> {
        let connector = Connector::node(self.endpoint(host, port)?, &self.options);
        Ok(Redis::start(connector, self.options.clone()))
    }

    /// Returns a node, which is logged in to as to the first address.
    fn endpoint(&self, host: &str, port: u16) -> Result<Endpoint, ConnectError> {
        let first = self.seeds.first().ok_or_else(|| ConnectError::new("there is no address"))?;
        first.at(host, port)
    }
}

impl fmt::Display for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cluster of")?;
        for seed in &self.seeds {
            write!(f, " {}", seed.address)?;
        }
        Ok(())
    }
}

/// The time after which the map is asked for, if no command has found it wrong.
const REFRESH: Duration = Duration::from_secs(10);
const REFRESH_DEADLINE: Duration = Duration::from_millis(500);
/// The shortest time between two questions for the map.
const PAUSE: Duration = Duration::from_millis(100);
/// The nodes that one command may be sent to.
const MAX_REDIRECTS: usize = 4;
const MAX_NODES: usize = 1_000;
/// The errors of nodes that stand in one of the link.
const MAX_ERRORS: usize = 3;
