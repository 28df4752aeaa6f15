//! Methods under the checks for routes: the lock, a policy and hardening.

use stockade::middleware::with_role;
use stockade::openapi::lock::Lock;
use stockade::policy::Policy;
use stockade::prelude::*;
use stockade::rpc::{Rpc, RpcMethod};
use stockade::testing::Hardening;

#[derive(serde::Deserialize, Schema)]
struct Wide {
    id: i64,
}

#[derive(serde::Deserialize, Schema)]
struct Narrow {
    #[schema(minimum = 1)]
    id: i64,
}

fn remove(roles: &[&str]) -> RpcMethod {
    let method = RpcMethod::new(async |Body(it): Body<Wide>| Json(it.id));
    if roles.is_empty() { method } else { method.middleware([with_role(roles)]) }
}

fn router(rpc: &Rpc) -> Router {
    let token = Auth::bearer(async |token: String| Some(json!({ "name": token, "role": token })));
    let signed_in = with_auth(token.required(false));
    let api = routes! { "rpc": { middleware: [signed_in], ..rpc.routes() } };
    create_router(api, RouterOptions::new())
}

fn lock(rpc: &Rpc) -> Lock {
    Lock::of(&router(rpc).build().unwrap().route_map()).unwrap()
}

#[test]
fn the_lock_detects_a_method_that_became_public() {
    let check = |old: &Rpc, new: &Rpc, breaks: bool, weakens: bool| {
        let changes = lock(old).changes_to(&lock(new), std::time::SystemTime::UNIX_EPOCH);
        assert_eq!((changes.is_breaking(), changes.is_weakening()), (breaks, weakens), "{changes}");
        assert!(changes.to_string().contains("RPC /rpc#users.remove"), "{changes}");
    };
    let method =
        |method: RpcMethod| Rpc::new().method("users.remove", method).method("a", async || ());
    let guarded = method(remove(&["admin"]));
    check(&guarded, &method(remove(&[])), false, true);
    check(&guarded, &method(remove(&["admin", "guest"])), false, true);
    check(&guarded, &Rpc::new().method("a", async || ()), true, false);
    let narrow = RpcMethod::new(async |Body(it): Body<Narrow>| Json(it.id));
    let narrow = narrow.middleware([with_role("admin")]);
    check(&guarded, &method(narrow), true, false);
}

#[test]
fn a_policy_checks_each_method() {
    let rpc = Rpc::new()
        .method("users.remove", remove(&[]))
        .method("users.clear", remove(&["admin"]))
        .method("ping", RpcMethod::new(async || "pong").public("it says nothing"));
    let router = router(&rpc).policy(Policy::strict());
    let error = router.build().unwrap_err();
    let of_access = error.issues().iter().filter_map(|mistake| {
        let route = mistake.route()?;
        mistake.message().contains("public").then(|| route.to_owned())
    });
    assert_eq!(of_access.collect::<Vec<_>>(), ["RPC /rpc#users.remove"], "{error}");
}

#[tokio::test]
async fn hardening_tests_the_route_and_lists_its_methods() {
    let rpc = Rpc::new().method("users.remove", remove(&["admin"]));
    let report = Hardening::new(router(&rpc)).run().await;
    report.assert();
    let left = format!("{report}");
    assert!(left.contains("RPC /rpc#users.remove"), "{left}");
    assert!(left.contains("malformed bodies"), "{left}");
}

/// A method has the same access rules at its own path as in a call.
#[tokio::test]
async fn routes_of_methods_keep_the_outer_authentication() {
    use stockade::testing::TestClient;

    let token = Auth::bearer(async |token: String| (token == "a").then(|| json!({ "sub": token })));
    let handler = || RpcMethod::new(async || "x");
    let rpc = Rpc::new()
        .method("plain", handler())
        .method("optional", handler().auth(token.optional()))
        .rest(true);
    let with_public = rpc.clone().method("public", handler().public("a reason"));
    let statuses = async |router: Router, bearer: Option<&str>| {
        let client = TestClient::new(router);
        let mut statuses = Vec::new();
        for name in ["plain", "optional"] {
            let request = client.post(format!("/rpc/{name}")).json(json!({}));
            let request = bearer.into_iter().fold(request, |it, token| it.bearer(token));
            statuses.push(request.await.status().as_u16());
        }
        statuses
    };
    let closed = |rpc: &Rpc| {
        let api = routes! { "rpc": { ..rpc.routes() } };
        create_router(api, RouterOptions::new().auth(&token))
    };
    assert_eq!(statuses(closed(&rpc), None).await, [401; 2]);
    assert_eq!(statuses(closed(&rpc), Some("b")).await, [401; 2]);
    assert_eq!(statuses(closed(&rpc), Some("a")).await, [200; 2]);
    let error = closed(&with_public).build().unwrap_err().to_string();
    assert!(error.contains("RPC /rpc#public: the route is `public`"), "{error}");
    // Without outer access rules, the rules of the method apply.
    let open = create_router(routes! { "rpc": { ..with_public.routes() } }, RouterOptions::new());
    let map = open.build().unwrap().route_map();
    let public = map.routes.iter().find(|it| it.path == "/rpc/public").unwrap();
    assert_eq!(public.access.public.as_deref(), Some("a reason"));
}
