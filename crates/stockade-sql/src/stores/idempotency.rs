//! A store for idempotency keys in a table.

use std::fmt;
use std::time::{Duration, Instant};

use bytes::Bytes;
use serde_json::{Value, json};
use stockade_core::{BoxFuture, Clock};
use stockade_errors::{ConfigError, StoreError};
use stockade_middleware::idempotency::{
    IdempotencyStore, Nonce, Reservation, ReserveOutcome, ScopedKey,
};

use super::template::Template;
use super::{Database, StoreClock, bytes_of, json_of, millis};
use crate::Driver;

/// A store for idempotency keys in a table, shared by all processes with the
/// same database.
///
/// One statement reserves a key; the primary key decides between concurrent
/// requests. If a process dies, its keys become free when their leases expire.
/// Responses survive a restart of the database.
///
/// A user or client has at most
/// [`max_keys_per_owner`](Self::max_keys_per_owner) keys. One more gets a 503.
/// This store never replaces a key before it expires. Concurrent requests of
/// one owner may exceed the limit slightly.
///
/// New keys remove expired rows: at most 512 at a time, once per second or per
/// 256 keys.
///
/// PostgreSQL uses the server's clock, and SQLite the machine's clock.
///
/// ```
/// use stockade::middleware::idempotency::Idempotency;
/// use stockade::middleware::with_idempotency;
/// use stockade::prelude::*;
/// use stockade::sql::{MIGRATIONS, SqlIdempotencyStore, Sqlite};
/// # use stockade::testing::TestClient;
///
/// # #[tokio::main]
/// # async fn main() -> Result<(), BoxError> {
/// # let folder = std::env::temp_dir().join(format!("idempotency-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// let db = Sqlite::open(folder.join("shop.db"))?;
/// db.execute(MIGRATIONS).await?;
/// let store = SqlIdempotencyStore::open(&db).await?;
/// let once = with_idempotency(Idempotency::new(store));
///
/// let api = routes! { "orders": { POST: { async || "done", middleware: [once] } } };
/// # let client = TestClient::new(create_router(api, RouterOptions::new()));
/// let send = || client.post("/orders").header("idempotency-key", "\"k-1\"");
/// send().await.assert_no_header("idempotency-replayed");
/// send().await.assert_header("idempotency-replayed", "true");
/// # drop((db, client));
/// # std::fs::remove_dir_all(folder)?;
/// # Ok(())
/// # }
/// ```
pub struct SqlIdempotencyStore<D> {
    db: Database<D>,
    max_keys_per_owner: usize,
    take: Template,
    look: Template,
    renew: Template,
    complete: Template,
    free: Template,
}

// The row lock decides a conflict: the row is replaced if it has expired, or
// renewed for the nonce that holds it. Otherwise the statement returns nothing.
const TAKE: &str = "
INSERT INTO stockade_idempotency_keys
    (id, owner, fingerprint, nonce, leased_until, ends, record)
SELECT :id, :owner, :fingerprint, :nonce, #now + #lease, #now + #whole, NULL
WHERE EXISTS (SELECT 1 FROM stockade_idempotency_keys WHERE id = :id AND ends > #now)
    OR (
        SELECT count(*) FROM (
            SELECT 1 AS one FROM stockade_idempotency_keys
            WHERE owner = :owner AND ends > #now LIMIT #most
        ) AS live
    ) < #most
ON CONFLICT (id) DO UPDATE SET
    owner = excluded.owner, fingerprint = excluded.fingerprint, nonce = excluded.nonce,
    leased_until = excluded.leased_until, ends = excluded.ends, record = NULL
WHERE stockade_idempotency_keys.ends <= #now
    OR (
        stockade_idempotency_keys.fingerprint = excluded.fingerprint
        AND stockade_idempotency_keys.nonce = excluded.nonce
        AND stockade_idempotency_keys.record IS NULL
    )
RETURNING '', CAST(1 AS bigint)";

const LOOK: &str = "
SELECT CAST(json_object('fingerprint', fingerprint, 'nonce', nonce, 'record', record) AS text),
    CAST(CASE WHEN leased_until > #now THEN 1 ELSE 0 END AS bigint)
FROM stockade_idempotency_keys WHERE id = :id AND ends > #now";

const RENEW: &str = "
UPDATE stockade_idempotency_keys SET leased_until = #now + #lease, ends = #now + #whole
WHERE id = :id AND nonce = :nonce AND record IS NULL AND ends > #now
RETURNING '', CAST(1 AS bigint)";

const COMPLETE: &str = "
UPDATE stockade_idempotency_keys SET
    record = coalesce(record, :record),
    ends = CASE WHEN record IS NULL THEN #now + #ttl ELSE ends END
WHERE id = :id AND nonce = :nonce AND ends > #now
RETURNING '', CAST(1 AS bigint)";

const FREE: &str = "
DELETE FROM stockade_idempotency_keys
WHERE id = :id AND nonce = :nonce AND record IS NULL AND ends > #now
RETURNING '', CAST(1 AS bigint)";

const SWEEP: &str = "
DELETE FROM stockade_idempotency_keys WHERE id IN (
    SELECT id FROM stockade_idempotency_keys WHERE ends <= #now LIMIT 512 {skip locked}
)";

/// The number of attempts to reserve a key that becomes free meanwhile.
const TAKES: usize = 3;

impl<D: Driver + Clone> SqlIdempotencyStore<D> {
    /// Opens the store in the table `stockade_idempotency_keys`.
    ///
    /// # Errors
    /// Returns an error if the table is missing
    /// ([`MIGRATIONS`](crate::MIGRATIONS) creates it), lacks a column, or
    /// cannot be read.
    pub async fn open(db: &D) -> Result<Self, ConfigError> {
        let columns = "id, owner, fingerprint, nonce, leased_until, ends, record";
        let db = Database::open(db.clone(), "stockade_idempotency_keys", columns, SWEEP).await?;
        let template = |text| Template::new(db.driver.dialect(), text);
        Ok(Self {
            max_keys_per_owner: 10_000,
            take: template(TAKE),
            look: template(LOOK),
            renew: template(RENEW),
            complete: template(COMPLETE),
            free: template(FREE),
            db,
        })
    }
}

impl<D: Driver> SqlIdempotencyStore<D> {
    /// Sets the maximum number of keys per user or client. One more gets a 503.
    /// Default: 10,000.
    #[must_use]
    pub fn max_keys_per_owner(mut self, keys: usize) -> Self {
        self.max_keys_per_owner = keys;
        self
    }

    /// Replaces the database clock, for tests that do not wait. The time must
    /// not go backward.
    #[must_use]
    pub fn clock(mut self, clock: impl Fn() -> Instant + Send + Sync + 'static) -> Self {
        self.db.clock = StoreClock::Custom(Clock::new(clock));
        self
    }

    async fn take_now(
        &self,
        key: &ScopedKey,
        claim: &Reservation,
    ) -> Result<ReserveOutcome, StoreError> {
        self.db.sweep_if_due().await;
        let parameter = json!({
            "id": key.to_string(),
            "owner": hex::encode(key.owner()),
            "fingerprint": hex::encode(claim.fingerprint),
            "nonce": hex::encode(claim.nonce),
            "lease": millis(claim.lease),
            "whole": whole(claim),
            "most": self.max_keys_per_owner,
        });
        for _ in 0..TAKES {
            if !self.db.write(&self.take, parameter.clone()).await?.is_empty() {
                return Ok(ReserveOutcome::New);
            }
            if let Some(outcome) = self.look_now(key, claim).await? {
                return Ok(outcome);
            }
        }
        Err(StoreError::Full)
    }

    /// Returns the state of a key that another request holds, or `None` if it
    /// is free by now.
    async fn look_now(
        &self,
        key: &ScopedKey,
        claim: &Reservation,
    ) -> Result<Option<ReserveOutcome>, StoreError> {
        let rows = self.db.read(&self.look, json!({ "id": key.to_string() })).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let columns = json_of(row)?;
        let is_same = |column: &str, expected: &[u8]| {
            bytes_of(&columns, column).map(|bytes| bytes == expected)
        };
        if !is_same("fingerprint", &claim.fingerprint)? {
            return Ok(Some(ReserveOutcome::OtherFingerprint));
        }
        if columns["record"] != Value::Null {
            return Ok(Some(ReserveOutcome::Done(bytes_of(&columns, "record")?.into())));
        }
        if is_same("nonce", &claim.nonce)? {
            return Ok(None);
        }
        let is_leased = row.number == 1;
        Ok(Some(if is_leased { ReserveOutcome::Running } else { ReserveOutcome::Crashed }))
    }
}

/// Returns the time until the row of a claim expires.
fn whole(claim: &Reservation) -> u64 {
    millis(claim.remember_crash.unwrap_or_default().max(claim.lease))
}

impl<D: Driver> IdempotencyStore for SqlIdempotencyStore<D> {
    fn take<'a>(
        &'a self,
        key: &'a ScopedKey,
        claim: &'a Reservation,
    ) -> BoxFuture<'a, Result<ReserveOutcome, StoreError>> {
        Box::pin(self.take_now(key, claim))
    }

    fn renew<'a>(
        &'a self,
        key: &'a ScopedKey,
        claim: &'a Reservation,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let parameter = json!({
                "id": key.to_string(),
                "nonce": hex::encode(claim.nonce),
                "lease": millis(claim.lease),
                "whole": whole(claim),
            });
            Ok(!self.db.write(&self.renew, parameter).await?.is_empty())
        })
    }

    fn complete<'a>(
        &'a self,
        key: &'a ScopedKey,
        nonce: &'a Nonce,
        record: Bytes,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let parameter = json!({
                "id": key.to_string(),
                "nonce": hex::encode(nonce),
                "record": hex::encode(&record),
                "ttl": millis(ttl),
            });
            Ok(!self.db.write(&self.complete, parameter).await?.is_empty())
        })
    }

    fn free<'a>(
        &'a self,
        key: &'a ScopedKey,
        nonce: &'a Nonce,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let parameter = json!({ "id": key.to_string(), "nonce": hex::encode(nonce) });
            Ok(!self.db.write(&self.free, parameter).await?.is_empty())
        })
    }
}

impl<D> fmt::Debug for SqlIdempotencyStore<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqlIdempotencyStore")
            .field("max_keys_per_owner", &self.max_keys_per_owner)
            .finish_non_exhaustive()
    }
}
