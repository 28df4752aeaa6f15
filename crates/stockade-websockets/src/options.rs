//! [`WebSocketOptions`]: what a route says of its connections.

use std::time::Duration;

use stockade_validation::{Schema, ValidationOptions};

/// Writes a setter for each of some fields; the words after a comma are the unit.
macro_rules! setters {
    ($($name:ident: $kind:ty $(, $($unit:ident)+)?;)*) => {$(
        #[doc = concat!(
            "Sets [`", stringify!($name), "`](Self#structfield.", stringify!($name), ")"
            $(, ",", $(" ", stringify!($unit)),+)?, "."
        )]
        #[must_use]
        pub fn $name(mut self, $name: $kind) -> Self {
            self.$name = $name;
            self
        }
    )*};
}
pub(crate) use setters;

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
#[derive(Clone, Debug)]
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

    /// Sets [`validation`](Self#structfield.validation).
    #[must_use]
    pub fn validation(mut self, schema: Schema) -> Self {
        self.validation = Some(schema);
        self
    }

    setters! {
        max_json_values: usize;
        binary: bool;
        validation_options: ValidationOptions;
        ping_interval: Option<Duration>;
        ping_timeout: Duration;
        idle_timeout: Option<Duration>;
        write_timeout: Duration;
        close_timeout: Duration;
        max_rate: Option<u32>, in messages a second;
        send_queue: u64, in bytes;
        slow_reader: SlowReader;
    }
}
