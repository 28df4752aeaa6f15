//! Tests of marks in each kind of rule. The property test is part of the
//! resource tests, which run against all stores.

use serde_json::{Value, json};

use super::{Mark, Marks, View, add_origins, remove_origins};
use crate::{HasSchema, Rule, Schema};

struct Node;

impl HasSchema for Node {
    fn rule() -> Rule {
        Rule::object([
            ("name", Rule::string().required()),
            ("role", Rule::string().required().read_only()),
            ("key", Rule::string().nullable().write_only()),
            ("children", Rule::array(Rule::of::<Self>())),
        ])
    }

    fn field_rule() -> Rule {
        Rule::of::<Self>()
    }
}

/// A type whose values are hidden in every place.
struct Secret;

impl HasSchema for Secret {
    fn rule() -> Rule {
        Rule::string().write_only()
    }

    fn field_rule() -> Rule {
        Rule::of::<Self>()
    }
}

fn schema() -> Schema {
    let secret = || Rule::string().write_only();
    let login = || Rule::object([("name", Rule::string()), ("key", secret())]);
    Rule::object([
        ("node", Rule::of::<Node>().nullable()),
        ("map", Rule::object::<String>([]).additional_properties(Rule::of::<Node>())),
        ("secrets", Rule::object::<String>([]).additional_properties(Rule::of::<Secret>())),
        ("list", Rule::array(Rule::of::<Secret>())),
        ("pair", Rule::tuple([Rule::string(), secret()])),
        (
            "tagged",
            Rule::tagged(
                "kind",
                [
                    ("open", Rule::object([("key", Rule::string())])),
                    ("closed", login()),
                    ("hidden", login().write_only()),
                ],
            ),
        ),
        (
            "content",
            Rule::tagged_content("kind", "value", [("a", Some(login())), ("b", Some(secret()))]),
        ),
        ("variants", Rule::variants([("a", Some(login())), ("b", Some(secret())), ("c", None)])),
        (
            "flat",
            Rule::object([("own", Rule::string())])
                .flatten(login())
                .flatten(Rule::object([("hidden", Rule::string().required())]).write_only()),
        ),
    ])
    .build()
    .unwrap()
}

#[track_caller]
fn check(property: &str, value: &Value, shown: &Value) {
    let mut whole = json!({ property: value });
    Marks::of(&schema()).strip(Mark::WriteOnly, &mut whole);
    assert_eq!(whole[property], *shown);
}

#[test]
fn removes_marked_values_of_every_kind() {
    let node = json!({ "name": "a", "key": "k", "children": [{ "name": "b", "key": "k" }] });
    let shown = json!({ "name": "a", "children": [{ "name": "b" }] });
    check("node", &node, &shown);
    check("node", &Value::Null, &Value::Null);
    check("map", &json!({ "key": node }), &json!({ "key": shown }));
    check("secrets", &json!({ "a": "k", "b": "k" }), &json!({}));
    check("pair", &json!(["a", "k"]), &json!(["a", null]));
    check("tagged", &json!({ "kind": "open", "key": "a" }), &json!({ "kind": "open", "key": "a" }));
    check("tagged", &json!({ "kind": "closed", "key": "k" }), &json!({ "kind": "closed" }));
    check("tagged", &json!({ "kind": "hidden", "name": "k" }), &json!({ "kind": "hidden" }));
    let content = json!({ "kind": "a", "value": { "name": "a", "key": "k" } });
    check("content", &content, &json!({ "kind": "a", "value": { "name": "a" } }));
    check("content", &json!({ "kind": "b", "value": "k" }), &json!({ "kind": "b" }));
    check("variants", &json!({ "a": { "key": "k" } }), &json!({ "a": {} }));
    check("variants", &json!({ "b": "k" }), &json!({ "b": null }));
    check("variants", &json!("c"), &json!("c"));
    let flat = json!({ "own": "a", "name": "a", "key": "k", "hidden": "k" });
    check("flat", &flat, &json!({ "own": "a", "name": "a" }));
    // A list of hidden elements is hidden.
    check("list", &json!(["k"]), &Value::Null);
}

#[test]
fn finds_marked_values_by_path() {
    let marks = Marks::of(&schema());
    let value = json!({
        "node": { "key": "k", "children": [{ "key": "k" }] },
        "tagged": { "kind": "open", "key": "a" },
        "variants": { "b": "k" },
    });
    for (path, expected) in [
        ("node/key", true),
        ("node/name", false),
        ("node/children/0/key", true),
        ("node/children/1/key", false),
        ("tagged/key", false),
        ("variants/b", true),
        ("list", true),
        ("node/unknown", false),
    ] {
        assert_eq!(
            marks.is_marked_at(Mark::WriteOnly, &value, path.split('/')),
            expected,
            "{path}"
        );
    }
    for (path, expected) in [
        ("node.children[3].key", true),
        ("node.name", false),
        // Another variant of the union contains it.
        ("tagged.key", true),
        ("content.value.key", true),
        ("variants.a.name", false),
        ("pair[1]", true),
        ("pair[0]", false),
    ] {
        assert_eq!(marks.may_be_marked(Mark::WriteOnly, path), expected, "{path}");
    }
}

#[test]
fn views_have_no_marked_values() {
    let rule = || Rule::object([("node", Rule::of::<Node>())]);
    assert!(rule().has_inner_mark(Mark::ReadOnly));
    let document = |view| rule().viewed(view).build().unwrap().to_json_schema();
    let names = |document: &Value, name: &str| {
        let properties = document["$defs"][name]["properties"].as_object().unwrap();
        properties.keys().cloned().collect::<Vec<_>>()
    };
    let sent = document(View::Sent);
    assert_eq!(names(&sent, "NodeInput"), ["name", "key", "children"]);
    assert_eq!(sent["$defs"]["NodeInput"]["required"], json!(["name"]));
    assert_eq!(names(&document(View::Shown), "NodeOutput"), ["name", "role", "children"]);
    // A type without marks does not change.
    let plain = || Rule::object([("list", Rule::array(Rule::string()))]);
    assert!(!plain().has_inner_mark(Mark::WriteOnly));
    let [one, other] = [plain().viewed(View::Sent), plain()].map(|rule| rule.build().unwrap());
    assert_eq!(one.to_json_schema(), other.to_json_schema());
}

#[test]
fn removes_names_from_both_forms_of_required() {
    let rule = Rule::from_value(&json!({
        "type": "object",
        "properties": { "a": { "type": "string" }, "b": { "type": "string" } },
        "required": ["a", "b"],
    }));
    let document = rule.without(&["a"]).build().unwrap().to_json_schema();
    assert_eq!(document["required"], json!(["b"]));
}

#[test]
fn rejects_a_marked_flattened_union() {
    let union = Rule::tagged("kind", [("a", Rule::object([("b", Rule::string())]))]);
    let rule = Rule::object([("own", Rule::string())]).flatten(union.write_only());
    let error = rule.build().unwrap_err().to_string();
    assert!(error.contains("a flattened union cannot be marked"), "{error}");
}

/// Changes a stored list to another list and returns the roles and keys of its
/// elements.
fn kept(stored: &[(&str, &str)], sent: &Value) -> Vec<[Value; 2]> {
    let marks =
        Marks::of(&Rule::object([("list", Rule::array(Rule::of::<Node>()))]).build().unwrap());
    let stored: Vec<Value> = stored
        .iter()
        .map(|(name, role)| json!({ "name": name, "role": role, "key": format!("key of {name}") }))
        .collect();
    let (stored, mut changed) = (json!({ "list": stored }), json!({ "list": sent }));
    let aligned = marks.aligned(&stored, &changed);
    marks.strip(Mark::ReadOnly, &mut changed);
    for mark in [Mark::ReadOnly, Mark::WriteOnly] {
        marks.restore(mark, &aligned, &mut changed, None);
    }
    let elements = changed["list"].as_array().unwrap().iter();
    elements.map(|it| ["role", "key"].map(|name| it[name].clone())).collect()
}

#[test]
fn each_element_keeps_its_own_values() {
    let stored = [("a", "admin"), ("b", "user"), ("c", "user")];
    let pair = |role: &str, name: &str| [json!(role), json!(format!("key of {name}"))];
    let none = || [Value::Null, Value::Null];
    // The same elements in another order, without the read-only values.
    let sent = json!([{ "name": "b" }, { "name": "a" }, { "name": "c" }]);
    assert_eq!(kept(&stored, &sent), [pair("user", "b"), pair("admin", "a"), pair("user", "c")]);
    // Fewer elements.
    assert_eq!(kept(&stored, &json!([{ "name": "c" }])), [pair("user", "c")]);
    // A new element gets nothing, regardless of the values that it sends.
    let sent = json!([
        { "name": "d", "role": "root" }, { "name": "a" }, { "name": "b" }, { "name": "c" },
    ]);
    assert_eq!(kept(&stored, &sent)[0], none());
    // Two elements cannot share the values of one.
    let sent = json!([{ "name": "a" }, { "name": "a" }, { "name": "a" }, { "name": "a" }]);
    let roles = kept(&stored, &sent);
    assert_eq!(roles.iter().filter(|it| it[0] == "admin").count(), 1);
    // A changed name in the same place.
    let sent = json!([{ "name": "x" }, { "name": "b" }, { "name": "c" }]);
    assert_eq!(kept(&stored, &sent)[0], pair("admin", "a"));
    // A new name with the read-only value of another element.
    let sent = json!([{ "name": "c" }, { "name": "x", "role": "admin" }]);
    assert_eq!(kept(&stored, &sent), [pair("user", "c"), none()]);
    // A client can replace a write-only value.
    let sent = json!([{ "name": "a", "key": null }]);
    assert_eq!(kept(&stored, &sent)[0], [json!("admin"), Value::Null]);
}

#[test]
fn origins_are_removed_completely() {
    let value = json!({ "a": [{ "b": [{}] }, 1, [{}]], "c": { "d": {} } });
    let mut changed = value.clone();
    add_origins(&mut changed);
    assert_ne!(changed, value);
    remove_origins(&mut changed);
    assert_eq!(changed, value);
}

#[test]
fn a_hidden_value_does_not_become_visible_in_another_kind() {
    let marks = Marks::of(&schema());
    let stored = json!({ "tagged": { "kind": "closed", "name": "a", "key": "k" } });
    let mut merged = json!({ "tagged": { "kind": "open", "name": "a", "key": "k" } });
    let visible = json!({ "tagged": { "kind": "open", "name": "a" } });
    marks.replace_switched(&stored, &mut merged, &visible);
    assert_eq!(merged, visible);
}

#[test]
fn names_a_missing_required_value() {
    let rule = Rule::object([("list", Rule::array(Rule::of::<Node>()))]);
    let marks = Marks::of(&rule.build().unwrap());
    let missing = |value: Value| marks.missing(Mark::ReadOnly, value.as_object().unwrap());
    assert_eq!(missing(json!({ "list": [{ "role": "a" }] })), None);
    let value = json!({ "list": [{ "role": "a" }, { "name": "b" }] });
    assert_eq!(missing(value), Some("list[1].role".to_owned()));
}

#[test]
fn strips_text_as_values() {
    let marks = Marks::of(&schema());
    let inner = json!({ "name": "a", "role": "b", "key": "c", "children": [] });
    let node = json!({ "name": "a", "role": "b", "key": "c", "children": [inner, 7, null] });
    let value = json!({
        "node": node, "map": { "x": node, "y": null }, "secrets": { "x": "a" }, "list": ["a"],
        "pair": ["a", "b"], "other": [{ "key": 1 }], "content": { "kind": "key", "data": "a" },
    });
    let mut values = vec![value.clone(), json!([]), json!("a"), json!(null), json!({})];
    for kind in [json!("open"), json!("closed"), json!("hidden"), json!("none"), json!(7)] {
        let mut value = value.clone();
        value["tagged"] = json!({ "key": "a", "name": "b", "kind": kind });
        values.push(value);
    }
    for value in values {
        for mark in [Mark::ReadOnly, Mark::WriteOnly] {
            let mut expected = value.clone();
            marks.strip(mark, &mut expected);
            for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
                let stripped = marks.strip_text(mark, &text).unwrap();
                assert_eq!(stripped.is_some(), expected != value, "{mark:?} {text}");
                let stripped = stripped.unwrap_or(text);
                assert_eq!(serde_json::from_str::<Value>(&stripped).unwrap(), expected);
            }
        }
    }
}

#[test]
fn keeps_the_rest_of_a_text() {
    let marks = Marks::of(&Node::schema().unwrap());
    let strip = |text| marks.strip_text(Mark::ReadOnly, text).map(Option::unwrap_or_default);
    let text = r#"{"r\u006fle":{"a":[1]},"name":1.50,"n":12345678901234567890123,"role":1}"#;
    assert_eq!(strip(text).unwrap(), r#"{"name":1.50,"n":12345678901234567890123}"#);
    assert_eq!(strip(r#"{"role":"a" , "name":"\u0041"}"#).unwrap(), r#"{"name":"\u0041"}"#);
    for text in ["", "{", r#"{"role":"\ud800"}"#, "{} 1", r#"{"role":01}"#] {
        assert!(strip(text).is_err(), "{text}");
    }
}

#[test]
fn strips_a_marked_whole() {
    let marks = Marks::of(&Vec::<Secret>::schema().unwrap());
    assert!(marks.has(Mark::WriteOnly) && !marks.has(Mark::ReadOnly));
    let stripped = marks.strip_text(Mark::WriteOnly, r#"["a"]"#).unwrap();
    assert_eq!(stripped.as_deref(), Some("null"));
    let mut value = json!(["a"]);
    marks.strip_whole(Mark::WriteOnly, &mut value);
    assert_eq!(value, json!(null));
}

#[test]
fn finds_a_required_read_only_property() {
    let required = |rule: Rule| Marks::of(&rule.build().unwrap()).required_read_only();
    let role = || Rule::string().required().read_only();
    let owner = || Rule::object([("role", role())]);
    assert_eq!(required(owner()).as_deref(), Some("role"));
    assert_eq!(
        required(Rule::object([("owner", owner().required())])).as_deref(),
        Some("owner.role")
    );
    assert_eq!(required(Rule::object([("owner", owner())])), None);
    assert_eq!(required(Rule::object([("role", Rule::string().read_only())])), None);
    assert_eq!(required(Rule::object([("role", role().default("a"))])), None);
    assert_eq!(required(Rule::of::<Node>()).as_deref(), Some("role"));
}

#[test]
fn names_the_marked_properties_of_each_type() {
    let mut types = std::collections::BTreeMap::new();
    Marks::of(&schema()).add_types(&mut types);
    let node = &types["Node"];
    assert!(node.read_only.iter().eq(["role"]) && node.write_only.iter().eq(["key"]), "{node:?}");
    assert_eq!(Marks::of(&Node::schema().unwrap()).type_name(), Some("Node"));
}

/// The library's internal member name is an ordinary key for a client.
#[test]
fn marks_apply_below_every_key_of_a_map() {
    let marks = Marks::of(&schema());
    for key in ["role", "kind", "", "__proto__", "\u{0}origin", "\u{0}", "a.b", "0"] {
        let mut value = json!({
            "map": { key: { "name": "a", "role": "b", "key": "k" } },
            "secrets": { key: "k" },
        });
        let text = value.to_string();
        for mark in [Mark::ReadOnly, Mark::WriteOnly] {
            marks.strip(mark, &mut value);
        }
        assert_eq!(value["map"][key], json!({ "name": "a" }), "{key:?}");
        assert_eq!(value["secrets"], json!({}), "{key:?}");
        let text = marks.strip_text(Mark::WriteOnly, &text).unwrap().unwrap();
        let text = marks.strip_text(Mark::ReadOnly, &text).unwrap().unwrap();
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value, "{key:?}");
    }
}

/// Returns the stored role of each element of a changed list.
fn roles(stored: &Value, changed: &Value) -> Vec<Option<String>> {
    let person = || {
        Rule::object([
            ("id", Rule::integer().read_only()),
            ("name", Rule::string()),
            ("note", Rule::integer()),
            ("role", Rule::string().read_only()),
        ])
    };
    let marks = Marks::of(&Rule::object([("list", Rule::array(person()))]).build().unwrap());
    let (stored, changed) = (json!({ "list": stored }), json!({ "list": changed }));
    let aligned = marks.aligned(&stored, &changed);
    let aligned = aligned["list"].as_array().unwrap().iter();
    aligned.map(|element| element["role"].as_str().map(str::to_owned)).collect()
}

#[track_caller]
fn check_roles(stored: &Value, changed: &Value, expected: &[&str]) {
    let found = roles(stored, changed);
    let found: Vec<&str> = found.iter().map(|role| role.as_deref().unwrap_or_default()).collect();
    assert_eq!(found, expected, "{changed}");
}

#[test]
fn a_sent_read_only_value_does_not_move_to_another_element() {
    let stored = json!([
        { "name": "ada", "note": 1, "role": "admin" },
        { "name": "eve", "note": 2, "role": "user" },
    ]);
    for (ada, eve) in [("user", "admin"), ("admin", "admin"), ("user", "user"), ("x", "admin")] {
        let mut changed = json!([
            { "name": "ada", "note": 1, "role": ada },
            { "name": "eve", "note": 2, "role": eve },
        ]);
        check_roles(&stored, &changed, &["admin", "user"]);
        // The other values change too.
        changed[0]["note"] = json!(8);
        changed[1]["note"] = json!(9);
        check_roles(&stored, &changed, &["admin", "user"]);
    }
    // The next lists contain only Eve, a new element after both, a new element
    // instead of Ada, and copies of Ada.
    check_roles(&stored, &json!([{ "name": "eve", "note": 3, "role": "admin" }]), &[""]);
    check_roles(&stored, &json!([{ "name": "eve", "note": 2, "role": "admin" }]), &["user"]);
    let changed = json!([stored[0], stored[1], { "name": "mal", "role": "admin" }]);
    check_roles(&stored, &changed, &["admin", "user", ""]);
    let changed = json!([{ "name": "eve", "note": 2 }, { "name": "mal", "role": "admin" }]);
    check_roles(&stored, &changed, &["user", ""]);
    let changed = json!([stored[0], stored[0], stored[0]]);
    check_roles(&stored, &changed, &["admin", "", ""]);
}

#[test]
fn an_id_identifies_an_element_of_a_list() {
    let stored = json!([
        { "id": 1, "name": "ada", "role": "admin" },
        { "id": 2, "name": "eve", "role": "user" },
    ]);
    let check = |changed: Value, expected: &[&str]| check_roles(&stored, &changed, expected);
    check(json!([{ "id": 2, "name": "e" }, { "id": 1, "name": "a" }]), &["user", "admin"]);
    check(json!([{ "id": 2, "name": "ada" }]), &["user"]);
    // A new element replaces a removed element at the same index.
    check(json!([{ "name": "mal" }, { "id": 2, "name": "eve" }]), &["", "user"]);
    check(json!([{ "name": "mal" }, { "id": 2, "name": "e" }]), &["", "user"]);
    check(json!([{ "id": 9, "name": "mal" }, { "id": 2, "name": "eve" }]), &["", "user"]);
    // The same id more than once.
    check(json!([{ "id": 1, "name": "x" }, { "id": 1, "name": "mal" }]), &["admin", ""]);
    check(json!([{ "id": "1", "name": "x" }, { "id": [1], "name": "y" }]), &["", ""]);
    // A client that sends no ids.
    check(json!([{ "name": "a" }, { "name": "e" }]), &["admin", "user"]);
    check(json!([{ "name": "eve" }, { "name": "mal" }]), &["user", ""]);
}

#[test]
fn a_value_that_a_client_has_set_is_not_read_only_in_another_kind() {
    let open = Rule::object([("role", Rule::string())]);
    let closed = Rule::object([("role", Rule::string().read_only())]);
    let kinds = || [("open", open.clone()), ("closed", closed.clone())];
    let contents = || kinds().map(|(name, kind)| (name, Some(kind)));
    for (rule, stored, changed, left) in [
        (
            Rule::tagged("kind", kinds()),
            json!({ "kind": "open", "role": "admin" }),
            json!({ "kind": "closed", "role": "admin" }),
            json!({ "kind": "closed" }),
        ),
        (
            Rule::tagged_content("kind", "value", contents()),
            json!({ "kind": "open", "value": { "role": "admin" } }),
            json!({ "kind": "closed", "value": { "role": "admin" } }),
            json!({ "kind": "closed", "value": {} }),
        ),
        (
            Rule::variants(contents()),
            json!({ "open": { "role": "admin" } }),
            json!({ "closed": { "role": "admin" } }),
            json!({ "closed": {} }),
        ),
    ] {
        let marks = Marks::of(&Rule::object([("key", rule)]).build().unwrap());
        let (stored, mut changed) = (json!({ "key": stored }), json!({ "key": changed }));
        let aligned = marks.aligned(&stored, &changed);
        marks.strip(Mark::ReadOnly, &mut changed);
        marks.restore(Mark::ReadOnly, &aligned, &mut changed, None);
        assert_eq!(changed["key"], left);
    }
}

#[test]
fn marks_inside_alternatives_have_a_pointer() {
    #[track_caller]
    fn check(schema: &Value, expected: Option<&str>) {
        let marks = Marks::of(&Schema::from_value(schema).unwrap());
        assert_eq!(marks.ignored(Mark::WriteOnly).as_deref(), expected, "{schema}");
        assert_eq!(marks.ignored(Mark::ReadOnly), None, "{schema}");
    }
    let secret = || json!({ "properties": { "key": { "type": "string", "writeOnly": true } } });
    check(&secret(), None);
    check(&json!({ "properties": { "a": secret() } }), None);
    check(&json!({ "items": secret() }), None);
    check(&json!({ "oneOf": [{}, secret()] }), Some("/oneOf/1/properties/key/writeOnly"));
    check(&json!({ "allOf": [secret()] }), Some("/allOf/0/properties/key/writeOnly"));
    check(
        &json!({ "if": { "required": ["a"] }, "then": secret() }),
        Some("/then/properties/key/writeOnly"),
    );
    check(
        &json!({ "properties": { "a/b": { "anyOf": [secret()] } } }),
        Some("/properties/a~1b/anyOf/0/properties/key/writeOnly"),
    );
    check(
        &json!({ "patternProperties": { "^x": { "type": "string", "writeOnly": true } } }),
        Some("/patternProperties/^x/writeOnly"),
    );
    check(
        &json!({ "$defs": { "a": secret() }, "anyOf": [{ "$ref": "#/$defs/a" }] }),
        Some("/anyOf/0/properties/key/writeOnly"),
    );
}
