//! Sessions end to end: a visitor with a basket logs in and out.

mod basket;
mod cached;
mod hostile;
mod kinds;
mod outages;
mod times;

use stockade::auth::{KeyRing, SessionId, SessionKeys};
use stockade::middleware::sessions::{MemorySessionStore, Session, SessionStore, Sessions};
use stockade::middleware::{CurrentSession, SessionCookie, SetSession};
use stockade::prelude::*;
use stockade::testing::TestClient;

/// The data of a session.
#[derive(Clone, Debug, Default, PartialEq, serde::Deserialize, serde::Serialize)]
struct Basket {
    items: Vec<String>,
}

type Baskets = State<Sessions<Basket>>;

fn cookie() -> SessionCookie {
    let secret = Secret::new("a secret of thirty-two bytes or more").unwrap();
    SessionCookie::new(KeyRing::new(secret))
}

fn in_memory() -> Sessions<Basket> {
    Sessions::new(MemorySessionStore::new(), cookie())
}

async fn show(session: Option<Session<Basket>>) -> Json<Vec<String>> {
    Json(session.map(|session| session.items.clone()).unwrap_or_default())
}

/// Starts a session if the visitor does not have one.
async fn add(
    sessions: Baskets,
    session: Option<Session<Basket>>,
    Body(item): Body<String>,
) -> Result<(Vec<SetSession>, &'static str), ApiError> {
    let Some(session) = session else {
        let set = sessions.begin(None, &Basket { items: vec![item] }).await?;
        return Ok((vec![set], "begun"));
    };
    sessions.change(session.id(), |basket| basket.items.push(item.clone())).await?;
    Ok((Vec::new(), "added"))
}

async fn log_in(
    sessions: Baskets,
    session: Option<Session<Basket>>,
    Body(name): Body<String>,
) -> Result<(SetSession, &'static str), ApiError> {
    let set = match session {
        Some(session) => sessions.renew(session.id(), Some(&name), |_| ()).await?,
        None => sessions.begin(Some(&name), &Basket::default()).await?,
    };
    Ok((set, "welcome"))
}

async fn log_out(
    sessions: Baskets,
    CurrentSession(id): CurrentSession,
) -> Result<(SetSession, &'static str), ApiError> {
    Ok((sessions.end(&id).await?, "good-bye"))
}

async fn log_out_everywhere(
    sessions: Baskets,
    User(user): User<Value>,
) -> Result<String, ApiError> {
    let name = user["sub"].as_str().unwrap_or_default();
    Ok(sessions.end_all(name).await?.to_string())
}

/// Changes the session by its id after it has ended, as a slow request does.
async fn add_late(
    sessions: Baskets,
    CurrentSession(id): CurrentSession,
    Body(item): Body<String>,
) -> Result<&'static str, ApiError> {
    let _ = sessions.end(&id).await?;
    sessions.change(&id, |basket| basket.items.push(item.clone())).await?;
    Ok("added")
}

fn router(sessions: Sessions<Basket>) -> Router {
    let signed_in = with_auth(sessions.auth());
    let maybe = with_auth(sessions.auth().required(false));
    let user = async |User(user): User<Value>| Json(user);
    let guest = async |user: Option<User<Value>>| if user.is_some() { "user" } else { "guest" };
    let api = routes! {
        "basket": { GET: show, POST: add },
        "whole": { GET: async |session: Session<Basket>| Json(session.into_data().items) },
        "login": { POST: log_in },
        "guest": { GET: { guest, middleware: [maybe] } },
        "me": {
            middleware: [signed_in],
            GET: user,
            "late": { POST: add_late },
            "logout": { POST: log_out },
            "logout-everywhere": { POST: log_out_everywhere },
        },
    };
    let options = RouterOptions::new().rate_limit(false).expose_errors(false);
    create_router(api, options).state(sessions)
}

/// Creates a client that keeps cookies like a browser.
fn browser(sessions: &Sessions<Basket>) -> TestClient {
    client(sessions).with_cookies()
}

/// Creates a client without a cookie jar. It validates responses against the
/// route map.
fn client(sessions: &Sessions<Basket>) -> TestClient {
    TestClient::new(router(sessions.clone())).with_contract()
}

const NAME: &str = "__Host-session";

/// Returns the cookie of a new session for this user.
async fn logged_in(sessions: &Sessions<Basket>, name: &str) -> String {
    let browser = browser(sessions);
    browser.post("/login").json(name).await.assert_status(200);
    browser.cookie(NAME).unwrap()
}
