//! Forged cookies, ended sessions and oversized session data.

use super::*;

/// A cookie that an attacker knew before the login is useless after it.
#[tokio::test]
async fn rejects_session_fixation() {
    let sessions = in_memory();
    // The attacker starts a session and plants its cookie in the victim's
    // browser.
    let attacker = browser(&sessions);
    attacker.post("/basket").json("bait").await.assert_text("begun");
    let known = attacker.cookie(NAME).unwrap();
    let victim = client(&sessions);
    let response = victim.post("/login").cookie(NAME, &known).json("ada").await;
    let fresh = response.assert_status(200).cookie(NAME).unwrap().to_owned();
    assert_ne!(fresh, known);
    victim.get("/me").cookie(NAME, &fresh).await.assert_status(200);
    attacker.get("/me").await.assert_status(401);
    attacker.get("/whole").await.assert_status(401);
}

/// A session never uses an id that the client chose.
#[tokio::test]
async fn rejects_forged_cookies() {
    let sessions = in_memory();
    let own = logged_in(&sessions, "ada").await;
    let stranger = Secret::new("another secret of thirty-two bytes").unwrap();
    let id = SessionId::generate().unwrap();
    let ours = Secret::new("a secret of thirty-two bytes or more").unwrap();
    let (bare, tag) = own.split_once('.').unwrap();
    let forged = [
        String::new(),
        ".".to_owned(),
        bare.to_owned(),
        format!("{bare}."),
        format!("{}.{tag}", "A".repeat(43)),
        format!("{own}A"),
        own.to_lowercase(),
        id.to_string(),
        id.sign(&SessionKeys::new(NAME, &stranger)),
        // The signature is valid, but no such session exists.
        id.sign(&SessionKeys::new(NAME, &ours)),
        format!("{own}; {NAME}={own}"),
        "A".repeat(6_000),
        format!("{own}{}", "A".repeat(6_000)),
        "' OR 1=1 --".to_owned(),
        "*".to_owned(),
    ];
    let client = client(&sessions);
    for cookie in forged {
        let line = format!("{NAME}={cookie}");
        client.get("/me").header("cookie", &line).await.assert_status(401);
        client.get("/whole").header("cookie", &line).await.assert_status(401);
        client.get("/basket").header("cookie", &line).await.assert_json(json!([]));
        client.get("/guest").header("cookie", &line).await.assert_text("guest");
        // The server generates the id of a new session.
        let begun = client.post("/login").header("cookie", &line).json("eve").await;
        assert_ne!(begun.assert_status(200).cookie(NAME), Some(&*cookie));
    }
    client.get("/me").cookie(NAME, &own).await.assert_status(200);
}

#[tokio::test]
async fn rejects_a_cookie_after_logout() {
    let sessions = in_memory();
    let client = client(&sessions);
    let own = logged_in(&sessions, "ada").await;
    client.post("/me/logout").cookie(NAME, &own).await.assert_status(200);
    for _ in 0..3 {
        client.get("/me").cookie(NAME, &own).await.assert_status(401);
        client.post("/me/logout").cookie(NAME, &own).await.assert_status(401);
        let begun = client.post("/basket").cookie(NAME, &own).json("chair").await;
        assert_ne!(begun.assert_text("begun").cookie(NAME), Some(&*own));
    }
    // A request that finishes after the logout changes nothing.
    let own = logged_in(&sessions, "ada").await;
    let late = client.post("/me/late").cookie(NAME, &own).json("chair").await;
    late.assert_status(401).assert_error("The session has ended");
    late.assert_header("www-authenticate", &format!("Session cookie=\"{NAME}\""));
    client.get("/whole").cookie(NAME, &own).await.assert_status(401);
}

#[tokio::test]
async fn rejects_too_large_data_and_keeps_the_session() {
    let sessions = in_memory().max_bytes(100);
    let browser = browser(&sessions);
    browser.post("/basket").json("chair").await.assert_text("begun");
    let large = "x".repeat(100);
    let refused = browser.post("/basket").json(&large).await;
    refused.assert_status(413);
    refused.assert_error("The session must have at most 100 bytes, found 122");
    browser.get("/basket").await.assert_json(json!(["chair"]));
    client(&sessions).post("/basket").json(&large).await.assert_status(413);
    let whole = in_memory();
    let basket = |length| Basket { items: vec!["x".repeat(length)] };
    assert!(whole.begin(None, &basket(16_384 - 14)).await.is_ok());
    assert_eq!(whole.begin(None, &basket(16_384 - 13)).await.unwrap_err().status(), 413);
}

/// A page of another origin cannot act with the browser's cookie.
#[tokio::test]
async fn other_origins_cannot_change_a_session() {
    let sessions = in_memory();
    let own = logged_in(&sessions, "ada").await;
    let client = client(&sessions).with_header("sec-fetch-site", "cross-site");
    client.post("/basket").cookie(NAME, &own).json("bait").await.assert_status(403);
    client.post("/me/logout").cookie(NAME, &own).await.assert_status(403);
    client.get("/me").cookie(NAME, &own).await.assert_json(json!({ "items": [], "sub": "ada" }));
}

#[tokio::test]
async fn a_subject_has_1_to_255_bytes() {
    let sessions = in_memory();
    for subject in ["", &"a".repeat(256)] {
        let begun = sessions.begin(Some(subject), &Basket::default()).await;
        assert_eq!(begun.unwrap_err().status(), 500);
    }
    assert!(sessions.begin(Some(&"a".repeat(255)), &Basket::default()).await.is_ok());
}
