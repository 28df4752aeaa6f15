//! Lists of middleware that hold references.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use stockade::middleware::with_rate_limit;
use stockade::middleware::{
    with_compression, with_concurrency_limit, with_etag, with_role, with_timeout,
};
use stockade::openapi::{OpenApiOptions, with_open_api};
use stockade::prelude::*;
use stockade::rpc::{Rpc, RpcMethod};

use crate::support::{app, check};

fn counting(count: &Arc<AtomicUsize>) -> Middleware {
    let count = Arc::clone(count);
    Middleware::new(move |_: &mut Request| {
        count.fetch_add(1, Ordering::Relaxed);
    })
}

fn function(_req: &mut Request) {}

async fn before(_req: &mut Request) {}

async fn around(req: Request, next: Next) -> Response {
    next.run(req).await
}

#[test]
fn each_list_accepts_references_functions_and_values() {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = counting(&count);
    let (slow, tagged, small) =
        (with_timeout(Duration::from_secs(9)), with_etag(), with_compression());
    let closure = |_: &mut Request| ();
    let tree = routes! {
        middleware: [&counted, function, &slow, closure],
        "list": { GET: { async || "x", middleware: [&counted, around, &tagged, &small, before] } },
        "single": { GET: { async || "x", middleware: &counted } },
        "vec": { GET: { async || "x", middleware: vec![&counted, &counted] } },
        "slice": { GET: { async || "x", middleware: &[counted.clone(), counted.clone()][..] } },
    };
    let options = RouterOptions::new().rate_limit(false).middleware((&counted, function, &slow));
    let mut router = create_router(tree, options);
    router.use_([&counted, &counted]);
    router.group("/group", (&counted, before), |group| {
        group.get("/", async || "x").middleware((around, &counted));
        group.group("/in", std::slice::from_ref(&counted), |inner| {
            inner.get("/", async || "x");
        });
    });
    router.fallback(async || "x").middleware([&counted]);
    let document = OpenApiOptions::new("Test", "1").guarded(&counted);
    let app = app(with_open_api(router, document));
    let calls = |path: &str, expected: usize| {
        count.store(0, Ordering::Relaxed);
        check(&app, &format!("GET {path}"), "200 x");
        assert_eq!(count.load(Ordering::Relaxed), expected, "{path}");
    };
    calls("/list", 3);
    calls("/single", 3);
    calls("/vec", 4);
    calls("/slice", 4);
    calls("/group", 5);
    calls("/group/in", 5);
    calls("/none", 4);
}

#[test]
fn borrowed_limits_count_all_their_routes_together() {
    let limit = Middleware::new(with_rate_limit(2 / MINUTE));
    let busy = with_concurrency_limit(1);
    let rpc = Rpc::new().method("a", RpcMethod::new(async || "a").middleware([&limit]));
    let tree = routes! {
        "a": { GET: { async || "a", middleware: [&limit, &busy] } },
        "b": { GET: { async || "b", middleware: &limit } },
        "rpc": { ..rpc.routes() },
    };
    let app = app(create_router(tree, RouterOptions::new()));
    check(&app, "GET /a", "200 a");
    check(&app, "GET /b", "200 b");
    check(&app, "GET /a", r#"429 {"error":"Too Many Requests"}"#);
    let rpc = "POST /rpc\ncontent-type: application/json\n\n{\"jsonrpc\":\"2.0\",\"method\":\"a\",\"id\":1}";
    let refused = crate::support::block_on(crate::support::call(&app, rpc));
    assert!(refused.contains("-32029"), "{refused}");
}

#[test]
fn guards_are_borrowed_by_several_nodes() {
    let token = Auth::bearer(|token: String| Some(json!({ "role": token })));
    let admins = with_role("admin");
    let tree = routes! {
        auth: &token,
        "a": { middleware: &admins, GET: async || "a" },
        "b": { GET: { async || "b", middleware: [&admins] } },
        "c": { GET: async || "c" },
    };
    let app = app(create_router(tree, RouterOptions::new()));
    for path in ["a", "b"] {
        check(&app, &format!("GET /{path}\nauthorization: Bearer admin"), &format!("200 {path}"));
        let guest = format!("GET /{path}\nauthorization: Bearer guest");
        check(&app, &guest, r#"403 {"error":"Forbidden"}"#);
    }
    check(&app, "GET /c\nauthorization: Bearer guest", "200 c");
}
