//! Projects of a company.

use serde::{Deserialize, Serialize};
use stockade::prelude::*;
use stockade::reply::Created;
use stockade::sql::Sqlite;
use stockade::sql::rusqlite::{self, Connection, OptionalExtension as _, Row, params};

use crate::accounts::Member;
use crate::errors::TrackerError;

pub fn routes() -> RouteTree {
    routes! {
        "projects": {
            GET: { list, docs: "List the projects" },
            POST: { create, docs: "Create a project" },
            ":project": {
                GET: { show, docs: "Show a project" },
                PUT: { rename, docs: "Rename a project" },
                DELETE: { delete, docs: "Delete a project with its issues" },
            },
        },
    }
}

/// A project.
#[derive(Serialize, Schema)]
pub struct Project {
    id: i64,
    name: String,
}

impl Project {
    pub fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self { id: row.get("id")?, name: row.get("name")? })
    }

    /// Finds a project of this company. Every handler that reads the id of a
    /// project calls it, also for ids in bodies.
    pub fn find(tx: &Connection, tenant: &str, id: i64) -> Result<Self, TrackerError> {
        let sql = "SELECT id, name FROM projects WHERE tenant = ? AND id = ?";
        let project = tx.query_row(sql, params![tenant, id], Self::from_row).optional()?;
        project.ok_or(TrackerError::Unknown("project"))
    }
}

/// The response to `GET /projects`.
#[derive(Serialize, Schema)]
pub struct ProjectList {
    #[schema(max_items = 100)]
    pub items: Vec<Project>,
}

/// The body of a request that creates or renames a project.
#[derive(Deserialize, Schema)]
pub struct NewProject {
    #[schema(required, trim, max_length = 100)]
    name: String,
}

pub async fn list(db: State<Sqlite>, User(me): User<Member>) -> Result<ProjectList, TrackerError> {
    db.read(move |tx| {
        let sql = "SELECT id, name FROM projects WHERE tenant = ? ORDER BY id LIMIT 100";
        let mut statement = tx.prepare_cached(sql)?;
        let rows = statement.query_map([me.tenant], Project::from_row)?;
        Ok(ProjectList { items: rows.collect::<Result<_, _>>()? })
    })
    .await
}

pub async fn create(
    db: State<Sqlite>,
    User(me): User<Member>,
    Body(new): Body<NewProject>,
) -> Result<Created<Project>, TrackerError> {
    db.write(move |tx| {
        let sql = "INSERT INTO projects (tenant, name) VALUES (?, ?)";
        tx.execute(sql, [&me.tenant, &new.name])?;
        let id = tx.last_insert_rowid();
        let project = Project { id, name: new.name };
        Ok(Created::new(project).location(format!("/projects/{id}")))
    })
    .await
}

pub async fn show(
    db: State<Sqlite>,
    User(me): User<Member>,
    Path(project): Path<i64>,
) -> Result<Project, TrackerError> {
    db.read(move |tx| Project::find(tx, &me.tenant, project)).await
}

pub async fn rename(
    db: State<Sqlite>,
    User(me): User<Member>,
    Path(project): Path<i64>,
    Body(new): Body<NewProject>,
) -> Result<Project, TrackerError> {
    db.write(move |tx| {
        let sql = "UPDATE projects SET name = ? WHERE tenant = ? AND id = ?";
        tx.execute(sql, params![new.name, me.tenant, project])?;
        Project::find(tx, &me.tenant, project)
    })
    .await
}

pub async fn delete(
    db: State<Sqlite>,
    User(me): User<Member>,
    Path(project): Path<i64>,
) -> Result<(), TrackerError> {
    db.write(move |tx| {
        // The tables of issues and files delete their rows of the project.
        let sql = "DELETE FROM projects WHERE tenant = ? AND id = ?";
        match tx.execute(sql, params![me.tenant, project])? {
            0 => Err(TrackerError::Unknown("project")),
            _ => Ok(()),
        }
    })
    .await
}
