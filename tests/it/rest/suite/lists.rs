//! Lists: sorting, pagination and filters.

use stockade::http::Method;
use stockade::prelude::*;
use stockade::rest::Store;
use stockade::testing::TestResponse;

use super::{Client, Item, item, names_of, with};

async fn filled<S: Store<Item> + Clone>(store: S) -> Client {
    let ada = Client::new(store, "ada");
    for (name, price, weight, category) in [
        ("b", 2, 0.25, Some("x")),
        ("a", 2, 1.5, None),
        ("d", 1, -1.5, Some("y")),
        ("c", 3, 1e3, Some("x y")),
        ("ab", 3, 0.0, None),
        ("B", 10, 0.5, Some("é%_")),
    ] {
        let extra = json!({ "weight": weight, "category": category, "sold_out": price == 3 });
        let made = ada.send(Method::POST, "/items", &with(item(name, price), extra)).await;
        made.assert_status(201);
    }
    ada
}

pub(super) async fn pages<S: Store<Item> + Clone>(store: S) {
    let ada = filled(store).await;
    for (query, expected) in [
        ("", "b a d c ab B"),
        ("sort=id", "b a d c ab B"),
        ("sort=-id", "B ab c d a b"),
        ("sort=name", "B a ab b c d"),
        ("sort=-name", "d c b ab a B"),
        ("sort=price", "d b a c ab B"),
        ("sort=-price", "B ab c a b d"),
        ("sort=price,name", "d a b ab c B"),
        ("sort=-price,name", "B ab c a b d"),
        ("sort=price,-name", "d b a c ab B"),
        // A repeated sort field has no effect.
        ("sort=price,-price,-name", "d b a c ab B"),
        ("sort=weight", "d ab b B a c"),
        ("sort=sold_out,price,name", "d a b B ab c"),
        ("sort=-sold_out,-price,id", "c ab B b a d"),
    ] {
        assert_eq!(ada.names(query).await, expected, "{query}");
        for limit in 1..=7 {
            assert_eq!(walk(&ada, query, limit).await, expected, "{query} by {limit}");
        }
    }
    let page = ada.get("/items?limit=2&price[gt]=0&sort=name").await;
    let link = page.header("link").unwrap();
    assert!(link.starts_with("</items?limit=2&price[gt]=0&sort=name&cursor="), "{link}");
    assert!(link.ends_with(">; rel=\"next\""), "{link}");
    ada.get("/items").await.assert_no_header("link").assert_no_header("x-total-count");
    let counted = ada.get("/items?count=exact&price[gt]=2&limit=1").await;
    counted.assert_header("x-total-count", "3");
    for query in
        ["limit=0", "limit=101", "limit=x", "limit=1&limit=2", "count=all", "sort=", "cursor="]
    {
        ada.check(&format!("GET /items?{query}"), 400).await;
    }
    for sort in ["size", "secret", "owner", "price,name,weight,id", "-", ",", "price;"] {
        ada.check(&format!("GET /items?sort={sort}"), 400).await.assert_text_contains("sort");
    }
    let near = ada.check("GET /items?sort=prise", 400).await;
    near.assert_text_contains("did you mean `price`?");
}

/// Follows the pages of a list forward and back, and returns the names it
/// finds.
async fn walk(client: &Client, query: &str, limit: usize) -> String {
    let (mut names, mut target) = (Vec::new(), format!("/items?{query}&limit={limit}"));
    let mut last = target.clone();
    loop {
        let answer = client.get(&target).await;
        answer.assert_status(200);
        let page = answer.json::<Value>();
        assert_eq!(page["next"].is_string(), link(&answer, "next").is_some());
        names.push(names_of(&page));
        last.clone_from(&target);
        match link(&answer, "next") {
            Some(next) => target = next,
            None => break,
        }
    }
    let mut back = names.len() - 1;
    while let Some(previous) = link(&client.get(&last).await, "prev") {
        back -= 1;
        let page = client.get(&previous).await;
        assert_eq!(names_of(&page.json()), names[back], "{previous}");
        last = previous;
    }
    assert_eq!(back, 0, "{query} by {limit}");
    names.join(" ")
}

fn link(answer: &TestResponse, rel: &str) -> Option<String> {
    let links = answer.header("link")?;
    let link = links.split(", ").find(|link| link.ends_with(&format!("rel=\"{rel}\"")))?;
    Some(link.split_once('<')?.1.split_once('>')?.0.to_owned())
}

pub(super) async fn filters<S: Store<Item> + Clone>(store: S) {
    let ada = filled(store).await;
    for (query, expected) in [
        ("category=x", "b"),
        ("category=x&category=y", "b d"),
        ("category=x+y", "c"),
        ("category=X", ""),
        ("category=%C3%A9%25_", "B"),
        ("category[null]=true", "a ab"),
        ("category[null]=false", "b d c B"),
        ("category=null", ""),
        ("name=b", "b"),
        ("name[prefix]=a", "a ab"),
        ("name[prefix]=a&name[prefix]=d", "a d ab"),
        ("name[prefix]=%25", ""),
        ("name[prefix]=_", ""),
        ("name[lt]=b", "a ab B"),
        ("price=2&price=10", "b a B"),
        ("price[lt]=2", "d"),
        ("price[lte]=2", "b a d"),
        ("price[gt]=3", "B"),
        ("price[gte]=3&price[lt]=10", "c ab"),
        ("weight=0.25", "b"),
        ("weight[lt]=0", "d"),
        ("weight[gte]=1.5", "a c"),
        ("sold_out=true", "c ab"),
        ("sold_out=false&category=x", "b"),
        ("size=small&name=a", "a"),
        ("size=large", ""),
    ] {
        assert_eq!(ada.names(query).await, expected, "{query}");
    }
    for (query, field) in [
        ("price=x", "price[0]"),
        ("price=", "price[0]"),
        ("price=-1", "price[0]"),
        ("price[gt]=x", "price[gt]"),
        ("price[gt]=1&price[gt]=2", "price[gt]"),
        ("sold_out=1", "sold_out[0]"),
        ("size=huge", "size[0]"),
        ("category[null]=x", "category[null]"),
        ("name[prefix]=", "name[prefix][0]"),
        ("secret=a", "secret"),
        ("secret[prefix]=a", "secret[prefix]"),
        ("owner=bob", "owner"),
        ("category[$regex]=.*", "category[$regex]"),
        ("category[ne]=x", "category[ne]"),
        ("price[null]=true", "price[null]"),
        ("pric=1", "pric"),
        ("__proto__=1", "__proto__"),
    ] {
        let refused = ada.check(&format!("GET /items?{query}"), 400).await;
        assert_eq!(refused.json::<Value>()["details"]["errors"][0]["field"], field, "{query}");
    }
    ada.check("GET /items?pric=1", 400).await.assert_text_contains("did you mean `price`?");
    let many = |count: usize| "category=x&".repeat(count);
    ada.check(&format!("GET /items?{}", many(50)), 200).await;
    ada.check(&format!("GET /items?{}", many(51)), 400).await;
    let eleven = "id=1&id[gt]=0&name=a&name[prefix]=a&name[lt]=z&price=1&price[lt]=9&price[lte]=9\
                  &price[gt]=0&price[gte]=0&weight=1";
    ada.check(&format!("GET /items?{eleven}"), 400).await;
    ada.check(&format!("GET /items?{}", eleven.rsplit_once('&').unwrap().0), 200).await;
}
