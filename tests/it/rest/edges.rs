//! Edge cases of a resource: large pages, old rows, hidden fields, ids and
//! paths, and concurrent requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use stockade::prelude::*;
use stockade::rest::{
    Access, Entity, ListQuery, MemoryStore, NewRow, Operation, Page, Resource, RowFilter, Store,
    StoreDoc, StoreError, VersionCheck, Versioned,
};
use stockade::testing::{TestClient, TestResponse};

use crate::support::block_on;

#[derive(Clone, serde::Deserialize, serde::Serialize, Schema)]
struct Note {
    #[schema(max_length = 20)]
    id: String,
    #[schema(minimum = 0, maximum = 9)]
    rank: i64,
    text: Option<String>,
    owner: Option<String>,
    key: Option<Value>,
}

impl Entity for Note {
    type Id = String;
}

fn note(id: &str, rank: i64, text: Option<String>) -> Note {
    Note { id: id.into(), rank, text, owner: None, key: None }
}

fn store(notes: impl IntoIterator<Item = Note>) -> MemoryStore<Note> {
    let store = MemoryStore::new();
    store.insert(notes).unwrap();
    store
}

fn resource<S: Store<Note>>(store: S) -> Resource<Note> {
    let open = || Access::public("a test");
    Resource::new("note", store).sort(["rank"]).read(open()).write(open())
}

fn router(resource: Resource<Note>) -> Router {
    create_router(routes! { "notes": { ..resource.routes() } }, RouterOptions::new())
}

fn client(resource: Resource<Note>) -> TestClient {
    TestClient::new(router(resource)).with_contract()
}

pub(super) fn ids(page: &TestResponse) -> String {
    let page = page.json::<Value>();
    let items = page["items"].as_array().unwrap().iter();
    items.map(|item| item["id"].as_str().unwrap()).collect()
}

/// Returns the target of a link.
pub(super) fn link(answer: &TestResponse, rel: &str) -> Option<String> {
    let links = answer.header("link")?;
    let link = links.split(", ").find(|link| link.ends_with(&format!("rel=\"{rel}\"")))?;
    Some(link.split_once('<')?.1.split_once('>')?.0.to_owned())
}

#[test]
fn a_page_ends_at_its_maximum_size() {
    let large = || Some("x".repeat(1_500_000));
    let notes = || {
        let ids = ["a", "b", "c", "d", "e", "f", "g"];
        store(ids.map(|id| note(id, 1, large().filter(|_| id != "g"))))
    };
    let keep = async |_, item| Ok(item);
    block_on(async {
        for resource in [
            resource(notes()),
            resource(notes()).hidden(["key"]),
            resource(notes()).after(Operation::List, keep),
        ] {
            let client = client(resource);
            let mut pages = vec![client.get("/notes?limit=100&sort=rank").await];
            while let Some(next) = link(&pages[pages.len() - 1], "next") {
                pages.push(client.get(next).await);
            }
            assert_eq!(pages.iter().map(ids).collect::<Vec<_>>(), ["abc", "def", "g"]);
            assert!(pages.iter().all(|page| page.text().len() < 6_000_000));
            // Backward paging shortens the page at its other end.
            let before = client.get(link(&pages[2], "prev").unwrap()).await;
            assert_eq!(ids(&before), "def");
            let first = client.get(link(&before, "prev").unwrap()).await;
            assert_eq!((ids(&first), link(&first, "prev")), ("abc".to_owned(), None));
        }
        // A page always contains at least one item.
        let client = client(resource(store(["a", "b"].map(|id| note(id, 1, large())))));
        let page = client.get("/notes?limit=1").await;
        assert_eq!(ids(&page), "a");
    });
}

#[test]
fn a_row_that_violates_the_schema_has_a_next_page() {
    let names = ["a long id, from before there was a bound", "b", "c"];
    // Such rows violate the contract, so it is not checked.
    let client = TestClient::new(router(resource(store(names.map(|id| note(id, -5, None))))));
    block_on(async {
        for query in ["limit=1", "limit=1&sort=rank", "limit=1&sort=-rank"] {
            let (mut seen, mut target) = (0, Some(format!("/notes?{query}")));
            while let Some(now) = target {
                let page = client.get(&now).await;
                page.assert_status(200);
                (seen, target) = (seen + 1, link(&page, "next"));
            }
            assert_eq!(seen, 3, "{query}");
        }
    });
}

#[test]
fn links_have_one_cursor_for_any_spelling_of_its_name() {
    let client = client(resource(store(["a", "b", "c"].map(|id| note(id, 1, None)))));
    block_on(async {
        let next = link(&client.get("/notes?limit=1").await, "next").unwrap();
        let encoded = next.replace("cursor=", "%63urs%6Fr=");
        let page = client.get(encoded).await;
        assert_eq!(ids(&page), "b");
        assert_eq!(ids(&client.get(link(&page, "next").unwrap()).await), "c");
        assert_eq!(ids(&client.get(link(&page, "first").unwrap()).await), "a");
    });
}

#[test]
fn a_patch_sets_and_removes_a_hidden_field() {
    let notes = store([Note { key: Some(json!({ "a": 1, "b": 2 })), ..note("a", 1, None) }]);
    let client = client(resource(notes.clone()).hidden(["key"]));
    let key = async || {
        let item = notes.get(&"a".to_owned(), &RowFilter::all()).await.unwrap().unwrap();
        json!(item.value.key)
    };
    let patch = |body: Value| {
        let kind = if body.is_array() { "json-patch" } else { "merge-patch" };
        let request = client.patch("/notes/a").body(body.to_string());
        request.header("content-type", format!("application/{kind}+json"))
    };
    block_on(async {
        for (body, status, expected) in [
            (json!({ "rank": 2 }), 200, json!({ "a": 1, "b": 2 })),
            (json!({ "key": { "a": null } }), 200, json!({ "b": 2 })),
            (json!({ "key": null }), 200, json!(null)),
            (json!({ "key": "x" }), 200, json!("x")),
            (json!([{ "op": "replace", "path": "/rank", "value": 3 }]), 200, json!("x")),
            (json!([{ "op": "test", "path": "/key", "value": "x" }]), 400, json!("x")),
            (json!([{ "op": "copy", "from": "/key", "path": "/text" }]), 400, json!("x")),
            (json!([{ "op": "replace", "path": "/key", "value": "y" }]), 200, json!("y")),
            (json!([{ "op": "remove", "path": "/key" }]), 200, json!(null)),
            (json!([{ "op": "remove", "path": "/key" }]), 200, json!(null)),
            (json!([{ "op": "add", "path": "/key", "value": 1 }]), 200, json!(1)),
        ] {
            let answer = patch(body.clone()).await;
            assert_eq!((answer.status().as_u16(), key().await), (status, expected), "{body}");
            assert!(status == 400 || !answer.text().contains("key"), "{}", answer.text());
        }
    });
}

#[test]
fn an_after_hook_of_get_runs_before_the_conditions() {
    let notes = store([note("a", 1, None)]);
    let refuse = async |_, _| Err(ApiError::authorization());
    // Documents cannot include the function.
    let client = TestClient::new(router(resource(notes).after(Operation::Get, refuse)));
    block_on(async {
        for (name, value) in [("if-none-match", "*"), ("if-match", "\"v9\""), ("accept", "*/*")] {
            let answer = client.get("/notes/a").header(name, value).await;
            answer.assert_status(403).assert_no_header("etag");
        }
    });
}

#[test]
fn a_new_id_must_fit_into_a_path() {
    let client = client(resource(store([])).put_creates(true));
    block_on(async {
        for id in ["", ".", "..", "a\0b", "\n", "\u{7f}"] {
            let refused = client.post("/notes").json(json!({ "id": id, "rank": 1 })).await;
            refused.assert_status(400).assert_field_error("id", "pattern");
        }
        for place in ["/notes/.", "/notes/..", "/notes/%2E%2e"] {
            client.put(place).json(json!({ "rank": 1 })).await.assert_status(400);
        }
        assert_eq!(ids(&client.get("/notes").await), "");
        for id in ["...", "a/b", "é?#%", " "] {
            let made = client.post("/notes").json(json!({ "id": id, "rank": 1 })).await;
            let place = made.assert_status(201).header("location").unwrap();
            assert_eq!(client.get(&place).await.json::<Value>()["id"], id);
        }
    });
}

#[derive(Clone, serde::Deserialize, serde::Serialize, Schema)]
struct Counted {
    id: i64,
}

impl Entity for Counted {
    type Id = i64;
}

#[test]
fn an_id_has_one_spelling() {
    let counted = MemoryStore::new();
    counted.insert([Counted { id: 1 }, Counted { id: -1 }, Counted { id: 0 }]).unwrap();
    let open = || Access::public("a test");
    let resource = Resource::new("counted", counted).read(open()).write(open());
    let api = routes! { "counted": { ..resource.routes() } };
    let client = TestClient::new(create_router(api, RouterOptions::new())).with_contract();
    block_on(async {
        for id in ["1", "-1", "0", "%31"] {
            client.get(format!("/counted/{id}")).await.assert_status(200);
        }
        for id in ["01", "+1", "1.0", "1e0", "%201", "1%20", "-0", "00", "0x1", "-01"] {
            let refused = client.get(format!("/counted/{id}")).await;
            refused.assert_status(400);
            assert_eq!(refused.json::<Value>()["details"]["errors"][0]["field"], "id", "{id}");
        }
    });
}

/// A store in which other clients write between a read and a write.
#[derive(Clone)]
struct Raced {
    notes: MemoryStore<Note>,
    comes: Arc<AtomicBool>,
    owner: &'static str,
}

impl Store<Note> for Raced {
    async fn list(&self, ask: &ListQuery) -> Result<Page<Note>, StoreError> {
        self.notes.list(ask).await
    }

    async fn get(
        &self,
        id: &String,
        scope: &RowFilter,
    ) -> Result<Option<Versioned<Note>>, StoreError> {
        self.notes.get(id, scope).await
    }

    async fn create(&self, draft: NewRow<Note>) -> Result<Versioned<Note>, StoreError> {
        if self.comes.swap(false, Ordering::SeqCst) {
            let owner = Some(self.owner.to_owned());
            self.notes.insert([Note { owner, ..note("a", 1, None) }])?;
        }
        self.notes.create(draft).await
    }

    async fn replace(
        &self,
        id: &String,
        draft: NewRow<Note>,
        expected: VersionCheck,
        scope: &RowFilter,
    ) -> Result<Versioned<Note>, StoreError> {
        self.notes.replace(id, draft, expected, scope).await
    }

    async fn delete(
        &self,
        id: &String,
        at: VersionCheck,
        scope: &RowFilter,
    ) -> Result<(), StoreError> {
        self.notes.delete(id, at, scope).await
    }

    fn describe(&self, doc: &mut StoreDoc) {
        self.notes.describe(doc);
    }
}

#[test]
fn of_two_puts_of_a_new_id_the_second_replaces() {
    block_on(async {
        for (owner, condition, status) in [
            ("ada", None, 200),
            ("ada", Some("*"), 412),
            ("bob", None, 404),
            ("bob", Some("*"), 404),
        ] {
            let comes = Arc::new(AtomicBool::new(true));
            let raced = Raced { notes: store([]), comes, owner };
            let scoped = resource(raced.clone())
                .put_creates(true)
                .server_fields(["owner"])
                .scope(|_| Ok(RowFilter::eq("owner", "ada")));
            let client = client(scoped);
            let mut put = client.put("/notes/a").json(json!({ "rank": 7 }));
            if let Some(condition) = condition {
                put = put.header("if-none-match", condition);
            }
            let answer = put.await;
            assert_eq!(answer.status(), status, "{owner} {condition:?}: {}", answer.text());
            let now = raced.notes.get(&"a".to_owned(), &RowFilter::all()).await.unwrap().unwrap();
            assert_eq!(now.value.rank, if status == 200 { 7 } else { 1 });
        }
    });
}
