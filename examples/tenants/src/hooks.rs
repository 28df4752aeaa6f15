//! Hooks: web addresses of users that get a request for each new issue.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use stockade::http::StatusCode;
use stockade::http::header::LOCATION;
use stockade::middleware::with_role;
use stockade::outgoing::{OutgoingGuard, OutgoingUrl};
use stockade::prelude::*;
use stockade::reply::Created;
use stockade::sql::rusqlite::{Connection, params};
use stockade::sql::{SqlError, Sqlite};
use tokio::time::interval;

use crate::accounts::Member;
use crate::errors::TrackerError;
use crate::http_client;

pub fn routes() -> RouteTree {
    routes! {
        "hooks": {
            middleware: with_role("admin"),
            GET: { list, docs: "List the hooks" },
            POST: { add, docs: "Add a hook" },
            ":hook": { DELETE: { remove, docs: "Remove a hook" } },
        },
    }
}

/// A web address that gets a request for each new issue.
#[derive(Serialize, Schema)]
pub struct Hook {
    id: i64,
    url: String,
}

/// The response to `GET /hooks`.
#[derive(Serialize, Schema)]
pub struct HookList {
    #[schema(max_items = 100)]
    items: Vec<Hook>,
}

/// The body of a request that adds a hook.
#[derive(Deserialize, Schema)]
pub struct NewHook {
    #[schema(kind = "url")]
    url: OutgoingUrl,
}

pub async fn list(db: State<Sqlite>, User(me): User<Member>) -> Result<HookList, TrackerError> {
    db.read(move |tx| {
        let sql = "SELECT id, url FROM hooks WHERE tenant = ? ORDER BY id LIMIT 100";
        let mut statement = tx.prepare_cached(sql)?;
        let rows = statement
            .query_map([me.tenant], |row| Ok(Hook { id: row.get(0)?, url: row.get(1)? }))?;
        Ok(HookList { items: rows.collect::<Result<_, _>>()? })
    })
    .await
}

pub async fn add(
    db: State<Sqlite>,
    User(me): User<Member>,
    Body(new): Body<NewHook>,
) -> Result<Created<Hook>, TrackerError> {
    let url = new.url.to_string();
    db.write(move |tx| {
        tx.execute("INSERT INTO hooks (tenant, url) VALUES (?, ?)", [&me.tenant, &url])?;
        let id = tx.last_insert_rowid();
        Ok(Created::new(Hook { id, url }).location(format!("/hooks/{id}")))
    })
    .await
}

pub async fn remove(
    db: State<Sqlite>,
    User(me): User<Member>,
    Path(hook): Path<i64>,
) -> Result<(), TrackerError> {
    db.write(move |tx| {
        let sql = "DELETE FROM hooks WHERE tenant = ? AND id = ?";
        match tx.execute(sql, params![me.tenant, hook])? {
            0 => Err(TrackerError::Unknown("hook")),
            _ => Ok(()),
        }
    })
    .await
}

/// Stores a request to each hook of a company, in the transaction of the change.
pub fn queue(tx: &Connection, tenant: &str, body: &str) -> Result<(), SqlError> {
    let sql = "INSERT INTO deliveries (hook, body) SELECT id, ?2 FROM hooks WHERE tenant = ?1";
    tx.execute(sql, [tenant, body])?;
    Ok(())
}

/// Sends stored requests every second.
pub async fn deliver_forever(db: Sqlite, guard: OutgoingGuard) {
    let mut ticks = interval(Duration::from_secs(1));
    loop {
        ticks.tick().await;
        if let Err(error) = deliver(&db, &guard).await {
            log::error!("cannot deliver: {error}");
        }
    }
}

/// Sends the stored requests, each once. Returns the outcomes: a status, or the
/// reason of a failure.
pub async fn deliver(db: &Sqlite, guard: &OutgoingGuard) -> Result<Vec<String>, SqlError> {
    let waiting: Vec<(i64, String, String)> = db
        .write(|tx| {
            let mut statement = tx.prepare_cached(
                "SELECT deliveries.id, url, body FROM deliveries
                 JOIN hooks ON hooks.id = hook ORDER BY deliveries.id LIMIT 100",
            )?;
            let rows = statement.query_map([], |row| row.try_into())?;
            let waiting: Vec<(i64, String, String)> = rows.collect::<Result<_, _>>()?;
            for (id, _, _) in &waiting {
                tx.execute("DELETE FROM deliveries WHERE id = ?", [id])?;
            }
            Ok::<_, SqlError>(waiting)
        })
        .await?;
    let mut outcomes = Vec::new();
    for (_, url, body) in waiting {
        let outcome = match send(guard, &url, &body).await {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        log::info!("a hook at {url}: {outcome}");
        outcomes.push(outcome);
    }
    Ok(outcomes)
}

/// Sends a request to the address of a user. The guard checks the addresses of
/// its host, again after each redirect.
async fn send(guard: &OutgoingGuard, url: &str, body: &str) -> Result<StatusCode, BoxError> {
    let mut request = guard.start(OutgoingUrl::parse(url)?);
    loop {
        let addresses = request.resolve().await?;
        let response = http_client::post(request.url(), &addresses, body).await?;
        let status = response.status();
        // Only these statuses repeat a POST.
        let is_repeated = matches!(status.as_u16(), 307 | 308);
        match response.headers().get(LOCATION).filter(|_| is_repeated) {
            Some(location) => request.redirect(location.to_str()?)?,
            None => return Ok(status),
        }
    }
}
