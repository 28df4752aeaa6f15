//! An in-memory key-value store with limits, compressed responses, and admin
//! routes.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use stockade::auth::ApiKeyHash;
use stockade::extract::Headers;
use stockade::http::HeaderValue;
use stockade::http::header::CONTENT_TYPE;
use stockade::middleware::{with_compression, with_timeout};
use stockade::prelude::*;

/// A value with its original content type.
struct Entry {
    media: HeaderValue,
    value: Bytes,
}

#[derive(Default)]
struct Store(RwLock<HashMap<String, Entry>>);

impl Store {
    fn read(&self) -> RwLockReadGuard<'_, HashMap<String, Entry>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, HashMap<String, Entry>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn get(Path(key): Path<String>, store: State<Store>) -> Result<impl Reply, StatusCode> {
    let entries = store.read();
    let Entry { media, value } = entries.get(&key).ok_or(StatusCode::NOT_FOUND)?;
    Ok(([(CONTENT_TYPE, media.clone())], value.clone()))
}

async fn set(
    Path(key): Path<String>,
    Headers(headers): Headers,
    value: Bytes,
    store: State<Store>,
) {
    let unknown = HeaderValue::from_static("application/octet-stream");
    let media = headers.get(CONTENT_TYPE).cloned().unwrap_or(unknown);
    store.write().insert(key, Entry { media, value });
}

async fn keys(store: State<Store>) -> String {
    store.read().keys().map(String::as_str).collect::<Vec<_>>().join("\n")
}

async fn clear(store: State<Store>) {
    store.write().clear();
}

async fn remove(Path(key): Path<String>, store: State<Store>) {
    store.write().remove(&key);
}

fn router() -> Router {
    let admin = ApiKeyHash::of("secret-token");
    let admin = Auth::bearer(move |token: String| admin.verify(&token).then_some("admin"));
    let api = routes! {
        middleware: [with_timeout(Duration::from_secs(10)).status(408)],
        ":key": {
            GET: { get, middleware: [with_compression()] },
            POST: { set, max_body: 5_000 * 1_024 },
        },
        "keys": { GET: keys },
        "admin": {
            auth: admin,
            "keys": { DELETE: clear },
            "key/:key": { DELETE: remove },
        },
    };
    let options = RouterOptions::new().concurrency_limit(1_024).access_log(true);
    create_router(api, options).state(Store::default())
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt::init();
    router().listen(3000).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use stockade::testing::TestClient;

    use super::*;

    #[tokio::test]
    async fn values_are_stored_with_their_types() {
        let client = TestClient::new(router());
        client.get("/tea").await.assert_status(404);
        client.post("/tea").body("green").await.assert_status(204);
        client.get("/tea").await.assert_header("content-type", "application/octet-stream");
        client.post("/milk").header("content-type", "text/plain").body("cold").await;
        let milk = client.get("/milk").await;
        milk.assert_header("content-type", "text/plain").assert_text("cold");
        let keys = client.get("/keys").await;
        let mut keys: Vec<_> = keys.text().lines().collect();
        keys.sort_unstable();
        assert_eq!(keys, ["milk", "tea"]);
    }

    #[tokio::test]
    async fn reads_are_compressed() {
        let client = TestClient::new(router());
        let request = client.post("/tea").header("content-type", "text/plain");
        request.body("green ".repeat(500)).await.assert_status(204);
        let response = client.get("/tea").header("accept-encoding", "gzip").await;
        response.assert_header("content-encoding", "gzip");
        assert!(response.bytes().len() < 200);
    }

    #[tokio::test]
    async fn values_have_a_size_limit() {
        let client = TestClient::new(router());
        client.post("/large").body(vec![0; 5_000 * 1_024]).await.assert_status(204);
        client.post("/larger").body(vec![0; 5_000 * 1_024 + 1]).await.assert_status(413);
    }

    #[tokio::test]
    async fn administrators_can_remove_values() {
        let client = TestClient::new(router());
        for key in ["tea", "milk", "cake"] {
            client.post(format!("/{key}")).body("x").await.assert_status(204);
        }
        client.delete("/admin/keys").await.assert_status(401);
        client.delete("/admin/key/tea").bearer("guessed").await.assert_status(401);
        client.get("/tea").await.assert_status(200);
        let admin = client.clone().with_bearer("secret-token");
        admin.delete("/admin/key/tea").await.assert_status(204);
        client.get("/tea").await.assert_status(404);
        admin.delete("/admin/keys").await.assert_status(204);
        client.get("/keys").await.assert_text("");
    }
}
