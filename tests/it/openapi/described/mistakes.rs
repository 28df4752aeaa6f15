//! Contradictory descriptions: each is a configuration error with its location.

use stockade::description::ResponseDoc;
use stockade::openapi::{OpenApiOptions, Webhook, with_open_api};
use stockade::prelude::*;
use stockade::{RouteDescription, RouteDocs};

#[derive(serde::Serialize, serde::Deserialize, Schema)]
struct User {
    #[schema(min_length = 2)]
    name: String,
}

async fn user() -> Json<User> {
    Json(User { name: "Ada".to_owned() })
}

/// Returns the text of a router's configuration errors.
fn mistakes(router: Router) -> String {
    router.build().map(drop).unwrap_err().to_string()
}

/// Checks that the errors of a route with this documentation contain a text and
/// their location. Without a text, it expects no error.
macro_rules! check {
    ($handler:expr, $docs:expr, $expected:expr) => {{
        let mut router = Router::new();
        let line = line!();
        router.get("/x", $handler).docs($docs);
        if $expected.is_empty() {
            router.build().unwrap();
        } else {
            let text = mistakes(router);
            assert!(text.contains($expected), "{text}");
            assert!(text.contains(&format!("{}:{line}", file!())), "{text}");
        }
    }};
}

fn docs() -> RouteDocs {
    RouteDocs::new("A user")
}

#[test]
fn an_impossible_response_is_an_error() {
    check!(user, docs().response(409, "Taken"), "the response 409 cannot occur");
    check!(user, docs().response(201, "New"), "the response 201 cannot occur");
    check!(user, docs().response(200, "The user").response(429, "Slowly"), "");
    let open = async || Err::<Json<User>, _>(ApiError::conflict());
    check!(open, docs().response(409, "Taken").response(200, "The user"), "");
    check!(async || (StatusCode::CREATED, "x"), docs().response(201, "New"), "");
}

#[test]
fn an_example_of_an_impossible_response_is_an_error() {
    check!(user, docs().reply_example(200, json!({ "name": "Ada" })), "");
    let broken = docs().reply_example(200, json!({ "name": "A" }));
    check!(user, broken, "the reply example of 200 is invalid: name: ");
    let nameless = docs().reply_example(200, json!({}));
    check!(user, nameless, "the reply example of 200 is invalid: name: ");
    let foreign = docs().reply_example(418, json!({}));
    check!(user, foreign, "the reply example has the status 418, which the route does not return");
    let any = async || Json(json!({}));
    check!(any, docs().reply_example(200, json!([1])), "");
}

#[test]
fn contradictory_responses_are_errors() {
    let telling = |describe: fn(&mut RouteDescription)| {
        let told = |_: &mut Request| {};
        let told = Middleware::new(told).named("told").describing(describe);
        let mut router = Router::new();
        router.get("/x", user).middleware(told);
        router
    };
    let text = mistakes(telling(|doc| doc.responds(ResponseDoc::json::<User>(204))));
    assert!(
        text.contains("`told` returns 204 with a body, but this status does not allow one"),
        "{text}"
    );
    let text = mistakes(telling(|doc| {
        doc.responds(ResponseDoc::new(202));
        doc.responds(ResponseDoc::json::<User>(202));
    }));
    assert!(text.contains("`told` returns 202 with a body and without one"), "{text}");
    // Two parts may return the same status.
    assert!(telling(|doc| doc.responds(ResponseDoc::new(200))).build().is_ok());
}

/// Checks the document's errors, each with the lines of both routes.
fn check_pair(first: (&str, Option<&str>), second: (&str, Option<&str>), expected: &str) {
    let mut router = Router::new();
    let line = line!();
    let route = router.get(first.0, user);
    if let Some(name) = first.1 {
        route.name(name);
    }
    let route = router.get(second.0, user);
    if let Some(name) = second.1 {
        route.name(name);
    }
    let text = mistakes(with_open_api(router, OpenApiOptions::new("Users", "1")));
    assert!(text.contains(expected), "{text}");
    for line in [line + 1, line + 5] {
        assert!(text.contains(&format!("{}:{line}", file!())), "{line}: {text}");
    }
}

#[test]
fn ambiguous_operations_name_both_locations() {
    check_pair((r"/a/:id(\d+)", None), ("/a/:name", None), "hide one of the routes with");
    check_pair(
        ("/a", Some("getB")),
        ("/b", None),
        "duplicate operation \"getB\", already used by GET /a",
    );
    check_pair(
        ("/a-b", None),
        ("/a/b", None),
        "duplicate operation \"getAB\", already used by GET /a-b",
    );
}

#[test]
fn a_webhook_needs_a_unique_name() {
    let mut router = Router::new();
    router.get("/users", user);
    let options = OpenApiOptions::new("Users", "1").webhook("getUsers", Webhook::of::<User>());
    let text = mistakes(with_open_api(router, options));
    assert!(text.contains("the webhook \"getUsers\" has the same name as GET /users"), "{text}");
}

mod one {
    #[derive(serde::Serialize, stockade::prelude::Schema)]
    #[schema(name = "Pinned")]
    pub struct Left {
        pub left: bool,
    }
}

mod other {
    #[derive(serde::Serialize, stockade::prelude::Schema)]
    #[schema(name = "Pinned")]
    pub struct Right {
        pub right: bool,
    }
}

#[test]
fn two_types_pinned_to_one_name_are_an_error() {
    let mut router = Router::new();
    router.get("/left", async || Json(one::Left { left: true }));
    router.get("/right", async || Json(other::Right { right: true }));
    let text = mistakes(with_open_api(router, OpenApiOptions::new("Pins", "1")));
    assert!(text.contains("Pinned") && text.contains("Left") && text.contains("Right"), "{text}");
}
