//! A GraphQL schema with the tools for routes: the route map, the lock file,
//! the command line, policies and hardening.

use stockade::graphql::{GraphQl, async_graphql as gql};
use stockade::openapi::lock::Lock;
use stockade::policy::Policy;
use stockade::prelude::*;
use stockade::testing::{AttackFamily, Hardening, HardeningReport, TestClient};
use stockade::websockets::WebSocketOptions;

use super::{router, schema};
use crate::support::command;

struct Changed;

#[gql::Object(crate = "gql")]
impl Changed {
    async fn add(&self, a: i32, b: i32, c: i32) -> i32 {
        a + b + c
    }
}

#[test]
fn the_lock_detects_changes_of_the_schema() {
    let lock = |graphql: GraphQl| Lock::of(&router(graphql).build().unwrap().route_map()).unwrap();
    let changed = gql::Schema::build(Changed, gql::EmptyMutation, gql::EmptySubscription);
    let (old, new) = (lock(GraphQl::new(schema())), lock(GraphQl::new(changed)));
    let changes = old.changes_to(&new, std::time::SystemTime::UNIX_EPOCH);
    assert!(changes.is_breaking(), "{changes}");
    for part in ["graphql/Query.node", "graphql/Mutation.put", "graphql/input Filter.text"] {
        assert!(changes.to_string().contains(part), "{changes}");
    }
    assert!(old.changes_to(&old, std::time::SystemTime::UNIX_EPOCH).is_empty());
}

#[test]
fn the_tool_prints_the_schema() {
    let app = router(GraphQl::new(schema())).build().unwrap();
    let sdl = command(&app, ["graphql"]).unwrap().unwrap();
    for part in ["type Query {", "add(a: Int!, b: Int!): Int!", "type Mutation {", "input Filter {"]
    {
        assert!(sdl.contains(part), "{part}: {sdl}");
    }
    assert_eq!(sdl, schema().finish().sdl());
    let map = app.route_map();
    let post = map.routes.iter().find(|route| route.label() == "POST /graphql").unwrap();
    let members = &post.graphql.as_ref().unwrap().members;
    assert_eq!(members["Query.add(a)"], "Int!");

    let other = create_router(routes! { "x": { GET: async || () } }, RouterOptions::new());
    let error = command(&other.build().unwrap(), ["graphql"]).unwrap().unwrap_err();
    assert_eq!(error.to_string(), "no route has a GraphQL schema");
}

#[test]
fn a_policy_requires_a_user_or_a_reason() {
    let build = |graphql: GraphQl| router(graphql).policy(Policy::strict()).build();
    let about_access = |error: &ConfigError| {
        let of_access = error.issues().iter().filter(|it| it.message().contains("public"));
        of_access.filter_map(|it| it.route().map(str::to_owned)).collect::<Vec<_>>()
    };
    let open = build(GraphQl::new(schema())).unwrap_err();
    assert_eq!(about_access(&open), ["GET /graphql", "POST /graphql"], "{open}");
    let said = build(GraphQl::new(schema()).public("the list is open to read"));
    assert_eq!(said.err().map(|error| about_access(&error)).unwrap_or_default(), [""; 0]);
}

#[tokio::test]
async fn hardening_tests_the_routes() {
    let report = Hardening::new(router(GraphQl::new(schema()))).run().await;
    report.assert();
}

#[tokio::test]
async fn hardening_tests_handshakes_of_other_origins() {
    let router = |graphql: GraphQl| {
        let options = RouterOptions::new().enable_web_sockets(true);
        create_router(routes! { "graphql": { ..graphql.web_socket(true).routes() } }, options)
    };
    let report = Hardening::new(router(GraphQl::new(schema()).batch(3))).run().await;
    report.assert();
    let origins = |report: &HardeningReport| report.count(AttackFamily::Origins).passed;
    let without = create_router(
        routes! { "graphql": { ..GraphQl::new(schema()).batch(3).routes() } },
        RouterOptions::new(),
    );
    let without = Hardening::new(without).run().await;
    assert!(origins(&report) > origins(&without), "{report}");
    let open = WebSocketOptions::new().allowed_origins(["*"]);
    let open = GraphQl::new(schema()).web_socket_options(open);
    let report = Hardening::new(router(open)).run().await;
    assert!(report.to_string().contains("all origins may connect"), "{report}");
}

#[tokio::test]
async fn the_openapi_document_has_a_schema_of_batches() {
    use stockade::openapi::{OpenApiOptions, with_open_api};
    let options = OpenApiOptions::new("Numbers", "1.0.0").public("it is open");
    let router = router(GraphQl::new(schema()).batch(3));
    let client = TestClient::new(with_open_api(router, options));
    let document: Value = client.get("/openapi.json").await.json();
    let post = &document["paths"]["/graphql"]["post"];
    let body = &post["requestBody"]["content"]["application/json"]["schema"];
    assert_eq!(body["type"], json!(["object", "array"]), "{post}");
    assert!(body["properties"]["query"].is_object(), "{post}");
    assert_eq!((&body["minItems"], &body["maxItems"]), (&json!(1), &json!(3)), "{post}");
    assert!(body["items"]["properties"]["query"].is_object(), "{post}");
}

#[tokio::test]
async fn the_openapi_document_contains_the_operation() {
    use stockade::openapi::{OpenApiOptions, with_open_api};
    let options = OpenApiOptions::new("Numbers", "1.0.0").public("it is open");
    let client = TestClient::new(with_open_api(router(GraphQl::new(schema())), options));
    let document: Value = client.get("/openapi.json").await.json();
    let post = &document["paths"]["/graphql"]["post"];
    let body = &post["requestBody"]["content"]["application/json"]["schema"];
    assert!(body["properties"]["query"].is_object(), "{post}");
    for media_type in ["application/json", "application/graphql-response+json"] {
        let schema = &post["responses"]["200"]["content"][media_type]["schema"];
        assert!(schema["properties"]["data"].is_object(), "{post}");
        let refusal = post["responses"]["400"]["$ref"].as_str().unwrap();
        let refusal = document.pointer(refusal.trim_start_matches('#')).unwrap();
        assert!(refusal["content"][media_type].is_object(), "{refusal}");
    }
    let get = &document["paths"]["/graphql"]["get"];
    let names: Vec<&str> =
        get["parameters"].as_array().unwrap().iter().filter_map(|it| it["name"].as_str()).collect();
    assert!(names.contains(&"query") && names.contains(&"variables"), "{get}");
}
