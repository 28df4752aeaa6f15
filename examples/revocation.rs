//! Logout: tokens that are rejected before they expire.
//!
//! ```text
//! cargo run -p stockade-examples --bin revocation
//! token=$(curl -s localhost:3000/session -H 'content-type: application/json' \
//!     -d '{"name": "ada"}' | jq -r .token)
//! curl -i localhost:3000/me -H "authorization: Bearer $token"
//! curl -i -X DELETE localhost:3000/session -H "authorization: Bearer $token"
//! curl -i localhost:3000/me -H "authorization: Bearer $token"
//! ```
//!
//! The last response is a 401. `DELETE /sessions` ends all sessions of the
//! user. To share revocations between several processes, use
//! `Redis::revocations` instead of `Revocations::in_memory`.

use std::time::{Duration, SystemTime};

use stockade::auth::{Revocations, TokenIssuer, generate_token};
use stockade::prelude::*;

#[derive(serde::Deserialize, Schema)]
struct Login {
    #[schema(min_length = 1)]
    name: String,
}

/// The claims of a token.
#[derive(serde::Deserialize)]
struct Session {
    sub: String,
    /// The id of the token.
    jti: String,
    exp: u64,
}

/// Logs in. A real program verifies a password.
async fn sign_in(secret: State<Secret>, Body(login): Body<Login>) -> Result<Value, ApiError> {
    let id = generate_token(16).map_err(ApiError::internal)?;
    // The milliseconds distinguish this token from tokens that
    // `sign_out_everywhere` revokes.
    let token =
        TokenIssuer::new().issue(json!({ "sub": login.name, "jti": id }), "1h", &*secret)?;
    Ok(json!({ "token": token }))
}

async fn me(User(session): User<Session>) -> String {
    session.sub
}

/// Logs out here: revokes only this token. The tokens of this program have no
/// `iss`.
async fn sign_out(
    User(session): User<Session>,
    revocations: State<Revocations>,
) -> Result<StatusCode, ApiError> {
    let expires = SystemTime::UNIX_EPOCH + Duration::from_secs(session.exp);
    revocations.revoke_id(None, &session.jti, expires).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Logs out everywhere: revokes all current tokens of the user.
async fn sign_out_everywhere(
    User(session): User<Session>,
    revocations: State<Revocations>,
) -> Result<StatusCode, ApiError> {
    revocations.revoke_before(None, &session.sub, SystemTime::now()).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn router(secret: Secret) -> Router {
    let revocations = Revocations::in_memory().max_token_life(Duration::from_secs(3_600));
    let token = Auth::secret(secret.clone()).revocations(revocations.clone());
    let api = routes! {
        auth: token,
        "session": {
            POST: { sign_in, public: "one has no token yet" },
            DELETE: sign_out,
        },
        "sessions": { DELETE: sign_out_everywhere },
        "me": { GET: me },
    };
    create_router(api, RouterOptions::new()).state(secret).state(revocations)
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    env_logger::init();
    // A real program reads it from the environment, and all processes use the
    // same.
    let secret = Secret::new(generate_token(32)?)?;
    let server = router(secret).create_server()?.bind(3000).await?;
    println!("listening on http://{}; Ctrl-C ends it", server.local_addr());
    server.with_signals().serve().await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use stockade::testing::TestClient;

    use super::*;

    fn client() -> TestClient {
        TestClient::new(router(Secret::new("a secret of thirty-two bytes or more").unwrap()))
    }

    async fn token(client: &TestClient) -> String {
        let response = client.post("/session").json(json!({ "name": "ada" })).await;
        response.json::<Value>()["token"].as_str().unwrap().to_owned()
    }

    #[tokio::test]
    async fn signing_out_ends_one_token() {
        let client = client();
        let (here, there) = (token(&client).await, token(&client).await);
        client.get("/me").bearer(&here).await.assert_text("ada");
        client.delete("/session").bearer(&here).await.assert_status(204);
        client.get("/me").bearer(&here).await.assert_status(401);
        client.get("/me").bearer(&there).await.assert_text("ada");
    }

    #[tokio::test]
    async fn signing_out_everywhere_ends_all_tokens() {
        let client = client();
        let (here, there) = (token(&client).await, token(&client).await);
        client.delete("/sessions").bearer(&here).await.assert_status(204);
        for token in [here, there] {
            client.get("/me").bearer(&token).await.assert_status(401);
        }
    }
}
