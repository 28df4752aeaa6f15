//! RFC 9457 problem types and members in responses, in the document and in the
//! lock file.

use std::time::SystemTime;

use stockade::graphql::{GraphQl, async_graphql as gql};
use stockade::middleware::{InputRule, with_input_validation};
use stockade::openapi::lock::{Lock, RULES};
use stockade::openapi::{OpenApiOptions, open_api};
use stockade::prelude::*;
use stockade::rpc::Rpc;
use stockade::testing::TestClient;
use stockade::validation::schema;
use stockade::{ErrorReply, ProblemDetails};

use crate::support::{app, block_on, call, check};

const BASE: &str = "https://shop.example/problems/";

#[derive(serde::Serialize, Schema)]
struct Shelf {
    row: u32,
}

#[derive(Debug, ApiError)]
#[status(409, "the account is locked", type = "https://bank.example/locked")]
struct Locked;

#[derive(ApiError, Debug)]
enum OrderError {
    #[status(409, "{sku} is sold out", type = "sold-out")]
    SoldOut {
        #[member]
        sku: String,
        #[member("restockedOn")]
        restocked_on: Option<String>,
    },
    #[status(503, "db-7 is down", type = "maintenance")]
    Down {
        #[member]
        #[expect(dead_code, reason = "members of server errors are never sent")]
        host: String,
    },
    #[status(404, "no order {0}")]
    Unknown(u64),
    #[status(402, "no credit")]
    Credit,
    #[status(transparent)]
    Locked(#[from] Locked),
}

async fn order(Path(case): Path<String>) -> Result<(), OrderError> {
    Err(match &*case {
        "sold" => OrderError::SoldOut { sku: "7".into(), restocked_on: None },
        "later" => OrderError::SoldOut { sku: "7".into(), restocked_on: Some("May".into()) },
        "down" => OrderError::Down { host: "db-7".into() },
        "credit" => OrderError::Credit,
        "locked" => Locked.into(),
        _ => OrderError::Unknown(9),
    })
}

fn api() -> RouteTree {
    routes! {
        "orders/:case": { POST: order },
        "strict": {
            PUT: {
                async || "ok",
                validation: schema!({ "age": { "type": "integer", "required": true } }),
            },
            POST: {
                async || "ok",
                middleware: [with_input_validation([("name", InputRule::new().required())])],
            },
        },
    }
}

fn with(options: RouterOptions) -> App {
    app(create_router(api(), options.rate_limit(false).expose_errors(false)))
}

fn based() -> App {
    with(RouterOptions::new().problem_details(BASE))
}

/// Returns an error body as JSON.
fn body(app: &App, request: &str) -> Value {
    let text = block_on(call(app, request));
    stockade::serde_json::from_str(text.split_once(' ').unwrap().1).unwrap()
}

#[test]
fn types_and_members_are_sent_as_problem_details() {
    let app = based();
    let sold = r#"409 {"type":"https://shop.example/problems/sold-out","title":"Conflict","status":409,"detail":"7 is sold out","sku":"7"}"#;
    check(&app, "POST /orders/sold", sold);
    assert_eq!(body(&app, "POST /orders/later")["restockedOn"], "May");
    // An absolute type is sent unchanged.
    assert_eq!(body(&app, "POST /orders/locked")["type"], "https://bank.example/locked");
    // The framework does not define a type for 402.
    assert_eq!(body(&app, "POST /orders/credit")["type"], "about:blank");
}

#[test]
fn hides_5xx_members_and_sends_their_type() {
    let down = r#"503 {"type":"https://shop.example/problems/maintenance","title":"Service Unavailable","status":503}"#;
    check(&based(), "POST /orders/down", down);
}

#[test]
fn the_plain_body_has_members_and_no_type() {
    let app = with(RouterOptions::new());
    check(&app, "POST /orders/sold", r#"409 {"error":"7 is sold out","sku":"7"}"#);
    check(&app, "POST /orders/down", r#"503 {"error":"Service Unavailable"}"#);
    check(&app, "GET /nowhere", r#"404 {"error":"Not Found"}"#);
}

#[test]
fn built_in_errors_have_types_if_a_base_is_set() {
    let app = based();
    for (request, name) in [
        ("GET /nowhere", "not-found"),
        ("DELETE /strict", "method-not-allowed"),
        ("PUT /strict\ncontent-type: application/json\n\n{}", "validation-failed"),
        ("POST /strict\ncontent-type: application/json\n\n{}", "validation-failed"),
        ("PUT /strict\ncontent-type: application/json\n\n{", "bad-request"),
        ("PUT /strict\ncontent-type: image/png\n\n{}", "unsupported-media-type"),
        ("POST /orders/unknown", "not-found"),
    ] {
        assert_eq!(body(&app, request)["type"], format!("{BASE}{name}"), "{request}");
    }
    // The texts of the specification stay the same.
    let failed = body(&app, "PUT /strict\ncontent-type: application/json\n\n{}");
    assert_eq!((&failed["detail"], &failed["status"]), (&json!("Validation failed"), &json!(400)));
    let app = with(RouterOptions::new().problem_details(BASE).validation_status(422));
    let failed = body(&app, "PUT /strict\ncontent-type: application/json\n\n{}");
    assert_eq!(failed["type"], format!("{BASE}validation-failed"));
    assert_eq!(failed["status"], 422);
}

#[test]
fn responses_match_the_documented_types() {
    for options in [
        RouterOptions::new().problem_details(BASE),
        RouterOptions::new().problem_details(BASE).validation_status(422),
        RouterOptions::new(),
    ] {
        let client = TestClient::new(create_router(api(), options)).with_contract();
        block_on(async {
            for case in ["sold", "later", "down", "credit", "locked", "unknown"] {
                client.post(format!("/orders/{case}")).await;
            }
            client.get("/nowhere").await.assert_status(404);
            client.put("/strict").json(json!({})).await;
            client.post("/strict").json(json!({})).await;
            client.put("/strict").header("content-type", "image/png").body("x").await;
            client.put("/strict").header("content-type", "application/json").body("{").await;
        });
    }
}

#[track_caller]
fn issue(router: Router) -> String {
    router.build().unwrap_err().to_string()
}

#[test]
fn a_relative_type_without_a_base_is_a_configuration_error_with_its_line() {
    let error = issue(create_router(api(), RouterOptions::new().problem_details(true)));
    assert!(
        error.contains("\"sold-out\" is relative, but `problem_details` has no base"),
        "{error}"
    );
    // Each of the two relative types is reported once, at the enum's line.
    assert_eq!(error.matches("is relative").count(), 2, "{error}");
    let source = include_str!("problems.rs");
    let line = source.lines().position(|line| line.starts_with("enum OrderError")).unwrap() + 1;
    assert!(error.contains(&format!("problems.rs:{line})")), "{error}");
    // An absolute type does not need a base. Without problem details, no type
    // does.
    let locked = || routes! { "a": { GET: async || Err::<(), _>(Locked) } };
    let absolute = app(create_router(locked(), RouterOptions::new().problem_details(true)));
    assert_eq!(body(&absolute, "GET /a")["type"], "https://bank.example/locked");
    with(RouterOptions::new());
}

#[test]
fn a_malformed_base_is_a_configuration_error_with_its_line() {
    for base in ["", "/problems/", "shop.example/", "https://shop.example/problems", "https://a/é/"]
    {
        let error = issue(create_router(api(), RouterOptions::new().problem_details(base)));
        assert!(error.starts_with("problem_details: the base of problem types"), "{error}");
        assert!(error.contains("problems.rs:"), "{error}");
        assert!(!error.contains("is relative"), "{error}");
    }
}

#[test]
fn files_have_the_base_as_text() {
    let read = |text: &str| stockade::serde_json::from_str::<RouterOptions>(text);
    for file in [
        r#"{ "problemDetails": "https://shop.example/problems/" }"#,
        r#"{ "problem_details": "https://shop.example/problems/" }"#,
    ] {
        let app = with(read(file).unwrap());
        assert_eq!(body(&app, "POST /orders/sold")["type"], format!("{BASE}sold-out"));
    }
    let off = with(read(r#"{ "problemDetails": false }"#).unwrap());
    check(&off, "GET /nowhere", r#"404 {"error":"Not Found"}"#);
    let on = create_router(RouteTree::new(), read(r#"{ "problemDetails": true }"#).unwrap());
    assert_eq!(body(&app(on), "GET /nowhere")["type"], "about:blank");
    let error = read(r#"{ "problemDetails": 7 }"#).unwrap_err().to_string();
    assert!(error.contains("expected true, false, or the base of problem types"), "{error}");
}

#[test]
fn one_type_has_one_set_of_members() {
    #[derive(ApiError, Debug)]
    enum Other {
        #[status(410, "gone", type = "sold-out")]
        Gone {
            #[member]
            since: u32,
        },
    }
    async fn other() -> Result<(), Other> {
        Err(Other::Gone { since: 7 })
    }
    let api = routes! { "a/:case": { POST: order }, "b": { POST: other } };
    let error = issue(create_router(api, RouterOptions::new()));
    assert!(
        error.contains("the problem type \"sold-out\" does not have the same members as at"),
        "{error}"
    );
}

#[test]
fn hand_written_descriptions_are_checked() {
    use stockade::RouteDescription;
    use stockade::description::{ProblemDoc, ResponseDoc};

    for (uri, member, part) in [
        ("a b", "sku", "percent-encode"),
        ("/x", "sku", "begins with `/`"),
        ("", "sku", "is empty"),
        ("x", "status", "is reserved in error bodies"),
        ("x", "a-b", "must be a letter"),
    ] {
        let described =
            Middleware::new(|_: &mut Request| {}).describing(move |doc: &mut RouteDescription| {
                let problem = ProblemDoc::new(uri).member::<String>(member);
                doc.responds(ResponseDoc::error(409).problem(problem));
            });
        let api = routes! { "a": { GET: { async || "a", middleware: [described] } } };
        let error = issue(create_router(api, RouterOptions::new()));
        assert!(error.contains(part) && error.contains("problems.rs:"), "{error}");
    }
}

#[test]
fn a_manually_set_type_is_sent_if_it_is_valid() {
    let fails = |uri: &'static str| {
        let handler = move || async move {
            Err::<(), _>(ApiError::new(409, "no").with_problem_type(uri).with_member("type", "own"))
        };
        routes! { "a": { GET: handler } }
    };
    let sent = |uri, options| body(&app(create_router(fails(uri), options)), "GET /a");
    // A member named `type` replaces the problem type.
    assert_eq!(sent("sold-out", RouterOptions::new().problem_details(BASE))["type"], "own");
    let plain = |uri: &'static str| {
        let handler =
            move || async move { Err::<(), _>(ApiError::new(409, "").with_problem_type(uri)) };
        let tree = routes! { "a": { GET: handler } };
        let options = RouterOptions::new().problem_details(ProblemDetails::new());
        body(&app(create_router(tree, options)), "GET /a")["type"].clone()
    };
    assert_eq!(plain("sold-out"), "about:blank");
    assert_eq!(plain("urn:x:y"), "urn:x:y");
}

#[test]
fn error_functions_receive_type_and_members() {
    fn envelope(error: &mut ErrorReply) {
        let names: Vec<&str> = error.members().map(|(name, _)| name).collect();
        error.set_json(json!([error.problem_type(), names]));
    }
    let app = with(RouterOptions::new().problem_details(BASE).error_handling(envelope));
    check(&app, "POST /orders/sold", r#"409 ["https://shop.example/problems/sold-out",["sku"]]"#);
    check(&app, "POST /orders/down", r#"503 ["https://shop.example/problems/maintenance",[]]"#);

    fn gone(error: &mut ErrorReply) {
        error.set_status(StatusCode::GONE);
    }
    let options = || RouterOptions::new().problem_details(BASE).error_handling(gone);
    // The framework's type follows the status, and 410 does not have one. A
    // custom type stays.
    let app = with(options());
    assert_eq!(body(&app, "GET /nowhere")["type"], "about:blank");
    assert_eq!(body(&app, "POST /orders/sold")["type"], format!("{BASE}sold-out"));
}

#[test]
fn json_rpc_has_type_and_members_in_its_data() {
    let rpc = Rpc::new().method("order", async || {
        Err::<(), _>(OrderError::SoldOut { sku: "7".into(), restocked_on: None })
    });
    let options = RouterOptions::new().problem_details(BASE);
    let app = app(create_router(routes! { "rpc": { ..rpc.routes() } }, options));
    let request = "POST /rpc\ncontent-type: application/json\n\n\
                   {\"jsonrpc\":\"2.0\",\"method\":\"order\",\"id\":1}";
    let data = body(&app, request)["error"]["data"].take();
    let expected = json!({ "status": 409, "type": format!("{BASE}sold-out"), "sku": "7" });
    assert_eq!(data, expected);
}

struct Query;

#[gql::Object(crate = "gql")]
impl Query {
    async fn order(&self) -> gql::Result<i32> {
        let error = OrderError::SoldOut { sku: "7".into(), restocked_on: None };
        Err(ApiError::from(error).with_member("code", "FORGED"))?
    }
}

#[test]
fn graphql_has_type_and_members_in_its_extensions() {
    let engine = gql::Schema::build(Query, gql::EmptyMutation, gql::EmptySubscription);
    let options = RouterOptions::new().problem_details(BASE);
    let tree = routes! { "graphql": { ..GraphQl::new(engine).routes() } };
    let app = app(create_router(tree, options));
    let request = "POST /graphql\ncontent-type: application/json\n\n{\"query\":\"{ order }\"}";
    let extensions = body(&app, request)["errors"][0]["extensions"].take();
    assert_eq!(extensions["type"], format!("{BASE}sold-out"));
    assert_eq!((&extensions["sku"], &extensions["code"]), (&json!("7"), &json!("CONFLICT")));
}

fn document(app: &App) -> Value {
    open_api(app, &OpenApiOptions::new("Shop", "1")).unwrap()
}

#[test]
fn each_type_is_a_component_and_several_are_one_of_them() {
    let document = document(&based());
    let schemas = &document["components"]["schemas"];
    let sold = &schemas["SoldOutProblem"];
    assert_eq!(sold["properties"]["type"]["const"], format!("{BASE}sold-out"));
    assert_eq!(sold["properties"]["sku"]["type"], "string");
    assert_eq!(sold["required"], json!(["type", "title", "status", "sku"]));
    assert!(sold["properties"].get("restockedOn").is_some());
    assert!(schemas["MaintenanceProblem"]["properties"].get("host").is_none());

    let response = &document["paths"]["/orders/{case}"]["post"]["responses"]["409"];
    let place = response["$ref"].as_str().unwrap().trim_start_matches('#');
    let content = &document.pointer(place).unwrap()["content"]["application/problem+json"];
    let refs = json!([
        { "$ref": "#/components/schemas/SoldOutProblem" },
        { "$ref": "#/components/schemas/LockedProblem" },
    ]);
    assert_eq!(content["schema"]["oneOf"], refs);
    // The fields of a failed validation are described.
    let errors = &schemas["ValidationFailedProblem"]["properties"]["details"]["properties"];
    assert_eq!(errors["errors"]["items"]["required"], json!(["field", "message", "rule"]));
}

#[test]
fn the_plain_body_documents_only_members() {
    let document = document(&with(RouterOptions::new()));
    let schemas = &document["components"]["schemas"];
    let sold = &schemas["SoldOutError"];
    assert_eq!(sold["required"], json!(["error", "sku"]));
    assert!(sold["properties"].get("type").is_none());
    assert!(schemas.get("LockedError").is_none());
}

#[test]
fn a_type_with_the_name_of_a_problem_keeps_it() {
    mod taken {
        #[derive(serde::Serialize, stockade::prelude::Schema)]
        pub struct SoldOutProblem {
            pub shelf: super::Shelf,
        }
    }
    let reply = async || Json(taken::SoldOutProblem { shelf: Shelf { row: 7 } });
    let tree = routes! { "a": { GET: reply }, "orders/:case": { POST: order } };
    let document = document(&app(create_router(tree, RouterOptions::new().problem_details(BASE))));
    let schemas = &document["components"]["schemas"];
    assert_eq!(schemas["SoldOutProblem"]["required"], json!(["shelf"]));
    assert_eq!(schemas["SoldOutProblem2"]["required"], json!(["type", "title", "status", "sku"]));
}

/// Returns the ids of the changes between two routers, and whether one breaks
/// clients.
fn changes(old: Router, new: Router) -> (Vec<&'static str>, bool) {
    let lock = |router: Router| Lock::of(&router.build().unwrap().route_map()).unwrap();
    let (old, new) = (lock(old), lock(new));
    // The lock file must contain everything that is compared.
    let old = Lock::read(&old.to_string()).unwrap();
    let changes = old.changes_to(&new, SystemTime::UNIX_EPOCH);
    (changes.iter().map(|change| change.rule.id).collect(), changes.is_breaking())
}

#[test]
fn locks_contain_custom_and_built_in_types() {
    #[derive(ApiError, Debug)]
    #[status(409, "no", type = "sold-out")]
    struct Plain;
    #[derive(ApiError, Debug)]
    #[status(409, "no", type = "out-of-stock")]
    struct Renamed;
    #[derive(ApiError, Debug)]
    #[status(409, "no", type = "sold-out")]
    struct WithMember {
        #[member]
        shelf: Option<u32>,
    }
    fn router<E: stockade::reply::IntoError + Send + 'static>(base: &str) -> Router {
        async fn fails<E>() -> Result<(), E> {
            Ok(())
        }
        let options = RouterOptions::new().problem_details(base).rate_limit(false);
        create_router(routes! { "a": { GET: fails::<E> } }, options)
    }
    let _ = (Plain, Renamed, WithMember { shelf: None });
    let renamed = changes(router::<Plain>(BASE), router::<Renamed>(BASE));
    assert_eq!(renamed, (vec!["problem-type-removed", "problem-type-added"], true));
    // An added member does not break clients. A removed member does.
    let more = changes(router::<Plain>(BASE), router::<WithMember>(BASE));
    assert_eq!(more, (vec!["reply-field-added"], false));
    let less = changes(router::<WithMember>(BASE), router::<Plain>(BASE));
    assert_eq!(less, (vec!["reply-field-removed"], true));
    // The base of the framework's type for 500 changes too.
    let (ids, is_breaking) = changes(router::<Plain>(BASE), router::<Plain>("https://b.example/"));
    assert!(is_breaking && ids.iter().filter(|id| **id == "problem-type-removed").count() == 2);
    let same = changes(router::<Plain>(BASE), router::<Plain>(BASE));
    assert_eq!(same, (vec![], false));
    let removed = RULES.iter().find(|rule| rule.id == "problem-type-removed").unwrap();
    assert_eq!(removed.class(), "breaking");
}

#[test]
fn hostile_values_of_members_stay_values() {
    let app = {
        let tree = routes! {
            "a/:sku": {
                GET: async |Path(sku): Path<String>| {
                    Err::<(), _>(OrderError::SoldOut { sku, restocked_on: None })
                },
            },
        };
        app(create_router(tree, RouterOptions::new().problem_details(BASE)))
    };
    let body = body(&app, "GET /a/%22%2C%22type%22%3A%22x");
    assert_eq!(body["type"], format!("{BASE}sold-out"));
    assert_eq!(body["sku"], "\",\"type\":\"x");
}
