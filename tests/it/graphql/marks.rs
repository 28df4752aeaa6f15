//! The check that a GraphQL schema respects the `read_only` and `write_only`
//! marks of its types.

use serde::{Deserialize, Serialize};
use stockade::graphql::{GraphQl, async_graphql as gql};
use stockade::prelude::*;
use stockade::rest::{Access, Entity, MemoryStore, Resource};
use stockade::rpc::Rpc;

#[derive(Clone, Deserialize, Serialize, Schema, gql::SimpleObject, gql::InputObject)]
#[graphql(crate = "gql", input_name = "OwnerInput")]
struct Owner {
    #[serde(rename = "fullName")]
    full_name: String,
    #[schema(read_only)]
    role: Option<String>,
    #[schema(write_only)]
    password_hash: Option<String>,
}

/// The same type with the GraphQL attributes that its marks require.
#[derive(Clone, Deserialize, Serialize, Schema, gql::SimpleObject, gql::InputObject)]
#[graphql(crate = "gql", input_name = "SafeInput")]
struct Safe {
    name: String,
    #[schema(read_only)]
    #[graphql(skip_input)]
    role: Option<String>,
    #[schema(write_only)]
    #[graphql(skip_output)]
    password_hash: Option<String>,
}

/// A type with a different name in the GraphQL schema.
#[derive(Schema, gql::SimpleObject)]
#[graphql(crate = "gql", name = "Member")]
struct User {
    #[schema(write_only)]
    pin: u8,
}

/// A resource with nested owners.
#[derive(Clone, Deserialize, Serialize, Schema, gql::SimpleObject)]
#[graphql(crate = "gql")]
struct Note {
    #[schema(read_only)]
    id: i64,
    owners: Vec<Owner>,
}

impl Entity for Note {
    type Id = i64;
}

struct Query;

#[gql::Object(crate = "gql")]
impl Query {
    async fn notes(&self) -> Vec<Note> {
        Vec::new()
    }

    async fn safe(&self) -> Option<Safe> {
        None
    }

    async fn me(&self) -> User {
        User { pin: 7 }
    }
}

struct Mutation;

#[gql::Object(crate = "gql")]
impl Mutation {
    async fn add(&self, owner: Owner, safe: Safe) -> bool {
        owner.full_name == safe.name
    }
}

fn graphql() -> GraphQl {
    GraphQl::new(gql::Schema::build(Query, Mutation, gql::EmptySubscription))
}

/// Returns the configuration errors of a router with this schema and these
/// routes.
fn mistakes(graphql: GraphQl, routes: RouteTree) -> Vec<String> {
    let api = routes! { "graphql": { ..graphql.routes() }, "api": { ..routes } };
    match create_router(api, RouterOptions::new()).build() {
        Ok(_) => Vec::new(),
        Err(error) => error.issues().iter().map(ToString::to_string).collect(),
    }
}

#[track_caller]
fn assert_found(found: &[String]) {
    let [hash, role] = found else { panic!("{found:#?}") };
    assert!(hash.contains("POST /graphql"), "{hash}");
    assert!(hash.contains("`password_hash` of the type `Owner` is write-only"), "{hash}");
    assert!(hash.contains("the GraphQL schema has `Owner.passwordHash`"), "{hash}");
    assert!(hash.contains("#[graphql(skip_output)]"), "{hash}");
    assert!(role.contains("`role` of the type `Owner` is read-only"), "{role}");
    assert!(role.contains("`input OwnerInput.role`"), "{role}");
}

#[test]
fn finds_marked_fields_of_nested_types() {
    let routes = routes! { GET: async || Json(Vec::<Note>::new()) };
    assert_found(&mistakes(graphql(), routes));
    let routes = routes! { POST: async |Body(_): Body<Note>| () };
    assert_found(&mistakes(graphql(), routes));
    let rpc = Rpc::new().method("notes", async || Json(Vec::<Note>::new()));
    assert_found(&mistakes(graphql(), rpc.routes()));
    let open = || Access::public("a test");
    let notes = Resource::new("note", MemoryStore::<Note>::new()).read(open()).write(open());
    assert_found(&mistakes(graphql(), notes.routes()));
}

#[test]
fn accepts_types_that_skip_marked_fields_or_have_none() {
    assert_eq!(mistakes(graphql(), routes! { GET: async || () }), Vec::<String>::new());
    let routes = routes! {
        GET: async || Json(Vec::<Safe>::new()),
        POST: async |Body(_): Body<Safe>| (),
    };
    assert_eq!(mistakes(graphql(), routes), Vec::<String>::new());
}

#[test]
fn compares_a_type_that_no_route_uses() {
    let nothing = || routes! { GET: async || () };
    assert_found(&mistakes(graphql().check_marks::<Note>("Note"), nothing()));
    let renamed = mistakes(graphql().check_marks::<User>("Member"), nothing());
    assert!(renamed.len() == 1 && renamed[0].contains("`Member.pin`"), "{renamed:#?}");
    let missing = mistakes(graphql().check_marks::<Safe>("Nobody"), nothing());
    assert!(missing[0].contains("check_marks: unknown type `Nobody`"), "{missing:#?}");
}

#[test]
fn allows_a_marked_member_with_a_reason() {
    let routes = || routes! { GET: async || Json(Vec::<Note>::new()) };
    let allowed = graphql()
        .allow_marked("Owner.passwordHash", "only administrators reach this schema")
        .allow_marked("input OwnerInput.role", "the resolver checks it");
    assert_eq!(mistakes(allowed, routes()), Vec::<String>::new());
    let one = graphql().allow_marked("Owner.passwordHash", "only administrators");
    assert_eq!(mistakes(one, routes()).len(), 1);
    let wrong = graphql().allow_marked("Owner.hash", "").allow_marked("Safe.role", " ");
    let wrong = mistakes(wrong, routes! { GET: async || () }).join("\n");
    for part in
        ["`Owner.hash` must have a reason", "unknown member `Owner.hash`", "`Safe.role` must"]
    {
        assert!(wrong.contains(part), "{wrong}");
    }
}
