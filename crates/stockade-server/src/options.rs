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
/// They can be read from a configuration file. Keys are in camel case, such as
/// `maxConnections`, or in snake case, such as `max_connections`; an unknown
/// key is an error. Durations are in milliseconds, with `Ms` appended to the
/// name, such as `idleTimeoutMs`.
///
/// Connection timeouts are coarse: a stalled connection closes at most two
/// seconds after its timeout, and never before. Durations above one year count
/// as one year.
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
            http2: cfg!(feature = "http2"),
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

/// `cargo xtask hyper --plain` sets this variable to compile a server that uses
/// the plain path by default.
#[cfg(not(test))]
const fn fast_path_by_default() -> bool {
    option_env!("STOCKADE_PLAIN_PATH_BUILD").is_none()
}

/// Selects the plain path in the tests of this crate if this variable is set.
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
        /// Sets how long a client may take to send the head of a request. The
        /// time starts at the first byte; on a new connection it starts when
        /// the connection opens, and includes TLS. The connection then closes.
        /// Default: 10 s.
        header_read_timeout: Duration;

        /// Sets how long a connection may stay open without a request. Default:
        /// 60 s.
        idle_timeout: Duration;

        /// Sets the total time that the server waits for the body of a request.
        /// After that it sends 408. Default: 30 s.
        ///
        /// Only waiting time counts. Received bytes give time back, at
        /// [`min_read_rate`](Self::min_read_rate). A slow upload therefore
        /// survives as long as it sustains that rate. No pause may exceed this
        /// timeout; the first pause may not exceed 10 s.
        ///
        /// A wait begins when the application requests bytes that have not
        /// arrived, and ends when the application receives the next bytes. Time
        /// that the application spends elsewhere after requesting bytes also
        /// counts. Time before the first request for bytes does not.
        body_read_timeout: Duration;

        /// Sets the number of received bytes that give a client one second of
        /// [`body_read_timeout`](Self::body_read_timeout) back. With 0, each
        /// byte restores the full timeout. Default: 500.
        min_read_rate: u32;

        /// Sets the longest time that a client may leave a response unread.
        /// After that the response ends: on HTTP/1 with its connection; on
        /// HTTP/2 only this response, if only this stream has no room. Default:
        /// 75 s.
        ///
        /// Time counts only while there are bytes that the client does not
        /// accept. A stream that sends an event once a minute can therefore run
        /// forever. Accepted bytes give time back, at
        /// [`min_write_rate`](Self::min_write_rate).
        ///
        /// A slow reader may appear stalled for a minute, because its system
        /// accepts many bytes at once; hence the long default. If more than 16
        /// connections, and more than one in 256 of
        /// [`max_connections`](Self::max_connections), accept nothing, they get
        /// only 12 s. If [clients are
        /// counted](Self::max_connections_per_client), this applies to the
        /// clients with the most stalled connections, until the others have
        /// room.
        write_stall_timeout: Duration;

        /// Sets the number of response bytes that give a client one second of
        /// [`write_stall_timeout`](Self::write_stall_timeout) back when it
        /// accepts them. With 0, each byte restores the full timeout. Default:
        /// 500.
        min_write_rate: u32;

        /// Sets how long running requests may continue after a shutdown has
        /// begun. Default: 10 s.
        shutdown_timeout: Duration;

        /// Sets how long the server continues as before when a shutdown begins,
        /// while the application's
        /// [`Readiness`](stockade_stages::health::Readiness) is already false.
        /// Load balancers use this time to redirect requests.
        /// [`shutdown_timeout`](Self::shutdown_timeout) begins afterwards.
        /// Default: 0.
        shutdown_delay: Duration;

        /// Prints the address and the documentation page to stderr when
        /// [`listen`](crate::CreateServer::listen) starts and the program has
        /// no logger. With a logger, they are logged at info level instead.
        /// Default: true.
        announce: bool;

        /// Sets the maximum number of concurrent connections. Default: 10,000.
        ///
        /// For each additional connection, the server closes the connection
        /// that has been idle longest. If none is idle, the client with the
        /// most unfinished requests loses its slowest one, if it has more than
        /// its share: the connections divided by the clients. A request is
        /// unfinished while the server waits for the rest of its head or body,
        /// or for the client to read. This requires a limit [for each
        /// client](Self::max_connections_per_client). Otherwise the new
        /// connection waits until another closes, and later connections wait in
        /// the system's queue (see [`backlog`](Self::backlog)). The same rules
        /// apply when the system runs out of file descriptors.
        max_connections: u32;

        /// Sets the maximum number of header lines in a request. Requests with
        /// more get a 431. On HTTP/1, a value other than the default costs one
        /// allocation per request. Default: 100.
        max_headers: usize;

        /// Sets the maximum size of the head of a request, in bytes. A longer
        /// head gets a 431. Default: 16 KiB (16,384).
        max_header_bytes: u32;

        /// Responds to HTTP/1 clients that have closed their sending side after
        /// the request (a half-closed connection, as with `nc -N`), if true.
        /// Default: false: such a client counts as disconnected, and its
        /// handler ends.
        ///
        /// A client that has disconnected completely looks identical until the
        /// server writes to it. With this option, a handler therefore continues
        /// to its end or its timeout after its client has disconnected. No
        /// effect on HTTP/2, because its clients close streams rather than the
        /// connection.
        half_close: bool;

        /// Sets whether the server uses optimizations that depend on hyper
        /// internals. Default: true.
        ///
        /// They make small responses cheaper and free the buffers of idle
        /// connections. The first server of a process checks if they work with
        /// the linked version of hyper, which takes about 2 ms. If not, the
        /// server logs a warning and does not use them.
        ///
        /// Set it to false to rule them out, for example during debugging.
        /// Responses are identical except for the order of their headers and
        /// the sizes of chunks. [`park_after`](Self::park_after) then has no
        /// effect.
        hyper_fast_path: bool;

        /// Accepts HTTP/2 from clients that begin with it, if true. Default:
        /// true with the feature `http2`, which `tls` includes. Setting it to
        /// true without the feature is a configuration error.
        http2: bool;

        /// Sets the maximum number of concurrent requests on one HTTP/2
        /// connection. Default: 200.
        http2_max_streams: u32;

        /// Sends small packets immediately (`TCP_NODELAY`), if true. Default:
        /// true.
        tcp_nodelay: bool;

        /// Sets the number of connections that may wait in the system's queue
        /// before they are accepted. The system may impose a lower limit.
        /// Default: 4,096.
        backlog: u32;

        /// Allows other listeners on the same TCP address (`SO_REUSEPORT`), if
        /// true: listeners of the same user's other processes, and of other
        /// servers in this process, such as one per thread, each with a
        /// separate runtime. Every listener must set it. The system distributes
        /// new connections between them. Binding fails on systems without
        /// support, such as Windows. Default: false.
        ///
        /// All limits apply per server. A second process that starts by
        /// accident no longer causes an error, but receives half of the
        /// connections. When a process ends, connections waiting in its queue
        /// are refused; [`InheritedSockets`](crate::InheritedSockets) avoid
        /// this loss.
        reuse_port: bool;

        /// Sets the number of listeners per TCP address that the server binds,
        /// each with an acceptor in a separate task (`SO_REUSEPORT` if there
        /// are several). They share all limits. Default: 1, which accepts tens
        /// of thousands of connections per second. Increase it only for more
        /// connections than that, if they are short.
        acceptors: u32;

        /// Sets the options that override the router's options. Default: none.
        call: HostOptions;
    }

    /// Sets the time after which an idle HTTP/1 connection is parked: it frees
    /// its buffers, and allocates them again for its next request, which costs
    /// some microseconds. `false` disables parking. Default: 2 s.
    ///
    /// The server parks idle connections sooner while many new connections
    /// arrive. The option has no effect unless it is below
    /// [`idle_timeout`](Self::idle_timeout).
    #[must_use]
    pub fn park_after(mut self, idle: impl IntoSetting<Duration>) -> Self {
        self.park_after = park_after(idle.into_setting());
        self
    }

    /// Sets the maximum number of connections per client: an IPv4 address, or a
    /// 64-bit IPv6 network. Default: a tenth of
    /// [`max_connections`](Self::max_connections), at least 100 (1,000 of
    /// 10,000).
    ///
    /// Above the limit, the server closes the client's connection that has been
    /// idle longest. If none is idle, it closes the new connection.
    ///
    /// Connections without an address, such as connections on Unix sockets, are
    /// not limited. A proxy in front of the server counts as one client, unless
    /// it is trusted (`trust_proxy` of the router or of [`call`](Self::call)).
    /// If a proxy is trusted, the default is no limit. `false` disables the
    /// limit, and `true` selects the default. Connections through a load
    /// balancer with [`proxy_protocol`](Self::proxy_protocol) count for its
    /// clients.
    #[must_use]
    pub fn max_connections_per_client(mut self, connections: impl IntoSetting<u32>) -> Self {
        self.max_connections_per_client = per_client(connections.into_setting());
        self
    }

    /// Sets the number of response bytes that the system buffers before it can
    /// send them (`TCP_NOTSENT_LOWAT`, on Linux and Android; no effect
    /// elsewhere). `false` uses the system's setting, which is usually
    /// unlimited. Default: 512 KiB (524,288).
    ///
    /// Without a limit, each client that does not read would occupy about 4 MiB
    /// of the memory that all sockets of the machine share. A value far below
    /// the default reduces speed over long distances.
    #[must_use]
    pub fn tcp_notsent_lowat(mut self, bytes: impl IntoSetting<u32>) -> Self {
        self.tcp_notsent_lowat = chosen(bytes.into_setting(), Some(TCP_NOTSENT_LOWAT));
        self
    }

    /// Sets the size of the system's buffer for bytes sent but not acknowledged
    /// on a connection (`SO_SNDBUF`), in bytes. Linux doubles it, up to the
    /// system's maximum. Default: `false`, and the system adapts it.
    ///
    /// A fixed size limits the speed over long distances: 64 KiB allow 1.3 MB
    /// per second with a round trip of 100 ms.
    #[must_use]
    pub fn tcp_send_buffer(mut self, bytes: impl IntoSetting<u32>) -> Self {
        self.tcp_send_buffer = chosen(bytes.into_setting(), None);
        self
    }

    /// Sets the trusted proxies: their number, `true` for one, a list of their
    /// addresses and networks, or `false`. Overrides `trust_proxy` of the
    /// router and of [`call`](Self::call). A malformed network is a
    /// configuration error.
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

    /// Returns the options that override the router's options.
    pub(crate) fn of_host(&self) -> HostOptions {
        match &self.trust_proxy {
            Some(proxies) => self.call.clone().trust_proxy(proxies.clone()),
            None => self.call.clone(),
        }
    }

    /// Returns the maximum number of connections per client, or `None` for no
    /// limit.
    pub(crate) fn client_limit(&self, trusts_proxy: bool) -> Option<usize> {
        let share = (self.max_connections / 10).max(MIN_PER_CLIENT);
        let default = (!trusts_proxy).then_some(share);
        let limit = self.max_connections_per_client.or(default);
        limit.filter(|limit| *limit < self.max_connections).map(|limit| limit as usize)
    }

    /// Sets the load balancers that send the client's address by the PROXY
    /// protocol, version 1 or 2: a list of addresses and networks, or `false`.
    /// `unix:` means every peer without an address, as on a Unix socket.
    /// Default: `false`.
    ///
    /// Each connection of a listed load balancer must begin with a header,
    /// before TLS. Its client address becomes the peer of all requests: for
    /// [`PeerAddr`](stockade_core::PeerAddr), `ClientIp`, logs, rate limits and
    /// [`max_connections_per_client`](Self::max_connections_per_client).
    /// `trust_proxy` counts from this address on, so it is not needed for the
    /// load balancer.
    ///
    /// The server closes a listed load balancer's connection without a response
    /// if its header is missing, malformed or longer than 536 bytes, or does
    /// not arrive within [`header_read_timeout`](Self::header_read_timeout).
    /// The reason is logged: the first malformed header of a server at warn
    /// level, all others at debug level.
    ///
    /// A header from any other peer is a malformed request. The server never
    /// decides by the first bytes of a connection, because clients could forge
    /// them. Other peers, for example Kubernetes probes, can therefore still
    /// connect without a header. Use a firewall if only the load balancers may
    /// connect.
    ///
    /// The load balancer itself is the peer if the header does not contain a
    /// TCP address: `LOCAL`, which the load balancer's health checks send,
    /// `UNKNOWN`, `AF_UNSPEC` and `AF_UNIX`. Do not also list a load balancer
    /// in `trust_proxy`: that would trust the `X-Forwarded-For` of clients
    /// whenever the load balancer does not know their addresses. Additional
    /// values of version 2 (TLVs) are skipped; a checksum is not verified.
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
    /// The server cannot be created if an item is not an address, a network
    /// (`<address>/<prefix length>`) or `unix:`, or if the value is `true`,
    /// which would trust every client.
    ///
    /// Source: "The PROXY protocol, versions 1 & 2", HAProxy,
    /// `doc/proxy-protocol.txt`.
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

    /// Returns the stall policy for request bodies.
    pub(crate) fn body_terms(&self) -> StallPolicy {
        StallPolicy { most: bounded(self.body_read_timeout), rate: self.min_read_rate }
    }

    /// Returns the stall policy for unread responses.
    pub(crate) fn write_terms(&self) -> StallPolicy {
        StallPolicy { most: bounded(self.write_stall_timeout), rate: self.min_write_rate }
    }

    /// Returns all configuration errors in the options.
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
            format!("the server's {name} must be at most {most}, found {value}")
        });
        let missing = (self.http2 && !cfg!(feature = "http2"))
            .then(|| "the server's http2 needs the feature `http2` of stockade".to_owned());
        let of_host = self.of_host();
        let of_host = of_host.issue().into_iter().flat_map(ConfigError::issues).cloned();
        let of_proxies = self.proxy_protocol.issues();
        zeros
            .chain(highs)
            .chain(missing)
            .map(ConfigIssue::new)
            .chain(of_proxies)
            .chain(of_host)
            .collect()
    }
}

fn millis<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    u64::deserialize(deserializer).map(Duration::from_millis)
}

/// Returns the value of an option that can be disabled.
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

/// Returns the limit; `None` is the default. A number not below
/// `max_connections` disables the limit.
fn per_client(setting: Setting<u32>) -> Option<u32> {
    if setting.is_off() { Some(u32::MAX) } else { setting.into_value() }
}

/// A number or a switch in a configuration file.
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

/// Limits a duration to one year. `Duration::MAX`, a common value for "never",
/// would otherwise overflow when added to the current time.
pub(crate) fn bounded(duration: Duration) -> Duration {
    duration.min(MAX_DURATION)
}

const PARK_AFTER: Duration = Duration::from_secs(2);

/// In bytes.
const TCP_NOTSENT_LOWAT: u32 = 524_288;

/// One year.
const MAX_DURATION: Duration = Duration::from_secs(31_536_000);

/// The default of hyper, which stores up to this number of headers on the
/// stack.
pub(crate) const DEFAULT_MAX_HEADERS: usize = 100;

/// The smallest default per client, enough for a household behind one address.
const MIN_PER_CLIENT: u32 = 100;

/// A tokio semaphore on a 32-bit machine is limited to about 500 million.
const MAX_CONNECTIONS: u64 = 100_000_000;

/// A `http::HeaderMap` rejects more than 32,768 entries.
const MAX_HEADERS: u64 = 24_576;

/// 1 MiB.
const MAX_HEADER_BYTES: u64 = 1_048_576;

/// More than the number of processors in any machine.
const MAX_ACCEPTORS: u64 = 1_024;

/// 1 MiB per second. A larger value is probably in the wrong unit.
const MAX_RATE: u64 = 1_048_576;

#[cfg(test)]
mod tests {
    use stockade_stages::RateLimit;

    use super::*;

    #[test]
    fn the_defaults_are_valid_and_every_zero_is_reported() {
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
        let expected = "the server's max_headers must be at most 24576, found 40000";
        assert_eq!(mistakes[0].message(), expected);
        let call = HostOptions::new().rate_limit(RateLimit::new().max_requests(0));
        let mistakes = ServerOptions::new().call(call).issues();
        let expected = "rate_limit: the limit of a rate limit must not be 0";
        assert_eq!(mistakes[0].message(), expected);
        let rates = ServerOptions::new().min_read_rate(2_000_000).min_write_rate(0).issues();
        let expected = "the server's min_read_rate must be at most 1048576, found 2000000";
        assert_eq!(rates[0].message(), expected);
        assert_eq!(rates.len(), 1);
        let networks = ServerOptions::new().proxy_protocol(["::1", "private", "::1/129"]).issues();
        let expected = r#"the server's proxy_protocol: "private" is not a network"#;
        assert_eq!(networks[0].message(), expected);
        assert_eq!(networks.len(), 2);
    }

    #[test]
    fn the_defaults_match_the_documentation() {
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
    fn a_client_is_limited_to_a_tenth_unless_a_proxy_is_trusted() {
        // Total, configured value per client, whether a proxy is trusted; then
        // the expected limit.
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
    fn durations_are_capped_at_a_year() {
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
    fn false_disables_and_true_is_the_default_in_code_and_files() {
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
        // Overrides the value in `call`.
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
    fn reads_durations_in_milliseconds_from_a_file() {
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
