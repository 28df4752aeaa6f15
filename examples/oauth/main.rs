//! Login with another service (OAuth 2). The user agrees there and returns with
//! a code, which the server exchanges for the user's identity.
//!
//! ```text
//! SESSION_SECRET='a secret of thirty-two bytes or more' \
//!     cargo run -p stockade-examples --bin oauth
//! ```
//!
//! Open `http://localhost:3000` in a browser. The other service is a mock
//! (`service.rs`), so the program runs without a network.

mod service;

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use stockade::auth::{KeyRing, SessionId, generate_token};
use stockade::http::header::SET_COOKIE;
use stockade::middleware::{Cookies, CurrentSession, SameSite, SessionCookie, SetCookie};
use stockade::prelude::*;
use stockade::reply::Redirect;

use crate::service::{OAuthClient, Profile};

/// The cookie that binds the response of the service to this browser.
const STATE: &str = "__Host-state";

/// The logged-in users, by session text.
#[derive(Default)]
struct Sessions(Mutex<HashMap<String, Profile>>);

impl Sessions {
    fn all(&self) -> MutexGuard<'_, HashMap<String, Profile>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn find(id: SessionId, sessions: State<Sessions>) -> Result<Option<Profile>, ApiError> {
    Ok(sessions.all().get(&id.to_string()).cloned())
}

async fn index(user: Option<User<Profile>>) -> String {
    match user {
        Some(User(user)) => format!(
            "Hey {}! You're logged in!\n\
             You may now access `/protected`.\nLog out with a POST to `/logout`.",
            user.username
        ),
        None => "You're not logged in.\nVisit `/auth/service` to do so.".to_owned(),
    }
}

/// Redirects the user to the service.
async fn begin(client: State<OAuthClient>) -> Result<impl Reply, BoxError> {
    let state = generate_token(32)?;
    let address = client.authorize_url(&state);
    let cookie = SetCookie::new(STATE, state)?.same_site(SameSite::Lax);
    Ok((cookie.max_age(Duration::from_secs(600)), Redirect::to(address)))
}

#[derive(Deserialize, Schema)]
struct AuthorizationResponse {
    code: String,
    state: String,
}

/// Starts a session for a user who returns from the service.
async fn authorized(
    Query(response): Query<AuthorizationResponse>,
    cookies: Cookies,
    client: State<OAuthClient>,
    cookie: State<SessionCookie>,
    sessions: State<Sessions>,
) -> Result<impl Reply, BoxError> {
    if cookies.get(STATE) != Some(&response.state) {
        return Err(ApiError::new(400, "this browser did not start a login").into());
    }
    let token = client.exchange_code(&response.code).await?;
    let user = client.profile(&token).await?;
    let id = SessionId::generate()?;
    sessions.all().insert(id.to_string(), user);
    let begun = [(SET_COOKIE, cookie.issue(&id))];
    Ok((SetCookie::removal(STATE), begun, Redirect::to("/")))
}

/// Redirects unauthenticated users to the login.
async fn signed_in(user: Option<User<Profile>>, _req: &mut Request) -> Result<(), Redirect> {
    user.map(drop).ok_or_else(|| Redirect::temporary("/auth/service"))
}

async fn protected(User(user): User<Profile>) -> String {
    format!("Welcome to the protected area :)\nHere's your info:\n{user:?}")
}

async fn logout(
    session: Option<CurrentSession>,
    cookie: State<SessionCookie>,
    sessions: State<Sessions>,
) -> impl Reply {
    if let Some(CurrentSession(id)) = session {
        sessions.all().remove(&id.to_string());
    }
    ([(SET_COOKIE, cookie.clear())], Redirect::to("/"))
}

fn router(secret: Secret, client: OAuthClient) -> Router {
    // The service redirects users here, and browsers would not send a strict
    // cookie.
    let cookie = SessionCookie::new(KeyRing::new(secret)).same_site(SameSite::Lax);
    let api = routes! {
        auth: Auth::session(cookie.clone(), find).optional(),
        GET: index,
        "auth/service": { GET: begin },
        "auth/authorized": { GET: authorized },
        "protected": { GET: { protected, middleware: [signed_in] } },
        "logout": { POST: logout },
        ..service::routes(),
    };
    let router = create_router(api, RouterOptions::new());
    router.state(client).state(cookie).state(Sessions::default())
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    env_logger::init();
    let secret = Secret::new(std::env::var("SESSION_SECRET")?)?;
    let client = OAuthClient::new("our-id", "/auth/authorized");
    router(secret, client).listen(3000).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use stockade::testing::{TestClient, TestResponse};

    use super::*;

    fn client() -> TestClient {
        let secret = Secret::new("a secret of tests only, 32 bytes").unwrap();
        let service = OAuthClient::new("our-id", "/auth/authorized");
        TestClient::new(router(secret, service)).with_cookies()
    }

    fn target(response: &TestResponse) -> String {
        assert!(response.status().is_redirection());
        response.header("location").unwrap()
    }

    #[tokio::test]
    async fn a_user_signs_in_and_out() {
        let client = client();
        client.get("/").await.assert_text_contains("You're not logged in.");
        let mut at = "/protected".to_owned();
        for step in ["/auth/service", "/service/authorize?", "/auth/authorized?code=", "/"] {
            at = target(&client.get(&at).await);
            assert!(at.starts_with(step), "{at}");
        }
        assert_eq!(client.cookie(STATE), None);
        client.get("/").await.assert_text_contains("Hey ada!");
        client.get("/protected").await.assert_status(200).assert_text_contains("\"ada\"");
        assert_eq!(target(&client.post("/logout").await), "/");
        client.get("/").await.assert_text_contains("You're not logged in.");
        assert_eq!(target(&client.get("/protected").await), "/auth/service");
    }

    #[tokio::test]
    async fn a_link_of_another_user_signs_nobody_in() {
        let attacker = client();
        let service = target(&attacker.get("/auth/service").await);
        let link = target(&attacker.get(service).await);
        // The same application, with a browser that has not started a login.
        let victim = attacker.clone().with_cookies();
        victim.get(&link).await.assert_status(400);
        victim.get("/auth/authorized?code=x").await.assert_status(400);
        victim.get("/").await.assert_text_contains("You're not logged in.");
        // A browser that started a login has another state.
        victim.get("/auth/service").await;
        victim.get(&link).await.assert_status(400);
    }

    #[tokio::test]
    async fn a_code_works_only_once() {
        let client = client();
        let service = target(&client.get("/auth/service").await);
        let link = target(&client.get(service).await);
        let state = link.split_once("state=").unwrap().1;
        let wrong = format!("/auth/authorized?code=guessed&state={state}");
        client.get(wrong).await.assert_status(500);
        assert_eq!(target(&client.get(link).await), "/");
    }
}
