//! Error messages in the client's language.

use stockade::ErrorReply;
use stockade::graphql::{GraphQl, async_graphql as gql};
use stockade::http::header;
use stockade::i18n::{Catalogs, ENGLISH};
use stockade::middleware::{ErrorHandlerOptions, with_error_handling};
use stockade::openapi::{OpenApiOptions, open_api};
use stockade::prelude::*;
use stockade::rpc::Rpc;
use stockade::testing::TestClient;
use stockade::validation::Rule;
use stockade::{ErrorText, RequestHead};

use crate::support::{app, block_on, check, header_of, request};

#[derive(Debug, ApiError)]
enum OrderError {
    #[status(409, "{sku} is sold out", type = "sold-out")]
    SoldOut {
        #[member]
        sku: String,
    },
    #[status(503, "db-7 is down", type = "maintenance")]
    Down,
}

async fn order(Path(case): Path<String>) -> Result<(), OrderError> {
    match &*case {
        "down" => Err(OrderError::Down),
        _ => Err(OrderError::SoldOut { sku: case }),
    }
}

fn even(value: &Value, _: &str, _: &Value) -> Result<(), ErrorText> {
    let text = ErrorText::new("multiple", "Must be a multiple of 2").param("step", 2);
    if value.as_i64().is_some_and(|it| it % 2 == 0) { Ok(()) } else { Err(text) }
}

fn api() -> RouteTree {
    let count = Rule::integer().required().minimum(2).custom(even);
    let hint = Rule::string().max_length(3).message("color-hint");
    routes! {
        "seats": {
            POST: {
                async || "ok",
                validation: Rule::object([("count", count), ("color", hint)]),
            },
        },
        "orders/:case": { POST: order },
    }
}

const GERMAN: &str = "multiple = Muss durch { $step } teilbar sein\n\
                      color-hint = Höchstens { $limit } Zeichen für die Farbe\n\
                      problem-sold-out = { $sku } ist ausverkauft\n";

fn texts() -> Catalogs {
    Catalogs::builtin().add("de", GERMAN).unwrap()
}

fn options() -> RouterOptions {
    RouterOptions::new().languages(texts()).rate_limit(false).expose_errors(false)
}

fn based() -> App {
    app(create_router(api(), options()))
}

fn seats(languages: &str, body: &str) -> String {
    format!("POST /seats\ncontent-type: application/json\n{languages}\n\n{body}")
}

const LOW: &str = r#"{"count":1}"#;

#[test]
fn messages_of_rules_are_in_the_language_of_the_client() {
    let app = based();
    let german = r#"400 {"error":"Validation failed","details":{"errors":[{"field":"count","message":"Die Zahl muss mindestens 2 sein","rule":"minimum"},{"field":"count","message":"Muss durch 2 teilbar sein","rule":"custom"}]}}"#;
    let english = r#"400 {"error":"Validation failed","details":{"errors":[{"field":"count","message":"Number must be at least 2","rule":"minimum"},{"field":"count","message":"Must be a multiple of 2","rule":"custom"}]}}"#;
    check(&app, &seats("accept-language: de-AT, en;q=0.5", LOW), german);
    check(&app, &seats("accept-language: fr, en;q=0.5", LOW), english);
    check(&app, &seats("x: y", LOW), english);
    // Several header lines form one list.
    check(&app, &seats("accept-language: fr\naccept-language: de", LOW), german);
}

#[test]
fn a_message_of_a_schema_may_be_an_id() {
    let text = seats("accept-language: de", r#"{"count":2,"color":"green"}"#);
    let expected = r#"400 {"error":"Validation failed","details":{"errors":[{"field":"color","message":"Höchstens 3 Zeichen für die Farbe","rule":"maxLength"}]}}"#;
    check(&based(), &text, expected);
}

#[test]
fn problem_texts_can_use_their_members() {
    let app = based();
    let german = r#"409 {"error":"7 ist ausverkauft","sku":"7"}"#;
    check(&app, "POST /orders/7\naccept-language: de", german);
    check(&app, "POST /orders/7", r#"409 {"error":"7 is sold out","sku":"7"}"#);
    // A 5xx hides its message in every language.
    let down = r#"503 {"error":"Service Unavailable"}"#;
    check(&app, "POST /orders/down\naccept-language: de", down);
    // Client input is not interpreted as Fluent and gets no isolation marks.
    let quoted = "409 {\"error\":\"{$sku} ist ausverkauft\",\"sku\":\"{$sku}\"}";
    check(&app, "POST /orders/%7B$sku%7D\naccept-language: de", quoted);
}

#[test]
fn built_in_texts_stay_english() {
    let app = based();
    check(&app, "GET /nowhere\naccept-language: de", r#"404 {"error":"Not Found"}"#);
    let broken = r#"400 {"error":"Invalid JSON body"}"#;
    check(&app, &seats("accept-language: de", "{"), broken);
}

#[test]
fn only_errors_have_the_headers_of_languages() {
    let app = based();
    for (request, language) in [
        ("POST /orders/7\naccept-language: de", "de"),
        ("POST /orders/7", "en"),
        ("GET /nowhere\naccept-language: de", "de"),
        ("DELETE /seats\naccept-language: de", "de"),
        ("POST /orders/down\naccept-language: de", "de"),
    ] {
        assert_eq!(header_of(&app, request, "content-language"), language, "{request}");
        assert_eq!(header_of(&app, request, "vary"), "accept-language", "{request}");
    }
    let fine = seats("accept-language: de", r#"{"count":2}"#);
    assert_eq!(header_of(&app, &fine, "content-language"), "-");
    assert_eq!(header_of(&app, &fine, "vary"), "-");
    let plain = app_without();
    assert_eq!(header_of(&plain, "POST /orders/7\naccept-language: de", "vary"), "-");
}

fn app_without() -> App {
    app(create_router(api(), RouterOptions::new().rate_limit(false)))
}

#[test]
fn vary_keeps_the_names_of_other_stages() {
    let options = options().cors_origin(["https://app.example"]);
    let app = app(create_router(api(), options));
    let text = "POST /orders/7\norigin: https://app.example";
    let response = block_on(app.handle(request(text)));
    let vary: Vec<String> = response
        .headers()
        .get_all(header::VARY)
        .iter()
        .flat_map(|line| line.to_str().unwrap().split(','))
        .map(|name| name.trim().to_ascii_lowercase())
        .collect();
    assert!(vary.contains(&"origin".to_owned()), "{vary:?}");
    assert_eq!(vary.iter().filter(|name| **name == "accept-language").count(), 1, "{vary:?}");
}

#[test]
fn error_functions_get_translated_messages_and_the_language() {
    fn one(error: &mut ErrorReply) {
        let first = error.field_errors().first().map(|it| it.message.to_string());
        error.set_json(json!([error.language(), first]));
    }
    fn two(error: &mut ErrorReply, req: &RequestHead) {
        let wanted = req.headers().get("accept-language").and_then(|it| it.to_str().ok());
        error.set_json(json!([error.language(), wanted]));
    }
    let one = app(create_router(api(), options().error_handling(one)));
    let low = seats("accept-language: de", r#"{"count":0}"#);
    check(&one, &low, r#"400 ["de","Die Zahl muss mindestens 2 sein"]"#);
    check(&one, "GET /nowhere", r#"404 ["en",null]"#);
    let two = app(create_router(api(), options().error_handling(two)));
    check(&two, "POST /orders/7\naccept-language: de;q=0.9", r#"409 ["de","de;q=0.9"]"#);
    check(&two, "GET /nowhere\naccept-language: de", r#"404 ["de","de"]"#);
    // The language is `None` without configured languages.
    fn none(error: &mut ErrorReply) {
        error.set_json(json!(error.language()));
    }
    let none = app(create_router(api(), RouterOptions::new().error_handling(none)));
    check(&none, "GET /nowhere\naccept-language: de", "404 null");
}

#[test]
fn middleware_for_errors_gets_translated_messages() {
    let inner = with_error_handling(ErrorHandlerOptions::new().reply(|error: &mut ErrorReply| {
        error.set_json(json!(error.message()));
    }));
    let tree = routes! { "orders/:case": { middleware: [inner], POST: order } };
    let app = app(create_router(tree, options()));
    check(&app, "POST /orders/7\naccept-language: de", "409 \"7 ist ausverkauft\"");
}

#[test]
fn json_rpc_and_graphql_translate_messages() {
    let rpc =
        Rpc::new().method("order", async || Err::<(), _>(OrderError::SoldOut { sku: "7".into() }));
    let engine = gql::Schema::build(Query, gql::EmptyMutation, gql::EmptySubscription);
    let tree = routes! {
        "rpc": { ..rpc.routes() },
        "graphql": { ..GraphQl::new(engine).routes() },
        "orders/:case": { POST: order },
    };
    let client = TestClient::new(create_router(tree, options()));
    block_on(async {
        let call = json!({ "jsonrpc": "2.0", "method": "order", "id": 1 });
        let answer: Value =
            client.post("/rpc").header("accept-language", "de").json(call).await.json();
        assert_eq!(answer["error"]["message"], "7 ist ausverkauft");
        let query = json!({ "query": "{ order }" });
        let answer: Value =
            client.post("/graphql").header("accept-language", "de").json(query).await.json();
        assert_eq!(answer["errors"][0]["message"], "7 ist ausverkauft");
    });
}

struct Query;

#[gql::Object(crate = "gql")]
impl Query {
    async fn order(&self) -> gql::Result<i32> {
        Err(ApiError::from(OrderError::SoldOut { sku: "7".into() }))?
    }
}

#[track_caller]
fn issue(texts: Catalogs) -> String {
    let options = RouterOptions::new().languages(texts);
    create_router(api(), options).build().unwrap_err().to_string()
}

#[test]
fn missing_texts_fail_the_build() {
    // Reports missing texts for a route's problem types and for texts that
    // another language defines.
    let error = issue(Catalogs::builtin());
    assert!(
        error.contains("the language \"de\" does not have a text for `problem-sold-out`"),
        "{error}"
    );
    assert!(error.contains("languages.rs:"), "{error}");
    // A 5xx is never translated.
    assert!(!error.contains("maintenance"), "{error}");
    let error = issue(texts().add("fr", "minimum = min { $limit }").unwrap());
    for id in ["maximum", "problem-sold-out", "color-hint"] {
        assert!(error.contains(&format!("`{id}`")), "{id}: {error}");
    }
    let wrong = GERMAN.replace("{ $sku }", "{ $product }");
    let error = issue(Catalogs::builtin().add("de", wrong).unwrap());
    assert!(error.contains("the text `problem-sold-out` of \"de\" cannot be formatted"), "{error}");
    assert!(error.contains("its variables are: `$sku`"), "{error}");
}

#[test]
fn another_default_language_is_for_clients_that_accept_no_other() {
    let options = RouterOptions::new().languages(texts().default_language("de").unwrap());
    let app = app(create_router(api(), options));
    check(&app, "POST /orders/7", r#"409 {"error":"7 ist ausverkauft","sku":"7"}"#);
    let english = r#"409 {"error":"7 is sold out","sku":"7"}"#;
    check(&app, "POST /orders/7\naccept-language: en", english);
}

#[test]
fn an_english_catalog_changes_english_messages() {
    let texts = texts().add("en", "minimum = At least { $limit }, please").unwrap();
    let app = app(create_router(api(), RouterOptions::new().languages(texts)));
    let body = block_on(crate::support::call(&app, &seats("x: y", r#"{"count":0}"#)));
    assert!(body.contains("At least 2, please"), "{body}");
}

#[test]
fn tolerates_hostile_headers() {
    let app = based();
    for value in ["*;q=1.1", "de;q=\u{e9}", "-", "de--AT", ";;;,,,", "en;q=0, *"] {
        let text = format!("POST /orders/7\naccept-language: {value}");
        let language = header_of(&app, &text, "content-language");
        assert!(["en", "de"].contains(&&*language), "{value}: {language}");
    }
    let long = format!("POST /orders/7\naccept-language: {}de", "fr,".repeat(2_000));
    assert_eq!(header_of(&app, &long, "content-language"), "en");
    assert_eq!(
        header_of(&app, "POST /orders/7\naccept-language: en;q=0, *", "content-language"),
        "de"
    );
}

#[test]
fn documents_and_the_map_have_the_languages() {
    let app = based();
    assert_eq!(app.route_map().router.languages, ["en", "de"]);
    let document = open_api(&app, &OpenApiOptions::new("Shop", "1")).unwrap();
    let response = &document["paths"]["/orders/{case}"]["post"]["responses"]["409"];
    let place = response["$ref"].as_str().unwrap().trim_start_matches('#');
    let headers = &document.pointer(place).unwrap()["headers"];
    assert!(
        headers.get("Content-Language").is_some() && headers.get("Vary").is_some(),
        "{headers}"
    );
    let success = &document["paths"]["/seats"]["post"]["responses"]["200"];
    assert!(success["headers"].get("Content-Language").is_none());
    // Translated responses still match the document.
    let client = TestClient::new(create_router(api(), options())).with_contract();
    block_on(async {
        client.post("/orders/7").header("accept-language", "de").await.assert_status(409);
        client.post("/seats").json(json!({ "count": 1 })).await.assert_status(400);
        client.post("/seats").json(json!({ "count": 2 })).await.assert_status(200);
        client.get("/nowhere").await.assert_status(404);
    });
}

#[test]
fn templates_of_translators_are_complete() {
    let texts = texts().add("fr", format!("{ENGLISH}\n{GERMAN}")).unwrap();
    create_router(api(), RouterOptions::new().languages(texts)).build().unwrap();
}
