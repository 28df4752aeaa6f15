//! Tests of the page with untrusted text.

use http::StatusCode;
use serde_json::json;
use stockade_core::RouteDocs;
use stockade_core::extract::Path;
use stockade_routing::{RouteTree, Router, RouterOptions, create_router};

use super::html::Html;
use super::*;
use crate::document::document;
use crate::example::Direction;
use crate::options::Webhook;

const HOSTILE: &str = "</code><script>alert(1)</script>\"'><img src=x onerror=alert(1)>";

fn router() -> Router {
    create_router(RouteTree::new(), RouterOptions::new())
}

fn pages(router: Router, options: &OpenApiOptions) -> Pages {
    let map = router.build().unwrap().route_map();
    let document = document(&map, options).unwrap();
    Pages::of(&map, &document, options).unwrap()
}

fn text(file: &File) -> &str {
    std::str::from_utf8(&file.content).unwrap()
}

#[test]
fn application_text_is_never_markup() {
    let mut router = router();
    let docs = RouteDocs::new(HOSTILE).description(HOSTILE).tags([HOSTILE]).response(200, HOSTILE);
    router.get("/it's&amp;so", async || "x").docs(docs);
    let options = OpenApiOptions::new(HOSTILE, HOSTILE)
        .description(HOSTILE)
        .license(HOSTILE)
        .server(HOSTILE)
        .tag(HOSTILE, HOSTILE);
    let pages = pages(router, &options);
    let html = text(pages.index());
    assert!(html.contains("&lt;script&gt;alert(1)"), "{html}");
    assert!(html.contains("it&#39;s&amp;amp;so"), "{html}");
    assert!(!html.contains("<script>") && !html.contains("<img"), "{html}");
    assert_eq!(html.matches("<script").count(), 1);
    assert!(!html.contains("\"'>") && !html.contains("style="), "{html}");
}

#[test]
fn schema_text_is_never_markup() {
    let schema = json!({
        "type": "object",
        "description": HOSTILE,
        "required": [HOSTILE],
        "properties": {
            HOSTILE: { "type": "string", "pattern": HOSTILE, "default": HOSTILE, "format": HOSTILE },
            "choice": { "enum": [HOSTILE], "description": HOSTILE },
            "other": { "$ref": format!("#/components/schemas/{HOSTILE}") },
            "list": { "type": "array", "items": { "properties": { HOSTILE: { "const": HOSTILE } } } },
        },
    });
    let mut html = Html::default();
    schema::kind(&mut html, &schema);
    schema::View { schemas: &json!({}), direction: None }.fields(&mut html, &schema);
    let html = html.into_string();
    assert!(!html.contains("<script") && !html.contains("<img"), "{html}");
    assert!(!html.contains("\"'"), "{html}");
}

#[test]
fn hidden_routes_limits_and_middleware_are_not_shown() {
    let mut router = router();
    router.get("/seen", async || "x");
    router.get("/unseen", async || "x").docs(RouteDocs::new("A secret").hidden("for tests"));
    let options = OpenApiOptions::new("Shop", "1");
    let map = router.build().unwrap().route_map();
    let document = document(&map, &options).unwrap();
    let public = Pages::of(&map, &document, &options).unwrap();
    let html = text(public.index());
    assert!(html.contains("/seen") && !html.contains("unseen") && !html.contains("secret"));
    assert!(!html.contains("Limits") && !html.contains("bytes"));
    let inside = Pages::of(&map, &document, &options.internals(true)).unwrap();
    assert!(text(inside.index()).contains("<h4>Limits and rules</h4>"));
}

#[test]
fn many_operations_get_a_page_per_group() {
    let mut router = router();
    for group in ["carts", "users"] {
        for number in 0..31 {
            router.get(&format!("/{group}/{number}"), async || "x");
        }
    }
    let pages = pages(router, &OpenApiOptions::new("Shop", "1"));
    let html = text(pages.index());
    assert!(html.contains("href=\"docs/group-carts#getCarts0\""), "{html}");
    assert!(!html.contains("<section class=op"), "{html}");
    let carts = text(pages.file("group-carts").unwrap());
    assert!(carts.contains("<section class=op id=getCarts30>"), "{carts}");
    assert!(!carts.contains("getUsers0"), "{carts}");
    assert!(carts.contains("href=\"../openapi.json\"") && carts.contains("href=\"../docs\""));
    assert!(carts.contains("src=\"page.js\""));
    assert!(pages.file("group-nothing").is_none());
}

#[test]
fn links_to_the_document_from_every_path() {
    for (docs_path, path, link) in [
        ("/docs", "/openapi.json", "\"openapi.json\""),
        ("/a/b/docs", "/a/openapi.json", "\"../../a/openapi.json\""),
        ("/", "/openapi.json", "\"openapi.json\""),
    ] {
        let options = OpenApiOptions::new("Shop", "1").docs_path(docs_path).path(path);
        let mut router = router();
        router.get("/a", async || "x");
        let pages = pages(router, &options);
        assert!(text(pages.index()).contains(link), "{docs_path}");
    }
}

#[test]
fn the_script_creates_no_markup() {
    let words = [
        "innerHTML",
        "outerHTML",
        "insertAdjacent",
        "document.write",
        "eval(",
        "Function(",
        ".style",
    ];
    for word in words {
        assert!(!SCRIPT.contains(word), "{word}");
    }
    // The export contains both files inline.
    assert!(!SCRIPT.contains("</script") && !SCRIPT.contains("<!--") && !STYLE.contains("</"));
    assert!(!STYLE.contains("url(") && !STYLE.contains("@import"));
}

#[test]
fn webhooks_are_on_the_page_of_all_operations() {
    let body = json!({ "type": "object", "properties": { HOSTILE: { "type": "string" } } });
    let hook = || Webhook::schema(body.clone()).summary(HOSTILE).description(HOSTILE);
    let options = || OpenApiOptions::new("Shop", "1").webhook(HOSTILE, hook());
    let few = {
        let mut router = router();
        router.get("/a", async || "x");
        pages(router, &options())
    };
    let many = {
        let mut router = router();
        for number in 0..61 {
            router.get(&format!("/a/{number}"), async || "x");
        }
        pages(router, &options())
    };
    for (pages, is_split) in [(&few, false), (&many, true)] {
        let html = text(pages.index());
        assert!(html.contains("<h2 id=webhooks>Webhooks</h2>"), "{html}");
        assert!(html.contains("<section class=op id=webhook-"), "{html}");
        assert!(html.contains("href=\"#webhooks\""), "{html}");
        assert!(!html.contains("<script>") && !html.contains("<img"), "{html}");
        assert_eq!(html.contains("<h2>Groups</h2>"), is_split);
    }
    let group = many.files.iter().find(|(name, _)| name.starts_with("group-")).unwrap();
    let group = text(group.1);
    assert!(group.contains("href=\"../docs#webhooks\""), "{group}");
    assert!(!group.contains("id=webhook"), "{group}");
    // The page does not mention webhooks if the document has none.
    let mut router = router();
    router.get("/a", async || "x");
    let bare = pages(router, &OpenApiOptions::new("Shop", "1"));
    assert!(!text(bare.index()).to_lowercase().contains("webhook"));
}

#[cfg(feature = "swagger-ui")]
#[test]
fn swagger_ui_is_served_on_request() {
    let options = OpenApiOptions::new(HOSTILE, "1");
    let without = pages(router(), &options);
    assert!(without.file("try").is_none() && !text(without.index()).contains("Swagger UI"));

    let with = pages(router(), &options.swagger_ui(true));
    assert!(text(with.index()).contains("<a href=\"docs/try\">Swagger UI</a>"));
    let page = with.file("try").unwrap();
    assert!(page.policy.contains("img-src 'self' data:;"));
    assert!(text(page).contains("data-document=\"../openapi.json\""));
    assert!(!text(page).contains("<script>") && !text(page).contains("<img"));
    for (name, is_gzip) in
        [("swagger-ui-bundle.js", true), ("swagger-ui.css", true), ("swagger-ui-start.js", false)]
    {
        let file = with.file(name).unwrap();
        assert_eq!(file.is_gzip, is_gzip, "{name}");
        assert_eq!(file.content.starts_with(&[0x1f, 0x8b]), is_gzip, "{name}");
        assert!(text(page).contains(name), "{name}");
    }
}

#[test]
fn the_tag_is_computed_once() {
    let tag = ReadyTag::default();
    let first = tag.of(b"one").to_owned();
    assert_eq!(first, ETag::of(b"one").weak().to_string());
    assert_eq!(tag.of(b"another"), first);
}

#[test]
fn shows_a_schema_inline_with_its_rules() {
    let schemas = json!({
        "Address": { "type": "object", "required": ["city"], "properties": {
            "city": { "type": "string", "minLength": 2, "maxLength": 80 },
            "owner": { "$ref": "#/components/schemas/Owner" },
        } },
        "Owner": { "type": "object", "properties": { "deep": { "type": "string" } } },
    });
    let schema = json!({ "type": "object", "properties": {
        "id": { "type": "integer", "readOnly": true },
        "address": { "$ref": "#/components/schemas/Address" },
    } });
    let shown = |direction| {
        let mut html = Html::default();
        schema::View { schemas: &schemas, direction }.fields(&mut html, &schema);
        html.into_string()
    };
    let all = shown(None);
    assert!(all.contains("<small>only in responses</small>"), "{all}");
    assert!(all.contains("<small>2 to 80 characters</small> <em>required</em>"), "{all}");
    // The third level is a link.
    assert!(all.contains("<a href=#s-Owner>Owner</a>") && !all.contains("deep"), "{all}");
    assert!(!shown(Some(Direction::Request)).contains("<code>id</code>"));
}

#[test]
fn alternatives_are_tabs() {
    let schema = json!({ "oneOf": [
        { "type": "object", "properties": { "kind": { "const": "card" }, "number": {} } },
        { "type": "object", "title": "Invoice", "properties": { "kind": {}, "address": {} } },
    ] });
    let mut html = Html::default();
    schema::View { schemas: &json!({}), direction: None }.fields(&mut html, &schema);
    let html = html.into_string();
    assert!(
        html.contains("<input type=radio name=t1 id=t1-0 checked><label for=t1-0>card</label>")
    );
    assert!(html.contains("<label for=t1-1>Invoice</label>"), "{html}");
}

#[test]
fn an_unknown_status_has_an_advice() {
    let shown = |docs: RouteDocs| {
        let mut router = router();
        router.get("/a", async || (StatusCode::CREATED, "x")).docs(docs);
        text(pages(router, &OpenApiOptions::new("Shop", "1")).index()).to_owned()
    };
    assert!(
        shown(RouteDocs::default()).contains("Return Created, Accepted or Status&lt;201, T&gt;")
    );
    assert!(!shown(RouteDocs::default().response(201, "Made")).contains("Return Created"));
}

#[test]
fn a_request_has_its_stages_in_order() {
    let mut router = router();
    router.get("/a/:id", async |Path(id): Path<u32>| id.to_string());
    let html = text(pages(router, &OpenApiOptions::new("Shop", "1")).index()).to_owned();
    let (_, life) = html.split_once("<summary>Life of a request</summary>").unwrap();
    let (life, _) = life.split_once("</ol>").unwrap();
    let places = ["Routing", "CORS", "Rate limit", "Validation", "Handler"];
    let places = places.map(|name| life.find(name).unwrap_or_else(|| panic!("{name}: {life}")));
    assert!(places.is_sorted(), "{life}");
    assert!(life.contains("<span>Rate limit</span><b class=\"s s4\">429</b>"), "{life}");
}

#[test]
fn the_options_of_the_page_are_checked() {
    let check = |options: OpenApiOptions, expected: &str| {
        let map = router().build().unwrap().route_map();
        let document = document(&map, &options).unwrap();
        let error = Pages::of(&map, &document, &options).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    let options = || OpenApiOptions::new("Shop", "1");
    for color in ["red", "#12", "#12345g", "#fff}body{display:none", ""] {
        check(options().color(color), "expected a color such as");
    }
    for url in ["javascript:alert(1)", "data:text/html,x", " https://a.example", "x"] {
        check(options().link("a", url), "start it with `https://`");
    }
    check(options().release("0.9", "{}"), "the lock of release \"0.9\"");
}

#[test]
fn a_file_contains_everything() {
    let mut router = router();
    router.get("/a", async || "x");
    let options = OpenApiOptions::new("Shop", "1")
        .logo(crate::Logo::svg("<svg/>"))
        .color("#0a5c36")
        .server("https://api.shop.example");
    let map = router.build().unwrap().route_map();
    let document = document(&map, &options).unwrap();
    let html = Pages::single(&map, &document, &options).unwrap();
    assert!(html.contains("src=\"data:image/svg+xml;base64,PHN2Zy8+\""), "{html}");
    assert!(
        html.contains("--brand:#0a5c36") && html.contains("connect-src https://api.shop.example;")
    );
    assert!(!html.contains("src=\"page.js") && !html.contains("href=\"style.css"));
    assert!(html.contains("id=calls>{"));
    let alone = OpenApiOptions::new("Shop", "1");
    let html = Pages::single(&map, &document, &alone).unwrap();
    assert!(!html.contains("id=calls>{"), "a file without a server cannot send requests");
}

#[test]
fn releases_are_compared() {
    let lock = |paths: &[&str]| {
        let mut router = router();
        for path in paths {
            router.get(path, async || "x");
        }
        router.get("/old", async || "x").docs(RouteDocs::default().hidden("for us"));
        let map = router.build().unwrap().route_map();
        stockade_map::lock::Lock::of(&map).unwrap().to_string()
    };
    let mut router = router();
    router.get("/a", async || "x");
    router.get("/secret", async || "x").docs(RouteDocs::default().hidden("for us"));
    let options = OpenApiOptions::new("Shop", "1.0")
        .release("0.8", lock(&["/a", "/b", "/c"]))
        .release("0.9", lock(&["/a", "/b"]));
    let html = text(pages(router, &options).index()).to_owned();
    let (_, changes) = html.split_once("<h2 id=changes>Changes</h2>").unwrap();
    let (latest, first) = changes.split_once("<h3>0.8 to 0.9</h3>").unwrap();
    assert!(latest.contains("<h3>0.9 to 1.0</h3>") && latest.contains("<code>GET /b</code>"));
    assert!(first.contains("<code>GET /c</code>") && !changes.contains("/secret"), "{changes}");
    assert!(!changes.contains("/old"), "{changes}");
}

#[test]
fn methods_of_json_rpc_are_shown_at_their_route() {
    let mut router = router();
    router.post("/rpc", async || "x");
    let mut map = router.build().unwrap().route_map();
    let mut method = map.routes[0].clone();
    method.kind = stockade_routing::map::RouteKind::RpcMethod;
    method.path = "/rpc#add".to_owned();
    method.docs = RouteDocs::new("Adds <numbers>");
    map.schemas.insert("Sum".to_owned(), json!({ "properties": { "total": {} } }));
    let content = stockade_routing::map::ContentInfo::new(
        "application/json",
        json!({ "$ref": "#/schemas/Sum" }),
    );
    let reply = method.answers.iter_mut().find(|answer| answer.status.is_success()).unwrap();
    reply.body = stockade_routing::map::BodyDoc::Content(vec![content]);
    map.routes.push(method);
    let options = OpenApiOptions::new("Shop", "1");
    let document = document(&map, &options).unwrap();
    let html = text(Pages::of(&map, &document, &options).unwrap().index()).to_owned();
    assert!(html.contains("<summary><code>add</code> Adds &lt;numbers&gt;</summary>"), "{html}");
    assert!(html.contains("<code>total</code>"), "{html}");
}
