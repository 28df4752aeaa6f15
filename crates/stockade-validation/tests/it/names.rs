//! Definitions with their identity, and their names in a document of many
//! schemas.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stockade_validation::{Definition, HasSchema, Names, Rule, Schema};

mod quality {
    #[derive(super::Deserialize, super::Serialize, super::Schema)]
    pub(super) struct CreatePolicy {
        pub(super) level: u8,
    }
}

mod user_profile {
    #[derive(super::Deserialize, super::Serialize, super::Schema)]
    pub(super) struct CreatePolicy {
        pub(super) level: u8,
    }
}

mod other {
    pub(super) mod quality {
        #[derive(super::super::Deserialize, super::super::Schema)]
        #[expect(dead_code, reason = "only its schema")]
        pub(in super::super) struct CreatePolicy {
            name: String,
        }
    }

    #[derive(super::Deserialize, super::Schema)]
    #[expect(dead_code, reason = "only its schema")]
    pub(super) struct QualityCreatePolicy {
        text: String,
    }

    #[derive(super::Deserialize, super::Schema)]
    #[schema(name = "CreatePolicy")]
    #[expect(dead_code, reason = "only its schema")]
    pub(super) struct Pinned {
        text: String,
    }

    #[derive(super::Deserialize, super::Schema)]
    #[expect(dead_code, reason = "only its schema")]
    pub(super) struct UserInput {
        text: String,
    }
}

#[derive(Deserialize, Serialize, Schema)]
struct User {
    name: String,
    address: Address,
    #[serde(default)]
    friends: Vec<Self>,
}

#[derive(Deserialize, Serialize, Schema)]
struct Address {
    street: String,
}

/// A type that differs only in its content.
#[derive(Deserialize, Serialize, Schema)]
struct Page<T> {
    items: Vec<T>,
}

fn read<T: HasSchema>() -> Schema {
    T::schema().unwrap()
}

fn written<T: HasSchema>() -> Schema {
    T::reply_schema().unwrap()
}

fn definitions(schemas: &[Schema]) -> Vec<Definition> {
    schemas.iter().flat_map(Schema::definitions).collect()
}

/// Returns the names, which must not depend on the order of the schemas.
#[track_caller]
fn check(schemas: &mut [Schema], expected: &[&str]) -> Names {
    let names = Names::of(definitions(schemas)).unwrap();
    let all = |names: &Names| names.iter().map(|(name, _)| name.to_owned()).collect::<Vec<_>>();
    assert_eq!(all(&names), expected);
    let ids: Vec<_> = definitions(schemas).iter().map(Definition::id).collect();
    for _ in 0..schemas.len() {
        schemas.rotate_left(1);
        for mut list in [definitions(schemas), definitions(schemas)] {
            list.reverse();
            let again = Names::of(list).unwrap();
            assert_eq!(all(&again), expected);
            assert!(ids.iter().all(|id| again.get(id) == names.get(id)));
        }
    }
    names
}

#[test]
fn a_short_name_belongs_to_its_only_type() {
    check(&mut [read::<quality::CreatePolicy>(), read::<Address>()], &["Address", "CreatePolicy"]);
    check(&mut [read::<Page<Address>>()], &["Address", "Page_Address"]);
}

#[test]
fn types_of_one_name_are_prefixed_with_their_module() {
    let mut schemas = [read::<quality::CreatePolicy>(), read::<user_profile::CreatePolicy>()];
    check(&mut schemas, &["QualityCreatePolicy", "UserProfileCreatePolicy"]);
    // Both are in a module `quality`.
    let mut schemas = [read::<quality::CreatePolicy>(), read::<other::quality::CreatePolicy>()];
    check(&mut schemas, &["NamesQualityCreatePolicy", "OtherQualityCreatePolicy"]);
    // A type with exactly this short name keeps it.
    let mut schemas = [
        read::<quality::CreatePolicy>(),
        read::<user_profile::CreatePolicy>(),
        read::<other::QualityCreatePolicy>(),
    ];
    check(
        &mut schemas,
        &["NamesQualityCreatePolicy", "QualityCreatePolicy", "UserProfileCreatePolicy"],
    );
    let mut schemas =
        [read::<Page<quality::CreatePolicy>>(), read::<Page<user_profile::CreatePolicy>>()];
    check(
        &mut schemas,
        &[
            "NamesPage_QualityCreatePolicy",
            "NamesPage_UserProfileCreatePolicy",
            "QualityCreatePolicy",
            "UserProfileCreatePolicy",
        ],
    );
}

#[test]
fn a_pinned_name_does_not_change() {
    let mut schemas = [read::<quality::CreatePolicy>(), read::<other::Pinned>()];
    let names = check(&mut schemas, &["CreatePolicy", "QualityCreatePolicy"]);
    let pinned = &read::<other::Pinned>().definitions()[0];
    assert!(pinned.is_pinned());
    assert_eq!(names.get(&pinned.id()), Some("CreatePolicy"));

    #[derive(Deserialize, Schema)]
    #[schema(name = "CreatePolicy")]
    struct Second;

    let error = Names::of(definitions(&[read::<other::Pinned>(), read::<Second>()])).unwrap_err();
    let mistake = &error.issues()[0];
    assert!(
        mistake.message().starts_with("duplicate schema name `CreatePolicy` for the types `"),
        "{mistake:?}"
    );
    assert!(error.to_string().contains("names.rs:"), "{error}");
}

#[test]
fn indistinguishable_types_are_numbered() {
    // Two types in one function have the same path.
    fn both() -> Schema {
        let first = {
            #[derive(Deserialize, Schema)]
            #[expect(dead_code, reason = "only its schema")]
            struct Inner {
                a: u8,
            }
            Rule::of::<Inner>()
        };
        #[derive(Deserialize, Schema)]
        #[expect(dead_code, reason = "only its schema")]
        struct Inner {
            b: u8,
        }
        Rule::tuple([Rule::of::<Inner>(), first]).build().unwrap()
    }
    let list = both().definitions();
    assert_eq!(list.len(), 2);
    assert_eq!(list[0].type_name(), list[1].type_name());
    let names = check(&mut [both()], &["Inner", "Inner2"]);
    // The number depends on the content, not on the order.
    assert!(names.get(&list[0].id()).unwrap().ends_with('2'));
}

#[test]
fn a_type_with_another_input_schema_gets_an_input_name() {
    // A single direction has the plain name.
    check(&mut [read::<User>()], &["Address", "User"]);
    check(&mut [written::<User>()], &["Address", "User"]);
    check(&mut [read::<Address>(), written::<Address>()], &["Address"]);
    let mut both = [read::<User>(), written::<User>()];
    let names = check(&mut both, &["Address", "User", "UserInput"]);
    assert_eq!(names.get(&written::<User>().definitions()[0].id()), Some("User"));
    // The type differs in a type that it refers to.
    let mut pages = [read::<Page<User>>(), written::<Page<User>>()];
    check(&mut pages, &["Address", "Page_User", "Page_UserInput", "User", "UserInput"]);
    let mut taken = [read::<User>(), written::<User>(), read::<other::UserInput>()];
    let names = check(&mut taken, &["Address", "User", "UserInput", "UserInput2"]);
    let own = read::<other::UserInput>().definitions()[0].id();
    assert_eq!(names.get(&own), Some("UserInput"));
}

#[test]
fn a_document_has_each_definition_once() {
    let schemas = [read::<User>(), written::<Vec<User>>(), written::<Page<Address>>()];
    let names = Names::of(definitions(&schemas)).unwrap();
    let reference = |id: &_| format!("#/components/schemas/{}", names.get(id).unwrap());
    let roots: Vec<Value> =
        schemas.iter().map(|schema| schema.export().references(&reference).to_value()).collect();
    assert_eq!(
        roots,
        [
            json!({ "$ref": "#/components/schemas/UserInput" }),
            json!({ "type": "array", "items": { "$ref": "#/components/schemas/User" } }),
            json!({ "$ref": "#/components/schemas/Page_Address" }),
        ]
    );
    let components: Value = names
        .iter()
        .map(|(name, of)| (name.to_owned(), of.export().references(&reference).to_value()))
        .collect();
    assert_eq!(
        components["User"]["properties"]["friends"]["items"]["$ref"],
        "#/components/schemas/User"
    );
    assert_eq!(
        components["UserInput"]["properties"]["address"],
        components["User"]["properties"]["address"]
    );
    assert_eq!(components.as_object().unwrap().len(), 4);
    assert!(!components.to_string().contains("$defs"));
}

#[test]
fn a_definition_records_its_type() {
    let [user, address] = &read::<User>().definitions()[..] else {
        panic!("two definitions");
    };
    assert_eq!((user.short_name(), address.short_name()), ("User", "Address"));
    assert!(user.type_name().ends_with("::names::User"), "{}", user.type_name());
    assert!(!user.is_reply() && !user.is_pinned());
    assert!(written::<User>().definitions()[0].is_reply());
    assert_ne!(user.id(), written::<User>().definitions()[0].id());
    assert_eq!(user.id(), read::<Vec<User>>().definitions()[0].id());
    assert!(user.location().file().ends_with("names.rs"));
    // A separate export contains the definitions that it needs.
    let whole = user.export().to_value();
    assert_eq!(whole["properties"]["address"]["$ref"], "#/$defs/Address");
    assert!(whole["$defs"]["User"].is_object());
}

#[test]
fn an_export_may_be_closed() {
    use stockade_validation::ValidationOptions;

    let schema = read::<User>();
    let closed = schema.export().closed(true).to_value();
    assert_eq!(closed["$defs"]["Address"]["additionalProperties"], json!(false));
    let oracle = jsonschema::validator_for(&closed).unwrap();
    let strict = ValidationOptions::new().allow_unknown(false);
    let user = |more: Value| {
        let mut user = json!({ "name": "a", "address": { "street": "" }, "friends": [] });
        user["address"]["more"] = more;
        user
    };
    let mut without = user(json!(1));
    without["address"].as_object_mut().unwrap().remove("more");
    for data in [without, user(json!(1)), json!({ "x": 1 })] {
        let is_valid = schema.check(&data, &strict).unwrap().is_empty();
        assert_eq!(is_valid, oracle.is_valid(&data), "{data}");
    }
    let map = Rule::map(Rule::integer()).build().unwrap();
    let values = map.export().closed(true).to_value();
    assert_eq!(values["additionalProperties"], json!({ "type": "integer" }));
    let bare = Rule::kind("object").build().unwrap();
    assert_eq!(
        bare.export().closed(true).to_value(),
        json!({ "type": "object", "additionalProperties": false })
    );
}

#[cfg(feature = "schemars")]
#[test]
fn equal_documents_share_a_definition() {
    #[derive(schemars::JsonSchema)]
    #[expect(dead_code, reason = "only its schema")]
    struct Tree {
        children: Vec<Self>,
    }

    let of = || Schema::from_schemars::<Tree>().unwrap();
    check(&mut [of(), of()], &["Tree"]);
}
