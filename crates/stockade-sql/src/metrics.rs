//! The metrics of databases: the use of their connections.

use stockade_middleware::metrics::{MetricsSource, MetricsWriter};

/// The use of a pool of connections.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct PoolUse {
    /// The connections that run a statement.
    pub(crate) in_use: usize,
    /// The maximum number of connections.
    pub(crate) limit: usize,
    /// The calls that wait for a connection.
    pub(crate) waiting: usize,
}

const IN_USE: &str = "stockade_sql_connections_in_use";
const LIMIT: &str = "stockade_sql_connections_limit";
const WAITING: &str = "stockade_sql_waiting";

impl PoolUse {
    /// The names of the metrics.
    const FAMILIES: &'static [&'static str] = &[IN_USE, LIMIT, WAITING];

    fn write(self, database: &str, pool: &str, to: &mut MetricsWriter) {
        let labels = [("database", database), ("pool", pool)];
        for (name, help, count) in [
            (IN_USE, "Connections that run a statement.", self.in_use),
            (LIMIT, "The maximum number of connections.", self.limit),
            (WAITING, "Calls that wait for a connection.", self.waiting),
        ] {
            // A pool is far smaller than 2^32.
            to.gauge(name, help, &labels, f64::from(u32::try_from(count).unwrap_or(u32::MAX)));
        }
    }
}

/// Exports the use of the connections: `metrics.add_source(sqlite.clone())`.
///
/// | metric | kind | labels |
/// |---|---|---|
/// | `stockade_sql_connections_in_use` | gauge | database, pool |
/// | `stockade_sql_connections_limit` | gauge | database, pool |
/// | `stockade_sql_waiting` | gauge | database, pool |
///
/// `database` is the name of the file without its folder. `pool` is `read` or
/// `write`.
#[cfg(feature = "sqlite")]
impl MetricsSource for crate::Sqlite {
    fn collect(&self, to: &mut MetricsWriter) {
        let (name, read, write) = self.pool_uses();
        read.write(&name, "read", to);
        write.write(&name, "write", to);
    }

    fn families() -> &'static [&'static str] {
        PoolUse::FAMILIES
    }
}

/// Exports the use of the connections: `metrics.add_source(postgres.clone())`.
///
/// | metric | kind | labels |
/// |---|---|---|
/// | `stockade_sql_connections_in_use` | gauge | database, pool |
/// | `stockade_sql_connections_limit` | gauge | database, pool |
/// | `stockade_sql_waiting` | gauge | database, pool |
///
/// `database` is the name of the database, or `postgres` if the address does
/// not have one. `pool` is `all`.
#[cfg(feature = "postgres")]
impl MetricsSource for crate::Postgres {
    fn collect(&self, to: &mut MetricsWriter) {
        let (name, all) = self.pool_use();
        all.write(name, "all", to);
    }

    fn families() -> &'static [&'static str] {
        PoolUse::FAMILIES
    }
}
