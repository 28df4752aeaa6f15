//! REST resources: their operations, fields, filters and access rules.

use stockade::prelude::*;
use stockade::rest::{Access, Entity, MemoryStore, Operation, Resource};

use super::{Mutation, api, mutation};

#[derive(Clone, serde::Deserialize, serde::Serialize, Schema)]
#[schema(name = "Account")]
struct Account {
    id: i64,
    #[schema(max_length = 50)]
    name: String,
    owner: Option<String>,
    password_hash: Option<String>,
}

impl Entity for Account {
    type Id = i64;
}

/// The same type with a mark.
#[derive(Clone, serde::Deserialize, serde::Serialize, Schema)]
#[schema(name = "Account")]
struct Marked {
    id: i64,
    #[schema(max_length = 50)]
    name: String,
    #[schema(read_only)]
    owner: Option<String>,
    password_hash: Option<String>,
}

impl Entity for Marked {
    type Id = i64;
}

fn user<T: Entity>() -> Access<T> {
    Access::user(&with_auth(Auth::verify(|_: &Request| None::<String>)))
}

fn resource<T: Entity + Clone>(server_fields: &[&str], hidden: &[&str]) -> Resource<T> {
    Resource::new("account", MemoryStore::new())
        .server_fields(server_fields.iter().copied())
        .hidden(hidden.iter().copied())
        .read(user())
        .write(user())
}

fn usual() -> Resource<Account> {
    resource(&["id", "owner"], &["password_hash"])
}

fn router<T: Entity>(resource: Resource<T>) -> Router {
    api(routes! { "accounts": { ..resource.routes() } })
}

pub fn all() -> Vec<Mutation> {
    let all_but_delete = Operation::ALL.into_iter().filter(|it| *it != Operation::Delete);
    vec![
        mutation(
            "a resource loses an operation",
            (router(usual()), router(usual().only(all_but_delete))),
            "B route-removed",
            "- route-added",
        ),
        mutation(
            "a hidden field of a resource is answered",
            (router(usual()), router(resource::<Account>(&["id", "owner"], &[]))),
            "W reply-field-added reply-secret-added",
            "B reply-field-removed",
        ),
        mutation(
            "a resource is open",
            (router(usual()), router(usual().read(Access::public("a test")))),
            "W check-removed middleware-removed public-added user-not-required",
            "B error-added middleware-added public-removed user-required",
        ),
        mutation(
            "a field of the server may be written",
            (router(usual()), router(resource::<Account>(&["id"], &["password_hash"]))),
            "- request-field-added",
            "B request-field-removed",
        ),
        mutation(
            "a field of the server is marked",
            (
                router(resource::<Account>(&["id", "owner"], &[])),
                router(resource::<Marked>(&["id"], &[])),
            ),
            "- schema-text-changed",
            "- schema-text-changed",
        ),
        mutation(
            "a resource has a filter more",
            (router(usual()), router(usual().filter("name"))),
            "- request-field-added",
            "B request-field-removed",
        ),
        mutation(
            "a resource asks for If-Match",
            (router(usual()), router(usual().require_if_match(true))),
            "B error-added request-header-required",
            "- error-removed request-header-optional",
        ),
    ]
}
