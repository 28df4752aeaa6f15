//! Custom error format: `error_handling` of a router, a group, a node or a
//! route takes a function that changes the error response.
// Spec: Errors › Response rules.

use stockade::errors::ErrorKind;
use stockade::middleware::{ErrorHandlerOptions, error_of, with_error_handling};
use stockade::prelude::*;
use stockade::{ErrorReply, HttpBody};

use crate::support::log;
use crate::support::{app, block_on, check, header_of, request};

/// Formats errors like Conduit: `{"errors": {"email": ["is required"]}}`.
fn conduit(error: &mut ErrorReply) {
    let mut errors = serde_json::Map::new();
    for failed in error.field_errors() {
        let texts = errors.entry(failed.field.as_str()).or_insert(json!([]));
        texts.as_array_mut().unwrap().push(json!(failed.message));
    }
    if error.kind() != ErrorKind::Validation {
        errors.insert("body".to_owned(), json!([error.message()]));
    }
    error.set_json(json!({ "errors": errors }));
}

#[derive(serde::Deserialize, Schema)]
struct NewUser {
    #[schema(min_length = 1)]
    username: String,
    #[schema(format = "email")]
    email: String,
}

#[derive(Debug, ApiError)]
enum Shop {
    #[status(503, "db-7 is down")]
    Down,
}

fn api() -> RouteTree {
    routes! {
        "users": {
            GET: async || "all users",
            POST: { handler: async |Body(user): Body<NewUser>| user.username + &user.email, max_body: 100 },
        },
        "json": { POST: { accepts: ["application/json"], handler: async |Body(body): Body<Value>| Json(body) } },
        "mine": { GET: {
            handler: async || "mine",
            middleware: [with_auth(Auth::secret(Secret::new("0123456789abcdef0123456789abcdef").unwrap()))],
        } },
        "panic": { GET: async || -> () { panic!("at the db-7 disco") } },
        "down": { GET: async || Err::<(), _>(Shop::Down) },
    }
}

fn answering(form: fn(&mut ErrorReply)) -> RouterOptions {
    RouterOptions::new().expose_errors(false).rate_limit(false).error_handling(form)
}

#[test]
fn every_error_of_a_router_has_the_custom_format() {
    let app = app(create_router(api(), answering(conduit)));
    check(&app, "GET /users", "200 all users");
    check(&app, "GET /nowhere", r#"404 {"errors":{"body":["Not Found"]}}"#);
    check(&app, "PUT /users", r#"405 {"errors":{"body":["Method Not Allowed"]}}"#);
    assert_eq!(header_of(&app, "PUT /users", "allow"), "GET, HEAD, POST, OPTIONS");
    check(&app, "CONNECT /users", r#"405 {"errors":{"body":["Method Not Allowed"]}}"#);
    check(&app, "GET /a%00b", r#"400 {"errors":{"body":["Bad Request"]}}"#);
    let json = "POST /users\ncontent-type: application/json\n\n";
    check(&app, &format!("{json}{{"), r#"400 {"errors":{"body":["Invalid JSON body"]}}"#);
    let announced = "POST /users\ncontent-length: 101\n\n";
    check(&app, announced, r#"413 {"errors":{"body":["Request body too large"]}}"#);
    assert_eq!(header_of(&app, announced, "connection"), "close");
    let form = "POST /json\ncontent-type: application/x-www-form-urlencoded\n\na=b";
    check(&app, form, r#"415 {"errors":{"body":["Unsupported Media Type"]}}"#);
    check(&app, "GET /mine", r#"401 {"errors":{"body":["Unauthorized"]}}"#);
    assert_eq!(header_of(&app, "GET /mine", "www-authenticate"), "Bearer");
    check(&app, "GET /panic", r#"500 {"errors":{"body":["Internal Server Error"]}}"#);
    check(&app, "GET /down", r#"503 {"errors":{"body":["Service Unavailable"]}}"#);
    check(&app, "HEAD /nowhere", "404");
    let refused = app.refuse(request("GET /users"), ApiError::new(400, "no Host"));
    let refused = block_on(async { crate::support::show(refused.await).await });
    assert_eq!(refused, r#"400 {"errors":{"body":["no Host"]}}"#);
}

#[test]
fn a_validation_error_lists_its_fields() {
    let app = app(create_router(api(), answering(conduit)));
    let sent = "POST /users\ncontent-type: application/json\n\n{\"username\": \"\"}";
    let expected = r#"400 {"errors":{"email":["Required field 'email' is missing"],"username":["String must be at least 1 characters"]}}"#;
    check(&app, sent, expected);
}

#[test]
fn rate_limit_errors_have_the_custom_format() {
    let options = answering(conduit).rate_limit(1 / MINUTE);
    let app = app(create_router(api(), options));
    check(&app, "GET /nowhere", r#"404 {"errors":{"body":["Not Found"]}}"#);
    check(&app, "GET /users", r#"429 {"errors":{"body":["Too Many Requests"]}}"#);
    assert_eq!(header_of(&app, "GET /users", "retry-after"), "60");
    assert_eq!(header_of(&app, "GET /users", "x-frame-options"), "DENY");
    let refused = app.refuse(request("GET /users"), ApiError::new(400, "no Host"));
    assert_eq!(block_on(refused).status(), 429);
}

/// Returns an error function that writes its own name into the body.
fn named(name: &'static str) -> impl Fn(&mut ErrorReply) + Send + Sync + 'static {
    move |error: &mut ErrorReply| {
        let status = error.status().as_u16();
        error.set_json(json!({ name: status }));
    }
}

async fn conflicts() -> Result<(), ApiError> {
    Err(ApiError::conflict())
}

#[test]
fn the_innermost_error_handler_formats_the_error() {
    let spread = routes! { error_handling: named("spread"), "s": { GET: conflicts } };
    let tree = routes! {
        "plain": { GET: conflicts },
        "entry": { GET: { error_handling: named("entry"), handler: conflicts } },
        "node": {
            error_handling: named("node"),
            GET: conflicts,
            POST: { max_body: 1, handler: async |_: Body<Value>| () },
            PUT: { max_body: 1, error_handling: named("entry"), handler: async |_: Body<Value>| () },
            "below": { GET: conflicts },
            "other": { error_handling: named("other"), GET: conflicts },
            "entry": { GET: { error_handling: named("entry"), handler: conflicts } },
            ..spread,
        },
    };
    let options = RouterOptions::new().rate_limit(false).error_handling(named("router"));
    let mut router = create_router(tree, options);
    router.group("/group", (), |group| {
        group.get("/a", conflicts);
        group.error_handling(named("group"));
        group.get("/b", conflicts).error_handling(named("entry"));
        group.group("/inner", (), |inner| {
            inner.get("/", conflicts);
        });
        group.group("/own", (), |inner| {
            inner.error_handling(named("inner")).get("/", conflicts);
        });
    });
    let app = app(router);
    let long = "content-length: 9";
    for (request, expected) in [
        ("GET /plain", r#"409 {"router":409}"#),
        ("GET /entry", r#"409 {"entry":409}"#),
        ("GET /node", r#"409 {"node":409}"#),
        (&format!("POST /node\n{long}"), r#"413 {"node":413}"#),
        (&format!("PUT /node\n{long}"), r#"413 {"entry":413}"#),
        ("GET /node/below", r#"409 {"node":409}"#),
        ("GET /node/other", r#"409 {"other":409}"#),
        ("GET /node/entry", r#"409 {"entry":409}"#),
        ("GET /node/s", r#"409 {"spread":409}"#),
        // No route matches, so the node's function does not run.
        ("GET /node/none", r#"404 {"router":404}"#),
        ("DELETE /node", r#"405 {"router":405}"#),
        ("GET /group/a", r#"409 {"group":409}"#),
        ("GET /group/b", r#"409 {"entry":409}"#),
        ("GET /group/inner", r#"409 {"group":409}"#),
        ("GET /group/own", r#"409 {"inner":409}"#),
    ] {
        check(&app, request, expected);
    }
}

#[test]
fn error_middleware_precedes_the_handler_of_the_router() {
    let refuses = |_: &mut Request| Err::<(), _>(ApiError::authorization());
    async fn around(req: Request, next: Next) -> Response {
        next.run(req).await
    }
    let mut router = Router::with_options(RouterOptions::new().error_handling(named("router")));
    router.get("/x", conflicts).middleware((with_error_handling(named("own")), around));
    router
        .get("/y", conflicts)
        .middleware((with_error_handling(named("outer")),))
        .error_handling(named("entry"));
    router.get("/z", conflicts).middleware((refuses,)).error_handling(named("entry"));
    router.get("/o", conflicts).middleware((around, refuses));
    router.group("", (with_error_handling(named("outer")), around), |group| {
        group.get("/i", conflicts).error_handling(named("entry"));
        group.get("/j", conflicts);
    });
    let app = app(router);
    check(&app, "GET /x", r#"409 {"own":409}"#);
    check(&app, "GET /y", r#"409 {"outer":409}"#);
    check(&app, "GET /z", r#"403 {"entry":403}"#);
    check(&app, "GET /o", r#"403 {"router":403}"#);
    check(&app, "GET /i", r#"409 {"entry":409}"#);
    check(&app, "GET /j", r#"409 {"outer":409}"#);
}

#[test]
fn an_error_handler_can_set_status_headers_and_body() {
    fn page(error: &mut ErrorReply) {
        match error.kind() {
            ErrorKind::NotFound => {
                let path = error.path().unwrap_or("-").to_owned();
                error.set_body("text/html; charset=utf-8", format!("<p>no {path}"));
            }
            ErrorKind::MethodNotAllowed => {
                error.set_status(StatusCode::NOT_FOUND);
                error.headers_mut().remove(header::ALLOW);
            }
            ErrorKind::Authentication => {
                error.set_status(StatusCode::SEE_OTHER);
                error.headers_mut().insert(header::LOCATION, "/login".parse().unwrap());
            }
            ErrorKind::TooLarge => error.set_status(StatusCode::BAD_REQUEST),
            ErrorKind::Unavailable => {
                let is_ours = error.source().is_some_and(|source| source.is::<Shop>());
                let body = json!({
                    "ours": is_ours,
                    "route": error.route(),
                    "method": error.method().as_str(),
                    "was": error.json(),
                    "details": error.details(),
                });
                error.set_json(body);
            }
            _ => {}
        }
    }
    let app = app(create_router(api(), answering(page)));
    check(&app, "GET /none?q=1", "404 <p>no /none");
    assert_eq!(header_of(&app, "GET /none", "content-type"), "text/html; charset=utf-8");
    check(&app, "PUT /users", r#"404 {"error":"Method Not Allowed"}"#);
    assert_eq!(header_of(&app, "PUT /users", "allow"), "-");
    assert_eq!(header_of(&app, "GET /mine", "location"), "/login");
    let announced = "POST /users\ncontent-length: 101\n\n";
    check(&app, announced, r#"400 {"error":"Request body too large"}"#);
    // The unread body must not be parsed as the next request.
    assert_eq!(header_of(&app, announced, "connection"), "close");
    let down = r#"503 {"ours":true,"route":"/down","method":"GET","was":{"error":"Service Unavailable"},"details":null}"#;
    check(&app, "GET /down", down);
    let response = block_on(app.handle(request("GET /down")));
    assert_eq!(error_of(&response).map(ApiError::status), Some(503));
}

#[test]
fn only_the_error_contains_a_hidden_message() {
    let text = |error: &mut ErrorReply| {
        let seen = json!([error.message(), error.error().message()]);
        error.set_json(seen);
    };
    let app_by = |options: RouterOptions| app(create_router(api(), options.error_handling(text)));
    let hidden = app_by(RouterOptions::new().expose_errors(false));
    check(&hidden, "GET /down", r#"503 ["Service Unavailable","db-7 is down"]"#);
    let shown = app_by(RouterOptions::new().expose_errors(true));
    check(&shown, "GET /down", r#"503 ["db-7 is down","db-7 is down"]"#);
    let own = ErrorHandlerOptions::new().expose_errors(true).reply(text);
    let app =
        app(create_router(api(), RouterOptions::new().expose_errors(false).error_handling(own)));
    check(&app, "GET /down", r#"503 ["db-7 is down","db-7 is down"]"#);
}

#[test]
fn the_function_receives_problem_details() {
    let tagged = |error: &mut ErrorReply| {
        let mut body = error.json().clone();
        body["instance"] = error.path().into();
        error.set_json(body);
    };
    let options = RouterOptions::new().problem_details(true).error_handling(tagged);
    let app = app(create_router(api(), options));
    let expected = r#"404 {"type":"about:blank","title":"Not Found","status":404,"instance":"/x"}"#;
    check(&app, "GET /x", expected);
    assert_eq!(header_of(&app, "GET /x", "content-type"), "application/problem+json");
}

#[test]
fn problem_details_contain_the_changed_status() {
    let check_form = |form: fn(&mut ErrorReply), expected: &str| {
        let options = RouterOptions::new().problem_details(true).error_handling(form);
        check(&app(create_router(api(), options)), "GET /x", expected);
    };
    check_form(
        |error| error.set_status(StatusCode::GONE),
        r#"410 {"type":"about:blank","title":"Gone","status":410}"#,
    );
    // The order of the two calls does not matter.
    check_form(
        |error| {
            let mut body = error.json().clone();
            body["title"] = "No such page".into();
            error.set_json(body);
            error.set_status(StatusCode::GONE);
        },
        r#"410 {"type":"about:blank","title":"No such page","status":410}"#,
    );
    // A redirect does not have a standard error text.
    check_form(
        |error| error.set_status(StatusCode::SEE_OTHER),
        r#"303 {"type":"about:blank","title":"Not Found","status":303}"#,
    );
    // A custom body stays unchanged.
    check_form(
        |error| {
            error.set_status(StatusCode::GONE);
            error.set_json(json!({ "status": "gone" }));
        },
        r#"410 {"status":"gone"}"#,
    );
    check_form(
        |error| {
            error.set_status(StatusCode::GONE);
            error.set_body("application/json", r#"{"status":404}"#);
        },
        r#"410 {"status":404}"#,
    );
}

/// A value that serde cannot serialize.
struct Broken;

impl serde::Serialize for Broken {
    fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("unique-form-2"))
    }
}

#[test]
fn a_failing_function_is_a_plain_500_and_is_logged() {
    log::watch();
    let plain = r#"500 {"error":"Internal Server Error"}"#;
    let check_form = |form: fn(&mut ErrorReply), marker: &str| {
        let app = app(create_router(api(), answering(form)));
        let before = log::lines_with(marker).len();
        check(&app, "GET /nowhere", plain);
        check(&app, "GET /panic", plain);
        assert_eq!(log::lines_with(marker).len(), before + 2, "{marker}");
        check(&app, "GET /users", "200 all users");
    };
    check_form(|_| panic!("unique-form-1"), "panicked: unique-form-1");
    check_form(|error| error.set_json(Broken), "unique-form-2");
    check_form(
        |error| error.set_status(StatusCode::CONTINUE),
        "set 100, which is not a final status",
    );
    check_form(|error| error.set_status(StatusCode::from_u16(700).unwrap()), "set 700");
    check_form(|error| error.set_body("a\nb", HttpBody::empty()), "failed to parse header value");
    let panics = ErrorHandlerOptions::new().transform(|_, _| panic!("unique-form-3"));
    let app =
        app(create_router(api(), RouterOptions::new().expose_errors(false).error_handling(panics)));
    check(&app, "GET /nowhere", plain);
}

#[test]
fn a_response_without_content_has_no_body() {
    let app =
        app(create_router(api(), answering(|error| error.set_status(StatusCode::NO_CONTENT))));
    check(&app, "GET /nowhere", "204");
    assert_eq!(header_of(&app, "GET /nowhere", "content-type"), "-");
}

// validation_status

#[derive(serde::Deserialize, Schema)]
struct Page {
    #[schema(minimum = 1)]
    page: u32,
}

/// Checks the status of each kind of failed validation. A malformed JSON body
/// stays a 400.
#[track_caller]
fn check_statuses(app: &App, path: &str, expected: u16) {
    let status = |text: &str| block_on(app.handle(request(text))).status().as_u16();
    let json = "content-type: application/json";
    let actual = [
        status(&format!("POST {path}/1?page=1\n{json}\n\n{{}}")),
        status(&format!("POST {path}/1?page=0\n{json}\n\n{{}}")),
        status(&format!("POST {path}/x?page=1\n{json}\n\n{{}}")),
    ];
    assert_eq!(actual, [expected; 3], "{path}");
    assert_eq!(status(&format!("POST {path}/1?page=1\n{json}\n\n{{")), 400, "{path}");
}

async fn validated(_: Path<u32>, Query(query): Query<Page>, _: Body<NewUser>) -> String {
    query.page.to_string()
}

#[test]
fn validation_errors_have_the_status_of_their_subtree() {
    let tree = routes! {
        "plain": { ":id": { POST: validated } },
        "node": {
            validation_status: 422,
            ":id": { POST: validated },
            "entry": { ":id": { POST: { handler: validated, validation_status: 418 } } },
            "back": { validation_status: 400, ":id": { POST: validated } },
        },
        "schemas": { ":id": { POST: {
            handler: async || (),
            validation_status: 422,
            params: schema!({ "id": { "type": "integer" } }),
            query: schema!({ "page": { "type": "integer", "minimum": 1 } }),
            validation: schema!({ "email": { "type": "email", "required": true } }),
        } } },
    };
    let mut router = Router::with_options(RouterOptions::new().rate_limit(false));
    router.routes(tree);
    router.group("/group", (), |group| {
        group.post("/:id", validated);
        group.validation_status(409);
    });
    let app = app(router);
    check_statuses(&app, "/plain", 400);
    check_statuses(&app, "/node", 422);
    check_statuses(&app, "/node/entry", 418);
    check_statuses(&app, "/node/back", 400);
    check_statuses(&app, "/schemas", 422);
    check_statuses(&app, "/group", 409);
    let statuses: Vec<u16> = app.routes().iter().map(|route| route.validation_status()).collect();
    assert_eq!(statuses, [400, 422, 418, 400, 422, 409]);
}

#[test]
fn all_validation_errors_have_the_status_of_the_router() {
    use stockade::middleware::{InputRule, with_input_validation, with_query_validation};
    let options = serde_json::from_str::<RouterOptions>(r#"{ "validationStatus": 422 }"#).unwrap();
    let mut router = Router::with_options(options);
    router.post("/:id", validated);
    let rules = with_input_validation([("name", InputRule::new().required())]);
    router.post("/input", async || ()).middleware(rules);
    let query = with_query_validation(json!({ "page": { "type": "integer" } }));
    router.get("/query", async || ()).middleware(query);
    router.get("/own", async || Err::<(), _>(ApiError::validation(&[])));
    router.get("/other", async || Err::<(), _>(ApiError::validation(&[]).with_status(409)));
    router.get("/bad", async || Err::<(), _>(ApiError::new(400, "bad")));
    let app = app(router);
    check_statuses(&app, "", 422);
    check(
        &app,
        "POST /input",
        r#"422 {"error":"Validation failed","details":["name is required"]}"#,
    );
    assert_eq!(block_on(app.handle(request("GET /query?page=x"))).status(), 422);
    check(&app, "GET /own", r#"422 {"error":"Validation failed","details":{"errors":[]}}"#);
    check(&app, "GET /other", r#"409 {"error":"Validation failed","details":{"errors":[]}}"#);
    check(&app, "GET /bad", r#"400 {"error":"bad"}"#);
}

#[test]
fn the_description_of_a_route_has_the_status() {
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let notes = std::sync::Arc::clone(&seen);
    let watch = Middleware::new(|_: &mut Request| ())
        .describing(move |doc| notes.lock().unwrap().push(doc.validation_status()));
    let mut router = Router::with_options(RouterOptions::new().middleware(watch));
    router.get("/a", async || ());
    router.get("/b", async || ()).validation_status(422);
    drop(app(router));
    assert_eq!(*seen.lock().unwrap(), [400, 422]);
}

#[test]
fn a_validation_status_must_be_4xx() {
    for status in [0, 200, 399, 500, 999] {
        let mut router = Router::new();
        router.get("/a", async || ()).validation_status(status);
        let error = router.build().unwrap_err().to_string();
        let expected =
            format!("GET /a: expected a `validation_status` from 400 to 499, found {status}");
        assert!(error.contains(&expected), "{error}");
    }
    let router = Router::with_options(RouterOptions::new().validation_status(302));
    let error = router.build().unwrap_err().to_string();
    assert!(error.contains("expected a `validation_status` from 400 to 499, found 302"), "{error}");
}
