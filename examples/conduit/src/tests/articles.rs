//! Single articles: create, read, update, delete, favorite.

use stockade::prelude::*;

use super::{Conduit, ConduitErrors, text};

#[tokio::test]
async fn an_article_is_created_and_shown() {
    let conduit = Conduit::new().await;
    let ada = conduit.register("ada").await;
    let new = json!({
        "title": " How to train your dragon ", "description": "Ever wonder how?",
        "body": "It takes a Jacobian", "tagList": ["training", "dragons", " dragons "],
    });
    let created = conduit.post("/articles", &ada, json!({ "article": new })).await;
    let author = json!({ "username": "ada", "bio": null, "image": null, "following": false });
    let expected = json!({ "article": {
        "slug": "how-to-train-your-dragon", "title": "How to train your dragon",
        "description": "Ever wonder how?", "body": "It takes a Jacobian",
        "tagList": ["dragons", "training"], "favorited": false, "favoritesCount": 0,
        "author": author,
    } });
    created.assert_status(201).assert_json_contains(&expected);
    let created: Value = created.json();
    assert_eq!(created["article"].as_object().unwrap().len(), 10);
    let time = text(&created, "/article/createdAt");
    assert_eq!((time.len(), &time[10..11], &time[23..]), (24, "T", "Z"));

    let shown = conduit.get("/articles/how-to-train-your-dragon", "").await;
    shown.assert_status(200).assert_json(created);
}

#[tokio::test]
async fn invalid_articles_list_each_field() {
    let conduit = Conduit::new().await;
    let ada = conduit.register("ada").await;
    let slug = conduit.publish(&ada, "Mine", &[]).await;
    let check =
        async |method: Method, path: &str, field: &str, value: Value, at: &str, text: &str| {
            let mut article = json!({ "title": "t", "description": "d", "body": "b" });
            article[field] = value;
            let request = conduit.request(method, path, &ada).json(json!({ "article": article }));
            request.await.assert_errors(422, json!({ at: [text] }));
        };
    let (post, put) = (Method::POST, Method::PUT);
    for field in ["title", "description", "body"] {
        check(post.clone(), "/articles", field, json!(""), field, "can't be blank").await;
    }
    let many: Vec<String> = (0..21).map(|tag| tag.to_string()).collect();
    check(
        post.clone(),
        "/articles",
        "tagList",
        json!(many),
        "tagList",
        "Array must contain at most 20 items",
    )
    .await;
    check(
        post.clone(),
        "/articles",
        "tagList",
        json!(["a", " "]),
        "tagList[1]",
        "String must be at least 1 characters",
    )
    .await;
    check(
        post,
        "/articles",
        "title",
        json!("x".repeat(201)),
        "title",
        "String must be at most 200 characters",
    )
    .await;

    let path = format!("/articles/{slug}");
    check(put.clone(), &path, "title", json!(" "), "title", "String must be at least 1 characters")
        .await;
    check(put, &path, "tagList", json!(null), "tagList", "Expected array, got null").await;
    conduit.get("/tags", "").await.assert_json(json!({ "tags": [] }));
}

#[tokio::test]
async fn slugs_are_unique() {
    let conduit = Conduit::new().await;
    let ada = conduit.register("ada").await;
    let first = conduit.publish(&ada, "Same title", &[]).await;
    let second = conduit.publish(&ada, "Same TITLE!", &[]).await;
    assert_eq!(first, "same-title");
    assert!(second.starts_with("same-title-") && second.len() == 27, "{second}");
    // The path of the feed, and a title without letters or digits.
    let feed = conduit.publish(&ada, "Feed", &[]).await;
    assert!(feed.starts_with("feed-"), "{feed}");
    let empty = conduit.publish(&ada, "?!", &[]).await;
    assert_eq!(empty.len(), 16);
    for (slug, title) in
        [(&first, "Same title"), (&second, "Same TITLE!"), (&feed, "Feed"), (&empty, "?!")]
    {
        let shown = conduit.get(&format!("/articles/{slug}"), "").await;
        shown.assert_json_contains(json!({ "article": { "title": title } }));
    }
    // A change sets the title of another article.
    let change = json!({ "article": { "title": "Same title" } });
    let moved = conduit.put(&format!("/articles/{feed}"), &ada, change).await;
    assert!(text(&moved.json(), "/article/slug").starts_with("same-title-"));
}

#[tokio::test]
async fn the_author_changes_an_article() {
    let conduit = Conduit::new().await;
    let ada = conduit.register("ada").await;
    let slug = conduit.publish(&ada, "Old title", &["b", "a"]).await;
    let before: Value = conduit.get("/articles/old-title", "").await.json();

    let body = json!({ "article": { "body": "new body" } });
    let changed = conduit.put(&format!("/articles/{slug}"), &ada, body).await;
    let expected =
        json!({ "slug": slug, "title": "Old title", "body": "new body", "tagList": ["a", "b"] });
    changed.assert_status(200).assert_json_contains(json!({ "article": expected }));
    let changed: Value = changed.json();
    assert_eq!(changed["article"]["createdAt"], before["article"]["createdAt"]);
    // The time of a change is always later than the previous time.
    assert!(text(&changed, "/article/updatedAt") > text(&before, "/article/updatedAt"));

    let title = json!({ "article": { "title": "New title", "tagList": ["c"] } });
    let changed = conduit.put(&format!("/articles/{slug}"), &ada, title).await;
    let expected = json!({ "slug": "new-title", "body": "new body", "tagList": ["c"] });
    changed.assert_json_contains(json!({ "article": expected }));
    conduit.get("/articles/old-title", "").await.assert_status(404);

    let same = json!({ "article": { "title": "NEW title", "tagList": [] } });
    let changed = conduit.put("/articles/new-title", &ada, same).await;
    let expected = json!({ "slug": "new-title", "title": "NEW title", "tagList": [] });
    changed.assert_json_contains(json!({ "article": expected }));
}

#[tokio::test]
async fn only_the_author_changes_and_deletes() {
    let conduit = Conduit::new().await;
    let (ada, eve) = (conduit.register("ada").await, conduit.register("eve").await);
    let slug = conduit.publish(&ada, "Mine", &["tag"]).await;
    let path = format!("/articles/{slug}");
    let forbidden = json!({ "article": ["forbidden"] });
    let change = json!({ "article": { "body": "hijacked" } });
    conduit.put(&path, &eve, change.clone()).await.assert_errors(403, forbidden.clone());
    conduit.delete(&path, &eve).await.assert_errors(403, forbidden);

    // Its tags, favorites and comments are deleted too.
    conduit.request(Method::POST, &format!("{path}/favorite"), &eve).await.assert_status(200);
    let comment = json!({ "comment": { "body": "well" } });
    conduit.post(&format!("{path}/comments"), &eve, comment).await.assert_status(201);
    conduit.delete(&path, &ada).await.assert_status(204).assert_empty();
    let missing = json!({ "article": ["not found"] });
    conduit.get(&path, "").await.assert_errors(404, missing.clone());
    conduit.put(&path, &ada, change).await.assert_errors(404, missing.clone());
    conduit.delete(&path, &ada).await.assert_errors(404, missing);
    let connection = conduit.connection();
    for table in ["articles", "article_tags", "favorites", "comments"] {
        let sql = format!("SELECT count(*) FROM {table}");
        let rows: i64 = connection.query_row(&sql, [], |row| row.get(0)).unwrap();
        assert_eq!(rows, 0, "{table}");
    }
}

#[tokio::test]
async fn an_article_counts_each_user_who_likes_it_once() {
    let conduit = Conduit::new().await;
    let (ada, eve) = (conduit.register("ada").await, conduit.register("eve").await);
    let slug = conduit.publish(&ada, "Liked", &[]).await;
    let path = format!("/articles/{slug}/favorite");
    let check = async |method: Method, token: &str, favorited: bool, count: u32| {
        let response = conduit.request(method, &path, token).await;
        let expected = json!({ "favorited": favorited, "favoritesCount": count, "body": "b" });
        response.assert_status(200).assert_json_contains(json!({ "article": expected }));
    };
    check(Method::POST, &ada, true, 1).await;
    check(Method::POST, &ada, true, 1).await;
    check(Method::POST, &eve, true, 2).await;
    check(Method::DELETE, &ada, false, 1).await;
    check(Method::DELETE, &ada, false, 1).await;
    let shown = conduit.get(&format!("/articles/{slug}"), &eve).await;
    shown.assert_json_contains(json!({ "article": { "favorited": true, "favoritesCount": 1 } }));
    let missing = conduit.request(Method::POST, "/articles/none/favorite", &ada).await;
    missing.assert_errors(404, json!({ "article": ["not found"] }));
    let missing = conduit.delete("/articles/none/favorite", &ada).await;
    missing.assert_errors(404, json!({ "article": ["not found"] }));
}

#[tokio::test]
async fn titles_and_tags_reject_invisible_characters() {
    let conduit = Conduit::new().await;
    let ada = conduit.register("ada").await;
    for sign in ["\0", "\u{202E}", "\u{200B}", "\u{FEFF}", "\u{85}"] {
        let text = format!("a{sign}b");
        let article = json!({ "title": text, "description": "d", "body": "b", "tagList": [text] });
        let refused = conduit.post("/articles", &ada, json!({ "article": article })).await;
        let invalid = ["Invalid format"];
        refused.assert_errors(422, json!({ "title": invalid, "tagList[0]": invalid }));
    }
    conduit.publish(&ada, "Ζωή, \u{5D0}\u{5D1} and \u{1F469}\u{200D}\u{1F680}", &["c++"]).await;
}

#[tokio::test]
async fn deleting_an_article_deletes_its_comments_and_favorites() {
    let conduit = Conduit::new().await;
    let ada = conduit.register("ada").await;
    for slug in ["kept", "flooded"] {
        conduit.publish(&ada, slug, &["tag"]).await;
    }
    let sql = "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 10000)
               INSERT INTO comments (article_id, author_id, body) SELECT 2, 1, n FROM n;
               INSERT INTO comments (article_id, author_id, body) VALUES (1, 1, 'kept');
               WITH RECURSIVE n(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM n WHERE n < 10000)
               INSERT INTO users (id, username, email, password_hash) SELECT n, n, n, '' FROM n;
               INSERT INTO favorites SELECT 2, id FROM users;
               INSERT INTO favorites VALUES (1, 1)";
    conduit.connection().execute_batch(sql).unwrap();
    let flooded = json!({ "article": { "favoritesCount": 10_000 } });
    conduit.get("/articles/flooded", "").await.assert_json_contains(flooded);
    conduit.delete("/articles/flooded", &ada).await.assert_status(204);
    conduit.delete("/articles/flooded", &ada).await.assert_status(404);
    let left = conduit.connection();
    for table in ["comments", "favorites"] {
        let sql = format!("SELECT count(*) FROM {table}");
        assert_eq!(left.query_row(&sql, [], |row| row.get(0)), Ok(1), "{table}");
    }
}
