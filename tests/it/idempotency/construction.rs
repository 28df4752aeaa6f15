//! Configuration errors found while the router is built.

use std::time::Duration;

use stockade::middleware::with_decompression;
use stockade::openapi::{OpenApiOptions, open_api};
use stockade::validation::{Schema as AnySchema, ValidationOptions, validate_against_schema};

use super::*;

/// Returns the configuration errors of a route with this middleware.
fn mistakes(method: &str, middleware: impl IntoIterator<Item = Middleware>) -> String {
    let mut router = Router::with_options(quiet());
    let list: Vec<Middleware> = middleware.into_iter().collect();
    router.route(method.parse().unwrap(), "/x", async || "x").middleware(list);
    router.build().map_or_else(|error| error.to_string(), |_| String::new())
}

#[track_caller]
fn check(options: Idempotency, expected: &str) {
    let text = mistakes("POST", [with_idempotency(options)]);
    assert!(text.contains(expected) && text.is_empty() == expected.is_empty(), "{text}");
}

#[test]
fn invalid_options_are_configuration_errors() {
    check(in_memory(), "");
    check(in_memory().header("x-a").header("X-A"), "");
    check(in_memory().header("Set-Cookie"), "the header `Set-Cookie` must not be replayed");
    check(in_memory().header("date"), "the header `date` must not be replayed");
    check(in_memory().header("a b"), "\"a b\" is not a header name");
    check(in_memory().lease(Duration::from_millis(999)), "must not be shorter than 1 s");
    check(in_memory().ttl(Duration::from_secs(29)), "the ttl must not be shorter than the lease");
}

#[test]
fn accepts_only_post_and_patch() {
    let once = || with_idempotency(in_memory());
    for method in ["POST", "PATCH"] {
        assert_eq!(mistakes(method, [once()]), "");
    }
    for method in ["GET", "PUT", "DELETE"] {
        let text = mistakes(method, [once()]);
        let expected = format!("`with_idempotency` supports only POST and PATCH, found {method}");
        assert!(text.contains(&expected), "{text}");
    }
}

#[test]
fn authentication_and_decompression_must_precede_the_keys() {
    let once = || with_idempotency(in_memory());
    assert_eq!(mistakes("POST", [by_name(), once()]), "");
    let text = mistakes("POST", [once(), once()]);
    assert!(text.contains("two middlewares handle the idempotency key"), "{text}");
    let text = mistakes("POST", [once(), by_name()]);
    let expected = "`with_idempotency` distinguishes users, but runs before `with_auth` \
                    authenticates them: put `with_auth` first";
    assert!(text.contains(expected), "{text}");
    let own = with_idempotency(in_memory().scope_by(|req| Ok(req.path().to_owned())));
    assert_eq!(mistakes("POST", [own, by_name()]), "");
    let text = mistakes("POST", [once(), Middleware::new(with_decompression())]);
    assert!(text.contains("put `with_decompression` first"), "{text}");
}

#[tokio::test]
async fn the_document_describes_the_keys_that_are_accepted() {
    let app = keyed!(in_memory(), async || "x");
    let map = app.route_map();
    let header = map.routes[0].headers.iter().find(|it| it.name == "Idempotency-Key").unwrap();
    let documented = AnySchema::from_value(header.schema.as_ref().unwrap()).unwrap();
    let document = open_api(&app, &OpenApiOptions::new("Keys", "1.0.0")).unwrap();
    let parameters = document["paths"]["/x"]["post"]["parameters"].as_array().unwrap();
    let parameter = parameters.iter().find(|it| it["name"] == "Idempotency-Key").unwrap();
    assert_eq!(Some(&parameter["schema"]), header.schema.as_ref());

    let longest = "a".repeat(255);
    let keys = [
        r#""8e03978e-40d5""#,
        r#""a b""#,
        r#""\"\\""#,
        &format!("\"{longest}\""),
        &format!("\"{}\"", r"\\".repeat(255)),
        &format!("\"{longest}a\""),
        r#""""#,
        r#""\a""#,
        r#""a"b"#,
        r#""a"#,
        "8e03978e-40d5",
    ];
    for (place, key) in keys.into_iter().enumerate() {
        let request = request(&format!("POST /x\nidempotency-key: {key}"));
        let is_accepted = app.handle(request).await.status() == 200;
        let options = ValidationOptions::new();
        let validated = validate_against_schema(&documented, json!(key), &options).unwrap();
        let is_documented = validated.errors.is_empty();
        assert_eq!(is_accepted, place < 5, "{key}");
        assert_eq!(is_documented, is_accepted, "{key}");
    }
}
