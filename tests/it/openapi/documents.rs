//! Statements about whole documents, read as other tools read them.

use serde_json::json;
use stockade::middleware::health::Readiness;
use stockade::middleware::{InputRule, with_input_validation};
use stockade::openapi::{OpenApiOptions, open_api, with_open_api};
use stockade::prelude::*;
use stockade::routing::health_routes;
use stockade::testing::TestClient;
use stockade::validation::Unchecked;

use crate::support::command;

fn options() -> OpenApiOptions {
    OpenApiOptions::new("Shop", "1.4.0")
}

fn app(api: RouteTree) -> App {
    create_router(api, RouterOptions::new()).build().unwrap()
}

fn document(api: RouteTree) -> Value {
    open_api(&app(api), &options()).unwrap()
}

#[derive(serde::Deserialize, Schema)]
struct Address {
    city: String,
}

#[derive(serde::Deserialize, Schema)]
struct Person {
    name: String,
    address: Address,
}

#[derive(serde::Deserialize, Schema)]
struct Letter {
    email: String,
    address: Option<Address>,
}

fn media_types(body: &Value) -> Vec<&str> {
    let content = body["content"].as_object().unwrap();
    content.keys().map(String::as_str).collect()
}

#[tokio::test]
async fn lists_forms_only_for_bodies_that_a_form_can_contain() {
    let api = || {
        routes! {
            "people": { POST: async |Body(it): Body<Person>| it.name + &it.address.city },
            "letters": { POST: async |Body(it): Body<Letter>| it.email + &it.address.map(|it| it.city).unwrap_or_default() },
        }
    };
    let document = document(api());
    let body = |path: &str| &document["paths"][path]["post"]["requestBody"];
    assert_eq!(media_types(body("/people")), ["application/json"]);
    let both = ["application/json", "application/x-www-form-urlencoded"];
    assert_eq!(media_types(body("/letters")), both);

    let client = TestClient::new(app(api()));
    let form = async |path: &str, body: &'static str| {
        let request = client.request(Method::POST, path);
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        request.body(body).await.status()
    };
    assert_eq!(form("/people", "name=ann&address=x").await, 400);
    assert_eq!(form("/letters", "email=a").await, 200);
}

#[tokio::test]
async fn a_body_has_all_schemas_that_check_it() {
    let email = || with_input_validation([("email", InputRule::new().required())]);
    let api = || {
        routes! {
            "any": { POST: { async |_: Body<Unchecked<Value>>| (), middleware: [email()] } },
            "typed": { POST: { async |Body(it): Body<Letter>| it.email, middleware: [email()] } },
        }
    };
    let document = document(api());
    let content = |path: &str| &document["paths"][path]["post"]["requestBody"]["content"];
    let any = &content("/any")["application/json"]["schema"];
    assert_eq!(any["required"], json!(["email"]));
    assert!(content("/any").get("text/plain").is_none(), "{document}");
    let typed = &content("/typed")["application/json"]["schema"]["allOf"];
    assert_eq!(typed[0], json!({ "$ref": "#/components/schemas/Letter" }));
    assert_eq!(typed[1]["required"], json!(["email"]));

    // The middleware returns its errors as text.
    let refused = TestClient::new(app(api())).post("/typed").json(json!({})).await;
    assert_eq!(refused.assert_status(400).json::<Value>()["details"], json!(["email is required"]));
    let told = &document["paths"]["/typed"]["post"]["responses"]["400"]["$ref"];
    assert_eq!(told, "#/components/responses/BadRequest");
    let told = &document["components"]["responses"]["BadRequest"]["content"];
    let told = &told["application/json"]["schema"]["anyOf"];
    assert!(told.as_array().unwrap().contains(&json!({ "$ref": "#/components/schemas/Error" })));
}

#[tokio::test]
async fn a_parameter_documents_rejected_characters() {
    let api = || routes! { "help": { ":topic": { GET: async |Path(it): Path<String>| it } } };
    let parameter = &document(api())["paths"]["/help/{topic}"]["get"]["parameters"][0];
    let expected =
        json!({ "type": "string", "minLength": 1, "pattern": r"^[^\u0000-\u001F\u007F]*$" });
    assert_eq!(parameter["schema"], expected);

    let client = TestClient::new(app(api()));
    for (path, status) in
        [("/help/a%09", 400), ("/help/a%7F", 400), ("/help/a%5C", 200), ("/help/a%C2%8C", 200)]
    {
        client.get(path).await.assert_status(status);
    }
}

#[test]
fn a_served_document_keeps_the_groups_of_its_routes() {
    let api = routes! { "api": { "users": { GET: async || "x" }, "tags": { GET: async || "x" } } };
    let router = create_router(api, RouterOptions::new());
    let app = with_open_api(router, options().public("a test")).build().unwrap();
    let document = open_api(&app, &options()).unwrap();
    assert_eq!(document["tags"], json!([{ "name": "users" }, { "name": "tags" }]));
}

#[test]
fn only_the_bearer_scheme_has_a_token_format() {
    let auth = || Auth::secret(Secret::new("a secret of thirty-two bytes or more").unwrap());
    let schemes = |auth: Auth| {
        let api = routes! { "me": { GET: { async || "x", middleware: [with_auth(auth)] } } };
        document(api)["components"]["securitySchemes"].clone()
    };
    assert_eq!(schemes(auth())["bearer"]["bearerFormat"], "JWT");
    let token = &schemes(auth().scheme("Token"))["token"];
    assert_eq!((&token["scheme"], token.get("bearerFormat")), (&json!("token"), None));
}

#[test]
fn servers_are_marked_as_internal_or_not() {
    let api = || routes! { "x": { GET: async || "x" } };
    assert_eq!(document(api())["servers"], json!([{ "url": "/", "x-internal": false }]));
    let options = options().server("https://intern.example").internal_servers(true);
    let document = open_api(&app(api()), &options).unwrap();
    let expected = json!([{ "url": "https://intern.example", "x-internal": true }]);
    assert_eq!(document["servers"], expected);
}

#[test]
fn the_spectral_rules_accept_documented_exceptions() {
    let api = routes! {
        ..health_routes(),
        "chat": { ws: async |_: WebSocket| {} },
        "login": { POST: { async || "x", public: "it issues the token" } },
        "a~b": { ":id": { DELETE: { async || "x", public: "a test" } } },
        "users": { POST: async || "x" },
    };
    let ruleset = |api| {
        let router = create_router(api, RouterOptions::new().enable_web_sockets(true));
        let app = router.open_api(options()).state(Readiness::new()).build().unwrap();
        command(&app, ["openapi", "--ruleset"]).unwrap().unwrap()
    };
    let rules = serde_json::from_str::<Value>(&ruleset(api)).unwrap();
    assert_eq!(rules["extends"], json!(["@stoplight/spectral-owasp-ruleset"]));
    let files = rules["overrides"].as_array().unwrap().iter().map(|it| &it["files"][0]);
    let files: Vec<&Value> = files.collect();
    let expected = [
        "**#/paths/~1health~1live/get",
        "**#/paths/~1health~1ready/get",
        "**#/paths/~1chat/get",
        "**#/paths/~1login/post",
        "**#/paths/~1a~0b~1%7Bid%7D/delete",
    ];
    assert_eq!(files, expected);
    let public = json!({
        "owasp:api2:2023-write-restricted": "off",
        "owasp:api2:2023-read-restricted": "off",
    });
    let mut health = public.clone();
    health["owasp:api4:2023-rate-limit"] = json!("off");
    assert_eq!(rules["overrides"][0]["rules"], health);
    assert_eq!(rules["overrides"][3]["rules"], public);
    let handshake = json!({ "owasp:api8:2023-define-cors-origin": "off" });
    assert_eq!(rules["overrides"][2]["rules"], handshake);
    let none = ruleset(routes! { "x": { GET: async || "x" } });
    assert!(!none.contains("overrides"), "{none}");
}

mod taken {
    use serde::{Deserialize, Serialize};
    use stockade::prelude::*;

    #[derive(Deserialize, Serialize, Schema)]
    pub struct Error {
        pub line: u32,
    }

    #[derive(Deserialize, Serialize, Schema)]
    pub struct ValidationError {
        pub checked: bool,
    }

    #[derive(Deserialize, Serialize, Schema)]
    pub struct Problem {
        pub sum: String,
    }

    #[derive(Deserialize, Serialize, Schema)]
    pub struct ApiError {
        pub of: String,
    }
}

#[test]
fn types_with_names_of_errors_keep_their_names() {
    let document = |problem_details: bool| {
        let api = routes! {
            "errors": { POST: async |Body(it): Body<taken::Error>| Json(it) },
            "checks": { POST: async |Body(it): Body<taken::ValidationError>| Json(it) },
            "problems": { POST: async |Body(it): Body<taken::Problem>| Json(it) },
            "others": { POST: async |Body(it): Body<taken::ApiError>| Json(it) },
        };
        let options = RouterOptions::new().problem_details(problem_details);
        open_api(&create_router(api, options).build().unwrap(), &self::options()).unwrap()
    };
    let required =
        |document: &Value, name: &str| document["components"]["schemas"][name]["required"].clone();
    let pointed = |document: &Value, status: &str| {
        let response = &document["paths"]["/errors"]["post"]["responses"][status];
        let shared = response["$ref"].as_str().map(|place| place.trim_start_matches('#'));
        let response = shared.map_or(response, |place| document.pointer(place).unwrap());
        let content = response["content"].as_object().unwrap();
        let schema = &content.values().next().unwrap()["schema"]["$ref"];
        schema.as_str().unwrap().rsplit('/').next().unwrap().to_owned()
    };

    let plain = document(false);
    for (name, field) in [("Error", "line"), ("ValidationError", "checked"), ("ApiError", "of")] {
        assert_eq!(required(&plain, name), json!([field]), "{name}");
    }
    assert_eq!(required(&plain, "ApiError2"), json!(["error"]));
    assert_eq!(required(&plain, "ApiValidationError"), json!(["error"]));
    assert_eq!(pointed(&plain, "200"), "Error");
    assert_eq!(pointed(&plain, "500"), "ApiError2");
    assert_eq!(pointed(&plain, "400"), "ApiValidationError");

    let problems = document(true);
    assert_eq!(required(&problems, "Error"), json!(["line"]));
    assert_eq!(required(&problems, "Problem"), json!(["sum"]));
    assert_eq!(required(&problems, "ApiProblem"), json!(["type", "title", "status"]));
    assert_eq!(pointed(&problems, "400"), "ApiProblem");
    assert!(problems["components"]["schemas"].get("ApiError2").is_none());
}
