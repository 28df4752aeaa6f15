//! The requests of members, operators and the payment provider.

use stockade::prelude::*;
use stockade::testing::{MultipartForm, TestClient};

use super::{OPERATOR, World};

#[tokio::test]
async fn moves_an_issue_to_another_project() {
    let world = World::new().await;
    let client = world.client("ada@acme.example").await;
    for name in ["Shop", "App"] {
        client.post("/projects").json(json!({ "name": name })).await.assert_status(201);
    }
    let issue = json!({ "title": "It crashes" });
    client.post("/projects/1/issues").json(&issue).await.assert_status(201);
    let moved = client.patch("/projects/1/issues/1").json(json!({ "projectId": 2 })).await;
    moved.assert_json(json!({ "id": 1, "projectId": 2, "title": "It crashes" }));
    let list = client.get("/issues?projectId=2&q=crash").await;
    let issue = json!({ "id": 1, "projectId": 2, "title": "It crashes" });
    list.assert_json(json!({ "items": [issue], "next": null }));
    client.delete("/projects/2").await.assert_status(204);
    client.get("/projects/2/issues/1").await.assert_status(404);
}

#[tokio::test]
async fn a_file_is_a_download() {
    let world = World::new().await;
    let client = world.client("ada@acme.example").await;
    client.post("/projects").json(json!({ "name": "Shop" })).await.assert_status(201);
    let page = "<script>alert(1)</script>";
    let form = MultipartForm::new().file("file", "a.html", "text/html", page);
    client.post("/projects/1/files").multipart(form).await.assert_status(201);
    let file = client.get("/files/1").await;
    file.assert_status(200).assert_header("content-type", "application/octet-stream");
    file.assert_header("content-disposition", "attachment; filename=\"a.html\"");
    file.assert_header("x-content-type-options", "nosniff");
}

#[tokio::test]
async fn a_signed_payment_changes_the_plan_once() {
    let world = World::new().await;
    let provider = TestClient::new(world.public());
    let operator = TestClient::new(world.admin()).with_header(OPERATOR.0, OPERATOR.1);
    let plan = async || {
        let companies: Value = operator.get("/companies").await.json();
        companies["items"][0]["plan"].clone()
    };
    let send = async |plan: &str, id: &str| {
        let body = json!({ "id": id, "company": "acme", "plan": plan }).to_string();
        let mut request = provider.post("/webhooks/payments");
        for (name, value) in world.parts.payments.sign("", body.as_bytes()) {
            request = request.header(name, value);
        }
        request.header("content-type", "application/json").body(body).await.assert_status(204);
    };
    assert_eq!(plan().await, "free");
    send("team", "evt_1").await;
    assert_eq!(plan().await, "team");
    send("free", "evt_1").await;
    assert_eq!(plan().await, "team");
    let unsigned = json!({ "id": "evt_2", "company": "acme", "plan": "free" });
    provider.post("/webhooks/payments").json(unsigned).await.assert_status(401);
    assert_eq!(plan().await, "team");
}

#[tokio::test]
async fn operators_delete_a_company_with_its_sessions() {
    let world = World::new().await;
    let client = world.client("ada@acme.example").await;
    client.post("/projects").json(json!({ "name": "Shop" })).await.assert_status(201);
    let operator = TestClient::new(world.admin()).with_header(OPERATOR.0, OPERATOR.1);
    operator.delete("/companies/acme").await.assert_status(204);
    operator.delete("/companies/acme").await.assert_status(404);
    client.get("/projects").await.assert_status(401);
}
