//! [`ServerOptions`]: the limits of a server.

use std::time::Duration;

use serde::{Deserialize, Deserializer};
use stockade_core::{IntoSetting, Setting};
use stockade_errors::__internal::setters;
use stockade_errors::{ConfigError, ConfigIssue};
use stockade_routing::HostOptions;
use stockade_stages::TrustProxy;

use crate::proxy_protocol::Senders;
use crate::time_budget::StallPolicy;

/// The options of a server: its limits and its protocols.
///
/// They can be read from a configuration file. A key is in camel case, such as
/// `maxConnections`, or in snake case, such as `max_connections`; an unknown key is an error. A
/// duration is a number of milliseconds under its name with `Ms`, such as `idleTimeoutMs`.
///
/// The timeouts of connections are coarse: a connection that has stalled is
/// closed at most two seconds after its timeout, never before it. A duration
/// above one year counts as one year.
///
/// ```
/// use std::time::Duration;
///
/// use stockade::Router;
/// use stockade::server::{CreateServer, ServerOptions};
///
/// let options = ServerOptions::new()
///     .max_connections(500)
///     .idle_timeout(Duration::from_secs(90));
/// assert!(Router::new().create_server_with(options).is_ok());
/// ```
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerOptions {
    #[serde(
        rename = "header_read_timeout_ms",
        alias = "headerReadTimeoutMs",
        deserialize_with = "millis"
    )]
    pub(crate) header_read_timeout: Duration,
    #[serde(rename = "idle_timeout_ms", alias = "idleTimeoutMs", deserialize_with = "millis")]
    pub(crate) idle_timeout: Duration,
    #[serde(
        rename = "park_after_ms",
        alias = "parkAfterMs",
        deserialize_with = "park_after_in_file"
    )]
    pub(crate) park_after: Duration,
    #[serde(
        rename = "body_read_timeout_ms",
        alias = "bodyReadTimeoutMs",
        deserialize_with = "millis"
    )]
    pub(crate) body_read_timeout: Duration,
    #[serde(alias = "minReadRate")]
    pub(crate) min_read_rate: u32,
    #[serde(
        rename = "write_stall_timeout_ms",
        alias = "writeStallTimeoutMs",
        deserialize_with = "millis"
    )]
    pub(crate) write_stall_timeout: Duration,
    #[serde(alias = "minWriteRate")]
    pub(crate) min_write_rate: u32,
    #[serde(
        rename = "shutdown_timeout_ms",
        alias = "shutdownTimeoutMs",
        deserialize_with = "millis"
    )]
    pub(crate) shutdown_timeout: Duration,
    #[serde(rename = "shutdown_delay_ms", alias = "shutdownDelayMs", deserialize_with = "millis")]
    pub(crate) shutdown_delay: Duration,
    #[serde(alias = "maxConnections")]
    pub(crate) max_connections: u32,
    #[serde(alias = "maxConnectionsPerClient", deserialize_with = "per_client_in_file")]
    pub(crate) max_connections_per_client: Option<u32>,
    #[serde(alias = "maxHeaders")]
    pub(crate) max_headers: usize,
    #[serde(alias = "maxHeaderBytes")]
    pub(crate) max_header_bytes: u32,
    #[serde(alias = "halfClose")]
    pub(crate) half_close: bool,
    #[serde(alias = "hyperFastPath")]
    pub(crate) hyper_fast_path: bool,
    pub(crate) http2: bool,
    #[serde(alias = "http2MaxStreams")]
    pub(crate) http2_max_streams: u32,
    #[serde(alias = "tcpNodelay")]
    pub(crate) tcp_nodelay: bool,
    #[serde(alias = "tcpNotsentLowat", deserialize_with = "notsent_lowat_in_file")]
    pub(crate) tcp_notsent_lowat: Option<u32>,
    #[serde(alias = "tcpSendBuffer", deserialize_with = "send_buffer_in_file")]
    pub(crate) tcp_send_buffer: Option<u32>,
    pub(crate) backlog: u32,
    #[serde(alias = "reusePort")]
    pub(crate) reuse_port: bool,
    pub(crate) acceptors: u32,
    pub(crate) announce: bool,
    #[serde(alias = "proxyProtocol")]
    pub(crate) proxy_protocol: Senders,
    #[serde(alias = "trustProxy")]
    trust_proxy: Option<TrustProxy>,
    pub(crate) call: HostOptions,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            header_read_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(60),
            park_after: PARK_AFTER,
            body_read_timeout: Duration::from_secs(30),
            min_read_rate: 500,
            write_stall_timeout: Duration::from_secs(75),
            min_write_rate: 500,
            shutdown_timeout: Duration::from_secs(10),
            shutdown_delay: Duration::ZERO,
            max_connections: 10_000,
            max_connections_per_client: None,
            max_headers: DEFAULT_MAX_HEADERS,
            max_header_bytes: 16_384,
            half_close: false,
            hyper_fast_path: fast_path_by_default(),
            http2: true,
            http2_max_streams: 200,
            tcp_nodelay: true,
            tcp_notsent_lowat: Some(TCP_NOTSENT_LOWAT),
            tcp_send_buffer: None,
            backlog: 4_096,
            reuse_port: false,
            acceptors: 1,
            announce: true,
            proxy_protocol: Senders::default(),
            trust_proxy: None,
            call: HostOptions::default(),
        }
    }
}

#[cfg(not(test))]
const fn fast_path_by_default() -> bool {
    true
}

/// The tests of this crate run on the plain path if this variable is set.
#[cfg(test)]
pub(crate) fn fast_path_by_default() -> bool {
    std::env::var_os("STOCKADE_PLAIN_PATH").is_none()
}

impl ServerOptions {
    /// Returns the defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Sets the time that a client may take for the head of a request: from
        /// its first byte, and on a new connection from its opening, TLS
        /// included. Then the connection is closed. Default: 10 s.
        header_read_timeout: Duration;

        /// Sets the time that a connection may stay open without a request.
        /// Default: 60 s.
        idle_timeout: Duration;

        /// Sets the time that the server waits for the body of a request, in
        /// all. Then:
        /// 408. Default: 30 s.
        ///
        /// Only the time in which it waits counts, and bytes that come give time back,
        /// at [`min_read_rate`](Self::min_read_rate). So a slow upload lives as long
        /// as it moves at that rate, a drip does not, and no pause may be longer
        /// than this; the first one not longer than 10 s.
        ///
        /// A wait begins when the application asks for bytes that are not there,
        /// and ends when it takes the next ones. An application that asks and then
        /// turns to something else is charged for that time too; one that has not
        /// asked is not.
        body_read_timeout: Duration;

        /// Sets the bytes of a request's body that buy a client one second of
        /// [`body_read_timeout`](Self::body_read_timeout). 0: each byte gives all of
        /// it back. Default: 500.
        min_read_rate: u32;

        /// Sets the longest time in which a client may leave an answer unread. Then
        /// the answer ends: on HTTP/1 with its connection, on HTTP/2 alone, if the
        /// client has no room for this one. Default: 75 s.
        ///
        /// Only the time counts in which there are bytes that the client does not
        /// take, so that a stream that says something once a minute lives for ever;
        /// and bytes that it takes give time back, at
        /// [`min_write_rate`](Self::min_write_rate).
        ///
        /// A client that reads slowly may look for a minute like one that does not,
        /// because its system takes much at once. So this is long; but while more
        /// than one of 256 [`max_connections`](Self::max_connections), and more than
        /// 16, take nothing, those have 12 s. Where
        /// [clients are counted](Self::max_connections_per_client), that goes for
        /// the clients with the most of them, until the others have room.
        write_stall_timeout: Duration;

        /// Sets the bytes of an answer that, taken by a client, buy it one second of
        /// [`write_stall_timeout`](Self::write_stall_timeout). 0: each byte gives
        /// all of it back. Default: 500.
        min_write_rate: u32;

        /// Sets the time that running requests may go on after a shutdown has
        /// begun. Default: 10 s.
        shutdown_timeout: Duration;

        /// Sets the time that the server goes on as before when a shutdown
        /// begins, while the
        /// [`Readiness`](stockade_stages::health::Readiness) of the
        /// application says no: the time in which those who distribute requests
        /// learn to send them elsewhere. Then
        /// [`shutdown_timeout`](Self::shutdown_timeout) begins. Default: 0.
        shutdown_delay: Duration;

        /// Prints the address and the documents page to stderr when
        /// [`listen`](crate::CreateServer::listen) starts and the program has no logger. With
        /// a logger, they are logged at the level info instead. Default: true.
        announce: bool;

        /// Sets the number of connections that are served at a time. Default: 10,000.
        ///
        /// For a further one the connection that has been idle longest is told to
        /// finish. If none is idle, the client with the most unfinished requests loses
        /// the slowest one, if it has more than its share: the connections divided by
        /// the clients. A request is unfinished while the server waits for the rest of
        /// its head or body, or for the client to read. This needs a limit
        /// [for each client](Self::max_connections_per_client). Otherwise the new
        /// connection waits until one closes, and so do those behind it in the queue of
        /// the system (see [`backlog`](Self::backlog)). The same rules apply when the
        /// system has no file for it.
        max_connections: u32;

        /// Sets the largest number of header lines of a request; more are
        /// answered with
        /// 431. On HTTP/1 another value than the default costs an allocation for
        /// each request. Default: 100.
        max_headers: usize;

        /// Sets the largest size of the head of a request, in bytes; a longer
        /// one is answered with 431. Default: 16 KiB (16,384).
        max_header_bytes: u32;

        /// Answers a client of HTTP/1 that has closed its sending side behind its
        /// request (a half-closed connection, as of `nc -N`), if true. Default:
        /// false: such a client counts as gone, and its handler ends.
        ///
        /// A client that has left altogether looks the same until something is
        /// written to it. So with this option a handler goes on after its client
        /// has left, to its end or its timeout. No effect on HTTP/2, whose clients
        /// close streams and keep the connection.
        half_close: bool;

        /// Sets whether the server uses optimizations that depend on how hyper works
        /// inside. Default: true.
        ///
        /// They make small responses cheaper and free the buffers of idle connections.
        /// Set it to false to rule them out, for example while you look for a fault, or
        /// with a version of hyper that was not tested with this server. Responses stay
        /// the same, except for the order of their headers.
        /// [`park_after`](Self::park_after) has no effect then.
        hyper_fast_path: bool;

        /// Speaks HTTP/2 with clients that begin with it, if true. Default:
        /// true.
        http2: bool;

        /// Sets the largest number of requests that run at a time on one HTTP/2
        /// connection. Default: 200.
        http2_max_streams: u32;

        /// Sends small packets at once (`TCP_NODELAY`), if true. Default: true.
        tcp_nodelay: bool;

        /// Sets the number of connections that the system may keep waiting
        /// until they are accepted; the system may have a lower limit. Default:
        /// 4,096.
        backlog: u32;

        /// Lets other listeners have the same address of TCP (`SO_REUSEPORT`), if
        /// true: those of other processes of the same user, and other servers of
        /// this process, such as one for each thread with a runtime of its own. Each
        /// sets it; the system spreads new connections over them. Default: false.
        /// An error when the address is bound on systems without it, such as Windows.
        ///
        /// All limits count for each server. A second process that starts by mistake
        /// is no error any more, but takes half of the connections. When one of them
        /// ends, connections that wait in its queue are refused;
        /// [`InheritedSockets`](crate::InheritedSockets) lose none.
        reuse_port: bool;

        /// Sets the number of listeners for each address of TCP that the server
        /// binds, each with an acceptor in a task of its own (`SO_REUSEPORT` where
        /// there are several). They share all limits. Default: 1, which accepts tens
        /// of thousands of connections a second; more help only where even more come
        /// that are short.
        acceptors: u32;

        /// Sets the options that override those of the router. Default: none.
        call: HostOptions;
    }

    /// Sets the time after which an idle connection of HTTP/1 is parked: it gives back its
    /// buffers, and takes them again for its next request, which costs some microseconds.
    /// `false` is never. Default: 2 s.
    ///
    /// The server parks idle connections sooner while many new connections arrive. The option
    /// has no effect if it is not below [`idle_timeout`](Self::idle_timeout).
    #[must_use]
    pub fn park_after(mut self, idle: impl IntoSetting<Duration>) -> Self {
        self.park_after = park_after(idle.into_setting());
        self
    }

    /// Sets the number of connections of one client: an address, or a network of
    /// 64 bits in IPv6. Default: a tenth of
    /// [`max_connections`](Self::max_connections) and at least 100 (1,000 of
    /// 10,000).
    ///
    /// Above the limit, the server closes the client's connection that has been idle longest.
    /// If none is idle, it closes the new connection.
    ///
    /// Connections without an address, such as those of Unix sockets, have no such
    /// limit. A proxy in front of the server is one client, unless it is trusted
    /// (`trust_proxy` of the router or of [`call`](Self::call)): so without a
    /// number here there is no such limit if a proxy is trusted. `false` is no limit, and
    /// `true` is the default. Connections of a load
    /// balancer in [`proxy_protocol`](Self::proxy_protocol) count for its clients.
    #[must_use]
    pub fn max_connections_per_client(mut self, connections: impl IntoSetting<u32>) -> Self {
        self.max_connections_per_client = per_client(connections.into_setting());
        self
    }

    /// Sets the number of bytes of a response that the system takes before it can send them
    /// (`TCP_NOTSENT_LOWAT`, on Linux and Android; no effect elsewhere). `false` leaves it to
    /// the system, as a rule without a limit. Default: 512 KiB (524,288).
    ///
    /// Without it, each client that does not read would hold some 4 MiB of the memory that all
    /// sockets of the machine share. Far less than the default costs speed at a distance.
    #[must_use]
    pub fn tcp_notsent_lowat(mut self, bytes: impl IntoSetting<u32>) -> Self {
        self.tcp_notsent_lowat = chosen(bytes.into_setting(), Some(TCP_NOTSENT_LOWAT));
        self
    }

    /// Sets the size of the system's buffer for bytes that are sent on a connection and not
    /// acknowledged (`SO_SNDBUF`), in bytes; Linux takes it twice, up to its own maximum.
    /// Default: `false`, and the system adapts it.
    ///
    /// A number is fixed, and bounds the speed at a distance: 64 KiB make 1.3 MB a second if
    /// both ways take 100 ms.
    #[must_use]
    pub fn tcp_send_buffer(mut self, bytes: impl IntoSetting<u32>) -> Self {
        self.tcp_send_buffer = chosen(bytes.into_setting(), None);
        self
    }

    /// Sets the trusted proxies in front of this server: their number, `true` for one, a list
    /// of their addresses and networks, or `false`. It overrides `trust_proxy` of the router
    /// and of [`call`](Self::call). A malformed network is a configuration error.
    ///
    /// ```
    /// use stockade::Router;
    /// use stockade::server::{CreateServer, ServerOptions};
    ///
    /// let options = ServerOptions::new().trust_proxy(1);
    /// assert!(Router::new().create_server_with(options).is_ok());
    ///
    /// let options = ServerOptions::new().trust_proxy(["10.0.0.0/8", "everywhere"]);
    /// let error = Router::new().create_server_with(options).unwrap_err();
    /// assert!(error.to_string().contains("\"everywhere\" is not a network"));
    /// ```
    #[must_use]
    #[doc(alias = "trustProxy")]
    pub fn trust_proxy(mut self, proxies: impl Into<TrustProxy>) -> Self {
        self.trust_proxy = Some(proxies.into());
        self
    }

    /// Returns the options that override those of the router.
    pub(crate) fn of_host(&self) -> HostOptions {
        match &self.trust_proxy {
            Some(proxies) => self.call.clone().trust_proxy(proxies.clone()),
            None => self.call.clone(),
        }
    }

    /// Returns the number of connections that one client may have; `None` is any.
    pub(crate) fn client_limit(&self, trusts_proxy: bool) -> Option<usize> {
        let share = (self.max_connections / 10).max(MIN_PER_CLIENT);
        let default = (!trusts_proxy).then_some(share);
        let limit = self.max_connections_per_client.or(default);
        limit.filter(|limit| *limit < self.max_connections).map(|limit| limit as usize)
    }

    /// Names the load balancers that send the client's address by the PROXY protocol,
    /// version 1 or 2, as a list of addresses and networks, or `false`. `unix:` means every
    /// peer without an address, as on a Unix socket. Default: `false`.
    ///
    /// Each connection of a named load balancer must begin with a header, before TLS.
    /// Its client address becomes the peer of all requests: for
    /// [`PeerAddr`](stockade_core::PeerAddr), `ClientIp`, logs, rate limits and
    /// [`max_connections_per_client`](Self::max_connections_per_client). `trust_proxy`
    /// counts from this address on, so it is not needed for the load balancer.
    ///
    /// The server closes a connection of a named load balancer without a response if its
    /// header is missing, malformed or longer than 536 bytes, or does not come within
    /// [`header_read_timeout`](Self::header_read_timeout). The log has the reason: the
    /// first malformed header of a server is a warning, and all others are at debug level.
    ///
    /// A header of any other peer is a malformed request: the server never decides by
    /// the first bytes of a connection, because clients could forge them. So other peers
    /// can still connect without a header, for example probes of Kubernetes. Use a
    /// firewall if only the load balancers may connect.
    ///
    /// The load balancer itself is the peer if the header has no TCP address: `LOCAL`,
    /// which health checks of the load balancer send, `UNKNOWN`, `AF_UNSPEC` and
    /// `AF_UNIX`. So do not name a load balancer in `trust_proxy` too: it would then
    /// trust the `X-Forwarded-For` of clients if the load balancer does not know their
    /// addresses. Further values of version 2 (TLVs) are skipped; a checksum is not verified.
    ///
    /// In a configuration file, the value is a list of networks, or `false`.
    ///
    /// ```
    /// use stockade::Router;
    /// use stockade::server::{CreateServer, ServerOptions};
    ///
    /// let options = ServerOptions::new().proxy_protocol(["10.0.0.0/8", "fd00::/8"]);
    /// assert!(Router::new().create_server_with(options).is_ok());
    ///
    /// let options = ServerOptions::new().proxy_protocol(["everywhere"]);
    /// assert!(Router::new().create_server_with(options).is_err());
    /// ```
    ///
    /// # Errors
    /// The server cannot be created if a text is neither an address, a network
    /// (`<address>/<prefix length>`) nor `unix:`, and for `true`, which would trust every
    /// client.
    ///
    /// Source: "The PROXY protocol, versions 1 & 2", HAProxy, `doc/proxy-protocol.txt`.
    #[must_use]
    #[doc(alias = "proxyProtocol")]
    #[doc(alias = "send-proxy")]
    pub fn proxy_protocol(mut self, load_balancers: impl IntoSetting<Vec<String>>) -> Self {
        self.proxy_protocol = Senders::of(load_balancers.into_setting());
        self
    }

    /// Overrides the router's `expose_errors`.
    #[must_use]
    pub fn expose_errors(mut self, expose: bool) -> Self {
        self.call = self.call.expose_errors(expose);
        self
    }

    /// Overrides the router's `max_body_size`, in bytes.
    #[must_use]
    pub fn max_body_size(mut self, bytes: u64) -> Self {
        self.call = self.call.max_body_size(bytes);
        self
    }

    /// Returns the rule for a body that is waited for.
    pub(crate) fn body_terms(&self) -> StallPolicy {
        StallPolicy { most: bounded(self.body_read_timeout), rate: self.min_read_rate }
    }

    /// Returns the rule for an answer that is not read.
    pub(crate) fn write_terms(&self) -> StallPolicy {
        StallPolicy { most: bounded(self.write_stall_timeout), rate: self.min_write_rate }
    }

    /// Finds all mistakes in the options.
    pub(crate) fn issues(&self) -> Vec<ConfigIssue> {
        let zeros = [
            ("header_read_timeout", self.header_read_timeout.is_zero()),
            ("idle_timeout", self.idle_timeout.is_zero()),
            ("park_after", self.park_after.is_zero()),
            ("body_read_timeout", self.body_read_timeout.is_zero()),
            ("write_stall_timeout", self.write_stall_timeout.is_zero()),
            ("shutdown_timeout", self.shutdown_timeout.is_zero()),
            ("max_connections", self.max_connections == 0),
            ("max_connections_per_client", self.max_connections_per_client == Some(0)),
            ("max_headers", self.max_headers == 0),
            ("max_header_bytes", self.max_header_bytes == 0),
            ("http2_max_streams", self.http2_max_streams == 0),
            ("tcp_notsent_lowat", self.tcp_notsent_lowat == Some(0)),
            ("tcp_send_buffer", self.tcp_send_buffer == Some(0)),
            ("backlog", self.backlog == 0),
            ("acceptors", self.acceptors == 0),
        ];
        let zeros = zeros.into_iter().filter(|(_, zero)| *zero);
        let zeros = zeros.map(|(name, _)| format!("the server's {name} must not be 0"));
        let highs = [
            ("max_connections", u64::from(self.max_connections), MAX_CONNECTIONS),
            ("max_headers", self.max_headers as u64, MAX_HEADERS),
            ("acceptors", u64::from(self.acceptors), MAX_ACCEPTORS),
            ("max_header_bytes", u64::from(self.max_header_bytes), MAX_HEADER_BYTES),
            ("min_read_rate", u64::from(self.min_read_rate), MAX_RATE),
            ("min_write_rate", u64::from(self.min_write_rate), MAX_RATE),
        ];
        let highs = highs.into_iter().filter(|(_, value, most)| value > most);
        let highs = highs.map(|(name, value, most)| {
            format!("the server's {name} must not be above {most}: {value}")
        });
        let of_host = self.of_host();
        let of_host = of_host.issue().into_iter().flat_map(ConfigError::issues).cloned();
        let of_proxies = self.proxy_protocol.issues();
        zeros.chain(highs).map(ConfigIssue::new).chain(of_proxies).chain(of_host).collect()
    }
}

fn millis<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    u64::deserialize(deserializer).map(Duration::from_millis)
}

/// Returns the value of an option that may be off.
fn chosen<T>(setting: Setting<T>, default: Option<T>) -> Option<T> {
    match setting {
        Setting::Value(value) => Some(value),
        Setting::Off => None,
        Setting::On | Setting::Inherit => default,
    }
}

fn park_after(setting: Setting<Duration>) -> Duration {
    chosen(setting, Some(PARK_AFTER)).unwrap_or(Duration::MAX)
}

/// `None` is the default, and a number that is not below `max_connections` is no limit.
fn per_client(setting: Setting<u32>) -> Option<u32> {
    if setting.is_off() { Some(u32::MAX) } else { setting.into_value() }
}

/// A number or a switch in a file.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a number, true or false")]
enum Notation<T> {
    Switch(bool),
    Value(T),
}

fn in_file<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    source: D,
) -> Result<Setting<T>, D::Error> {
    Ok(match Notation::deserialize(source)? {
        Notation::Switch(is_on) => is_on.into_setting(),
        Notation::Value(value) => Setting::Value(value),
    })
}

fn park_after_in_file<'de, D: Deserializer<'de>>(source: D) -> Result<Duration, D::Error> {
    Ok(park_after(in_file(source)?.map(Duration::from_millis)))
}

fn per_client_in_file<'de, D: Deserializer<'de>>(source: D) -> Result<Option<u32>, D::Error> {
    in_file(source).map(per_client)
}

fn notsent_lowat_in_file<'de, D: Deserializer<'de>>(source: D) -> Result<Option<u32>, D::Error> {
    Ok(chosen(in_file(source)?, Some(TCP_NOTSENT_LOWAT)))
}

fn send_buffer_in_file<'de, D: Deserializer<'de>>(source: D) -> Result<Option<u32>, D::Error> {
    Ok(chosen(in_file(source)?, None))
}

/// Returns a duration of the options as it is used: `Duration::MAX`, which
/// people write for "never", must not overflow when it is added to the time of
/// day.
pub(crate) fn bounded(duration: Duration) -> Duration {
    duration.min(MAX_DURATION)
}

const PARK_AFTER: Duration = Duration::from_secs(2);

/// In bytes.
const TCP_NOTSENT_LOWAT: u32 = 524_288;

/// One year.
const MAX_DURATION: Duration = Duration::from_secs(31_536_000);

/// The default of hyper, which keeps this number of headers on the stack.
pub(crate) const DEFAULT_MAX_HEADERS: usize = 100;

/// The least that a client may have by default: a house of people behind one
/// address.
const MIN_PER_CLIENT: u32 = 100;

/// A tokio semaphore on a 32-bit machine holds about 500 million.
const MAX_CONNECTIONS: u64 = 100_000_000;

/// A `http::HeaderMap` refuses more than 32,768 entries.
const MAX_HEADERS: u64 = 24_576;

/// 1 MiB.
const MAX_HEADER_BYTES: u64 = 1_048_576;

/// More than processors that a machine has.
const MAX_ACCEPTORS: u64 = 1_024;

/// 1 MiB a second: who asks for more has mistaken the unit.
const MAX_RATE: u64 = 1_048_576;

#[cfg(test)]
mod tests {
    use stockade_stages::RateLimit;

    use super::*;

    #[test]
    fn the_defaults_are_right_and_every_zero_is_reported() {
        assert_eq!(ServerOptions::new().issues(), []);
        let zero = Duration::ZERO;
        let mistakes = ServerOptions::new()
            .header_read_timeout(zero)
            .idle_timeout(zero)
            .park_after(zero)
            .body_read_timeout(zero)
            .write_stall_timeout(zero)
            .shutdown_timeout(zero)
            .max_connections(0)
            .max_connections_per_client(0)
            .max_headers(0)
            .max_header_bytes(0)
            .http2_max_streams(0)
            .tcp_notsent_lowat(0)
            .tcp_send_buffer(0)
            .backlog(0)
            .acceptors(0)
            .issues();
        assert_eq!(mistakes.len(), 15);
        assert_eq!(mistakes[6].message(), "the server's max_connections must not be 0");
        let mistakes = ServerOptions::new().max_headers(40_000).issues();
        let expected = "the server's max_headers must not be above 24576: 40000";
        assert_eq!(mistakes[0].message(), expected);
        let call = HostOptions::new().rate_limit(RateLimit::new().max_requests(0));
        let mistakes = ServerOptions::new().call(call).issues();
        let expected = "rate_limit: the limit of a rate limit must not be 0";
        assert_eq!(mistakes[0].message(), expected);
        let rates = ServerOptions::new().min_read_rate(2_000_000).min_write_rate(0).issues();
        let expected = "the server's min_read_rate must not be above 1048576: 2000000";
        assert_eq!(rates[0].message(), expected);
        assert_eq!(rates.len(), 1);
        let networks = ServerOptions::new().proxy_protocol(["::1", "private", "::1/129"]).issues();
        let expected = r#"the server's proxy_protocol: "private" is not a network"#;
        assert_eq!(networks[0].message(), expected);
        assert_eq!(networks.len(), 2);
    }

    #[test]
    fn the_defaults_are_those_of_the_documentation() {
        let defaults = ServerOptions::new();
        assert_eq!(defaults.header_read_timeout.as_millis(), 10_000);
        assert_eq!(defaults.idle_timeout.as_millis(), 60_000);
        assert_eq!(defaults.park_after.as_millis(), 2_000);
        assert_eq!(defaults.body_read_timeout.as_millis(), 30_000);
        assert_eq!(defaults.write_stall_timeout.as_millis(), 75_000);
        assert_eq!((defaults.min_read_rate, defaults.min_write_rate), (500, 500));
        assert_eq!(defaults.shutdown_timeout.as_millis(), 10_000);
        assert_eq!(defaults.shutdown_delay.as_millis(), 0);
        assert_eq!(defaults.max_connections, 10_000);
        assert_eq!(defaults.client_limit(false), Some(1_000));
        assert_eq!(defaults.max_headers, 100);
        assert_eq!(defaults.max_header_bytes, 16_384);
        assert!(!defaults.half_close);
        assert_eq!((defaults.reuse_port, defaults.acceptors), (false, 1));
        assert!(!defaults.proxy_protocol.contains(Some([127, 0, 0, 1].into())));
        assert!(!defaults.proxy_protocol.contains(None));
        assert_eq!((defaults.http2, defaults.http2_max_streams), (true, 200));
        assert_eq!((defaults.tcp_nodelay, defaults.backlog), (true, 4_096));
        assert_eq!((defaults.tcp_notsent_lowat, defaults.tcp_send_buffer), (Some(524_288), None));
        let nothing = format!("{:?}", HostOptions::new());
        assert_eq!(format!("{:?}", defaults.call), nothing);
    }

    #[test]
    fn a_client_may_have_a_tenth_unless_a_proxy_is_in_front() {
        // In all, of one client as given, a proxy is trusted; then the limit.
        let cases = [
            (10_000, None, false, Some(1_000)),
            (10_000, None, true, None),
            (10_000, Some(7), false, Some(7)),
            (10_000, Some(7), true, Some(7)),
            (10_000, Some(10_000), false, None),
            (500, None, false, Some(100)),
            (101, None, false, Some(100)),
            (100, None, false, None),
            (20, None, false, None),
        ];
        for (all, given, proxy, expected) in cases {
            let mut options = ServerOptions::new().max_connections(all);
            options.max_connections_per_client = given;
            assert_eq!(options.client_limit(proxy), expected, "{all} {given:?} {proxy}");
        }
    }

    #[test]
    fn durations_are_used_up_to_a_year() {
        let day = Duration::from_secs(86_400);
        let cases = [
            (Duration::from_millis(1), Duration::from_millis(1)),
            (day * 365, day * 365),
            (day * 366, day * 365),
            (Duration::from_millis(u64::MAX), day * 365),
            (Duration::MAX, day * 365),
        ];
        for (given, used) in cases {
            assert_eq!(bounded(given), used, "{given:?}");
        }
    }

    #[test]
    fn false_is_off_and_true_is_the_default_in_code_and_in_a_file() {
        let read = |text: &str| serde_json::from_str::<ServerOptions>(text);
        let seen = |options: &ServerOptions| {
            let limits = (options.client_limit(false), bounded(options.park_after));
            (limits, options.tcp_notsent_lowat, options.tcp_send_buffer)
        };
        for (is_on, expected) in [
            (true, ((Some(1_000), PARK_AFTER), Some(TCP_NOTSENT_LOWAT), None)),
            (false, ((None, MAX_DURATION), None, None)),
        ] {
            let in_code = ServerOptions::new()
                .park_after(is_on)
                .max_connections_per_client(is_on)
                .tcp_notsent_lowat(is_on)
                .tcp_send_buffer(is_on);
            assert_eq!(seen(&in_code), expected);
            let in_file = read(&format!(
                r#"{{ "park_after_ms": {is_on}, "max_connections_per_client": {is_on},
                     "tcp_notsent_lowat": {is_on}, "tcp_send_buffer": {is_on} }}"#
            ));
            assert_eq!(seen(&in_file.unwrap()), expected);
        }
        for text in [
            r#"{ "tcp_notsent_lowat": null }"#,
            r#"{ "park_after_ms": -1 }"#,
            r#"{ "max_connections_per_client": "7" }"#,
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.starts_with("a number, true or false"), "{error}");
        }
        let options = ServerOptions::new().proxy_protocol(["10.0.0.0/8"]);
        assert!(options.proxy_protocol.contains(Some([10, 0, 0, 1].into())));
        let options = options.proxy_protocol(false);
        assert!(!options.proxy_protocol.contains(Some([10, 0, 0, 1].into())));
        let issues = options.proxy_protocol(true).issues();
        assert_eq!(issues.len(), 1, "{issues:?}");
        assert!(issues[0].message().contains("proxy_protocol: true would trust every client"));
    }

    #[test]
    fn trusted_proxies_are_options_of_the_server() {
        let trusts = |options: &ServerOptions| {
            let app = stockade_routing::Router::new().build().unwrap();
            app.with_options(options.of_host()).map(|app| app.trusts_proxy())
        };
        let read = |text: &str| serde_json::from_str::<ServerOptions>(text);
        assert_eq!(trusts(&ServerOptions::new()), Ok(false));
        assert_eq!(trusts(&ServerOptions::new().trust_proxy(1)), Ok(true));
        assert_eq!(trusts(&ServerOptions::new().trust_proxy(["10.0.0.0/8"])), Ok(true));
        assert_eq!(trusts(&ServerOptions::new().trust_proxy(vec!["::1".to_owned()])), Ok(true));
        // It counts instead of the value in `call`.
        let call = HostOptions::new().trust_proxy(1);
        let both = ServerOptions::new().trust_proxy(false).call(call.clone());
        assert_eq!(trusts(&both), Ok(false));
        assert_eq!(trusts(&ServerOptions::new().call(call)), Ok(true));
        for (text, expected) in [
            (r#"{ "trust_proxy": 2 }"#, true),
            (r#"{ "trustProxy": ["10.0.0.0/8", "unix:"] }"#, true),
            (r#"{ "trustProxy": true }"#, true),
            (r#"{ "trustProxy": false, "call": { "trustProxy": 1 } }"#, false),
        ] {
            assert_eq!(trusts(&read(text).unwrap()), Ok(expected), "{text}");
        }
        for text in [r#"{ "trustProxy": ["everywhere"] }"#, r#"{ "trustProxy": 256 }"#] {
            assert!(read(text).is_err(), "{text}");
        }
        let limit = RateLimit::new().max_requests(0);
        let call = HostOptions::new().rate_limit(limit);
        let issues = ServerOptions::new().call(call).trust_proxy(["x", "y"]).issues();
        let messages: Vec<&str> = issues.iter().map(ConfigIssue::message).collect();
        assert!(messages[0].starts_with("rate_limit: "), "{messages:?}");
        assert_eq!(messages[1..], [r#""x" is not a network"#, r#""y" is not a network"#]);
    }

    #[test]
    fn they_are_read_from_a_file_with_durations_in_milliseconds() {
        let text = r#"{
            "header_read_timeout_ms": 1500,
            "max_connections": 7,
            "max_connections_per_client": 3,
            "tcp_notsent_lowat": false,
            "tcp_send_buffer": 65536,
            "min_read_rate": 0,
            "write_stall_timeout_ms": 2500,
            "http2": false,
            "call": { "expose_errors": true }
        }"#;
        let options: ServerOptions = serde_json::from_str(text).unwrap();
        assert_eq!(options.header_read_timeout, Duration::from_millis(1_500));
        assert_eq!(options.idle_timeout, Duration::from_secs(60));
        assert_eq!(options.write_stall_timeout, Duration::from_millis(2_500));
        assert_eq!((options.min_read_rate, options.min_write_rate), (0, 500));
        assert_eq!((options.max_connections, options.http2), (7, false));
        assert_eq!(options.max_connections_per_client, Some(3));
        assert_eq!((options.tcp_notsent_lowat, options.tcp_send_buffer), (None, Some(65_536)));
        let call = format!("{:?}", options.call);
        assert!(call.contains("expose_errors: Some(true)"), "{call}");

        for key in ["proxy_protocol", "proxyProtocol"] {
            let text = format!(r#"{{"{key}": ["10.0.0.0/8"]}}"#);
            let options: ServerOptions = serde_json::from_str(&text).unwrap();
            assert!(options.proxy_protocol.contains(Some([10, 0, 0, 1].into())), "{key}");
        }

        let error = serde_json::from_str::<ServerOptions>(r#"{"idle_timeout": 1}"#).unwrap_err();
        assert!(error.to_string().starts_with("unknown field `idle_timeout`"), "{error}");
    }
}
