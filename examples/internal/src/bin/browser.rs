//! Servers for tests with a real browser: one for each CORS option, with a
//! page.
//!
//! ```text
//! cargo run -p internal-examples --bin browser
//! ```
//!
//! Each server uses a free port of this machine, and the single printed line
//! lists them. `ALLOWED` is the origin that `list` and `one` allow.
//! `cargo xtask browser` starts it twice, as two origins, and opens the page
//! `/matrix`. The script of this page sends the cross-origin requests
//! (`browser.html`).

use std::collections::BTreeMap;
use std::env;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use stockade::RouteDescription;
use stockade::auth::{ApiKeyHash, KeyRing, SessionId, generate_token};
use stockade::description::HeaderDoc;
use stockade::extract::{FromRequest, LastEventId};
use stockade::http::HeaderMap;
use stockade::middleware::idempotency::{Idempotency, MemoryIdempotencyStore};
use stockade::middleware::with_rate_limit;
use stockade::middleware::{
    Cookies, CorsOptions, Preconditions, RateLimit, SameSite, SessionCookie, SetCookie, with_etag,
    with_idempotency,
};
use stockade::prelude::*;
use stockade::reply::{Created, Redirect};
use stockade::websockets::WebSocketOptions;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::timeout;

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    env_logger::init();
    let allowed = env::var("ALLOWED").unwrap_or_else(|_| "http://localhost:3000".to_owned());
    let shared = Arc::new(Shared::new()?);
    let (mut names, mut servers) = (Vec::new(), JoinSet::new());
    for (name, options) in policies(&allowed) {
        // Two of them are sufficient for the matrix.
        let has_sockets = matches!(name, "list" | "star");
        let options = options.enable_web_sockets(has_sockets);
        let server =
            router(options, has_sockets, Arc::clone(&shared)).create_server()?.bind(0).await?;
        names.push(format!("{name}={}", server.local_addr()));
        servers.spawn(server.with_signals().serve());
    }
    println!("listening on {}; Ctrl-C ends it", names.join(" "));
    while let Some(served) = servers.join_next().await {
        served??;
    }
    Ok(())
}

/// Returns the CORS options, each for a separate server. The router rather than
/// its routes responds to preflights and errors.
fn policies(allowed: &str) -> [(&'static str, RouterOptions); 4] {
    let plain = RouterOptions::new;
    let list = plain().cors_origin([allowed]);
    let one = CorsOptions::new(allowed).methods(["GET", "POST"]);
    let one = one.allowed_headers(["X-Listed"]).exposed_headers(["Content-Location"]);
    [
        ("list", list.ws_allowed_origins([allowed])),
        // No WebSocket origins: only pages of this server may connect.
        ("star", plain().cors_origin("*")),
        ("one", plain().cors(one)),
        ("unset", plain()),
    ]
}

fn router(options: RouterOptions, has_sockets: bool, shared: Arc<Shared>) -> Router {
    let session = shared.session.clone();
    let strict = with_auth(Auth::session(session.clone(), |_: SessionId| Some("Ada")));
    let wide = with_auth(Auth::session(shared.wide_session.clone(), |_: SessionId| Some("Ada")));
    let limit = RateLimit::from(1_000 / MINUTE);
    let mut router = Router::with_options(options.rate_limit(limit)).state(shared);
    router.get("/matrix", matrix);
    router.get("/hold", hold);
    router.post("/done", async |shared: State<Arc<Shared>>| shared.done.notify_one());
    // A page with the headers of every response.
    router.get("/page", async || Html(PLAIN_PAGE));
    router.get("/open-page", open_page);
    router.get("/text", text);
    router.post("/text", text);
    router.put("/text", text);
    router.delete("/text", text);
    router.get("/broken", async || Err::<(), _>(ApiError::internal("the secret reason")));
    router.get("/private", async || "private").middleware(with_auth(Auth::verify(nobody)));
    router.get("/limited", text).middleware(with_rate_limit(1 / MINUTE));
    router.get(r"/redirect/:port(\d+)", redirect);
    router.get("/pixel", async || image("same-origin"));
    router.get("/open-pixel", async || image("cross-origin"));
    add_documented(&mut router);
    router.get("/sign-in", sign_in);
    router.get("/sign-in-everywhere", sign_in_everywhere);
    // Form targets: with two kinds of session cookies, and without a session.
    router.post("/rename/:key", rename).middleware((record_status, strict));
    router.post("/rename-wide/:key", rename).middleware((record_status, wide));
    router.post("/rename-anyone/:key", rename).middleware(record_status);
    router.post("/json-only", rename).accepts(["application/json"]);
    router.get("/record/:key", record);
    router.post("/record/:key", record);
    router.put("/record/:key", record);
    // The route's own rules: every origin may read the records.
    router.get("/recorded/:key", recorded).cors("*");
    if has_sockets {
        router.add_web_socket_route("/echo", echo, WebSocketOptions::new());
        let account = router.add_web_socket_route("/account", account, WebSocketOptions::new());
        account.middleware(with_auth(Auth::session(session, |_: SessionId| Some("Ada"))));
    }
    router
}

/// Adds routes that read request headers and document response headers. CORS
/// allows and exposes these without a list.
fn add_documented(router: &mut Router) {
    let keyed = with_auth(Auth::api_key(async |_: ApiKeyHash| Some("Ada")));
    let once = with_idempotency(Idempotency::new(MemoryIdempotencyStore::new()));
    router.get("/keyed", async || "keyed").middleware(keyed);
    router.post("/orders", async || Created::new("order").location("/orders/1")).middleware(once);
    router.get("/tagged", async || "tagged").middleware(with_etag());
    router.put("/tagged", async |_: Preconditions| "written");
    router.get("/events", async |last: LastEventId| last.0.unwrap_or_default());
    router.get("/tenants", async |tenant: Tenant| (tenant.headers(), "tenants"));
}

/// An application-defined header, which the response repeats under another
/// name.
struct Tenant(header::HeaderValue);

impl Tenant {
    fn headers(self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert("x-region", self.0);
        headers
    }
}

impl FromRequest for Tenant {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        let tenant = req.headers().get("x-tenant").cloned();
        tenant.map(Self).ok_or_else(|| ApiError::new(400, "the header x-tenant is missing"))
    }

    fn describe(doc: &mut RouteDescription) {
        doc.reads_header("X-Tenant", true);
        doc.adds_header(HeaderDoc::new("X-Region", "The region of the tenant"), None);
        doc.may_respond(400, "The header x-tenant is missing");
    }
}

/// The state that all servers of the process share.
struct Shared {
    session: SessionCookie,
    /// A session cookie that every site sends.
    wide_session: SessionCookie,
    records: Mutex<BTreeMap<String, Record>>,
    done: Notify,
}

/// The record of requests with a key: their number, and the cookies and the
/// response of the last one.
#[derive(Clone, Default)]
struct Record {
    requests: u32,
    cookies: Vec<String>,
    status: Option<u16>,
}

impl Shared {
    fn new() -> Result<Self, BoxError> {
        let keys = KeyRing::new(Secret::new(generate_token(32)?)?);
        let wide_session = SessionCookie::new(keys.clone()).name("wide").same_site(SameSite::None);
        let session = SessionCookie::new(keys);
        Ok(Self { session, wide_session, records: Mutex::default(), done: Notify::new() })
    }

    fn record(&self, key: String, cookies: &Cookies) {
        let mut records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        let record = records.entry(key).or_default();
        record.requests += 1;
        record.cookies = cookies.iter().map(|(name, _)| name.to_owned()).collect();
        record.cookies.sort();
    }

    fn record_status(&self, key: String, status: StatusCode) {
        let mut records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        records.entry(key).or_default().status = Some(status.as_u16());
    }
}

/// Returns the page with the script that sends the requests. Its policy allows
/// the script to run and to send requests anywhere. Records the cookies of the
/// last visit.
async fn matrix(shared: State<Arc<Shared>>, cookies: Cookies) -> (HeaderMap, Html<&'static str>) {
    shared.record("matrix".to_owned(), &cookies);
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_SECURITY_POLICY, header::HeaderValue::from_static(PAGE_POLICY));
    (headers, Html(include_str!("../browser.html")))
}

const PAGE_POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; \
    connect-src http: ws:; img-src http:; frame-src http:";

/// Its script does not run, because the default policy allows no scripts.
const PLAIN_PAGE: &str = "<!doctype html><title>A page</title><p id=\"script\">did not run</p>\
    <script>document.getElementById('script').textContent = 'ran';</script>\n";

/// Returns the same page, which may run its script and be framed by its own
/// origin.
async fn open_page() -> (HeaderMap, Html<&'static str>) {
    let policy = "default-src 'none'; script-src 'unsafe-inline'; frame-ancestors 'self'";
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_SECURITY_POLICY, header::HeaderValue::from_static(policy));
    headers.insert(header::X_FRAME_OPTIONS, header::HeaderValue::from_static("SAMEORIGIN"));
    (headers, Html(PLAIN_PAGE))
}

/// Delays the load event of the page until the script is done.
async fn hold(shared: State<Arc<Shared>>) {
    let _ = timeout(Duration::from_secs(30), shared.done.notified()).await;
}

/// Sends a header that no option exposes.
async fn text() -> (HeaderMap, &'static str) {
    let mut headers = HeaderMap::new();
    headers.insert("x-hidden", header::HeaderValue::from_static("hidden"));
    (headers, "text")
}

async fn nobody(_: &mut Request) -> Option<Value> {
    None
}

/// Redirects only to this machine: a redirect to an address from the client
/// would be an open redirect.
async fn redirect(Path(port): Path<u16>) -> Redirect {
    Redirect::temporary(format!("http://127.0.0.1:{port}/text"))
}

fn image(policy: &'static str) -> (HeaderMap, Vec<u8>) {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, header::HeaderValue::from_static("image/gif"));
    let policy = header::HeaderValue::from_static(policy);
    headers.insert("cross-origin-resource-policy", policy);
    (headers, PIXEL.to_vec())
}

/// An image with one transparent pixel.
const PIXEL: &[u8] = b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\x00\x00\x00!\xf9\x04\x01\
    \x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;";

/// Sets a session cookie, and a cookie for each other `SameSite` value.
async fn sign_in(shared: State<Arc<Shared>>) -> Result<(HeaderMap, &'static str), ApiError> {
    let id = SessionId::generate().map_err(ApiError::internal)?;
    let mut headers = HeaderMap::new();
    headers.append(header::SET_COOKIE, shared.session.issue(&id));
    for same_site in [SameSite::Strict, SameSite::Lax, SameSite::None] {
        let name = same_site.as_str().to_ascii_lowercase();
        let cookie = SetCookie::new(name, "1")?.same_site(same_site);
        headers.append(header::SET_COOKIE, cookie.to_header_value()?);
    }
    Ok((headers, "signed in"))
}

/// Sets a session cookie that is also sent from other sites.
async fn sign_in_everywhere(shared: State<Arc<Shared>>) -> Result<(HeaderMap, ()), ApiError> {
    let id = SessionId::generate().map_err(ApiError::internal)?;
    let mut headers = HeaderMap::new();
    headers.append(header::SET_COOKIE, shared.wide_session.issue(&id));
    Ok((headers, ()))
}

#[derive(serde::Deserialize, Schema)]
struct NewName {
    name: String,
}

/// Accepts JSON, and therefore also forms.
async fn rename(Body(new): Body<NewName>) -> String {
    format!("now called {}", new.name)
}

/// Records the status of the response, because a page cannot read the response
/// to its form.
async fn record_status(req: Request, next: Next) -> Response {
    let shared = req.state::<Arc<Shared>>();
    let key = req.param("key").map(|key| key.into_owned());
    let response = next.run(req).await;
    if let Some((shared, key)) = shared.zip(key) {
        shared.record_status(key, response.status());
    }
    response
}

async fn record(shared: State<Arc<Shared>>, Path(key): Path<String>, cookies: Cookies) {
    shared.record(key, &cookies);
}

async fn recorded(shared: State<Arc<Shared>>, Path(key): Path<String>) -> Value {
    let records = shared.records.lock().unwrap_or_else(PoisonError::into_inner);
    let Record { requests, cookies, status } = records.get(&key).cloned().unwrap_or_default();
    json!({ "requests": requests, "cookies": cookies, "status": status })
}

/// Private data of a user, which a page of another origin might try to read.
async fn account(socket: WebSocket, User(name): User<String>) -> Result<(), ApiError> {
    Ok(socket.send(format!("the account of {name}")).await?)
}

async fn echo(mut socket: WebSocket) -> Result<(), ApiError> {
    while let Some(message) = socket.recv().await {
        socket.send(message?).await?;
    }
    Ok(())
}
