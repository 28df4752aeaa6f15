//! The catalogs contain the messages of the JSON Schema keywords.

use stockade::i18n::{Catalogs, ENGLISH};
use stockade::prelude::*;
use stockade::testing::TestClient;
use stockade::validation::Schema;

use crate::support::block_on;

/// Returns the first message, translated if `languages` is set.
async fn message(schema: &Value, body: &Value, languages: Option<(Catalogs, &str)>) -> String {
    let schema = Schema::rule(schema).unwrap();
    let api = routes! { "check": { POST: { async || "ok", validation: schema } } };
    let (catalogs, tag) = languages.unzip();
    let options = RouterOptions::new();
    let options = match catalogs {
        Some(catalogs) => options.languages(catalogs),
        None => options,
    };
    let client = TestClient::new(create_router(api, options));
    let request = client.post("/check").header("accept-language", tag.unwrap_or("en"));
    let response: Value = request.json(body).await.assert_status(400).json();
    response["details"]["errors"][0]["message"].as_str().unwrap().to_owned()
}

#[test]
fn catalogs_have_the_messages_of_json_schema_keywords() {
    let two = json!([{ "minimum": 3 }, { "minimum": 5 }]);
    block_on(async {
        for (schema, body, german) in [
            (json!({ "multipleOf": 0.5 }), json!(1.2), "Die Zahl muss ein Vielfaches von 0.5 sein"),
            (json!({ "not": { "type": "number" } }), json!(1), "Der Wert ist nicht erlaubt"),
            (
                json!({ "oneOf": two }),
                json!(7),
                "Der Wert passt zu mehr als einer der Möglichkeiten",
            ),
            // The message of the closest alternative.
            (json!({ "anyOf": two }), json!(1), "Die Zahl muss mindestens 3 sein"),
            (
                json!({ "contains": { "const": 7 } }),
                json!([1]),
                "Mindestens ein passender Eintrag erforderlich",
            ),
            (
                json!({ "contains": {}, "minContains": 2 }),
                json!([1]),
                "Mindestens 2 passende Einträge erforderlich",
            ),
            (
                json!({ "contains": {}, "maxContains": 1 }),
                json!([1, 2]),
                "Höchstens ein passender Eintrag erlaubt",
            ),
            (
                json!({ "dependentRequired": { "a": ["b"] } }),
                json!({ "a": 1 }),
                "Das Feld „b“ ist erforderlich, wenn „a“ vorhanden ist",
            ),
            (
                json!({ "propertyNames": { "maxLength": 1 } }),
                json!({ "ab": 1 }),
                "Ungültiger Feldname",
            ),
            (json!({ "unevaluatedItems": false }), json!([1]), "Der Eintrag ist nicht erlaubt"),
            (json!({ "unevaluatedProperties": false }), json!({ "a": 1 }), "Unbekanntes Feld „a“"),
            (
                json!({ "format": "int32" }),
                json!(1.5),
                "Die Zahl muss eine ganze Zahl mit 32 Bit sein",
            ),
            (json!({ "format": "float" }), json!(1e300), "Die Zahl muss in 32 Bit passen"),
            (json!({ "format": "byte" }), json!("a"), "Ungültiges Base64"),
            (json!({ "format": "duration" }), json!("a"), "Ungültige Dauer"),
            (json!({ "format": "idn-email" }), json!("a"), "Ungültige E-Mail-Adresse"),
            (json!({ "format": "idn-hostname" }), json!(".."), "Ungültiger Hostname"),
            (json!({ "format": "iri" }), json!("a"), "Ungültige IRI"),
            (json!({ "format": "iri-reference" }), json!("<"), "Ungültiger IRI-Verweis"),
            (json!({ "format": "uri-reference" }), json!("<"), "Ungültiger URI-Verweis"),
            (json!({ "format": "uri-template" }), json!("{"), "Ungültige URI-Vorlage"),
            (json!({ "format": "regex" }), json!("("), "Ungültiger regulärer Ausdruck"),
            (json!({ "format": "json-pointer" }), json!("a"), "Ungültiger JSON-Pointer"),
            (
                json!({ "format": "relative-json-pointer" }),
                json!("a"),
                "Ungültiger relativer JSON-Pointer",
            ),
        ] {
            let usual = message(&schema, &body, None).await;
            let builtin = Catalogs::builtin();
            assert_eq!(message(&schema, &body, Some((builtin, "de"))).await, german, "{schema}");
            // The translators' template has the default message.
            let template = Catalogs::builtin().add("en", ENGLISH).unwrap();
            assert_eq!(message(&schema, &body, Some((template, "en"))).await, usual, "{schema}");
        }
    });
}
