//! Configuration errors of a resource, reported when the router is built.

use stockade::prelude::*;
use stockade::rest::{Access, Entity, MemoryStore, NewRow, Op, Operation, Resource};
use stockade::validation::{HasSchema, Rule};

use super::suite::Item;

fn resource() -> Resource<Item> {
    Resource::new("item", MemoryStore::new())
}

fn open() -> Access<Item> {
    Access::public("a test")
}

fn mistakes(resource: Resource<Item>) -> Vec<String> {
    let api = routes! { "items": { ..resource.routes() } };
    match create_router(api, RouterOptions::new()).build() {
        Ok(_) => Vec::new(),
        Err(error) => error
            .issues()
            .iter()
            .map(|mistake| {
                let place = mistake.location().unwrap();
                assert!(place.file().ends_with("construction.rs"), "{mistake}");
                mistake.message().to_owned()
            })
            .collect(),
    }
}

#[track_caller]
fn check(resource: Resource<Item>, expected: &[&str]) {
    let found = mistakes(resource.read(open()).write(open()));
    let expected: Vec<_> =
        expected.iter().map(|message| format!("resource \"item\": {message}")).collect();
    assert_eq!(found, expected);
}

#[test]
fn an_operation_requires_an_access_rule() {
    let found = mistakes(resource().read(open()).allow([Operation::Create], open()));
    assert_eq!(found.len(), 3, "{found:?}");
    assert_eq!(
        found[0],
        "resource \"item\": Replace does not have an access rule: set one with `read`, `write` or \
         `allow`, or exclude the operation with `only`"
    );
    let read_only = [Operation::List, Operation::Get];
    assert!(mistakes(resource().only(read_only).read(open())).is_empty());
    let signed_in = with_auth(|_: String| Some(json!({})));
    let found = mistakes(resource().read(Access::check(&signed_in, |_, _| true)).write(open()));
    let of_list = "resource \"item\": List does not have an item for `Access::check`: use a scope";
    assert_eq!(found, [of_list]);
    let validated = Access::check(&signed_in, |_, _| true);
    let found = mistakes(
        resource()
            .read(open())
            .write(open())
            .allow([Operation::Replace], validated)
            .put_creates(true),
    );
    assert_eq!(found, ["resource \"item\": put_creates: `Access::check` does not check new items"]);
    let found = mistakes(resource().read(Access::public(" ")).write(open()));
    assert!(found.iter().all(|it| it == "`public` requires a reason") && found.len() == 2);
}

#[test]
fn fields_must_exist_in_the_type() {
    check(resource(), &[]);
    check(
        resource().server_fields(["idd"]),
        &["server_fields: unknown field `idd`, did you mean `id`?"],
    );
    check(
        resource().hidden(["secrets"]),
        &["hidden: unknown field `secrets`, did you mean `secret`?"],
    );
    check(
        resource().hidden(["id"]),
        &["the id cannot be hidden, because the path of an item contains it"],
    );
    check(resource().filter("colour"), &["filter: unknown field `colour`"]);
    check(resource().sort(["names"]), &["sort: unknown field `names`, did you mean `name`?"]);
}

#[test]
fn filters_and_sorts_must_match_their_fields() {
    check(
        resource().hidden(["secret"]).filter("secret"),
        &["filter: `secret` is hidden, but a filter would reveal it"],
    );
    check(resource().filter("tags"), &["filter: `tags` by `eq`: its values cannot be compared"]);
    check(
        resource().filter_by("price", [Op::Prefix, Op::Null]),
        &[
            "filter: `price` by `prefix`: it is not a string",
            "filter: `price` by `null`: it is never null",
        ],
    );
    check(
        resource().filter_by("sold_out", [Op::Lt]),
        &["filter: `sold_out` by `lt`: it is a boolean"],
    );
    check(
        resource().filter("price").filter_by("price", [Op::Eq, Op::Lt]),
        &["filter: duplicate parameter `price`"],
    );
    check(
        resource().sort(["category"]),
        &[
            "sort: `category` is optional, but null cannot be sorted",
            "sort: `category` is too long for a cursor: set `max_length` to at most 200",
        ],
    );
    check(resource().sort(["tags"]), &["sort: the values of `tags` cannot be sorted"]);
    check(
        resource().sort(["owner"]),
        &["sort: `owner` is too long for a cursor: set `max_length` to at most 200"],
    );
    check(resource().sort(["size", "price", "weight", "sold_out", "id"]), &[]);
}

#[test]
fn rejects_hooks_without_a_draft_or_item() {
    let keep = async |_, draft: NewRow<Item>| Ok(draft);
    check(
        resource().before(Operation::Get, keep).before(Operation::Patch, keep),
        &["before: Get does not have a draft"],
    );
    let keep = async |_, item| Ok(item);
    check(resource().after(Operation::Delete, keep), &["after: Delete does not have an item"]);
}

#[derive(Clone, serde::Deserialize, serde::Serialize, Schema)]
struct Limited {
    key: Option<String>,
    limit: u32,
}

impl Entity for Limited {
    type Id = String;
    const ID: &'static str = "key";
}

#[test]
fn requires_an_id_and_unique_filter_names() {
    let resource = Resource::new("limited", MemoryStore::<Limited>::new())
        .filter("limit")
        .read(Access::public("a test"))
        .write(Access::public("a test"));
    let api = routes! { "limited": { ..resource.routes() } };
    let error = create_router(api, RouterOptions::new()).build().unwrap_err();
    let messages: Vec<_> = error.issues().iter().map(|mistake| mistake.message()).collect();
    assert_eq!(
        messages,
        [
            "resource \"limited\": the id must be a number or a string, and must not be optional",
            "resource \"limited\": filter: the parameter name `limit` is reserved",
        ]
    );
}

#[derive(Clone, serde::Deserialize, serde::Serialize, Schema)]
#[expect(dead_code, reason = "an account is not read")]
struct Account {
    id: i64,
    #[serde(skip_serializing)]
    password: Option<String>,
    #[serde(rename(serialize = "mail"))]
    email: String,
    #[serde(skip)]
    cache: u8,
}

impl Entity for Account {
    type Id = i64;
}

#[test]
fn the_type_must_round_trip_through_serde() {
    let resource = Resource::new("account", MemoryStore::<Account>::new())
        .hidden(["password"])
        .read(Access::public("a test"))
        .write(Access::public("a test"));
    let api = routes! { "accounts": { ..resource.routes() } };
    let error = create_router(api, RouterOptions::new()).build().unwrap_err();
    let messages: Vec<_> = error.issues().iter().map(|mistake| mistake.message()).collect();
    let expected = ["password", "email"].map(|name| {
        format!(
            "resource \"account\": serde reads `{name}` but does not write it under this name, so \
             PATCH would lose it: remove `skip_serializing` or the second name, and use `hidden` \
             to omit it from responses"
        )
    });
    assert_eq!(messages, expected);
}

#[test]
fn a_mark_inside_an_alternative_is_an_error() {
    #[derive(Clone, serde::Deserialize, serde::Serialize)]
    struct Account {
        id: u32,
        password: Option<String>,
    }
    impl HasSchema for Account {
        fn rule() -> Rule {
            let secret = Rule::from_value(&json!({
                "properties": { "password": { "type": "string", "writeOnly": true } },
            }));
            let fields =
                [("id", Rule::integer().required()), ("password", Rule::string().nullable())];
            Rule::object(fields).all_of([secret])
        }
    }
    impl Entity for Account {
        type Id = u32;
    }
    let access = || Access::public("a test");
    let accounts = Resource::new("account", MemoryStore::<Account>::new());
    let accounts = accounts.read(access()).write(access());
    let api = routes! { "accounts": { ..accounts.routes() } };
    let error = create_router(api, RouterOptions::new()).build().unwrap_err().to_string();
    let expected = "a mark without effect at `/allOf/0/properties/password/writeOnly`";
    assert!(error.contains(expected), "{error}");
}
