//! The options of a link.

use std::time::Duration;

use stockade_errors::__internal::setters;
use stockade_errors::ConfigIssue;

use crate::address::Login;

/// Options for [`Redis`](crate::Redis). The prefix is required.
///
/// ```
/// use std::time::Duration;
///
/// use stockade::redis::RedisOptions;
///
/// let options = RedisOptions::new().prefix("shop").connect_timeout(Duration::from_millis(500));
/// # drop(options);
/// ```
#[derive(Clone, Debug)]
pub struct RedisOptions {
    pub(crate) prefix: String,
    pub(crate) connect_timeout: Duration,
    pub(crate) max_in_flight: usize,
    pub(crate) root_certificates: Option<Vec<u8>>,
    pub(crate) engine_login: Option<Login>,
}

impl RedisOptions {
    /// Creates the default options. You must still set a prefix.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Sets the prefix of every key, which lets several applications share
        /// a server. It has 1 to 64 ASCII letters, digits and `-_.`. There is
        /// no default, because two deployments with the same prefix would share
        /// their counts of clients.
        prefix: into String;

        /// Sets the time limit to connect, encrypt and log in. Default: 1 s.
        connect_timeout: Duration;

        /// Sets the maximum number of commands that wait for a response.
        /// Further commands fail at once. Default: 10,000.
        max_in_flight: usize;

        /// Sets the trusted CA certificates (PEM) for `rediss://`. Default: the
        /// certificates that the system trusts.
        root_certificates: some into Vec<u8>;
    }

    /// Sets the user and password of the servers that Sentinel finds. The login
    /// in the addresses of [`Redis::sentinel`](crate::Redis::sentinel) is for
    /// Sentinel itself. Default: none. It is a configuration error without
    /// Sentinel.
    #[must_use]
    pub fn engine_login(mut self, user: impl Into<String>, password: impl Into<String>) -> Self {
        self.engine_login = Some(Login { user: user.into(), password: password.into() });
        self
    }

    pub(crate) fn issues(&self) -> Vec<ConfigIssue> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        let mut mistakes = Vec::new();
        if self.prefix.is_empty() {
            mistakes.push("a key prefix is required: RedisOptions::new().prefix(\"shop\")");
        } else if self.prefix.len() > MAX_PREFIX_BYTES || !self.prefix.bytes().all(is_plain) {
            mistakes.push("a prefix must have 1 to 64 characters: ASCII letters, digits, and -_.");
        }
        if self.connect_timeout.is_zero() {
            mistakes.push("the connect timeout must not be 0");
        }
        if self.max_in_flight == 0 {
            mistakes.push("the number of commands in flight must not be 0");
        }
        mistakes.into_iter().map(ConfigIssue::new).collect()
    }
}

impl Default for RedisOptions {
    fn default() -> Self {
        Self {
            prefix: String::new(),
            connect_timeout: Duration::from_secs(1),
            max_in_flight: 10_000,
            root_certificates: None,
            engine_login: None,
        }
    }
}

const MAX_PREFIX_BYTES: usize = 64;
