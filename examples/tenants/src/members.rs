//! Members of a company, for its admins.

use serde::{Deserialize, Serialize};
use stockade::middleware::sessions::Sessions;
use stockade::middleware::with_role;
use stockade::prelude::*;
use stockade::reply::Created;
use stockade::sql::Sqlite;
use stockade::sql::rusqlite::params;

use crate::accounts::{Member, Passwords, Visit};
use crate::errors::TrackerError;

pub fn routes() -> RouteTree {
    routes! {
        "members": {
            middleware: with_role("admin"),
            GET: { list, docs: "List the members" },
            POST: { add, docs: "Add a member", rate_limit: 10 / MINUTE },
            ":member": {
                DELETE: { remove, docs: "Remove a member" },
                "role": { PUT: { set_role, docs: "Change the role of a member" } },
            },
        },
    }
}

/// A member of a company.
#[derive(Serialize, Schema)]
pub struct MemberInfo {
    id: i64,
    email: String,
    role: String,
}

/// The response to `GET /members`.
#[derive(Serialize, Schema)]
pub struct MemberList {
    #[schema(max_items = 100)]
    items: Vec<MemberInfo>,
}

/// The body of a request that adds a member.
#[derive(Deserialize, Schema)]
pub struct NewMember {
    #[schema(kind = "email", max_length = 254)]
    email: String,
    #[schema(min_length = 8, max_length = 200)]
    password: String,
    #[schema(values = ["admin", "member"])]
    role: String,
}

/// The body of a request that changes a role.
#[derive(Deserialize, Schema)]
pub struct NewRole {
    #[schema(values = ["admin", "member"])]
    pub role: String,
}

pub async fn list(db: State<Sqlite>, User(me): User<Member>) -> Result<MemberList, TrackerError> {
    db.read(move |tx| {
        let sql = "SELECT id, email, role FROM members WHERE tenant = ? ORDER BY id LIMIT 100";
        let mut statement = tx.prepare_cached(sql)?;
        let rows = statement.query_map([me.tenant], |row| {
            Ok(MemberInfo { id: row.get(0)?, email: row.get(1)?, role: row.get(2)? })
        })?;
        Ok(MemberList { items: rows.collect::<Result<_, _>>()? })
    })
    .await
}

pub async fn add(
    db: State<Sqlite>,
    State(passwords): State<Passwords>,
    User(me): User<Member>,
    Body(new): Body<NewMember>,
) -> Result<Created<MemberInfo>, TrackerError> {
    let hash = passwords.hash(new.password).await?;
    let added = db.write(move |tx| {
        let sql = "INSERT INTO members (tenant, email, password_hash, role) VALUES (?, ?, ?, ?)";
        tx.execute(sql, params![me.tenant, new.email, hash, new.role])?;
        let id = tx.last_insert_rowid();
        let member = MemberInfo { id, email: new.email, role: new.role };
        Ok(Created::new(member).location(format!("/members/{id}")))
    });
    added.await.map_err(|error: TrackerError| error.or_taken("email address"))
}

pub async fn remove(
    db: State<Sqlite>,
    sessions: State<Sessions<Visit>>,
    User(me): User<Member>,
    Path(member): Path<i64>,
) -> Result<(), TrackerError> {
    db.write(move |tx| {
        let sql = "DELETE FROM members WHERE tenant = ? AND id = ?";
        match tx.execute(sql, params![me.tenant, member])? {
            0 => Err(TrackerError::Unknown("member")),
            _ => Ok(()),
        }
    })
    .await?;
    sessions.end_all(&member.to_string()).await?;
    Ok(())
}

pub async fn set_role(
    db: State<Sqlite>,
    sessions: State<Sessions<Visit>>,
    User(me): User<Member>,
    Path(member): Path<i64>,
    Body(new): Body<NewRole>,
) -> Result<(), TrackerError> {
    db.write(move |tx| {
        let sql = "UPDATE members SET role = ? WHERE tenant = ? AND id = ?";
        match tx.execute(sql, params![new.role, me.tenant, member])? {
            0 => Err(TrackerError::Unknown("member")),
            _ => Ok(()),
        }
    })
    .await?;
    // A session contains the role of its beginning.
    sessions.end_all(&member.to_string()).await?;
    Ok(())
}
