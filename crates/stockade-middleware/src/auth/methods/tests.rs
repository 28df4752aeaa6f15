//! Tests of the authentication methods: the allocations of a token check.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};
use std::time::{Duration, SystemTime};

use stockade_auth::{Revocations, Secret, generate_jwt};

use super::*;

#[tokio::test]
async fn a_good_token_costs_one_allocation() {
    let secret = Secret::new("a secret of thirty-two bytes or more").unwrap();
    let claims = serde_json::json!({ "sub": "7", "role": "editor" });
    let token = generate_jwt(claims, "1h", &secret).unwrap();
    let request = http::Request::get("/").header("authorization", format!("Bearer {token}"));
    let req = Request::from(request.body(()).unwrap());
    let plain = Auth::secret(secret.clone());
    let counted = allocation_counter::measure(|| {
        assert!(matches!(plain.methods[0].find_sync(&req), Some(AuthResult::Json(_, None))));
    });
    assert_eq!(counted.count_total, 1);

    // A revocation check does not add an allocation.
    let revocations = Revocations::in_memory();
    let checked = Auth::secret(secret.clone()).revocations(revocations.clone());
    let later = SystemTime::now() + Duration::from_secs(60);
    revocations.revoke_id(None, "other", later).await.unwrap();
    let counted = allocation_counter::measure(|| {
        assert!(matches!(checked.methods[0].find_sync(&req), Some(AuthResult::Json(_, None))));
    });
    assert_eq!(counted.count_total, 1);

    // The result contains the claims that a rule has parsed, so they are not
    // parsed again.
    let strict = Auth::tokens(secret, TokenVerifier::new().require("sub"));
    assert!(matches!(strict.methods[0].find_sync(&req), Some(AuthResult::Json(_, Some(_)))));
}

#[test]
fn functions_of_tokens_allocate_only_the_token_the_user_and_the_future() {
    let request = http::Request::get("/").header("authorization", "Bearer ada");
    let mut req = Request::from(request.body(()).unwrap());
    let known = String::from("ada");
    let find = move |token: String| (token == known).then_some("ada");
    let now = Auth::bearer(find);
    let counted = allocation_counter::measure(|| {
        assert!(matches!(now.methods[0].find_sync(&req), Some(AuthResult::User(_))));
    });
    assert_eq!(counted.count_total, 2);

    let later = Auth::bearer(async |token: String| (token == "ada").then_some("ada"));
    let counted = allocation_counter::measure(|| {
        let found = pin!(later.methods[0].find(&mut req));
        assert!(found.poll(&mut Context::from_waker(Waker::noop())).is_ready());
    });
    assert_eq!(counted.count_total, 3);
}
