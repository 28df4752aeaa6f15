//! The address of a Redis server, with the login.

use std::fmt;

use redis::{ConnectionAddr, IntoConnectionInfo as _, RedisConnectionInfo};
use stockade_errors::ConfigIssue;

/// The address of a Redis server. Its `Debug` output omits the password.
#[derive(Clone)]
pub(crate) struct Address {
    pub(crate) host: String,
    pub(crate) port: u16,
    /// True if the connection is encrypted. Requires the `tls` feature.
    pub(crate) is_encrypted: bool,
    /// The user, the password and the database number.
    pub(crate) login: RedisConnectionInfo,
}

impl Address {
    /// Parses `redis://user:password@host:port/database`. `rediss` is
    /// encrypted; `valkey` and `valkeys` are aliases.
    ///
    /// Error messages omit the URL because it may contain a password.
    pub(crate) fn read(url: &str) -> Result<Self, ConfigIssue> {
        let is_encrypted = match url.split_once("://").map(|(scheme, _)| scheme) {
            Some("redis" | "valkey") => false,
            Some("rediss" | "valkeys") => true,
            _ => {
                return Err(ConfigIssue::new(
                    "a Redis address must begin with redis:// or rediss://",
                ));
            }
        };
        if is_encrypted && !cfg!(feature = "tls") {
            return Err(ConfigIssue::new("rediss:// needs the feature redis-tls"));
        }
        // The `redis` crate accepts encrypted schemes only with its own TLS
        // support.
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let info = format!("redis://{rest}").into_connection_info();
        let Ok(info) = info else {
            return Err(ConfigIssue::new(
                "the address is malformed; expected a form such as \
                 redis://user:password@host:6379/0",
            ));
        };
        let ConnectionAddr::Tcp(host, port) = info.addr() else {
            return Err(ConfigIssue::new("a Redis address must have a host"));
        };
        // Saves a round trip at connect and one ACL permission.
        let login = info.redis_settings().clone().set_skip_set_lib_name();
        Ok(Self { host: host.clone(), port: *port, is_encrypted, login })
    }
}

impl Address {
    /// Parses several addresses. All must use the same encryption setting and
    /// the same database.
    pub(crate) fn read_all<U: AsRef<str>>(
        urls: impl IntoIterator<Item = U>,
    ) -> Result<Vec<Self>, ConfigIssue> {
        let read: Result<Vec<_>, _> =
            urls.into_iter().map(|url| Self::read(url.as_ref())).collect();
        let read = read?;
        let Some(first) = read.first() else {
            return Err(ConfigIssue::new("at least one address is required"));
        };
        let kind = |it: &Self| (it.is_encrypted, it.database());
        if read.iter().any(|it| kind(it) != kind(first)) {
            return Err(ConfigIssue::new(
                "all addresses must use the same encryption and the same database",
            ));
        }
        Ok(read)
    }

    /// Replaces the login, or removes it if `login` is `None`.
    pub(crate) fn with_login(mut self, login: Option<&Login>) -> Self {
        let database = self.database();
        self.login = RedisConnectionInfo::default().set_db(database).set_skip_set_lib_name();
        if let Some(Login { user, password }) = login {
            self.login = self.login.set_username(user).set_password(password);
        }
        self
    }

    /// Selects database 0, because sentinels do not have databases.
    pub(crate) fn of_sentinel(mut self) -> Self {
        self.login = self.login.set_db(0);
        self
    }

    /// Returns the address of another server with the same login.
    pub(crate) fn at(&self, host: &str, port: u16) -> Self {
        Self { host: host.to_owned(), port, ..self.clone() }
    }

    /// Returns the database number.
    pub(crate) fn database(&self) -> i64 {
        self.login.db()
    }
}

/// A user and a password. Its `Debug` output omits the password.
#[derive(Clone)]
pub(crate) struct Login {
    pub(crate) user: String,
    pub(crate) password: String,
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login").field("user", &self.user).finish_non_exhaustive()
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, expected: Option<&str>) {
        let read = Address::read(url);
        if let Err(mistake) = &read {
            assert!(!mistake.message().contains("secret"), "{}", mistake.message());
        }
        assert_eq!(read.ok().map(|it| it.to_string()).as_deref(), expected, "{url}");
    }

    #[test]
    fn reads_an_address_and_hides_its_password() {
        check("redis://127.0.0.1", Some("127.0.0.1:6379"));
        check("valkey://shop:secret@cache.internal:7000/2", Some("cache.internal:7000"));
        check("redis://:secret@[::1]:7000", Some("[::1]:7000"));
        let encrypted = cfg!(feature = "tls").then_some("cache.internal:6379");
        check("rediss://shop:secret@cache.internal", encrypted);
        for wrong in [
            "",
            "cache.internal",
            "http://shop:secret@cache.internal",
            "redis://shop:secret@",
            "redis://shop:secret@host:port",
            "redis://shop:secret@host/database",
            "unix:///run/redis.sock",
        ] {
            check(wrong, None);
        }
    }

    #[test]
    fn the_login_is_read() {
        let login = Address::read("redis://shop:a%2Fb@localhost/3").unwrap().login;
        let read = (login.username(), login.password(), login.db());
        assert_eq!(read, (Some("shop"), Some("a/b"), 3));
        assert!(!format!("{login:?}").contains("a/b"));
    }
}
