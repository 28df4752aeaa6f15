//! A Redis Cluster with a separate link to each node.
//!
//! A node that hangs or is down affects only commands for its own slots. Each
//! node's link has the same guarantees as any other link.

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

/// A Redis Cluster. The owning link connects to any node and reads the slot map
/// from it.
pub(crate) struct Cluster {
    seeds: Vec<Endpoint>,
    options: RedisOptions,
    nodes: Mutex<Nodes>,
    /// Notified when a command finds a node down or a slot moved.
    stale: Notify,
    /// The start position of the next search.
    next: AtomicUsize,
}

/// The master nodes and the sorted slot ranges.
#[derive(Default)]
struct Nodes {
    links: HashMap<(String, u16), Redis>,
    ranges: Vec<(SlotRange, Redis)>,
}

/// A command that is sent before the actual command to a cluster node.
#[derive(Clone, Copy)]
pub(crate) enum CommandPrefix {
    None,
    /// `ASKING`: the slot is migrating to this node and the migration is not
    /// complete.
    Asking,
}

impl Nodes {
    /// Returns the range that contains a slot, with its node.
    fn range(&self, slot: u16) -> Option<&(SlotRange, Redis)> {
        let after = self.ranges.partition_point(|(range, _)| range.first <= slot);
        self.ranges.get(after.checked_sub(1)?).filter(|(range, _)| slot <= range.last)
    }
}

impl Redis {
    /// Opens a link to a Redis Cluster. Any of these addresses can provide the
    /// list of nodes.
    ///
    /// Each master has a separate link. A master that hangs or is down affects
    /// only commands for its own keys. The slot map comes from `CLUSTER SLOTS`.
    /// It is read again when a node reports that a slot has moved and when a
    /// node is down. All nodes use the login of the first address. The user
    /// also needs the permissions in
    /// [`CLUSTER_COMMANDS`](crate::CLUSTER_COMMANDS).
    ///
    /// [`Redis::health`] is down while any master is down.
    /// [`RedisOptions::max_in_flight`] applies to each master.
    ///
    /// # Errors
    /// Returns an error if there are no addresses, if an address is invalid, if
    /// the addresses differ in encryption, or if a database is not 0. Also
    /// returns the errors of [`Redis::open`]. Network failures are not errors
    /// here.
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
            return Err(ConfigIssue::new("a cluster supports only database 0"));
        }
        if options.engine_login.is_some() {
            return Err(ConfigIssue::new("engine_login is only for Redis::sentinel"));
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

    /// Tries the nodes in turn until one returns the slot map. The next attempt
    /// starts after that node.
    pub(crate) async fn connect(&self, time: Duration) -> Result<Connected, ConnectError> {
        let known = self.known(|_| true);
        // The configured seed nodes may no longer exist.
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

    /// Connects for subscriptions. Every node receives all published messages.
    pub(crate) async fn subscriber(&self, time: Duration) -> Result<PubSub, ConnectError> {
        let mut up = self.known(|link| link.current().is_some());
        let down = self.known(|link| link.current().is_none());
        // Start at a different node each time: a partitioned node receives
        // nothing.
        let first = self.next.fetch_add(1, Ordering::Relaxed) % up.len().max(1);
        up.rotate_left(first);
        let mut error = ConnectError::new("the cluster does not have any node");
        // A node that hangs uses up the whole connect timeout.
        for node in up.iter().chain(&self.seeds).chain(&down) {
            match in_time(time, node.subscriber()).await {
                Ok(connection) => return Ok(connection),
                Err(other) => error = other,
            }
        }
        Err(error)
    }

    /// Returns the known nodes that match a predicate on their link.
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

    /// Reads the slot map from a node. Opens links to new nodes and drops links
    /// to nodes without slots.
    async fn load(
        &self,
        connection: &mut MultiplexedConnection,
        host: &str,
    ) -> Result<(), ConnectError> {
        let answer = redis::cmd("CLUSTER").arg("SLOTS").query_async(connection).await?;
        let ranges = slots::read(&answer, host);
        if ranges.is_empty() {
            return Err(ConnectError::new("it does not have cluster slots"));
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

    /// Keeps the slot map up to date.
    pub(crate) async fn follow(&self, connection: &MultiplexedConnection) -> Infallible {
        loop {
            tokio::select! {
                () = self.stale.notified() => {}
                () = sleep(REFRESH) => {}
            }
            let (mut connection, host) = self.next_node(connection);
            // On failure the loop tries another node, or the same one, shortly
            // after.
            let _ = in_time(REFRESH_DEADLINE, self.load(&mut connection, &host)).await;
            sleep(PAUSE).await;
        }
    }

    /// Rotates through the connected nodes, because a partitioned node has an
    /// outdated map.
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

    /// Runs a script on the node that has its keys.
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
            // The first map may arrive shortly.
            own.wait_for_connection(deadline).await?;
        }
        let none = || LinkError::Down("no node serves the slot".to_owned());
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
            // An empty host means the host of the slot's current node.
            let host = if host.is_empty() { self.host(slot) } else { host };
            let told = |error: ConnectError| LinkError::Down(error.to_string());
            node = self.node(&host, port).map_err(told)?;
        }
        Err(LinkError::Down("the nodes disagree about the slot".to_owned()))
    }

    /// Returns the health of the first node that is down.
    pub(crate) fn health(&self) -> Health {
        let nodes = lock(&self.nodes);
        let down = nodes.links.iter().find_map(|((host, port), link)| match link.health() {
            Health::Down { since, error } => Some((since, format!("{host}:{port}: {error}"))),
            Health::Up => None,
        });
        down.map_or(Health::Up, |(since, error)| Health::Down { since, error })
    }

    /// Returns the run IDs of all masters, or `None` if a master does not
    /// respond. A failover of any master changes the result.
    pub(crate) async fn engine_runs(&self) -> Option<String> {
        let masters: Vec<Redis> =
            lock(&self.nodes).ranges.iter().map(|(_, node)| node.clone()).collect();
        if masters.is_empty() {
            // The map is not loaded yet.
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

    /// Returns the node that a redirect names.
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

    /// Returns an endpoint with the login of the first address.
    fn endpoint(&self, host: &str, port: u16) -> Result<Endpoint, ConnectError> {
        let first = self
            .seeds
            .first()
            .ok_or_else(|| ConnectError::new("at least one address is required"))?;
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

/// The interval between refreshes of the map if no command finds it outdated.
const REFRESH: Duration = Duration::from_secs(10);
const REFRESH_DEADLINE: Duration = Duration::from_millis(500);
/// The minimum time between two requests for the map.
const PAUSE: Duration = Duration::from_millis(100);
/// The maximum number of nodes that one command is sent to.
const MAX_REDIRECTS: usize = 4;
const MAX_NODES: usize = 1_000;
/// The maximum number of node errors in the error of the link.
const MAX_ERRORS: usize = 3;
