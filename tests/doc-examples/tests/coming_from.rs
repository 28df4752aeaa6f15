//! The right-hand cells of the tables in `book/src/migration/*.md`. Each
//! code fragment in them compiles here, and the tests check the behavior that
//! these chapters describe.

use std::time::Duration;

use stockade::extract::{ClientIp, Extension, FileName, Headers, Multipart, TypedHeader, headers};
use stockade::http::HeaderMap;
use stockade::middleware::health::Readiness;
use stockade::middleware::{
    Cookies, FileReply, FileRequest, SecurityHeaders, SessionCookie, SetCookie, layered,
    with_compression, with_concurrency_limit, with_cross_origin_protection, with_etag,
    with_request_id, with_timeout, with_tracing,
};
use stockade::prelude::*;
use stockade::reply::{Created, IntoError, Redirect, Streamed};
use stockade::reply::{Event, Sse};
use stockade::routing::health_routes;
use stockade::server::{ServerOptions, TlsConfig};
use stockade::testing::TestClient;
use stockade::validation::{Unchecked, ValidationOptions};
use stockade::websockets::Message;
use stockade::{ErrorReply, FromRequest, HttpBody};

struct Db;

#[derive(serde::Deserialize, serde::Serialize, Schema)]
struct NewUser {
    #[schema(min_length = 1)]
    name: String,
    age: u8,
}

#[derive(serde::Deserialize, Schema)]
struct Search {
    #[schema(default = 1)]
    page: u32,
}

#[derive(Clone)]
struct Tenant(String);

impl FromRequest for Tenant {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        let tenant = req.headers().get("x-tenant").and_then(|value| value.to_str().ok());
        Ok(Self(tenant.ok_or_else(|| ApiError::new(400, "no tenant"))?.to_owned()))
    }
}

#[derive(Debug, ApiError)]
enum ShopError {
    #[status(404, "no product {id}")]
    NoProduct { id: u64 },
    #[status(502, "the bank did not answer")]
    Bank(#[from] std::io::Error),
}

async fn around(State(db): State<Db>, mut req: Request, next: Next) -> Response {
    let _: &Db = &db;
    req.extensions_mut().insert(Tenant("seven".to_owned()));
    next.run(req).await
}

fn check(req: &mut Request) -> Result<(), ApiError> {
    if req.headers().contains_key("x-refused") { Err(ApiError::authorization()) } else { Ok(()) }
}

async fn show(Path(id): Path<u64>) -> Result<Json<NewUser>, ShopError> {
    if id == 8 {
        Err(std::io::Error::other("no route to the bank"))?;
    }
    if id == 9 {
        return Err(ShopError::NoProduct { id });
    }
    Ok(Json(NewUser { name: "Ada".to_owned(), age: 36 }))
}

async fn missing() -> Result<&'static str, StatusCode> {
    Err(StatusCode::NOT_FOUND)
}

async fn odd() -> Result<&'static str, (StatusCode, &'static str)> {
    Err((StatusCode::BAD_REQUEST, "an odd request"))
}

async fn away() -> Redirect {
    Redirect::to("/login")
}

async fn page() -> impl Reply {
    ([("content-security-policy", "default-src 'self'")], Html("<p>hi"))
}

async fn manifest(file: FileRequest) -> Result<FileReply, ApiError> {
    file.open(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).await
}

async fn after_validation(user: Body<NewUser>, _req: &mut Request) -> Result<(), ApiError> {
    if user.0.age < 200 { Ok(()) } else { Err(ApiError::authorization()) }
}

async fn upload(mut form: Multipart) -> Result<String, ApiError> {
    let mut names = Vec::new();
    while let Some(part) = form.next().await? {
        names.push(part.name().unwrap_or("-").to_owned());
        part.bytes().await?;
    }
    Ok(names.join(","))
}

async fn count(mut body: HttpBody) -> Result<String, ApiError> {
    let mut length = 0;
    while let Some(chunk) = body.chunk().await? {
        length += chunk.len();
    }
    Ok(length.to_string())
}

async fn theme(cookies: Cookies) -> (SetCookie, String) {
    let theme = cookies.get("theme").unwrap_or("light").to_owned();
    (SetCookie::from_static("theme", "dark").max_age(Duration::from_secs(60)), theme)
}

async fn file(Path(name): Path<FileName>, file: FileRequest) -> Result<FileReply, ApiError> {
    file.within(env!("CARGO_MANIFEST_DIR"), &name).await
}

async fn chat(mut socket: WebSocket) -> Result<(), ApiError> {
    while let Some(message) = socket.recv().await {
        if let Message::Text(text) = message? {
            socket.send(text).await?;
        }
    }
    Ok(())
}

struct Ticks(u8);

impl Iterator for Ticks {
    type Item = Result<Event, ApiError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0 = self.0.checked_sub(1)?;
        Some(Event::json(&self.0))
    }
}

async fn ticks() -> Sse {
    Sse::new(futures_util::stream::iter(Ticks(2))).keep_alive(Duration::from_secs(15))
}

async fn streamed() -> Streamed {
    let pieces = [Ok::<_, ApiError>("a,b\n"), Ok("1,2\n")];
    Streamed::new(futures_util::stream::iter(pieces)).content_type("text/csv")
}

async fn blocking() -> Result<String, BoxError> {
    Ok(tokio::task::spawn_blocking(|| "read".to_owned()).await?)
}

fn form_of_errors(error: &mut ErrorReply) {
    let message = error.message().to_owned();
    error.set_json(json!({ "message": message }));
}

fn admin() -> RouteTree {
    routes! { "stats": { GET: async || "stats" } }
}

struct Lost;

impl IntoError for Lost {
    fn into_error_response(self) -> Result<Response, ApiError> {
        Err(ApiError::not_found())
    }
}

fn tree() -> Result<RouteTree, BoxError> {
    let secret = Secret::new("a secret of thirty-two bytes or more")?;
    let keys = stockade::auth::KeyRing::new(secret.clone());
    let session =
        Auth::session(SessionCookie::new(keys), |_: stockade::auth::SessionId| Some("ada"));
    Ok(routes! {
        "users": {
            tag: stockade::Tag::new("users", "Accounts"),
            middleware: [around, check],
            GET: {
                async |Query(search): Query<Search>| search.page.to_string(),
                docs: "All users",
            },
            POST: { async |Body(user): Body<NewUser>| (StatusCode::CREATED, Json(user)), name: "users.create" },
            ":id": {
                GET: { show, name: "users.show" },
                PUT: async |Extension(tenant): Extension<Tenant>| tenant.0,
                DELETE: async || (),
            },
        },
        "tenant": { GET: async |tenant: Tenant| tenant.0 },
        "lost": { GET: async || Err::<(), _>(Lost) },
        "raw": { POST: async |bytes: Bytes| bytes },
        "count": { POST: { count, max_body: 8 << 20, rate_limit: false, accepts: ["text/plain"] } },
        "untyped": { POST: {
            async |Body(user): Body<Value>| user,
            validation: schema!({ "name": { "type": "string", "required": true } }),
            validation_options: ValidationOptions::new().strip_unknown(true),
            validation_status: 422,
        } },
        "unchecked": { POST: async |Body(Unchecked(value)): Body<Unchecked<Vec<u8>>>| Json(value) },
        "missing": { GET: missing },
        "odd": { GET: odd },
        "away": { GET: away, "again": { GET: async || Redirect::temporary("/login") } },
        "manifest": { GET: manifest },
        "signed": { POST: { async |Body(user): Body<NewUser>| Json(user), middleware: [after_validation] } },
        "query": { GET: {
            async |req: Request| req.query().map(Value::from),
            query: schema!({ "page": { "type": "integer", "default": 1 } }),
            cors: "*",
        } },
        "upload": { POST: upload },
        "theme": { GET: { theme, middleware: [with_etag(), with_compression()] } },
        "files/:name": { GET: file },
        "rest/**": { GET: async |Path(rest): Path<String>| rest },
        "number/:id(\\d+)": { GET: async |Path(id): Path<u64>| id.to_string() },
        "maybe/:page?": { GET: async |Path(page): Path<Option<u32>>| format!("{page:?}") },
        "chat": { ws: chat },
        "ticks": { GET: { ticks, middleware: [with_timeout(Duration::from_secs(5))] } },
        "streamed": { GET: { streamed, timeout: Duration::from_secs(5), concurrency_limit: 10 } },
        "blocking": { GET: { blocking, middleware: [with_concurrency_limit(10)] } },
        "any": { ANY: async |method: Method| method.to_string() },
        "agent": { GET: async |TypedHeader(agent): TypedHeader<headers::UserAgent>| agent.to_string() },
        "headers": { GET: async |headers: Headers| ([("x-count", "1")], headers.len().to_string()) },
        "map": { GET: async || (StatusCode::ACCEPTED, HeaderMap::new(), "later") },
        "created": { POST: async || Created::new("made").location("/users/7") },
        "ip": { GET: async |ClientIp(ip): ClientIp| ip.to_string() },
        "me": { GET: { async |User(me): User<Value>| me, auth: Auth::secret(secret) } },
        "account": { GET: { async |User(me): User<String>| me, auth: session } },
        "page": { GET: page, POST: { async || (), middleware: [with_cross_origin_protection()] } },
        "admin": { middleware: [layered(tower_layer::layer_fn(|rest| rest))], ..admin() },
        ..health_routes(),
    })
}

fn options() -> RouterOptions {
    RouterOptions::new()
        .prefix("")
        .middleware(check)
        .error_handling(form_of_errors)
        .fallback(async |req: Request| {
            (StatusCode::NOT_FOUND, format!("no page at {}", req.path()))
        })
        .cors_origin(["https://app.example"])
        .max_body_size(2 << 20)
        .rate_limit(false)
        .rate_limit(1_000 / MINUTE)
        .concurrency_limit(200)
        .security_headers(SecurityHeaders::default().without("x-frame-options"))
        .expose_errors(false)
        .trust_proxy(1)
        .request_id(with_request_id())
        .access_log(true)
        .tracing(with_tracing())
        .enable_web_sockets(true)
}

fn router() -> Result<Router, BoxError> {
    let mut router = create_router(tree()?, options());
    router.group("/group", check, |group| {
        group.use_(around);
        group.get("/route", async |req: Request| req.route().map(str::to_owned));
    });
    let document = stockade::openapi::OpenApiOptions::new("Shop", "1.0.0").public("…");
    Ok(router.open_api(document).state(Db).state(Readiness::new()))
}

#[tokio::test]
async fn every_table_cell_is_correct() -> Result<(), BoxError> {
    let client = TestClient::new(router()?);
    client.get("/users?page=3").await.assert_text("3");
    client.get("/users/7").await.assert_json(json!({ "name": "Ada", "age": 36 }));
    let lost = client.get("/users/9").await;
    lost.assert_status(404).assert_json(json!({ "message": "no product 9" }));
    client.get("/users/8").await.assert_status(502);
    client.put("/users/7").await.assert_text("seven");
    client.get("/users").header("x-refused", "1").await.assert_status(403);
    client.get("/rest/a/b").await.assert_text("a/b");
    client.get("/maybe").await.assert_text("None");
    client.get("/group/route").await.assert_text("/group/route");
    client.get("/away").await.assert_status(303);
    client.get("/away/again").await.assert_status(307);
    client.get("/files/Cargo.toml").await.assert_text_contains("stockade-doc-examples");
    client.get("/page").await.assert_header("content-security-policy", "default-src 'self'");
    client.get("/theme").cookie("theme", "dark").await.assert_text("dark");
    client.post("/created").await.assert_header("location", "/users/7");
    client.get("/ticks").await.assert_text_contains("data: 1");

    let document = client.get("/openapi.json").await.json::<Value>();
    let list = &document["paths"]["/users"]["get"];
    assert_eq!((&list["summary"], &list["tags"][0]), (&json!("All users"), &json!("users")));
    client.get("/docs").await.assert_text_contains("Accounts");

    let app = router()?.build()?;
    assert_eq!(app.generate_url("users.show", [("id", 7)])?, "/users/7");
    let request = stockade::http::Request::get("/users").body(())?;
    assert_eq!(app.handle(request).await.status(), 200);
    Ok(())
}

#[tokio::test]
async fn a_server_has_each_setting() -> Result<(), BoxError> {
    let options = ServerOptions::new().shutdown_timeout(Duration::from_secs(30));
    let server = router()?.create_server_with(options)?;
    let tls = TlsConfig::from_files("no-cert.pem", "no-key.pem");
    assert!(tls.map(|tls| server.tls(tls)).is_err());

    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let server = router()?.create_server()?.bind(listener).await?;
    server.handle().shutdown();
    server.serve().await?;
    Ok(())
}

#[tokio::test]
async fn middleware_runs_in_order_and_only_for_routes() {
    fn stamp(name: &'static str) -> Middleware {
        Middleware::new(move |req: &mut Request| {
            req.headers_mut().append("x-stamp", header::HeaderValue::from_static(name));
        })
    }
    async fn stamps(headers: Headers) -> String {
        let stamps = headers.get_all("x-stamp").iter().map(|value| value.to_str().unwrap());
        stamps.collect::<Vec<_>>().join(" ")
    }
    fn refuse(_req: &mut Request) -> Result<(), ApiError> {
        Err(ApiError::new(418, "no"))
    }

    let options = RouterOptions::new().middleware((stamp("router"), stamp("second")));
    let mut router = Router::with_options(options);
    router.get("/before", stamps);
    router.use_(stamp("use"));
    router.get("/after", stamps).middleware(stamp("own"));
    let client = TestClient::new(router);
    client.get("/before").await.assert_text("router second");
    client.get("/after").await.assert_text("router second use own");

    let refused = || {
        let tree = routes! { "there": { GET: stamps } };
        (tree, RouterOptions::new().middleware(refuse))
    };
    let (tree, options) = refused();
    let client = TestClient::new(create_router(tree, options));
    client.get("/there").await.assert_status(418);
    client.get("/nowhere").await.assert_status(404);
    client.post("/there").await.assert_status(405);
    let (tree, options) = refused();
    let client = TestClient::new(create_router(tree, options.fallback(stamps)));
    client.get("/nowhere").await.assert_status(418);
}

#[tokio::test]
async fn paths_are_exact_and_values_have_types() {
    let mut router = Router::new();
    router.get("/users/{id}", async || ());
    assert!(router.build().unwrap_err().to_string().contains("use `:id` for a parameter"));

    let schema = schema!({
        "type": "object",
        "properties": { "age": { "type": "integer" } },
        "additionalProperties": false,
    });
    let client = TestClient::new(create_router(
        routes! {
            "Users": { GET: async || "users" },
            "users": { ":id": { GET: async |Path(id): Path<u64>| id.to_string() }, "new": { GET: async || "new" } },
            "typed": { POST: async |Body(user): Body<NewUser>| Json(user) },
            "strict": { POST: { async |Body(user): Body<Value>| user, validation: schema } },
        },
        RouterOptions::new(),
    ));
    client.get("/Users").await.assert_text("users");
    client.get("/Users/").await.assert_status(404);
    client.get("/users/new").await.assert_text("new");
    client.get("/users/me").await.assert_status(400).assert_field_error("id", "type");
    client.get("/USERS/7").await.assert_status(404);

    let typed = |age: Value| json!({ "name": "Ada", "age": age, "more": 1 });
    let known = json!({ "name": "Ada", "age": 3 });
    client.post("/typed").json(typed(json!(3))).await.assert_json(&known);
    client.post("/typed").form([("name", "Ada"), ("age", "3")]).await.assert_json(&known);
    let text = client.post("/typed").json(typed(json!("3"))).await;
    text.assert_status(400).assert_field_error("age", "type");
    let unknown = client.post("/strict").json(json!({ "more": 1 })).await;
    unknown.assert_status(400).assert_field_error("more", "additionalProperties");
}

#[tokio::test]
async fn trailing_slash_and_host_select_routes_as_documented() {
    let site = routes! {
        host: ":tenant.example.com",
        "home": { GET: async |Path(tenant): Path<String>| tenant },
    };
    let options = RouterOptions::new().trailing_slash(stockade::TrailingSlash::Ignore);
    let client = TestClient::new(create_router(
        routes! { ..site, "users": { GET: async || "all users" } },
        options,
    ));
    client.get("/users/").await.assert_text("all users");
    client.get("/home").header("host", "acme.example.com").await.assert_text("acme");
    client.get("/home").await.assert_status(404);
}
