//! A visitor's session: a basket, login and logout.

use super::*;

#[tokio::test]
async fn session_data_survives_login_and_ends_with_logout() {
    let sessions = in_memory();
    let browser = browser(&sessions);
    browser.get("/basket").await.assert_json(json!([]));
    let refused = browser.get("/whole").await;
    refused
        .assert_status(401)
        .assert_header("www-authenticate", "Session cookie=\"__Host-session\"");
    let begun = browser.post("/basket").json("chair").await;
    begun.assert_text("begun").assert_header("cache-control", "no-store");
    let set = begun.header("set-cookie").unwrap();
    assert!(set.ends_with("; Path=/; Secure; HttpOnly; SameSite=Strict"), "{set}");
    browser.post("/basket").json("table").await.assert_text("added").assert_no_header("set-cookie");
    browser.get("/whole").await.assert_json(json!(["chair", "table"]));
    // A visitor is not a user.
    browser.get("/me").await.assert_status(401);
    browser.get("/guest").await.assert_text("guest");

    browser.post("/login").json("ada").await.assert_status(200);
    browser.get("/me").await.assert_json(json!({ "items": ["chair", "table"], "sub": "ada" }));
    browser.get("/guest").await.assert_text("user");
    browser.post("/basket").json("lamp").await.assert_text("added");
    browser.get("/basket").await.assert_json(json!(["chair", "table", "lamp"]));

    let gone = browser.post("/me/logout").await;
    gone.assert_text("good-bye");
    assert!(gone.header("set-cookie").unwrap().starts_with("__Host-session=; Path=/; Max-Age=0"));
    assert_eq!(browser.cookie(NAME), None);
    browser.get("/me").await.assert_status(401);
    browser.get("/basket").await.assert_json(json!([]));
}

#[tokio::test]
async fn all_sessions_of_a_user_end_together() {
    let sessions = in_memory();
    let [here, there, other] = [(); 3].map(|()| browser(&sessions));
    for (browser, name) in [(&here, "ada"), (&there, "ada"), (&other, "bob")] {
        browser.post("/login").json(name).await.assert_status(200);
    }
    here.post("/me/logout-everywhere").await.assert_text("2");
    here.get("/me").await.assert_status(401);
    there.get("/me").await.assert_status(401);
    other.get("/me").await.assert_status(200);
}

#[tokio::test]
async fn no_change_of_many_is_lost() {
    let sessions = in_memory();
    let id = sessions.begin(None, &Basket::default()).await.unwrap().id().unwrap();
    let mut changes = tokio::task::JoinSet::new();
    for _ in 0..200 {
        let sessions = sessions.clone();
        changes.spawn(async move {
            tokio::task::yield_now().await;
            sessions.change(&id, |basket| basket.items.push("x".to_owned())).await.is_ok()
        });
    }
    let done = changes.join_all().await.into_iter().filter(|is_done| *is_done).count();
    let basket = sessions.load(&id).await.unwrap().unwrap();
    assert_eq!(basket.items.len(), done);
    assert!(done > 0);
}

/// Unchanged data is not written. The function's result is returned.
#[tokio::test]
async fn unchanged_data_is_not_written() {
    let store = std::sync::Arc::new(MemorySessionStore::new());
    let sessions = Sessions::<Basket>::new(std::sync::Arc::clone(&store), cookie());
    let id = sessions.begin(None, &Basket::default()).await.unwrap().id().unwrap();
    assert_eq!(sessions.change(&id, |basket| basket.items.len()).await.unwrap(), 0);
    let key = stockade::middleware::sessions::SessionKey::of(NAME, &id);
    assert_eq!(store.load(&key).await.unwrap().unwrap().version, 1);
    sessions.change(&id, |basket| basket.items.push("x".to_owned())).await.unwrap();
    assert_eq!(store.load(&key).await.unwrap().unwrap().version, 2);
}

#[tokio::test]
async fn the_user_has_the_data_and_the_subject() {
    async fn user<T>(data: T) -> Option<Value>
    where
        T: serde::Serialize + serde::de::DeserializeOwned + 'static,
    {
        let sessions = Sessions::<T>::new(MemorySessionStore::new(), cookie());
        let id = sessions.begin(Some("ada"), &data).await.unwrap().id().unwrap();
        sessions.lookup()(id).await.unwrap()
    }
    assert_eq!(user(json!({ "a": 1 })).await, Some(json!({ "a": 1, "sub": "ada" })));
    assert_eq!(user(json!({ "sub": 7 })).await, Some(json!({ "sub": 7 })));
    // Data that is not an object still yields a user.
    assert_eq!(user(0).await, Some(json!({ "sub": "ada", "data": 0 })));
    assert_eq!(user(()).await, Some(json!({ "sub": "ada", "data": null })));
}

#[test]
fn debug_output_contains_no_secrets() {
    let sessions = in_memory();
    let set = crate::support::block_on(sessions.begin(Some("ada"), &Basket::default())).unwrap();
    let id = set.id().unwrap();
    let session = crate::support::block_on(sessions.load(&id)).unwrap().unwrap();
    let printed = format!("{sessions:?} {set:?} {session:?} {:?}", MemorySessionStore::new());
    assert!(!printed.contains(&id.to_string()) && !printed.contains("thirty-two"), "{printed}");
}
