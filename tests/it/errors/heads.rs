//! Error functions that receive the request head: its headers and its user.

use std::time::Duration;

use stockade::auth::generate_jwt;
use stockade::middleware::{ErrorHandlerOptions, layered, with_error_handling};
use stockade::prelude::*;
use stockade::{ErrorReply, RequestHead, http};

use crate::support::{app, app_of, block_on, call, check, request, show};

const SECRET: &str = "0123456789abcdef0123456789abcdef";

/// Sends the request's `x-name` header and user.
fn seen(error: &mut ErrorReply, req: &RequestHead) {
    let name = req.headers().get("x-name").and_then(|name| name.to_str().ok());
    let user = req.user().map_or(&Value::Null, |user| &user["name"]);
    error.set_json(json!([error.status().as_u16(), name, user]));
}

/// Finds a user, or responds with 401.
fn log_in(req: &mut Request) -> Result<(), ApiError> {
    let name = req.headers().get("x-name").ok_or_else(ApiError::authentication)?;
    let user = json!({ "name": name.to_str().map_err(ApiError::internal)? });
    req.set_user(Some(user));
    Ok(())
}

async fn log_in_later(req: &mut Request) -> Result<(), ApiError> {
    tokio::task::yield_now().await;
    log_in(req)
}

async fn log_in_around(mut req: Request, next: Next) -> Result<Response, ApiError> {
    log_in(&mut req)?;
    Ok(next.run(req).await)
}

fn log_out(req: &mut Request) {
    req.set_user(None);
}

fn refuses(_: &mut Request) -> Result<(), ApiError> {
    Err(ApiError::new(418, "no"))
}

async fn conflict() -> Result<(), ApiError> {
    Err(ApiError::conflict())
}

/// Fails after it has dropped the request.
async fn takes(req: Request) -> Result<(), ApiError> {
    drop(req);
    tokio::task::yield_now().await;
    Err(ApiError::conflict())
}

async fn panics() {
    panic!("asked for");
}

#[derive(serde::Deserialize, Schema)]
struct Note {
    text: String,
}

fn api() -> RouteTree {
    routes! {
        "open": {
            GET: conflict,
            POST: { async |Body(note): Body<Note>| note.text, max_body: 20 },
        },
        "json": { POST: { async |_: Body<Value>| (), accepts: ["application/json"] } },
        "early": { middleware: [refuses, log_in], GET: conflict },
        "members": {
            middleware: log_in,
            GET: conflict,
            POST: async |Body(note): Body<Note>| note.text,
            "takes": { GET: takes },
            "panics": { GET: panics },
            "late": { middleware: refuses, GET: conflict },
            "out": { middleware: log_out, GET: conflict },
            "waits": { GET: { std::future::pending::<()>, timeout: Duration::from_secs(1) } },
        },
        "later": { middleware: log_in_later, GET: takes, "panics": { GET: panics } },
        "around": { middleware: log_in_around, GET: takes, "panics": { GET: panics } },
    }
}

fn quiet() -> RouterOptions {
    RouterOptions::new().expose_errors(false).rate_limit(false)
}

#[test]
fn an_error_function_receives_headers_and_user() {
    let app = app(create_router(api(), quiet().error_handling(seen)));
    let ada = |line: &str| format!("{line}\nx-name: ada");
    // Without a route.
    check(&app, &ada("GET /nowhere"), r#"404 [404,"ada",null]"#);
    check(&app, &ada("PUT /open"), r#"405 [405,"ada",null]"#);
    check(&app, &ada("GET /a%00b"), r#"400 [400,"ada",null]"#);
    let refused = app.refuse(request(&ada("GET /open")), ApiError::new(400, "no Host"));
    let refused = block_on(async { show(refused.await).await });
    assert_eq!(refused, r#"400 [400,"ada",null]"#);
    // Without a user, and with an error before the user is found.
    check(&app, &ada("GET /open"), r#"409 [409,"ada",null]"#);
    check(&app, "GET /open", "409 [409,null,null]");
    let announced = ada("POST /open\ncontent-length: 21");
    check(&app, &announced, r#"413 [413,"ada",null]"#);
    let form = "POST /json\nx-name: ada\ncontent-type: text/plain\n\na";
    check(&app, form, r#"415 [415,"ada",null]"#);
    check(&app, &ada("GET /early"), r#"418 [418,"ada",null]"#);
    check(&app, "GET /members", "401 [401,null,null]");
    // With a user.
    for path in ["members", "members/takes", "later", "around"] {
        check(&app, &ada(&format!("GET /{path}")), r#"409 [409,"ada","ada"]"#);
    }
    for path in ["members/panics", "later/panics", "around/panics"] {
        check(&app, &ada(&format!("GET /{path}")), r#"500 [500,"ada","ada"]"#);
    }
    check(&app, &ada("GET /members/late"), r#"418 [418,"ada","ada"]"#);
    check(&app, &ada("GET /members/out"), r#"409 [409,"ada",null]"#);
    let invalid = "POST /members\nx-name: ada\ncontent-type: application/json\n\n{}";
    check(&app, invalid, r#"400 [400,"ada","ada"]"#);
    check(&app, "HEAD /nowhere\nx-name: ada", "404");
}

#[tokio::test(start_paused = true)]
async fn a_timeout_has_the_head_of_its_request() {
    let app = app(create_router(api(), quiet().error_handling(seen)));
    let answer = call(&app, "GET /members/waits\nx-name: ada").await;
    assert_eq!(answer, r#"503 [503,"ada","ada"]"#);
}

#[test]
fn the_head_contains_the_user_of_a_token() {
    let secret = || Secret::new(SECRET).unwrap();
    let tree = routes! {
        "x": { middleware: with_auth(Auth::secret(secret())), GET: async |_: User<Value>| conflict().await },
    };
    let app = app(create_router(tree, quiet().error_handling(seen)));
    let claims = json!({ "name": "ada" });
    let token = generate_jwt(claims, Duration::from_secs(60), &secret()).unwrap();
    check(&app, &format!("GET /x\nauthorization: Bearer {token}"), r#"409 [409,null,"ada"]"#);
    check(&app, &format!("GET /x\nauthorization: Bearer {token}x"), "401 [401,null,null]");
}

/// Returns an error function that sends its own name and the user's name.
fn named(form: &'static str) -> impl Fn(&mut ErrorReply, &RequestHead) + Clone {
    move |error: &mut ErrorReply, req: &RequestHead| {
        let user = req.user().map_or(&Value::Null, |user| &user["name"]);
        error.set_json(json!([form, user]));
    }
}

#[test]
fn each_level_accepts_an_error_function() {
    let of_entry = || named("entry");
    let tree = routes! {
        "entry": {
            GET: { conflict, error_handling: of_entry(), middleware: log_in },
            POST: { async |_: Body<Value>| (), error_handling: of_entry(), max_body: 1, accepts: ["text/plain"] },
        },
        "node": { error_handling: named("node"), middleware: log_in, GET: conflict },
        "helper": { middleware: (with_error_handling(named("helper")), log_in), GET: conflict },
        "options": { GET: {
            conflict,
            error_handling: ErrorHandlerOptions::new().reply_with_head(named("options")),
        } },
        "plain": { GET: { conflict, error_handling: |error: &mut ErrorReply| error.set_json("plain") } },
        "mount": { error_handling: named("mount"), middleware: log_in, mount: app_of(routes! {
            "own": { error_handling: named("inner"), GET: conflict },
            "none": { GET: conflict },
        }) },
        "layered": { middleware: (log_in, layered(tower::layer::util::Identity::new())), GET: conflict },
    };
    let app = app(create_router(tree, quiet().error_handling(named("router"))));
    check(&app, "GET /entry\nx-name: ada", r#"409 ["entry","ada"]"#);
    check(&app, "GET /entry", r#"401 ["entry",null]"#);
    check(&app, "POST /entry\ncontent-length: 2", r#"413 ["entry",null]"#);
    check(&app, "POST /entry\ncontent-type: image/png\n\nx", r#"415 ["entry",null]"#);
    check(&app, "GET /node\nx-name: ada", r#"409 ["node","ada"]"#);
    check(&app, "GET /helper\nx-name: ada", r#"409 ["helper","ada"]"#);
    check(&app, "GET /options\nx-name: ada", r#"409 ["options",null]"#);
    check(&app, "GET /plain", r#"409 "plain""#);
    // A mounted application finds its own users.
    check(&app, "GET /mount/own\nx-name: ada", r#"409 ["inner",null]"#);
    check(&app, "GET /mount/none\nx-name: ada", r#"409 {"error":"Resource conflict"}"#);
    check(&app, "GET /mount/none", r#"401 ["mount",null]"#);
    check(&app, "GET /layered\nx-name: ada", r#"409 ["router","ada"]"#);
    check(&app, "GET /nowhere\nx-name: ada", r#"404 ["router",null]"#);
}

#[test]
fn the_head_contains_the_received_headers() {
    fn hides(req: &mut Request) {
        req.headers_mut().remove("x-name");
        req.headers_mut().insert("x-own", http::HeaderValue::from_static("1"));
    }
    fn count(error: &mut ErrorReply, req: &RequestHead) {
        let names: Vec<_> = req.headers().keys().map(http::HeaderName::as_str).collect();
        error.set_json(names);
    }
    let tree = routes! { "x": { middleware: hides, GET: takes } };
    let app = app(create_router(tree, quiet().error_handling(count)));
    check(&app, "GET /x\nx-name: ada", r#"409 ["x-name"]"#);
    // Header maps are reused. A later request must not see earlier headers.
    check(&app, "GET /x\nx-other: 1", r#"409 ["x-other"]"#);
    check(&app, "GET /x", "409 []");
}

#[test]
fn a_panicking_error_function_is_a_plain_500() {
    fn breaks(_: &mut ErrorReply, req: &RequestHead) {
        assert!(req.user().is_some(), "nobody");
    }
    let tree = routes! { "x": { middleware: log_in, GET: conflict } };
    let app = app(create_router(tree, quiet().error_handling(breaks)));
    check(&app, "GET /x\nx-name: ada", r#"409 {"error":"Resource conflict"}"#);
    check(&app, "GET /x", r#"500 {"error":"Internal Server Error"}"#);
    check(&app, "GET /nowhere", r#"500 {"error":"Internal Server Error"}"#);
}

#[test]
fn the_rate_limit_has_the_head_of_its_request() {
    let options = quiet().error_handling(seen).rate_limit(1 / MINUTE);
    let app = app(create_router(api(), options));
    check(&app, "GET /open\nx-name: ada", r#"409 [409,"ada",null]"#);
    check(&app, "GET /open\nx-name: bob", r#"429 [429,"bob",null]"#);
    check(&app, "GET /nowhere\nx-name: bob", r#"429 [429,"bob",null]"#);
}
