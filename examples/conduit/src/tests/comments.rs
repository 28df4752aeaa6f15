//! Comments.

use stockade::prelude::*;

use super::{Conduit, ConduitErrors};

fn comment(body: &str) -> Value {
    json!({ "comment": { "body": body } })
}

#[tokio::test]
async fn comments_are_added_listed_and_deleted() {
    let conduit = Conduit::new().await;
    let (ada, eve) = (conduit.register("ada").await, conduit.register("eve").await);
    let path = format!("/articles/{}/comments", conduit.publish(&ada, "Discussed", &[]).await);
    conduit.get(&path, "").await.assert_status(200).assert_json(json!({ "comments": [] }));

    let created = conduit.post(&path, &eve, comment("First")).await;
    let author = json!({ "username": "eve", "bio": null, "image": null, "following": false });
    let expected = json!({ "comment": { "id": 1, "body": "First", "author": author } });
    created.assert_status(201).assert_json_contains(expected);
    let created: Value = created.json();
    assert_eq!(created["comment"].as_object().unwrap().len(), 5);
    assert_eq!(created["comment"]["createdAt"], created["comment"]["updatedAt"]);
    conduit.post(&path, &ada, comment("Second")).await.assert_status(201);

    // The newest first, and each shows whether the viewer follows its author.
    conduit.request(Method::POST, "/profiles/eve/follow", &ada).await.assert_status(200);
    let list: Value = conduit.get(&path, &ada).await.json();
    assert_eq!(
        (&list["comments"][0]["body"], &list["comments"][1]["body"]),
        (&json!("Second"), &json!("First"))
    );
    assert_eq!(list["comments"][1]["author"]["following"], json!(true));

    conduit.delete(&format!("{path}/1"), &eve).await.assert_status(204).assert_empty();
    let list: Value = conduit.get(&path, "").await.json();
    assert_eq!(list["comments"].as_array().unwrap().len(), 1);
    // The id of a deleted comment is not reused.
    conduit.delete(&format!("{path}/2"), &ada).await.assert_status(204);
    let third: Value = conduit.post(&path, &ada, comment("Third")).await.json();
    assert_eq!(third["comment"]["id"], json!(3));
}

#[tokio::test]
async fn rejects_invalid_comments() {
    let conduit = Conduit::new().await;
    let (ada, eve) = (conduit.register("ada").await, conduit.register("eve").await);
    let path = format!("/articles/{}/comments", conduit.publish(&ada, "One", &[]).await);
    let other = format!("/articles/{}/comments", conduit.publish(&ada, "Two", &[]).await);
    conduit.post(&path, &ada, comment("mine")).await.assert_status(201);

    let blank = conduit.post(&path, &ada, comment(" ")).await;
    blank.assert_errors(422, json!({ "body": ["can't be blank"] }));
    let missing = json!({ "article": ["not found"] });
    let none = conduit.post("/articles/none/comments", &ada, comment("lost")).await;
    none.assert_errors(404, missing.clone());
    conduit.get("/articles/none/comments", "").await.assert_errors(404, missing.clone());
    conduit.delete("/articles/none/comments/1", &ada).await.assert_errors(404, missing);

    let unknown = json!({ "comment": ["not found"] });
    conduit.delete(&format!("{path}/99"), &ada).await.assert_errors(404, unknown.clone());
    // The comment belongs to another article.
    conduit.delete(&format!("{other}/1"), &ada).await.assert_errors(404, unknown);
    let id = conduit.delete(&format!("{path}/first"), &ada).await;
    id.assert_errors(422, json!({ "id": ["Expected integer, got string"] }));
    let id = conduit.delete(&format!("{path}/99999999999999999999"), &ada).await;
    id.assert_errors(422, json!({ "id": ["Number must be at most 9223372036854775807"] }));
    let forbidden = conduit.delete(&format!("{path}/1"), &eve).await;
    forbidden.assert_errors(403, json!({ "comment": ["forbidden"] }));
    let list: Value = conduit.get(&path, "").await.json();
    assert_eq!(list["comments"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn comments_are_paginated() {
    let conduit = Conduit::new().await;
    let ada = conduit.register("ada").await;
    let path = format!("/articles/{}/comments", conduit.publish(&ada, "One", &[]).await);
    let sql = "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 150)
               INSERT INTO comments (article_id, author_id, body) SELECT 1, 1, n FROM n";
    conduit.connection().execute_batch(sql).unwrap();
    let check = async |query: &str, first: i64, count: usize| {
        let list: Value = conduit.get(&format!("{path}{query}"), "").await.json();
        let comments = list["comments"].as_array().unwrap();
        assert_eq!((&comments[0]["id"], comments.len()), (&json!(first), count), "{query}");
    };
    check("", 150, 100).await;
    check("?before=51", 50, 50).await;
    check("?before=9223372036854775807", 150, 100).await;
    let refused = conduit.get(&format!("{path}?before=0"), "").await;
    refused.assert_errors(422, json!({ "before": ["Number must be at least 1"] }));
    let long = conduit.post(&path, &ada, comment(&"x".repeat(4_001))).await;
    long.assert_errors(422, json!({ "body": ["String must be at most 4000 characters"] }));
}
