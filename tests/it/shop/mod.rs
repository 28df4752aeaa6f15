//! The main example, tested in process.

mod graphql;
mod lock;
mod products;

pub use ::shop as example;

use ::shop::Role;
use futures_util::FutureExt as _;
use serde_json::json;
use stockade::auth::{generate_jwt, hash_password};
use stockade::middleware::Metrics;
use stockade::prelude::*;
use stockade::testing::{Contract, TestClient};

use crate::support::{app, block_on, call, check, header_of, request, text_of};

pub const JSON: &str = "content-type: application/json";

pub const SECRET: &str = "the shop's secret has thirty-two";

/// Returns the shop with a client that checks responses against the route map.
pub fn shop() -> Contract {
    Contract::of(&app(router()))
}

/// Returns the router of the shop with its four users.
pub fn router() -> Router {
    example::router(stocked())
}

/// Returns the in-memory shop with four users.
pub fn stocked() -> example::Shop {
    let shop = empty();
    for (name, role) in [
        ("dan", Role::Admin),
        ("ann", Role::Customer),
        ("bob", Role::Customer),
        ("cleo", Role::Clerk),
    ] {
        now(shop.add_account(name, &format!("{name}@example.org"), role, "")).unwrap();
    }
    shop
}

/// Returns the in-memory shop without users.
fn empty() -> example::Shop {
    now(example::Shop::open(":memory:", Secret::new(SECRET).unwrap())).unwrap()
}

/// Returns the output of a future that never waits, such as an in-memory query.
pub fn now<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().unwrap()
}

pub const DAN: u32 = 1;
pub const ANN: u32 = 2;
pub const BOB: u32 = 3;
pub const CLEO: u32 = 4;

/// Returns the authorization header of the user with this id.
pub fn bearer(id: u32) -> String {
    format!("authorization: Bearer {}", token(id))
}

/// Returns a token of the user with this id.
pub fn token(id: u32) -> String {
    let claims = json!({ "sub": id.to_string() });
    generate_jwt(claims, "1h", &Secret::new(SECRET).unwrap()).unwrap()
}

pub const TEAPOT: &str =
    r#"{"id":3,"name":"Teapot","category":"crockery","price_cents":2900,"image_bytes":0}"#;

#[test]
fn product_search_is_paginated() {
    let app = shop();
    let found = format!(r#"200 {{"page":1,"pages":1,"products":[{TEAPOT}]}}"#);
    check(&app, "GET /products/search?q=pot", &found);
    check(&app, "GET /products/search?q=pot&category=crockery", &found);
    check(&app, "GET /products/search?q=pot&page=2", r#"200 {"page":2,"pages":1,"products":[]}"#);
    check(
        &app,
        "GET /products/compare/1-3",
        r#"200 {"left_cents":450,"right_cents":2900,"cheaper":"left"}"#,
    );
    check(&app, "GET /products/compare/1-9", r#"404 {"error":"there is no product 9"}"#);
    check(&app, "GET /catalogue/crockery/2", r#"200 {"page":2,"pages":1,"products":[]}"#);
}

#[test]
fn browsers_get_a_page_and_programs_get_links() {
    let app = shop();
    let links = r#"200 {"shop":"A small shop","products":"/products","docs":"/docs","openapi":"/openapi.json","health":"/health/ready"}"#;
    for accept in [
        "*/*",
        "application/json",
        "application/json, text/html",
        "text/html;q=0, */*",
        "text/html;q=0.5, application/*;q=0.6, */*;q=0.1",
        "text/html;q=x",
        "image/png",
        "",
    ] {
        check(&app, &format!("GET /\naccept: {accept}"), links);
    }
    check(&app, "GET /", links);
    for accept in [
        "text/html",
        "TEXT/HTML",
        "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
        "text/*, */*;q=0.5",
        "application/json;q=0.2, text/html;q=0.3",
        "application/json;q=0\naccept: text/html",
    ] {
        let get = format!("GET /\naccept: {accept}");
        assert!(block_on(call(&app, &get)).starts_with("200 <!doctype html>"), "{accept}");
        assert_eq!(header_of(&app, &get, "vary"), "Accept");
    }
    assert_eq!(header_of(&app, "GET /", "vary"), "Accept");
}

#[test]
fn the_front_page_has_products_and_no_inline_code() {
    let app = shop();
    let new = r#"{"name":"\"<b>&amp;Mug<script>","category":"crockery","price_cents":705}"#;
    let created = format!("POST /products\n{}\n{JSON}\n\n{new}", bearer(CLEO));
    assert!(block_on(call(&app, &created)).starts_with("201 "));
    let page = block_on(call(&app, "GET /\naccept: text/html"));
    assert!(page.contains("<b>Teapot</b> <span class=price>29.00 €</span>"), "{page}");
    assert!(
        page.contains("<b>&quot;&lt;b&gt;&amp;amp;Mug&lt;script&gt;</b> <span class=price>7.05 €"),
        "{page}"
    );
    assert_eq!(page.matches("<script").count(), 1, "{page}");
    assert!(!page.contains("style=") && !page.contains("onclick"), "{page}");
    for (file, media_type) in [
        ("style.css", "text/css; charset=utf-8"),
        ("script.js", "text/javascript; charset=utf-8"),
        ("icon.svg", "image/svg+xml"),
    ] {
        assert!(page.contains(&format!("\"/home/{file}\"")), "{page}");
        let get = format!("GET /home/{file}");
        assert_eq!(header_of(&app, &get, "content-type"), media_type);
        let tag = header_of(&app, &get, "etag");
        check(&app, &format!("{get}\nif-none-match: {tag}"), "304");
    }
}

#[test]
fn users_are_created_and_deleted() {
    let app = shop();
    let sign_up = |email: &str| {
        let body = json!({ "name": " Ada ", "email": email, "password": "correct horse" });
        format!("POST /users\n{JSON}\n\n{body}")
    };
    let ada = r#"{"id":5,"name":"Ada","email":"ada@example.org","role":"customer"}"#;
    check(&app, &sign_up("ada@example.org"), &format!("201 {ada}"));
    let known = r#"409 {"error":"ada@example.org already has an account"}"#;
    check(&app, &sign_up("ada@example.org"), known);
    let refused = r#"400 {"error":"Validation failed","details":{"errors":[{"field":"email","message":"Invalid email format","rule":"email"}]}}"#;
    check(&app, &sign_up("ada"), refused);

    let own = bearer(5);
    check(&app, &format!("GET /users/5\n{own}"), &format!("200 {ada}"));
    check(
        &app,
        &format!("PATCH /users/5\n{own}\n{JSON}\n\n{{\"name\":\"Eve\"}}"),
        r#"200 {"id":5,"name":"Eve","email":"ada@example.org","role":"customer"}"#,
    );
    let forbidden = r#"403 {"error":"Forbidden","message":"Insufficient permissions"}"#;
    check(&app, &format!("GET /users/5\n{}", bearer(BOB)), forbidden);
    check(&app, "GET /users/5", r#"401 {"error":"Unauthorized"}"#);
    check(&app, &format!("GET /users\n{own}"), r#"403 {"error":"Forbidden"}"#);

    let admin = bearer(DAN);
    let role = |who: &str| format!("PUT /users/5/role\n{who}\n{JSON}\n\n{{\"role\":\"clerk\"}}");
    check(&app, &role(&own), r#"403 {"error":"Forbidden"}"#);
    check(
        &app,
        &role(&admin),
        r#"200 {"id":5,"name":"Eve","email":"ada@example.org","role":"clerk"}"#,
    );
    // A removed role is lost immediately, even if the token still contains it.
    let back = |who: &str| format!("PUT /users/4/role\n{who}\n{JSON}\n\n{{\"role\":\"customer\"}}");
    let cleo = bearer(CLEO);
    check(&app, &format!("POST /orders/1/ship\n{cleo}"), r#"404 {"error":"there is no order 1"}"#);
    check(
        &app,
        &back(&admin),
        r#"200 {"id":4,"name":"cleo","email":"cleo@example.org","role":"customer"}"#,
    );
    check(&app, &format!("POST /orders/1/ship\n{cleo}"), r#"403 {"error":"Forbidden"}"#);
    check(&app, &format!("DELETE /users/5\n{own}"), "204");
    check(&app, &format!("POST /carts\n{own}"), r#"401 {"error":"Unauthorized"}"#);
    check(&app, &format!("GET /users/5\n{admin}"), r#"404 {"error":"there is no user 5"}"#);
    check(&app, &format!("GET /users/six\n{admin}"), r#"404 {"error":"Not Found"}"#);
}

#[test]
fn a_cookie_stores_a_subscription() {
    let app = shop();
    let post = "POST /newsletter\ncontent-type: application/json\n\n";
    let missing = r#"400 {"error":"Validation failed","details":["email is required"]}"#;
    check(&app, &format!("{post}{{}}"), missing);
    check(
        &app,
        &format!(r#"{post}{{"email":"ada@example.org"}}"#),
        r#"201 {"email":"ada@example.org"}"#,
    );
    check(&app, "GET /newsletter", r#"200 {"subscribed":false}"#);
    check(&app, "GET /newsletter\ncookie: letter=yes", r#"200 {"subscribed":true}"#);
}

#[test]
fn a_report_has_dates_sets_and_maps() {
    let app = shop();
    check(&app, "GET /report", r#"401 {"error":"Unauthorized"}"#);
    let report = block_on(call(&app, &format!("GET /report\n{}", bearer(DAN))));
    assert!(report.starts_with(r#"200 {"at":"20"#), "{report}");
    let rest = r#""categories":["crockery","tea"],"sold_by_product":{"1":12,"3":4}}"#;
    assert!(report.ends_with(rest), "{report}");
}

#[test]
fn a_login_returns_a_token() {
    let app = shop();
    let ask = |path: &str, body: Value| {
        let text = format!("POST {path}\n{JSON}\n\n{body}");
        block_on(async {
            let response = app.handle(request(&text)).await;
            (response.status(), text_of(response.into_body()).await)
        })
    };
    let (email, password) = ("ada@example.org", "correct horse");
    ask("/users", json!({ "name": "Ada", "email": email, "password": password }));
    let (status, body) = ask("/login", json!({ "email": email, "password": password }));
    assert_eq!(status, StatusCode::OK);
    let token = serde_json::from_str::<Value>(&body).unwrap()["token"].as_str().unwrap().to_owned();
    check(&app, &format!("POST /carts\nauthorization: Bearer {token}"), r#"201 {"cart":1}"#);

    let wrong =
        (StatusCode::UNAUTHORIZED, r#"{"error":"the email or the password is wrong"}"#.into());
    assert_eq!(ask("/login", json!({ "email": email, "password": "x" })), wrong);
    assert_eq!(ask("/login", json!({ "email": "eve@example.org", "password": "x" })), wrong);
}

/// A login replaces a weak hash, and the new hash accepts the same password.
#[test]
fn an_account_of_an_older_shop_can_log_in() {
    let shop = empty();
    let weak = hash_password("correct horse").unwrap();
    now(shop.add_account("Ada", "ada@example.org", Role::Customer, &weak)).unwrap();
    let app = app(example::router(shop));
    let log_in = |password: &str| {
        let body = json!({ "email": "ada@example.org", "password": password });
        let text = format!("POST /login\n{JSON}\n\n{body}");
        block_on(app.handle(request(&text))).status()
    };
    for (password, expected) in [("x", 401), ("correct horse", 200), ("correct horse", 200)] {
        assert_eq!(log_in(password), expected, "{password}");
    }
}

#[test]
fn a_cart_becomes_an_order() {
    let app = shop();
    let (own, other, clerk) = (bearer(ANN), bearer(BOB), bearer(CLEO));
    check(&app, "POST /carts", r#"401 {"error":"Unauthorized"}"#);
    check(&app, &format!("POST /carts\n{own}"), r#"201 {"cart":1}"#);
    let check_out = |who: &str| format!("POST /carts/1/checkout\n{who}");
    check(&app, &check_out(&own), r#"409 {"error":"the cart is empty"}"#);
    let add = |body: &str| format!("POST /carts/1/items\n{own}\n{JSON}\n\n{body}");
    check(&app, &add(r#"{"product":1,"count":2}"#), "204");
    check(&app, &add(r#"{"product":5}"#), "204");
    check(&app, &format!("DELETE /carts/1/items/5\n{own}"), "204");
    check(
        &app,
        &format!("GET /carts/1\n{own}"),
        r#"200 {"cart":1,"lines":[{"product":1,"count":2,"cents":900}],"total_cents":900}"#,
    );
    // The cart of another user is a 404.
    check(&app, &format!("GET /carts/1\n{other}"), r#"404 {"error":"there is no cart 1"}"#);
    check(&app, &check_out(&other), r#"404 {"error":"there is no cart 1"}"#);

    check(&app, &check_out(&own), r#"201 {"order":1}"#);
    check(&app, &format!("GET /orders/1\n{other}"), r#"404 {"error":"there is no order 1"}"#);
    check(&app, &format!("POST /orders/1/ship\n{own}"), r#"403 {"error":"Forbidden"}"#);
    check(&app, &format!("POST /orders/1/ship\n{clerk}"), "204");
    check(
        &app,
        &format!("POST /orders/1/ship\n{clerk}"),
        r#"409 {"error":"order 1 was already shipped"}"#,
    );
    check(
        &app,
        &format!("GET /orders/1/events\n{own}"),
        "200 event: status\ndata: \"shipped\"\n\n",
    );
}

#[test]
fn exports_uploads_and_the_rest() {
    let app = shop();
    let csv = "200 id,name,category,price_cents\n1,Green tea,tea,450\n2,Black tea,tea,390\n\
               3,Teapot,crockery,2900\n4,Coffee,coffee,780\n5,Cup,crockery,600\n";
    check(&app, "GET /products/export.csv", csv);
    assert!(block_on(call(&app, "GET /products/export.xml")).starts_with("400 "));
    check(&app, "GET /help/a/b", "200 No help on \"a/b\" yet, 192.0.2.7.\n");
    check(&app, "GET /old-about", "308");
    let clerk = bearer(CLEO);
    let upload = "POST /products/5/image\nCLERK\ncontent-type: multipart/form-data; boundary=B\n\n\
                  --B\r\nContent-Disposition: form-data; name=\"image\"; filename=\"c.png\"\r\n\r\n12345\r\n--B--\r\n";
    check(
        &app,
        &upload.replace("CLERK", &clerk),
        r#"200 {"id":5,"name":"Cup","category":"crockery","price_cents":600,"image_bytes":5}"#,
    );
    check(&app, "GET /products/5/image/c.png", "200 12345");
    check(&app, "GET /products/5/image/d.png", r#"404 {"error":"there is no image of product 5"}"#);
    let escape = upload.replace("CLERK", &clerk).replace("c.png", "../c.png");
    let message = "A file name must not contain separators or control characters";
    check(&app, &escape, &format!(r#"400 {{"error":"{message}"}}"#));
    assert!(block_on(call(&app, "GET /products/5/image/..%2Fc.png")).contains(message));
    let form =
        "POST /products/5/image\nCLERK\ncontent-type: application/x-www-form-urlencoded\n\nimage=x";
    let unsupported = r#"415 {"error":"Unsupported Media Type"}"#;
    check(&app, &form.replace("CLERK", &clerk), unsupported);
}

#[test]
fn the_live_page_allows_only_its_script() {
    let app = shop();
    let mut nonces = Vec::new();
    for _ in 0..2 {
        let response = block_on(app.handle(request("GET /live")));
        let policies: Vec<_> =
            response.headers().get_all("content-security-policy").iter().cloned().collect();
        let [policy] = &policies[..] else { panic!("{policies:?}") };
        let (_, rest) = policy.to_str().unwrap().split_once("script-src 'nonce-").unwrap();
        let nonce = rest.split_once('\'').unwrap().0.to_owned();
        let page = block_on(text_of(response.into_body()));
        assert_eq!(page.matches("<script").count(), 1);
        assert!(page.contains(&format!("<script nonce=\"{nonce}\">")), "{page}");
        nonces.push(nonce);
    }
    assert_ne!(nonces[0], nonces[1]);
}

#[test]
fn health_checks_and_metrics_report_the_state() {
    let app = shop();
    check(&app, "GET /health/live", r#"200 {"status":"ok"}"#);
    check(&app, "GET /health/ready", r#"200 {"status":"ok"}"#);
    check(&app, "GET /metrics", r#"401 {"error":"Unauthorized"}"#);
    check(&app, &format!("GET /metrics\n{}", bearer(ANN)), r#"403 {"error":"Forbidden"}"#);
    let metrics = block_on(call(&app, &format!("GET /metrics\n{}", bearer(DAN))));
    let line = r#"http_requests_total{method="GET",route="/health/live",status="200"} 1"#;
    assert!(metrics.contains(line), "{metrics}");
    assert_eq!(header_of(&app, "GET /nowhere\nx-request-id: a-1", "x-request-id"), "a-1");
}

#[test]
fn logins_are_rate_limited() {
    let app = shop();
    let guess = format!("POST /login\n{JSON}\n\n{{}}");
    (0..10).for_each(|_| assert!(block_on(call(&app, &guess)).starts_with("400 ")));
    check(&app, &guess, r#"429 {"error":"Too Many Requests"}"#);
    check(&app, "GET /health/live", r#"200 {"status":"ok"}"#);
}

#[test]
fn unchanged_products_are_a_304() {
    let app = shop();
    let tag = header_of(&app, "GET /products/3", "etag");
    check(&app, &format!("GET /products/3\nif-none-match: {tag}"), "304");
    let many = "GET /products/export.csv\naccept-encoding: gzip";
    assert_eq!(header_of(&app, many, "content-encoding"), "gzip");
}

#[tokio::test]
async fn a_chat_reaches_the_clients_of_its_topic() {
    let client = TestClient::new(shop().app()).with_contract();
    let mut tea = client.websocket("/chat/tea").connect().await;
    let mut too = client.websocket("/chat/tea").connect().await;
    let mut cups = client.websocket("/chat/cups").connect().await;
    assert_eq!(tea.receive_text().await, "1");
    assert_eq!(too.receive_text().await, "2");
    assert_eq!(cups.receive_text().await, "1");
    tea.send_text("is it hot?").await;
    assert_eq!(too.receive_text().await, "is it hot?");
    too.send_text("yes").await;
    assert_eq!(tea.receive_text().await, "yes", "not its own message");
    cups.send_text("x".repeat(4_097)).await;
    assert_eq!(cups.receive_close().await.0, 1009);
    let evil = client.websocket("/chat/tea").origin("https://evil.example").refused().await;
    evil.assert_status(403);
}

#[test]
fn the_defaults_are_strict_and_can_be_loosened() {
    let origin = "GET /products\norigin: https://evil.example";
    let names = ["access-control-allow-origin", "x-frame-options", "ratelimit-policy"];
    let seen = |app: &App| names.map(|name| header_of(app, origin, name));
    assert_eq!(seen(shop().app()), ["-", "DENY", r#""default";q=300;w=60"#]);
    let loose = example::router_with(empty(), &Metrics::new(), example::loose());
    assert_eq!(seen(&app(loose)), ["*", "-", "-"]);
}

#[test]
fn the_document_has_examples_a_webhook_and_dates() {
    let app = shop();
    let document = block_on(call(&app, "GET /openapi.json"));
    let document: Value = serde_json::from_str(document.split_once(' ').unwrap().1).unwrap();
    let sign_up = &document["paths"]["/users"]["post"];
    let body = &sign_up["requestBody"]["content"];
    assert_eq!(body["application/json"]["example"]["email"], "ada@example.org");
    assert_eq!(body["application/x-www-form-urlencoded"].get("example"), None);
    let reply = &sign_up["responses"]["201"]["content"]["application/json"];
    assert_eq!(reply["example"]["role"], "customer");
    let webhook = &document["webhooks"]["order.shipped"]["post"];
    assert_eq!(webhook["summary"], "Order shipped");
    assert_eq!(document["paths"]["/old-about"]["get"]["deprecated"], true);
    assert_eq!(header_of(&app, "GET /old-about", "deprecation"), "@1793491200");
    assert_eq!(header_of(&app, "GET /old-about", "sunset"), "Wed, 30 Jun 2027 00:00:00 GMT");
}

#[tokio::test]
async fn the_page_of_the_shop_is_small_and_has_all_operations() {
    let response = TestClient::new(shop().app()).with_contract().get("/docs").await;
    response.assert_status(200);
    let page = response.text();
    // `cargo xtask api-page` checks the size with compression.
    assert!(page.len() < 160 * 1024, "{}", page.len());
    assert!(page.contains("users.create") && page.contains("/carts/{cart}/items"));
    assert!(page.contains("Requires the role admin"), "{page}");
}

#[tokio::test]
async fn a_shop_finds_earlier_data() {
    let folder = std::env::temp_dir().join(format!("shop-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("shop.db");
    let file = file.to_str().unwrap();
    let open = || example::Shop::open(file, Secret::new(SECRET).unwrap());
    let ann = open().await.unwrap().add_account("ann", "Ann@example.org", Role::Admin, "").await;
    assert_eq!(ann.unwrap().id, 1);
    // The token comes from the previous shop.
    let app = app(example::router(open().await.unwrap()));
    let answer = call(&app, &format!("GET /users\n{}", bearer(1))).await;
    let kept = r#"200 [{"id":1,"name":"ann","email":"ann@example.org","role":"admin"}]"#;
    assert_eq!(answer, kept);
    // Products are added to the stock only once.
    let answer = call(&app, "GET /products/export.csv").await;
    assert_eq!(answer.lines().count(), 6, "{answer}");
    drop(app);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[tokio::test]
async fn a_failed_database_connection_hides_its_password() {
    for address in [
        "",
        "mysql://shop:hunter2@localhost/shop",
        "postgres://shop:hunter2@localhost:port/shop",
        "postgres://shop:hunter2@127.0.0.1:1/shop",
        "/nowhere/shop.db",
    ] {
        let shop = example::Shop::open(address, Secret::new(SECRET).unwrap()).await;
        let error = shop.err().unwrap().to_string();
        assert!(!error.is_empty() && !error.contains("hunter2"), "{error}");
    }
}

#[tokio::test]
async fn commands_do_not_open_the_database() {
    let nowhere = "/nowhere/shop.db".to_owned();
    let app = app(example::closed(nowhere, Secret::new(SECRET).unwrap()).unwrap());
    let lock = include_str!("../../../examples/shop/routes.lock");
    for (line, part) in [
        ("routes", "GET     /products "),
        ("explain POST /users", "route    POST /users"),
        ("audit", "POST /users"),
        ("openapi", r#""title": "A small shop""#),
        ("graphql", "type Query {"),
        ("lock", lock),
    ] {
        let args = ["shop"].into_iter().chain(line.split(' ')).map(str::to_owned);
        let text = app.command_output(args).await.unwrap().unwrap();
        assert!(text.contains(part), "{line}: {text}");
    }
    assert!(app.state::<example::Shop>().is_none());
    let error = app.start().await.unwrap_err().to_string();
    assert!(error.starts_with("SHOP_DATABASE: "), "{error}");
}

#[tokio::test]
async fn a_closed_shop_opens_when_it_starts() {
    let closed = example::closed(":memory:".to_owned(), Secret::new(SECRET).unwrap()).unwrap();
    let client = TestClient::new(closed).with_contract();
    client.get("/products/3").await.assert_text(TEAPOT);
}

/// A user who signed up with the administrator's email keeps their own role.
#[test]
fn an_account_does_not_become_an_administrator() {
    let shop = empty();
    let email = "admin@example.org";
    let known = now(shop.add_account("Eve", email, Role::Customer, "eve")).unwrap();
    now(shop.let_admin_in(email, "hash")).unwrap();
    let admin = now(shop.find_account("ADMIN@example.org")).unwrap().unwrap();
    assert!(admin.id != known.id && admin.role == Role::Admin && admin.password_hash == "hash");
    now(shop.let_admin_in(email, "other")).unwrap();
    let again = now(shop.find_account(email)).unwrap().unwrap();
    assert_eq!((again.id, &*again.password_hash), (admin.id, "other"));
}

/// An unavailable database does not log users out.
#[test]
fn a_shop_without_its_data_responds_with_503() {
    let shop = stocked();
    now(shop.database.run("DROP TABLE users")).unwrap();
    let app = app(example::router(shop));
    let down = r#"503 {"error":"Service Unavailable"}"#;
    check(&app, &format!("GET /users\n{}", bearer(DAN)), down);
    check(&app, "GET /users", r#"401 {"error":"Unauthorized"}"#);
}
