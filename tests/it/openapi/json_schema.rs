//! JSON Schema keywords in route schemas: responses and documents.

use stockade::openapi::{OpenApiOptions, open_api, to_3_0};
use stockade::prelude::*;
use stockade::testing::TestClient;

use crate::support::block_on;

fn app() -> App {
    let api = routes! {
        "payments": {
            POST: {
                async |Body(payment): Body<Value>| payment,
                validation: schema!({
                    "type": "object",
                    "properties": {
                        "amount": { "type": "number", "multipleOf": 0.01 },
                        "ship_to": { "$ref": "#/$defs/address" },
                        "bill_to": { "$ref": "#/$defs/address" },
                    },
                    "required": ["amount"],
                    "oneOf": [
                        { "properties": { "kind": { "const": "card" } }, "required": ["kind", "token"] },
                        { "properties": { "kind": { "const": "invoice" } }, "required": ["kind", "vat"] },
                    ],
                    "not": { "required": ["old"] },
                    "if": { "required": ["gift"] },
                    "then": { "required": ["ship_to"] },
                    "dependentRequired": { "bill_to": ["ship_to"] },
                    "patternProperties": { "^x-": { "type": "string" } },
                    "propertyNames": { "maxLength": 20 },
                    "$defs": {
                        "address": {
                            "type": "object",
                            "properties": {
                                "city": { "type": "string", "trim": true },
                                "lines": { "type": "array", "contains": { "type": "string" }, "maxContains": 3 },
                            },
                            "required": ["city"],
                        },
                    },
                }),
            },
        },
    };
    create_router(api, RouterOptions::new()).build().unwrap()
}

/// Sends a body. Returns the status, and the errors or the body.
fn send(body: Value) -> (u16, Value) {
    block_on(async {
        let response = TestClient::new(app()).post("/payments").json(&body).send().await;
        let status = response.status().as_u16();
        let mut body: Value = response.json();
        let errors = body.pointer_mut("/details/errors").map(Value::take);
        (status, errors.unwrap_or(body))
    })
}

#[test]
fn a_value_that_matches_no_alternative_gets_one_error() {
    let (status, errors) = send(json!({ "amount": 1.1, "kind": "invoice", "token": "4111" }));
    assert_eq!(status, 400);
    assert_eq!(
        errors,
        json!([{
            "field": "vat",
            "message": "Required field 'vat' is missing",
            "rule": "required",
        }])
    );
}

#[test]
fn all_keywords_are_checked() {
    let valid = json!({
        "amount": 19.99, "ship_to": { "city": " Rome " }, "kind": "card", "token": "4111", "x-a": "b",
    });
    let (status, body) = send(valid.clone());
    assert_eq!((status, &body["ship_to"]["city"]), (200, &json!("Rome")));
    for (name, value, field, rule) in [
        ("amount", json!(0.005), "amount", "multipleOf"),
        ("old", json!(1), "", "not"),
        ("x-a", json!(1), "x-a", "type"),
        ("a name that is too long", json!(1), "a name that is too long", "propertyNames"),
        ("ship_to", json!({}), "ship_to.city", "required"),
        ("ship_to", json!({ "city": "a", "lines": [1] }), "ship_to.lines", "contains"),
    ] {
        let mut body = valid.clone();
        body[name] = value;
        let (status, errors) = send(body);
        assert_eq!(status, 400, "{name}");
        assert_eq!((&errors[0]["field"], &errors[0]["rule"]), (&json!(field), &json!(rule)));
        assert_eq!(errors.as_array().map(Vec::len), Some(1), "{errors}");
    }
    let (_, errors) = send(
        json!({ "amount": 1, "kind": "card", "token": "4", "gift": true, "bill_to": { "city": "a" } }),
    );
    let rules: Vec<&str> =
        errors.as_array().unwrap().iter().map(|it| it["rule"].as_str().unwrap()).collect();
    assert_eq!(rules, ["dependentRequired", "required"]);
}

#[test]
fn the_document_shows_the_keywords() {
    let document = open_api(&app(), &OpenApiOptions::new("Shop", "1")).unwrap();
    let body =
        &document["paths"]["/payments"]["post"]["requestBody"]["content"]["application/json"];
    let schema = &body["schema"];
    assert_eq!(schema["properties"]["amount"]["multipleOf"], 0.01);
    assert_eq!(schema["oneOf"][1]["required"], json!(["kind", "vat"]));
    assert_eq!(schema["not"], json!({ "required": ["old"] }));
    assert_eq!(schema["if"], json!({ "required": ["gift"] }));
    assert_eq!(schema["then"], json!({ "required": ["ship_to"] }));
    assert_eq!(schema["dependentRequired"], json!({ "bill_to": ["ship_to"] }));
    assert_eq!(schema["patternProperties"], json!({ "^x-": { "type": "string" } }));
    assert_eq!(schema["propertyNames"], json!({ "maxLength": 20 }));
    let reference = json!("#/components/schemas/address");
    assert_eq!(schema["properties"]["ship_to"]["$ref"], reference);
    let lines = &document["components"]["schemas"]["address"]["properties"]["lines"];
    assert_eq!(
        (&lines["contains"], &lines["maxContains"]),
        (&json!({ "type": "string" }), &json!(3))
    );

    let (old, lost) = to_3_0(&document);
    let schema = "/paths/~1payments/post/requestBody/content/application~1json/schema";
    assert_eq!(old.pointer(schema).unwrap()["not"], json!({ "required": ["old"] }));
    assert!(lost.iter().any(|it| it.contains("dependentRequired")), "{lost:?}");
}
