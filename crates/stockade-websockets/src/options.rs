//! [`WebSocketOptions`]: the options of a WebSocket route.

use std::time::Duration;

use stockade_core::{IntoSetting, Setting};
use stockade_errors::__internal::setters;
use stockade_validation::{Schema, ValidationOptions};

use crate::close::Close;
#[cfg(feature = "ws-compression")]
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
// Spec: Router construction and members › addWebSocketRoute; WebSocket routes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WebSocketOptions {
    /// Origins that may connect, each exactly as browsers send it, such as
    /// `https://app.example.com`; `*` allows all. A list replaces the
    /// same-origin rule; an empty list rejects every browser. `Off` and `On`
    /// both select the same-origin rule, regardless of the router's setting.
    /// Neither of them allows all origins. Default: `Inherit`, the router's
    /// `ws_allowed_origins`.
    pub allowed_origins: Setting<Vec<String>>,
    /// Subprotocols of this route, in order of preference. The handshake
    /// selects the first one that the client also requests, if any. Default:
    /// none.
    pub protocols: Vec<String>,
    /// The largest message from a client, in bytes, inclusive. The fragments of
    /// a message count together. A larger message ends the connection (1009).
    /// Default: `None`, the router's `ws_max_payload`.
    pub max_payload: Option<u64>,
    /// Message compression (permessage-deflate, RFC 7692) for clients that
    /// offer it: `true`, `false` or a [`Deflate`]. Requires the feature
    /// `ws-compression`. [`max_payload`](Self#structfield.max_payload) limits
    /// the decompressed bytes. Default: inherited from the router's
    /// `ws_compression`, which is `false`.
    #[cfg(feature = "ws-compression")]
    pub compression: Setting<Deflate>,
    /// The largest number of JSON values in a message that [`recv_json`] reads.
    /// With validation, only values that stay untyped count; without it, all
    /// values count. Default: 100,000.
    ///
    /// [`recv_json`]: crate::WebSocket::recv_json
    pub max_json_values: usize,
    /// True if the handler receives binary messages. Otherwise they are read
    /// and discarded, as the specification requires. Default: false.
    pub binary: bool,
    /// True if the handler receives the client's pings, pongs and close as
    /// messages. Pings and closes are answered even if this is false. Control
    /// messages neither count against [`max_rate`](Self#structfield.max_rate)
    /// nor reset [`idle_timeout`](Self#structfield.idle_timeout). Default:
    /// false.
    pub control_messages: bool,
    /// The schema for messages that are read as JSON. The `validation` of the
    /// route entry takes precedence. Default: none.
    pub validation: Option<Schema>,
    /// The options of [`validation`](Self#structfield.validation). Default: see
    /// [`ValidationOptions`].
    pub validation_options: ValidationOptions,
    /// A client gets a ping after this time of silence. `None` disables pings.
    /// Default: 30 s.
    pub ping_interval: Option<Duration>,
    /// The maximum silence after a ping before the connection ends. Default: 20
    /// s.
    pub ping_timeout: Duration,
    /// The longest time without a message in either direction. After that the
    /// connection ends with 1001. Pings do not count. Default: `None`, no
    /// limit.
    pub idle_timeout: Option<Duration>,
    /// The longest time that a client may leave all waiting bytes unread. The
    /// connection is then cut, at most two seconds late and never early.
    /// Default: 30 s.
    pub write_timeout: Duration,
    /// The time limit for the client's close frame, and then for the end of the
    /// handler. Default: 5 s.
    pub close_timeout: Duration,
    /// The close code that ends the connection when the credentials of its user
    /// become invalid: the token expires or is revoked, or the session ends.
    /// Default: 4401.
    pub logged_out_code: u16,
    /// The number of messages that a client may send per second. At most one
    /// second's worth can be saved up. Exceeding it ends the connection with
    /// code 1008. Default: `None`, no limit.
    pub max_rate: Option<u32>,
    /// The number of bytes that may wait for the client before [`Sender::send`]
    /// waits. A larger message is accepted only if the queue is empty. Default:
    /// 256 KiB (262,144).
    ///
    /// [`Sender::send`]: crate::Sender::send
    pub send_queue: u64,
    /// The treatment of a client with a full
    /// [`send_queue`](Self#structfield.send_queue) when a message arrives that
    /// cannot wait, such as a room message. Default: [`SlowReader::Close`].
    pub slow_reader: SlowReader,
}

/// The treatment of a client that reads more slowly than messages arrive.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum SlowReader {
    /// The connection ends with 1008. No client misses a message unknowingly.
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
            #[cfg(feature = "ws-compression")]
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

    /// Sets [`allowed_origins`](Self#structfield.allowed_origins): a list, or
    /// `false` for the same-origin rule.
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

    /// Sets [`compression`](Self#structfield.compression). `true` does not keep
    /// a window between messages, so a silent connection needs no memory for
    /// it.
    ///
    /// Do not compress messages that mix secrets with text from an attacker:
    /// the length of a message may reveal the secret (as in the CRIME attack).
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
    #[cfg(feature = "ws-compression")]
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

        /// Sets [`logged_out_code`](Self#structfield.logged_out_code). A code
        /// that must not be sent is a configuration error.
        logged_out_code: u16;

        /// Sets [`max_rate`](Self#structfield.max_rate), in messages per
        /// second.
        max_rate: Option<u32>;

        /// Sets [`send_queue`](Self#structfield.send_queue), in bytes.
        send_queue: u64;

        /// Sets [`slow_reader`](Self#structfield.slow_reader).
        slow_reader: SlowReader;
    }
}
