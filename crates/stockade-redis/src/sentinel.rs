//! Finds the master server through Redis Sentinel.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use redis::aio::PubSub;
use stockade_errors::locks::lock;
use stockade_errors::{ConfigError, ConfigIssue};

use crate::address::Address;
use crate::connect::{ConnectError, Connected, Endpoint, RequiredRole};
use crate::connector::{Connector, in_time};
use crate::link::Redis;
use crate::options::RedisOptions;

/// The sentinels of a master.
pub(crate) struct Sentinel {
    sentinels: Vec<Endpoint>,
    master: String,
    /// The template for the server's endpoint; its host and port are replaced.
    engine: Endpoint,
    /// The sentinel that last named the right server. It is tried first.
    first: AtomicUsize,
    /// The server that was the master at the last connect.
    master_at: Mutex<Option<Arc<Endpoint>>>,
}

impl Redis {
    /// Opens a link to the master with this name, found through Sentinel.
    ///
    /// The addresses are the sentinels, such as `redis://host:26379`. Add a
    /// user and a password if Sentinel itself requires them. The database is
    /// the one to use on the Redis server. Set the server's login with
    /// [`RedisOptions::engine_login`]. `rediss://` encrypts the connections to
    /// both.
    ///
    /// The link queries Sentinel at each connect, including when the server
    /// reports that it has become a replica. It tries the sentinels in turn,
    /// each with half of [`RedisOptions::connect_timeout`]. It uses the
    /// reported server only if that server is actually a master.
    ///
    /// # Errors
    /// Returns an error if there are no addresses, if an address is invalid, if
    /// the addresses differ in encryption or database, or if the master name is
    /// empty or contains whitespace. Also returns the errors of
    /// [`Redis::open`]. Network failures are not errors here.
    ///
    /// ```
    /// use stockade::redis::{Redis, RedisOptions};
    ///
    /// let sentinels = ["redis://10.0.0.1:26379", "redis://10.0.0.2:26379"];
    /// let options = RedisOptions::new().prefix("shop").engine_login("shop", "secret");
    /// assert!(Redis::sentinel(sentinels, "mymaster", options.clone()).is_ok());
    /// assert!(Redis::sentinel(sentinels, "", options.clone()).is_err());
    /// let none: [&str; 0] = [];
    /// assert!(Redis::sentinel(none, "mymaster", options).is_err());
    /// ```
    pub fn sentinel<U: AsRef<str>>(
        addresses: impl IntoIterator<Item = U>,
        master: &str,
        options: RedisOptions,
    ) -> Result<Self, ConfigError> {
        ConfigError::check(options.issues())?;
        let addresses = Address::read_all(addresses)?;
        let connector = Connector::sentinel(addresses, master, &options)?;
        Ok(Self::start(connector, options))
    }
}

impl Sentinel {
    pub(crate) fn new(
        addresses: Vec<Address>,
        master: &str,
        options: &RedisOptions,
    ) -> Result<Self, ConfigIssue> {
        if master.is_empty() || master.contains(char::is_whitespace) {
            return Err(ConfigIssue::new(
                "the master name of Sentinel must not be empty or contain spaces",
            ));
        }
        let Some(first) = addresses.first() else {
            return Err(ConfigIssue::new("at least one address is required"));
        };
        let engine = first.clone().with_login(options.engine_login.as_ref());
        let sentinels = addresses.into_iter().map(|it| Endpoint::new(it.of_sentinel(), options));
        Ok(Self {
            sentinels: sentinels.collect::<Result<_, _>>()?,
            master: master.to_owned(),
            engine: Endpoint::new(engine, options)?,
            first: AtomicUsize::new(0),
            master_at: Mutex::default(),
        })
    }

    /// Tries the sentinels in turn until one names a server that is a master.
    pub(crate) async fn connect(&self, time: Duration) -> Result<Connected, ConnectError> {
        let first = self.first.load(Ordering::Relaxed);
        let mut errors = Vec::new();
        for step in 0..self.sentinels.len() {
            let index = (first + step) % self.sentinels.len();
            let sentinel = &self.sentinels[index];
            match self.connect_by(sentinel, time).await {
                Ok(connected) => {
                    self.first.store(index, Ordering::Relaxed);
                    return Ok(connected);
                }
                Err(error) => errors.push(error.to_string()),
            }
        }
        Err(ConnectError::new(errors.join("; ")))
    }

    async fn connect_by(
        &self,
        sentinel: &Endpoint,
        time: Duration,
    ) -> Result<Connected, ConnectError> {
        let by = |error| ConnectError::new(format!("sentinel {}: {error}", sentinel.address));
        let (host, port) = in_time(time / 2, self.ask(sentinel)).await.map_err(by)?;
        let engine = self.engine.at(&host, port)?;
        let at = |error| ConnectError::new(format!("{}: {error}", engine.address));
        let connected = in_time(time, engine.connect(RequiredRole::Master)).await.map_err(at)?;
        *lock(&self.master_at) = Some(Arc::new(engine));
        Ok(connected)
    }

    /// Opens a subscriber connection to the last known master. A demoted master
    /// still receives published messages.
    pub(crate) async fn subscriber(&self, time: Duration) -> Result<PubSub, ConnectError> {
        let engine = lock(&self.master_at).clone();
        let engine = engine.ok_or_else(|| ConnectError::new("no master is known yet"))?;
        in_time(time, engine.subscriber()).await
    }

    async fn ask(&self, sentinel: &Endpoint) -> Result<(String, u16), ConnectError> {
        let (mut connection, _driver) = sentinel.log_in().await?;
        let mut ask = redis::cmd("SENTINEL");
        ask.arg("GET-MASTER-ADDR-BY-NAME").arg(&self.master);
        let named: Option<(String, u16)> = ask.query_async(&mut connection).await?;
        named.ok_or_else(|| ConnectError::new(format!("it does not have a master {}", self.master)))
    }
}

impl fmt::Display for Sentinel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "master {} of", self.master)?;
        for sentinel in &self.sentinels {
            write!(f, " {}", sentinel.address)?;
        }
        Ok(())
    }
}
