//! Connects to one Redis server, logs in and checks the server's state.

use std::fmt;
use std::io;
use std::time::Duration;

use redis::aio::{MultiplexedConnection, PubSub};
use redis::{AsyncConnectionConfig, RedisError};
use socket2::{SockRef, TcpKeepalive};
use stockade_errors::ConfigIssue;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use crate::address::Address;
use crate::options::RedisOptions;
#[cfg(feature = "tls")]
use crate::tls::Tls;

/// An address and everything needed to connect to it.
pub(crate) struct Endpoint {
    pub(crate) address: Address,
    #[cfg(feature = "tls")]
    tls: Option<Tls>,
}

/// The server roles that a connection accepts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum RequiredRole {
    /// A server that accepts writes.
    Master,
    /// Any node of a cluster. Each node can return the slot map.
    Any,
}

/// A connection and the task that reads and writes it. Dropping it ends the
/// task.
pub(crate) struct Connected {
    pub(crate) connection: MultiplexedConnection,
    pub(crate) driver: Driver,
    pub(crate) engine: EngineInfo,
}

/// The task of a connection. It ends with the stream.
pub(crate) struct Driver(pub(crate) JoinHandle<()>);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The reason for a failed connection, without secrets.
#[derive(Debug)]
pub(crate) struct ConnectError(String);

impl Endpoint {
    pub(crate) fn new(address: Address, options: &RedisOptions) -> Result<Self, ConfigIssue> {
        #[cfg(feature = "tls")]
        let tls = match address.is_encrypted {
            true => Some(Tls::new(&address.host, options.root_certificates.as_deref())?),
            false => None,
        };
        #[cfg(not(feature = "tls"))]
        let _ = &options.root_certificates;
        Ok(Self {
            address,
            #[cfg(feature = "tls")]
            tls,
        })
    }

    /// Returns the endpoint of another server with the same TLS settings and
    /// login.
    pub(crate) fn at(&self, host: &str, port: u16) -> Result<Self, ConnectError> {
        #[cfg(feature = "tls")]
        let tls = match &self.tls {
            Some(tls) => Some(tls.at(host).map_err(|it| ConnectError::new(it.message()))?),
            None => None,
        };
        Ok(Self {
            address: self.address.at(host, port),
            #[cfg(feature = "tls")]
            tls,
        })
    }

    /// Connects and checks the state of the server.
    pub(crate) async fn connect(&self, wanted: RequiredRole) -> Result<Connected, ConnectError> {
        let (mut connection, driver) = self.log_in().await?;
        let info: String = redis::cmd("INFO").query_async(&mut connection).await?;
        let engine = EngineInfo::read(&info);
        if engine.is_loading {
            return Err(ConnectError::new("it is loading its data"));
        }
        if engine.is_replica && wanted == RequiredRole::Master {
            return Err(ConnectError::new("it is a replica, which does not accept writes"));
        }
        Ok(Connected { connection, driver, engine })
    }

    /// Connects and logs in. Resolves the host name on each call.
    pub(crate) async fn log_in(&self) -> Result<(MultiplexedConnection, Driver), ConnectError> {
        let stream = self.open_stream().await?;
        #[cfg(feature = "tls")]
        if let Some(tls) = &self.tls {
            return self.speak(tls.encrypt(stream).await?).await;
        }
        self.speak(stream).await
    }

    /// Connects for subscriptions, which work on read-only servers too.
    pub(crate) async fn subscriber(&self) -> Result<PubSub, ConnectError> {
        let (stream, login) = (self.open_stream().await?, &self.address.login);
        #[cfg(feature = "tls")]
        if let Some(tls) = &self.tls {
            return Ok(PubSub::new(login, tls.encrypt(stream).await?).await?);
        }
        Ok(PubSub::new(login, stream).await?)
    }

    async fn open_stream(&self) -> io::Result<TcpStream> {
        let stream = TcpStream::connect((&*self.address.host, self.address.port)).await?;
        stream.set_nodelay(true)?;
        let keep_alive = TcpKeepalive::new().with_time(KEEP_ALIVE).with_interval(KEEP_ALIVE);
        SockRef::from(&stream).set_tcp_keepalive(&keep_alive)?;
        Ok(stream)
    }

    async fn speak<S>(&self, stream: S) -> Result<(MultiplexedConnection, Driver), ConnectError>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        // Each command has a separate deadline.
        let config =
            AsyncConnectionConfig::new().set_response_timeout(None).set_pipeline_buffer_size(QUEUE);
        let login = &self.address.login;
        let made = MultiplexedConnection::new_with_config(login, stream, config).await;
        let (connection, driver) = made?;
        Ok((connection, Driver(tokio::spawn(driver))))
    }
}

impl ConnectError {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<io::Error> for ConnectError {
    fn from(error: io::Error) -> Self {
        Self(error.to_string())
    }
}

impl From<RedisError> for ConnectError {
    fn from(error: RedisError) -> Self {
        Self(error.to_string())
    }
}

/// The server facts that decide whether the link can use it.
#[derive(Debug, Default, Eq, PartialEq)]
pub(crate) struct EngineInfo {
    is_loading: bool,
    is_replica: bool,
    version: String,
    eviction: String,
}

impl EngineInfo {
    /// Parses the output of `INFO`. A missing line counts as valid, because
    /// some compatible servers omit lines.
    fn read(info: &str) -> Self {
        let mut engine = Self::default();
        for (name, value) in info.lines().filter_map(|line| line.trim_end().split_once(':')) {
            match name {
                "loading" => engine.is_loading = value == "1",
                "role" => engine.is_replica = value == "slave",
                "redis_version" => value.clone_into(&mut engine.version),
                "maxmemory_policy" => value.clone_into(&mut engine.eviction),
                _ => {}
            }
        }
        engine
    }

    /// Returns warnings for the operator.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if !self.eviction.is_empty() && self.eviction != "noeviction" {
            let policy = &self.eviction;
            warnings.push(format!(
                "its maxmemory-policy is {policy}: keys may be evicted early, and limits then \
                 restart; set noeviction"
            ));
        }
        let mut numbers = self.version.split('.').map_while(|number| number.parse::<u32>().ok());
        let version = (numbers.next(), numbers.next());
        if version.0.is_some() && version < (Some(6), Some(2)) {
            warnings.push(format!(
                "its version is {}; the oldest supported version is 6.2",
                self.version
            ));
        }
        warnings
    }
}

const KEEP_ALIVE: Duration = Duration::from_secs(5);
/// The number of commands that can wait for the connection's task.
const QUEUE: usize = 1_024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_state_of_a_server() {
        let info = "# Server\r\nredis_version:7.0.15\r\n\r\nloading:0\r\nrole:master\r\n\
            maxmemory_policy:noeviction\r\n";
        let engine = EngineInfo::read(info);
        assert!(!engine.is_loading && !engine.is_replica);
        assert_eq!(engine.warnings(), Vec::<String>::new());
        let engine = EngineInfo::read("loading:1\r\nrole:slave\r\n");
        assert!(engine.is_loading && engine.is_replica && engine.warnings().is_empty());
        let old = EngineInfo::read("redis_version:6.0.16\r\nmaxmemory_policy:allkeys-lru\r\n");
        assert_eq!(old.warnings().len(), 2);
    }
}
