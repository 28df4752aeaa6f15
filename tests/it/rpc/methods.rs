//! A method is a route: middleware, users, path parameters, state, logs,
//! configuration errors and the route map.

use stockade::middleware::{Metrics, with_role};
use stockade::prelude::*;
use stockade::routing::map::{Need, RouteKind};
use stockade::rpc::{Rpc, RpcMethod};
use stockade::testing::TestClient;

use super::{call, client};
use crate::support::log;

/// Authenticates a user with the name and role in the token.
fn signed_in() -> Middleware {
    with_auth(Auth::bearer(async |token: String| Some(json!({ "name": token, "role": token }))))
}

fn rpc() -> Rpc {
    let remove = RpcMethod::new(async |user: User<Value>| Json(user.0["name"].clone()));
    Rpc::new()
        .method("users.remove", remove.middleware([with_role("admin")]).docs("Removes a user"))
        .method("users.name", async |req: Request| req.user().map(|user| user["name"].to_string()))
        .method("label", async |req: Request| req.route().map(str::to_owned))
        .method("tenant", async |Path(id): Path<u32>| Json(id))
}

fn protected() -> TestClient {
    let api = routes! { "of/:id/rpc": { middleware: [signed_in()], ..rpc().routes() } };
    TestClient::new(create_router(api, RouterOptions::new().rate_limit(false))).with_contract()
}

async fn as_user(client: &TestClient, name: &str, method: &str) -> Value {
    let message = json!({ "jsonrpc": "2.0", "method": method, "id": 1 });
    let mut answer: Value = client.post("/of/7/rpc").bearer(name).json(message).await.json();
    answer.get_mut("result").map_or(Value::Null, Value::take).take()
}

#[tokio::test]
async fn methods_share_middleware_user_and_parameters_of_the_route() {
    let client = protected();
    assert_eq!(as_user(&client, "admin", "users.remove").await, "admin");
    assert_eq!(as_user(&client, "guest", "users.remove").await, Value::Null);
    assert_eq!(as_user(&client, "guest", "users.name").await, "\"guest\"");
    assert_eq!(as_user(&client, "guest", "tenant").await, 7);
    assert_eq!(as_user(&client, "guest", "label").await, "rpc:label");
    let message = json!([
        { "jsonrpc": "2.0", "method": "users.remove", "id": 1 },
        { "jsonrpc": "2.0", "method": "tenant", "id": 2 },
    ]);
    let answers: Vec<Value> = client.post("/of/7/rpc").bearer("guest").json(message).await.json();
    assert_eq!((&answers[0]["error"]["code"], &answers[1]["result"]), (&json!(-32003), &json!(7)));
    // Middleware of the route responds for all calls.
    let nobody =
        client.post("/of/7/rpc").json(json!({ "jsonrpc": "2.0", "method": "label", "id": 1 }));
    nobody.await.assert_status(401);
}

#[tokio::test]
async fn the_map_has_each_method() {
    let api = routes! { "of/:id/rpc": { middleware: [signed_in()], ..rpc().routes() } };
    let map = create_router(api, RouterOptions::new()).build().unwrap().route_map();
    let labels: Vec<String> = map.routes.iter().map(|route| route.label()).collect();
    let expected =
        ["POST /of/:id/rpc", "RPC /of/:id/rpc#users.remove", "RPC /of/:id/rpc#users.name"];
    assert_eq!(labels[..3], expected);
    let remove = &map.routes[1];
    assert_eq!((remove.kind, remove.access.user), (RouteKind::RpcMethod, Need::Required));
    assert_eq!(remove.access.roles, [["admin"]]);
    assert_eq!(remove.docs.summary.as_deref(), Some("Removes a user"));
    assert!(remove.location.file.ends_with("methods.rs"));
    let names: Vec<&str> = remove.middleware.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["with_auth", "with_role"]);
}

#[tokio::test]
async fn an_error_is_logged_with_its_method() {
    log::watch();
    let client = client(
        &Rpc::new()
            .method("fails.loudly", async || Err::<(), _>(ApiError::new(500, "disk 7 is full"))),
    );
    let error = call(&client, "fails.loudly", json!([])).await;
    assert_eq!(error["message"], "Internal error");
    let lines = log::lines_with("disk 7 is full");
    assert_eq!(lines, ["ERROR POST rpc:fails.loudly (/rpc): 500 disk 7 is full"]);
}

#[tokio::test]
async fn metrics_count_each_call_by_its_method() {
    let metrics = Metrics::new();
    let rpc = Rpc::new()
        .method("good", async || ())
        .method("bad", async || Err::<(), _>(ApiError::conflict()));
    let api = routes! { "rpc": { ..rpc.routes() } };
    let options = RouterOptions::new().rate_limit(false).metrics(&metrics);
    let client = TestClient::new(create_router(api, options));
    let calls = json!([
        { "jsonrpc": "2.0", "method": "good", "id": 1 },
        { "jsonrpc": "2.0", "method": "good" },
        { "jsonrpc": "2.0", "method": "bad", "id": 2 },
    ]);
    client.post("/rpc").json(calls).await.assert_status(200);
    let text = metrics.text();
    for (name, labels, count) in [
        ("requests", r#"route="/rpc",status="200""#, 1),
        ("requests", r#"route="rpc:good",status="204""#, 2),
        ("requests", r#"route="rpc:bad",status="409""#, 1),
        ("rejections", r#"route="rpc:bad",reason="conflict""#, 1),
    ] {
        let line = format!("http_{name}_total{{method=\"POST\",{labels}}} {count}");
        assert!(text.lines().any(|other| other == line), "{line} in {text}");
    }
}

#[track_caller]
fn mistakes(rpc: &Rpc) -> Vec<String> {
    let api = routes! { "rpc": { ..rpc.routes() } };
    let error = create_router(api, RouterOptions::new()).build().unwrap_err();
    let shown = error.issues().iter().map(|mistake| {
        let place = mistake.location().map_or("-", |place| place.file());
        assert!(place.ends_with("methods.rs"), "{mistake:?}");
        match mistake.route() {
            Some(route) => format!("{route}: {}", mistake.message()),
            None => mistake.message().to_owned(),
        }
    });
    shown.collect()
}

#[test]
fn the_build_reports_configuration_errors() {
    struct Database;
    let nothing = async || ();
    assert_eq!(mistakes(&Rpc::new()), ["an `Rpc` must have at least one method"]);
    assert_eq!(
        mistakes(&Rpc::new().method("rpc.hello", nothing)),
        ["the method \"rpc.hello\" begins with `rpc.`, which is reserved"]
    );
    let twice = mistakes(&Rpc::new().method("a", nothing).method("a", nothing));
    assert!(twice[0].starts_with("duplicate method \"a\", first at tests/it/rpc/methods.rs:"));
    let stateful = mistakes(&Rpc::new().method("a", async |_: State<Database>| ()));
    assert!(stateful[0].starts_with("RPC /rpc#a: "), "{stateful:?}");
    let bounds = mistakes(&Rpc::new().method("a", nothing).max_batch(0).parallel(0));
    assert_eq!(bounds, ["`max_batch` must be at least 1", "`parallel` must be at least 1"]);
}
