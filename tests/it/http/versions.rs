//! Versions of resources: `WithETag` and `IfMatch`.
//!
//! Source: RFC 9110, sections 8.8.3 and 13.

use stockade::middleware::{ETag, IfMatch, WithETag};
use stockade::prelude::*;
use stockade::testing::TestClient;

#[derive(serde::Serialize, Schema)]
struct Org {
    version: u64,
}

async fn show(Path(id): Path<u64>) -> Result<WithETag<u64, Org>, ApiError> {
    if id == 404 {
        return Err(ApiError::not_found());
    }
    Ok(WithETag(7, Org { version: 7 }))
}

async fn update(version: IfMatch) -> Result<WithETag<u64, Org>, ApiError> {
    version.check(7)?;
    Ok(WithETag(8, Org { version: 8 }))
}

async fn patch(version: Option<IfMatch>) -> Result<&'static str, ApiError> {
    version.map_or(Ok(()), |version| version.check("b"))?;
    Ok("changed")
}

fn api() -> RouteTree {
    routes! {
        "orgs/:id": { GET: show, PUT: update, PATCH: patch },
        "weak": { GET: async || WithETag(ETag::new("7").unwrap().weak(), "weak") },
        "broken": { GET: async || WithETag("a\"b", "broken") },
        "plain": { GET: async || ([("etag", "\"7\"")], "plain") },
    }
}

fn client() -> TestClient {
    TestClient::new(create_router(api(), RouterOptions::new())).with_contract()
}

#[tokio::test]
async fn a_client_with_the_version_gets_304() {
    let client = client();
    for (header, status) in [
        ("\"7\"", 304),
        ("W/\"7\"", 304),
        ("\"6\", \"7\"", 304),
        (" , \"6\" , W/\"7\",", 304),
        ("*", 304),
        ("\"6\"", 200),
        ("\"77\"", 200),
        // An unquoted value is not a tag.
        ("7", 200),
    ] {
        let response = client.get("/orgs/1").header("if-none-match", header).await;
        response.assert_status(status).assert_header("etag", "\"7\"");
        assert_eq!(response.text().is_empty(), status == 304, "{header}");
    }
    let lines = client.get("/orgs/1").header("if-none-match", "\"6\"");
    lines.header("if-none-match", "\"7\"").await.assert_status(304);
    let head = client.request(Method::HEAD, "/orgs/1").header("if-none-match", "\"7\"").await;
    head.assert_status(304);
    // An error stays an error.
    client.get("/orgs/404").header("if-none-match", "*").await.assert_status(404);
    client.get("/weak").header("if-none-match", "\"7\"").await.assert_status(304);
}

#[tokio::test]
async fn a_read_evaluates_if_match() {
    let client = client();
    client.get("/orgs/1").header("if-match", "\"7\"").await.assert_status(200);
    client.get("/orgs/1").header("if-match", "*").await.assert_status(200);
    let other = client.get("/orgs/1").header("if-match", "\"6\"").await;
    other.assert_status(412).assert_header("etag", "\"7\"");
    // A weak tag never matches strongly.
    client.get("/orgs/1").header("if-match", "W/\"7\"").await.assert_status(412);
    client.get("/weak").header("if-match", "W/\"7\"").await.assert_status(412);
}

/// Only `WithETag` responses are compared.
#[tokio::test]
async fn other_routes_do_not_compare_versions() {
    let response = client().get("/plain").header("if-none-match", "\"7\"").await;
    response.assert_status(200).assert_text("plain");
    let app = create_router(api(), RouterOptions::new()).build().unwrap();
    let added: Vec<_> = app.routes().iter().map(|route| route.middleware().len()).collect();
    let compares = |route: &std::sync::Arc<stockade::Endpoint>| {
        usize::from(*route.method() == Method::GET && route.pattern() != "/plain")
    };
    let expected: Vec<_> = app.routes().iter().map(compares).collect();
    assert_eq!(added, expected);
}

#[tokio::test]
async fn a_change_requires_the_version() {
    let client = client();
    let missing = client.put("/orgs/1").await;
    missing.assert_status(428);
    for (header, status) in [
        ("\"7\"", 200),
        ("\"6\", \"7\"", 200),
        ("*", 200),
        ("\"6\"", 412),
        ("\"6\",\"8\"", 412),
        ("W/\"7\"", 412),
        ("7", 400),
        ("\"7", 400),
        ("", 400),
        (",", 400),
        ("*, \"7\"", 400),
        ("\"7\" \"8\"", 400),
        ("w/\"7\"", 400),
        ("\"7\", x", 400),
    ] {
        let response = client.put("/orgs/1").header("if-match", header).await;
        response.assert_status(status);
        if status == 412 {
            response.assert_header("etag", "\"7\"");
        }
    }
    let two = client.put("/orgs/1").header("if-match", "\"6\"").header("if-match", "\"7\"").await;
    two.assert_status(200).assert_header("etag", "\"8\"");
    let two = client.put("/orgs/1").header("if-match", "*").header("if-match", "\"7\"").await;
    two.assert_status(400);
}

#[tokio::test]
async fn an_optional_version_is_checked_if_present() {
    let client = client();
    client.patch("/orgs/1").await.assert_status(200);
    client.patch("/orgs/1").header("if-match", "\"b\"").await.assert_status(200);
    client.patch("/orgs/1").header("if-match", "\"a\"").await.assert_status(412);
    client.patch("/orgs/1").header("if-match", "a").await.assert_status(400);
}

#[tokio::test]
async fn a_text_that_cannot_be_a_tag_is_a_500() {
    client().get("/broken").await.assert_status(500);
}

#[test]
fn documents_describe_versions() {
    use stockade::openapi::{OpenApiOptions, open_api};
    let app = create_router(api(), RouterOptions::new()).build().unwrap();
    let document = open_api(&app, &OpenApiOptions::new("orgs", "1")).unwrap();
    let route = |method: &str| &document["paths"]["/orgs/{id}"][method];
    let statuses = |method: &str| {
        let all = route(method)["responses"].as_object().unwrap();
        all.keys().cloned().collect::<Vec<_>>().join(" ")
    };
    let header = |method: &str, name: &str| {
        let all = route(method)["parameters"].as_array().unwrap();
        all.iter().find(|it| it["name"] == name).map(|it| it["required"] == true)
    };
    assert_eq!(header("get", "If-None-Match"), Some(false));
    assert_eq!(header("put", "If-Match"), Some(true));
    assert_eq!(header("patch", "If-Match"), Some(false));
    for status in ["200", "304", "412"] {
        assert!(statuses("get").contains(status), "{}", statuses("get"));
    }
    for status in ["200", "400", "412", "428"] {
        assert!(statuses("put").contains(status), "{}", statuses("put"));
    }
    assert!(!statuses("put").contains("304") && !statuses("patch").contains("428"));
    assert!(route("get")["responses"]["200"]["headers"]["ETag"].is_object());
    assert!(route("put")["responses"]["200"]["headers"]["ETag"].is_object());
}
