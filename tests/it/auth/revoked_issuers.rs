//! Revocations of one issuer's tokens do not affect another issuer's tokens.

use std::time::SystemTime;

use stockade::auth::{Revocations, TokenVerifier, generate_jwt};
use stockade::prelude::*;
use stockade::testing::TestClient;

const ISSUERS: [&str; 2] = ["https://a.example", "https://b.example"];

fn secret(issuer: usize) -> Secret {
    Secret::new([u8::try_from(issuer).unwrap(); 32]).unwrap()
}

fn token(issuer: usize, id: &str) -> String {
    let claims = json!({ "iss": ISSUERS[issuer], "sub": "7", "jti": id });
    generate_jwt(claims, "1h", &secret(issuer)).unwrap()
}

/// Signs a user out everywhere.
async fn sign_out(
    User(user): User<Value>,
    revocations: State<Revocations>,
) -> Result<(), ApiError> {
    let subject = user["sub"].as_str().unwrap_or_default();
    Ok(revocations.revoke_before(user["iss"].as_str(), subject, SystemTime::now()).await?)
}

/// Revokes one token.
async fn sign_out_here(
    User(user): User<Value>,
    revocations: State<Revocations>,
) -> Result<(), ApiError> {
    let (id, until) = (user["jti"].as_str().unwrap_or_default(), SystemTime::now());
    Ok(revocations.revoke_id(user["iss"].as_str(), id, until).await?)
}

fn client() -> TestClient {
    let revocations = Revocations::in_memory();
    let by_issuer =
        |issuer: usize| Auth::tokens(secret(issuer), TokenVerifier::new().issuer(ISSUERS[issuer]));
    let signed_in = with_auth(by_issuer(0).or(by_issuer(1)).revocations(revocations.clone()));
    let api = routes! {
        middleware: [signed_in],
        "me": { GET: async |User(user): User<Value>| user["iss"].as_str().unwrap().to_owned() },
        "session": { DELETE: sign_out_here },
        "sessions": { DELETE: sign_out },
    };
    TestClient::new(create_router(api, RouterOptions::new()).state(revocations))
}

#[tokio::test]
async fn logout_everywhere_ends_the_tokens_of_one_issuer() {
    let client = client();
    let [a, b] = [token(0, "1"), token(1, "2")];
    client.delete("/sessions").bearer(&a).await.assert_status(204);
    client.get("/me").bearer(&a).await.assert_status(401);
    client.get("/me").bearer(&b).await.assert_text(ISSUERS[1]);
    client.delete("/sessions").bearer(&b).await.assert_status(204);
    client.get("/me").bearer(&b).await.assert_status(401);
}

#[tokio::test]
async fn the_same_id_of_another_issuer_stays_valid() {
    let client = client();
    let [a, b, other] = [token(0, "1"), token(1, "1"), token(0, "2")];
    client.delete("/session").bearer(&a).await.assert_status(204);
    client.get("/me").bearer(&a).await.assert_status(401);
    client.get("/me").bearer(&b).await.assert_text(ISSUERS[1]);
    client.get("/me").bearer(&other).await.assert_text(ISSUERS[0]);
}
