//! Validation on a route: route options, middleware and handler types.
// Spec: Validation schemas; Middleware helpers; Errors › Statuses.

use std::panic::Location;

use serde::{Deserialize, Serialize};
use stockade::middleware::{
    InputRule, InputType, with_input_validation, with_params_validation, with_query_validation,
    with_validation,
};
use stockade::prelude::*;
use stockade::validation::{HasSchema, Rule, ValidationOptions};

use crate::support::{app, app_of, check};

const JSON: &str = "content-type: application/json";
const FORM: &str = "content-type: application/x-www-form-urlencoded";

/// Returns the response to these errors, each `field`, `message` and `rule`.
fn refused(errors: &[[&str; 3]]) -> String {
    let errors: Vec<Value> = errors
        .iter()
        .map(|[field, message, rule]| json!({ "field": field, "message": message, "rule": rule }))
        .collect();
    format!("400 {}", json!({ "error": "Validation failed", "details": { "errors": errors } }))
}

#[test]
fn an_error_has_the_specified_body() {
    let app = app_of(routes! {
        "users": {
            POST: {
                handler: async |Body(user): Body<Value>| user,
                validation: schema!({
                    "email": { "type": "email", "required": true },
                    "age": { "type": "integer", "minimum": 18 },
                    "role": { "type": "string", "default": "reader" },
                }),
            },
        },
    });
    check(
        &app,
        &format!("POST /users\n{JSON}\n\n{{\"age\":17,\"email\":\"ada\"}}"),
        r#"400 {"error":"Validation failed","details":{"errors":[{"field":"email","message":"Invalid email format","rule":"email"},{"field":"age","message":"Number must be at least 18","rule":"minimum"}]}}"#,
    );
    check(
        &app,
        &format!("POST /users\n{JSON}\n\n{{\"email\":\"ada@example.org\",\"x\":1}}"),
        r#"200 {"email":"ada@example.org","role":"reader","x":1}"#,
    );
}

#[test]
fn validates_parameters_then_query_then_body() {
    let positive = || schema!({ "n": { "type": "integer", "minimum": 1 } });
    let app = app_of(routes! {
        ":n": {
            POST: {
                handler: async |req: Request| json!([req.param_values(), req.query().unwrap()]),
                params: positive(),
                query: positive(),
                validation: positive(),
            },
        },
    });
    let post = |target: &str, n: i32| format!("POST {target}\n{JSON}\n\n{{\"n\":{n}}}");
    let failure = refused(&[["n", "Number must be at least 1", "minimum"]]);
    let text = refused(&[["n", "Expected integer, got string", "type"]]);
    check(&app, &post("/x?n=0", 0), &text);
    check(&app, &post("/1?n=x", 0), &text);
    check(&app, &post("/1?n=1", 0), &failure);
    check(&app, &post("/7?n=8", 1), r#"200 [{"n":7},{"n":8}]"#);
}

#[derive(Deserialize, Serialize, Schema)]
struct NewUser {
    #[schema(trim, min_length = 2)]
    name: String,
    #[schema(kind = "email")]
    email: Option<String>,
    #[schema(max_items = 2)]
    #[serde(default)]
    tags: Vec<String>,
}

#[derive(Deserialize, Serialize, Schema)]
struct Page {
    #[schema(minimum = 1, default = 1)]
    page: u32,
    #[serde(default)]
    only: Vec<String>,
}

#[derive(Deserialize, Serialize, Schema)]
struct Place {
    #[schema(pattern = "^[a-z]+$")]
    city: String,
    #[schema(maximum = 9)]
    hall: u8,
}

fn typed() -> App {
    app_of(routes! {
        "users": { POST: async |Body(user): Body<NewUser>| user },
        "list": { GET: async |Query(page): Query<Page>| page },
        ":city": { "halls": { ":hall": {
            GET: async |Path(place): Path<Place>| place,
            // The checks do not follow the order of the arguments.
            POST: async |_: Body<NewUser>, _: Query<Page>, Path(place): Path<Place>| place,
        } } },
        "one": { ":n": { GET: async |Path(n): Path<u8>| n.to_string() } },
        "two": { ":a-:b": { GET: async |Path((a, b)): Path<(u8, String)>| format!("{a} {b}") } },
        "wide": {
            ":n": { GET: async |Path(n): Path<i64>| n.to_string() },
            ":a-:b": { GET: async |Path((a, b)): Path<(String, i64)>| format!("{a} {b}") },
        },
    })
}

#[test]
fn bodies_are_checked_by_the_schema_of_their_type() {
    let app = typed();
    let post = |body: &str| format!("POST /users\n{JSON}\n\n{body}");
    check(&app, &post(r#"{"name":" Ada "}"#), r#"200 {"name":"Ada","email":null,"tags":[]}"#);
    check(
        &app,
        &post(r#"{"email":"x","name":" A ","tags":["a","b","c"]}"#),
        &refused(&[
            ["name", "String must be at least 2 characters", "minLength"],
            ["email", "Invalid email format", "email"],
            ["tags", "Array must contain at most 2 items", "maxItems"],
        ]),
    );
    check(&app, &post("{}"), &refused(&[["name", "Required field 'name' is missing", "required"]]));
    check(&app, &post("[]"), &refused(&[["", "Expected object, got array", "type"]]));
    check(&app, &post("{"), r#"400 {"error":"Invalid JSON body"}"#);
    check(&app, &post(""), r#"400 {"error":"Request body is required"}"#);
    check(
        &app,
        &post(r#"{"name":"Ada","tags":[1]}"#),
        &refused(&[["tags[0]", "Expected string, got number", "type"]]),
    );
    check(
        &app,
        &format!("POST /users\n{FORM}\n\nname=+Ada+&tags=a&tags=b"),
        r#"200 {"name":"Ada","email":null,"tags":["a","b"]}"#,
    );
    check(
        &app,
        &format!("POST /users\n{FORM}\n\nname=A&tags=a"),
        &refused(&[["name", "String must be at least 2 characters", "minLength"]]),
    );
}

#[test]
fn queries_are_checked_by_the_schema_of_their_type() {
    let app = typed();
    check(&app, "GET /list", r#"200 {"page":1,"only":[]}"#);
    check(&app, "GET /list?page=7&only=a", r#"200 {"page":7,"only":["a"]}"#);
    check(&app, "GET /list?only=a&only=b", r#"200 {"page":1,"only":["a","b"]}"#);
    check(&app, "GET /list?page=0", &refused(&[["page", "Number must be at least 1", "minimum"]]));
    check(&app, "GET /list?page=x", &refused(&[["page", "Expected integer, got string", "type"]]));
}

#[test]
fn parameters_are_checked_by_the_schema_of_their_type() {
    let app = typed();
    check(&app, "GET /rome/halls/9", r#"200 {"city":"rome","hall":9}"#);
    check(
        &app,
        "GET /Rome/halls/10",
        &refused(&[
            ["city", "Invalid format", "pattern"],
            ["hall", "Number must be at most 9", "maximum"],
        ]),
    );
    check(&app, "GET /one/255", "200 255");
    check(&app, "GET /one/256", &refused(&[["n", "Number must be at most 255", "maximum"]]));
    check(&app, "GET /one/x", &refused(&[["n", "Expected integer, got string", "type"]]));
    check(&app, "GET /two/7-x", "200 7 x");
    check(&app, "GET /two/y-x", &refused(&[["a", "Expected integer, got string", "type"]]));

    // Integers at the limits of their type.
    let message = "Number must be at most 9223372036854775807";
    let beyond = |name| refused(&[[name, message, "maximum"]]);
    check(&app, "GET /wide/9223372036854775807", "200 9223372036854775807");
    check(&app, "GET /wide/9223372036854775808", &beyond("n"));
    check(&app, "GET /wide/x-9223372036854775808", &beyond("b"));
}

#[test]
fn reports_the_first_failing_source_of_the_handler_types() {
    let app = typed();
    let post = |target: &str, body: &str| format!("POST {target}\n{JSON}\n\n{body}");
    let hall = refused(&[["hall", "Expected integer, got string", "type"]]);
    let page = refused(&[["page", "Number must be at least 1", "minimum"]]);
    let name = refused(&[["name", "Required field 'name' is missing", "required"]]);
    check(&app, &post("/rome/halls/x?page=0", "{}"), &hall);
    check(&app, &post("/rome/halls/1?page=0", "{}"), &page);
    check(&app, &post("/rome/halls/1?page=1", "{}"), &name);
}

#[test]
fn the_options_of_a_route_apply_to_all_its_schemas() {
    let strict = || ValidationOptions::new().abort_early(true).allow_unknown(false);
    let app = app_of(routes! {
        "typed": { POST: { handler: async |Body(user): Body<NewUser>| user, validation_options: strict() } },
        "entry": {
            POST: {
                handler: async |Body(body): Body<Value>| body,
                validation: schema!({ "a": { "type": "string" }, "b": { "type": "string" } }),
                validation_options: ValidationOptions::new().strip_unknown(true).coerce_types(true),
            },
        },
    });
    let post = |target: &str, body: &str| format!("POST {target}\n{JSON}\n\n{body}");
    check(
        &app,
        &post("/typed", r#"{"name":"A","x":1,"email":""}"#),
        &refused(&[["name", "String must be at least 2 characters", "minLength"]]),
    );
    check(
        &app,
        &post("/typed", r#"{"name":"Ada","x":1}"#),
        &refused(&[["x", "Unknown field 'x'", "additionalProperties"]]),
    );
    check(&app, &post("/entry", r#"{"x":1,"b":"2"}"#), r#"200 {"b":"2"}"#);
}

#[test]
fn middleware_validates_and_writes_back() {
    let mut router = Router::new();
    router
        .post("/:id", async |mut req: Request| {
            let body = req.body().await?.clone();
            Ok::<_, ApiError>(json!([req.param_values(), req.query()?, body]))
        })
        .middleware([
            Middleware::new(with_params_validation(schema!({ "id": { "type": "integer" } }))),
            Middleware::new(with_query_validation(
                schema!({ "all": { "type": "boolean" }, "tag": { "type": "array" } }),
            )),
            Middleware::new(
                with_validation(schema!({ "n": { "type": "number", "default": 3 } }))
                    .options(ValidationOptions::new().strip_unknown(true)),
            ),
        ]);
    let app = app(router);
    check(
        &app,
        &format!("POST /7?all=true&tag=a&x=1\n{JSON}\n\n{{\"y\":1}}"),
        r#"200 [{"id":7},{"all":true,"tag":["a"],"x":"1"},{"n":3}]"#,
    );
    let post = |target: &str, body: &str| format!("POST {target}\n{JSON}\n\n{body}");
    check(&app, &post("/x", "{}"), &refused(&[["id", "Expected integer, got string", "type"]]));
    check(
        &app,
        &post("/7?all=yes", "{}"),
        &refused(&[["all", "Expected boolean, got string", "type"]]),
    );
    check(
        &app,
        &post("/7", r#"{"n":"1"}"#),
        &refused(&[["n", "Expected number, got string", "type"]]),
    );
}

#[test]
fn typed_arguments_receive_the_validated_data() {
    let app = app_of(routes! {
        ":name": {
            GET: {
                handler: async |Path(name): Path<String>, Query(page): Query<Page>| json!([name, page]),
                params: schema!({ "name": { "type": "string", "trim": true } }),
                query: schema!({ "page": { "type": "integer", "default": 5 } }),
            },
        },
    });
    check(&app, "GET /%20ada%20", r#"200 ["ada",{"page":5,"only":[]}]"#);
}

#[test]
fn input_validation_has_the_messages_of_the_specification() {
    let mut router = Router::new();
    router.post("/x", async |Body(body): Body<Value>| body).middleware(with_input_validation([
        ("name", InputRule::new().required().kind(InputType::String).min_length(2)),
        ("zip", InputRule::new().kind(InputType::String).max_length(5).pattern("^[0-9]+$")),
    ]));
    let app = app(router);
    let post = |body: &str| format!("POST /x\n{JSON}\n\n{body}");
    check(
        &app,
        &post(r#"{"zip":"12345a"}"#),
        r#"400 {"error":"Validation failed","details":["name is required","zip must be at most 5 characters","zip format is invalid"]}"#,
    );
    check(
        &app,
        &post(r#"{"name":7}"#),
        r#"400 {"error":"Validation failed","details":["name must be of type string"]}"#,
    );
    check(&app, &post(r#"{"name":"Ada","zip":"1"}"#), r#"200 {"name":"Ada","zip":"1"}"#);
}

#[test]
fn the_build_reports_errors_in_schemas() {
    let line = Location::caller().line();
    let api = routes! {
        "x": {
            POST: {
                handler: async || (),
                validation: json!({ "n": { "type": "integer", "minimun": 1 } }),
                query: json!({ "q": { "type": "text" } }),
            },
            PUT: { handler: async || (), middleware: [with_validation(json!({ "a": { "pattern": "(" } }))] },
        },
    };
    let text = create_router(api, RouterOptions::new()).build().unwrap_err().to_string();
    let file = file!();
    for part in [
        "POST /x: validation: ",
        "`minimum`",
        &format!("({file}:{})", line + 5),
        "POST /x: query: ",
        &format!("({file}:{})", line + 6),
        "PUT /x: with_validation: ",
        &format!("({file}:{})", line + 8),
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn a_parameter_schema_must_match_the_path() {
    let mut router = Router::new();
    router.get("/:id", async || ()).params(schema!({ "ids": { "type": "integer" } }));
    let text = router.build().unwrap_err().to_string();
    assert!(text.contains("params: the path does not have a parameter `ids`"), "{text}");
}

#[test]
fn a_failing_function_is_a_500() {
    let rule = Rule::object([("n", Rule::any().custom(|_, _, _| -> bool { panic!("boom") }))]);
    let app = app_of(routes! { "x": { POST: { handler: async || (), validation: rule } } });
    check(
        &app,
        &format!("POST /x\n{JSON}\n\n{{\"n\":1}}"),
        r#"500 {"error":"Internal Server Error"}"#,
    );
}

#[test]
fn parameters_keep_the_order_of_the_path() {
    let app = app_of(routes! {
        ":from": { ":to": {
            GET: {
                handler: async |Path((a, b)): Path<(String, String)>| format!("{a} {b}"),
                params: schema!({ "to": { "type": "string" }, "from": { "type": "string" } }),
            },
        } },
    });
    check(&app, "GET /A/B", "200 A B");

    let mut router = Router::new();
    let extra = schema!({ "z": { "type": "string", "default": "no" }, "a": { "trim": true } });
    router.get("/x/:a", async |Path(a): Path<String>| a).middleware(with_params_validation(extra));
    router.get("/y/:a?", async |Path(a): Path<Option<String>>| json!(a)).middleware(
        with_params_validation(schema!({ "a": { "type": "string", "nullable": true } })),
    );
    let app = crate::support::app(router);
    check(&app, "GET /x/%20yes", "200 yes");
    check(&app, "GET /y", "200 null");
}

#[test]
fn a_typed_body_is_validated_only_once() {
    #[derive(Deserialize, Schema)]
    struct Shout {
        #[schema(transform = louder)]
        text: String,
    }
    fn louder(value: Value) -> Value {
        format!("{}!", value.as_str().unwrap_or_default()).into()
    }
    let app = app_of(routes! {
        "x": { POST: { handler: async |Body(shout): Body<Shout>| shout.text, validation: Shout::schema() } },
    });
    check(&app, &format!("POST /x\n{JSON}\n\n{{\"text\":\"a\"}}"), "200 a!");
}

#[test]
fn validates_types_of_the_head_before_the_body() {
    let app = app_of(routes! {
        ":id": {
            POST: {
                handler: async |Path(id): Path<u32>, _: Query<Page>| id.to_string(),
                validation: schema!({ "n": { "type": "integer", "required": true } }),
            },
        },
    });
    let post = |target: &str| format!("POST {target}\n{JSON}\n\n{{}}");
    check(&app, &post("/x"), &refused(&[["id", "Expected integer, got string", "type"]]));
    check(&app, &post("/7?page=0"), &refused(&[["page", "Number must be at least 1", "minimum"]]));
    check(&app, &post("/7"), &refused(&[["n", "Required field 'n' is missing", "required"]]));
    // The result does not depend on the error in the body.
    check(
        &app,
        "POST /x\ncontent-type: image/png\n\nx",
        &refused(&[["id", "Expected integer, got string", "type"]]),
    );
}

#[test]
fn converts_text_of_forms_and_text_bodies() {
    #[derive(Deserialize, Schema)]
    struct Age {
        age: u8,
    }
    async fn looks(req: &mut Request) -> Result<(), ApiError> {
        req.body().await.map(drop)
    }
    let app = app_of(routes! {
        middleware: [looks],
        "form": {
            POST: { handler: async |Body(it): Body<Age>| it.age.to_string() },
            PUT: {
                handler: async |mut req: Request| Ok::<_, ApiError>(req.body().await?.clone()),
                validation: schema!({ "age": { "type": "integer" } }),
            },
        },
        "text": { POST: async |Body(age): Body<u32>| age.to_string() },
    });
    check(&app, &format!("POST /form\n{FORM}\n\nage=5"), "200 5");
    check(&app, &format!("PUT /form\n{FORM}\n\nage=5"), r#"200 {"age":5}"#);
    check(&app, "POST /text\ncontent-type: text/plain\n\n5", "200 5");
}

#[test]
fn types_receive_converted_data_unchanged() {
    #[derive(Deserialize, Schema, Serialize)]
    struct Filter {
        #[serde(flatten)]
        page: Page,
        #[schema(kind = "integer")]
        #[serde(default)]
        any: Value,
        #[schema(default = json!([]), transform = same)]
        tags: Vec<String>,
    }
    fn same(value: Value) -> Value {
        value
    }
    let app = app_of(routes! { "x": { GET: async |Query(filter): Query<Filter>| filter } });
    check(&app, "GET /x?page=5", r#"200 {"page":5,"only":[],"any":null,"tags":[]}"#);
    check(&app, "GET /x?any=5&tags=a", r#"200 {"page":1,"only":[],"any":5,"tags":["a"]}"#);
}

#[test]
fn an_invalid_body_remains_available() {
    let strict = schema!({ "n": { "type": "integer" } }).unwrap();
    async fn lenient(req: &mut Request) {
        let schema = schema!({ "n": { "type": "string" } }).unwrap();
        assert!(req.validate_body(&schema, &ValidationOptions::new()).await.is_err());
    }
    let mut router = Router::new();
    router.post("/x", async |Body(body): Body<Value>| body).middleware(lenient).validation(strict);
    check(&app(router), &format!("POST /x\n{JSON}\n\n{{\"n\":1}}"), r#"200 {"n":1}"#);
}

#[test]
fn a_body_schema_of_a_method_without_a_body_is_an_error() {
    let mut router = Router::new();
    router.get("/x", async || ()).validation(Rule::any());
    let text = router.build().unwrap_err().to_string();
    assert!(text.contains("GET /x: `validation` is set, but GET requests have no body"), "{text}");
}
