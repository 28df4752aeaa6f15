//! OpenAPI documents of small APIs.

use stockade::auth::ApiKeyHash;
use stockade::openapi::{OpenApiOptions, Webhook, create_api_router, open_api, with_open_api};
use stockade::prelude::*;
use stockade::routing::map::RouteMap;
use stockade::testing::TestClient;
use stockade::{RouteDocs, middleware::with_role};

use crate::support::{block_on, command};

#[derive(serde::Deserialize, serde::Serialize, Schema)]
struct Account {
    #[schema(trim, min_length = 2, max_length = 50)]
    name: String,
    #[serde(default)]
    age: Option<u8>,
}

#[derive(serde::Deserialize, Schema)]
struct Search {
    /// The search terms.
    q: String,
    #[schema(minimum = 1, default = 1)]
    page: u32,
}

#[derive(Debug, ApiError)]
enum Failure {
    #[status(404, "there is no such account")]
    Missing,
    #[status(409, "{name} is there already")]
    Taken { name: String },
}

async fn create(Body(account): Body<Account>) -> Result<(StatusCode, Json<Account>), Failure> {
    match account.name.as_str() {
        "eve" => Err(Failure::Taken { name: account.name }),
        "" => Err(Failure::Missing),
        _ => Ok((StatusCode::CREATED, Json(account))),
    }
}

fn router() -> Router {
    let signed_in =
        with_auth(Auth::secret(Secret::new("a secret of thirty-two bytes or more").unwrap()));
    let api = routes! {
        "accounts": {
            GET: async |Query(search): Query<Search>| json!([search.q, search.page]),
            POST: {
                handler: create,
                name: "accounts.create",
                docs: RouteDocs::new("New account").description("Makes an account.").response(201, "It is there"),
            },
            r":id(\d+)": {
                middleware: [signed_in],
                GET: async |Path(id): Path<u64>| id.to_string(),
                DELETE: { handler: async |Path(_): Path<u64>| (), middleware: [with_role(["admin", "clerk"])] },
            },
        },
        "catalogue": { ":category?": { GET: async || "all" } },
        "hidden": { GET: { handler: async || "x", docs: RouteDocs::default().hidden("for tests") } },
        "any": { ANY: async || "x" },
    };
    create_router(api, RouterOptions::new())
}

fn document() -> Value {
    open_api(&router().build().unwrap(), &OpenApiOptions::new("Shop", "1.4.0")).unwrap()
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().map(|object| object.keys().map(String::as_str).collect()).unwrap_or_default()
}

#[test]
fn a_document_has_the_paths_in_the_order_of_the_tree() {
    let document = document();
    let paths = ["/accounts", "/accounts/{id}", "/catalogue/{category}", "/catalogue"];
    assert_eq!(keys(&document["paths"]), paths);
    assert_eq!(keys(&document["paths"]["/accounts"]), ["get", "post"]);
    assert_eq!(document["tags"], json!([{ "name": "accounts" }, { "name": "catalogue" }]));
    let short = &document["paths"]["/catalogue"]["get"]["operationId"];
    assert_eq!(short, "getCatalogueByCategoryWithoutCategory");
    assert_eq!(document, self::document());
}

#[test]
fn an_operation_contains_the_docs_of_its_route() {
    let document = document();
    let create = &document["paths"]["/accounts"]["post"];
    assert_eq!(create["summary"], "New account");
    assert_eq!(create["operationId"], "accounts.create");
    assert_eq!(create["security"], json!([]));
    assert_eq!(create["requestBody"]["required"], true);
    let bodies = keys(&create["requestBody"]["content"]);
    assert_eq!(bodies, ["application/json", "application/x-www-form-urlencoded"]);
    assert_eq!(create["responses"]["201"]["description"], "It is there");
    assert_eq!(create["responses"]["429"]["$ref"], "#/components/responses/TooManyRequests");
    let search = &document["paths"]["/accounts"]["get"]["parameters"];
    assert_eq!(search[0]["name"], "q");
    assert_eq!((&search[0]["in"], &search[0]["required"]), (&json!("query"), &json!(true)));
    assert_eq!(search[1]["schema"]["default"], 1);
    let id = &document["paths"]["/accounts/{id}"]["get"]["parameters"][0];
    assert_eq!((&id["name"], &id["required"]), (&json!("id"), &json!(true)));
    assert_eq!(id["schema"]["type"], "integer");
}

#[test]
fn an_operation_documents_its_access() {
    let document = document();
    let schemes = &document["components"]["securitySchemes"];
    assert_eq!(schemes["bearer"]["scheme"], "bearer");
    let delete = &document["paths"]["/accounts/{id}"]["delete"];
    assert_eq!(delete["security"], json!([{ "bearer": [] }]));
    assert_eq!(delete["x-required-roles"], json!([["admin", "clerk"]]));
    // An error that many operations share appears only once.
    let forbidden = delete["responses"]["403"]["$ref"].as_str().unwrap();
    let name = forbidden.strip_prefix("#/components/responses/").unwrap();
    let forbidden = &document["components"]["responses"][name]["description"];
    let forbidden = forbidden.as_str().unwrap();
    assert!(forbidden.contains("one of the roles admin, clerk"), "{forbidden}");
    assert!(delete["responses"]["401"].is_object());
}

#[test]
fn ambiguous_operations_are_configuration_errors() {
    let check = |router: Router, expected: &str| {
        let error = with_open_api(router, OpenApiOptions::new("a", "1")).build().unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    };
    let mut router = Router::new();
    router.get(r"/:id(\d+)", async || "by number").name("number");
    router.get("/:slug", async || "by name").name("name");
    check(router, "hide one of the routes with");
    let mut router = Router::new();
    router.get("/a-b", async || "one");
    router.get("/a/b", async || "two");
    check(router, "duplicate operation \"getAB\", already used by GET /a-b");
    let mut router = Router::new();
    router.get(r"/:id(\d+)", async || "by number").name("number");
    router.post("/:slug", async || "by name").name("name");
    let app = router.build().unwrap();
    let document = open_api(&app, &OpenApiOptions::new("a", "1")).unwrap();
    assert_eq!(keys(&document["paths"]["/{id}"]), ["get", "post"]);
    assert_eq!(document["paths"]["/{id}"]["post"]["parameters"][0]["name"], "id");
}

#[tokio::test]
async fn a_document_is_served_only_to_authorized_users() {
    let client = TestClient::new(with_open_api(router(), OpenApiOptions::new("Shop", "1")));
    client.get("/openapi.json").await.assert_status(404);

    let public = OpenApiOptions::new("Shop", "1").public("the API is public").path("/api.json");
    let client = TestClient::new(with_open_api(router(), public));
    let response = client.get("/api.json").await;
    response.assert_status(200);
    assert_eq!(response.header("content-type").as_deref(), Some("application/json"));
    assert_eq!(response.header("cache-control").as_deref(), Some("no-cache"));
    let tag = response.header("etag").unwrap();
    let document: Value = response.json();
    assert!(keys(&document["paths"]).iter().all(|path| *path != "/api.json"));
    let again = client.get("/api.json").header("if-none-match", tag).await;
    again.assert_status(304);

    let auth =
        with_auth(Auth::secret(Secret::new("a secret of thirty-two bytes or more").unwrap()));
    let guarded = OpenApiOptions::new("Shop", "1").guarded(auth);
    let client = TestClient::new(with_open_api(router(), guarded));
    client.get("/openapi.json").await.assert_status(401);
}

#[test]
fn a_document_contains_nothing_of_hidden_routes() {
    #[derive(serde::Deserialize, Schema)]
    struct Secret {
        #[expect(dead_code, reason = "only its schema matters")]
        plan: String,
    }

    let keys_only = with_auth(Auth::api_key(async |_: ApiKeyHash| Some("x")));
    let api = routes! {
        "open": { GET: async || "x" },
        "plans": {
            POST: {
                handler: async |_: Body<Secret>| (),
                middleware: [keys_only],
                docs: RouteDocs::default().hidden("for us"),
            },
        },
    };
    let app = create_router(api, RouterOptions::new()).build().unwrap();
    assert_eq!(app.route_map().schemas.len(), 1);
    let document = open_api(&app, &OpenApiOptions::new("a", "1")).unwrap();
    let text = document.to_string();
    assert!(!text.contains("plan") && !text.contains("api-key"), "{text}");
    assert_eq!(keys(&document["components"]), ["schemas", "responses", "headers"]);
    assert_eq!(keys(&document["components"]["schemas"]), ["Error"]);
    let shared = ["InternalServerError", "TooManyRequests"];
    assert_eq!(keys(&document["components"]["responses"]), shared);

    let bare = RouterOptions::new().rate_limit(false).cors(false);
    let app = create_router(routes! { "open": { GET: async || "x" } }, bare).build().unwrap();
    let document = open_api(&app, &OpenApiOptions::new("a", "1")).unwrap();
    assert_eq!(keys(&document["components"]), ["schemas", "responses"]);
}

#[test]
fn commands_report_about_routes() {
    let app = router().open_api(("Shop", "1.4.0")).build().unwrap();
    let ask = |line: &str| command(&app, line.split_whitespace());
    assert_eq!(ask("routes").unwrap().unwrap(), app.route_map().to_string());
    let map: RouteMap = serde_json::from_str(&ask("routes --json").unwrap().unwrap()).unwrap();
    assert_eq!(map, app.route_map());
    assert!(ask("explain DELETE /accounts/7").unwrap().unwrap().contains("with_role"));
    let explained: Value =
        serde_json::from_str(&ask("explain --json GET /nowhere").unwrap().unwrap()).unwrap();
    assert_eq!(explained["status"], 404);
    let made: Value = serde_json::from_str(&ask("openapi").unwrap().unwrap()).unwrap();
    assert_eq!(made, document());

    assert!(ask("").is_none() && ask("serve --json").is_none());
    for line in ["routes all", "explain", "explain GET", "openapi --json", "routes --yaml"] {
        assert!(ask(line).unwrap().is_err(), "{line}");
    }
}

#[test]
fn runs_a_command_only_if_the_first_argument_is_one() {
    let app = router().build().unwrap();
    let run = |args: &[&str]| block_on(app.run_command(args.iter().map(|it| (*it).to_owned())));
    for args in [&[][..], &["program"], &["program", "serve"], &["program", "--json", "routes"]] {
        assert!(!run(args).unwrap(), "{args:?}");
    }
    assert!(run(&["program", "explain", "GET", "/nowhere"]).unwrap());
    assert!(run(&["program", "routes", "everything"]).is_err());
    // Only the document requires a title.
    let error = run(&["program", "openapi"]).unwrap_err().to_string();
    assert_eq!(
        error,
        r#"the router does not have an OpenAPI document: add `.open_api(("Title", "1.0.0"))`"#
    );
}

#[test]
fn the_command_prints_the_first_of_several_documents() {
    let second = OpenApiOptions::new("Second", "2").path("/second.json").docs_path("/second");
    let app = router().open_api(("First", "1")).open_api(second).build().unwrap();
    let text = command(&app, ["openapi"]).unwrap().unwrap();
    assert!(text.contains(r#""title": "First""#), "{text}");
    let usage = command(&app, ["openapi", "--4.0"]).unwrap().unwrap_err().to_string();
    assert!(usage.contains("lock --check [PATH] | openapi [--3.0 | --ruleset]"), "{usage}");
}

#[test]
fn the_document_contains_webhooks_and_information() {
    let options = OpenApiOptions::new("Shop", "2")
        .description("Sells tea.")
        .license("MIT")
        .server("https://api.shop.example")
        .tag("accounts", "Who buys")
        .webhook("shipped", Webhook::of::<u64>().summary("On its way"));
    let document = open_api(&router().build().unwrap(), &options).unwrap();
    assert_eq!(document["info"]["license"]["name"], "MIT");
    assert_eq!(document["servers"][0]["url"], "https://api.shop.example");
    assert_eq!(document["tags"][0]["description"], "Who buys");
    let webhook = &document["webhooks"]["shipped"]["post"];
    assert_eq!(webhook["requestBody"]["content"]["application/json"]["schema"]["type"], "integer");
}

#[test]
fn an_api_router_reports_errors_of_its_document() {
    let api = routes! { "a-b": { GET: async || "" }, "a": { "b": { GET: async || "" } } };
    let error = create_api_router(("a", "1"), api, RouterOptions::new()).build().unwrap_err();
    assert!(error.to_string().contains("getAB"), "{error}");
}

#[test]
fn a_document_can_be_generated_from_a_deserialized_map() {
    let map = router().build().unwrap().route_map();
    let read: RouteMap = serde_json::from_str(&serde_json::to_string(&map).unwrap()).unwrap();
    let options = OpenApiOptions::new("Shop", "1.4.0");
    assert_eq!(stockade::openapi::document(&read, &options).unwrap(), document());
}

#[tokio::test]
async fn the_page_and_its_files_are_served_to_authorized_users() {
    let options = OpenApiOptions::new("Accounts", "1.0.0").public("for tests");
    let app = with_open_api(router(), options).build().unwrap();
    let client = TestClient::new(app);
    for (path, media_type) in [
        ("/docs", "text/html; charset=utf-8"),
        ("/docs/style.css", "text/css; charset=utf-8"),
        ("/docs/page.js", "text/javascript; charset=utf-8"),
        ("/docs/icon.svg", "image/svg+xml"),
    ] {
        let response = client.get(path).await;
        response.assert_status(200);
        assert_eq!(response.header("content-type").as_deref(), Some(media_type));
        assert_eq!(response.header("cache-control").as_deref(), Some("no-cache"));
        let policy = response.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{policy}");
        let tag = response.header("etag").unwrap();
        client.get(path).header("if-none-match", tag).await.assert_status(304);
    }
    client.get("/docs/nothing").await.assert_status(404);

    let guarded = OpenApiOptions::new("Accounts", "1.0.0").guarded(with_auth(Auth::secret(
        Secret::new("a secret of thirty-two bytes or more").unwrap(),
    )));
    let client = TestClient::new(with_open_api(router(), guarded).build().unwrap());
    for path in ["/docs", "/docs/style.css", "/openapi.json"] {
        client.get(path).await.assert_status(401);
    }
}
