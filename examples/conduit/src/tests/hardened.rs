//! Generated attacks on all routes.

use stockade::prelude::*;
use stockade::testing::{AttackFamily, Credentials, Hardening};

use super::Conduit;

#[tokio::test]
async fn rejects_every_attack() {
    let conduit = Conduit::new().await;
    let token = conduit.register("ada").await;
    let router = conduit.router();
    let report = Hardening::new(router)
        .users(move |_| Some(Credentials::header("authorization", format!("Token {token}"))))
        .tokens(conduit.secret.clone(), json!({ "id": 1, "session": "" }))
        .run()
        .await;
    report.assert();
    for family in [AttackFamily::Credentials, AttackFamily::Bodies, AttackFamily::RateLimits] {
        assert!(report.count(family).passed > 10, "{report}");
    }
}
