//! Connects a link to Redis: a single server, Sentinel or a cluster.

use std::fmt;
use std::future::Future;
use std::time::Duration;

use redis::aio::PubSub;
use stockade_errors::ConfigIssue;
use tokio::time::timeout;

use crate::address::Address;
use crate::cluster::Cluster;
use crate::connect::{ConnectError, Connected, Endpoint, RequiredRole};
use crate::options::RedisOptions;
use crate::sentinel::Sentinel;

/// Connects a link to Redis. Each attempt looks up the server again.
pub(crate) struct Connector {
    topology: Topology,
    connect_timeout: Duration,
}

enum Topology {
    /// A server with a fixed address.
    Engine(Box<Endpoint>),
    /// A server that Sentinel finds.
    Sentinel(Sentinel),
    /// Any node of a cluster. Each node has a separate link.
    Cluster(Cluster),
}

impl Connector {
    pub(crate) fn engine(address: Address, options: &RedisOptions) -> Result<Self, ConfigIssue> {
        if options.engine_login.is_some() {
            return Err(ConfigIssue::new("engine_login is only for Redis::sentinel"));
        }
        let endpoint = Endpoint::new(address, options)?;
        Ok(Self::new(Topology::Engine(Box::new(endpoint)), options))
    }

    pub(crate) fn sentinel(
        addresses: Vec<Address>,
        master: &str,
        options: &RedisOptions,
    ) -> Result<Self, ConfigIssue> {
        Ok(Self::new(Topology::Sentinel(Sentinel::new(addresses, master, options)?), options))
    }

    pub(crate) fn cluster(
        addresses: Vec<Address>,
        options: &RedisOptions,
    ) -> Result<Self, ConfigIssue> {
        Ok(Self::new(Topology::Cluster(Cluster::new(addresses, options)?), options))
    }

    /// Returns the connector of one cluster node.
    pub(crate) fn node(endpoint: Endpoint, options: &RedisOptions) -> Self {
        Self::new(Topology::Engine(Box::new(endpoint)), options)
    }

    fn new(topology: Topology, options: &RedisOptions) -> Self {
        Self { topology, connect_timeout: options.connect_timeout }
    }

    /// Connects within the timeout.
    pub(crate) async fn connect(&self) -> Result<Connected, ConnectError> {
        match &self.topology {
            Topology::Engine(endpoint) => {
                in_time(self.connect_timeout, endpoint.connect(RequiredRole::Master)).await
            }
            Topology::Sentinel(sentinel) => sentinel.connect(self.connect_timeout).await,
            Topology::Cluster(cluster) => cluster.connect(self.connect_timeout).await,
        }
    }

    /// Connects for subscriptions.
    pub(crate) async fn subscriber(&self) -> Result<PubSub, ConnectError> {
        match &self.topology {
            Topology::Engine(endpoint) => {
                in_time(self.connect_timeout, endpoint.subscriber()).await
            }
            Topology::Sentinel(sentinel) => sentinel.subscriber(self.connect_timeout).await,
            Topology::Cluster(cluster) => cluster.subscriber(self.connect_timeout).await,
        }
    }

    /// Returns the cluster, or `None` for the other topologies.
    pub(crate) fn nodes(&self) -> Option<&Cluster> {
        match &self.topology {
            Topology::Cluster(cluster) => Some(cluster),
            Topology::Engine(_) | Topology::Sentinel(_) => None,
        }
    }
}

/// Limits the time of a connection step.
pub(crate) async fn in_time<T>(
    time: Duration,
    part: impl Future<Output = Result<T, ConnectError>>,
) -> Result<T, ConnectError> {
    timeout(time, part).await.unwrap_or_else(|_| Err(ConnectError::new("it does not respond")))
}

impl fmt::Display for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.topology {
            Topology::Engine(endpoint) => endpoint.address.fmt(f),
            Topology::Sentinel(sentinel) => sentinel.fmt(f),
            Topology::Cluster(cluster) => cluster.fmt(f),
        }
    }
}
