//! [`WebSocketOptions`]: the options of a WebSocket route.

use std::time::Duration;

use stockade_core::{IntoSetting, Setting};
use stockade_errors::__internal::setters;
use stockade_validation::{Schema, ValidationOptions};

use crate::close::Close;
#[cfg(feature = "compression")]
use crate::deflate::Deflate;

/// The options of a WebSocket route.
///
/// ```
/// use std::time::Duration;
///
/// use stockade::websockets::WebSocketOptions;
///
/// let options = WebSocketOptions::new()
///     .allowed_origins(["https://app.example.com"])
///     .max_payload(64 * 1024)
///     .idle_timeout(Some(Duration::from_secs(300)));
/// assert_eq!(options.max_payload, Some(65_536));
/// ```
///
/// Spec: Router construction and members › addWebSocketRoute; WebSocket routes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WebSocketOptions {
    /// Origins whose pages may connect, each exactly as browsers send it, such
    /// as `https://app.example.com`, or `*` for all. A list replaces the rule of
    /// the same origin; an empty one refuses every browser. `Off` is the rule of the
    /// same origin, whatever the router has, and so is `On`. It never allows all origins; only
    /// `*` does. Default: `Inherit`, the router's `ws_allowed_origins`.
    pub allowed_origins: Setting<Vec<String>>,
    /// Subprotocols of this route, in order of preference. The handshake selects
    /// the first that the client names, too, or none. Default: none.
    pub protocols: Vec<String>,
    /// The largest message of a client, in bytes, inclusive. The fragments of a
    /// message count together. A larger one ends the connection with 1009.
    /// Default: `None`, the router's `ws_max_payload`.
    pub max_payload: Option<u64>,
    /// The compression of messages (permessage-deflate, RFC 7692) for clients that offer
    /// it: `true`, `false` or a [`Deflate`]. Needs the feature `ws-compression`.
    /// [`max_payload`](Self#structfield.max_payload) bounds the decompressed bytes.
    /// Default: inherited, the router's `ws_compression`, which is `false`.
    #[cfg(feature = "compression")]
    pub compression: Setting<Deflate>,
    /// The largest number of JSON values in a message that [`recv_json`] reads.
    /// With validation only values that are kept untyped count, without it all.
    /// Default: 100,000.
    ///
    /// [`recv_json`]: crate::WebSocket::recv_json
    pub max_json_values: usize,
    /// True if binary messages reach the handler. Otherwise they are read and
    /// discarded, as the specification says. Default: false.
    pub binary: bool,
    /// True if pings, pongs and the close of a client reach the handler, as
    /// messages. They are answered in any case, and neither count against
    /// [`max_rate`](Self#structfield.max_rate) nor end the silence of
    /// [`idle_timeout`](Self#structfield.idle_timeout). Default: false.
    pub control_messages: bool,
    /// The schema of every message that is read as JSON. The schema of the route's
    /// entry, if there is one, counts instead. Default: none.
    pub validation: Option<Schema>,
    /// The options of [`validation`](Self#structfield.validation). Default: see
    /// [`ValidationOptions`].
    pub validation_options: ValidationOptions,
    /// The silence of a client after which it gets a ping. `None` sends no pings.
    /// Default: 30 s.
    pub ping_interval: Option<Duration>,
    /// The further silence after a ping that ends the connection. Default: 20 s.
    pub ping_timeout: Duration,
    /// The longest time without a message in either direction; then the connection
    /// ends with 1001. Pings do not count. Default: `None`, no limit.
    pub idle_timeout: Option<Duration>,
    /// The longest time in which the client takes none of the bytes that wait for
    /// it; then the connection is cut, at most two seconds later and never earlier.
    /// Default: 30 s.
    pub write_timeout: Duration,
    /// The time that the client has for its close frame, and after that the handler
    /// for coming to its end. Default: 5 s.
    pub close_timeout: Duration,
    /// The close code with which the connection ends when the credentials of its user
    /// stop being valid: the token expires or is revoked, or the session ends. Default:
    /// 4401.
    pub logged_out_code: u16,
    /// The number of messages that a client may send in a second, with at most one
    /// second saved up. More end the connection with 1008. Default: `None`, no
    /// limit.
    pub max_rate: Option<u32>,
    /// The bytes that may wait for the client before [`Sender::send`] waits. A
    /// message above this limit may wait alone. Default: 256 KiB (262,144).
    ///
    /// [`Sender::send`]: crate::Sender::send
    pub send_queue: u64,
    /// The treatment of a client whose [`send_queue`](Self#structfield.send_queue)
    /// is full when a message comes that cannot wait, such as one to a room.
    /// Default: [`SlowReader::Close`].
    pub slow_reader: SlowReader,
}

/// The treatment of a client that reads more slowly than messages come.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum SlowReader {
    /// The connection ends with 1008, so that no client misses a message without
    /// knowing it.
    #[default]
    Close,
    /// The client misses the message.
    Skip,
}

impl Default for WebSocketOptions {
    fn default() -> Self {
        Self {
            allowed_origins: Setting::Inherit,
            protocols: Vec::new(),
            max_payload: None,
            #[cfg(feature = "compression")]
            compression: Setting::Inherit,
            max_json_values: 100_000,
            binary: false,
            control_messages: false,
            validation: None,
            validation_options: ValidationOptions::default(),
            ping_interval: Some(Duration::from_secs(30)),
            ping_timeout: Duration::from_secs(20),
            idle_timeout: None,
            write_timeout: Duration::from_secs(30),
            close_timeout: Duration::from_secs(5),
            logged_out_code: Close::LOGGED_OUT,
            max_rate: None,
            send_queue: 262_144,
            slow_reader: SlowReader::default(),
        }
    }
}

impl WebSocketOptions {
    /// Returns the defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`allowed_origins`](Self#structfield.allowed_origins): a list, or `false` for the
    /// same origin only.
    #[must_use]
    #[doc(alias = "allowedOrigins")]
    pub fn allowed_origins(mut self, origins: impl IntoSetting<Vec<String>>) -> Self {
        self.allowed_origins = origins.into_setting();
        self
    }

    /// Sets [`protocols`](Self#structfield.protocols).
    #[must_use]
    pub fn protocols<S: Into<String>>(mut self, protocols: impl IntoIterator<Item = S>) -> Self {
        self.protocols = protocols.into_iter().map(Into::into).collect();
        self
    }

    /// Sets [`compression`](Self#structfield.compression). `true` keeps no window between
    /// messages, so that a silent connection needs no memory for it.
    ///
    /// Compress messages only if they do not mix secrets with text of an attacker: the
    /// length of a message may reveal the secret (as in the attack CRIME).
    ///
    /// ```
    /// use stockade::prelude::*;
    /// use stockade::websockets::{Deflate, WebSocket, WebSocketOptions};
    ///
    /// async fn board(mut socket: WebSocket) -> Result<(), ApiError> {
    ///     while let Some(text) = socket.recv_text().await {
    ///         socket.send(text?).await?;
    ///     }
    ///     Ok(())
    /// }
    ///
    /// let options = WebSocketOptions::new().compression(Deflate::new().window_bits(12));
    /// let api = routes! { "board": { ws: { board, options: options } } };
    /// let router = create_router(api, RouterOptions::new().enable_web_sockets(true));
    /// assert!(router.build().is_ok());
    /// ```
    #[cfg(feature = "compression")]
    #[doc(alias = "wsCompression")]
    #[doc(alias = "permessage-deflate")]
    #[must_use]
    pub fn compression(mut self, compression: impl IntoSetting<Deflate>) -> Self {
        self.compression = compression.into_setting();
        self
    }

    setters! {
        /// Sets [`validation`](Self#structfield.validation).
        validation: some Schema;

        /// Sets [`max_payload`](Self#structfield.max_payload), in bytes.
        max_payload: some u64;

        /// Sets [`max_json_values`](Self#structfield.max_json_values).
        max_json_values: usize;

        /// Sets [`binary`](Self#structfield.binary).
        binary: bool;

        /// Sets [`control_messages`](Self#structfield.control_messages).
        control_messages: bool;

        /// Sets [`validation_options`](Self#structfield.validation_options).
        validation_options: ValidationOptions;

        /// Sets [`ping_interval`](Self#structfield.ping_interval).
        ping_interval: Option<Duration>;

        /// Sets [`ping_timeout`](Self#structfield.ping_timeout).
        ping_timeout: Duration;

        /// Sets [`idle_timeout`](Self#structfield.idle_timeout).
        idle_timeout: Option<Duration>;

        /// Sets [`write_timeout`](Self#structfield.write_timeout).
        write_timeout: Duration;

        /// Sets [`close_timeout`](Self#structfield.close_timeout).
        close_timeout: Duration;

        /// Sets [`logged_out_code`](Self#structfield.logged_out_code). A code that must not
        /// be sent is a configuration error.
        logged_out_code: u16;

        /// Sets [`max_rate`](Self#structfield.max_rate), in messages a second.
        max_rate: Option<u32>;

        /// Sets [`send_queue`](Self#structfield.send_queue), in bytes.
        send_queue: u64;

        /// Sets [`slow_reader`](Self#structfield.slow_reader).
        slow_reader: SlowReader;
    }
}
