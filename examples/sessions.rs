//! Sessions: log in, count, and log out, here and everywhere.
//!
//! ```text
//! cargo run -p stockade-examples --bin sessions
//! curl -i localhost:3000/login -H 'content-type: application/json' \
//!     -d '{"name": "ada", "password": "correct horse"}'
//! curl -i -X POST localhost:3000/counter -H 'cookie: __Host-session=…'
//! curl -i -X POST localhost:3000/logout -H 'cookie: __Host-session=…'
//! ```
//!
//! Copy the cookie from `Set-Cookie` in the first response. Browsers accept it
//! only over HTTPS. If several processes serve the sessions, use
//! `redis.sessions()` instead of the memory store.

use stockade::auth::{KeyRing, PasswordHasher};
use stockade::middleware::sessions::{MemorySessionStore, Session, Sessions, SetSession};
use stockade::middleware::{
    CurrentSession, SessionCookie, verify_password_async, with_cross_origin_protection,
};
use stockade::prelude::*;

/// The data of a session.
#[derive(Default, serde::Deserialize, serde::Serialize)]
struct Visit {
    count: u32,
}

#[derive(serde::Deserialize, Schema)]
struct LogIn {
    #[schema(min_length = 1, max_length = 50)]
    name: String,
    password: String,
}

/// The user of a session.
#[derive(serde::Deserialize, serde::Serialize)]
struct Account {
    /// The subject of the session.
    sub: String,
}

/// The password hashes. A real program stores them in a table.
struct Passwords {
    by_name: Vec<(&'static str, String)>,
    /// A hash for unknown names, which therefore take as long as known ones.
    of_nobody: String,
}

impl Passwords {
    fn new(hasher: PasswordHasher) -> Result<Self, BoxError> {
        let by_name = vec![("ada", hasher.hash("correct horse")?)];
        Ok(Self { by_name, of_nobody: hasher.hash("")? })
    }

    async fn fit(&self, form: &LogIn) -> Result<bool, ApiError> {
        let found = self.by_name.iter().find(|(name, _)| *name == form.name);
        let hash = found.map_or(&self.of_nobody, |(_, hash)| hash);
        let fits = verify_password_async(&form.password, hash).await?;
        Ok(fits && found.is_some())
    }
}

async fn log_in(
    State(passwords): State<Passwords>,
    sessions: State<Sessions<Visit>>,
    session: Option<Session<Visit>>,
    Body(form): Body<LogIn>,
) -> Result<(SetSession, &'static str), ApiError> {
    if !passwords.fit(&form).await? {
        return Err(ApiError::new(401, "wrong name or password"));
    }
    // An existing session id may be known to others.
    let set = match session {
        Some(session) => sessions.renew(session.id(), Some(&form.name), |_| ()).await?,
        None => sessions.begin(Some(&form.name), &Visit::default()).await?,
    };
    Ok((set, "welcome"))
}

async fn count(
    sessions: State<Sessions<Visit>>,
    CurrentSession(id): CurrentSession,
) -> Result<Json<u32>, ApiError> {
    let counted = sessions.change(&id, |visit| {
        visit.count += 1;
        visit.count
    });
    counted.await.map(Json)
}

async fn log_out(
    sessions: State<Sessions<Visit>>,
    CurrentSession(id): CurrentSession,
) -> Result<(SetSession, &'static str), ApiError> {
    Ok((sessions.end(&id).await?, "good-bye"))
}

async fn log_out_everywhere(
    sessions: State<Sessions<Visit>>,
    User(account): User<Account>,
) -> Result<Json<u64>, ApiError> {
    sessions.end_all(&account.sub).await.map(Json)
}

fn router(secret: Secret, passwords: Passwords) -> Router {
    let cookie = SessionCookie::new(KeyRing::new(secret));
    let sessions = Sessions::<Visit>::new(MemorySessionStore::new(), cookie);
    // Session routes have CSRF protection, but no session exists yet for this
    // route.
    let guarded = with_cross_origin_protection();
    let api = routes! {
        auth: sessions.auth(),
        "login": {
            rate_limit: 10 / MINUTE,
            middleware: guarded,
            POST: { log_in, public: "people log in here" },
        },
        "counter": { POST: count },
        "logout": {
            POST: log_out,
            "everywhere": { POST: log_out_everywhere },
        },
    };
    create_router(api, RouterOptions::new()).state(sessions).state(passwords)
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    env_logger::init();
    // A real program has no default, and all processes use the same secret.
    let secret = std::env::var("SESSION_SECRET");
    let secret = Secret::new(secret.unwrap_or("a secret of thirty-two bytes or more".to_owned()))?;
    let passwords = Passwords::new(PasswordHasher::recommended())?;
    let server = router(secret, passwords).create_server()?.bind(3000).await?;
    println!("listening on http://{}; Ctrl-C ends it", server.local_addr());
    server.with_signals().serve().await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use stockade::auth::PasswordCost;
    use stockade::testing::{AccountRequest, AttackFamily, Hardening, TestClient};

    use super::*;

    #[tokio::test]
    async fn each_login_ends() {
        let secret = Secret::new("a secret of thirty-two bytes or more").unwrap();
        let hasher = PasswordHasher::from(PasswordCost::pbkdf2(10_000).unwrap());
        let log_in = json!({ "name": "ada", "password": "correct horse" });
        let report = Hardening::new(router(secret, Passwords::new(hasher).unwrap()))
            .sign_in(AccountRequest::new("POST /login").json(log_in))
            .sign_out("POST /logout")
            .sign_out_everywhere("POST /logout/everywhere")
            .run()
            .await;
        report.assert();
        assert_eq!(report.count(AttackFamily::SignOuts).passed, 3, "{report}");
    }

    #[tokio::test]
    async fn a_user_logs_in_and_out() {
        let secret = Secret::new("a secret of thirty-two bytes or more").unwrap();
        let hasher = PasswordHasher::from(PasswordCost::pbkdf2(10_000).unwrap());
        let app = router(secret, Passwords::new(hasher).unwrap()).build().unwrap();
        let [here, there] = [(); 2].map(|()| TestClient::new(app.clone()).with_cookies());
        let log_in = |client: &TestClient, password: &str| {
            client.post("/login").json(json!({ "name": "ada", "password": password }))
        };
        here.post("/counter").await.assert_status(401);
        log_in(&here, "wrong horse").await.assert_status(401);
        log_in(&here, "correct horse").await.assert_text("welcome");
        here.post("/counter").await.assert_json(1);
        here.post("/counter").await.assert_json(2);
        // Another login continues the count under a new id.
        let before = here.cookie("__Host-session");
        log_in(&here, "correct horse").await.assert_text("welcome");
        assert_ne!(here.cookie("__Host-session"), before);
        here.post("/counter").await.assert_json(3);

        log_in(&there, "correct horse").await.assert_text("welcome");
        there.post("/counter").await.assert_json(1);
        there.post("/logout").await.assert_text("good-bye");
        there.post("/counter").await.assert_status(401);
        log_in(&there, "correct horse").await.assert_text("welcome");
        here.post("/logout/everywhere").await.assert_json(2);
        there.post("/counter").await.assert_status(401);
    }
}
