//! Keys too long for a cursor: pagination still continues after their items.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use stockade::prelude::*;
use stockade::rest::{Access, Entity, MemoryStore, Resource, RowFilter};
use stockade::testing::TestClient;

use super::edges::{ids, link};
use crate::support::block_on;

/// A type with rows that may predate its limits: their titles are too long for
/// a cursor.
#[derive(Clone, serde::Deserialize, serde::Serialize, Schema)]
struct Essay {
    #[schema(max_length = 2_000)]
    id: String,
    #[schema(max_length = 200)]
    title: String,
    owner: String,
}

impl Entity for Essay {
    type Id = String;
}

fn essays(ids: &[&str]) -> MemoryStore<Essay> {
    let essays = MemoryStore::new();
    let title = |index: usize| format!("{}{}", "é".repeat(5_000), index / 2);
    let essay = |(index, id): (usize, &&str)| Essay {
        id: (*id).to_owned(),
        title: title(index),
        owner: "ada".to_owned(),
    };
    essays.insert(ids.iter().enumerate().map(essay)).unwrap();
    essays
}

fn client_of(store: MemoryStore<Essay>) -> TestClient {
    let open = || Access::public("a test");
    let resource = Resource::new("essay", store)
        .sort(["title"])
        .server_fields(["owner"])
        .scope(|_| Ok(RowFilter::eq("owner", "ada")))
        .read(open())
        .write(open());
    let api = routes! { "notes": { ..resource.routes() } };
    // Such rows violate the contract, so it is not checked.
    TestClient::new(create_router(api, RouterOptions::new().rate_limit(false)))
}

#[test]
fn a_key_too_long_for_a_cursor_has_a_next_page() {
    let client = client_of(essays(&["a", "b", "c", "d", "e"]));
    block_on(async {
        for (query, expected) in
            [("limit=2&sort=title", ["ab", "cd", "e"]), ("limit=2&sort=-title", ["ed", "cb", "a"])]
        {
            let mut pages = vec![client.get(format!("/notes?{query}")).await];
            while let Some(next) = link(&pages[pages.len() - 1], "next") {
                assert!(next.len() < 200, "{next}");
                pages.push(client.get(next).await);
            }
            assert_eq!(pages.iter().map(ids).collect::<Vec<_>>(), expected, "{query}");
            let before = client.get(link(&pages[2], "prev").unwrap()).await;
            assert_eq!(ids(&before), expected[1], "{query}");
            let first = client.get(link(&before, "prev").unwrap()).await;
            assert_eq!((ids(&first), link(&first, "prev")), (expected[0].to_owned(), None));
        }
    });
}

#[test]
fn a_cursor_that_names_its_item_requires_the_item() {
    let notes = essays(&["a", "b", "c"]);
    let other = Essay { id: "z".into(), title: "é".repeat(5_000), owner: "bob".into() };
    notes.insert([other]).unwrap();
    let client = client_of(notes);
    let page = |id: &Value| {
        let json = json!(["title", false, id]).to_string();
        let cursor = URL_SAFE_NO_PAD.encode(json);
        client.get(format!("/notes?sort=title&cursor={cursor}"))
    };
    block_on(async {
        assert_eq!(ids(&page(&json!("b")).await), "c");
        client.delete("/notes/b").await.assert_status(204);
        // A deleted item, an item outside the scope, and an invalid id.
        for (id, message) in [
            (json!("b"), "The first item of this page no longer exists"),
            (json!("z"), "The first item of this page no longer exists"),
            (json!(7), "The cursor does not belong to this list"),
            (json!({ "id": "a" }), "The cursor does not belong to this list"),
            (json!(null), "The cursor does not belong to this list"),
        ] {
            let refused = page(&id).await;
            refused.assert_status(400).assert_field_error("cursor", "custom");
            assert!(refused.text().contains(message), "{id}: {}", refused.text());
        }
    });
}

#[test]
fn a_new_id_must_fit_into_a_cursor() {
    let client = client_of(essays(&[]));
    let with_id = |id: String| client.post("/notes").json(json!({ "id": id, "title": "x" }));
    block_on(async {
        with_id("é".repeat(501)).await.assert_status(400).assert_field_error("id", "maxLength");
        for text in ["é", "\\"] {
            let longest = text.repeat(1_000 / text.len());
            with_id(longest).await.assert_status(201);
        }
        let first = client.get("/notes?limit=1").await;
        let second = client.get(link(&first, "next").unwrap()).await;
        assert_eq!(ids(&first).len() + ids(&second).len(), 2_000);
    });
}
