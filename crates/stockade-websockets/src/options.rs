//! [`WebSocketOptions`]: what a route says of its connections.

use std::time::Duration;

use stockade_validation::{Schema, ValidationOptions};

/// The options of a WebSocket route.
///
/// ```
/// use std::time::Duration;
/// use stockade_websockets::WebSocketOptions;
///
/// let options = WebSocketOptions::new()
///     .allowed_origins(["https://app.example.com"])
///     .max_payload(64 * 1024)
///     .idle_timeout(Some(Duration::from_secs(300)));
/// assert_eq!(options.max_payload, Some(65_536));
/// ```
///
/// Spec: Router members › addWebSocketRoute; WebSocket routes.
#[derive(Clone)]
#[non_exhaustive]
pub struct WebSocketOptions {
    /// Origins whose pages may connect, each exactly as browsers send it, such
    /// as `https://app.example.com`, or `*` for all. They replace the rule of
    /// the same origin; an empty list refuses every browser. Default: `None`,
    /// the router's `ws_allowed_origins`.
    pub allowed_origins: Option<Vec<String>>,
    /// Subprotocols that are spoken here. Of those that the client names, the
    /// first that stands here is agreed on; if there is none, none is. Default:
    /// none.
    pub protocols: Vec<String>,
    /// The largest message of a client, in bytes, inclusive, all fragments
    /// together; a larger one ends the connection with 1009. Default: `None`,
    /// the router's `ws_max_payload`.
    pub max_payload: Option<u64>,
    /// The largest number of values in a message that is read as JSON
    /// ([`recv_json`]): those that are kept untyped, or all where the route has
    /// no validation. Default: 100,000.
    ///
    /// [`recv_json`]: crate::WebSocket::recv_json
    pub max_json_values: usize,
    /// Whether binary messages reach the handler; else they are read and
    /// forgotten, as the specification says. Default: false.
    pub binary: bool,
    /// The schema of every message that is read as JSON. Default: none. That of
    /// the route's entry, if it has one, counts instead.
    pub validation: Option<Schema>,
    /// How [`validation`](Self#structfield.validation) judges. Default: see
    /// [`ValidationOptions`].
    pub validation_options: ValidationOptions,
    /// After how much silence the client is asked by a ping whether it is still
    /// there. Default: 30 s. `None` never asks.
    pub ping_interval: Option<Duration>,
    /// How long it may then stay silent before the connection is given up.
    /// Default: 20 s.
    pub ping_timeout: Duration,
    /// How long a connection may be without a message in either direction,
    /// before it ends with 1001; pings do not count. Default: `None`, for ever.
    pub idle_timeout: Option<Duration>,
    /// How long the client may take no bytes of what waits for it, before the
    /// connection is cut; at most two seconds later, never earlier. Default:
    /// 30 s.
    pub write_timeout: Duration,
    /// How long the client has for its part of the closing handshake, and
    /// after that the handler to come to its end. Default: 5 s.
    pub close_timeout: Duration,
    /// How many messages a client may send in a second, with as many saved up;
    /// more end the connection with 1008. Default: `None`, any number.
    pub max_rate: Option<u32>,
    /// How many bytes may wait for the client before [`Sender::send`] waits; a
    /// message that is larger than this may wait alone. Default: 256 KiB
    /// (262,144).
    ///
    /// [`Sender::send`]: crate::Sender::send
    pub send_queue: u64,
    /// What becomes of a message that is sent without waiting, as to a room,
    /// when [`send_queue`](Self#structfield.send_queue) is full. Default:
    /// [`SlowReader::Close`].
    pub slow_reader: SlowReader,
}

/// What becomes of a client that does not read as fast as it is sent to.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum SlowReader {
    /// Its connection ends with 1008, so that it never misses a message
    /// without knowing.
    #[default]
    Close,
    /// It misses the message.
    Skip,
}

impl Default for WebSocketOptions {
    fn default() -> Self {
        Self {
            allowed_origins: None,
            protocols: Vec::new(),
            max_payload: None,
            max_json_values: 100_000,
            binary: false,
            validation: None,
            validation_options: ValidationOptions::default(),
            ping_interval: Some(Duration::from_secs(30)),
            ping_timeout: Duration::from_secs(20),
            idle_timeout: None,
            write_timeout: Duration::from_secs(30),
            close_timeout: Duration::from_secs(5),
            max_rate: None,
            send_queue: 262_144,
            slow_reader: SlowReader::default(),
        }
    }
}

impl WebSocketOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`allowed_origins`](Self#structfield.allowed_origins).
    #[must_use]
    #[doc(alias = "allowedOrigins")]
    pub fn allowed_origins<S: Into<String>>(
        mut self,
        origins: impl IntoIterator<Item = S>,
    ) -> Self {
        self.allowed_origins = Some(origins.into_iter().map(Into::into).collect());
        self
    }

    /// Sets [`protocols`](Self#structfield.protocols).
    #[must_use]
    pub fn protocols<S: Into<String>>(mut self, protocols: impl IntoIterator<Item = S>) -> Self {
        self.protocols = protocols.into_iter().map(Into::into).collect();
        self
    }

    /// Sets [`max_payload`](Self#structfield.max_payload), in bytes.
    #[must_use]
    pub fn max_payload(mut self, bytes: u64) -> Self {
        self.max_payload = Some(bytes);
        self
    }

    /// Sets [`max_json_values`](Self#structfield.max_json_values).
    #[must_use]
    pub fn max_json_values(mut self, values: usize) -> Self {
        self.max_json_values = values;
        self
    }

    /// Sets [`binary`](Self#structfield.binary).
    #[must_use]
    pub fn binary(mut self, binary: bool) -> Self {
        self.binary = binary;
        self
    }

    /// Sets [`validation`](Self#structfield.validation).
    #[must_use]
    pub fn validation(mut self, schema: Schema) -> Self {
        self.validation = Some(schema);
        self
    }

    /// Sets [`validation_options`](Self#structfield.validation_options).
    #[must_use]
    pub fn validation_options(mut self, options: ValidationOptions) -> Self {
        self.validation_options = options;
        self
    }

    /// Sets [`ping_interval`](Self#structfield.ping_interval).
    #[must_use]
    pub fn ping_interval(mut self, interval: Option<Duration>) -> Self {
        self.ping_interval = interval;
        self
    }

    /// Sets [`ping_timeout`](Self#structfield.ping_timeout).
    #[must_use]
    pub fn ping_timeout(mut self, timeout: Duration) -> Self {
        self.ping_timeout = timeout;
        self
    }

    /// Sets [`idle_timeout`](Self#structfield.idle_timeout).
    #[must_use]
    pub fn idle_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.idle_timeout = timeout;
        self
    }

    /// Sets [`write_timeout`](Self#structfield.write_timeout).
    #[must_use]
    pub fn write_timeout(mut self, timeout: Duration) -> Self {
        self.write_timeout = timeout;
        self
    }

    /// Sets [`close_timeout`](Self#structfield.close_timeout).
    #[must_use]
    pub fn close_timeout(mut self, timeout: Duration) -> Self {
        self.close_timeout = timeout;
        self
    }

    /// Sets [`max_rate`](Self#structfield.max_rate), in messages a second.
    #[must_use]
    pub fn max_rate(mut self, messages: Option<u32>) -> Self {
        self.max_rate = messages;
        self
    }

    /// Sets [`send_queue`](Self#structfield.send_queue), in bytes.
    #[must_use]
    pub fn send_queue(mut self, bytes: u64) -> Self {
        self.send_queue = bytes;
        self
    }

    /// Sets [`slow_reader`](Self#structfield.slow_reader).
    #[must_use]
    pub fn slow_reader(mut self, slow_reader: SlowReader) -> Self {
        self.slow_reader = slow_reader;
        self
    }
}

impl std::fmt::Debug for WebSocketOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WebSocketOptions")
            .field("allowed_origins", &self.allowed_origins)
            .field("protocols", &self.protocols)
            .field("max_payload", &self.max_payload)
            .field("max_json_values", &self.max_json_values)
            .field("binary", &self.binary)
            .finish_non_exhaustive()
    }
}
