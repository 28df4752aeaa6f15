//! Lists of articles, the feed, and tags.

use stockade::prelude::*;

use super::{Conduit, ConduitErrors, titles};

#[tokio::test]
async fn lists_are_filtered_and_the_newest_comes_first() {
    let conduit = Conduit::new().await;
    let (ada, eve) = (conduit.register("ada").await, conduit.register("eve").await);
    conduit.publish(&ada, "One", &["x", "y"]).await;
    conduit.publish(&eve, "Two", &["y"]).await;
    let three = conduit.publish(&ada, "Three", &["z", "100%"]).await;
    conduit.request(Method::POST, &format!("/articles/{three}/favorite"), &eve).await;
    let check = async |query: &str, expected: &[&str]| {
        let list = conduit.get(&format!("/articles{query}"), "").await;
        assert_eq!(titles(&list), expected, "{query}");
        list.assert_json_contains(json!({ "articlesCount": expected.len() }));
    };
    check("", &["Three", "Two", "One"]).await;
    check("?tag=y", &["Two", "One"]).await;
    check("?author=ada", &["Three", "One"]).await;
    check("?author=ada&tag=y", &["One"]).await;
    check("?favorited=eve", &["Three"]).await;
    check("?favorited=ada", &[]).await;
    check("?author=nobody", &[]).await;
    // A tag is compared literally; it is not a pattern.
    check("?tag=100%25", &["Three"]).await;
    check("?tag=%25", &[]).await;
    check("?tag=_", &[]).await;
    check("?tag=", &[]).await;

    let list: Value = conduit.get("/articles?favorited=eve", &eve).await.json();
    let article = &list["articles"][0];
    assert_eq!((&article["favorited"], &article["favoritesCount"]), (&json!(true), &json!(1)));
    assert_eq!((&article["tagList"], article.get("body")), (&json!(["100%", "z"]), None));
}

#[tokio::test]
async fn lists_have_pages() {
    let conduit = Conduit::new().await;
    let ada = conduit.register("ada").await;
    for title in 1..=21 {
        conduit.publish(&ada, &title.to_string(), &[]).await;
    }
    let check = async |query: &str, expected: &[&str]| {
        let list = conduit.get(&format!("/articles{query}"), "").await;
        assert_eq!(titles(&list), expected, "{query}");
        list.assert_json_contains(json!({ "articlesCount": 21 }));
    };
    check("?limit=2", &["21", "20"]).await;
    check("?limit=2&offset=2", &["19", "18"]).await;
    check("?limit=2&offset=20", &["1"]).await;
    check("?limit=2&offset=21", &[]).await;
    check("?offset=10000", &[]).await;
    assert_eq!(titles(&conduit.get("/articles", "").await).len(), 20);

    let refused = async |query: &str, field: &str, expected: &str| {
        let list = conduit.get(&format!("/articles{query}"), "").await;
        list.assert_errors(422, json!({ field: [expected] }));
    };
    refused("?limit=0", "limit", "Number must be at least 1").await;
    refused("?limit=101", "limit", "Number must be at most 100").await;
    refused("?offset=-1", "offset", "Number must be at least 0").await;
    refused("?offset=10001", "offset", "Number must be at most 10000").await;
    refused("?limit=many", "limit", "Expected integer, got string").await;
}

#[tokio::test]
async fn the_feed_lists_articles_of_followed_users() {
    let conduit = Conduit::new().await;
    let (ada, eve) = (conduit.register("ada").await, conduit.register("eve").await);
    conduit.publish(&ada, "Own", &[]).await;
    conduit.publish(&eve, "One", &[]).await;
    conduit.publish(&eve, "Two", &[]).await;
    let feed = conduit.get("/articles/feed", &ada).await;
    feed.assert_json(json!({ "articles": [], "articlesCount": 0 }));

    conduit.request(Method::POST, "/profiles/eve/follow", &ada).await.assert_status(200);
    let feed = conduit.get("/articles/feed", &ada).await;
    assert_eq!(titles(&feed), ["Two", "One"]);
    let feed: Value = feed.json();
    assert_eq!(feed["articles"][0]["author"]["following"], json!(true));
    assert_eq!(feed["articles"][0].get("body"), None);

    let page = conduit.get("/articles/feed?limit=1&offset=1", &ada).await;
    assert_eq!(titles(&page), ["One"]);
    page.assert_json_contains(json!({ "articlesCount": 2 }));
    let wrong = conduit.get("/articles/feed?limit=0", &ada).await;
    wrong.assert_errors(422, json!({ "limit": ["Number must be at least 1"] }));
}

#[tokio::test]
async fn tags_are_ordered_by_their_number_of_articles() {
    let conduit = Conduit::new().await;
    let ada = conduit.register("ada").await;
    conduit.get("/tags", "").await.assert_status(200).assert_json(json!({ "tags": [] }));
    conduit.publish(&ada, "One", &["rare", "usual"]).await;
    conduit.publish(&ada, "Two", &["usual", "new"]).await;
    conduit.get("/tags", "").await.assert_json(json!({ "tags": ["usual", "new", "rare"] }));
}
