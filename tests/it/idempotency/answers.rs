//! Stored responses, and the responses to retries.

use std::convert::Infallible;

use futures_util::stream;
use stockade::middleware::{ErrorReply, IdempotencyKey, with_permission, with_timeout};
use stockade::reply::Streamed;
use stockade::rpc::Rpc;
use stockade::{HttpBody, http};

use super::*;
use crate::support::block_on;

#[test]
fn a_retry_gets_the_first_response() {
    let runs = Runs::default();
    let counted = runs.clone();
    let app = keyed!(in_memory().header("x-order"), move |Body(text): Body<String>| {
        let number = counted.begin();
        async move {
            http::Response::builder()
                .status(201)
                .header("location", format!("/orders/{number}"))
                .header("x-order", "kept")
                .header("x-other", "not kept")
                .header("set-cookie", "a=b")
                .header("link", "</a>")
                .header("link", "</b>")
                .body(HttpBody::from(format!("{number}: {text}")))
                .unwrap()
        }
    });
    block_on(async {
        let text = "POST /x\nidempotency-key: \"k\"\ncontent-type: text/plain\n\nchair";
        let first = app.handle(request(text)).await;
        let again = app.handle(request(text)).await;
        assert_eq!((first.status(), again.status()), (StatusCode::CREATED, StatusCode::CREATED));
        let all = |response: &Response, name: &str| -> Vec<String> {
            let values = response.headers().get_all(name).iter();
            values.map(|value| value.to_str().unwrap().to_owned()).collect()
        };
        for name in ["location", "x-order", "link"] {
            assert_eq!(all(&first, name), all(&again, name), "{name}");
            assert!(!all(&again, name).is_empty(), "{name}");
        }
        for name in ["x-other", "set-cookie"] {
            assert!(!all(&first, name).is_empty() && all(&again, name).is_empty(), "{name}");
        }
        assert_eq!(all(&again, "idempotency-replayed"), ["true"]);
        assert!(all(&first, "idempotency-replayed").is_empty());
        assert_eq!(text_of(first.into_body()).await, "1: chair");
        assert_eq!(text_of(again.into_body()).await, "1: chair");
        assert_eq!(send(&app, "l", "chair").await, "201 2: chair");
    });
    assert_eq!(runs.count(), 2);
}

#[test]
fn replays_any_bytes_unchanged() {
    let bytes: Vec<u8> = (0..=255_u8).cycle().take(65_536).collect();
    let sent = bytes.clone();
    let app = keyed!(in_memory(), move || {
        let bytes = Bytes::from(sent.clone());
        async move { bytes }
    });
    block_on(async {
        for expected in [None, Some("true")] {
            let answer = app.handle(request("POST /x\nidempotency-key: \"k\"")).await;
            let replayed = answer.headers().get("idempotency-replayed");
            assert_eq!(replayed.map(|value| value.to_str().unwrap()), expected);
            assert_eq!(answer.into_body().collect(100_000).await.unwrap(), bytes);
        }
    });
}

#[test]
fn handler_errors_are_stored() {
    let runs = Runs::default();
    let counted = runs.clone();
    let handler = move |Body(status): Body<String>| {
        let number = counted.begin();
        let status: u16 = status.parse().unwrap();
        async move { Err::<&'static str, _>(ApiError::new(status, format!("try {number}"))) }
    };
    let app = keyed!(in_memory(), handler);
    block_on(async {
        let stored = [400, 401, 403, 404, 409, 413, 422, 429, 500, 502, 504];
        for (number, status) in (1..).zip(stored) {
            let first = send(&app, &format!("k{status}"), &status.to_string()).await;
            let again = send(&app, &format!("k{status}"), &status.to_string()).await;
            assert!(first.starts_with(&format!("{status} {{")), "{first}");
            assert_eq!(again.replacen(" replayed", "", 1), first);
            assert!(again.contains(" replayed "), "{again}");
            assert_eq!(runs.count(), number);
        }
        // These statuses ask the client to retry, so they are not stored.
        for status in [408, 503] {
            let before = runs.count();
            for _ in 0..2 {
                let answer = send(&app, &format!("k{status}"), &status.to_string()).await;
                assert!(answer.starts_with(&format!("{status} {{")), "{answer}");
            }
            assert_eq!(runs.count(), before + 2);
        }
    });
}

#[test]
fn keep_errors_false_lets_a_retry_run_again_after_a_5xx() {
    let runs = Runs::default();
    let counted = runs.clone();
    let handler = move |Body(status): Body<String>| {
        let number = counted.begin();
        let status: u16 = status.parse().unwrap();
        async move {
            assert_ne!(status, 599, "in the middle");
            Err::<&'static str, _>(ApiError::new(status, format!("try {number}")))
        }
    };
    let app = keyed!(in_memory().keep_errors(false), handler);
    block_on(async {
        for status in [500, 502, 504, 599] {
            let before = runs.count();
            for _ in 0..2 {
                let answer = send(&app, &format!("k{status}"), &status.to_string()).await;
                let expected = if status == 599 { 500 } else { status };
                assert!(answer.starts_with(&format!("{expected} {{")), "{answer}");
            }
            assert_eq!(runs.count(), before + 2, "{status}");
        }
        for status in [400, 409, 422, 429] {
            let before = runs.count();
            send(&app, &format!("k{status}"), &status.to_string()).await;
            let again = send(&app, &format!("k{status}"), &status.to_string()).await;
            assert!(again.starts_with(&format!("{status} replayed ")), "{again}");
            assert_eq!(runs.count(), before + 1, "{status}");
        }
    });
}

#[test]
fn accepts_unquoted_keys_if_the_option_is_set() {
    let send = |app: App| {
        block_on(async move {
            let mut answers = Vec::new();
            for key in ["8e03-1", "\"8e03-1\"", "8e03,1", "8e 03", "\"8e03-1"] {
                let lines = format!("POST /x\nidempotency-key: {key}");
                let answer = send_lines(&app, &lines, "").await;
                answers.push(answer.split(' ').take(2).collect::<Vec<_>>().join(" "));
            }
            answers.iter().map(|answer| answer.split(" {").next().unwrap().to_owned()).collect()
        })
    };
    let handler = async |key: IdempotencyKey| key.as_str().to_owned();
    let accepted: Vec<String> = send(keyed!(in_memory().unquoted_keys(true), handler));
    assert_eq!(accepted, ["200 8e03-1", "200 replayed", "400", "400", "400"]);
    let default: Vec<String> = send(keyed!(in_memory(), handler));
    assert_eq!(default, ["400", "200 8e03-1", "400", "400", "400"]);
}

#[test]
fn a_panic_is_a_stored_response() {
    let runs = Runs::default();
    let counted = runs.clone();
    let app = keyed!(in_memory(), async move || -> () {
        counted.begin();
        panic!("in the middle")
    });
    block_on(async {
        let hidden = r#"{"error":"Internal Server Error"}"#;
        assert_eq!(send(&app, "k", "").await, format!("500 {hidden}"));
        assert_eq!(send(&app, "k", "").await, format!("500 replayed {hidden}"));
    });
    assert_eq!(runs.count(), 1);
}

/// The error handlers of the route and the router also format stored errors.
/// `with_error_handling` before the keys does not change the error, even in the
/// first response.
#[test]
fn a_replayed_error_keeps_its_format() {
    fn own(error: &mut ErrorReply) {
        error.set_status(StatusCode::IM_A_TEAPOT);
        error.set_json(json!({ "own": error.message() }));
    }
    let broken = async || Err::<&'static str, _>(ApiError::conflict());
    let router = |entry: bool, router: bool, middleware: bool| {
        let options = if router { quiet().error_handling(own) } else { quiet() };
        let mut made = Router::with_options(options);
        let mut route = made.post("/x", broken);
        if entry {
            route = route.error_handling(own);
        }
        if middleware {
            route = route.middleware(stockade::middleware::with_error_handling(own));
        }
        route.middleware(with_idempotency(in_memory()));
        app(made)
    };
    let plain = r#"{"error":"Resource conflict"}"#;
    let written = r#"{"own":"Resource conflict"}"#;
    for (app, status, body) in [
        (router(false, false, false), 409, plain),
        (router(true, false, false), 418, written),
        (router(false, true, false), 418, written),
        (router(false, false, true), 409, plain),
    ] {
        block_on(async {
            assert_eq!(send(&app, "k", "").await, format!("{status} {body}"));
            assert_eq!(send(&app, "k", "").await, format!("{status} replayed {body}"));
        });
    }
}

#[test]
fn responses_before_the_handler_are_not_stored() {
    let runs = Runs::default();
    let counted = runs.clone();
    let once = with_idempotency(in_memory());
    let reader = with_permission(|user: &Value, _: &Request| user["sub"] == "ada");
    let mut router = Router::with_options(quiet());
    let number = move |_: Body<u8>| {
        let number = counted.begin();
        async move { number.to_string() }
    };
    router.post("/x", number).middleware([by_name(), once, reader]);
    let app = app(router);
    block_on(async {
        let ada = "POST /x\nauthorization: Bearer ada\nidempotency-key: \"k\"";
        let send = async |lines: &str, json: &str| {
            let lines = format!("{lines}\ncontent-type: application/json\n\n{json}");
            shown(app.handle(request(&lines)).await).await
        };
        // An invalid argument and a malformed body, then the corrected request.
        assert!(send(ada, "256").await.starts_with("400 "));
        assert!(send(ada, "{").await.starts_with("400 "));
        assert_eq!(send(ada, "7").await, "200 1");
        assert_eq!(send(ada, "7").await, "200 replayed 1");
        // The middleware after the keys rejects this user.
        let bob = ada.replace("ada", "bob");
        assert!(send(&bob, "7").await.starts_with("403 "));
        assert!(send(&bob, "8").await.starts_with("403 "));
    });
    assert_eq!(runs.count(), 1);
}

#[test]
fn a_too_large_response_is_sent_and_keeps_its_key() {
    let runs = Runs::default();
    let counted = runs.clone();
    let app = keyed!(in_memory().max_body(10), move |Body(length): Body<String>| {
        counted.begin();
        let length: usize = length.parse().unwrap();
        async move { (StatusCode::CREATED, "a".repeat(length)) }
    });
    let not_kept = r#"409 {"error":"The request with this Idempotency-Key returned 201, but the response was not stored"}"#;
    block_on(async {
        assert_eq!(send(&app, "k", "10").await, format!("201 {}", "a".repeat(10)));
        assert_eq!(send(&app, "k", "10").await, format!("201 replayed {}", "a".repeat(10)));
        assert_eq!(send(&app, "l", "11").await, format!("201 {}", "a".repeat(11)));
        assert_eq!(send(&app, "l", "11").await, not_kept);
    });
    assert_eq!(runs.count(), 2);

    let pieces = async || Streamed::new(stream::iter(["a", "b"].map(Ok::<_, Infallible>)));
    let app = keyed!(in_memory(), pieces);
    block_on(async {
        assert_eq!(send(&app, "k", "").await, "200 ab");
        assert!(send(&app, "k", "").await.starts_with("409 "));
    });
}

#[test]
fn a_response_larger_than_the_store_keeps_its_key() {
    let runs = Runs::default();
    let counted = runs.clone();
    let store = Arc::new(MemoryIdempotencyStore::new().max_bytes(100));
    let app = keyed!(Idempotency::new(Arc::clone(&store)), move || {
        counted.begin();
        async { "a".repeat(200) }
    });
    block_on(async {
        assert!(send(&app, "k", "").await.starts_with("200 aaa"));
        assert!(send(&app, "k", "").await.starts_with("409 "));
    });
    assert_eq!((runs.count(), store.len()), (1, 1));
}

#[test]
fn a_new_key_replaces_the_oldest_one_of_a_full_store() {
    let store = Arc::new(MemoryIdempotencyStore::new().max_keys(2));
    let app = keyed!(Idempotency::new(Arc::clone(&store)), async || "ran");
    block_on(async {
        for key in ["k", "l", "m"] {
            assert_eq!(send(&app, key, "").await, "200 ran");
        }
        assert_eq!(send(&app, "m", "").await, "200 replayed ran");
        assert_eq!(send(&app, "l", "").await, "200 replayed ran");
        assert_eq!(send(&app, "k", "").await, "200 ran", "it was the oldest");
    });
    assert_eq!(store.len(), 2);
}

#[test]
fn a_store_without_room_is_a_503() {
    let app = keyed!(Idempotency::new(MemoryIdempotencyStore::new().max_keys(0)), async || "ran");
    block_on(async {
        assert!(send(&app, "k", "").await.starts_with("503 "));
        let busy = app.handle(request("POST /x\nidempotency-key: \"k\"")).await;
        assert_eq!(busy.headers()["retry-after"], "1");
    });
}

#[test]
fn requires_a_valid_key() {
    let app = keyed!(in_memory().required(true), async || "ran");
    block_on(async {
        let missing = r#"400 {"error":"The header Idempotency-Key is missing"}"#;
        assert_eq!(send_lines(&app, "POST /x", "").await, missing);
        let bare = send_lines(&app, "POST /x\nidempotency-key: k", "").await;
        assert!(bare.starts_with("400 ") && bare.contains("in double quotes"), "{bare}");
        let twice = "POST /x\nidempotency-key: \"k\"\nidempotency-key: \"k\"";
        assert!(send_lines(&app, twice, "").await.contains("more than once"));
    });
    let app = keyed!(in_memory(), async || "ran");
    block_on(async {
        assert_eq!(send_lines(&app, "POST /x", "").await, "200 ran");
        assert_eq!(send_lines(&app, "POST /x", "").await, "200 ran");
        assert!(send_lines(&app, "POST /x\nidempotency-key: k", "").await.starts_with("400 "));
    });
}

#[test]
fn a_handler_can_extract_the_scoped_key() {
    let read = async |key: Option<IdempotencyKey>| match key {
        Some(key) => format!("{} {}", key.as_str(), key.scoped()),
        None => "none".to_owned(),
    };
    let own = in_memory().scope_by(|req| Ok(req.path().to_owned()));
    let (bare, keyed) = (app_of_handler(read), keyed!(own, read));
    let default = keyed!(in_memory(), read);
    block_on(async {
        let alone = send(&bare, "a \\\"b\\\"", "").await;
        assert!(alone.starts_with("200 a \"b\" "), "{alone}");
        assert_eq!(send(&default, "a \\\"b\\\"", "").await, alone, "the same scope");
        assert_ne!(send(&keyed, "a \\\"b\\\"", "").await, alone, "a scope of its own");
        assert_eq!(send_lines(&bare, "POST /x", "").await, "200 none");
        assert_eq!(send_lines(&keyed, "POST /x", "").await, "200 none");
    });
}

fn app_of_handler<F, Fut>(handler: F) -> App
where
    F: Fn(Option<IdempotencyKey>) -> Fut + Clone + Send + Sync + 'static,
    Fut: Future<Output = String> + Send + 'static,
{
    let mut router = Router::with_options(quiet());
    router.post("/x", handler);
    app(router)
}

/// A failed call of a batch does not free the key, because other calls ran.
#[test]
fn a_batch_of_calls_is_one_request() {
    let runs = Runs::default();
    let counted = runs.clone();
    let rpc = Rpc::new().method("pay", move |Body(cents): Body<u8>| {
        let number = counted.begin() + usize::from(cents) * 10;
        async move { number.to_string() }
    });
    let api = routes! { "x": { middleware: [with_idempotency(in_memory())], ..rpc.routes() } };
    let app = app(create_router(api, quiet()));
    let call =
        |cents: u32| json!({ "jsonrpc": "2.0", "method": "pay", "params": [cents], "id": 1 });
    let send = async |key: &str, body: Value| {
        let head = format!("POST /x\nidempotency-key: \"{key}\"\ncontent-type: application/json");
        shown(app.handle(request(&format!("{head}\n\n{body}"))).await).await
    };
    block_on(async {
        for batch in [json!([call(1), call(999)]), json!([call(999), call(2)])] {
            let key = batch[0].to_string().len().to_string();
            let first = send(&key, batch.clone()).await;
            assert!(first.starts_with("200 [") && first.contains("-32602"), "{first}");
            let again = send(&key, batch).await;
            assert_eq!(again, first.replacen(' ', " replayed ", 1));
        }
        assert_eq!(runs.count(), 2);
    });
}

/// A timeout after the keys belongs to the handler. The response is a 503 and
/// the key is free.
#[tokio::test(start_paused = true)]
async fn a_timeout_after_the_keys_frees_the_key() {
    let runs = Runs::default();
    let counted = runs.clone();
    let mut router = Router::with_options(quiet());
    let slow = move || {
        let number = counted.begin();
        async move {
            if number == 1 {
                std::future::pending::<()>().await;
            }
            "done"
        }
    };
    let once = with_idempotency(in_memory());
    let late = with_timeout(std::time::Duration::from_secs(5));
    router.post("/x", slow).middleware([once, Middleware::new(late)]);
    let app = app(router);
    assert!(send(&app, "k", "").await.starts_with("503 "));
    assert_eq!(send(&app, "k", "").await, "200 done");
    assert_eq!(send(&app, "k", "").await, "200 replayed done");
    assert_eq!(runs.count(), 2);
}
