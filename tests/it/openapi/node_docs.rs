//! `docs` of routers, groups and nodes: the defaults of their routes.

use stockade::openapi::{OpenApiOptions, open_api};
use stockade::prelude::*;
use stockade::{RouteDocs, Tag};

use crate::support::{app, app_of, header_of};

#[derive(serde::Deserialize, Schema)]
struct Note {
    #[schema(max_length = 9)]
    text: String,
}

async fn add(Body(note): Body<Note>) -> String {
    note.text
}

async fn list() -> &'static str {
    "all notes"
}

fn docs_of(app: &App, label: &str) -> RouteDocs {
    let map = app.route_map();
    let found = map.routes.iter().find(|route| route.label() == label);
    found.unwrap_or_else(|| panic!("no route {label}")).docs.clone()
}

/// Checks that the configuration error of a router contains a text.
#[track_caller]
fn check_error(router: Router, expected: &str) {
    let error = router.build().unwrap_err();
    let [issue] = error.issues() else { panic!("{error}") };
    assert!(issue.to_string().contains(expected), "{issue}");
}

fn defaults() -> RouteDocs {
    RouteDocs::default()
        .description("About notes.")
        .tags(["notes"])
        .response(418, "A teapot")
        .response(404, "No such note")
        .example(json!({ "text": "hello" }))
}

#[test]
fn a_node_has_the_defaults_of_its_routes() {
    let app = app_of(routes! {
        "notes": {
            docs: defaults(),
            GET: { list, docs: "All notes" },
            POST: { add, docs: RouteDocs::new("New note").description("Adds a note.") },
            "old": {
                docs: RouteDocs::default().deprecated_since("2026-11-01").tags(["old"]),
                GET: { list, docs: RouteDocs::new("Old notes").response(404, "Gone") },
            },
        },
        "other": { GET: list },
    });
    let all = docs_of(&app, "GET /notes");
    assert_eq!(all.summary.as_deref(), Some("All notes"));
    assert_eq!(all.description.as_deref(), Some("About notes."));
    assert_eq!(all.tags, ["notes"]);
    // Nothing on the route responds with 418, and GET has no body.
    assert_eq!(all.responses, [(404, "No such note".to_owned())]);
    assert_eq!(all.example, None);
    let add = docs_of(&app, "POST /notes");
    assert_eq!(add.description.as_deref(), Some("Adds a note."));
    assert_eq!(add.example, Some(json!({ "text": "hello" })));
    let old = docs_of(&app, "GET /notes/old");
    assert_eq!(old.description.as_deref(), Some("About notes."));
    assert_eq!((old.tags, old.responses), (vec!["old".into()], vec![(404, "Gone".into())]));
    assert!(old.deprecated);
    assert_eq!(header_of(&app, "GET /notes/old", "deprecation"), "@1793491200");
    assert_eq!(docs_of(&app, "GET /other"), RouteDocs::default());

    let document = open_api(&app, &OpenApiOptions::new("Test", "1")).unwrap();
    assert_eq!(document["paths"]["/notes"]["get"]["description"], "About notes.");
    assert_eq!(document["paths"]["/notes/old"]["get"]["deprecated"], true);
}

/// The number of levels around a route does not change its examples.
#[test]
fn a_route_has_all_default_examples_of_a_status_that_has_none() {
    async fn count() -> Json<u8> {
        Json(7)
    }
    let docs = || RouteDocs::default().reply_example(200, 1).reply_example(200, 2);
    let app = app_of(routes! {
        "count": {
            docs: docs(),
            GET: count,
            "own": { GET: { count, docs: RouteDocs::default().reply_example(200, 3) } },
            "inner": { docs: RouteDocs::default().description("Counts"), GET: count },
        },
    });
    let defaults = [(200, json!(1)), (200, json!(2))];
    assert_eq!(docs_of(&app, "GET /count").reply_examples, defaults);
    assert_eq!(docs_of(&app, "GET /count/inner").reply_examples, defaults);
    assert_eq!(docs_of(&app, "GET /count/own").reply_examples, [(200, json!(3))]);
}

#[test]
fn routers_and_groups_can_have_defaults() {
    let options = RouterOptions::new().docs(RouteDocs::default().description("router"));
    let mut router = Router::with_options(options);
    router.get("/a", list);
    router.group("/hidden", (), |group| {
        group.docs(RouteDocs::default().hidden("internal"));
        group.get("/", list).docs(String::from("A text"));
    });
    let app = app(router);
    assert_eq!(docs_of(&app, "GET /a").description.as_deref(), Some("router"));
    let hidden = docs_of(&app, "GET /hidden");
    let texts = (hidden.summary, hidden.description, hidden.hidden);
    assert_eq!(texts, (Some("A text".into()), Some("router".into()), Some("internal".into())));
}

#[test]
fn text_on_a_node_is_an_error_that_suggests_a_tag() {
    let line = line!() + 1;
    let tree = routes! { "notes": { docs: "Notes", GET: list, POST: add } };
    let expected = format!(
        "/notes: `docs` has a summary, but it describes several routes: use \
         `tag: Tag::new(name, text)` to describe them as a group ({}:{line})",
        file!()
    );
    check_error(create_router(tree, RouterOptions::new()), &expected);
    let docs = RouteDocs::new("Notes").description("About notes.");
    let tree = routes! { ..routes! { docs: docs, "notes": { GET: list } } };
    check_error(create_router(tree, RouterOptions::new()), "`docs` has a summary");
    let options = RouterOptions::new().docs("Notes");
    check_error(create_router(routes! { GET: list }, options), "`docs` has a summary");
    let mut router = Router::new();
    router.group("/notes", (), |group| {
        group.docs("Notes");
        group.get("/", list);
    });
    check_error(router, "`docs` has a summary");
    let tree = routes! { "notes": { tag: Tag::new("notes", "Notes"), GET: list } };
    assert!(create_router(tree, RouterOptions::new()).build().is_ok());
}

#[test]
fn errors_of_a_node_are_reported_once() {
    let docs = RouteDocs::default().hidden(" ");
    let tree = routes! { "notes": { docs: docs, GET: list, POST: add } };
    check_error(
        create_router(tree, RouterOptions::new()),
        "/notes: docs: `hidden` requires a reason",
    );
}
