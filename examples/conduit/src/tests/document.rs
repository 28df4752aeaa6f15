//! The document, validated by the official schema of OpenAPI 3.1.

#[path = "../../../../tests/it/openapi/official/validate.rs"]
mod validate;

use stockade::prelude::*;

use super::Conduit;

#[tokio::test]
async fn the_document_follows_the_official_schema() {
    let conduit = Conduit::new().await;
    let document: Value = conduit.client.get("/openapi.json").await.assert_status(200).json();
    assert_eq!(validate::validate(&document), Ok(()));
    assert!(document["paths"]["/api/articles/{slug}"]["get"].is_object(), "{document}");
}

/// The page shows an example of each request body. The API accepts all of them.
#[tokio::test]
async fn the_examples_of_all_bodies_are_accepted() {
    let response = Conduit::new().await.client.get("/docs").await;
    let (_, data) = response.assert_status(200).text().split_once("id=calls>").unwrap();
    let (data, _) = data.split_once("</script>").unwrap();
    let data: Value = data.parse().unwrap();
    let mut sent = Vec::new();
    let mut account = None;
    for call in data["calls"].as_object().unwrap().values() {
        let (method, path) = (call["m"].as_str().unwrap(), call["p"].as_str().unwrap());
        if path == "/mcp" {
            // Its errors follow the protocol for agents.
            continue;
        }
        for body in call["b"].as_array().into_iter().flatten() {
            // Two examples have the same name, so each has a separate server.
            let conduit = Conduit::new().await;
            let token = conduit.register("grace").await;
            let slug = conduit.publish(&token, "Tea", &[]).await;
            let path = path.replace("{slug}", &slug).replace("/api", "");
            let method: Method = method.parse().unwrap();
            if path == "/users" {
                account = Some(body["e"].clone());
            } else if path == "/users/login" {
                let account = account.clone().expect("the registration comes first");
                conduit.post("/users", "", account).await.assert_status(201);
            }
            let empty = conduit.request(method.clone(), &path, &token).json(json!({})).await;
            empty.assert_status(422);
            let response = conduit.request(method.clone(), &path, &token).json(&body["e"]).await;
            let text = response.text();
            assert!(response.status().is_success(), "{method} {path} {body} {text}");
            sent.push(format!("{method} {path}"));
        }
    }
    sent.sort();
    let expected = [
        "POST /articles",
        "POST /articles/tea/comments",
        "POST /users",
        "POST /users/login",
        "PUT /articles/tea",
        "PUT /user",
    ];
    assert_eq!(sent, expected);
}
