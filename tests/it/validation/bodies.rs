//! Bodies: limits, content types and malformed input.
// Spec: Limits › Body size; Request object › body.

use std::collections::BTreeMap;
use std::convert::Infallible;

use futures_util::stream;
use serde::{Deserialize, Serialize};
use stockade::extract::{FileName, Multipart};
use stockade::prelude::*;
use stockade::validation::Rule;
use stockade::{HostOptions, HttpBody, http};

use crate::support::{app, app_of, block_on, check, header_of, show};

#[derive(Deserialize, Serialize, Schema)]
struct Point {
    x: i32,
    #[serde(default)]
    y: u8,
}

fn echoing() -> App {
    app_of(routes! {
        "typed": {
            POST: async |Body(point): Body<Point>| point,
            PUT: async |Body(point): Body<Option<Point>>| point,
            DELETE: async |Body(point): Body<Option<Point>>| point,
        },
        "value": { POST: async |Body(value): Body<Value>| value },
        "text": { POST: async |Body(text): Body<String>| text },
        "bytes": { POST: async |bytes: Bytes| format!("{} bytes", bytes.len()) },
        "parsed": {
            GET: async |mut req: Request| Ok::<_, ApiError>(req.body().await?.clone()),
            POST: async |mut req: Request| Ok::<_, ApiError>(req.body().await?.clone()),
        },
        "form": { POST: async |Body(form): Body<BTreeMap<String, Vec<String>>>| Json(form) },
        "both": { POST: async |bytes: Bytes, Body(value): Body<Value>| (StatusCode::OK, format!("{} {value}", bytes.len())) },
        "unread": { POST: async || "never asked" },
    })
}

const JSON: &str = "content-type: application/json";
const INVALID: &str = r#"400 {"error":"Invalid JSON body"}"#;
const UNSUPPORTED: &str = r#"415 {"error":"Unsupported Media Type"}"#;
const TOO_LARGE: &str = r#"413 {"error":"Request body too large"}"#;

#[track_caller]
fn post(path: &str, content_type: &str, body: &str, expected: &str) {
    check(&echoing(), &format!("POST {path}\n{content_type}\n\n{body}"), expected);
}

#[test]
fn json_becomes_a_typed_value() {
    post("/typed", JSON, r#"{"x":1,"y":2}"#, r#"200 {"x":1,"y":2}"#);
    post("/typed", JSON, r#"{"x":-1}"#, r#"200 {"x":-1,"y":0}"#);
    post(
        "/typed",
        "content-type: application/vnd.point+json",
        r#"{"x":1}"#,
        r#"200 {"x":1,"y":0}"#,
    );
    post(
        "/typed",
        "content-type: Application/JSON; charset=utf-8",
        r#"{"x":1}"#,
        r#"200 {"x":1,"y":0}"#,
    );
    post("/value", JSON, r#"{"b":1,"a":[null]}"#, r#"200 {"b":1,"a":[null]}"#);
    for scalar in ["1", "\"x\"", "true", "null", "1e3"] {
        let expected = scalar.replace("1e3", "1000.0");
        post("/value", JSON, scalar, &format!("200 {expected}"));
    }
}

#[test]
fn rejects_malformed_json() {
    for body in ["{", "{\"x\":1}}", "  ", "\u{feff}{}", "{'x':1}", "{\"x\":1,}", "NaN"] {
        post("/value", JSON, body, INVALID);
        post("/typed", JSON, body, INVALID);
        post("/parsed", JSON, body, INVALID);
    }
    let deep = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    post("/value", JSON, &deep(127), &format!("200 {}", deep(127)));
    post("/value", JSON, &deep(128), INVALID);
    post("/value", JSON, &deep(100_000), INVALID);
}

#[test]
fn reports_the_position_of_an_error_only_in_development() {
    let api = routes! { "x": { POST: async |Body(value): Body<Value>| value } };
    let app = app(create_router(api, RouterOptions::new().expose_errors(true)));
    let expected = r#"400 {"error":"Invalid JSON body","details":{"line":2,"column":1}}"#;
    check(&app, "POST /x\ncontent-type: application/json\n\n{\n,}", expected);
}

#[test]
fn a_mismatching_value_names_its_field() {
    let refused = |field: &str, message: &str, rule: &str| {
        let error = json!({ "field": field, "message": message, "rule": rule });
        let body = json!({ "error": "Validation failed", "details": { "errors": [error] } });
        format!("400 {body}")
    };
    post("/typed", JSON, "{}", &refused("x", "Required field 'x' is missing", "required"));
    post("/typed", JSON, r#"{"x":"a"}"#, &refused("x", "Expected integer, got string", "type"));
    post("/typed", JSON, r#"{"x":1,"x":2}"#, &refused("x", "Duplicate field 'x'", "type"));
    post(
        "/typed",
        JSON,
        r#"{"x":1,"y":300}"#,
        &refused("y", "Number must be at most 255", "maximum"),
    );
    post("/typed", JSON, r#"{"x":null}"#, &refused("x", "Expected integer, got null", "type"));
    // serde would accept an array by position.
    post("/typed", JSON, "[1,2]", &refused("", "Expected object, got array", "type"));
    post("/typed", JSON, "[1,2", INVALID);
    post("/typed", JSON, "7", &refused("", "Expected object, got number", "type"));
    let form = "content-type: application/x-www-form-urlencoded";
    post("/typed", form, "y=300&x=1", &refused("y", "Number must be at most 255", "maximum"));
    post("/typed", form, "x=one", &refused("x", "Expected integer, got string", "type"));
}

#[test]
fn duplicate_keys_and_special_names_in_untyped_bodies() {
    post("/value", JSON, r#"{"a":1,"a":2}"#, r#"200 {"a":2}"#);
    let special = r#"{"__proto__":{"x":1},"constructor":2,"prototype":3}"#;
    post("/value", JSON, special, &format!("200 {special}"));
    post("/value", JSON, "123456789012345678901234567890", "200 1.2345678901234568e+29");
}

#[test]
fn an_absent_body() {
    post("/typed", JSON, "", r#"400 {"error":"Request body is required"}"#);
    post("/parsed", JSON, "", "200 {}");
    post("/bytes", JSON, "", "200 0 bytes");
    check(&echoing(), "PUT /typed", "204");
    check(
        &echoing(),
        "PUT /typed\ncontent-type: application/json\n\n{\"x\":1}",
        r#"200 {"x":1,"y":0}"#,
    );
    check(&echoing(), "DELETE /typed", "204");
    check(
        &echoing(),
        "DELETE /typed\ncontent-type: application/json\n\n{\"x\":1}",
        r#"200 {"x":1,"y":0}"#,
    );
    // The body of a GET is not parsed.
    check(&echoing(), "GET /parsed\ncontent-type: application/json\n\n{", "200 {}");
}

#[test]
fn forms_and_texts() {
    let form = "content-type: application/x-www-form-urlencoded";
    post("/typed", form, "x=1&y=2", r#"200 {"x":1,"y":2}"#);
    post("/parsed", form, "a=1&b=x+y&a=%32", r#"200 {"a":["1","2"],"b":"x y"}"#);
    post("/form", form, "a=1&a=2&b=3", r#"200 {"a":["1","2"],"b":["3"]}"#);
    post("/text", "content-type: text/plain", "hällo", "200 hällo");
    post("/parsed", "content-type: text/csv", "a,b", r#"200 "a,b""#);
}

#[derive(Deserialize, Schema, Serialize)]
struct Settings {
    news: bool,
    #[serde(default = "enabled")]
    on_by_default: bool,
    maybe: Option<bool>,
    age: Option<u8>,
    #[serde(default)]
    limit: u8,
    #[schema(min_length = 2)]
    nick: Option<String>,
    note: Option<String>,
    color: Option<Color>,
    #[serde(default)]
    sizes: Vec<u8>,
    #[serde(flatten)]
    more: More,
}

#[derive(Deserialize, Serialize, Schema)]
struct More {
    terms: bool,
}

#[derive(Deserialize, Serialize, Schema)]
#[serde(rename_all = "lowercase")]
enum Color {
    Red,
}

fn enabled() -> bool {
    true
}

#[derive(Deserialize, Schema, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Choice {
    Mail { html: bool, copies: Option<u8> },
    Post { express: bool },
}

#[test]
fn reads_forms_sent_by_browsers() {
    let app = app_of(routes! {
        "typed": { POST: async |Body(form): Body<Settings>| form },
        "kinds": { POST: async |Body(form): Body<Choice>| form },
        "optional": { POST: async |Body(form): Body<Option<Settings>>| form },
        "untyped": { POST: {
            handler: async |mut req: Request| Ok::<_, ApiError>(req.body().await?.clone()),
            validation: schema!({
                "type": "object",
                "properties": {
                    "flag": { "type": "boolean" },
                    "free": { "type": "boolean" },
                    "age": { "type": "integer" },
                    "size": { "type": "integer", "default": 7 },
                },
                "required": ["flag"],
            }),
        } },
    });
    let form = "content-type: application/x-www-form-urlencoded";
    let typed = |body: &str, expected: &str| {
        check(&app, &format!("POST /typed\n{form}\n\n{body}"), &format!("200 {expected}"));
    };
    let nothing = r#"{"news":false,"on_by_default":true,"maybe":null,"age":null,"limit":0,"nick":null,"note":null,"color":null,"sizes":[],"terms":false}"#;
    typed("", nothing);
    typed("age=&limit=&nick=&color=&sizes=&maybe=&on_by_default=", nothing);
    typed(
        "news=on&terms=on&maybe=on&age=7&nick=ab&note=&color=red&sizes=1&sizes=2&limit=3",
        r#"{"news":true,"on_by_default":true,"maybe":true,"age":7,"limit":3,"nick":"ab","note":"","color":"red","sizes":[1,2],"terms":true}"#,
    );
    typed(
        "news=true&terms=false&on_by_default=false",
        &nothing
            .replacen("false", "true", 1)
            .replace(r#""on_by_default":true"#, r#""on_by_default":false"#),
    );
    for (body, field, message) in [
        ("news=yes", "news", "Expected boolean, got string"),
        ("news=", "news", "Expected boolean, got string"),
        ("news=on&news=on", "news", "Expected boolean, got array"),
        ("age=on", "age", "Expected integer, got string"),
    ] {
        let text = format!("POST /typed\n{form}\n\n{body}");
        check_field_error(&app, &text, field, message);
    }
    let kinds = |body: &str, expected: &str| {
        check(&app, &format!("POST /kinds\n{form}\n\n{body}"), expected);
    };
    kinds("kind=mail&copies=", r#"200 {"kind":"mail","html":false,"copies":null}"#);
    kinds("kind=post&express=on", r#"200 {"kind":"post","express":true}"#);
    check(&app, &format!("POST /optional\n{form}"), "204");
    let untyped = |body: &str, expected: &str| {
        check(&app, &format!("POST /untyped\n{form}\n\n{body}"), expected);
    };
    untyped("", r#"200 {"flag":false,"size":7}"#);
    untyped("flag=on&age=&size=", r#"200 {"flag":true,"size":7}"#);
    // The conversions of form values do not apply to JSON.
    check_field_error(
        &app,
        &format!("POST /typed\n{JSON}\n\n{{\"terms\":true}}"),
        "news",
        "Required field 'news' is missing",
    );
    let on = format!("POST /typed\n{JSON}\n\n{{\"terms\":true,\"news\":\"on\"}}");
    check_field_error(&app, &on, "news", "Expected boolean, got string");
}

/// Checks the first error of a request that fails validation.
#[track_caller]
fn check_field_error(app: &App, text: &str, field: &str, message: &str) {
    let request = crate::support::request(text);
    let shown = block_on(async { show(app.handle(request).await).await });
    let body: Value = serde_json::from_str(shown.strip_prefix("400 ").expect("a 400")).unwrap();
    let error = &body["details"]["errors"][0];
    assert_eq!((&error["field"], &error["message"]), (&json!(field), &json!(message)), "{text}");
}

#[test]
fn other_types_are_bytes_or_415() {
    for content_type in
        ["content-type: image/png", "x-none: 1", "content-type: application/json; charset=latin1"]
    {
        post("/typed", content_type, "{\"x\":1}", UNSUPPORTED);
        post("/parsed", content_type, "{\"x\":1}", UNSUPPORTED);
        post("/bytes", content_type, "{\"x\":1}", "200 7 bytes");
    }
}

#[test]
fn several_arguments_can_read_the_body() {
    post("/both", JSON, "[1]", "200 3 [1]");
}

/// Returns a chunked body without a length.
fn chunked(pieces: Vec<&'static str>) -> HttpBody {
    HttpBody::stream(stream::iter(pieces.into_iter().map(Ok::<_, Infallible>)))
}

#[test]
fn the_limit_is_inclusive_and_applies_while_reading() {
    let api = || {
        routes! {
            "small": { POST: { handler: async |bytes: Bytes| bytes.len().to_string(), max_body: 4 } },
            "none": { POST: { handler: async |bytes: Bytes| bytes.len().to_string(), max_body: 0 } },
            "usual": { POST: async |bytes: Bytes| bytes.len().to_string() },
            "stream": { POST: { handler: async |body: HttpBody| match body.collect(100).await {
                Ok(bytes) => bytes.len().to_string(),
                Err(error) => error.to_string(),
            }, max_body: 4 } },
        }
    };
    let app = app(create_router(api(), RouterOptions::new().max_body_size(6)));
    check(&app, "POST /small\n\n1234", "200 4");
    check(&app, "POST /small\n\n12345", TOO_LARGE);
    check(&app, "POST /none\n\n", "200 0");
    check(&app, "POST /none\n\n1", TOO_LARGE);
    check(&app, "POST /usual\n\n123456", "200 6");
    check(&app, "POST /usual\n\n1234567", TOO_LARGE);
    assert_eq!(header_of(&app, "POST /small\n\n12345", "connection"), "close");

    let send = |path: &str, pieces| {
        let request = http::Request::post(path).body(chunked(pieces)).unwrap();
        block_on(async { show(app.handle(request).await).await })
    };
    assert_eq!(send("/small", vec!["12", "34"]), "200 4");
    assert_eq!(send("/small", vec!["12", "34", "5"]), TOO_LARGE);
    assert_eq!(send("/stream", vec!["12", "34"]), "200 4");
    assert_eq!(send("/stream", vec!["12", "34", "5"]), "200 Request body too large");
}

#[test]
fn errors_of_a_streamed_body_keep_their_status() {
    async fn count(body: HttpBody) -> Result<String, BoxError> {
        Ok(body.collect(100).await?.len().to_string())
    }
    let app = app_of(routes! { "x": { POST: { handler: count, max_body: 4 } } });
    let send = |pieces: Vec<Result<&'static str, stockade::BodyError>>| {
        let body = HttpBody::stream(stream::iter(pieces));
        let request = http::Request::post("/x").body(body).unwrap();
        block_on(async { show(app.handle(request).await).await })
    };
    assert_eq!(send(vec![Ok("12"), Ok("34")]), "200 4");
    assert_eq!(send(vec![Ok("12"), Ok("345")]), TOO_LARGE);
    let slow = r#"408 {"error":"Request Timeout"}"#;
    assert_eq!(send(vec![Ok("12"), Err(stockade::BodyError::TimedOut)]), slow);
    let broken = r#"400 {"error":"Malformed request body"}"#;
    assert_eq!(send(vec![Err(stockade::BodyError::Broken)]), broken);
}

#[test]
fn reading_the_body_in_middleware_does_not_change_it() {
    #[derive(Deserialize, Serialize, Schema)]
    struct Form {
        n: u32,
        #[serde(default)]
        tag: Vec<String>,
    }
    async fn looks(req: &mut Request) -> Result<(), ApiError> {
        req.body().await.map(drop)
    }
    async fn optional(Body(form): Body<Option<Form>>) -> Option<Form> {
        form
    }
    let anything = Rule::any;
    let app = app_of(routes! {
        middleware: [looks],
        "form": { POST: { handler: async |Body(form): Body<Form>| form, validation: anything() } },
        "optional": { POST: { handler: optional, validation: anything() } },
        "bytes": { POST: { handler: async |bytes: Bytes| bytes, validation: anything() } },
    });
    let form = "content-type: application/x-www-form-urlencoded";
    check(&app, &format!("POST /form\n{form}\n\nn=7&tag=a"), r#"200 {"n":7,"tag":["a"]}"#);
    check(&app, "POST /optional", "204");
    check(&app, &format!("POST /optional\n{JSON}\n\n{{\"n\":1}}"), r#"200 {"n":1,"tag":[]}"#);
    check(&app, &format!("POST /bytes\n{JSON}\n\n{{ \"n\" : 1 }}"), r#"200 { "n" : 1 }"#);
}

#[test]
fn an_abandoned_read_does_not_give_an_empty_body() {
    async fn gives_up(req: &mut Request) {
        let mut read = Box::pin(req.bytes());
        std::future::poll_fn(|cx| {
            assert!(read.as_mut().poll(cx).is_pending());
            std::task::Poll::Ready(())
        })
        .await;
    }
    let mut router = Router::new();
    router.post("/x", async |bytes: Bytes| bytes).middleware(gives_up);
    let app = app(router);
    let body = HttpBody::stream(stream::once(async {
        tokio::task::yield_now().await;
        Ok::<_, Infallible>("late")
    }));
    let request = http::Request::post("/x").body(body).unwrap();
    let answer = block_on(async { show(app.handle(request).await).await });
    assert_eq!(answer, r#"400 {"error":"Malformed request body"}"#);
}

#[test]
fn rejects_invalid_utf8_in_ignored_values() {
    let request = http::Request::post("/typed")
        .header("content-type", "application/json")
        .body(b"{\"x\":1,\"junk\":\"\xff\"}".to_vec())
        .unwrap();
    let app = echoing();
    assert_eq!(block_on(async { show(app.handle(request).await).await }), INVALID);
}

#[test]
fn rejects_a_too_long_announced_body_of_every_method_first() {
    let router = create_router(
        routes! { "x": { middleware: [panics], POST: async || "", GET: async || "", DELETE: async || "" } },
        RouterOptions::new(),
    );
    let app = app(router);
    for method in ["POST", "GET", "DELETE"] {
        check(&app, &format!("{method} /x\ncontent-length: 1048577"), TOO_LARGE);
    }
    check(&app, "POST /y\ncontent-length: 1048577", r#"404 {"error":"Not Found"}"#);
}

fn panics(_req: &mut Request) {
    panic!("middleware must not run");
}

#[test]
fn host_options_override_router_options() {
    let api = routes! {
        "x": { POST: async |bytes: Bytes| bytes.len().to_string() },
        "own": { POST: { handler: async |bytes: Bytes| bytes.len().to_string(), max_body: 2 } },
    };
    let app = app(create_router(api, RouterOptions::new().max_body_size(1)));
    let app = app.with_options(HostOptions::new().max_body_size(3)).unwrap();
    let call = |text: &str| {
        let request = crate::support::request(text);
        block_on(async { show(app.handle(request).await).await })
    };
    assert_eq!(call("POST /x\n\n123"), "200 3");
    assert_eq!(call("POST /x\n\n1234"), TOO_LARGE);
    // The route's own limit applies.
    assert_eq!(call("POST /own\n\n123"), TOO_LARGE);
}

#[test]
fn multipart_is_read_part_by_part() {
    async fn parts(mut form: Multipart) -> Result<Value, ApiError> {
        let mut seen = Vec::new();
        while let Some(part) = form.next().await? {
            let name = part.name().map(str::to_owned);
            let file = part.file_name().map(str::to_owned);
            seen.push(json!([name, file, part.text().await?]));
        }
        Ok(seen.into())
    }
    async fn few(form: Multipart) -> Result<Value, ApiError> {
        parts(form.limits(1, 3)).await
    }
    async fn small(form: Multipart) -> Result<Value, ApiError> {
        parts(form.limits(2, 3)).await
    }
    async fn held(mut form: Multipart) -> Result<(), ApiError> {
        let _part = form.next().await?;
        form.next().await.map(drop)
    }
    let app = app_of(routes! {
        "parts": { POST: parts },
        "few": { POST: few },
        "small": { POST: small },
        "held": { POST: held },
        "whole": { POST: { handler: parts, max_body: 20 } },
    });
    let body = "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\none\r\n\
                --B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x.txt\"\r\n\r\nfile\r\n--B--\r\n";
    let head = "content-type: multipart/form-data; boundary=B";
    check(
        &app,
        &format!("POST /parts\n{head}\n\n{body}"),
        r#"200 [["a",null,"one"],["f","x.txt","file"]]"#,
    );
    check(&app, &format!("POST /few\n{head}\n\n{body}"), r#"413 {"error":"Too many parts"}"#);
    check(
        &app,
        &format!("POST /small\n{head}\n\n{body}"),
        r#"413 {"error":"A part is too large"}"#,
    );
    check(&app, &format!("POST /whole\n{head}\n\n{body}"), TOO_LARGE);
    let held = r#"500 {"error":"Internal Server Error"}"#;
    check(&app, &format!("POST /held\n{head}\n\n{body}"), held);
    check(
        &app,
        &format!("POST /parts\n{head}\n\n--B\r\nbroken"),
        r#"400 {"error":"Malformed multipart body"}"#,
    );
    let name = "n".repeat(8_192);
    let long = body.replace("name=\"f\"", &format!("name=\"{name}\""));
    let too_long = r#"400 {"error":"The header of a part is too long"}"#;
    check(&app, &format!("POST /parts\n{head}\n\n{long}"), too_long);
    let long = body.replace("x.txt", &name);
    check(&app, &format!("POST /parts\n{head}\n\n{long}"), too_long);
    let no_boundary = "POST /parts\ncontent-type: multipart/form-data\n\nx";
    check(&app, no_boundary, r#"400 {"error":"The multipart boundary is missing"}"#);
    check(&app, "POST /parts\ncontent-type: application/json\n\n{}", UNSUPPORTED);
}

#[test]
fn reads_multipart_names_sent_by_clients() {
    async fn names(mut form: Multipart) -> Result<Value, ApiError> {
        let mut seen = Vec::new();
        while let Some(part) = form.next().await? {
            let file = part.file_name().unwrap_or_default();
            let is_safe = file.parse::<FileName>().is_ok();
            seen.push(json!([part.name(), part.file_name(), is_safe]));
        }
        Ok(seen.into())
    }
    let app = app_of(routes! { "names": { POST: names } });
    let post = |boundary: &str, delimiter: &str, disposition: &str, expected: &str| {
        let head = format!("content-type: Multipart/Form-Data; charset=x; {boundary}");
        let part = format!("Content-Disposition: form-data; {disposition}\r\n\r\nx");
        let body = format!("--{delimiter}\r\n{part}\r\n--{delimiter}--\r\n");
        check(&app, &format!("POST /names\n{head}\n\n{body}"), expected);
    };
    for (disposition, expected) in [
        (r#"NAME="a"; FileName="b.txt""#, r#"["a","b.txt",true]"#),
        (r#"name="a"; filename="x"; filename*=UTF-8''%e2%82%ac.txt"#, r#"["a","€.txt",true]"#),
        (r#"name="a%22%0D%0A"; filename="b%22.txt""#, r#"["a\"\r\n","b\".txt",false]"#),
        ("name=\"a\";\r\n filename=\"b.txt\"", r#"["a","b.txt",true]"#),
        ("name=\"a\"\r\n\t; filename*=\r\n utf-8''b", r#"["a","b",true]"#),
        // A file name is never interpreted as a path, in any notation.
        (r#"name="a"; filename*=UTF-8''..%2F..%2Fetc"#, r#"["a","../../etc",false]"#),
        (r#"name="a"; filename*=UTF-8''b%00.png"#, r#"["a","b\u0000.png",false]"#),
        (r#"name="a"; filename="..\x""#, r#"["a","..\\x",false]"#),
        (r#"name="a"; filename="b%0Ac""#, r#"["a","b\nc",false]"#),
    ] {
        post("boundary=B", "B", disposition, &format!("200 [{expected}]"));
    }
    for (boundary, delimiter) in [
        ("BOUNDARY=B", "B"),
        ("boundary=\"a b'()+_,-./:=?c\"", "a b'()+_,-./:=?c"),
        ("boundary=----=_Part_1(2)/3:4,5?6", "----=_Part_1(2)/3:4,5?6"),
        ("boundary=\"a\\\"b\"; x=y", "a\"b"),
    ] {
        post(boundary, delimiter, r#"name="a""#, r#"200 [["a",null,false]]"#);
    }
    let missing = r#"400 {"error":"The multipart boundary is missing"}"#;
    post("boundary=", "B", r#"name="a""#, missing);
    post("boundary=\"\"", "B", r#"name="a""#, missing);
    post("boundary", "B", r#"name="a""#, missing);
    let ambiguous = r#"400 {"error":"The multipart boundary is ambiguous"}"#;
    post("boundary=B; boundary=C", "B", r#"name="a""#, ambiguous);
}

#[test]
fn a_route_can_ignore_the_body() {
    post("/unread", JSON, "{", "200 never asked");
}
