//! Statements that forget the tenant, one at a time.

use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

use stockade::HttpBody;
use stockade::auth::generate_jwt;
use stockade::extract::{FilePart, Multipart};
use stockade::http::HeaderValue;
use stockade::middleware::idempotency::{Idempotency, MemoryIdempotencyStore, with_idempotency};
use stockade::prelude::*;
use stockade::rpc::Rpc;
use stockade::testing::{AttackFamily, Credentials, Hardening, HardeningFailure, HardeningReport};

use crate::block_on;

/// The condition on the tenant that is missing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Fault {
    ReadProject,
    ListProjects,
    RenameProject,
    /// It responds with 404, but it has written.
    RenameSilently,
    DeleteProject,
    CreateBelow,
    ReadTask,
    ReadTaskOfOtherProject,
    FilterTasks,
    SearchTasks,
    TasksAfter,
    BodyReference,
    Download,
    Existence,
    Method,
    IdempotencyKeys,
    PageLink,
}

#[derive(serde::Deserialize)]
pub struct Member {
    pub tenant: String,
}

#[derive(Clone)]
struct Row {
    id: u64,
    tenant: String,
    project: u64,
    text: String,
}

#[derive(Default)]
struct Rows {
    last: u64,
    projects: Vec<Row>,
    tasks: Vec<Row>,
    files: Vec<Row>,
}

impl Rows {
    fn new_row(&mut self, me: &Member, project: u64, text: String) -> Row {
        self.last += 1;
        Row { id: self.last, tenant: me.tenant.clone(), project, text }
    }
}

struct Tracker {
    fault: Option<Fault>,
    rows: Mutex<Rows>,
}

impl Tracker {
    fn rows(&self) -> MutexGuard<'_, Rows> {
        self.rows.lock().unwrap()
    }

    fn is_own(&self, condition: Fault, me: &Member, row: &Row) -> bool {
        self.fault == Some(condition) || row.tenant == me.tenant
    }

    fn project(&self, condition: Fault, me: &Member, id: u64) -> Result<Row, ApiError> {
        let rows = self.rows();
        let row = rows.projects.iter().find(|row| row.id == id).ok_or_else(ApiError::not_found)?;
        match self.is_own(condition, me, row) {
            true => Ok(row.clone()),
            false if self.fault == Some(Fault::Existence) => {
                Err(ApiError::new(403, "it belongs to another tenant"))
            }
            false => Err(ApiError::not_found()),
        }
    }
}

fn shown(row: &Row) -> Value {
    json!({ "id": row.id, "projectId": row.project, "text": row.text })
}

#[derive(serde::Deserialize, Schema)]
struct New {
    #[schema(max_length = 100)]
    text: String,
}

#[derive(serde::Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
struct NewTask {
    #[schema(max_length = 100)]
    text: String,
    project_id: u64,
}

#[derive(serde::Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
struct Filter {
    project_id: Option<u64>,
    #[schema(max_length = 100)]
    q: Option<String>,
    after: Option<u64>,
    #[schema(minimum = 1, maximum = 100, default = 100)]
    limit: usize,
}

#[derive(serde::Deserialize, Schema)]
struct TaskId {
    id: u64,
}

async fn list_projects(db: State<Tracker>, User(me): User<Member>) -> Value {
    let rows = db.rows();
    let own = rows.projects.iter().filter(|row| db.is_own(Fault::ListProjects, &me, row));
    own.map(shown).collect()
}

async fn create_project(db: State<Tracker>, User(me): User<Member>, Body(new): Body<New>) -> Value {
    let mut rows = db.rows();
    let row = rows.new_row(&me, 0, new.text);
    rows.projects.push(row.clone());
    shown(&row)
}

async fn show_project(
    db: State<Tracker>,
    User(me): User<Member>,
    Path(id): Path<u64>,
) -> Result<Value, ApiError> {
    Ok(shown(&db.project(Fault::ReadProject, &me, id)?))
}

async fn rename_project(
    db: State<Tracker>,
    User(me): User<Member>,
    Path(id): Path<u64>,
    Body(new): Body<New>,
) -> Result<Value, ApiError> {
    if db.fault != Some(Fault::RenameSilently) {
        db.project(Fault::RenameProject, &me, id)?;
    }
    for row in db.rows().projects.iter_mut().filter(|row| row.id == id) {
        row.text.clone_from(&new.text);
    }
    Ok(shown(&db.project(Fault::RenameProject, &me, id)?))
}

async fn delete_project(
    db: State<Tracker>,
    User(me): User<Member>,
    Path(id): Path<u64>,
) -> Result<(), ApiError> {
    db.project(Fault::DeleteProject, &me, id)?;
    db.rows().projects.retain(|row| row.id != id);
    Ok(())
}

async fn create_below(
    db: State<Tracker>,
    User(me): User<Member>,
    Path(project): Path<u64>,
    Body(new): Body<New>,
) -> Result<Value, ApiError> {
    db.project(Fault::CreateBelow, &me, project)?;
    let mut rows = db.rows();
    let row = rows.new_row(&me, project, new.text);
    rows.tasks.push(row.clone());
    Ok(shown(&row))
}

async fn show_task(
    db: State<Tracker>,
    User(me): User<Member>,
    Path((project, id)): Path<(u64, u64)>,
) -> Result<Value, ApiError> {
    db.project(Fault::ReadTask, &me, project)?;
    let is_any = db.fault == Some(Fault::ReadTaskOfOtherProject);
    let rows = db.rows();
    let mut tasks = rows.tasks.iter();
    let task = tasks.find(|row| row.id == id && (is_any || row.project == project));
    task.map(shown).ok_or_else(ApiError::not_found)
}

async fn list_tasks(
    db: State<Tracker>,
    User(me): User<Member>,
    Query(filter): Query<Filter>,
) -> Value {
    let condition = match &filter {
        Filter { project_id: Some(_), .. } => Fault::FilterTasks,
        Filter { q: Some(_), .. } => Fault::SearchTasks,
        Filter { after: Some(_), .. } => Fault::TasksAfter,
        // Nobody forgets this one.
        _ => Fault::Existence,
    };
    let rows = db.rows();
    let tasks = rows.tasks.iter().filter(|row| {
        let is_own = row.tenant == me.tenant
            || (condition != Fault::Existence && db.fault == Some(condition));
        is_own
            && filter.project_id.is_none_or(|project| row.project == project)
            && filter.q.as_ref().is_none_or(|q| row.text.contains(q))
            && filter.after.is_none_or(|after| row.id > after)
    });
    let items: Vec<Value> = tasks.take(filter.limit).map(shown).collect();
    let next = items.last().filter(|_| items.len() == filter.limit).map(|item| item["id"].clone());
    json!({ "items": items, "next": next })
}

async fn create_task(
    db: State<Tracker>,
    User(me): User<Member>,
    Body(new): Body<NewTask>,
) -> Result<Value, ApiError> {
    db.project(Fault::BodyReference, &me, new.project_id)?;
    let mut rows = db.rows();
    let row = rows.new_row(&me, new.project_id, new.text);
    rows.tasks.push(row.clone());
    Ok(json!({ "id": row.id }))
}

async fn upload(
    db: State<Tracker>,
    User(me): User<Member>,
    body: HttpBody,
) -> Result<Value, BoxError> {
    let text = String::from_utf8(body.collect(1_000).await?.to_vec())?;
    let mut rows = db.rows();
    let row = rows.new_row(&me, 0, text);
    rows.files.push(row.clone());
    Ok(json!({ "id": row.id }))
}

async fn download(
    db: State<Tracker>,
    User(me): User<Member>,
    Path(id): Path<u64>,
) -> Result<String, ApiError> {
    let rows = db.rows();
    let mut own = rows.files.iter().filter(|row| db.is_own(Fault::Download, &me, row));
    own.find(|row| row.id == id).map(|row| row.text.clone()).ok_or_else(ApiError::not_found)
}

async fn task_by_method(
    db: State<Tracker>,
    User(me): User<Member>,
    Body(task): Body<TaskId>,
) -> Result<Json<Value>, ApiError> {
    let rows = db.rows();
    let mut own = rows.tasks.iter().filter(|row| db.is_own(Fault::Method, &me, row));
    let task = own.find(|row| row.id == task.id);
    task.map(|row| Json(shown(row))).ok_or_else(ApiError::not_found)
}

/// Returns 12 operations.
fn tree(fault: Option<Fault>) -> RouteTree {
    let rpc = Rpc::new().method("tasks.get", task_by_method);
    let keys = Idempotency::new(MemoryIdempotencyStore::new());
    let once = with_idempotency(match fault {
        Some(Fault::IdempotencyKeys) => keys.scope_by(|_| Ok("everybody".to_owned())),
        _ => keys,
    });
    routes! {
        "projects": {
            GET: list_projects,
            POST: create_project,
            ":project": {
                GET: show_project,
                PUT: rename_project,
                DELETE: delete_project,
                "tasks": { POST: create_below, ":task": { GET: show_task } },
            },
        },
        "tasks": { GET: list_tasks, POST: { create_task, middleware: [once] } },
        "files": { POST: upload, ":id": { GET: download } },
        "rpc": { ..rpc.routes() },
    }
}

pub fn secret() -> Secret {
    Secret::new("a secret of tests only, 32 bytes").unwrap()
}

fn user(tenant: &str) -> Credentials {
    let claims = json!({ "sub": tenant, "tenant": tenant });
    Credentials::bearer(generate_jwt(claims, "1h", &secret()).unwrap())
}

fn tracker(fault: Option<Fault>) -> Router {
    let api = routes! { auth: Auth::secret(secret()), ..tree(fault) };
    let state = Tracker { fault, rows: Mutex::default() };
    create_router(api, RouterOptions::new()).state(state)
}

fn hardening(fault: Option<Fault>) -> Hardening {
    harden(tracker(fault))
}

/// Attacks with a user of each of two tenants.
pub fn harden(router: Router) -> Hardening {
    let hardening = Hardening::new(router).only([AttackFamily::Tenants]);
    hardening.tenants(user("acme"), user("globex"))
}

pub fn failures(report: &HardeningReport) -> Vec<&HardeningFailure> {
    let failures = report.failures.iter();
    failures.filter(|failure| failure.family == AttackFamily::Tenants).collect()
}

#[test]
fn finds_each_forgotten_tenant() {
    #[track_caller]
    fn check(fault: Fault, route: &str, attack: &str, found: &str) {
        let report = block_on(hardening(Some(fault)).run());
        let all = failures(&report);
        let failure = all.iter().find(|failure| {
            failure.route.as_deref() == Some(route) && failure.attack.contains(attack)
        });
        let failure = failure.unwrap_or_else(|| panic!("{fault:?} is not found\n{report}"));
        assert!(failure.found.contains(found), "{fault:?}\n{report}");
        // No other route is blamed.
        assert!(all.iter().all(|it| it.route.as_deref() == Some(route)), "{fault:?}\n{report}");
        let location = failure.location.as_ref().unwrap();
        assert!(location.file.ends_with("guards/tenants.rs") && location.line > 0);
        let exchange = failure.exchange.as_deref().unwrap();
        let method = route.split(' ').next().unwrap();
        let method = if method == "RPC" { "POST" } else { method };
        assert!(exchange.starts_with(&format!("curl -X {method} 'http://localhost/")), "{report}");
        assert!(exchange.contains("-H \"authorization: $B_AUTHORIZATION\""), "{report}");
    }
    check(Fault::ReadProject, "GET /projects/:project", ":project", "200 OK");
    check(Fault::ListProjects, "GET /projects", "own objects", "data of the first user");
    check(Fault::RenameProject, "PUT /projects/:project", ":project", "different afterwards");
    check(Fault::RenameSilently, "PUT /projects/:project", ":project", "different afterwards");
    check(Fault::DeleteProject, "DELETE /projects/:project", ":project", "different afterwards");
    check(Fault::CreateBelow, "POST /projects/:project/tasks", ":project", "200 OK");
    let task = "GET /projects/:project/tasks/:task";
    check(Fault::ReadTask, task, "all path parameters", "data of the first user");
    check(Fault::ReadTaskOfOtherProject, task, "own path with `:task`", "data of the first user");
    check(Fault::FilterTasks, "GET /tasks", "`projectId` with an id", "data of the first user");
    check(Fault::SearchTasks, "GET /tasks", "`q` with a text", "200 OK");
    check(Fault::TasksAfter, "GET /tasks", "`after` with a page", "data of the first user");
    check(Fault::BodyReference, "POST /tasks", "`projectId` with an id", "200 OK");
    check(Fault::Download, "GET /files/:id", ":id", "data of the first user");
    check(Fault::Method, "RPC /rpc#tasks.get", "`id` with an id", "data of the first user");
    let saved = "the saved response to the first user";
    check(Fault::IdempotencyKeys, "POST /tasks", "an idempotency key", saved);
}

#[test]
fn finds_responses_that_reveal_objects() {
    let report = block_on(hardening(Some(Fault::Existence)).run());
    let found = "the response is 403 Forbidden, and 404 Not Found for an unknown id, which reveals";
    assert!(failures(&report).iter().all(|it| it.found.starts_with(found)), "{report}");
    assert!(failures(&report).len() > 5, "{report}");
}

#[test]
fn reports_nothing_if_tenants_are_separate() {
    let report = block_on(hardening(None).run());
    report.assert();
    let count = report.count(AttackFamily::Tenants);
    assert!(count.passed >= 15, "{report}");
    assert_eq!(count.not_attacked, 0, "{report}");
}

#[test]
fn replays_one_attack() {
    let fault = Some(Fault::ReadProject);
    let report = block_on(hardening(fault).run());
    let again = block_on(hardening(fault).run());
    assert_eq!(report.to_string(), again.to_string());
    let exchange = failures(&report)[0].exchange.as_deref().unwrap();
    let name = exchange.split("replay: .replay(\"").nth(1).unwrap().split("\")").next().unwrap();
    assert_eq!(name, "GET /projects/:project: `:project` of the other user");
    let replayed = block_on(hardening(fault).replay(name).run());
    assert_eq!(replayed.failures.len(), 1, "{replayed}");
    let fixed = block_on(hardening(None).replay(name).run());
    assert_eq!(
        (fixed.failures.len(), fixed.count(AttackFamily::Tenants).passed),
        (0, 1),
        "{fixed}"
    );
}

#[test]
fn skipped_and_unknown_routes_are_listed() {
    let report = block_on(
        hardening(Some(Fault::Download))
            .skip("GET /files/:id", AttackFamily::Tenants, "files are public")
            .run(),
    );
    report.assert();
    assert!(report.to_string().contains("tenants, GET /files/:id: files are public"), "{report}");

    let api = routes! {
        auth: Auth::secret(secret()),
        "reports/:day": { GET: async |Path(day): Path<String>| day },
    };
    let router = create_router(api, RouterOptions::new());
    let report = block_on(harden(router).run());
    assert!(report.to_string().contains("no id of the first user is known"), "{report}");
}

#[test]
fn sixty_operations_take_seconds() {
    let api = routes! {
        auth: Auth::secret(secret()),
        "a": { ..tree(None) },
        "b": { ..tree(None) },
        "c": { ..tree(None) },
        "d": { ..tree(None) },
        "e": { ..tree(None) },
    };
    let state = Tracker { fault: None, rows: Mutex::default() };
    let router = create_router(api, RouterOptions::new()).state(state);
    let start = Instant::now();
    let report = block_on(harden(router).run());
    report.assert();
    let count = report.count(AttackFamily::Tenants);
    assert!(count.passed >= 75, "{report}");
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    println!("{count:?} in {:?}", start.elapsed());
}

#[derive(serde::Deserialize, Schema)]
struct Upload {
    #[schema(max_length = 100)]
    title: String,
    #[schema(max_bytes = 1_000)]
    file: FilePart,
}

#[derive(serde::Deserialize, Schema)]
struct Page {
    #[schema(minimum = 1, maximum = 100, default = 1)]
    page: usize,
}

/// The id is a text that other tenants cannot guess.
fn key_of(row: &Row) -> String {
    format!("doc_{:08x}", row.id.wrapping_mul(0x9e37_79b1) & 0xffff_ffff)
}

async fn create_document(
    db: State<Tracker>,
    User(me): User<Member>,
    Multipart(form): Multipart<Upload>,
) -> Value {
    let text = String::from_utf8(form.file.bytes.to_vec()).unwrap();
    let mut rows = db.rows();
    let row = rows.new_row(&me, 0, text);
    rows.files.push(row.clone());
    json!({ "document": { "key": key_of(&row), "title": form.title } })
}

async fn list_documents(
    db: State<Tracker>,
    User(me): User<Member>,
    Query(Page { page }): Query<Page>,
) -> Result<Response, ApiError> {
    let rows = db.rows();
    let is_all = db.fault == Some(Fault::PageLink) && page > 1;
    let own = rows.files.iter().filter(|row| is_all || row.tenant == me.tenant);
    let keys: Vec<Value> =
        own.skip(page - 1).take(1).map(|row| json!({ "key": key_of(row) })).collect();
    let mut response = Json(json!({ "documents": keys })).into_response()?;
    let next = format!("</documents?page={}>; rel=\"next\"", page + 1);
    response.headers_mut().insert(header::LINK, HeaderValue::try_from(next).unwrap());
    Ok(response)
}

async fn read_document(
    db: State<Tracker>,
    User(me): User<Member>,
    Path(key): Path<String>,
) -> Result<String, ApiError> {
    let rows = db.rows();
    let mut own = rows.files.iter().filter(|row| db.is_own(Fault::Download, &me, row));
    let row = own.find(|row| key_of(row) == key).ok_or_else(ApiError::not_found)?;
    Ok(row.text.clone())
}

fn documents(fault: Option<Fault>) -> HardeningReport {
    let api = routes! {
        auth: Auth::secret(secret()),
        "documents": {
            GET: list_documents,
            POST: create_document,
            ":key": { GET: read_document },
        },
    };
    let state = Tracker { fault, rows: Mutex::default() };
    let router = create_router(api, RouterOptions::new()).state(state);
    block_on(harden(router).run())
}

#[test]
fn follows_links_and_uploads_files() {
    #[track_caller]
    fn check(fault: Fault, route: &str, attack: &str) {
        let report = documents(Some(fault));
        let all = failures(&report);
        let is_found = |it: &&HardeningFailure| {
            it.route.as_deref() == Some(route) && it.attack.contains(attack)
        };
        assert!(all.iter().any(is_found), "{report}");
        assert!(all.iter().all(|it| it.route.as_deref() == Some(route)), "{report}");
    }
    documents(None).assert();
    assert_eq!(documents(None).count(AttackFamily::Tenants).not_attacked, 0);
    check(Fault::Download, "GET /documents/:key", "`:key` of the other user");
    check(Fault::PageLink, "GET /documents", "a link of the other user");
}
