//! The application that every host runs.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use stockade::middleware::with_rate_limit;
use stockade::middleware::{
    InputRule, InputType, RateLimit, with_input_validation, with_permission, with_role,
    with_sanitization,
};
use stockade::prelude::*;
use stockade::reply::{Redirect, ResponseWriter};
use stockade::rest::{Access, Entity, MemoryStore, Operation, Resource};
use stockade::serialization::serialize_for_json;

pub const SECRET: &str = "a secret that has thirty-two bytes";

#[derive(Clone, Deserialize, Serialize, Schema)]
struct Page {
    #[schema(minimum = 1, default = 1)]
    page: u32,
}

/// Returns the whole application, with default stages except for the settings
/// that the table changes.
pub fn router() -> Router {
    let options = RouterOptions::new()
        .expose_errors(false)
        .cors_origin(["https://app.example", "https://two.example"])
        // Each row counts as a separate client unless it identifies itself.
        .rate_limit(RateLimit::new().max_requests(3).key_generator(|req| {
            let client = req.headers().get("x-client").ok_or_else(ApiError::not_found)?;
            Ok(client.to_str().map_err(ApiError::internal)?.to_owned())
        }))
        .max_body_size(1_024)
        .enable_web_sockets(true);
    let mut router = create_router(paths(), options);
    router.routes(replies()).routes(bodies()).routes(users()).routes(errors()).routes(sockets());
    router.options("/own-options", async || "own");
    router.route(Method::from_bytes(b"QUERY").unwrap(), "/any", async || "queried");
    router.any("/every", async |req: Request| req.method().to_string());
    router.any("/every/**", async |req: Request| format!("{} of the rest", req.method()));
    router.get("/every/named", async || "named");
    router.mount("/mounted/:id", mounted());
    router.get("/mounted/7/named", async || "named");
    router.head("/own-head", async || (StatusCode::ACCEPTED, ()));
    router.use_(|_: &mut Request| Err::<(), _>(ApiError::new(409, "later routes only")));
    router.get("/later", async || "never");
    router
}

/// Returns an application without its own stages that responds with the request
/// it receives.
fn mounted() -> App {
    let options = RouterOptions::new().rate_limit(false).cors(false).enable_security_headers(false);
    let mut router = Router::with_options(options);
    router.any("/**", async |req: Request| format!("{} {}", req.method(), req.uri()));
    router.build().unwrap()
}

/// Responds with the path parameters and the query.
async fn seen(req: Request) -> Result<Value, ApiError> {
    Ok(json!({ "route": req.route(), "params": req.param_values(), "query": req.query()? }))
}

fn paths() -> RouteTree {
    routes! {
        "users": { "me": { GET: async || "me" }, ":id": { GET: seen }, },
        "flights": { ":from-:to": { GET: seen } },
        "files": { ":file.:ext": { GET: seen } },
        "opt": { ":id?": { GET: seen } },
        "search": { ":query?": { ":page(\\d+)?": { GET: seen } } },
        "orders": { ":id(\\d+)": { GET: seen }, ":id": { POST: seen } },
        "one": { "*": { GET: seen } },
        "rest": { "**": { GET: seen } },
        "pages": { ..pages() },
    }
}

impl Entity for Page {
    type Id = u32;
    const ID: &'static str = "page";
}

/// The routes of a resource.
fn pages() -> RouteTree {
    let open = || Access::public("a test");
    let pages = Resource::new("page", MemoryStore::<Page>::new());
    pages.only([Operation::Get, Operation::Delete]).read(open()).write(open()).routes()
}

fn replies() -> RouteTree {
    async fn written(mut res: ResponseWriter) -> Result<(), ApiError> {
        res.status(202).header("x-written", "yes")?;
        res.write("one ").await?;
        res.write("two").await
    }
    async fn dates() -> Result<Value, ApiError> {
        let date = SystemTime::UNIX_EPOCH + Duration::from_millis(1_500);
        Ok(json!({
            "date": stockade::serialization::serialize_date(&date)?,
            "map": serialize_for_json(&BTreeMap::from([(1, "one")]))?,
        }))
    }
    fn asks(req: &mut Request) -> Option<Value> {
        req.headers().contains_key("x-stop").then(|| json!({ "stopped": true }))
    }
    async fn marks(req: Request, next: Next) -> Response {
        let mut response = next.run(req).await;
        response.headers_mut().insert("x-mark", header::HeaderValue::from_static("1"));
        response
    }
    routes! {
        "object": { GET: async || json!({ "b": 1, "a": [true, null] }) },
        "text": { GET: async || "text", PUT: async || "put", PATCH: async || "patched", DELETE: async || "gone" },
        "html": { GET: async || Html("<p>") },
        "nothing": { GET: async || (), DELETE: async || () },
        "none": { GET: async || None::<Json<u8>> },
        "created": { POST: async || (StatusCode::CREATED, json!({ "id": 7 })) },
        "moved": { GET: async || Redirect::permanent("/text") },
        "written": { GET: written },
        "dates": { GET: dates },
        "stop": { middleware: [asks], GET: async || "went on" },
        "marked": { middleware: [marks], GET: async || "marked", "fails": { GET: async || Err::<(), _>(ApiError::conflict()) } },
    }
}

fn bodies() -> RouteTree {
    async fn echo(mut req: Request) -> Result<Value, ApiError> {
        Ok(req.body().await?.take())
    }
    let input = || {
        with_input_validation([
            ("name", InputRule::new().required().kind(InputType::String).min_length(2)),
            ("zip", InputRule::new().max_length(5).pattern("^[0-9]+$")),
        ])
    };
    routes! {
        "echo": { POST: echo, DELETE: echo },
        "bytes": { POST: async |bytes: Bytes| bytes.len().to_string() },
        "small": { POST: { handler: async |bytes: Bytes| bytes.len().to_string(), max_body: 8 } },
        "accounts": {
            POST: {
                handler: async |Body(account): Body<Value>| (StatusCode::CREATED, account),
                validation: schema!({
                    "email": { "type": "email", "required": true },
                    "age": { "type": "integer", "minimum": 18 },
                    "role": { "type": "string", "default": "reader" },
                }),
            },
        },
        "pages": { GET: async |Query(page): Query<Page>| json!({ "page": page.page }) },
        "items": { ":n": { GET: async |Path(n): Path<u8>| json!(n) } },
        "input": { POST: { handler: echo, middleware: [input()] } },
        "clean": { ":name": { POST: { handler: echo, middleware: [with_sanitization()] } } },
    }
}

fn users() -> RouteTree {
    let secret = || Secret::new(SECRET).unwrap();
    let own = |user: &Value, req: &Request| user["sub"].as_str() == req.param("id").as_deref();
    routes! {
        "me": {
            middleware: [with_auth(Auth::secret(secret()))],
            GET: async |User(user): User<Value>| json!(user["sub"]),
            "admin": { GET: { handler: async || "in", middleware: [with_role(["admin", "owner"])] } },
            ":id": { GET: { handler: async || "own", middleware: [with_permission(own)] } },
        },
        "maybe": {
            middleware: [with_auth(Auth::secret(secret()).required(false))],
            GET: async |user: Option<User<Value>>| json!(user.is_some()),
            "role": { GET: { handler: async || "in", middleware: [with_role("admin")] } },
            "permission": { GET: { handler: async || "in", middleware: [with_permission(own)] } },
        },
        "limited": { GET: { handler: async || "in", middleware: [with_rate_limit(2 / MINUTE)] } },
    }
}

fn errors() -> RouteTree {
    async fn fails(Path(kind): Path<String>) -> Result<(), ApiError> {
        Err(match kind.as_str() {
            "authentication" => ApiError::authentication(),
            "authorization" => ApiError::authorization(),
            "not-found" => ApiError::not_found(),
            "conflict" => ApiError::conflict(),
            "teapot" => ApiError::new(418, "short and stout").with_details(json!({ "tea": true })),
            "unavailable" => ApiError::new(503, "the database is db-7").with_details(json!("db-7")),
            "panic" => panic!("the handler broke"),
            _ => ApiError::internal("the password is hunter2"),
        })
    }
    routes! { "fails": { ":kind": { GET: fails } } }
}

fn sockets() -> RouteTree {
    async fn echo(mut socket: WebSocket) -> Result<(), ApiError> {
        while let Some(text) = socket.recv_text().await {
            socket.send(text?).await?;
        }
        Ok(())
    }
    routes! {
        "chat": { ws: echo },
        "open": { ws: { handler: echo, allowed_origins: ["https://app.example"] } },
        "guarded": { middleware: [with_auth(Auth::secret(Secret::new(SECRET).unwrap()))], ws: echo },
    }
}
