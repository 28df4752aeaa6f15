//! Routes by host, in every host framework.

use stockade::prelude::*;
use stockade::testing::TestClient;

use crate::serve::{actix, axum};

fn router() -> Router {
    let site = routes! {
        host: ":tenant.example.com",
        GET: async |Path(tenant): Path<String>| tenant,
        "users": { GET: async || "users of a tenant" },
    };
    let api = routes! { ..site, "users": { GET: async || "users", POST: async || "new" } };
    create_router(api, RouterOptions::new().rate_limit(false))
}

async fn compare(address: String) {
    let client = TestClient::live(&address);
    let acme = client.clone().with_header("host", "ACME.example.com:80");
    acme.get("/users").await.assert_text("users of a tenant");
    acme.post("/users").await.assert_text("new");
    client.get("/users").await.assert_text("users");
    client.get("/users").header("host", "a.b.example.com").await.assert_text("users");
}

#[tokio::test]
async fn hosts_are_the_same_in_axum() {
    for place in ["", "/v1"] {
        compare(axum::whole(router(), place).await).await;
        compare(axum::routes(router(), place).await).await;
    }
    let acme = TestClient::live(&axum::routes(router(), "").await);
    acme.get("/").header("host", "acme.example.com").await.assert_text("acme");
}

#[actix_web::test]
async fn hosts_are_the_same_in_actix() {
    for place in ["", "/v1"] {
        compare(actix::whole(router(), place)).await;
        compare(actix::routes(router(), place)).await;
    }
    for address in [actix::whole(router(), ""), actix::routes(router(), "")] {
        let acme = TestClient::live(&address);
        acme.get("/").header("host", "acme.example.com").await.assert_text("acme");
        acme.get("/").header("host", "a.b.example.com").await.assert_status(404);
    }
}

#[actix_web::test]
async fn the_root_of_an_actix_application_has_its_routes() {
    let api = routes! { GET: async || "home", ":page?": { POST: async || "posted" } };
    let client = TestClient::live(&actix::routes(create_router(api, RouterOptions::new()), ""));
    client.get("/").await.assert_text("home");
    client.post("/").await.assert_text("posted");
    client.post("/x").await.assert_text("posted");
}
