//! [`Target`]: the way to the engine of a link.

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

/// The way to an engine. Each attempt goes it anew.
pub(crate) struct Target {
    way: Way,
    connect_timeout: Duration,
}

enum Way {
    /// The engine is there.
    Engine(Box<Endpoint>),
    /// Sentinel says where it is.
    Sentinel(Sentinel),
    /// Any node of a cluster, whose nodes have links of their own.
    Cluster(Cluster),
}

impl Target {
    pub(crate) fn engine(address: Address, options: &RedisOptions) -> Result<Self, ConfigIssue> {
        if options.engine_login.is_some() {
            return Err(ConfigIssue::new("engine_login is for Redis::sentinel"));
        }
        let endpoint = Endpoint::new(address, options)?;
        Ok(Self::new(Way::Engine(Box::new(endpoint)), options))
    }

    pub(crate) fn sentinel(
        addresses: Vec<Address>,
        master: &str,
        options: &RedisOptions,
    ) -> Result<Self, ConfigIssue> {
        Ok(Self::new(Way::Sentinel(Sentinel::new(addresses, master, options)?), options))
    }

    pub(crate) fn cluster(
        addresses: Vec<Address>,
        options: &RedisOptions,
    ) -> Result<Self, ConfigIssue> {
        Ok(Self::new(Way::Cluster(Cluster::new(addresses, options)?), options))
    }

    /// Makes the target of a node of a cluster.
    pub(crate) fn node(endpoint: Endpoint, options: &RedisOptions) -> Self {
        Self::new(Way::Engine(Box::new(endpoint)), options)
    }

    fn new(way: Way, options: &RedisOptions) -> Self {
        Self { way, connect_timeout: options.connect_timeout }
    }

    /// Connects, in the time that there is for it.
    pub(crate) async fn connect(&self) -> Result<Connected, ConnectError> {
        match &self.way {
            Way::Engine(endpoint) => {
                in_time(self.connect_timeout, endpoint.connect(RequiredRole::Master)).await
            }
            Way::Sentinel(sentinel) => sentinel.connect(self.connect_timeout).await,
            Way::Cluster(cluster) => cluster.connect(self.connect_timeout).await,
        }
    }

    /// Connects for subscriptions.
    pub(crate) async fn subscriber(&self) -> Result<PubSub, ConnectError> {
        match &self.way {
            Way::Engine(endpoint) => in_time(self.connect_timeout, endpoint.subscriber()).await,
            Way::Sentinel(sentinel) => sentinel.subscriber(self.connect_timeout).await,
            Way::Cluster(cluster) => cluster.subscriber(self.connect_timeout).await,
        }
    }

    /// Returns the nodes, if the target is a cluster.
    pub(crate) fn nodes(&self) -> Option<&Cluster> {
        match &self.way {
            Way::Cluster(cluster) => Some(cluster),
            Way::Engine(_) | Way::Sentinel(_) => None,
        }
    }
}

/// Gives a part of connecting its time.
pub(crate) async fn in_time<T>(
    time: Duration,
    part: impl Future<Output = Result<T, ConnectError>>,
) -> Result<T, ConnectError> {
    timeout(time, part).await.unwrap_or_else(|_| Err(ConnectError::new("it does not answer")))
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.way {
            Way::Engine(endpoint) => endpoint.address.fmt(f),
            Way::Sentinel(sentinel) => sentinel.fmt(f),
            Way::Cluster(cluster) => cluster.fmt(f),
        }
    }
}
