//! The user state in all processes: a session, a revocable token, and
//! idempotent payments.
//!
//! ```text
//! curl -i -X POST localhost:3001/session
//! curl -i -X POST localhost:3002/session/pages -H 'cookie: __Host-session=…'
//! curl -i -X DELETE localhost:3001/session -H 'cookie: __Host-session=…'
//!
//! curl -X POST localhost:3001/token
//! curl -i -X DELETE localhost:3001/me -H 'authorization: Bearer …'
//! curl -i localhost:3002/me -H 'authorization: Bearer …'
//!
//! curl -i -X POST localhost:3001/payments -H 'idempotency-key: "4b7c"'
//! curl -i -X POST localhost:3002/payments -H 'idempotency-key: "4b7c"'
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use stockade::auth::{KeyRing, Revocations, TokenIssuer, generate_token};
use stockade::extract::Headers;
use stockade::middleware::sessions::{Sessions, SetSession};
use stockade::middleware::{CurrentSession, Idempotency, SessionCookie, with_idempotency};
use stockade::prelude::*;
use stockade::redis::Redis;
use stockade::routing::RouteTree;

use crate::setting;

/// The data of a session.
#[derive(Default, serde::Deserialize, serde::Serialize)]
pub struct Visit {
    pages: u64,
}

/// The user state that all processes share.
pub struct Users {
    pub sessions: Sessions<Visit>,
    pub revocations: Revocations,
    secret: Secret,
    once: Idempotency,
}

/// Starts a session. A real program verifies a password first.
async fn log_in(sessions: State<Sessions<Visit>>) -> Result<(SetSession, &'static str), ApiError> {
    Ok((sessions.begin(Some("ada"), &Visit::default()).await?, "welcome"))
}

async fn count_page(
    sessions: State<Sessions<Visit>>,
    CurrentSession(id): CurrentSession,
) -> Result<String, ApiError> {
    let pages = sessions.change(&id, |visit| {
        visit.pages += 1;
        visit.pages
    });
    Ok(pages.await?.to_string())
}

async fn log_out(
    sessions: State<Sessions<Visit>>,
    CurrentSession(id): CurrentSession,
) -> Result<(SetSession, &'static str), ApiError> {
    Ok((sessions.end(&id).await?, "good-bye"))
}

/// Revokes all tokens of a user.
async fn sign_out(
    User(user): User<Value>,
    revocations: State<Revocations>,
) -> Result<(), ApiError> {
    if let Some(subject) = user["sub"].as_str() {
        revocations.revoke_before(user["iss"].as_str(), subject, SystemTime::now()).await?;
    }
    Ok(())
}

impl Users {
    pub fn new(redis: &Redis, deadline: Duration) -> Result<Self, BoxError> {
        // All processes need the same secret. A real program has no default.
        let secret = setting("SECRET", "a secret of thirty-two bytes or more");
        let cookie = SessionCookie::new(KeyRing::new(Secret::new(secret.as_str())?));
        let idempotency = Idempotency::new(redis.idempotency().deadline(deadline));
        // If this process dies in a handler, its key is locked for this time.
        let lease = Duration::from_secs(setting("LEASE", "30").parse()?);
        Ok(Self {
            sessions: Sessions::new(redis.sessions().deadline(deadline), cookie),
            revocations: redis.revocations(),
            secret: Secret::new(secret.as_str())?,
            once: idempotency.required(true).wait(Duration::from_secs(10)).lease(lease),
        })
    }

    pub fn routes(&self) -> RouteTree {
        let session = self.sessions.auth();
        let token = Auth::secret(self.secret.clone()).revocations(self.revocations.clone());
        let once = with_idempotency(self.once.clone());
        let secret = self.secret.clone();
        let issue = async move || -> Result<String, ApiError> {
            // Each token has its own user.
            let name = generate_token(8).map_err(ApiError::internal)?;
            let issuer = TokenIssuer::new();
            issuer.issue(json!({ "sub": name }), "1h", &secret).map_err(ApiError::internal)
        };
        // The number of payments in this process.
        let made = Arc::new(AtomicU64::new(0));
        let (count, slowly_made) = (Arc::clone(&made), Arc::clone(&made));
        let pay = async move || (made.fetch_add(1, Ordering::Relaxed) + 1).to_string();
        // A payment that takes as long as the client requests.
        let pay_slowly = async move |headers: Headers| {
            let number = slowly_made.fetch_add(1, Ordering::Relaxed) + 1;
            let millis =
                headers.get("x-millis").and_then(|value| value.to_str().ok()?.parse().ok());
            tokio::time::sleep(Duration::from_millis(millis.unwrap_or(0).min(60_000))).await;
            number.to_string()
        };
        routes! {
            "session": {
                POST: log_in,
                DELETE: { log_out, auth: &session },
                "pages": { POST: { count_page, auth: &session } },
            },
            "token": { POST: issue },
            "me": {
                auth: token,
                GET: async |User(user): User<Value>| user["sub"].as_str().map(str::to_owned),
                DELETE: sign_out,
            },
            "payments": {
                POST: { pay, middleware: &once },
                "slow": {
                    POST: { pay_slowly, middleware: &once },
                },
                "made": { GET: async move || count.load(Ordering::Relaxed).to_string() },
            },
        }
    }
}
