//! Methods in documents: OpenAPI for the route, OpenRPC with `rpc.discover`,
//! and the routes of `rest`.

use serde::{Deserialize, Serialize};
use stockade::RouteDocs;
use stockade::openapi::{OpenApiOptions, with_open_api};
use stockade::prelude::*;
use stockade::rpc::{Rpc, RpcError, RpcMethod};
use stockade::serde_json;
use stockade::testing::TestClient;

use super::{call, client, send};

#[derive(Deserialize, Schema)]
struct Subtract {
    /// The number to subtract from.
    minuend: i64,
    subtrahend: Option<i64>,
}

#[derive(Serialize, Schema, Deserialize)]
struct Difference {
    value: i64,
}

fn rpc() -> Rpc {
    let subtract = async |Body(it): Body<Subtract>| {
        Json(Difference { value: it.minuend - it.subtrahend.unwrap_or_default() })
    };
    let hidden =
        RpcMethod::new(async || ()).docs(RouteDocs::new("Is hidden").hidden("it is internal"));
    Rpc::new()
        .method("subtract", RpcMethod::new(subtract).docs("Subtracts"))
        .method("sum", async |Body(it): Body<Vec<i64>>| Json(it.iter().sum::<i64>()))
        .method("pair", async |Body(_): Body<(u8, String)>| ())
        .method("now", async || "noon")
        .method("hidden", hidden)
}

#[tokio::test]
async fn open_api_has_one_object_for_each_method() {
    let api = routes! { "rpc": { ..rpc().routes() } };
    let options = OpenApiOptions::new("Numbers", "1.0.0").public("it is open");
    let api = with_open_api(create_router(api, RouterOptions::new().rate_limit(false)), options);
    let client = TestClient::new(api);
    let document: Value = client.get("/openapi.json").await.json();
    let paths: Vec<&String> = document["paths"].as_object().unwrap().keys().collect();
    assert_eq!(paths, ["/rpc"]);
    let operation = &document["paths"]["/rpc"]["post"];
    let body = &operation["requestBody"]["content"]["application/json"]["schema"];
    let calls = body["oneOf"].as_array().unwrap();
    let names: Vec<&Value> =
        calls.iter().map(|call| &call["properties"]["method"]["const"]).collect();
    assert_eq!(names, ["subtract", "sum", "pair", "now", "hidden"]);
    assert_eq!(calls[0]["properties"]["params"]["$ref"], "#/components/schemas/Subtract");
    assert_eq!(calls[0]["required"], json!(["jsonrpc", "method", "params"]));
    assert_eq!(calls[3]["required"], json!(["jsonrpc", "method"]));
    assert!(document["components"]["schemas"]["Difference"].is_object());
}

#[tokio::test]
async fn open_rpc_describes_all_methods() {
    let client = client(&rpc().discover(true).title("Numbers").version("2.1.0"));
    let document = call(&client, "rpc.discover", json!(null)).await;
    assert_eq!(document["info"], json!({ "title": "Numbers", "version": "2.1.0" }));
    let methods = document["methods"].as_array().unwrap();
    let names: Vec<&Value> = methods.iter().map(|method| &method["name"]).collect();
    assert_eq!(names, ["subtract", "sum", "pair", "now", "rpc.discover"]);
    let subtract = &methods[0];
    assert_eq!(subtract["summary"], "Subtracts");
    assert_eq!(subtract["paramStructure"], "either");
    let params = subtract["params"].as_array().unwrap();
    assert_eq!((&params[0]["name"], &params[0]["required"]), (&json!("minuend"), &json!(true)));
    assert_eq!((&params[1]["name"], &params[1]["required"]), (&json!("subtrahend"), &json!(false)));
    assert_eq!(subtract["result"]["schema"]["$ref"], "#/components/schemas/Difference");
    assert!(document["components"]["schemas"]["Difference"]["properties"]["value"].is_object());
    assert_eq!(methods[2]["params"].as_array().unwrap().len(), 2);

    let meta = include_str!("../../vectors/openrpc/meta-schema.json");
    let mut meta: Value = serde_json::from_str(meta).unwrap();
    meta["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    // The file does not contain the dialect of its schemas.
    for name in ["JSONSchema", "referenceObject"] {
        assert!(meta["definitions"][name].is_object());
        meta["definitions"][name] = json!(name == "JSONSchema");
    }
    let validator = jsonschema::validator_for(&meta).unwrap();
    let errors: Vec<String> = validator.iter_errors(&document).map(|it| it.to_string()).collect();
    assert_eq!(errors, [""; 0], "{document:#}");
}

#[tokio::test]
async fn open_rpc_lists_declared_errors() {
    let fails = async || Err::<(), _>(RpcError::new(-32050, "Out of stock"));
    let declared = RpcMethod::new(fails).may_fail(-32050, "Out of stock").may_fail(7, "Sold");
    let rpc = Rpc::new().method("order", declared).method("other", async || "x");
    let document = call(&client(&rpc.discover(true)), "rpc.discover", json!(null)).await;
    let expected =
        json!([{ "code": -32050, "message": "Out of stock" }, { "code": 7, "message": "Sold" }]);
    assert_eq!(document["methods"][0]["errors"], expected);
    assert_eq!(document["methods"][1].get("errors"), None);

    let wrong = Rpc::new().method("order", RpcMethod::new(fails).may_fail(-32603, "Mine"));
    let error = create_router(wrong.routes(), RouterOptions::new()).build().unwrap_err();
    assert_eq!(
        error.issues()[0].message(),
        "the method \"order\": the error code -32603 is reserved by JSON-RPC: \
         use -32099 to -32000, or a code outside of -32768 to -32000"
    );
}

#[tokio::test]
async fn discovery_is_disabled_by_default() {
    let error = call(&client(&rpc()), "rpc.discover", json!(null)).await;
    assert_eq!(error["code"], -32601);
}

#[tokio::test]
async fn rest_makes_a_route_of_each_method() {
    let client = client(&rpc().rest(true));
    let sent = client.post("/rpc/subtract").json(json!({ "minuend": 5, "subtrahend": 3 }));
    sent.await.assert_status(200).assert_json(json!({ "value": 2 }));
    let sent = client.post("/rpc/subtract").json(json!({}));
    sent.await.assert_status(400).assert_field_error("minuend", "required");
    // A page from another origin can send these without a preflight.
    for content_type in ["application/x-www-form-urlencoded", "text/plain"] {
        let form = client.post("/rpc/subtract").header("content-type", content_type);
        form.body("minuend=5&subtrahend=3").await.assert_status(415);
    }
    let message = r#"{"jsonrpc":"2.0","method":"now","id":1}"#;
    assert_eq!(send(&client, message).await, r#"{"jsonrpc":"2.0","result":"noon","id":1}"#);

    let wrong = Rpc::new().method("a/b", async || ()).rest(true);
    let error = create_router(wrong.routes(), RouterOptions::new()).build().unwrap_err();
    let message = error.issues()[0].message().to_owned();
    assert_eq!(message, "the method \"a/b\" is not a valid path segment, but `rest` needs one");
}
