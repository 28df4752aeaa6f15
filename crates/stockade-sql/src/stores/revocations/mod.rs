//! Token revocations in a table, shared by all processes with the same
//! database.
//!
//! - `follow`: the task that reads the table.

mod follow;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use serde_json::json;
use stockade_auth::{
    PublishFuture, Revocation, RevocationFeed, RevocationLog, Revocations, RevokeError,
};
use stockade_errors::{ConfigError, ConfigIssue};
use tokio::runtime::Handle;

use self::follow::Follower;
use super::template::Template;
use super::{check_table, run};
use crate::{Dialect, Driver, Row, SqlError, Statement};

/// Returns token revocations that all processes with the same database share.
/// Call this once per program and clone the result. [`Sqlite`](crate::Sqlite)
/// and [`Postgres`](crate::Postgres) also offer it as a method.
///
/// Each process holds all revocations in memory, so checking a token does not
/// query the database. A task reads new revocations 4 times a second. The table
/// contains only hashes of tokens and users. Expired rows are removed, at most
/// 5,000 every 5 seconds.
///
/// [`Revocations::revoke`] takes effect in this process at once. If it fails
/// because the database is down, the task writes the revocation later. If the
/// last contact with the database was more than 30 s ago, the status of a token
/// is unknown: see [`Revocations::stale`]. If the table loses rows, for example
/// after a restored backup, each process writes its own revocations back.
///
/// Revoking returns [`RevokeError::Full`] beyond [`Revocations::max_entries`].
///
/// The task runs on the current tokio runtime until all clones are dropped.
///
/// ```
/// use stockade::auth::{RevocationStatus, Secret, generate_jwt, verify_token};
/// use stockade::prelude::*;
/// use stockade::sql::{MIGRATIONS, Sqlite};
///
/// # #[tokio::main]
/// # async fn main() -> Result<(), BoxError> {
/// # let folder = std::env::temp_dir().join(format!("revocations-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// let db = Sqlite::open(folder.join("shop.db"))?;
/// db.execute(MIGRATIONS).await?;
/// let revocations = db.revocations().await?;
///
/// let secret = Secret::new("a secret of thirty-two bytes or more")?;
/// let signed_in = with_auth(Auth::secret(secret.clone()).revocations(revocations.clone()));
/// # drop(signed_in);
///
/// let token = generate_jwt(json!({ "sub": "user:7", "jti": "a1" }), "1h", &secret)?;
/// let claims = verify_token(&token, &secret).ok_or("invalid token")?;
/// assert_eq!(revocations.check(&claims), RevocationStatus::NotRevoked);
/// revocations.revoke(&claims).await?;
/// assert_eq!(revocations.check(&claims), RevocationStatus::Revoked);
///
/// // Another process also sees the revocation.
/// let other = db.revocations().await?;
/// assert_eq!(other.check(&claims), RevocationStatus::Revoked);
/// # drop((db, revocations, other));
/// # std::fs::remove_dir_all(folder)?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Returns an error if a table is missing ([`MIGRATIONS`](crate::MIGRATIONS)
/// creates them), lacks a column or the counter row, or cannot be read.
pub async fn open_revocations<D: Driver + Clone>(db: &D) -> Result<Revocations, ConfigError> {
    let columns = "number, entry, ends";
    check_table(db, "stockade_revocations", columns).await?;
    check_table(db, "stockade_revocation_counter", "id, last").await?;
    let failure = |error: SqlError| ConfigIssue::new(format!("stockade_revocations: {error}"));
    let dialect = db.dialect();
    let shared = Arc::new(Shared {
        driver: db.clone(),
        feed: OnceLock::new(),
        add: Template::new(dialect, add(dialect)),
        find: Template::new(dialect, FIND),
        read: Template::new(dialect, READ),
        sweep: Template::new(dialect, SWEEP),
        is_followed: AtomicBool::new(true),
        has_unsent: AtomicBool::new(false),
    });
    if dialect == Dialect::Postgres {
        shared.check_counter().await.map_err(failure)?;
    }
    let followed = Followed(Arc::clone(&shared));
    let revocations = Revocations::shared(Arc::new(SqlLog(Arc::clone(&shared))));
    // Tokens can be checked only after the first read, so read now.
    let mut follower = Follower::default();
    if let Some(feed) = shared.feed.get() {
        follower.round(&shared, feed).await.map_err(failure)?;
    }
    if let Ok(runtime) = Handle::try_current() {
        runtime.spawn(follow::run(followed, follower));
    }
    Ok(revocations)
}

// The lock on the counter row lasts until the commit, so rows become visible in
// the order of their numbers. A reader never misses a row with a lower number.
const ADD_POSTGRES: &str = "
WITH next AS (
    UPDATE stockade_revocation_counter SET last = last + 1
    WHERE id = 1 AND NOT EXISTS (SELECT 1 FROM stockade_revocations WHERE entry = :entry)
    RETURNING last
)
INSERT INTO stockade_revocations (number, entry, ends)
SELECT last, :entry, #ends FROM next WHERE true
ON CONFLICT (entry) DO NOTHING
RETURNING '', number";

// SQLite has one writer, and the row with the highest number is never removed.
const ADD_SQLITE: &str = "
INSERT INTO stockade_revocations (number, entry, ends)
SELECT coalesce(max(number), 0) + 1, :entry, #ends FROM stockade_revocations WHERE true
ON CONFLICT (entry) DO NOTHING
RETURNING '', number";

const FIND: &str = "
SELECT '', number FROM stockade_revocations WHERE entry = :entry";

const READ: &str = "
SELECT entry, number FROM stockade_revocations
WHERE number >= #from ORDER BY number LIMIT 1000";

const SWEEP: &str = "
DELETE FROM stockade_revocations WHERE number IN (
    SELECT number FROM stockade_revocations
    WHERE ends <= #seconds AND number < (SELECT max(number) FROM stockade_revocations)
    LIMIT 5000 {skip locked}
)";

fn add(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Postgres => ADD_POSTGRES,
        Dialect::Sqlite => ADD_SQLITE,
    }
}

/// The number of rows per page. Must match [`READ`].
const PAGE: usize = 1_000;

/// The revocation log in a table.
struct SqlLog<D>(Arc<Shared<D>>);

/// The state that the log's handle and task share.
struct Shared<D> {
    driver: D,
    feed: OnceLock<RevocationFeed>,
    add: Template,
    find: Template,
    read: Template,
    sweep: Template,
    /// True while the task runs.
    is_followed: AtomicBool,
    /// True if the table may lack a revocation of this process.
    has_unsent: AtomicBool,
}

/// The task's ownership of the log. Dropping it allows another task to start.
struct Followed<D>(Arc<Shared<D>>);

impl<D> Drop for Followed<D> {
    fn drop(&mut self) {
        self.0.is_followed.store(false, Ordering::Release);
    }
}

impl<D: Driver> RevocationLog for SqlLog<D> {
    fn attach(&self, feed: RevocationFeed) {
        let _ = self.0.feed.set(feed);
    }

    fn publish(&self, entry: Revocation) -> PublishFuture<'_> {
        self.wake();
        Box::pin(async move {
            // A caller may drop this future before the result arrives.
            let unsent = Unsent(&self.0.has_unsent, true);
            let added = self.0.add(&entry).await;
            let is_unsent = added.is_err();
            unsent.done(is_unsent);
            added.map_err(|error| RevokeError::Log(error.into()))
        })
    }

    /// Restarts the task if its runtime has ended.
    fn wake(&self) {
        if self.0.is_followed.load(Ordering::Relaxed) {
            return;
        }
        let Ok(runtime) = Handle::try_current() else { return };
        if !self.0.is_followed.swap(true, Ordering::AcqRel) {
            let followed = Followed(Arc::clone(&self.0));
            runtime.spawn(follow::run(followed, Follower::default()));
        }
    }
}

/// Records an unsent revocation on drop, unless it was written.
struct Unsent<'a>(&'a AtomicBool, bool);

impl Unsent<'_> {
    fn done(mut self, is_unsent: bool) {
        self.1 = is_unsent;
    }
}

impl Drop for Unsent<'_> {
    fn drop(&mut self) {
        if self.1 {
            self.0.store(true, Ordering::Release);
        }
    }
}

impl<D: Driver> Shared<D> {
    /// Adds an entry unless the table already has it.
    async fn add(&self, entry: &Revocation) -> Result<(), SqlError> {
        let parameter = json!({
            "entry": hex::encode(entry.to_bytes()),
            "ends": i64::try_from(entry.until()).unwrap_or(i64::MAX),
        });
        let parameter = parameter.to_string();
        let add = Statement::writing(self.add.text(), parameter.clone());
        if !run(&self.driver, add).await?.is_empty() {
            return Ok(());
        }
        let find = Statement::reading(self.find.text(), parameter);
        if run(&self.driver, find).await?.is_empty() {
            return Err(counter_is_missing());
        }
        Ok(())
    }

    /// Reads a page of numbers and entries, starting at a number.
    async fn read(&self, from: i64) -> Result<Vec<Row>, SqlError> {
        let parameter = json!({ "from": from }).to_string();
        run(&self.driver, Statement::reading(self.read.text(), parameter)).await
    }

    /// Removes some of the expired rows.
    async fn sweep(&self, now: u64) -> Result<(), SqlError> {
        // The clocks of two processes may differ slightly.
        let parameter = json!({ "seconds": now.saturating_sub(60) }).to_string();
        run(&self.driver, Statement::writing(self.sweep.text(), parameter)).await.map(drop)
    }

    async fn check_counter(&self) -> Result<(), SqlError> {
        let sql = "SELECT '', last FROM stockade_revocation_counter WHERE id = 1";
        let rows = run(&self.driver, Statement::reading(sql, "{}")).await?;
        if rows.is_empty() { Err(counter_is_missing()) } else { Ok(()) }
    }
}

/// Decodes the entry of a row. Returns `None` for an unknown format version.
fn entry_of(row: &Row) -> Option<Revocation> {
    Revocation::from_bytes(&hex::decode(&row.json).ok()?)
}

fn counter_is_missing() -> SqlError {
    SqlError::failed(
        "stockade_revocation_counter does not have a row with the id 1: run \
         stockade::sql::MIGRATIONS",
    )
}
