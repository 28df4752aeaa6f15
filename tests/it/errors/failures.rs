//! Responses as errors: handlers and middleware that return a response in
//! `Err`.
// Spec: Handler contract; Errors › Response rules.

use stockade::ErrorReply;
use stockade::prelude::*;
use stockade::reply::{IntoError, Redirect};

use crate::support::{app, check, header_of, log};

type Outcome<E> = Result<&'static str, E>;

#[derive(Debug, ApiError)]
enum Shop {
    #[status(409, "sold out")]
    SoldOut,
}

#[derive(Debug, ApiError)]
enum Either<T: Into<ApiError> + std::error::Error + 'static> {
    #[status(transparent)]
    Inner(T),
}

struct Lost;

impl IntoError for Lost {
    fn into_error_response(self) -> Result<Response, ApiError> {
        Err(ApiError::not_found())
    }
}

fn reads() -> Result<String, BoxError> {
    Ok(std::fs::read_to_string("/there/is/no/such/file")?)
}

async fn by_question_mark() -> Outcome<ApiError> {
    let text = reads()?;
    Ok(text.leak())
}

async fn page() -> Outcome<Response> {
    let mut response = Html("<p>busy").into_response().unwrap();
    *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    Err(response)
}

async fn coded() -> Outcome<(StatusCode, Json<Value>)> {
    Err((StatusCode::BAD_REQUEST, Json(json!({ "code": 7 }))))
}

fn api() -> RouteTree {
    routes! {
        "404": { GET: async || Outcome::Err(StatusCode::NOT_FOUND) },
        "304": { GET: async || Outcome::Err(StatusCode::NOT_MODIFIED) },
        "500": { GET: async || Outcome::Err(StatusCode::BAD_GATEWAY) },
        "100": { GET: async || Outcome::Err(StatusCode::CONTINUE) },
        "700": { GET: async || Outcome::Err(StatusCode::from_u16(700).unwrap()) },
        "text": { GET: async || Outcome::Err((StatusCode::BAD_REQUEST, "no number".to_owned())) },
        "static": { GET: async || Outcome::Err((StatusCode::BAD_REQUEST, "no number")) },
        "secret": { GET: async || Outcome::Err((StatusCode::BAD_GATEWAY, "db-7 unique-failure-1")) },
        "fine": { GET: async || Outcome::Err((StatusCode::ACCEPTED, "later")) },
        "json": { GET: coded },
        "login": { GET: async || Outcome::Err(Redirect::to("/login")) },
        "page": { GET: page },
        "own": { GET: async || Outcome::Err(Shop::SoldOut) },
        "generic": { GET: async || Outcome::Err(Either::Inner(Shop::SoldOut)) },
        "by-hand": { GET: async || Outcome::Err(Lost) },
        "io": { GET: async || Outcome::Err(std::io::Error::other("db-7 is down")) },
        "boxed": { GET: async || Outcome::Err(BoxError::from(ApiError::conflict())) },
        "question": { GET: by_question_mark },
    }
}

#[test]
fn each_error_has_its_response() {
    let options = || RouterOptions::new().expose_errors(false).rate_limit(false);
    let app = app(create_router(api(), options()));
    for (request, expected) in [
        ("GET /404", r#"404 {"error":"Not Found"}"#),
        ("GET /304", "304"),
        ("GET /500", r#"502 {"error":"Bad Gateway"}"#),
        ("GET /100", r#"500 {"error":"Internal Server Error"}"#),
        ("GET /700", r#"500 {"error":"Internal Server Error"}"#),
        ("GET /text", r#"400 {"error":"no number"}"#),
        ("GET /static", r#"400 {"error":"no number"}"#),
        ("GET /secret", r#"502 {"error":"Bad Gateway"}"#),
        ("GET /fine", "202 later"),
        ("GET /json", r#"400 {"code":7}"#),
        ("GET /login", "303"),
        ("GET /page", "503 <p>busy"),
        ("GET /own", r#"409 {"error":"sold out"}"#),
        ("GET /generic", r#"409 {"error":"sold out"}"#),
        ("GET /by-hand", r#"404 {"error":"Resource not found"}"#),
        ("GET /io", r#"500 {"error":"Internal Server Error"}"#),
        ("GET /boxed", r#"409 {"error":"Resource conflict"}"#),
        ("GET /question", r#"500 {"error":"Internal Server Error"}"#),
    ] {
        check(&app, request, expected);
    }
    assert_eq!(header_of(&app, "GET /login", "location"), "/login");
}

#[test]
fn errors_use_the_custom_format_and_responses_do_not() {
    let form = |error: &mut ErrorReply| {
        let message = json!([error.message()]);
        error.set_json(message);
    };
    let options = RouterOptions::new().expose_errors(false).rate_limit(false).error_handling(form);
    let app = app(create_router(api(), options));
    check(&app, "GET /404", r#"404 ["Not Found"]"#);
    check(&app, "GET /text", r#"400 ["no number"]"#);
    check(&app, "GET /secret", r#"502 ["Bad Gateway"]"#);
    check(&app, "GET /json", r#"400 {"code":7}"#);
    check(&app, "GET /page", "503 <p>busy");
}

#[test]
fn each_5xx_is_logged_once() {
    log::watch();
    let tree = routes! {
        "failed": {
            "text": { GET: async || Outcome::Err((StatusCode::BAD_GATEWAY, "unique-failure-2")) },
            "page": { GET: page },
            "reply": { GET: async || StatusCode::SERVICE_UNAVAILABLE },
            "redirect": { GET: async || Outcome::Err(Redirect::to("/login")) },
        },
    };
    let app = app(create_router(tree, RouterOptions::new().expose_errors(false)));
    for path in ["text", "page", "reply", "redirect"] {
        check_line(&app, path);
    }
}

#[track_caller]
fn check_line(app: &App, path: &str) {
    let expected: &[&str] = match path {
        "text" => &["ERROR GET /failed/text (/failed/text): 502 unique-failure-2"],
        "page" => &["ERROR GET /failed/page (/failed/page): 503 Service Unavailable"],
        // A response is not an error, regardless of its status.
        _ => &[],
    };
    header_of(app, &format!("GET /failed/{path}"), "x");
    assert_eq!(log::lines_with(&format!("/failed/{path} ")), expected);
}

#[test]
fn all_kinds_of_middleware_can_return_errors() {
    fn sync(req: &mut Request) -> Result<(), Redirect> {
        if req.path() == "/sync" { Err(Redirect::to("/login")) } else { Ok(()) }
    }
    async fn before(req: &mut Request) -> Result<(), (StatusCode, &'static str)> {
        if req.path() == "/before" { Err((StatusCode::FORBIDDEN, "not you")) } else { Ok(()) }
    }
    async fn around(req: Request, next: Next) -> Result<Response, StatusCode> {
        if req.path() == "/around" { Err(StatusCode::NOT_FOUND) } else { Ok(next.run(req).await) }
    }
    let options = RouterOptions::new().middleware((sync, before, around)).rate_limit(false);
    let mut router = Router::with_options(options);
    for path in ["/sync", "/before", "/around", "/passes"] {
        router.get(path, async || "passed");
    }
    let app = app(router);
    check(&app, "GET /sync", "303");
    check(&app, "GET /before", r#"403 {"error":"not you"}"#);
    check(&app, "GET /around", r#"404 {"error":"Not Found"}"#);
    check(&app, "GET /passes", "200 passed");
}
