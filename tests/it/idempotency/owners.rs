//! Users from different sources with identical subjects.

use stockade::auth::{ApiKey, KeyRing, TokenVerifier, generate_jwt};
use stockade::middleware::UserKey;
use stockade::middleware::sessions::{MemorySessionStore, Sessions};
use stockade::middleware::{RateLimit, SessionCookie, with_rate_limit};
use stockade::testing::{TestClient, TestRequest};

use super::*;

const COOKIE: &str = "__Host-session";

/// Creates a client for an application that counts its handler's runs.
fn client(auth: Auth) -> TestClient {
    let runs = Runs::default();
    let handler = move || {
        let number = runs.begin();
        async move { number.to_string() }
    };
    let mut router = Router::with_options(quiet());
    let once = with_idempotency(in_memory());
    router.post("/x", handler).middleware([with_auth(auth.required(false)), once]);
    TestClient::new(router)
}

fn post(client: &TestClient) -> TestRequest {
    client.post("/x").header("idempotency-key", "\"k\"")
}

/// Sends each request twice. The first runs, and the second gets its own stored
/// response.
async fn run_once_each(requests: &[&dyn Fn() -> TestRequest]) {
    for (number, request) in (1..).zip(requests) {
        let first = request().await;
        first.assert_text(&format!("{number}")).assert_no_header("idempotency-replayed");
    }
    for (number, request) in (1..).zip(requests) {
        let again = request().await;
        again.assert_text(&format!("{number}")).assert_header("idempotency-replayed", "true");
    }
}

fn secret(byte: u8) -> Secret {
    Secret::new([byte; 32]).unwrap()
}

fn token(secret: &Secret, claims: Value) -> String {
    generate_jwt(claims, "1h", secret).unwrap()
}

#[tokio::test]
async fn two_issuers_with_the_same_subject_share_no_response() {
    let by_issuer = |byte, issuer: &str| {
        Auth::tokens(secret(byte), TokenVerifier::new().issuer(issuer.to_owned()))
    };
    let client = client(by_issuer(1, "https://a.example").or(by_issuer(2, "https://b.example")));
    let a = token(&secret(1), json!({ "iss": "https://a.example", "sub": "7" }));
    let b = token(&secret(2), json!({ "iss": "https://b.example", "sub": "7" }));
    let other = token(&secret(2), json!({ "iss": "https://b.example", "sub": "8" }));
    run_once_each(&[&|| post(&client).bearer(&a), &|| post(&client).bearer(&b), &|| {
        post(&client).bearer(&other)
    }])
    .await;
}

#[tokio::test]
async fn one_method_with_two_issuers_keeps_their_users_apart() {
    let client = client(Auth::secret(secret(1)));
    let a = token(&secret(1), json!({ "iss": "a", "sub": "7" }));
    let b = token(&secret(1), json!({ "iss": "b", "sub": "7" }));
    let without = token(&secret(1), json!({ "sub": "7" }));
    run_once_each(&[&|| post(&client).bearer(&a), &|| post(&client).bearer(&b), &|| {
        post(&client).bearer(&without)
    }])
    .await;
    // The same user's new token.
    let renewed = token(&secret(1), json!({ "iss": "a", "sub": "7", "jti": "2" }));
    let again = post(&client).bearer(&renewed).await;
    again.assert_text("1").assert_header("idempotency-replayed", "true");
}

#[tokio::test]
async fn two_methods_without_an_issuer_keep_their_users_apart() {
    let client = client(Auth::secret(secret(1)).or(Auth::secret(secret(2))));
    let [a, b] = [1, 2].map(|byte| token(&secret(byte), json!({ "sub": "7" })));
    run_once_each(&[&|| post(&client).bearer(&a), &|| post(&client).bearer(&b)]).await;
}

/// Returns a client, a session cookie and an API key. Both users have the same
/// subject.
async fn session_and_api_key(pool: Option<&str>) -> (TestClient, String, ApiKey) {
    let cookie = SessionCookie::new(KeyRing::new(secret(1)));
    let sessions = Sessions::<()>::new(MemorySessionStore::new(), cookie);
    let api_key = ApiKey::generate("door").unwrap();
    let known = api_key.hash();
    let by_key = Auth::api_key(move |hash| (hash == known).then(|| json!({ "sub": "7" })));
    let set = sessions.begin(Some("7"), &()).await.unwrap();
    let cookie = sessions.cookie().issue(&set.id().unwrap()).to_str().unwrap().to_owned();
    let cookie = cookie.split([';', '=']).nth(1).unwrap().to_owned();
    let auth = sessions.auth().or(by_key);
    let auth = match pool {
        Some(pool) => auth.user_pool(pool),
        None => auth,
    };
    (client(auth), cookie, api_key)
}

#[tokio::test]
async fn a_session_and_an_api_key_share_no_response() {
    let (client, cookie, key) = session_and_api_key(None).await;
    run_once_each(&[
        &|| post(&client).cookie(COOKIE, &cookie),
        &|| post(&client).header("x-api-key", key.reveal()),
        // A client without a user.
        &|| post(&client),
    ])
    .await;
}

#[tokio::test]
async fn methods_of_one_pool_share_their_users() {
    let (client, cookie, key) = session_and_api_key(Some("accounts")).await;
    post(&client).cookie(COOKIE, &cookie).await.assert_text("1");
    let again = post(&client).header("x-api-key", key.reveal()).await;
    again.assert_text("1").assert_header("idempotency-replayed", "true");
}

#[tokio::test]
async fn each_kind_of_credentials_has_its_own_users() {
    let user = |_: String| Some("7");
    let by_header = |name: &'static str| {
        Auth::api_key_in(stockade::http::HeaderName::from_static(name), |_| Some("7"))
    };
    let auth = Auth::bearer(user)
        .or(Auth::bearer(user).scheme("Token"))
        .or(Auth::basic("x", |_| Some("7")))
        .or(by_header("x-one"))
        .or(by_header("x-two"))
        .or(Auth::verify(|req: &Request| req.headers().get("x-verified").map(|_| "7")));
    let client = client(auth);
    run_once_each(&[
        &|| post(&client).header("authorization", "Bearer a"),
        &|| post(&client).header("authorization", "Token a"),
        &|| post(&client).header("authorization", "Basic YTpi"),
        &|| post(&client).header("x-one", "a"),
        &|| post(&client).header("x-two", "a"),
        &|| post(&client).header("x-verified", "a"),
    ])
    .await;
}

#[tokio::test]
async fn tenants_with_the_same_subject_share_no_response() {
    let user = |tenant: String| Some(json!({ "sub": "7", "tenant": tenant }));
    let client = client(Auth::bearer(user));
    run_once_each(&[&|| post(&client).bearer("acme"), &|| post(&client).bearer("other")]).await;
}

#[tokio::test]
async fn session_data_does_not_determine_the_owner() {
    let cookie = SessionCookie::new(KeyRing::new(secret(1)));
    let sessions = Sessions::<Value>::new(MemorySessionStore::new(), cookie);
    let mut cookies = Vec::new();
    for subject in ["google:7", "github:7"] {
        let set = sessions.begin(Some(subject), &json!({ "sub": "7" })).await.unwrap();
        let cookie = sessions.cookie().issue(&set.id().unwrap());
        cookies.push(cookie.to_str().unwrap().split([';', '=']).nth(1).unwrap().to_owned());
    }
    let client = client(sessions.auth());
    run_once_each(&[&|| post(&client).cookie(COOKIE, &cookies[0]), &|| {
        post(&client).cookie(COOKIE, &cookies[1])
    }])
    .await;
}

#[tokio::test]
async fn a_rate_limit_by_user_key_keeps_issuers_apart() {
    fn user_of(req: &Request) -> Result<String, ApiError> {
        UserKey::of(req).map(String::from).ok_or_else(ApiError::authentication)
    }
    let each = with_rate_limit(RateLimit::from(1 / MINUTE).name("user").key_generator(user_of));
    let auth = with_auth(Auth::secret(secret(1)));
    let api = routes! { "x": { GET: { async || "x", middleware: [auth, each] } } };
    let client = TestClient::new(create_router(api, RouterOptions::new()));
    let [a, b] = ["a", "b"].map(|issuer| token(&secret(1), json!({ "iss": issuer, "sub": "7" })));
    client.get("/x").bearer(&a).await.assert_status(200);
    client.get("/x").bearer(&b).await.assert_status(200);
    client.get("/x").bearer(&a).await.assert_status(429);
    client.get("/x").bearer(&b).await.assert_status(429);
}

/// Ten addresses fill the store with their keys. Another address can still send
/// requests, and its retries still find their responses.
#[tokio::test]
async fn ten_addresses_do_not_exclude_an_eleventh() {
    let store = MemoryIdempotencyStore::new().max_keys(100).max_keys_per_owner(20);
    let mut router = Router::with_options(quiet());
    let handler = async |Body(text): Body<String>| text;
    router.post("/x", handler).middleware(with_idempotency(Idempotency::new(store)));
    let client = TestClient::new(router);
    let post = |peer: &str, key: String| {
        let request = client.post("/x").peer(peer).json(&key);
        request.header("idempotency-key", format!("\"{key}\""))
    };
    for round in 0..5 {
        for attacker in 1..=10 {
            for number in 0..12 {
                let key = format!("{round}-{number}");
                post(&format!("192.0.2.{attacker}"), key).await.assert_status(200);
            }
        }
        let key = format!("honest {round}");
        let first = post("198.51.100.7", key.clone()).await;
        first.assert_text(&key).assert_no_header("idempotency-replayed");
        for earlier in 0..=round {
            let retry = post("198.51.100.7", format!("honest {earlier}")).await;
            retry.assert_status(200).assert_header("idempotency-replayed", "true");
        }
    }
}

/// Subjects, issuers and tenants that contain separators, or that are the same
/// text with different types.
#[tokio::test]
async fn texts_with_separators_and_other_types_share_no_response() {
    let users = [
        json!({ "iss": "a|b", "sub": "c" }),
        json!({ "iss": "a", "sub": "b|c" }),
        json!({ "iss": "a", "sub": "b", "tenant": "c" }),
        json!({ "iss": "a", "sub": "b", "org_id": "c" }),
        json!({ "iss": "a\",\"sub\",\"b", "sub": "c" }),
        json!({ "sub": "7" }),
        json!({ "sub": 7 }),
        json!({ "id": 7 }),
        json!(7),
        json!("7"),
        json!({ "sub": "", "id": 8 }),
        json!({ "sub": "", "id": 9 }),
        json!({ "sub": ["7"], "id": 10 }),
        json!({ "sub": "\u{e9}" }),
        json!({ "sub": "e\u{301}" }),
    ];
    let known = users.clone();
    let user = move |token: String| known.get(token.parse::<usize>().ok()?).cloned();
    let client = client(Auth::bearer(user));
    for round in 0..2 {
        for (number, user) in users.iter().enumerate() {
            let response = post(&client).bearer(number.to_string()).await;
            assert_eq!(response.text(), (number + 1).to_string(), "{round} {user}");
        }
    }
}

#[tokio::test]
async fn users_without_a_valid_subject_get_no_response_of_another_user() {
    let users = [json!({ "sub": "" }), json!({ "sub": ["7"] }), json!({ "sub": {} })];
    let known = users.clone();
    let user = move |token: String| known.get(token.parse::<usize>().ok()?).cloned();
    let client = client(Auth::bearer(user));
    for number in 0..users.len() {
        post(&client).bearer(number.to_string()).await.assert_status(500);
    }
}
