//! Registration, login, the current user.

use stockade::auth::{PasswordHasher, verify_password};
use stockade::prelude::*;

use super::{Conduit, ConduitErrors, registration, text};
use crate::users::NOBODY;

#[tokio::test]
async fn a_user_registers_logs_in_and_is_shown() {
    let conduit = Conduit::new().await;
    let user = json!({ "username": "ada", "email": "ada@example.org", "bio": null, "image": null });
    let registered = conduit.post("/users", "", registration("ada")).await;
    registered.assert_status(201).assert_json_contains(json!({ "user": user }));

    let login = json!({ "user": { "email": "ADA@example.org", "password": "password1" } });
    let login = conduit.post("/users/login", "", login).await;
    login.assert_status(200).assert_json_contains(json!({ "user": user }));

    let shown = conduit.get("/user", &text(&login.json(), "/user/token")).await;
    shown.assert_status(200).assert_json_contains(json!({ "user": user }));
    let fields: Value = shown.json();
    assert_eq!(fields["user"].as_object().unwrap().len(), 5);

    let stored: String = conduit
        .connection()
        .query_row("SELECT password_hash FROM users", [], |row| row.get(0))
        .unwrap();
    assert!(stored.starts_with("$argon2id$") && verify_password("password1", &stored));
}

#[tokio::test]
async fn invalid_registrations_list_each_field() {
    let conduit = Conduit::new().await;
    let check = async |field: &str, value: Value, expected: &str| {
        let mut body = registration("ada");
        body["user"][field] = value;
        conduit.post("/users", "", body).await.assert_errors(422, json!({ field: [expected] }));
    };
    check("username", json!(""), "can't be blank").await;
    check("username", json!("  "), "can't be blank").await;
    check("username", json!("x".repeat(51)), "String must be at most 50 characters").await;
    for name in
        ["a\0b", "ad\u{200B}a", "\u{202E}ada", "\u{430}da", "a/b", "..", "<b>", "-ada", "a  b"]
    {
        check("username", json!(name), "Invalid format").await;
    }
    check("email", json!(""), "can't be blank").await;
    check("email", json!("ada"), "Invalid email format").await;
    check("password", json!(""), "can't be blank").await;
    check("password", json!(null), "can't be blank").await;
    check("password", json!("short7c"), "String must be at least 8 characters").await;
    let empty = conduit.post("/users", "", json!({ "user": {} })).await;
    let blank = ["can't be blank"];
    empty.assert_errors(422, json!({ "email": blank, "password": blank, "username": blank }));
    let nothing = conduit.post("/users", "", json!({})).await;
    nothing.assert_errors(422, json!({ "user": blank }));
}

#[tokio::test]
async fn names_and_email_addresses_are_unique() {
    let conduit = Conduit::new().await;
    let ada = conduit.register("ada").await;
    conduit.register("eve").await;
    let taken = ["has already been taken"];
    let check = async |field: &str, value: &str| {
        let mut body = registration("new");
        body["user"][field] = json!(value);
        conduit.post("/users", "", body).await.assert_errors(409, json!({ field: taken }));
    };
    check("username", "ada").await;
    check("username", "ADA").await;
    check("email", "Ada@Example.org").await;

    let change = |field: &str, value: &str| json!({ "user": { field: value } });
    let name = conduit.put("/user", &ada, change("username", "Eve")).await;
    name.assert_errors(409, json!({ "username": taken }));
    let email = conduit.put("/user", &ada, change("email", "eve@example.org")).await;
    email.assert_errors(409, json!({ "email": taken }));
    conduit.put("/user", &ada, change("username", "Ada")).await.assert_status(200);
}

#[tokio::test]
async fn wrong_passwords_and_unknown_addresses_get_the_same_response() {
    let conduit = Conduit::new().await;
    conduit.register("ada").await;
    for email in ["ada@example.org", "nobody@example.org"] {
        let login = json!({ "user": { "email": email, "password": "wrong password" } });
        let refused = conduit.post("/users/login", "", login).await;
        refused.assert_errors(401, json!({ "credentials": ["invalid"] }));
    }
    // Nobody knows the password of `NOBODY`, and it is as expensive as other hashes.
    let login = json!({ "user": { "email": "", "password": "" } });
    let blank = ["can't be blank"];
    let refused = conduit.post("/users/login", "", login).await;
    refused.assert_errors(422, json!({ "email": blank, "password": blank }));
    assert!(!PasswordHasher::argon2id().needs_rehash(NOBODY));
}

#[tokio::test]
async fn each_field_can_be_changed_separately() {
    let conduit = Conduit::new().await;
    let ada = conduit.register("ada").await;
    let check = async |field: &str, value: Value, expected: Value| {
        let changed = conduit.put("/user", &ada, json!({ "user": { field: value } })).await;
        changed.assert_status(200).assert_json_contains(json!({ "user": { field: expected } }));
        let shown = conduit.get("/user", &ada).await;
        shown.assert_json_contains(json!({ "user": { field: expected } }));
    };
    check("bio", json!("mathematician"), json!("mathematician")).await;
    check("image", json!("https://example.org/a.png"), json!("https://example.org/a.png")).await;
    check("username", json!("countess"), json!("countess")).await;
    check("email", json!("countess@example.org"), json!("countess@example.org")).await;
    check("bio", json!(""), json!(null)).await;
    check("image", json!(null), json!(null)).await;

    let changed = conduit.put("/user", &ada, json!({ "user": { "password": "bonjour1" } })).await;
    changed.assert_status(200);
    let login = |password: &str| json!({ "user": { "email": "countess@example.org", "password": password } });
    conduit.post("/users/login", "", login("password1")).await.assert_status(401);
    conduit.post("/users/login", "", login("bonjour1")).await.assert_status(200);
}

#[tokio::test]
async fn invalid_changes_change_nothing() {
    let conduit = Conduit::new().await;
    let ada = conduit.register("ada").await;
    let check = async |field: &str, value: Value| {
        let change = json!({ "user": { "bio": "changed", field: value } });
        conduit.put("/user", &ada, change).await.assert_status(422);
    };
    check("username", json!("")).await;
    check("username", json!(null)).await;
    check("username", json!("a\nb")).await;
    check("email", json!("")).await;
    check("email", json!(null)).await;
    check("password", json!("")).await;
    check("password", json!(null)).await;
    check("password", json!("short7c")).await;
    check("bio", json!(7)).await;
    let shown = conduit.get("/user", &ada).await;
    shown.assert_json_contains(json!({ "user": { "username": "ada", "bio": null } }));
}
