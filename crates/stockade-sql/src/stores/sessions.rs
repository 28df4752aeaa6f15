//! A session store in a table.

use std::fmt;
use std::time::{Duration, Instant};

use bytes::Bytes;
use serde_json::{Value, json};
use stockade_core::{BoxFuture, Clock};
use stockade_errors::{ConfigError, StoreError};
use stockade_middleware::sessions::{
    NewSession, SessionKey, SessionStore, SessionWrite, StoredSession, SubjectKey,
};

use super::template::Template;
use super::{Database, StoreClock, bytes_of, duration, json_of, millis};
use crate::Driver;

/// A session store in a table, shared by all processes with the same database.
///
/// Each step is one statement, so a logout takes effect in all processes at
/// once, unless `Sessions::cached` permits a delay of one second. The table
/// contains only hashes of session ids, so reading it does not reveal usable
/// sessions.
///
/// A subject has at most [`max_per_subject`](Self::max_per_subject) sessions.
/// One more login ends the oldest session, in a second statement right after
/// the first. Two concurrent logins may exceed the limit until the next login.
///
/// New sessions remove expired rows: at most 512 at a time, once per second or
/// per 256 sessions.
///
/// PostgreSQL uses the server's clock, and SQLite the machine's clock. A
/// database error is a [`StoreError`]. Clients get a 503, or a 500 if the table
/// was changed.
///
/// ```
/// use stockade::auth::{KeyRing, Secret};
/// use stockade::middleware::SessionCookie;
/// use stockade::middleware::sessions::Sessions;
/// use stockade::sql::{MIGRATIONS, SqlSessionStore, Sqlite};
///
/// # #[tokio::main]
/// # async fn main() -> Result<(), stockade::BoxError> {
/// # let folder = std::env::temp_dir().join(format!("sessions-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// let db = Sqlite::open(folder.join("shop.db"))?;
/// db.execute(MIGRATIONS).await?;
///
/// // Use the same secret in all processes.
/// let keys = KeyRing::new(Secret::new("a secret of thirty-two bytes or more")?);
/// let store = SqlSessionStore::open(&db).await?;
/// let sessions = Sessions::<Vec<u64>>::new(store, SessionCookie::new(keys));
/// sessions.begin(Some("user:7"), &vec![1]).await?;
/// assert_eq!(sessions.end_all("user:7").await?, 1);
/// # drop((db, sessions));
/// # std::fs::remove_dir_all(folder)?;
/// # Ok(())
/// # }
/// ```
pub struct SqlSessionStore<D> {
    db: Database<D>,
    max_per_subject: usize,
    create: Template,
    replace: Template,
    trim: Template,
    load: Template,
    update: Template,
    touch: Template,
    destroy: Template,
    destroy_all: Template,
}

const CREATE: &str = "
INSERT INTO stockade_sessions (id, subject_id, subject, data, version, ends, lifetime_ends)
VALUES (:id, :subject_id, :subject, :data, 1, #now + #idle, #now + #lifetime)
RETURNING '', CAST(1 AS bigint)";

// The row stays and gets a new id. The old session ends and the new one starts
// in one step, and only one of several concurrent replacements finds the old
// id.
const REPLACE: &str = "
UPDATE stockade_sessions SET
    id = :id, subject_id = :subject_id, subject = :subject, data = :data, version = 1,
    ends = #now + #idle, lifetime_ends = #now + #lifetime
WHERE id = :old AND version = #version AND ends > #now
RETURNING '', CAST(1 AS bigint)";

const TRIM: &str = "
DELETE FROM stockade_sessions WHERE id IN (
    SELECT id FROM stockade_sessions
    WHERE subject_id = :subject_id AND id <> :id AND ends > #now
    ORDER BY lifetime_ends DESC, id LIMIT 1000 OFFSET #others {skip locked}
)";

const LOAD: &str = "
SELECT CAST(json_object('subject', subject, 'data', data, 'idle', ends - #now,
    'lifetime', lifetime_ends - #now) AS text), version
FROM stockade_sessions WHERE id = :id AND ends > #now";

const UPDATE: &str = "
UPDATE stockade_sessions SET
    data = :data, version = version + 1, ends = least(#now + #idle, lifetime_ends)
WHERE id = :id AND version = #version AND ends > #now
RETURNING '', version";

const TOUCH: &str = "
UPDATE stockade_sessions SET ends = least(#now + #idle, lifetime_ends)
WHERE id = :id AND ends > #now
RETURNING '', version";

const DESTROY: &str = "
DELETE FROM stockade_sessions WHERE id = :id
RETURNING '', CAST(CASE WHEN ends > #now THEN 1 ELSE 0 END AS bigint)";

const DESTROY_ALL: &str = "
DELETE FROM stockade_sessions WHERE subject_id = :subject_id
RETURNING '', CAST(CASE WHEN ends > #now THEN 1 ELSE 0 END AS bigint)";

const SWEEP: &str = "
DELETE FROM stockade_sessions WHERE id IN (
    SELECT id FROM stockade_sessions WHERE ends <= #now LIMIT 512 {skip locked}
)";

impl<D: Driver + Clone> SqlSessionStore<D> {
    /// Opens the store in the table `stockade_sessions`.
    ///
    /// # Errors
    /// Returns an error if the table is missing
    /// ([`MIGRATIONS`](crate::MIGRATIONS) creates it), lacks a column, or
    /// cannot be read.
    pub async fn open(db: &D) -> Result<Self, ConfigError> {
        let columns = "id, subject_id, subject, data, version, ends, lifetime_ends";
        let db = Database::open(db.clone(), "stockade_sessions", columns, SWEEP).await?;
        let template = |text| Template::new(db.driver.dialect(), text);
        Ok(Self {
            max_per_subject: 100,
            create: template(CREATE),
            replace: template(REPLACE),
            trim: template(TRIM),
            load: template(LOAD),
            update: template(UPDATE),
            touch: template(TOUCH),
            destroy: template(DESTROY),
            destroy_all: template(DESTROY_ALL),
            db,
        })
    }
}

impl<D: Driver> SqlSessionStore<D> {
    /// Sets the maximum number of sessions per subject. Default: 100. 0 counts
    /// as 1.
    #[must_use]
    pub fn max_per_subject(mut self, sessions: usize) -> Self {
        self.max_per_subject = sessions.max(1);
        self
    }

    /// Replaces the database clock, for tests that do not wait. The time must
    /// not go backward.
    #[must_use]
    pub fn clock(mut self, clock: impl Fn() -> Instant + Send + Sync + 'static) -> Self {
        self.db.clock = StoreClock::Custom(Clock::new(clock));
        self
    }

    async fn create_now(
        &self,
        key: &SessionKey,
        session: NewSession<'_>,
    ) -> Result<SessionWrite, StoreError> {
        self.db.sweep_if_due().await;
        let subject_id = session.subject.map(|subject| subject.key.to_string());
        let mut parameter = json!({
            "id": key.to_string(),
            "subject_id": subject_id,
            "subject": session.subject.map(|subject| subject.name),
            "data": hex::encode(&session.data),
            "idle": millis(session.idle.min(session.lifetime)),
            "lifetime": millis(session.lifetime),
        });
        match session.replaces {
            None => {
                self.db.write(&self.create, parameter).await?;
            }
            Some(old) => {
                parameter["old"] = old.key.to_string().into();
                parameter["version"] = number(old.version);
                if self.db.write(&self.replace, parameter).await?.is_empty() {
                    return self.refused(&old.key).await;
                }
            }
        }
        if let Some(subject_id) = subject_id {
            self.trim_now(key, subject_id).await;
        }
        Ok(SessionWrite::Written)
    }

    /// Ends the oldest sessions of a subject that has too many.
    async fn trim_now(&self, key: &SessionKey, subject_id: String) {
        let others = self.max_per_subject - 1;
        let parameter =
            json!({ "id": key.to_string(), "subject_id": subject_id, "others": others });
        // The new session exists anyway. The next login ends the surplus ones.
        if let Err(error) = self.db.write(&self.trim, parameter).await {
            log::warn!(target: "stockade", "cannot end the oldest sessions of a user: {error}");
        }
    }

    /// Returns the reason why a write to a session changed nothing.
    async fn refused(&self, key: &SessionKey) -> Result<SessionWrite, StoreError> {
        let rows = self.db.read(&self.load, json!({ "id": key.to_string() })).await?;
        Ok(if rows.is_empty() { SessionWrite::Missing } else { SessionWrite::Changed })
    }
}

/// Converts a version to a number that fits into a column.
fn number(version: u64) -> Value {
    i64::try_from(version).unwrap_or(i64::MAX).into()
}

impl<D: Driver> SessionStore for SqlSessionStore<D> {
    fn create<'a>(
        &'a self,
        key: &'a SessionKey,
        session: NewSession<'a>,
    ) -> BoxFuture<'a, Result<SessionWrite, StoreError>> {
        Box::pin(self.create_now(key, session))
    }

    fn load<'a>(
        &'a self,
        key: &'a SessionKey,
    ) -> BoxFuture<'a, Result<Option<StoredSession>, StoreError>> {
        Box::pin(async move {
            let rows = self.db.read(&self.load, json!({ "id": key.to_string() })).await?;
            let Some(row) = rows.first() else { return Ok(None) };
            let columns = json_of(row)?;
            Ok(Some(StoredSession {
                subject: columns["subject"].as_str().map(str::to_owned),
                data: bytes_of(&columns, "data")?.into(),
                version: u64::try_from(row.number).map_err(StoreError::failed)?,
                idle_left: duration(columns["idle"].as_i64()),
                lifetime_left: duration(columns["lifetime"].as_i64()),
            }))
        })
    }

    fn update<'a>(
        &'a self,
        key: &'a SessionKey,
        version: u64,
        data: Bytes,
        idle: Duration,
    ) -> BoxFuture<'a, Result<SessionWrite, StoreError>> {
        Box::pin(async move {
            let parameter = json!({
                "id": key.to_string(),
                "version": number(version),
                "data": hex::encode(&data),
                "idle": millis(idle),
            });
            if self.db.write(&self.update, parameter).await?.is_empty() {
                return self.refused(key).await;
            }
            Ok(SessionWrite::Written)
        })
    }

    fn touch<'a>(
        &'a self,
        key: &'a SessionKey,
        idle: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let parameter = json!({ "id": key.to_string(), "idle": millis(idle) });
            Ok(!self.db.write(&self.touch, parameter).await?.is_empty())
        })
    }

    fn destroy<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let rows = self.db.write(&self.destroy, json!({ "id": key.to_string() })).await?;
            Ok(rows.iter().any(|row| row.number == 1))
        })
    }

    fn destroy_all<'a>(
        &'a self,
        subject: &'a SubjectKey,
    ) -> BoxFuture<'a, Result<u64, StoreError>> {
        Box::pin(async move {
            let parameter = json!({ "subject_id": subject.to_string() });
            let rows = self.db.write(&self.destroy_all, parameter).await?;
            Ok(rows.iter().map(|row| u64::from(row.number == 1)).sum())
        })
    }
}

impl<D> fmt::Debug for SqlSessionStore<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqlSessionStore")
            .field("max_per_subject", &self.max_per_subject)
            .finish_non_exhaustive()
    }
}
