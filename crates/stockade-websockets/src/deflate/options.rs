//! [`Deflate`]: the options of message compression.

use serde::Deserialize;
use stockade_core::{IntoSetting, Setting};

/// The options of compressed WebSocket messages (permessage-deflate, RFC 7692).
/// Requires the feature `ws-compression`.
///
/// Use it as a value of [`WebSocketOptions::compression`] or
/// `RouterOptions::ws_compression`; `true` selects the defaults of this type.
///
/// # Memory
///
/// A compressor uses about 310 KiB with 15 window bits and about 180 KiB with
/// 12; a decompressor uses about 45 KiB. By default they exist only while a
/// message is compressed or read. With
/// [`context_takeover`](Self::context_takeover), each connection keeps both.
///
/// The memory of the server for each connection, from its resident set with
/// 1,000 connections over plain TCP on Linux (2026-11-29). Active connections
/// have echoed two messages of 1 KiB:
///
/// | compression | idle | active |
/// |---|--:|--:|
/// | off | 16 kB | 17 kB |
/// | on | 16 kB | 17 kB |
/// | with context takeover, 15 window bits | 16 kB | 357 kB |
/// | only the server keeps its window | 16 kB | 336 kB |
/// | only the client keeps its window | 16 kB | 65 kB |
/// | with context takeover, 12 window bits | 16 kB | 242 kB |
/// | with context takeover, 9 window bits | 16 kB | 228 kB |
///
/// ```
/// use stockade::websockets::{Deflate, WebSocketOptions};
///
/// let options = WebSocketOptions::new().compression(Deflate::new().window_bits(12));
/// assert_eq!(options.compression.value(), Some(&Deflate::new().window_bits(12)));
/// ```
///
/// [`WebSocketOptions::compression`]: crate::WebSocketOptions::compression
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct Deflate {
    #[serde(alias = "windowBits")]
    pub(super) window_bits: u8,
    #[serde(alias = "contextTakeover")]
    pub(super) context_takeover: bool,
}

impl Default for Deflate {
    fn default() -> Self {
        Self { window_bits: MAX_BITS, context_takeover: false }
    }
}

impl Deflate {
    /// Returns the defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the base-two logarithm of the window size, from 9 (512 bytes) to 15
    /// (32 KiB). Any other number is a configuration error. Default: 15.
    ///
    /// The server never uses a larger window, and requests the same from
    /// clients that support it (`client_max_window_bits`). A smaller window
    /// compresses less.
    ///
    /// ```
    /// use stockade::websockets::{Deflate, WebSocketOptions};
    /// use stockade::{Router, RouterOptions};
    ///
    /// let mut router = Router::with_options(RouterOptions::new().enable_web_sockets(true));
    /// let options = WebSocketOptions::new().compression(Deflate::new().window_bits(16));
    /// router.add_web_socket_route("/", async |_: stockade::websockets::WebSocket| (), options);
    /// let error = router.build().unwrap_err();
    /// assert!(error.to_string().contains("`window_bits` is 16; expected 9 to 15"));
    /// ```
    #[must_use]
    pub fn window_bits(mut self, bits: u8) -> Self {
        self.window_bits = bits;
        self
    }

    /// Keeps the windows between messages if `true`, on both sides if the
    /// client agrees. Default: `false`.
    ///
    /// Small, similar messages become much smaller, but each connection uses
    /// more memory: see [Memory](Self#memory).
    ///
    /// ```
    /// use stockade::websockets::{Deflate, WebSocketOptions};
    ///
    /// let options = WebSocketOptions::new().compression(Deflate::new().context_takeover(true));
    /// assert!(options.compression.enabled().is_some());
    /// ```
    #[must_use]
    pub fn context_takeover(mut self, keeps: bool) -> Self {
        self.context_takeover = keeps;
        self
    }

    /// Returns the configuration error in these options, if any.
    pub(crate) fn issue(self) -> Option<String> {
        let bits = self.window_bits;
        let is_valid = (MIN_BITS..=MAX_BITS).contains(&bits);
        (!is_valid).then(|| format!("`window_bits` is {bits}; expected {MIN_BITS} to {MAX_BITS}"))
    }
}

impl IntoSetting<Self> for Deflate {
    fn into_setting(self) -> Setting<Self> {
        Setting::Value(self)
    }
}

/// The smallest window of the compressor. RFC 7692 allows 8, which zlib does
/// not support.
pub(super) const MIN_BITS: u8 = 9;
/// The largest window of DEFLATE.
pub(super) const MAX_BITS: u8 = 15;
