//! The guards of the tracker: policy, lock, attacks, and two companies that share
//! nothing.

use stockade::auth::generate_jwt;
use stockade::policy::Policy;
use stockade::prelude::*;
use stockade::testing::{
    AttackFamily, Credentials, Hardening, TestClient, assert_policy, assert_posture,
    assert_routes_lock,
};

use tempfile::TempDir;

use super::{db, router};

fn secret() -> Secret {
    Secret::new("a secret of tests only, 32 bytes").unwrap()
}

/// The whole API with an empty database in this folder.
async fn tracker(folder: &TempDir) -> Router {
    let path = folder.path().join("test.db");
    router(secret(), RouterOptions::new()).state(db::open(path.to_str().unwrap()).await.unwrap())
}

fn token(tenant: &str) -> String {
    generate_jwt(json!({ "sub": "1", "tenant": tenant }), "1h", &secret()).unwrap()
}

fn user(tenant: &str) -> Credentials {
    Credentials::bearer(token(tenant))
}

#[tokio::test]
async fn follows_the_policy() {
    let folder = tempfile::tempdir().unwrap();
    assert_policy(tracker(&folder).await, &Policy::recommended());
}

#[tokio::test]
async fn production_follows_the_policy() {
    let folder = tempfile::tempdir().unwrap();
    assert_posture(tracker(&folder).await, "production.json");
}

#[tokio::test]
async fn routes_are_as_locked() {
    let folder = tempfile::tempdir().unwrap();
    assert_routes_lock(tracker(&folder).await, "routes.lock");
}

#[tokio::test]
async fn rejects_all_attacks_and_keeps_companies_apart() {
    let folder = tempfile::tempdir().unwrap();
    let claims = json!({ "sub": "1", "tenant": "initech" });
    let report = Hardening::new(tracker(&folder).await)
        .tokens(secret(), claims)
        .users(|roles| roles.is_empty().then(|| user("initech")))
        .tenants(user("acme"), user("globex"))
        .run()
        .await;
    report.assert();
    // All rejections count: the owner succeeds with the same requests.
    let count = report.count(AttackFamily::Tenants);
    assert!(count.passed >= 20, "{report}");
    assert_eq!(count.not_attacked, 0, "{report}");
}

#[tokio::test]
async fn moves_an_issue_to_another_project() {
    let folder = tempfile::tempdir().unwrap();
    let client = TestClient::new(tracker(&folder).await).with_bearer(token("acme"));
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
