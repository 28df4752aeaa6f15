//! Restrictions on the content type of a body.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use stockade::extract::Multipart;
use stockade::prelude::*;
use stockade::serde_json;
use stockade::websockets::WebSocketOptions;

use crate::support::{app, check, header_of};

const UNSUPPORTED: &str = r#"415 {"error":"Unsupported Media Type"}"#;
const FORM: &str = "content-type: application/x-www-form-urlencoded\n\nname=ada";
const JSON: &str = "content-type: application/json\n\n{\"name\":\"ada\"}";
const JSON_IN_UTF8: &str = "content-type: Application/JSON; charset=UTF-8\n\n{\"name\":\"ada\"}";

#[derive(serde::Deserialize, Schema)]
struct Named {
    name: String,
}

async fn greet(Body(named): Body<Named>) -> String {
    named.name
}

fn narrowed() -> App {
    let api = routes! {
        "wide": { POST: greet, GET: async |body: Bytes| body.len().to_string() },
        "only": {
            POST: { handler: greet, accepts: ["application/json"] },
            DELETE: { handler: async || "gone", accepts: ["application/json"] },
        },
        "upload": { POST: { handler: async |body: Bytes| body.len().to_string(), accepts: ["image/*"] } },
    };
    app(create_router(api, RouterOptions::new().rate_limit(false)))
}

#[test]
fn an_entry_restricts_its_media_types() {
    let app = narrowed();
    check(&app, &format!("POST /wide\n{FORM}"), "200 ada");
    check(&app, &format!("POST /only\n{FORM}"), UNSUPPORTED);
    check(&app, &format!("POST /only\n{JSON}"), "200 ada");
    check(&app, &format!("POST /only\n{JSON_IN_UTF8}"), "200 ada");
    for content_type in [
        "content-type: text/plain\n",
        "content-type: multipart/form-data; boundary=x\n",
        "content-type: application/problem+json\n",
        "content-type: application/json\ncontent-type: application/json\n",
        "",
    ] {
        check(&app, &format!("POST /only\n{content_type}\n{{\"name\":\"ada\"}}"), UNSUPPORTED);
    }
    check(&app, "POST /upload\ncontent-type: image/png\n\n123", "200 3");
    check(&app, "POST /upload\ncontent-type: text/html\n\n123", UNSUPPORTED);
    assert_eq!(header_of(&app, &format!("POST /only\n{FORM}"), "accept"), "application/json");
}

#[test]
fn a_request_without_a_body_needs_no_media_type() {
    let app = narrowed();
    check(&app, "DELETE /only", "200 gone");
    check(&app, "DELETE /only\ncontent-type: text/plain", "200 gone");
    check(&app, "POST /only", r#"400 {"error":"Request body is required"}"#);
}

#[test]
fn a_router_restricts_all_routes_without_a_separate_list() {
    let ran = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&ran);
    let count = move |_: &mut Request| {
        counted.fetch_add(1, Ordering::Relaxed);
    };
    let options = RouterOptions::new().accepts(["application/json", "text/csv"]);
    let mut router = Router::with_options(options.rate_limit(false));
    router.use_(count);
    router.post("/x", greet);
    router.post("/form", greet).accepts(["application/x-www-form-urlencoded"]);
    router.get("/x", async |body: Bytes| body.len().to_string());
    let app = app(router);
    check(&app, &format!("POST /x\n{FORM}"), UNSUPPORTED);
    check(&app, &format!("POST /form\n{JSON}"), UNSUPPORTED);
    // The request is rejected before any middleware.
    assert_eq!(ran.load(Ordering::Relaxed), 0);
    check(&app, &format!("POST /x\n{JSON}"), "200 ada");
    check(&app, &format!("POST /form\n{FORM}"), "200 ada");
    // The body of a GET is not parsed.
    check(&app, &format!("GET /x\n{FORM}"), "200 8");
    check(&app, &format!("POST /nowhere\n{FORM}"), r#"404 {"error":"Not Found"}"#);
}

#[test]
fn restricts_the_routes_of_a_host() {
    use stockade::routing::HostRoutes;

    use crate::support::{block_on, request, show};

    let routes = HostRoutes::new(&narrowed());
    let call = |text: String| block_on(async { show(routes.handle(request(&text)).await).await });
    assert_eq!(call(format!("POST /only\n{FORM}")), UNSUPPORTED);
    assert_eq!(call(format!("POST /only\n{JSON}")), "200 ada");
}

/// Returns the messages of the configuration errors.
#[track_caller]
fn mistakes(router: Router) -> Vec<String> {
    let error = router.build().unwrap_err();
    error.issues().iter().map(|mistake| mistake.message().to_owned()).collect()
}

#[test]
fn an_unusable_list_is_a_configuration_error() {
    let wrong = ["json", "application/json; charset=utf-8"];
    let read = serde_json::from_str::<RouterOptions>(&json!({ "accepts": wrong }).to_string());
    let error = read.unwrap_err().to_string();
    assert!(error.starts_with("accepts: 2 configuration errors"), "{error}");
    assert_eq!(
        mistakes(Router::with_options(RouterOptions::new().accepts(wrong))),
        [
            r#"accepts: "json" is not a media type such as "application/json""#,
            r#"accepts: "application/json; charset=utf-8": remove the parameters of the media type, any parameters are accepted"#,
        ]
    );
    let mut router = Router::with_options(
        RouterOptions::new().accepts(["application/json"]).enable_web_sockets(true),
    );
    router.post("/a", greet).accepts(["aplication/json"]);
    router.post("/b", greet).accepts([""; 0]);
    router.get("/c", async || ()).accepts(["application/json"]);
    router.post("/d", greet).accepts(["image/png"]);
    router.post("/e", async |_: Multipart| ());
    router.post("/f", async |_: Multipart| ()).accepts(["multipart/form-data"]);
    router
        .add_web_socket_route("/g", async |_: WebSocket| (), WebSocketOptions::new())
        .accepts(["text/plain"]);
    router.add_web_socket_route("/h", async |_: WebSocket| (), WebSocketOptions::new());
    assert_eq!(
        mistakes(router),
        [
            r#"accepts: "aplication/json" is not a media type such as "application/json""#,
            "accepts: the list of media types is empty",
            "`accepts` is set, but GET requests have no body",
            "the handler reads JSON, a form or text, but `accepts` does not include it",
            "the handler reads a form with files, but `accepts` does not include it",
            "`accepts` is set, but a WebSocket has no body",
        ]
    );
}
