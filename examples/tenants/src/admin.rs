//! The internal API of the operators, on its own port.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use stockade::auth::BasicCredentials;
use stockade::middleware::sessions::Sessions;
use stockade::middleware::with_cross_origin_protection;
use stockade::policy::Policy;
use stockade::prelude::*;
use stockade::reply::Created;
use stockade::sql::Sqlite;
use stockade::sql::rusqlite::params;

use crate::accounts::{Passwords, Visit};
use crate::api::Parts;
use crate::errors::TrackerError;

/// The user name of the operators.
pub const OPERATOR: &str = "operator";

/// Returns the internal API. The caller adds the database.
pub fn router(parts: &Parts, password: String, options: RouterOptions) -> Router {
    let api = routes! {
        auth: operators(password),
        timeout: Duration::from_secs(10),
        // Browsers send a Basic password also with forms of other pages.
        middleware: with_cross_origin_protection(),
        ..routes(),
    };
    with_parts(api, parts, options).policy(policy())
}

/// Returns the rules for all routes; the build fails if a route breaks one.
pub fn policy() -> Policy {
    Policy::strict()
        .without("no-basic", "only operators reach the port, with a long password")
        .without("errors-typed", "sessions report the errors of their store")
        .without("operation-named", "no client is generated")
}

/// Returns a router with the parts as state.
pub fn with_parts(api: RouteTree, parts: &Parts, options: RouterOptions) -> Router {
    create_router(api, options).state(parts.sessions.clone()).state(parts.passwords.clone())
}

/// Returns the login of the operators.
pub fn operators(password: String) -> Auth {
    Auth::basic("operators", move |login: BasicCredentials| {
        login.matches(OPERATOR, &password).then_some(OPERATOR)
    })
}

pub fn routes() -> RouteTree {
    routes! {
        "companies": {
            GET: { list, docs: "List the companies" },
            POST: { create, docs: "Create a company with its first admin" },
            ":company": { DELETE: { delete, docs: "Delete a company with all of its data" } },
        },
    }
}

/// A company.
#[derive(Serialize, Schema)]
pub struct Company {
    name: String,
    plan: String,
}

/// The response to `GET /companies`.
#[derive(Serialize, Schema)]
pub struct CompanyList {
    #[schema(max_items = 1_000)]
    items: Vec<Company>,
}

/// The body of a request that creates a company.
#[derive(Deserialize, Schema)]
pub struct NewCompany {
    #[schema(pattern = "^[a-z0-9-]+$", max_length = 50)]
    name: String,
    /// The email address of the first admin.
    #[schema(kind = "email", max_length = 254)]
    email: String,
    #[schema(min_length = 8, max_length = 200)]
    password: String,
}

/// The path of a company.
#[derive(Deserialize, Schema)]
pub struct CompanyPath {
    #[schema(max_length = 50)]
    company: String,
}

pub async fn list(db: State<Sqlite>) -> Result<CompanyList, TrackerError> {
    db.read(move |tx| {
        let mut statement =
            tx.prepare_cached("SELECT name, plan FROM companies ORDER BY name LIMIT 1000")?;
        let rows =
            statement.query_map([], |row| Ok(Company { name: row.get(0)?, plan: row.get(1)? }))?;
        Ok(CompanyList { items: rows.collect::<Result<_, _>>()? })
    })
    .await
}

pub async fn create(
    db: State<Sqlite>,
    State(passwords): State<Passwords>,
    Body(new): Body<NewCompany>,
) -> Result<Created<Company>, TrackerError> {
    let hash = passwords.hash(new.password).await?;
    let created = db.write(move |tx| {
        tx.execute("INSERT INTO companies (name) VALUES (?)", [&new.name])?;
        let sql = "INSERT INTO members (tenant, email, password_hash, role)
                   VALUES (?, ?, ?, 'admin')";
        tx.execute(sql, params![new.name, new.email, hash])?;
        let location = format!("/companies/{}", new.name);
        let company = Company { name: new.name, plan: "free".to_owned() };
        Ok(Created::new(company).location(location))
    });
    created.await.map_err(|error: TrackerError| error.or_taken("name or the email address"))
}

pub async fn delete(
    db: State<Sqlite>,
    sessions: State<Sessions<Visit>>,
    Path(CompanyPath { company }): Path<CompanyPath>,
) -> Result<(), TrackerError> {
    let members: Vec<i64> = db
        .write(move |tx| {
            let mut statement = tx.prepare_cached("SELECT id FROM members WHERE tenant = ?")?;
            let members = statement.query_map([&company], |row| row.get(0))?;
            let members = members.collect::<Result<_, _>>()?;
            match tx.execute("DELETE FROM companies WHERE name = ?", [&company])? {
                0 => Err(TrackerError::Unknown("company")),
                _ => Ok(members),
            }
        })
        .await?;
    for member in members {
        sessions.end_all(&member.to_string()).await?;
    }
    Ok(())
}
