//! The messages of failing tests.

use super::*;

#[tokio::test]
async fn a_failure_prints_the_exchange_without_credentials() {
    let client = TestClient::new(router());
    let line = line!() + 1;
    let asked = client.post("/json?token=t").bearer("b").json(json!({ "password": "p", "n": 1 }));
    let answer = asked.await;
    let said = message(|| answer.assert_status(201));
    let head = format!(
        "the status is 200, not 201\n\nsent at {}:{line}\n\
         > POST /json?token=(redacted)\n\
         > authorization: Bearer (redacted)\n\
         > content-type: application/json\n\
         >\n\
         > {{\"password\":\"(redacted)\",\"n\":1}}\n\n\
         < 200 OK\n\
         < content-type: application/json\n",
        file!()
    );
    assert!(said.starts_with(&head), "{said}");
    assert!(said.ends_with("<\n< {\"password\":\"(redacted)\",\"n\":1}\n"), "{said}");

    #[track_caller]
    fn check<T>(call: impl FnOnce() -> T, expected: &str) {
        let said = message(call);
        assert_eq!(said.split("\n\nsent at").next().unwrap(), expected);
    }
    check(|| answer.assert_header("x-a", "1"), "the header x-a is missing");
    check(|| answer.assert_header("content-type", "x"), "the header content-type is not \"x\"");
    check(
        || answer.assert_no_header("content-type"),
        "found the header content-type, expected none",
    );
    check(
        || answer.assert_json(json!({ "password": "q", "n": 2 })),
        "the body differs:\n  $.password differs: (redacted)\n  $.n is 1, not 2",
    );
    check(|| answer.assert_text("x"), "the body is not \"x\"");
    check(|| answer.assert_text_contains("x"), "the body does not contain \"x\"");
    check(|| answer.assert_empty(), "found a body, expected none");
    check(|| answer.assert_error("x"), "expected an error status");
    let missing = client.get("/nowhere").await;
    check(|| missing.assert_error("x"), "the error message is not \"x\"");
    check(|| missing.assert_field_error("a", "b"), "the status is 404, not 400");
    check(
        || missing.json::<u8>(),
        "cannot parse the body as JSON of u8: invalid type: map, expected u8 at line 1 column 0",
    );
    let binary = client.get("/binary").await;
    assert!(format!("{binary:?}").ends_with("< (2 bytes that are not text)\n"), "{binary:?}");
    assert!(message(|| binary.text().len()).starts_with("the body is not text: "));
}

#[tokio::test]
async fn a_rejected_field_has_the_status_of_the_application() {
    let mut router = Router::new();
    router.validation_status(422);
    router.get("/users/:id", async |Path(id): Path<u8>| id.to_string());
    router.get("/no-json", async || (http::StatusCode::BAD_REQUEST, "text"));
    let client = TestClient::new(router);
    let refused = client.get("/users/x").await;
    refused.assert_status(422).assert_field_error("id", "type");
    let said = message(|| refused.assert_field_error("id", "minimum"));
    assert!(said.starts_with("the rule \"minimum\" did not reject the field \"id\""), "{said}");
    let text = client.get("/no-json").await;
    let said = message(|| text.assert_field_error("id", "type"));
    assert!(said.starts_with("cannot parse the body as JSON"), "{said}");
}

#[tokio::test(start_paused = true)]
async fn a_missing_response_is_a_failure() {
    let client = TestClient::new(router());
    let error = client.get("/never").try_send().await.unwrap_err().to_string();
    let expected = "no response within 30s (TestClient::with_timeout)\n\nsent at ";
    assert!(error.starts_with(expected), "{error}");
    let quick = client.with_timeout(Duration::from_secs(1));
    let error = quick.get("/events").try_send().await.unwrap_err().to_string();
    assert!(error.starts_with("no complete response within 1s"), "{error}");
    assert!(error.ends_with("< data: {\"n\":2}\n< \n"), "{error}");
    let mut socket = quick.websocket("/echo").connect().await;
    let said = async_message(socket.receive()).await;
    assert!(said.starts_with("no message within 1s"), "{said}");
}

#[tokio::test]
async fn a_body_without_end_is_a_failure() {
    let mut router = Router::new();
    router.get("/large", async || {
        Streamed::new(stream::repeat_with(|| Ok::<_, ApiError>(vec![b'x'; 1 << 20])))
    });
    router.get("/small", async || Streamed::new(stream::repeat_with(|| Ok::<_, ApiError>("x"))));
    let client = TestClient::new(router);
    let error = client.get("/large").try_send().await.unwrap_err().to_string();
    assert!(
        error.starts_with("the body is larger than 64 MiB: use TestRequest::stream"),
        "{error}"
    );
    let quick = client.with_timeout(Duration::from_millis(20));
    let error = quick.get("/small").try_send().await.unwrap_err().to_string();
    assert!(error.starts_with("no complete response within 20ms"), "{error}");
}

#[tokio::test]
async fn an_ended_stream_stays_ended() {
    let mut router = Router::new();
    router.get("/two", async || {
        // This stream panics if it is polled after its end.
        Streamed::new(stream::unfold(2, async |left: u8| {
            (left > 0).then(|| (Ok::<_, ApiError>(format!("data: {left}\n\n")), left - 1))
        }))
    });
    router.get("/broken", async || {
        Streamed::new(stream::iter([Ok("one"), Err(ApiError::new(500, "it broke"))]))
    });
    let client = TestClient::new(router);
    let mut two = client.get("/two").stream().await;
    two.assert_status(200).assert_status(200).assert_header("x-frame-options", "DENY");
    while two.next_event().await.is_some() {}
    assert!(two.next_event().await.is_none());
    assert!(two.chunk().await.is_none());
    two.into_response().await.assert_empty().assert_empty();

    let mut broken = client.get("/broken").stream().await;
    assert_eq!(broken.chunk().await.unwrap(), "one");
    for _ in 0..2 {
        let error = broken.try_chunk().await.map_err(|error| error.to_string());
        assert!(
            error.as_ref().is_err_and(|it| it.starts_with("the body ended early")),
            "{error:?}"
        );
    }
}

#[tokio::test]
async fn reports_wrong_use() {
    #[track_caller]
    fn check<T>(call: impl FnOnce() -> T, expected: &str) {
        let said = message(call);
        assert!(said.contains(expected), "{said}");
    }
    check(|| TestClient::live("localhost:3000"), "does not begin with http://");
    check(|| TestClient::live("https://localhost"), "requires TLS");
    check(|| TestClient::live("http://localhost?a=1"), "has a query");
    let client = TestClient::new(router());
    check(|| client.get("/").header("a b", "c"), "\"a b\" is not a header name");
    check(|| client.get("/").bearer("a\nb"), "the value of the header authorization is invalid");
    check(|| client.get("/").peer("nobody"), "found \"nobody\"");
    check(|| client.get("/").query("text"), "cannot serialize the value as key-value pairs");
    let unwritable = std::collections::BTreeMap::from([([1, 2], "a pair as a key")]);
    check(|| client.get("/").json(&unwritable), "cannot serialize the value as JSON: key must be");
    check(|| client.get("/").form(&unwritable), "cannot serialize the value as key-value pairs");
    let answer = client.get("/users/7").await;
    check(
        || answer.assert_json(&unwritable),
        "cannot serialize the expected value as JSON: key must be",
    );
    let live = TestClient::live("http://127.0.0.1:1");
    check(
        || live.clone().with_host_options(HostOptions::new()),
        "cannot override the options of a live server",
    );
    for target in ["users/7", "http://localhost/users/7", "", "?a=1", "/a b", "/a\nb"] {
        let error = client.get(target).try_send().await.unwrap_err().to_string();
        assert!(
            error.contains("is not a path") || error.contains("is not a request target"),
            "{error}"
        );
    }
    let error = live.get("/").try_send().await.unwrap_err().to_string();
    assert!(error.starts_with("no response from http://127.0.0.1:1: "), "{error}");
    let mut twice = Router::new();
    twice.get("/a", async || "");
    twice.get("/a", async || "");
    check(|| TestClient::new(twice), "duplicate route: same method and path as GET /a");
    assert!(TestClient::try_new(Router::new()).is_ok());
}
