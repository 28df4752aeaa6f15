//! Stores for sessions, idempotency keys and revocations in tables.
//!
//! Each step is one statement with one JSON parameter. It is atomic in both
//! databases and works with any [`Driver`].

// Modules:
// - `migrations.sql`: the tables.
// - `template`: statements for both dialects from one text.
// - `sessions`, `idempotency`, `revocations/`: one store each.

mod idempotency;
mod revocations;
mod sessions;
mod template;

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use stockade_core::Clock;
use stockade_errors::{ConfigError, ConfigIssue, StoreError};

pub use idempotency::SqlIdempotencyStore;
pub use revocations::open_revocations;
pub use sessions::SqlSessionStore;

use self::template::Template;
use crate::{Dialect, Driver, Row, SqlError, Statement};

/// The statements that create the tables of [`SqlSessionStore`],
/// [`SqlIdempotencyStore`] and [`open_revocations`], for PostgreSQL and SQLite.
///
/// Run them with `execute`, or copy them into your own migration tool. Nothing
/// else creates these tables. Existing tables stay unchanged, so you can run
/// the statements at each start. If several programs run them for the first
/// time at once, PostgreSQL may fail in all but one of them.
///
/// The table names start with `stockade_`. In PostgreSQL they are in the first
/// schema of the `search_path`, so two applications in one database need two
/// schemas.
///
/// ```
/// use stockade::sql::{MIGRATIONS, SqlSessionStore, Sqlite};
///
/// # #[tokio::main]
/// # async fn main() -> Result<(), stockade::BoxError> {
/// # let folder = std::env::temp_dir().join(format!("migrations-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// let db = Sqlite::open(folder.join("shop.db"))?;
/// let error = SqlSessionStore::open(&db).await.unwrap_err();
/// assert!(error.to_string().contains("run stockade::sql::MIGRATIONS"));
///
/// db.execute(MIGRATIONS).await?;
/// assert!(SqlSessionStore::open(&db).await.is_ok());
/// # drop(db);
/// # std::fs::remove_dir_all(folder)?;
/// # Ok(())
/// # }
/// ```
pub const MIGRATIONS: &str = include_str!("migrations.sql");

/// The maximum number of attempts when transactions conflict.
const TRIES: usize = 4;

/// The maximum number of calls between removals of expired rows.
const CALLS_BETWEEN_SWEEPS: u64 = 256;

/// The time after which the next call removes expired rows.
const BETWEEN_SWEEPS_MILLIS: u64 = 1_000;

/// The database of a store, with the store's clock.
struct Database<D> {
    driver: D,
    clock: StoreClock,
    sweep: Template,
    calls: AtomicU64,
    swept_at: AtomicU64,
}

impl<D: Driver> Database<D> {
    /// Opens a table and checks that it has these columns. `sweep` removes a
    /// bounded number of expired rows.
    async fn open(
        driver: D,
        table: &str,
        columns: &str,
        sweep: &'static str,
    ) -> Result<Self, ConfigError> {
        check_table(&driver, table, columns).await?;
        let (calls, swept_at) = (AtomicU64::new(0), AtomicU64::new(0));
        let sweep = Template::new(driver.dialect(), sweep);
        Ok(Self { driver, clock: StoreClock::System, sweep, calls, swept_at })
    }

    /// Runs a writing statement with the current time among its parameters.
    async fn write(&self, template: &Template, parameter: Value) -> Result<Vec<Row>, StoreError> {
        let parameter = self.with_now(parameter);
        Ok(run(&self.driver, Statement::writing(template.text(), parameter)).await?)
    }

    async fn read(&self, template: &Template, parameter: Value) -> Result<Vec<Row>, StoreError> {
        let parameter = self.with_now(parameter);
        Ok(run(&self.driver, Statement::reading(template.text(), parameter)).await?)
    }

    fn with_now(&self, mut parameter: Value) -> String {
        if let Some(now) = self.clock.parameter(self.driver.dialect()) {
            parameter["now"] = now.into();
        }
        parameter.to_string()
    }

    /// Removes expired rows once per second and once per 256 calls. These calls
    /// add fewer rows than one sweep can remove, so the number of expired rows
    /// stays bounded.
    async fn sweep_if_due(&self) {
        let calls = self.calls.fetch_add(1, Ordering::Relaxed);
        let now = self.clock.millis();
        let swept_at = self.swept_at.load(Ordering::Relaxed);
        let is_late = now >= swept_at.saturating_add(BETWEEN_SWEEPS_MILLIS);
        if !is_late && !(calls + 1).is_multiple_of(CALLS_BETWEEN_SWEEPS) {
            return;
        }
        // Only one of several concurrent calls removes rows.
        let swap =
            self.swept_at.compare_exchange(swept_at, now, Ordering::Relaxed, Ordering::Relaxed);
        if swap.is_err() {
            return;
        }
        if let Err(error) = self.write(&self.sweep, json!({})).await {
            log::debug!(target: "stockade", "cannot remove expired rows: {error}");
        }
    }
}

/// The clock of a store.
#[derive(Clone, Debug)]
enum StoreClock {
    /// The clock of the PostgreSQL server, which all processes share, or the
    /// system clock for SQLite.
    System,
    /// A clock that a test controls.
    Custom(Clock),
}

impl StoreClock {
    /// Returns the milliseconds since 1970 for a statement. With `None` the
    /// server uses its own clock.
    fn parameter(&self, dialect: Dialect) -> Option<u64> {
        match (self, dialect) {
            (Self::System, Dialect::Postgres) => None,
            _ => Some(self.millis()),
        }
    }

    fn millis(&self) -> u64 {
        let time = match self {
            Self::System => SystemTime::now(),
            // All stores of the process derive the same time from one clock.
            Self::Custom(clock) => {
                let ((instant, time), now) = (*BEGIN, clock.now());
                let later = time + now.saturating_duration_since(instant);
                later - instant.saturating_duration_since(now)
            }
        };
        millis(time.duration_since(UNIX_EPOCH).unwrap_or_default())
    }
}

/// One point in time on both system clocks.
static BEGIN: LazyLock<(Instant, SystemTime)> =
    LazyLock::new(|| (Instant::now(), SystemTime::now()));

/// Converts a duration to milliseconds. The sum of two such values fits into a
/// column.
fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX).min(1 << 60)
}

/// Converts a column of milliseconds to a duration.
fn duration(millis: Option<i64>) -> Duration {
    Duration::from_millis(millis.and_then(|millis| u64::try_from(millis).ok()).unwrap_or_default())
}

/// Returns an error unless a table with these columns exists.
async fn check_table(driver: &impl Driver, table: &str, columns: &str) -> Result<(), ConfigError> {
    let sql = format!(
        "SELECT '', CAST(count(*) AS bigint) FROM (SELECT {columns} FROM {table} LIMIT 1) AS found"
    );
    match run(driver, Statement::reading(sql, "{}")).await {
        Ok(_) => Ok(()),
        Err(error @ (SqlError::Unavailable { .. } | SqlError::Conflict(_))) => {
            Err(ConfigIssue::new(format!("{table}: {error}")).into())
        }
        Err(error) => {
            let hint = "run stockade::sql::MIGRATIONS, or add them to your migrations";
            Err(ConfigIssue::new(format!("{table}: {error}; {hint}")).into())
        }
    }
}

/// Runs a statement and retries on conflicts with other transactions.
async fn run(driver: &impl Driver, statement: Statement) -> Result<Vec<Row>, SqlError> {
    for _ in 1..TRIES {
        match driver.run(statement.clone()).await {
            Err(SqlError::Conflict(_)) => {}
            outcome => return outcome,
        }
    }
    driver.run(statement).await
}

/// Decodes a column of hexadecimal bytes.
fn bytes_of(row: &Value, column: &str) -> Result<Vec<u8>, StoreError> {
    let digits = row[column].as_str().unwrap_or_default();
    hex::decode(digits).map_err(|error| StoreError::failed(format!("{column}: {error}")))
}

/// Parses the JSON of a row.
fn json_of(row: &Row) -> Result<Value, StoreError> {
    serde_json::from_str(&row.json).map_err(StoreError::failed)
}
