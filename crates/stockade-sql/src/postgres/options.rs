//! [`PostgresOptions`], and the settings of a connection.

use std::time::Duration;

use stockade_errors::__internal::setters;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use crate::SqlError;

/// Options of a [`Postgres`](crate::Postgres).
#[derive(Clone, Debug)]
pub struct PostgresOptions {
    pub(super) pool: usize,
    pub(super) wait: Duration,
    pub(super) statement_timeout: Duration,
    pub(super) prepared: bool,
    pub(super) root_certificates: Option<Vec<u8>>,
}

impl PostgresOptions {
    /// Makes the default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Sets the number of connections, at least 1. Default: 16.
        pool: usize;

        /// Sets how long to wait for a connection that is free. Default: 1 s.
        wait: Duration;

        /// Sets the time of a statement, after which the server ends it, and of making
        /// a connection. Default: 5 s.
        ///
        /// Without prepared statements the server is not told, because PgBouncer
        /// refuses such a setting: `ALTER ROLE shop SET statement_timeout = '5s'`
        /// tells it there. The client gives up a second later either way.
        statement_timeout: Duration;

        /// Sets if statements are prepared once for each connection. Default: true.
        ///
        /// It is false behind PgBouncer in its mode for transactions, where each
        /// statement may get to another connection of the server.
        prepared: bool;

        /// Sets the certificates (PEM) of the authorities that may sign the server's
        /// own. Default: those that the system trusts.
        root_certificates: some into Vec<u8>;
    }

    /// Reads an address, and adds what each connection has.
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

/// Returns true for a host that is this machine.
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
    fn only_this_machine_is_spoken_to_in_plain_text() {
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
    fn the_server_is_told_the_time_of_a_statement() {
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
