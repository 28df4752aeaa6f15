//! Middleware: its forms, its order and its responses.
// Spec: Middleware contract.

use std::sync::Mutex;

use stockade::Middleware;
use stockade::extract::Headers;
use stockade::prelude::*;

use crate::support::{app, app_of, block_on, check, header_of, request};

/// Creates middleware that adds its name to a header that the handler echoes.
fn note(name: &'static str) -> Middleware {
    Middleware::new(move |req: &mut Request| {
        let so_far = req.headers().get("x-ran").map_or("", |value| value.to_str().unwrap());
        let value = format!("{so_far}{name}>").parse().unwrap();
        req.headers_mut().insert("x-ran", value);
    })
}

async fn ran(headers: Headers) -> String {
    let ran = headers.get("x-ran").map_or("", |value| value.to_str().unwrap());
    format!("{ran}handler")
}

#[test]
fn order_is_global_group_inherited_route_handler() {
    let api = routes! {
        middleware: [note("root")],
        "a": {
            middleware: [note("a1"), note("a2")],
            GET: { handler: ran, middleware: [note("own")] },
            "b": { middleware: note("b"), GET: ran },
        },
        ..spread(),
    };
    let options = RouterOptions::new().middleware((note("g1"), note("g2")));
    let mut router = create_router(api, options);
    router.get("/early", ran);
    router.use_(note("use"));
    router.get("/late", ran).middleware(note("own"));
    router.group("/group", (note("outer"),), |group| {
        group.get("/before", ran);
        group.use_(note("inside"));
        group.get("/after", ran);
        group.group("/deep", [note("inner")], |group| {
            group.get("/", ran);
        });
    });
    router.get("/last", ran);
    let app = app(router);
    check(&app, "GET /a", "200 g1>g2>root>a1>a2>own>handler");
    check(&app, "GET /a/b", "200 g1>g2>root>a1>a2>b>handler");
    check(&app, "GET /spread", "200 g1>g2>root>spread>handler");
    check(&app, "GET /early", "200 g1>g2>handler");
    check(&app, "GET /late", "200 g1>g2>use>own>handler");
    check(&app, "GET /group/before", "200 g1>g2>use>outer>handler");
    check(&app, "GET /group/after", "200 g1>g2>use>outer>inside>handler");
    check(&app, "GET /group/deep", "200 g1>g2>use>outer>inside>inner>handler");
    check(&app, "GET /last", "200 g1>g2>use>handler");
}

#[test]
fn a_reference_adds_the_same_middleware() {
    let (one, list) = (note("one"), vec![note("two"), note("three")]);
    let app = app_of(routes! {
        "a": { middleware: &one, GET: ran },
        "b": { middleware: [&one], GET: { ran, middleware: &list } },
        "c": { middleware: list, GET: ran },
    });
    check(&app, "GET /a", "200 one>handler");
    check(&app, "GET /b", "200 one>two>three>handler");
    check(&app, "GET /c", "200 two>three>handler");
}

fn spread() -> RouteTree {
    routes! { middleware: [note("spread")], "spread": { GET: ran } }
}

fn with<M>(middleware: impl stockade::middleware::IntoMiddlewareList<M>) -> App {
    let mut router = Router::with_options(RouterOptions::new().expose_errors(false));
    router.get("/x", ran).middleware(middleware);
    app(router)
}

#[test]
fn returning_nothing_continues_and_a_value_responds() {
    check(&with(|_: &mut Request| ()), "GET /x", "200 handler");
    check(&with(|_: &mut Request| None::<Response>), "GET /x", "200 handler");
    check(&with(|_: &mut Request| Some("text")), "GET /x", "200 text");
    check(&with(|_: &mut Request| Json(1)), "GET /x", "200 1");
    check(&with(|_: &mut Request| StatusCode::IM_A_TEAPOT), "GET /x", "418");
    check(&with(|_: &mut Request| Ok::<(), ApiError>(())), "GET /x", "200 handler");
    check(&with(async |_: &mut Request| ()), "GET /x", "200 handler");
    check(&with(async |_: &mut Request| json!({ "a": 1 })), "GET /x", r#"200 {"a":1}"#);
}

#[test]
fn an_error_becomes_an_error_response() {
    let forbidden = r#"403 {"error":"Access denied"}"#;
    check(&with(|_: &mut Request| Err::<(), _>(ApiError::authorization())), "GET /x", forbidden);
    check(
        &with(async |_: &mut Request| Err::<(), _>(ApiError::authorization())),
        "GET /x",
        forbidden,
    );
    async fn fails(_req: Request, _next: Next) -> Result<Response, ApiError> {
        Err(ApiError::authorization())
    }
    check(&with(fails), "GET /x", forbidden);
    let hidden = r#"500 {"error":"Internal Server Error"}"#;
    check(&with(|_: &mut Request| Err::<(), _>(BoxError::from("secret"))), "GET /x", hidden);
    check(&with(|_: &mut Request| -> () { panic!("secret") }), "GET /x", hidden);
    check(&with(async |_: &mut Request| -> () { panic!("secret") }), "GET /x", hidden);
}

#[test]
fn a_returned_value_skips_the_rest() {
    let app = with((|_: &mut Request| Some("early"), |_: &mut Request| -> () { panic!("runs") }));
    check(&app, "GET /x", "200 early");
}

#[test]
fn style_b_runs_around_the_rest() {
    async fn around(req: Request, next: Next) -> Response {
        let mut response = next.run(req).await;
        let status = response.status().as_u16();
        response.headers_mut().insert("x-seen", status.into());
        response
    }
    async fn fails() -> Result<(), ApiError> {
        Err(ApiError::conflict())
    }
    let app = app_of(routes! {
        middleware: [around],
        "x": { GET: { handler: ran, middleware: [note("in")] } },
        "fails": { GET: fails },
        "panics": { GET: async || -> () { panic!("inside") } },
        "panics-before": { GET: { handler: ran, middleware: [|_: &mut Request| -> () { panic!("inside") }] } },
    });
    check(&app, "GET /x", "200 in>handler");
    check(&app, "GET /fails", r#"409 {"error":"Resource conflict"}"#);
    // The middleware receives errors of later stages as responses.
    assert_eq!(crate::support::header_of(&app, "GET /fails", "x-seen"), "409");
    // It also receives panics as responses.
    assert_eq!(crate::support::header_of(&app, "GET /panics", "x-seen"), "500");
    assert_eq!(crate::support::header_of(&app, "GET /panics-before", "x-seen"), "500");
}

#[test]
fn closures_move_captured_values_into_their_future() {
    let word = String::from("captured");
    let (around, moved, before, lent) = (word.clone(), word.clone(), word.clone(), word);
    let lends = async move |req: Request, next: Next| {
        let mut response = next.run(req).await;
        response.headers_mut().insert("x-lent", lent.parse().unwrap());
        response
    };
    let moves = move |req: Request, next: Next| async move {
        let mut response = next.run(req).await;
        response.headers_mut().insert("x-around", around.parse().unwrap());
        drop(around);
        response
    };
    let takes = move |State(state): State<&'static str>, req: Request, next: Next| async move {
        let mut response = next.run(req).await;
        response.headers_mut().insert("x-moved", (moved + *state).parse().unwrap());
        response
    };
    fn stops(req: &mut Request) -> Option<String> {
        req.headers().contains_key("x-stop").then(|| "stopped".to_owned())
    }
    let options = RouterOptions::new().middleware((lends, moves, takes, stops));
    let mut router = Router::with_options(options).state("!");
    router.get("/x", move || async move { before });
    let app = app(router);
    for _ in 0..2 {
        check(&app, "GET /x", "200 captured");
        assert_eq!(header_of(&app, "GET /x", "x-lent"), "captured");
        assert_eq!(header_of(&app, "GET /x", "x-around"), "captured");
        assert_eq!(header_of(&app, "GET /x", "x-moved"), "captured!");
    }
    check(&app, "GET /x\nx-stop: 1", "200 stopped");
}

#[test]
fn style_b_can_read_the_error_of_a_response() {
    async fn recovers(req: Request, next: Next) -> Result<Response, ApiError> {
        match next.try_run(req).await {
            Err(error) if error.status() == 409 => "recovered".into_response(),
            other => other,
        }
    }
    async fn tells(req: Request, next: Next) -> Response {
        let mut response = next.run(req).await;
        let message = stockade::middleware::error_of(&response).map(|error| error.message().len());
        response.headers_mut().insert("x-message-length", message.unwrap_or(0).into());
        response
    }
    let app = app_of(routes! {
        "recovers": { middleware: [recovers], GET: async || Err::<(), _>(ApiError::conflict()) },
        "tells": { middleware: [tells], GET: async || Err::<(), _>(ApiError::new(500, "12345")) },
    });
    check(&app, "GET /recovers", "200 recovered");
    assert_eq!(crate::support::header_of(&app, "GET /tells", "x-message-length"), "5");
}

#[test]
fn dropping_next_without_a_response_is_a_500_that_names_the_middleware() {
    crate::support::log::watch();
    async fn forgets(_req: Request, _next: Next) -> Option<Response> {
        None
    }
    let app = with(forgets);
    check(&app, "GET /x", r#"500 {"error":"Internal Server Error"}"#);
    let lines = crate::support::log::lines_with("neither called next nor returned a response");
    assert!(lines.iter().any(|line| line.contains("forgets")), "{lines:?}");
}

#[test]
fn no_middleware_runs_for_404_and_405() {
    let mut router = Router::with_options(
        RouterOptions::new().middleware(|_: &mut Request| -> () { panic!("must not run") }),
    );
    router.get("/x", ran);
    let app = app(router);
    check(&app, "GET /y", r#"404 {"error":"Not Found"}"#);
    check(&app, "POST /x", r#"405 {"error":"Method Not Allowed"}"#);
    check(&app, "OPTIONS /x", "204");
}

#[test]
fn middleware_can_read_and_change_the_body() {
    async fn doubles(req: &mut Request) -> Result<(), ApiError> {
        let body = req.body().await?;
        if let Some(number) = body["n"].as_i64() {
            body["n"] = (number * 2).into();
        }
        Ok(())
    }
    let mut router = Router::new();
    router.post("/x", async |Body(body): Body<Value>| body).middleware(doubles);
    let app = app(router);
    check(&app, "POST /x\ncontent-type: application/json\n\n{\"n\":21}", r#"200 {"n":42}"#);
}

#[test]
fn validation_runs_after_middleware_and_before_the_handler() {
    let positive = schema!({ "n": { "type": "integer", "minimum": 1, "default": 0 } });
    let positive = positive.unwrap();
    let app = app_of(routes! {
        "x": { POST: { handler: async |Body(body): Body<Value>| body, validation: &positive } },
        "guarded": { POST: { handler: async || "", validation: &positive, middleware: [|_: &mut Request| StatusCode::FORBIDDEN] } },
    });
    let json = "content-type: application/json";
    check(&app, &format!("POST /x\n{json}\n\n{{\"n\":1}}"), r#"200 {"n":1}"#);
    let refused = r#"400 {"error":"Validation failed","details":{"errors":[{"field":"n","message":"Number must be at least 1","rule":"minimum"}]}}"#;
    check(&app, &format!("POST /x\n{json}\n\n{{\"n\":0}}"), refused);
    // An empty body is validated as `{}`, and the default value then fills it.
    check(&app, "POST /x", r#"200 {"n":0}"#);
    check(
        &app,
        "POST /x\ncontent-type: image/png\n\nx",
        r#"415 {"error":"Unsupported Media Type"}"#,
    );
    check(&app, "POST /guarded", "403");
}

#[test]
fn extensions_carry_values_to_the_handler() {
    #[derive(Clone)]
    struct User(&'static str);
    let mut router = Router::new();
    router.get("/x", async |req: Request| req.extensions().get::<User>().unwrap().0).middleware(
        |req: &mut Request| {
            req.extensions_mut().insert(User("ada"));
        },
    );
    check(&app(router), "GET /x", "200 ada");
}

#[test]
fn a_disconnect_ends_the_handler() {
    static RAN: Mutex<Vec<&str>> = Mutex::new(Vec::new());
    async fn waits(req: Request, next: Next) -> Response {
        RAN.lock().unwrap().push("begun");
        tokio::task::yield_now().await;
        next.run(req).await
    }
    let mut router = Router::new();
    router.get("/x", async || RAN.lock().unwrap().push("handler")).middleware(waits);
    let app = app(router);
    block_on(async {
        let mut future = Box::pin(app.handle(request("GET /x")));
        std::future::poll_fn(|cx| {
            assert!(future.as_mut().poll(cx).is_pending());
            std::task::Poll::Ready(())
        })
        .await;
        drop(future);
    });
    assert_eq!(*RAN.lock().unwrap(), ["begun"]);
}
