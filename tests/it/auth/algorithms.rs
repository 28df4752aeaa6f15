//! HS384 and HS512 tokens, and a login within the same second as the user's
//! logout.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use stockade::auth::{
    Revocations, TokenAlgorithm, TokenIssuer, TokenVerifier, UnixClock, generate_jwt,
};
use stockade::prelude::*;
use stockade::testing::TestClient;

fn secret(bytes: usize) -> Secret {
    Secret::new("s".repeat(bytes)).unwrap()
}

fn router(auth: &Auth) -> Router {
    let api =
        routes! { "me": { auth: auth, GET: async |User(user): User<Value>| user["sub"].clone() } };
    create_router(api, RouterOptions::new())
}

#[tokio::test]
async fn a_route_accepts_only_the_algorithms_of_its_verifier() {
    let auth = Auth::tokens(secret(64), TokenVerifier::new().algorithms([TokenAlgorithm::HS512]));
    let client = TestClient::new(router(&auth));
    let by = |algorithm| {
        TokenIssuer::new()
            .algorithm(algorithm)
            .issue(json!({ "sub": "7" }), "1h", &secret(64))
            .unwrap()
    };
    client.get("/me").bearer(by(TokenAlgorithm::HS512)).await.assert_json(json!("7"));
    for algorithm in [TokenAlgorithm::HS256, TokenAlgorithm::HS384] {
        client.get("/me").bearer(by(algorithm)).await.assert_status(401);
    }
    let plain = generate_jwt(json!({ "sub": "7" }), "1h", &secret(64)).unwrap();
    client.get("/me").bearer(&plain).await.assert_status(401);
    // `Auth::secret` still uses HS256.
    let client = TestClient::new(router(&Auth::secret(secret(64))));
    client.get("/me").bearer(&plain).await.assert_status(200);
    client.get("/me").bearer(by(TokenAlgorithm::HS512)).await.assert_status(401);
}

#[test]
fn unsuitable_keys_fail_the_build() {
    #[track_caller]
    fn check(auth: &Auth, expected: Option<&str>) {
        let message = router(auth).build().err().map(|error| error.to_string());
        match (&message, expected) {
            (Some(message), Some(expected)) => assert!(message.contains(expected), "{message}"),
            _ => assert_eq!(message.as_deref(), expected),
        }
    }
    let verifier = |algorithm| TokenVerifier::new().algorithms([algorithm]);
    check(&Auth::tokens(secret(64), verifier(TokenAlgorithm::HS512)), None);
    check(&Auth::tokens(secret(48), verifier(TokenAlgorithm::HS384)), None);
    let short = "HS512 needs a secret of at least 64 bytes";
    check(&Auth::tokens(secret(63), verifier(TokenAlgorithm::HS512)), Some(short));
    let short = "HS384 needs a secret of at least 48 bytes";
    check(&Auth::tokens(secret(47), verifier(TokenAlgorithm::HS384)), Some(short));
    let other = "a secret verifies only HS256, HS384 and HS512";
    check(&Auth::tokens(secret(64), verifier(TokenAlgorithm::Ed25519)), Some(other));
    let none = TokenVerifier::new().algorithms([]);
    check(&Auth::tokens(secret(64), none), Some("`algorithms` of a TokenVerifier is empty"));
}

#[tokio::test]
async fn a_login_in_the_second_of_the_logout_is_valid() {
    async fn log_out(
        User(user): User<Value>,
        revocations: State<Revocations>,
    ) -> Result<(), ApiError> {
        let time = UNIX_EPOCH + Duration::from_millis(MILLIS + 500);
        let subject = user["sub"].as_str().unwrap_or_default();
        Ok(revocations.revoke_before(None, subject, time).await?)
    }
    const MILLIS: u64 = 1_700_000_000_000;
    let revocations = Revocations::in_memory().clock(UnixClock::at_millis(MILLIS));
    let verifier = TokenVerifier::new().clock(UnixClock::at_millis(MILLIS + 900));
    let auth = Auth::tokens(secret(32), verifier).revocations(revocations.clone());
    let api = routes! {
        auth: &auth,
        "me": { GET: async |User(user): User<Value>| user["sub"].clone() },
        "sessions": { DELETE: log_out },
    };
    let client = TestClient::new(create_router(api, RouterOptions::new()).state(revocations));
    let token = |millis: u64| {
        let issuer = TokenIssuer::new().clock(UnixClock::at_millis(MILLIS + millis));
        issuer.issue(json!({ "sub": "ada" }), "1h", &secret(32)).unwrap()
    };
    client.get("/me").bearer(token(100)).await.assert_status(200);
    client.delete("/sessions").bearer(token(100)).await.assert_status(204);
    client.get("/me").bearer(token(100)).await.assert_status(401);
    client.get("/me").bearer(token(499)).await.assert_status(401);
    client.get("/me").bearer(token(600)).await.assert_json(json!("ada"));
}

#[tokio::test]
async fn a_real_clock_distinguishes_logout_and_login() {
    let revocations = Revocations::in_memory();
    let auth = Auth::secret(secret(32)).revocations(revocations.clone());
    let client = TestClient::new(router(&auth));
    let token = || TokenIssuer::new().issue(json!({ "sub": "ada" }), "1h", &secret(32)).unwrap();
    let old = token();
    // The next millisecond, which saves a wait.
    let logged_out = SystemTime::now() + Duration::from_millis(1);
    revocations.revoke_before(None, "ada", logged_out).await.unwrap();
    client.get("/me").bearer(&old).await.assert_status(401);
    while SystemTime::now() < logged_out + Duration::from_millis(2) {
        std::hint::spin_loop();
    }
    let new = token();
    client.get("/me").bearer(&new).await.assert_status(200);
}
