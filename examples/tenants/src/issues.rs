//! Issues of a project.

use serde::{Deserialize, Serialize};
use stockade::prelude::*;
use stockade::reply::Created;
use stockade::sql::Sqlite;
use stockade::sql::rusqlite::{self, Connection, OptionalExtension as _, Row, params};

use crate::accounts::Member;
use crate::errors::TrackerError;
use crate::hooks;
use crate::projects::Project;

pub fn routes() -> RouteTree {
    routes! {
        "projects": {
            ":project": {
                "issues": {
                    POST: { create, docs: "Create an issue" },
                    ":issue": {
                        GET: { show, docs: "Show an issue" },
                        PATCH: { change, docs: "Change an issue, or move it" },
                        DELETE: { delete, docs: "Delete an issue" },
                    },
                },
            },
        },
        "issues": { GET: { list, docs: "Search the issues of all projects" } },
    }
}

/// An issue.
#[derive(Serialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct Issue {
    id: i64,
    project_id: i64,
    pub title: String,
}

impl Issue {
    fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self { id: row.get("id")?, project_id: row.get("project")?, title: row.get("title")? })
    }

    /// Finds an issue of a project of this company.
    pub fn find(
        tx: &Connection,
        tenant: &str,
        project: i64,
        id: i64,
    ) -> Result<Self, TrackerError> {
        let sql = "SELECT * FROM issues WHERE tenant = ? AND project = ? AND id = ?";
        let issue = tx.query_row(sql, params![tenant, project, id], Self::from_row).optional()?;
        issue.ok_or(TrackerError::Unknown("issue"))
    }
}

/// The query of `GET /issues`.
#[derive(Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct Filter {
    /// Only issues of this project.
    project_id: Option<i64>,
    /// A part of the title.
    #[schema(max_length = 100)]
    pub q: Option<String>,
    /// The id of the last issue of the previous page.
    after: Option<i64>,
    #[schema(minimum = 1, maximum = 100, default = 20)]
    limit: i64,
}

/// The response to `GET /issues`.
#[derive(Serialize, Schema)]
pub struct IssueList {
    #[schema(max_items = 100)]
    items: Vec<Issue>,
    /// The value of `after` for the next page.
    next: Option<i64>,
}

/// The body of a request that creates an issue.
#[derive(Deserialize, Schema)]
pub struct NewIssue {
    #[schema(required, trim, max_length = 200)]
    title: String,
}

/// The body of a request that changes an issue.
#[derive(Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct IssueChange {
    #[schema(trim, max_length = 200)]
    pub title: Option<String>,
    /// Moves the issue to this project.
    pub project_id: Option<i64>,
}

pub async fn list(
    db: State<Sqlite>,
    User(me): User<Member>,
    Query(filter): Query<Filter>,
) -> Result<IssueList, TrackerError> {
    db.read(move |tx| {
        let mut statement = tx.prepare_cached(
            "SELECT * FROM issues WHERE tenant = ?1 AND id > ?2
             AND (?3 IS NULL OR project = ?3) AND (?4 IS NULL OR instr(title, ?4) > 0)
             ORDER BY id LIMIT ?5",
        )?;
        let after = filter.after.unwrap_or(0);
        let params = params![me.tenant, after, filter.project_id, filter.q, filter.limit];
        let rows = statement.query_map(params, Issue::from_row)?;
        let items: Vec<Issue> = rows.collect::<Result<_, _>>()?;
        let is_full = i64::try_from(items.len()).is_ok_and(|length| length == filter.limit);
        let next = items.last().filter(|_| is_full).map(|issue| issue.id);
        Ok(IssueList { items, next })
    })
    .await
}

pub async fn create(
    db: State<Sqlite>,
    User(me): User<Member>,
    Path(project): Path<i64>,
    Body(new): Body<NewIssue>,
) -> Result<Created<Issue>, TrackerError> {
    db.write(move |tx| {
        Project::find(tx, &me.tenant, project)?;
        let sql = "INSERT INTO issues (tenant, project, title) VALUES (?, ?, ?)";
        tx.execute(sql, params![me.tenant, project, new.title])?;
        let id = tx.last_insert_rowid();
        hooks::queue(tx, &me.tenant, &json!({ "event": "issue.created", "id": id }).to_string())?;
        Ok(Created::new(Issue { id, project_id: project, title: new.title })
            .location(format!("/projects/{project}/issues/{id}")))
    })
    .await
}

pub async fn show(
    db: State<Sqlite>,
    User(me): User<Member>,
    Path((project, issue)): Path<(i64, i64)>,
) -> Result<Issue, TrackerError> {
    db.read(move |tx| Issue::find(tx, &me.tenant, project, issue)).await
}

pub async fn change(
    db: State<Sqlite>,
    User(me): User<Member>,
    Path((project, issue)): Path<(i64, i64)>,
    Body(change): Body<IssueChange>,
) -> Result<Issue, TrackerError> {
    db.write(move |tx| {
        let old = Issue::find(tx, &me.tenant, project, issue)?;
        let project = change.project_id.unwrap_or(project);
        // An id in a body is as foreign as an id in a path.
        Project::find(tx, &me.tenant, project)?;
        let title = change.title.unwrap_or(old.title);
        let sql = "UPDATE issues SET title = ?, project = ? WHERE tenant = ? AND id = ?";
        tx.execute(sql, params![title, project, me.tenant, issue])?;
        Issue::find(tx, &me.tenant, project, issue)
    })
    .await
}

pub async fn delete(
    db: State<Sqlite>,
    User(me): User<Member>,
    Path((project, issue)): Path<(i64, i64)>,
) -> Result<(), TrackerError> {
    db.write(move |tx| {
        let sql = "DELETE FROM issues WHERE tenant = ? AND project = ? AND id = ?";
        match tx.execute(sql, params![me.tenant, project, issue])? {
            0 => Err(TrackerError::Unknown("issue")),
            _ => Ok(()),
        }
    })
    .await
}
