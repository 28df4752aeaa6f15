//! The options of a pool and the settings of its connections.

use std::time::Duration;

use stockade_errors::__internal::setters;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use crate::SqlError;

/// Options for [`Postgres`](crate::Postgres).
#[derive(Clone, Debug)]
pub struct PostgresOptions {
    pub(super) pool: usize,
    pub(super) wait: Duration,
    pub(super) statement_timeout: Duration,
    pub(super) prepared: bool,
    pub(super) root_certificates: Option<Vec<u8>>,
}

impl PostgresOptions {
    /// Creates the default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Sets the number of connections, at least 1. Default: 16.
        pool: usize;

        /// Sets the maximum wait for a free connection. Default: 1 s.
        wait: Duration;

        /// Sets the time limit for a statement, enforced by the server, and for
        /// connecting. Default: 5 s.
        ///
        /// If `prepared` is false, the server does not receive this limit,
        /// because PgBouncer rejects the setting. Set it on the role instead:
        /// `ALTER ROLE shop SET statement_timeout = '5s'`. In both cases the
        /// client gives up one second later.
        statement_timeout: Duration;

        /// Sets whether to prepare statements once per connection. Default:
        /// true.
        ///
        /// Set it to false for PgBouncer in transaction mode, because each
        /// statement may use a different server connection.
        prepared: bool;

        /// Sets the trusted CA certificates (PEM). Default: the certificates
        /// that the system trusts.
        root_certificates: some into Vec<u8>;
    }

    /// Parses an address and adds the settings of each connection.
    pub(super) fn config(&self, address: &str) -> Result<Config, SqlError> {
        let mut config: Config = address.parse().map_err(SqlError::failed)?;
        config.keepalives_idle(Duration::from_secs(30));
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(self.statement_timeout);
        }
        if self.prepared {
            let timeout = format!("-c statement_timeout={}", self.statement_timeout.as_millis());
            let options = config.get_options().map(|options| format!("{options} {timeout}"));
            config.options(options.unwrap_or(timeout));
        }
        if config.get_ssl_mode() == SslMode::Prefer {
            let is_local = config.get_hosts().iter().all(is_local);
            config.ssl_mode(if is_local { SslMode::Disable } else { SslMode::Require });
        }
        Ok(config)
    }
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self {
            pool: 16,
            wait: Duration::from_secs(1),
            statement_timeout: Duration::from_secs(5),
            prepared: true,
            root_certificates: None,
        }
    }
}

/// Returns true if a host is this machine.
fn is_local(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => {
            name == "localhost"
                || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(address: &str, expected: SslMode) {
        let config = PostgresOptions::new().config(address).unwrap();
        assert_eq!(config.get_ssl_mode(), expected, "{address}");
    }

    #[test]
    fn only_local_hosts_default_to_plain_text() {
        check("postgres://a@db.example/shop", SslMode::Require);
        check("postgres://a@db.example/shop?sslmode=prefer", SslMode::Require);
        check("postgres://a@db.example/shop?sslmode=disable", SslMode::Disable);
        check("postgres://a@127.0.0.1/shop", SslMode::Disable);
        check("postgres://a@[::1]/shop", SslMode::Disable);
        check("postgres://a@localhost/shop?sslmode=require", SslMode::Require);
        check("host=/run/postgresql user=a", SslMode::Disable);
        check("host=127.0.0.1,db.example user=a", SslMode::Require);
    }

    #[test]
    fn sends_the_statement_timeout_to_the_server() {
        let options = |address: &str, options: PostgresOptions| {
            options.config(address).unwrap().get_options().map(str::to_owned)
        };
        let usual = options("host=localhost", PostgresOptions::new());
        assert_eq!(usual.as_deref(), Some("-c statement_timeout=5000"));
        let both = options("host=localhost options='-c x=1'", PostgresOptions::new());
        assert_eq!(both.as_deref(), Some("-c x=1 -c statement_timeout=5000"));
        assert_eq!(options("host=localhost", PostgresOptions::new().prepared(false)), None);
        let error = PostgresOptions::new().config("postgres://a:secret@h:x/b").unwrap_err();
        assert!(!error.to_string().contains("secret"), "{error}");
    }
}
