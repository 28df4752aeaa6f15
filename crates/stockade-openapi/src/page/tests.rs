//! Tests of the page with untrusted text.

use serde_json::json;
use stockade_core::RouteDocs;
use stockade_routing::{RouteTree, Router, RouterOptions, create_router};

use super::*;
use crate::document::document;
use crate::options::Webhook;

const HOSTILE: &str = "</code><script>alert(1)</script>\"'><img src=x onerror=alert(1)>";

fn router() -> Router {
    create_router(RouteTree::new(), RouterOptions::new())
}

fn pages(router: Router, options: &OpenApiOptions) -> Pages {
    let map = router.build().unwrap().route_map();
    let document = document(&map, options).unwrap();
    Pages::of(&map, &document, options)
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
    schema::fields(&mut html, &schema);
    let html = html.into_string();
    assert!(!html.contains("<script") && !html.contains("<img"), "{html}");
    assert!(!html.contains("\"'"), "{html}");
}

#[test]
fn shows_bounds_that_the_type_does_not_imply() {
    let shown = |schema: Value| {
        let mut html = Html::default();
        schema::kind(&mut html, &schema);
        html.into_string()
    };
    let schema = json!({ "type": "integer", "format": "uint8", "minimum": 0, "maximum": 255 });
    assert_eq!(shown(schema), "integer (uint8)");
    let schema = json!({ "type": "integer", "format": "int8", "minimum": 0, "maximum": 127 });
    assert_eq!(shown(schema), "integer (int8) <i>minimum 0</i>");
    let schema = json!({ "type": "integer", "format": "uint999", "maximum": 1 });
    assert_eq!(shown(schema), "integer (uint999) <i>maximum 1</i>");
}

#[test]
fn recursive_schemas_end() {
    let schemas = json!({ "Node": {
        "type": "object",
        "required": ["next"],
        "properties": { "next": { "$ref": "#/components/schemas/Node" } },
    } });
    let example = schema::example(&schemas["Node"], &schemas);
    assert_eq!(example, json!({ "next": { "next": { "next": null } } }));
}

#[test]
fn hidden_routes_limits_and_middleware_are_not_shown() {
    let mut router = router();
    router.get("/seen", async || "x");
    router.get("/unseen", async || "x").docs(RouteDocs::new("A secret").hidden("for tests"));
    let options = OpenApiOptions::new("Shop", "1");
    let map = router.build().unwrap().route_map();
    let document = document(&map, &options).unwrap();
    let public = Pages::of(&map, &document, &options);
    let html = text(public.index());
    assert!(html.contains("/seen") && !html.contains("unseen") && !html.contains("secret"));
    assert!(!html.contains("Limits") && !html.contains("Middleware"));
    let inside = Pages::of(&map, &document, &options.internals(true));
    assert!(text(inside.index()).contains("<b>Limits</b>"));
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
    assert!(!html.contains("<section id="), "{html}");
    let carts = text(pages.file("group-carts").unwrap());
    assert!(carts.contains("<section id=getCarts30>"), "{carts}");
    assert!(!carts.contains("getUsers0"), "{carts}");
    assert!(carts.contains("href=\"../openapi.json\"") && carts.contains("href=\"../docs\""));
    assert!(carts.contains("src=\"search.js\""));
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
fn the_script_is_small_and_creates_no_markup() {
    assert!(SCRIPT.len() <= 4096, "{}", SCRIPT.len());
    for word in ["innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", ".style"] {
        assert!(!SCRIPT.contains(word), "{word}");
    }
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
        assert!(html.contains("<section id=webhook-"), "{html}");
        assert!(html.contains("href=\"#webhooks\""), "{html}");
        assert!(html.contains("<summary>Fields</summary>"), "{html}");
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
    assert!(without.file("try").is_none() && !text(without.index()).contains("Try it"));

    let with = pages(router(), &options.swagger_ui(true));
    assert!(text(with.index()).contains("<a href=\"docs/try\">Try it</a>"));
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
