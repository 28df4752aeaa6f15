//! The guards of the tracker: policy, lock, attacks, and companies that share
//! nothing.

mod hooks;
mod mutations;
mod requests;

use stockade::auth::webhooks::WebhookKeys;
use stockade::auth::{PasswordCost, PasswordHasher};
use stockade::prelude::*;
use stockade::sql::Sqlite;
use stockade::testing::{
    AccountRequest, AttackFamily, Credentials, Hardening, TestClient, assert_policy,
    assert_posture, assert_routes_lock,
};
use tempfile::TempDir;

use crate::accounts::Passwords;
use crate::api::Parts;
use crate::{admin, api, db};

/// The password of every member, and of the operators.
const PASSWORD: &str = "correct horse";

/// The header of the operators: `operator:correct horse`.
const OPERATOR: (&str, &str) = ("authorization", "Basic b3BlcmF0b3I6Y29ycmVjdCBob3JzZQ==");

/// The companies. The first two share nothing; attacks on logins use the third.
const COMPANIES: [&str; 3] = ["acme", "globex", "initech"];

/// An empty database with these companies, and the parts of both APIs.
struct World {
    parts: Parts,
    db: Sqlite,
    folder: TempDir,
}

impl World {
    /// Creates the companies, each with the admin `ada`. The third also has the
    /// admin `eve` and the member `bob`.
    async fn new() -> Self {
        let world = Self::without_companies().await;
        let operator = TestClient::new(world.admin()).with_header(OPERATOR.0, OPERATOR.1);
        for name in COMPANIES {
            let email = format!("ada@{name}.example");
            let company = json!({ "name": name, "email": email, "password": PASSWORD });
            operator.post("/companies").json(company).await.assert_status(201);
        }
        let ada = world.client("ada@initech.example").await;
        for (name, role) in [("eve", "admin"), ("bob", "member")] {
            let email = format!("{name}@initech.example");
            let member = json!({ "email": email, "password": PASSWORD, "role": role });
            ada.post("/members").json(member).await.assert_status(201);
        }
        world
    }

    async fn without_companies() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let db = db::open(folder.path().join("test.db").to_str().unwrap()).await.unwrap();
        // The cost of production would make each sign-in slow.
        let hasher = PasswordHasher::from(PasswordCost::pbkdf2(10_000).unwrap());
        let parts = Parts::new(
            Secret::new("a secret of tests only, 32 bytes").unwrap(),
            Passwords::new(hasher).unwrap(),
            WebhookKeys::new("whsec_of_tests_only").unwrap(),
        );
        Self { parts, db, folder }
    }

    /// Returns the public API.
    fn public(&self) -> Router {
        api::router(&self.parts, RouterOptions::new()).state(self.db.clone())
    }

    /// Returns the internal API.
    fn admin(&self) -> Router {
        let options = RouterOptions::new();
        admin::router(&self.parts, PASSWORD.to_owned(), options).state(self.db.clone())
    }

    /// Returns a client with the session of a member.
    async fn client(&self, email: &str) -> TestClient {
        let client = TestClient::new(self.public()).with_cookies().with_contract();
        let form = json!({ "email": email, "password": PASSWORD });
        client.post("/sign-in").json(form).await.assert_status(200);
        client
    }

    /// Returns the session of a member.
    async fn session(&self, email: &str) -> Credentials {
        let cookie = self.client(email).await.cookie("__Host-session").unwrap();
        Credentials::cookie("__Host-session", cookie)
    }

    /// Returns all attacks on a public API with this database.
    async fn attacks(&self, router: Router) -> Hardening {
        let [acme, globex, ada, bob] = [
            "ada@acme.example",
            "ada@globex.example",
            "ada@initech.example",
            "bob@initech.example",
        ]
        .map(|email| self.session(email));
        let (acme, globex, ada, bob) = (acme.await, globex.await, ada.await, bob.await);
        let admin = ada.clone();
        let users = move |roles: &[&str]| match roles {
            [] => Some(bob.clone()),
            ["admin"] => Some(admin.clone()),
            _ => None,
        };
        let new = "battery staple";
        let sign_in = |password: &str| {
            let form = json!({ "email": "eve@initech.example", "password": password });
            AccountRequest::new("POST /sign-in").json(form)
        };
        Hardening::new(router)
            .users(users)
            .webhook_keys(self.parts.payments.clone())
            .tenants(acme, globex)
            // The cases run in this order.
            .sign_in(sign_in(PASSWORD))
            .sign_out("POST /sign-out")
            .sign_out_everywhere("POST /sign-out-everywhere")
            .role_change(
                AccountRequest::new("PUT /members/{id}/role")
                    .json(json!({ "role": "member" }))
                    .of(ada.clone()),
            )
            .password_change(
                AccountRequest::new("PUT /me/password")
                    .json(json!({ "current": PASSWORD, "password": new })),
            )
            .sign_in(sign_in(new))
            .member_removal(AccountRequest::new("DELETE /members/{id}").of(ada))
    }
}

#[tokio::test]
async fn follows_the_policy() {
    let world = World::without_companies().await;
    assert_policy(world.public(), &api::policy());
    assert_policy(world.admin(), &admin::policy());
}

#[tokio::test]
async fn production_follows_the_policy() {
    assert_posture(World::without_companies().await.public(), "production.json");
}

#[tokio::test]
async fn routes_are_as_locked() {
    let world = World::without_companies().await;
    assert_routes_lock([("public", world.public()), ("admin", world.admin())], "routes.lock");
}

#[tokio::test]
async fn rejects_all_attacks() {
    let world = World::new().await;
    let report = world.attacks(world.public()).await.run().await;
    report.assert();
    // The owner succeeds with the same requests, so a rejection counts.
    let tenants = report.count(AttackFamily::Tenants);
    assert!(tenants.passed >= 30, "{report}");
    assert_eq!(tenants.not_attacked, 0, "{report}");
    let sign_outs = report.count(AttackFamily::SignOuts);
    assert!(sign_outs.passed >= 10, "{report}");
    assert_eq!(sign_outs.not_attacked, 0, "{report}");
}

#[tokio::test]
async fn the_internal_api_rejects_all_attacks() {
    let operator = Credentials::header(OPERATOR.0, OPERATOR.1);
    let hardening = Hardening::new(World::new().await.admin());
    let report = hardening.users(move |_| Some(operator.clone())).run().await;
    report.assert();
    assert!(report.count(AttackFamily::Origins).passed >= 4, "{report}");
}

#[tokio::test]
async fn the_report_is_a_page() {
    let world = World::without_companies().await;
    let file = world.folder.path().join("report.html");
    let args = ["tenants", "audit", "--html", file.to_str().unwrap()].map(String::from);
    let app = world.public().build().unwrap();
    let text = app.command_output(args).await.unwrap().unwrap();
    assert!(text.contains("25 routes, 0 findings, 3 exceptions"), "{text}");
    let page = std::fs::read_to_string(file).unwrap();
    assert!(page.contains("<h3>API1 ") && page.contains("production.json"), "{page}");
}
