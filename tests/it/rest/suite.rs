//! The suite that each store passes: the behaviour of a resource over it, seen by a
//! client that holds each answer against the documents.

use std::future::Future;

use stockade::http::Method;
use stockade::prelude::*;
use stockade::rest::{Access, Entity, Op, Operation, Resource, Scope, Store};
use stockade::testing::{TestClient, TestResponse};

/// The type of the suite's items. Its name is unique, and so is its secret.
#[derive(Clone, Debug, PartialEq, serde::Deserialize, serde::Serialize, Schema)]
pub(crate) struct Item {
    pub(crate) id: i64,
    #[schema(trim, min_length = 1, max_length = 200)]
    pub(crate) name: String,
    #[schema(maximum = 1_000_000)]
    pub(crate) price: u32,
    pub(crate) weight: f64,
    pub(crate) category: Option<String>,
    pub(crate) sold_out: bool,
    pub(crate) size: Size,
    #[schema(max_items = 5)]
    pub(crate) tags: Vec<String>,
    /// Set by the scope, and by nobody else.
    pub(crate) owner: String,
    /// Hidden.
    pub(crate) secret: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, serde::Deserialize, serde::Serialize, Schema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Size {
    Small,
    Large,
}

impl Entity for Item {
    type Id = i64;
}

/// Makes the router of the suite's resource at `/items`: users are `ada` and `bob`, by
/// tokens of their names, and each sees the own items alone. `/open` has no scope, and
/// each further rule of a resource.
pub(crate) fn router<S: Store<Item> + Clone>(store: S) -> Router {
    let signed_in = with_auth(|token: String| {
        ["ada", "bob"].contains(&&*token).then(|| json!({ "name": token }))
    });
    let owned = |user: Option<&Value>| {
        let name = user.and_then(|user| user["name"].as_str());
        name.map(|name| Scope::eq("owner", name)).ok_or_else(ApiError::authorization)
    };
    let items = listed(Resource::new("item", store.clone()))
        .scope(owned)
        .count(true)
        .read(Access::user(&signed_in))
        .write(Access::user(&signed_in));
    let open = listed(Resource::new("open item", store.clone()))
        .require_if_match(true)
        .put_creates(true)
        .before(Operation::Create, async |_, mut draft: stockade::rest::Draft<Item>| {
            draft.set("owner", "nobody");
            Ok(draft)
        })
        .before(Operation::Replace, async |_, mut draft: stockade::rest::Draft<Item>| {
            draft.set("owner", "nobody");
            Ok(draft)
        })
        .read(Access::public("a test"))
        .write(Access::public("a test"));
    let own = |user: &Value, item: &Item| user["name"] == item.owner;
    let judged = listed(Resource::new("judged item", store))
        .only([Operation::Get, Operation::Replace, Operation::Patch, Operation::Delete])
        .read(Access::public("a test"))
        .write(Access::check(&signed_in, own));
    let api = routes! {
        "items": { ..items.routes() },
        "open": { ..open.routes() },
        "judged": { ..judged.routes() },
    };
    create_router(api, RouterOptions::new().rate_limit(None))
}

fn listed(resource: Resource<Item>) -> Resource<Item> {
    resource
        .server_fields(["id", "owner"])
        .hidden(["secret"])
        .filter("category")
        .filter("sold_out")
        .filter("size")
        .filter_by("id", [Op::Eq, Op::Gt])
        .filter_by("name", [Op::Eq, Op::Prefix, Op::Lt])
        .filter_by("price", [Op::Eq, Op::Lt, Op::Lte, Op::Gt, Op::Gte])
        .filter_by("weight", [Op::Eq, Op::Lt, Op::Gte])
        .sort(["price", "name", "weight", "sold_out", "id"])
}

/// A client of one user, which holds each answer against the documents.
pub(crate) struct Client {
    client: TestClient,
}

impl Client {
    pub(crate) fn new<S: Store<Item> + Clone>(store: S, user: &str) -> Self {
        Self { client: TestClient::new(router(store)).with_contract().with_bearer(user) }
    }

    pub(crate) async fn get(&self, target: &str) -> TestResponse {
        self.client.get(target).await
    }

    pub(crate) async fn send(&self, method: Method, target: &str, body: &Value) -> TestResponse {
        self.client.request(method, target).json(body).await
    }

    /// Sends a line such as `PUT /items/1`, headers, and after an empty line a body.
    pub(crate) async fn raw(&self, text: &str) -> TestResponse {
        let (head, body) = text.split_once("\n\n").unwrap_or((text, ""));
        let mut lines = head.lines();
        let (method, target) = lines.next().unwrap().split_once(' ').unwrap();
        let mut request = self.client.request(method.parse().unwrap(), target);
        for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
            request = request.header(name, value);
        }
        if !body.is_empty() {
            request = request.body(body.to_owned());
            if !head.contains("content-type") {
                request = request.header("content-type", "application/json");
            }
        }
        request.await
    }

    #[track_caller]
    pub(crate) fn check(&self, text: &str, status: u16) -> impl Future<Output = TestResponse> {
        let place = std::panic::Location::caller();
        async move {
            let answer = self.raw(text).await;
            assert_eq!(answer.status(), status, "{place}: {text}\n{}", answer.text());
            answer
        }
    }

    /// Returns the names of the items of a list, in their order.
    pub(crate) async fn names(&self, query: &str) -> String {
        let page = self.check(&format!("GET /items?{query}"), 200).await;
        names_of(&page.json())
    }
}

pub(crate) fn names_of(page: &Value) -> String {
    let items = page["items"].as_array().unwrap().iter();
    items.map(|item| item["name"].as_str().unwrap()).collect::<Vec<_>>().join(" ")
}

pub(crate) fn item(name: &str, price: u32) -> Value {
    json!({
        "name": name, "price": price, "weight": 0.5, "category": null,
        "sold_out": false, "size": "small", "tags": [],
    })
}

fn with(mut item: Value, changes: Value) -> Value {
    for (name, value) in changes.as_object().unwrap() {
        item[name] = value.clone();
    }
    item
}

/// Tries everything on stores that `make` makes empty.
pub(crate) async fn suite<S: Store<Item> + Clone>(make: impl AsyncFn() -> S) {
    one_item(make().await).await;
    changes(make().await).await;
    conditions(make().await).await;
    refusals(make().await).await;
    pages(make().await).await;
    filters(make().await).await;
    scope(make().await).await;
    open(make().await).await;
    judged(make().await).await;
    hidden(make().await).await;
}

async fn one_item<S: Store<Item> + Clone>(store: S) {
    let ada = Client::new(store, "ada");
    let full = with(item(" tea ", 7), json!({ "category": "x", "tags": ["a", "é'\"\u{1f375}"] }));
    let made = ada.send(Method::POST, "/items", &full).await;
    made.assert_status(201);
    let expected = with(full.clone(), json!({ "name": "tea", "id": 1, "owner": "ada" }));
    let id = made.json::<Value>()["id"].as_i64().unwrap();
    let expected = with(expected, json!({ "id": id }));
    assert_eq!(made.json::<Value>(), expected);
    made.assert_header("location", &format!("/items/{id}"));
    let tag = made.header("etag").unwrap();

    let got = ada.get(&format!("/items/{id}")).await;
    got.assert_status(200).assert_header("etag", &tag);
    got.assert_header("cache-control", "private, no-cache");
    assert_eq!(got.json::<Value>(), expected);
    let known = ada.check(&format!("GET /items/{id}\nif-none-match: {tag}"), 304).await;
    known.assert_empty().assert_header("etag", &tag);
    ada.check(&format!("GET /items/{id}\nif-none-match: \"other\""), 200).await;
    ada.check(&format!("GET /items/{id}\nif-match: \"other\""), 412).await;
    ada.check(&format!("HEAD /items/{id}"), 200).await;
    let exposed = |answer: &TestResponse| {
        let exposed = answer.header("access-control-expose-headers").unwrap();
        exposed.ends_with("X-Request-Id, ETag, Link, Location, X-Total-Count")
    };
    let page = "origin: http://localhost:3000";
    assert!(exposed(&ada.check(&format!("GET /items/{id}\n{page}"), 200).await));
    let stale = format!("GET /items/{id}\n{page}\nif-match: \"other\"");
    assert!(exposed(&ada.check(&stale, 412).await));

    ada.check(&format!("DELETE /items/{id}"), 204).await.assert_empty();
    ada.check(&format!("DELETE /items/{id}"), 404).await;
    ada.check(&format!("GET /items/{id}"), 404).await;
    ada.check("GET /items/x", 400).await.assert_field_error("id", "type");
    ada.check("GET /items/99999999999999999999", 400).await;

    // What the client says of the fields of the server has no effect.
    let sent = with(item("mine", 1), json!({ "id": 777, "owner": "bob", "unknown": [1] }));
    let made = ada.send(Method::POST, "/items", &sent).await;
    made.assert_status(201);
    assert_ne!(made.json::<Value>()["id"], 777);
    assert_eq!(made.json::<Value>()["owner"], "ada");
    let place = made.header("location").unwrap();
    let replaced = ada.send(Method::PUT, &place, &sent).await;
    replaced.assert_status(200);
    assert_eq!(replaced.json::<Value>(), made.json::<Value>());
}

async fn changes<S: Store<Item> + Clone>(store: S) {
    let ada = Client::new(store, "ada");
    let sent = with(item("a", 1), json!({ "category": "x", "tags": ["one"] }));
    let made = ada.send(Method::POST, "/items", &sent).await;
    let place = made.header("location").unwrap();
    let first = made.header("etag").unwrap();

    // The whole: what is not sent is null.
    let mut whole = item("b", 2);
    whole.as_object_mut().unwrap().remove("category");
    let replaced = ada.send(Method::PUT, &place, &whole).await;
    replaced.assert_status(200);
    let now = replaced.json::<Value>();
    assert_eq!(
        (&now["name"], &now["category"], &now["tags"]),
        (&json!("b"), &Value::Null, &json!([]))
    );
    assert_ne!(replaced.header("etag").unwrap(), first);

    // A part: null removes, absent keeps.
    let merge =
        |text: &str| format!("PATCH {place}\ncontent-type: application/merge-patch+json\n\n{text}");
    let patched =
        ada.check(&merge(r#"{"category":"y","price":3,"id":9,"owner":"bob"}"#), 200).await;
    let now = patched.json::<Value>();
    assert_eq!(
        (&now["category"], &now["price"], &now["name"]),
        (&json!("y"), &json!(3), &json!("b"))
    );
    assert_eq!((&now["id"], &now["owner"]), (&made.json::<Value>()["id"], &json!("ada")));
    let patched = ada.check(&merge(r#"{"category":null}"#), 200).await;
    assert_eq!(patched.json::<Value>()["category"], Value::Null);
    let tag = patched.header("etag").unwrap();
    ada.check(&format!("PATCH {place}\n\n{{}}"), 200).await;

    for (patch, field) in [
        (r#"{"price":-1}"#, "price"),
        (r#"{"price":null}"#, "price"),
        (r#"{"name":""}"#, "name"),
        (r#"{"tags":["a","b","c","d","e","f"]}"#, "tags"),
        (r#"{"tags":[1]}"#, "tags[0]"),
        (r#"{"size":"huge"}"#, "size"),
    ] {
        let refused = ada.check(&merge(patch), 400).await;
        assert_eq!(refused.json::<Value>()["details"]["errors"][0]["field"], field, "{patch}");
    }
    for whole in ["7", "null", "[]", "\"a\"", "{", ""] {
        ada.check(&merge(whole), 400).await;
    }
    let other = format!("PATCH {place}\ncontent-type: text/plain\n\nhi");
    let other = ada.check(&other, 415).await;
    assert!(other.header("accept-patch").unwrap().contains("application/merge-patch+json"));
    ada.check(&format!("PUT {place}\ncontent-type: application/merge-patch+json\n\n{{}}"), 415)
        .await;

    let minimal = format!("PATCH {place}\nprefer: return=minimal\n\n{{\"price\":4}}");
    let minimal = ada.check(&minimal, 204).await;
    minimal.assert_empty().assert_header("preference-applied", "return=minimal");
    assert_ne!(minimal.header("etag").unwrap(), tag);
    assert_eq!(ada.get(&place).await.json::<Value>()["price"], 4);
    let made = format!("POST /items\nprefer: return=minimal\n\n{}", item("c", 1));
    let made = ada.raw(&made).await;
    made.assert_status(201).assert_empty();
    ada.get(&made.header("location").unwrap()).await.assert_status(200);
}

async fn conditions<S: Store<Item> + Clone>(store: S) {
    let ada = Client::new(store, "ada");
    let made = ada.send(Method::POST, "/items", &item("a", 1)).await;
    let place = made.header("location").unwrap();
    let first = made.header("etag").unwrap();
    let put = |tags: &str| format!("PUT {place}\nif-match: {tags}\n\n{}", item("a", 2));
    let second = ada.check(&put(&first), 200).await.header("etag").unwrap();
    for stale in [&*first, "W/\"v2\"", "\"other\"", "\"v99999999999999999999\"", "nonsense"] {
        let refused = ada.check(&put(stale), 412).await;
        refused.assert_header("etag", &second);
        let patch = format!("PATCH {place}\nif-match: {stale}\n\n{{\"price\":9}}");
        ada.check(&patch, 412).await.assert_header("etag", &second);
        let delete = format!("DELETE {place}\nif-match: {stale}");
        ada.check(&delete, 412).await.assert_header("etag", &second);
    }
    ada.check(&format!("PUT {place}\nif-none-match: *\n\n{}", item("a", 2)), 412).await;
    ada.check(&format!("DELETE {place}\nif-none-match: {second}"), 412).await;
    assert_eq!(ada.get(&place).await.json::<Value>()["price"], 2);

    let third = ada.check(&put(&format!("\"v0\", {second}")), 200).await.header("etag").unwrap();
    ada.check(&put("*"), 200).await;
    ada.check(&put(&third), 412).await;
    ada.check(&format!("DELETE {place}\nif-match: *"), 204).await;
    ada.check(&put("*"), 404).await;
    ada.check(&put(&third), 404).await;
}

async fn refusals<S: Store<Item> + Clone>(store: S) {
    let ada = Client::new(store.clone(), "ada");
    for (body, field, rule) in [
        (json!({}), "name", "required"),
        (with(item("a", 1), json!({ "name": " " })), "name", "minLength"),
        (with(item("a", 1), json!({ "price": 1_000_001 })), "price", "maximum"),
        (with(item("a", 1), json!({ "price": 1.5 })), "price", "type"),
        (with(item("a", 1), json!({ "tags": "a" })), "tags", "type"),
        (with(item("a", 1), json!({ "sold_out": null })), "sold_out", "type"),
    ] {
        let refused = ada.send(Method::POST, "/items", &body).await;
        refused.assert_status(400).assert_field_error(field, rule);
    }
    for body in ["[]", "null", "7", "", "{", "{}{}", r#"{"name":"a","name":"b"}"#] {
        ada.check(&format!("POST /items\ncontent-type: application/json\n\n{body}"), 400).await;
    }
    ada.check("POST /items\ncontent-type: application/x-www-form-urlencoded\n\nname=a", 415).await;
    let large = with(item("a", 1), json!({ "category": "x".repeat(1 << 20) }));
    ada.send(Method::POST, "/items", &large).await.assert_status(413);
    assert_eq!(ada.names("").await, "");

    ada.send(Method::POST, "/items", &item("a", 1)).await.assert_status(201);
    let twice = ada.send(Method::POST, "/items", &item("a", 2)).await;
    twice.assert_status(409).assert_field_error("name", "unique");
    let other = ada.send(Method::POST, "/items", &item("b", 2)).await;
    let place = other.header("location").unwrap();
    ada.send(Method::PUT, &place, &item("a", 3)).await.assert_status(409);
    ada.check(&format!("PATCH {place}\n\n{{\"name\":\"a\"}}"), 409).await;
    assert_eq!(ada.get(&place).await.json::<Value>(), other.json::<Value>());
    assert_eq!(ada.names("").await, "a b");

    let nobody = Client::new(store, "eve");
    for line in ["GET /items", "GET /items/1", "DELETE /items/1", "PUT /items/1\n\n{}"] {
        nobody.check(line, 401).await;
    }
}

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

async fn pages<S: Store<Item> + Clone>(store: S) {
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
    for sort in [
        "size",
        "secret",
        "owner",
        "price,price",
        "price,-price",
        "price,name,weight,id",
        "-",
        ",",
        "price;",
    ] {
        ada.check(&format!("GET /items?sort={sort}"), 400).await.assert_text_contains("sort");
    }
    let near = ada.check("GET /items?sort=prise", 400).await;
    near.assert_text_contains("did you mean `price`?");
}

/// Goes through the pages of a list and back, and returns the names on the way.
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

async fn filters<S: Store<Item> + Clone>(store: S) {
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

async fn scope<S: Store<Item> + Clone>(store: S) {
    let (ada, bob) = (Client::new(store.clone(), "ada"), Client::new(store, "bob"));
    let made = ada.send(Method::POST, "/items", &item("a", 1)).await;
    let (place, tag) = (made.header("location").unwrap(), made.header("etag").unwrap());
    bob.send(Method::POST, "/items", &item("b", 1)).await.assert_status(201);

    // Each row of another user is missing, in every operation.
    assert_eq!((ada.names("").await, bob.names("").await), ("a".to_owned(), "b".to_owned()));
    assert_eq!(bob.names("name=a").await, "");
    bob.get("/items?count=exact").await.assert_header("x-total-count", "1");
    for condition in ["", &*format!("\nif-match: {tag}"), "\nif-match: *", "\nif-match: \"v0\""] {
        for line in [
            format!("GET {place}{condition}"),
            format!("GET {place}{condition}\nif-none-match: {tag}"),
            format!("PUT {place}{condition}\n\n{}", item("c", 1)),
            format!("PATCH {place}{condition}\n\n{{\"price\":2}}"),
            format!("DELETE {place}{condition}"),
        ] {
            bob.check(&line, 404).await.assert_no_header("etag");
        }
    }
    assert_eq!(ada.get(&place).await.json::<Value>(), made.json::<Value>());
    ada.get(&place).await.assert_header("etag", &tag);
}

async fn open<S: Store<Item> + Clone>(store: S) {
    let client = Client::new(store.clone(), "ada");
    let made = client.send(Method::POST, "/open", &item("a", 1)).await;
    made.assert_status(201);
    assert_eq!(made.json::<Value>()["owner"], "nobody");
    let place = made.header("location").unwrap();
    let tag = made.header("etag").unwrap();
    client.get(&place).await.assert_header("cache-control", "no-cache");
    let put = format!("PUT {place}\n\n{}", item("a", 2));
    client.check(&put, 428).await;
    client.check(&format!("PATCH {place}\n\n{{}}"), 428).await;
    client.check(&format!("PATCH {place}\n\n{{"), 400).await;
    client.check(&format!("DELETE {place}"), 428).await;
    client.check(&format!("PUT {place}\nif-none-match: *\n\n{}", item("a", 2)), 412).await;
    client.check(&format!("PUT {place}\nif-match: {tag}\n\n{}", item("a", 2)), 200).await;

    // PUT makes what is not there.
    client.check(&format!("PUT /open/5000\nif-match: {tag}\n\n{}", item("b", 2)), 412).await;
    let made = format!("PUT /open/5000\nif-none-match: *\n\n{}", item("b", 2));
    let first = client.check(&made, 201).await;
    first.assert_header("location", "/open/5000");
    assert_eq!(first.json::<Value>()["id"], 5000);
    client.check(&made, 412).await;
    let old = first.header("etag").unwrap();
    client.check(&format!("DELETE /open/5000\nif-match: {old}"), 204).await;
    let again = client.check(&made, 201).await.header("etag").unwrap();
    assert_ne!(again, old, "an item that comes back has no old version");
}

async fn judged<S: Store<Item> + Clone>(store: S) {
    let (ada, bob) = (Client::new(store.clone(), "ada"), Client::new(store, "bob"));
    let made = ada.send(Method::POST, "/items", &item("a", 1)).await;
    let place = made.header("location").unwrap().replace("items", "judged");
    bob.get(&place).await.assert_status(200);
    for line in [
        format!("PUT {place}\n\n{}", item("b", 1)),
        format!("PATCH {place}\n\n{{\"price\":2}}"),
        format!("DELETE {place}"),
    ] {
        bob.check(&line, 403).await;
    }
    ada.check(&format!("PATCH {place}\n\n{{\"price\":2}}"), 200).await;
    ada.check("GET /judged", 404).await;
    ada.check("DELETE /judged/999", 404).await;
    ada.check(&format!("PUT {place}\nif-match: \"v0\"\n\n{}", item("b", 1)), 412).await;
    ada.check(&format!("PUT {place}\n\n{}", item("b", 1)), 200).await;
    ada.check(&format!("DELETE {place}"), 204).await;
}

async fn hidden<S: Store<Item> + Clone>(store: S) {
    let ada = Client::new(store, "ada");
    let secret = with(item("a", 1), json!({ "secret": "hunter2" }));
    let made = ada.send(Method::POST, "/items", &secret).await;
    let place = made.header("location").unwrap();
    let other = ada.send(Method::POST, "/items", &item("b", 1)).await;
    let other_place = other.header("location").unwrap();
    let patched = ada.check(&format!("PATCH {place}\n\n{{\"price\":2}}"), 200).await;
    let pages = ada.get("/items?limit=1").await;
    let taken = ada.check(&format!("PATCH {other_place}\n\n{{\"secret\":\"hunter2\"}}"), 409).await;
    for answer in [made, ada.get(&place).await, patched, pages, taken] {
        let text = format!("{:?} {}", answer.headers(), answer.text());
        assert!(!text.contains("hunter2") && !text.contains("secret"), "{text}");
    }
    // The patch left it as it was, or the value would be free again.
    let free = ada.check(&format!("PATCH {other_place}\n\n{{\"secret\":\"hunter2\"}}"), 409).await;
    free.assert_status(409);
    ada.check(&format!("PATCH {place}\n\n{{\"secret\":\"other\"}}"), 200).await;
    ada.check(&format!("PATCH {other_place}\n\n{{\"secret\":\"hunter2\"}}"), 200).await;
}
