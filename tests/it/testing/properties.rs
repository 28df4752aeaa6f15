//! `check_schemas`: property tests of routes, with input generated from
//! schemas.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs, process};

use serde::{Deserialize, Serialize, Serializer};
use stockade::description::InputFrom;
use stockade::prelude::*;
use stockade::testing::{Credentials, Property, PropertyCheck, SchemaReport, check_schemas};
use stockade::validation::{HasSchema, Rule, Schema, Unchecked, ValidationOptions};

use crate::shop::{DAN, router, token};
use crate::support::{block_on, panic_of};

#[tokio::test]
async fn the_shop_matches_its_schemas() {
    let report = check_schemas(router())
        .rebuild(router)
        .skip(r"POST /products/:id(\d+)/image", "forms with files are not made")
        .users(|_| Some(Credentials::bearer(token(DAN))))
        // Hashing a password takes half a second without optimization.
        .cases_of("POST /login", 2)
        .cases_of("POST /users", 2)
        .run()
        .await;
    let route = |path: &str, method: &str| {
        let mut routes = report.routes.iter();
        routes.find(|it| it.path == path && it.method == method).unwrap()
    };
    let products = route("/products", "POST");
    assert_eq!((products.valid, products.rules), (64, 15));
    assert_eq!(products.replies[&201], 64);
    let one = "/products/:id";
    for (path, method) in [("/products", "GET"), (one, "GET"), (one, "PUT"), (one, "PATCH")] {
        let part = route(path, method);
        assert!(part.valid > 20 && part.replies[&200] > 0, "{method} {path}: {part:?}");
    }
    let chat = &route("/chat/:topic", "GET").not_checked;
    assert_eq!(chat[0].part, "the route");
}

/// Returns the report for one route, without saving failures.
async fn report_of(router: Router) -> SchemaReport {
    check_schemas(router).kept_in(None).try_run().await.unwrap()
}

fn of(api: RouteTree) -> Router {
    create_router(api, RouterOptions::new())
}

#[track_caller]
fn assert_one_failure(report: &SchemaReport, property: Property, words: &[&str]) {
    let failures: Vec<_> = report.failures().collect();
    assert_eq!(failures.len(), 1, "{report}");
    assert_eq!(failures[0].property, property, "{report}");
    for word in words {
        let is_there = failures[0].message.contains(word) || failures[0].exchange.contains(word);
        assert!(is_there, "{word}: {report}");
    }
}

#[derive(Deserialize, Serialize, Schema)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Shape {
    Circle {
        #[schema(exclusive_minimum = 0)]
        radius: f64,
    },
    Group {
        #[schema(max_items = 3)]
        parts: Vec<Shape>,
    },
}

#[derive(Deserialize, Serialize, Schema)]
struct Everything {
    #[schema(trim, required, max_length = 10)]
    name: String,
    #[schema(pattern = "^[A-Z]{2}-[0-9]{3}$")]
    code: String,
    #[schema(kind = "email")]
    email: Option<String>,
    #[schema(kind = "uuid")]
    id: Option<String>,
    #[serde(default)]
    small: i8,
    large: u64,
    ratio: f64,
    pair: (u8, bool),
    #[schema(min_items = 1, max_items = 4, unique_items)]
    tags: Vec<String>,
    counts: BTreeMap<String, u16>,
    shape: Shape,
    next: Option<Box<Everything>>,
}

#[tokio::test]
async fn types_of_all_kinds_are_validated_as_documented() {
    let make = || {
        of(routes! {
            "echo": { POST: async |Body(all): Body<Everything>| Json(all) },
        })
    };
    let report = report_of(make()).await;
    assert!(report.is_passed(), "{report}");
    let route = &report.routes[0];
    assert_eq!((route.valid, route.replies[&200]), (64, 64));
    assert!(route.rules > 40, "{report}");
    assert!(route.not_checked.is_empty(), "{report}");
    // The cases and their order are the same.
    let again = report_of(make()).await;
    assert_eq!(json!(again), json!(report));
}

/// Form pairs cannot contain an empty list, so a required list is never empty
/// there.
#[tokio::test]
async fn lists_of_forms_and_queries_are_never_empty() {
    #[derive(Deserialize, Serialize, Schema)]
    struct Labels {
        #[schema(max_items = 2)]
        names: Vec<String>,
        #[serde(default)]
        numbers: Vec<u8>,
    }
    #[derive(Deserialize, Serialize, Schema)]
    struct Filter {
        #[schema(min_items = 1)]
        ids: Vec<u8>,
        sort: Option<Vec<String>>,
    }
    let report = report_of(of(routes! {
        "labels": { POST: async |Body(labels): Body<Labels>| Json(labels) },
        "search": { GET: async |Query(filter): Query<Filter>| Json(filter) },
    }))
    .await;
    assert!(report.is_passed(), "{report}");
    for route in &report.routes {
        assert_eq!((route.valid, route.replies[&200]), (64, 64), "{report}");
    }
    assert!(report.routes[0].not_checked.is_empty(), "{report}");
    let parts = report.routes[1].not_checked.iter().map(|it| (&*it.part, &*it.why));
    let expected = [("ids: minItems", "a query cannot contain an empty list")];
    assert_eq!(parts.collect::<Vec<_>>(), expected, "{report}");
}

#[tokio::test]
async fn reports_a_manual_check_that_rejects_valid_input() {
    #[derive(Deserialize, Schema)]
    struct Amount {
        #[schema(minimum = 0, maximum = 100_000)]
        cents: u32,
    }
    let report = report_of({
        of(routes! {
            "pay": {
                POST: async |Body(amount): Body<Amount>| {
                    if amount.cents > 1_000 { Err(ApiError::new(400, "too much")) } else { Ok(()) }
                },
            },
        })
    })
    .await;
    // The smallest rejected amount.
    assert_one_failure(&report, Property::Valid, &["valid input gets 400", "POST /pay", "1001"]);
}

#[tokio::test]
async fn reports_a_panic() {
    #[derive(Deserialize, Schema)]
    struct Part {
        #[schema(minimum = 0, maximum = 10)]
        by: u32,
    }
    let report = report_of({
        of(routes! {
            "share": { GET: async |Query(part): Query<Part>| json!(100 / part.by) },
        })
    })
    .await;
    assert_one_failure(&report, Property::Valid, &["valid input gets 500", "GET /share?by=0"]);
}

/// Returns the schema of orders.
fn order() -> Schema {
    Schema::from_value(&json!({
        "type": "object",
        "properties": { "count": { "type": "integer", "minimum": 5 } },
    }))
    .unwrap()
}

/// Returns a router for orders with middleware that checks them and declares
/// [`order`] as its schema.
fn orders(check: Middleware) -> Router {
    let check = check.describing(|doc| {
        doc.checks(InputFrom::Body, &order(), &ValidationOptions::new());
    });
    of(routes! {
        "orders": {
            POST: {
                handler: async |Body(_): Body<Unchecked<Value>>| (),
                middleware: [check],
                // The check does not read forms.
                accepts: ["application/json"],
            },
        },
    })
}

#[tokio::test]
async fn reports_an_unchecked_bound() {
    fn nothing(_: &mut Request) -> Result<(), ApiError> {
        Ok(())
    }
    let report = report_of(orders(Middleware::new(nothing))).await;
    assert_eq!(report.routes[0].rules, 0, "{report}");
    assert!(report.failures().all(|failure| failure.property == Property::Broken), "{report}");
    let unchecked = r#""count" violates `minimum`: expected the status 400, found 204"#;
    assert!(report.failures().any(|failure| failure.message == unchecked), "{report}");
}

#[tokio::test]
async fn reports_an_error_that_names_another_field() {
    async fn check(req: &mut Request) -> Result<(), ApiError> {
        let body = req.body().await?;
        let mut errors = order().check(body, &ValidationOptions::new())?;
        for error in &mut errors {
            error.field = error.field.replace("count", "amount");
        }
        if errors.is_empty() { Ok(()) } else { Err(ApiError::validation(errors)) }
    }
    let report = report_of(orders(Middleware::new(check))).await;
    // The error for a body that is not an object is correct.
    assert_eq!((report.routes[0].valid, report.routes[0].rules), (64, 1), "{report}");
    let named =
        r#""count" violates `minimum` or `min`, but the response names "amount" by `minimum`"#;
    assert!(report.failures().any(|failure| failure.message == named), "{report}");
}

#[tokio::test]
async fn reports_a_response_without_a_required_member() {
    struct Account;
    impl HasSchema for Account {
        fn rule() -> Rule {
            Rule::object([("name", Rule::string().required())])
        }
    }
    impl Serialize for Account {
        fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
            json!({ "id": 7 }).serialize(to)
        }
    }
    let report = report_of(of(routes! { "me": { GET: async || Json(Account) } })).await;
    assert_one_failure(&report, Property::Reply, &["name", "200"]);
}

#[tokio::test]
async fn lists_routes_that_cannot_be_tested() {
    let make = || {
        let secret = Secret::new("a secret of thirty-two bytes or more").unwrap();
        of(routes! {
            "me": { GET: { handler: async || "me", middleware: [with_auth(Auth::secret(secret))] } },
            "dear": { GET: async || "dear" },
        })
    };
    let check = check_schemas(make()).kept_in(None).skip("GET /dear", "it costs money");
    let report = check.try_run().await.unwrap();
    let why: Vec<&str> =
        report.routes.iter().map(|route| route.not_checked[0].why.as_str()).collect();
    assert_eq!(
        why,
        [
            "it requires the credentials of a user: add them with PropertyCheck::users",
            "it costs money"
        ]
    );
    assert!(report.routes.iter().all(|route| route.valid == 0 && route.rules == 0));
    assert!(report.to_string().contains("2 parts not checked"), "{report}");
    // The skipped route does not fail.
    assert_one_failure(&report, Property::Reached, &["the credentials of a user"]);
}

#[test]
fn a_skipped_route_must_exist() {
    let make = || of(routes! { "here": { GET: async || "here" } });
    let check = || check_schemas(make()).kept_in(None);
    let failed = |check: PropertyCheck| panic_of(move || drop(block_on(check.run())));
    let message = failed(check().skip("GET /nowhere", ""));
    assert!(message.contains("unknown route \"GET /nowhere\""), "{message}");
    let message = failed(check().cases_of("GET /heer", 2));
    assert!(message.contains("\"GET /heer\", did you mean `GET /here`?"), "{message}");
}

#[tokio::test]
async fn a_failing_case_is_saved_and_tried_first() {
    #[derive(Deserialize, Schema)]
    struct Page {
        #[schema(minimum = 0, maximum = 1_000_000)]
        number: u32,
    }
    fn router(limit: u32) -> Router {
        of(routes! {
            "pages": {
                GET: async move |Query(page): Query<Page>| {
                    if page.number > limit { Err(ApiError::new(500, "")) } else { Ok(()) }
                },
            },
        })
    }
    let file: PathBuf = env::temp_dir().join(format!("properties-{}.json", process::id()));
    let check = |limit, cases| {
        let check = check_schemas(router(limit)).kept_in(file.clone());
        check.seed(7).cases(cases).try_run()
    };
    let first = check(500, 64).await.unwrap();
    assert_one_failure(&first, Property::Valid, &["GET /pages?number=501"]);
    assert!(first.to_string().contains(&file.display().to_string()), "{first}");
    let kept: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(kept[0]["input"]["query"], json!({ "number": 501 }));
    // A single case would rarely find it.
    let again = check(500, 1).await.unwrap();
    assert_one_failure(&again, Property::Valid, &["GET /pages?number=501"]);
    assert!(check(1_000_000, 1).await.unwrap().is_passed());
    // A file with other content is not changed.
    fs::write(&file, "{}").unwrap();
    let report = check(500, 64).await.unwrap();
    assert!(report.not_kept.is_some() && !report.is_passed());
    assert_eq!(fs::read_to_string(&file).unwrap(), "{}");
    fs::remove_file(&file).unwrap();
}

#[derive(Deserialize, Schema)]
#[expect(dead_code, reason = "only the schema matters")]
struct Counted {
    #[schema(maximum = 9)]
    count: u8,
}

#[tokio::test]
async fn custom_errors_have_the_validation_status() {
    let make = || {
        let api = routes! { "counted": { POST: async |Body(_): Body<Counted>| () } };
        let form = |error: &mut stockade::ErrorReply| {
            let fields: Vec<_> = error.field_errors().iter().map(|it| it.field.clone()).collect();
            error.set_json(json!({ "wrong": fields }));
        };
        create_router(api, RouterOptions::new().validation_status(422).error_handling(form))
    };
    let report = report_of(make()).await;
    assert!(report.is_passed() && report.routes[0].rules > 2, "{report}");
}

/// Returns an API below organizations, in two versions; one organization
/// exists. `built` counts the routers, and `sent` counts the requests that
/// reach the middleware.
fn nested(built: &Arc<AtomicU32>, sent: &Arc<AtomicU32>) -> Router {
    #[derive(Deserialize, Schema)]
    #[expect(dead_code, reason = "only the schema matters")]
    struct Member {
        #[schema(min_length = 1, max_length = 20)]
        name: String,
        age: u8,
    }
    built.fetch_add(1, Ordering::Relaxed);
    let sent = Arc::clone(sent);
    let in_org = Middleware::new(move |req: &mut Request| {
        sent.fetch_add(1, Ordering::Relaxed);
        if req.path().contains("/acme/") { Ok(()) } else { Err(ApiError::not_found()) }
    });
    let in_org = in_org.named("in_org").describing(|doc| {
        doc.may_respond(404, "No such organization");
    });
    let orgs = || {
        routes! {
            "orgs/:org": {
                middleware: [in_org.clone()],
                "members": {
                    POST: async |Body(_): Body<Member>| (),
                    ":id": { GET: async |Path((_, id)): Path<(String, u64)>| json!(id) },
                },
            },
        }
    };
    of(routes! { "v1": { ..orgs() }, "v2": { ..orgs() } })
}

#[tokio::test]
async fn a_nested_api_is_checked_with_values_of_parameters() {
    let (built, sent) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let check = || {
        let check = check_schemas(nested(&built, &sent)).kept_in(None);
        check.skip_below("/v1", "same handlers as v2")
    };
    let report = check().param("org", "acme").run().await;
    let valid: Vec<u32> = report.routes.iter().map(|route| route.valid).collect();
    assert_eq!(valid, [0, 0, 64, 64], "{report}");
    assert_eq!(report.routes[2].rules, 10, "{report}");
    assert_eq!(report.routes[0].not_checked[0].why, "same handlers as v2");
    assert_eq!(built.swap(0, Ordering::Relaxed), 1);

    // Without the value, no request gets past the middleware.
    let report = check().try_run().await.unwrap();
    let failures: Vec<_> = report.failures().collect();
    assert_eq!(failures.len(), 2, "{report}");
    for failure in failures {
        assert_eq!(failure.property, Property::Reached);
        let message = "no valid case reached the handler: `in_org` responded with 404; set \
                       values with `param` or credentials with `users`, or skip the route with \
                       `skip`";
        assert_eq!(failure.message, message);
    }

    built.store(0, Ordering::Relaxed);
    let (again, in_org) = (Arc::clone(&built), Arc::clone(&sent));
    check().param("org", "acme").rebuild(move || nested(&again, &in_org)).run().await;
    // The first router, and one for each route that is not skipped.
    assert_eq!(built.load(Ordering::Relaxed), 3);
}

#[test]
fn unknown_names_panic_with_suggestions() {
    let (built, sent) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let failed = |set: fn(PropertyCheck) -> PropertyCheck| {
        let check = set(check_schemas(nested(&built, &sent)).kept_in(None));
        panic_of(move || drop(block_on(check.run())))
    };
    let message = failed(|check| check.param("orgs", "acme"));
    let expected = "PropertyCheck: unknown parameter \"orgs\", did you mean `org`?: the paths \
                    have `id`, `org`";
    assert!(message.contains(expected), "{message}");
    let message = failed(|check| check.param("tenant", "acme"));
    assert!(message.contains("\"tenant\": the paths have `id`, `org`"), "{message}");
    let message = failed(|check| check.skip_below("/v11", ""));
    assert!(message.contains("no route below \"/v11\", did you mean `/v1`?"), "{message}");
    let message = failed(|check| check.skip_below("/v", ""));
    assert!(message.contains("no route below \"/v\""), "{message}");
}

#[tokio::test]
async fn only_the_first_case_of_a_message_is_shrunk() {
    #[derive(Deserialize, Schema)]
    struct Page {
        #[schema(minimum = 0, maximum = 1_000_000)]
        number: u32,
    }
    let built = Arc::new(AtomicU32::new(0));
    let sent: [Arc<AtomicU32>; 4] = Default::default();
    let make = {
        let (built, sent) = (Arc::clone(&built), sent.clone());
        move || {
            built.fetch_add(1, Ordering::Relaxed);
            let mut router = of(RouteTree::default());
            for (path, sent) in ["/a", "/b", "/c", "/d"].into_iter().zip(sent.clone()) {
                router.get(path, move |Query(page): Query<Page>| {
                    sent.fetch_add(1, Ordering::Relaxed);
                    async move {
                        if page.number > 500 { Err(ApiError::new(500, "")) } else { Ok(()) }
                    }
                });
            }
            router
        }
    };
    let check = check_schemas(make()).rebuild(make).kept_in(None);
    let report = check.try_run().await.unwrap();
    assert_eq!(report.failures().count(), 4, "{report}");
    // One router for the map, and one for each route.
    assert_eq!(built.load(Ordering::Relaxed), 5);
    // Invalid input does not reach the handler. Each further request shrinks a
    // case.
    for (index, (route, sent)) in report.routes.iter().zip(&sent).enumerate() {
        let shrinking = sent.load(Ordering::Relaxed) - route.replies[&500] - route.valid;
        assert_eq!(shrinking > 0, index == 0, "{shrinking} requests: {report}");
        assert!(shrinking <= 200, "{shrinking} requests: {report}");
    }
}

#[tokio::test]
async fn a_handler_that_documents_404_is_reached() {
    let missing = async |Path(_): Path<u64>| Err::<(), _>(StatusCode::NOT_FOUND);
    let report = report_of(of(routes! { "items/:id": { GET: missing } })).await;
    assert!(report.is_passed() && report.routes[0].valid == 64, "{report}");
}

/// A handler with `IfMatch` gets a header that matches every version.
#[tokio::test]
async fn routes_that_require_a_version_are_checked() {
    use stockade::middleware::{IfMatch, WithETag};
    use stockade::testing::{AttackFamily, Hardening};

    #[derive(Deserialize, Serialize, Schema)]
    struct Note {
        #[schema(max_length = 10)]
        text: String,
    }

    let make = || {
        let update = async |version: IfMatch, Body(note): Body<Note>| {
            version.check(7).map(|()| WithETag(8, note))
        };
        of(routes! { "note": { PUT: update } })
    };
    let report = report_of(make()).await;
    assert!(report.is_passed(), "{report}");
    let route = &report.routes[0];
    assert_eq!((route.valid, route.replies[&200]), (64, 64), "{report}");
    assert!(route.rules > 2 && route.not_checked.is_empty(), "{report}");

    let report = Hardening::new(make()).run().await;
    let of_bodies = report.not_attacked.iter().any(|it| it.family == AttackFamily::Bodies);
    assert!(!of_bodies, "{report}");
}

#[tokio::test]
async fn names_a_mismatching_parameter_value() {
    let make = || {
        of(routes! {
            "items/:id": { GET: async |Path(id): Path<u64>| json!(id) },
            "files/:id": { GET: async |Path(id): Path<String>| json!(id) },
        })
    };
    let check = |value| check_schemas(make()).param("id", value).kept_in(None).cases(4);
    assert!(check("7").run().await.is_passed());
    let report = check("x").try_run().await.unwrap();
    let failures: Vec<_> = report.failures().map(|it| it.message.as_str()).collect();
    assert_eq!(failures.len(), 1, "{report}");
    assert!(failures[0].contains("`param(\"id\", …)` does not fit its schema"), "{report}");
}
