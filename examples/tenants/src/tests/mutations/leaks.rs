//! The handlers of the faults.

use std::time::Duration;

use serde::Deserialize;
use stockade::auth::webhooks::{Stripe, WebhookFormat, WebhookSender};
use stockade::description::SignatureInfo;
use stockade::http::HeaderMap;
use stockade::http::header::SET_COOKIE;
use stockade::middleware::sessions::Sessions;
use stockade::middleware::{CurrentSession, Signed};
use stockade::prelude::*;
use stockade::reply::{Created, Download};
use stockade::sql::Sqlite;
use stockade::sql::rusqlite::{OptionalExtension as _, params};
use stockade::{FromRequest, RouteDescription};

use crate::accounts::{self, Member, NewPassword, Passwords, Visit};
use crate::billing::Event;
use crate::errors::TrackerError;
use crate::issues::{self, Filter, Issue, IssueChange, NewIssue};
use crate::projects::{self, NewProject, Project, ProjectList};
use crate::{files, members};

type Reply<T> = Result<T, TrackerError>;

/// Returns the user with the company of a row. A statement that forgets the
/// company finds the rows of every company in the same way.
async fn owner(db: &Sqlite, table: &'static str, id: i64, me: Member) -> Reply<User<Member>> {
    let tenant: Option<String> = db
        .read(move |tx| {
            let sql = format!("SELECT tenant FROM {table} WHERE id = ?");
            Ok::<_, TrackerError>(tx.query_row(&sql, [id], |row| row.get(0)).optional()?)
        })
        .await?;
    let tenant = tenant.unwrap_or(me.tenant);
    Ok(User(Member { tenant, ..me }))
}

/// Reads every project of the company.
pub async fn list_projects(db: State<Sqlite>, User(me): User<Member>) -> Reply<ProjectList> {
    db.read(move |tx| {
        let sql = "SELECT id, name FROM projects WHERE tenant = ? ORDER BY id";
        let mut statement = tx.prepare_cached(sql)?;
        let rows = statement.query_map([me.tenant], Project::from_row)?;
        Ok(ProjectList { items: rows.collect::<Result<_, _>>()? })
    })
    .await
}

pub async fn show_project(
    db: State<Sqlite>,
    User(me): User<Member>,
    Path(project): Path<i64>,
) -> Reply<Project> {
    let me = owner(&db, "projects", project, me).await?;
    projects::show(db, me, Path(project)).await
}

pub async fn rename_project(
    db: State<Sqlite>,
    User(me): User<Member>,
    Path(project): Path<i64>,
    new: Body<NewProject>,
) -> Reply<Project> {
    let me = owner(&db, "projects", project, me).await?;
    projects::rename(db, me, Path(project), new).await
}

pub async fn create_issue(
    db: State<Sqlite>,
    User(me): User<Member>,
    Path(project): Path<i64>,
    new: Body<NewIssue>,
) -> Reply<Created<Issue>> {
    let me = owner(&db, "projects", project, me).await?;
    issues::create(db, me, Path(project), new).await
}

/// Moves an issue of the user to the project of another company.
pub async fn move_issue(
    db: State<Sqlite>,
    User(me): User<Member>,
    Path((project, issue)): Path<(i64, i64)>,
    Body(change): Body<IssueChange>,
) -> Reply<Issue> {
    db.write(move |tx| {
        let old = Issue::find(tx, &me.tenant, project, issue)?;
        let project = change.project_id.unwrap_or(project);
        let title = change.title.unwrap_or(old.title);
        let sql = "UPDATE issues SET title = ?, project = ? WHERE tenant = ? AND id = ?";
        if tx.execute(sql, params![title, project, me.tenant, issue]).is_err() {
            // No project has this id.
            return Err(TrackerError::Unknown("project"));
        }
        Issue::find(tx, &me.tenant, project, issue)
    })
    .await
}

pub async fn delete_issue(
    db: State<Sqlite>,
    User(me): User<Member>,
    Path((project, issue)): Path<(i64, i64)>,
) -> Reply<()> {
    let me = owner(&db, "issues", issue, me).await?;
    issues::delete(db, me, Path((project, issue))).await
}

pub async fn search_issues(db: State<Sqlite>, Query(filter): Query<Filter>) -> Reply<Value> {
    db.read(move |tx| {
        let sql = "SELECT id, project, title FROM issues
                   WHERE ?1 IS NULL OR instr(title, ?1) > 0 ORDER BY id";
        let mut statement = tx.prepare_cached(sql)?;
        let rows = statement.query_map([filter.q], |row| {
            let (id, project, title): (i64, i64, String) = row.try_into()?;
            Ok(json!({ "id": id, "projectId": project, "title": title }))
        })?;
        let items: Vec<Value> = rows.collect::<Result<_, _>>()?;
        Ok(json!({ "items": items, "next": null }))
    })
    .await
}

pub async fn download(
    db: State<Sqlite>,
    User(me): User<Member>,
    Path(file): Path<i64>,
) -> Reply<Download> {
    let me = owner(&db, "files", file, me).await?;
    files::download(db, me, Path(file)).await
}

/// Sends a file with the media type of its client, for browsers to show.
pub async fn show_file(
    db: State<Sqlite>,
    User(me): User<Member>,
    Path(file): Path<i64>,
) -> Reply<(HeaderMap, Vec<u8>)> {
    db.read(move |tx| {
        let sql = "SELECT media_type, content FROM files WHERE tenant = ? AND id = ?";
        let found = tx.query_row(sql, params![me.tenant, file], |row| row.try_into());
        let found: Option<(String, Vec<u8>)> = found.optional()?;
        let (media_type, content) = found.ok_or(TrackerError::Unknown("file"))?;
        let media_type = media_type.parse().map_err(|_| TrackerError::Unknown("media type"))?;
        Ok((HeaderMap::from_iter([(header::CONTENT_TYPE, media_type)]), content))
    })
    .await
}

pub async fn list_hooks(db: State<Sqlite>) -> Reply<Value> {
    db.read(move |tx| {
        let mut statement = tx.prepare_cached("SELECT id, url FROM hooks ORDER BY id")?;
        let rows = statement.query_map([], |row| {
            let (id, url): (i64, String) = row.try_into()?;
            Ok(json!({ "id": id, "url": url }))
        })?;
        let items: Vec<Value> = rows.collect::<Result<_, _>>()?;
        Ok(json!({ "items": items }))
    })
    .await
}

/// A hook with any text as its address.
#[derive(Deserialize, Schema)]
pub struct NewHook {
    #[schema(max_length = 2_048)]
    url: String,
}

pub async fn add_hook(Body(new): Body<NewHook>) -> Reply<Created<Value>> {
    Ok(Created::new(json!({ "id": 1, "url": new.url })))
}

/// A member with any password.
#[derive(Deserialize, Schema)]
pub struct NewMember {
    #[schema(kind = "email", max_length = 254)]
    email: String,
    #[schema(max_length = 200)]
    password: String,
    #[schema(values = ["admin", "member"])]
    role: String,
}

pub async fn add_member(Body(new): Body<NewMember>) -> Reply<Created<Value>> {
    let length = new.password.len();
    Ok(Created::new(json!({ "email": new.email, "role": new.role, "length": length })))
}

/// Removes a member of any company.
pub async fn remove_member(
    db: State<Sqlite>,
    sessions: State<Sessions<Visit>>,
    User(me): User<Member>,
    Path(member): Path<i64>,
) -> Reply<()> {
    let me = owner(&db, "members", member, me).await?;
    members::remove(db, sessions, me, Path(member)).await
}

/// Does not end the sessions of the member.
pub async fn remove_only_the_row(
    db: State<Sqlite>,
    User(me): User<Member>,
    Path(member): Path<i64>,
) -> Reply<()> {
    db.write(move |tx| {
        let sql = "DELETE FROM members WHERE tenant = ? AND id = ?";
        match tx.execute(sql, params![me.tenant, member])? {
            0 => Err(TrackerError::Unknown("member")),
            _ => Ok(()),
        }
    })
    .await
}

/// Does not end the sessions with the old role.
pub async fn set_only_the_role(
    db: State<Sqlite>,
    User(me): User<Member>,
    Path(member): Path<i64>,
    Body(new): Body<members::NewRole>,
) -> Reply<()> {
    db.write(move |tx| {
        let sql = "UPDATE members SET role = ? WHERE tenant = ? AND id = ?";
        match tx.execute(sql, params![new.role, me.tenant, member])? {
            0 => Err(TrackerError::Unknown("member")),
            _ => Ok(()),
        }
    })
    .await
}

/// Removes only the cookie.
pub async fn sign_out(sessions: State<Sessions<Visit>>) -> (HeaderMap, ()) {
    (HeaderMap::from_iter([(SET_COOKIE, sessions.cookie().clear())]), ())
}

/// Ends only the session of this device.
pub async fn sign_out_everywhere(
    sessions: State<Sessions<Visit>>,
    CurrentSession(id): CurrentSession,
) -> Result<(), ApiError> {
    let _ = sessions.end(&id).await?;
    Ok(())
}

/// Does not end the sessions of other devices.
pub async fn change_only_the_password(
    db: State<Sqlite>,
    State(passwords): State<Passwords>,
    User(me): User<Member>,
    Body(form): Body<NewPassword>,
) -> Reply<()> {
    let hash = passwords.hash(form.password).await?;
    db.write(move |tx| {
        tx.execute("UPDATE members SET password_hash = ? WHERE id = ?", [hash, me.sub])?;
        Ok(())
    })
    .await
}

/// Does not store the new password.
pub async fn end_only_the_sessions(
    sessions: State<Sessions<Visit>>,
    User(me): User<Member>,
    _: Body<NewPassword>,
) -> Result<(), ApiError> {
    accounts::sign_out_everywhere(sessions, User(me)).await
}

/// Trusts a header that every client can send.
pub fn role_from_header(req: &mut Request) -> Result<(), ApiError> {
    let role = req.headers().get("x-user-role").and_then(|role| role.to_str().ok());
    if let Some(role) = role.map(str::to_owned) {
        req.set_user(Some(json!({ "sub": "1", "tenant": "initech", "role": role })));
    }
    Ok(())
}

pub async fn unsigned(_: Body<Event>) -> Reply<()> {
    Ok(())
}

/// The payment provider, with signatures that are valid for a day.
pub struct Late;

impl WebhookSender for Late {
    const NAME: &'static str = "stripe";
    const FORMAT: WebhookFormat = WebhookFormat::Stripe;
    const TOLERANCE: Duration = Duration::from_secs(86_400);
}

pub async fn late(_: Signed<Event, Late>) -> Reply<()> {
    Ok(())
}

/// The body of a request with any signature.
pub struct AnySignature(Event);

impl FromRequest for AnySignature {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        if !req.headers().contains_key("stripe-signature") {
            let error = ApiError::new(401, "not signed");
            return Err(error.with_header("www-authenticate", "Webhook"));
        }
        let Body(event) = Body::from_request(req).await?;
        Ok(Self(event))
    }

    fn describe(doc: &mut RouteDescription) {
        let signature = SignatureInfo::new(Stripe::NAME, "stripe");
        doc.verifies_signature(signature.max_age(Stripe::TOLERANCE));
        doc.reads_header("Stripe-Signature", true);
        doc.may_respond(401, "not signed");
        Body::<Event>::describe(doc);
    }
}

pub async fn any_signature(AnySignature(event): AnySignature) -> Reply<()> {
    drop(event);
    Ok(())
}
