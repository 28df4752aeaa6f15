//! A to-do list with pagination: read, add, change and remove items.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use stockade::middleware::with_timeout;
use stockade::prelude::*;
use uuid::Uuid;

#[derive(Clone, Serialize, Schema)]
struct Todo {
    id: Uuid,
    text: String,
    completed: bool,
}

#[derive(Default)]
struct Db(RwLock<HashMap<Uuid, Todo>>);

impl Db {
    fn read(&self) -> RwLockReadGuard<'_, HashMap<Uuid, Todo>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, HashMap<Uuid, Todo>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Deserialize, Schema)]
struct Pagination {
    #[schema(default = 0)]
    offset: usize,
    limit: Option<usize>,
}

async fn index(Query(page): Query<Pagination>, db: State<Db>) -> Json<Vec<Todo>> {
    let limit = page.limit.unwrap_or(usize::MAX);
    Json(db.read().values().skip(page.offset).take(limit).cloned().collect())
}

#[derive(Deserialize, Schema)]
struct CreateTodo {
    text: String,
}

async fn create(db: State<Db>, Body(new): Body<CreateTodo>) -> (StatusCode, Todo) {
    let todo = Todo { id: Uuid::new_v4(), text: new.text, completed: false };
    db.write().insert(todo.id, todo.clone());
    (StatusCode::CREATED, todo)
}

#[derive(Deserialize, Schema)]
struct UpdateTodo {
    text: Option<String>,
    completed: Option<bool>,
}

async fn update(
    Path(id): Path<Uuid>,
    db: State<Db>,
    Body(change): Body<UpdateTodo>,
) -> Result<Todo, StatusCode> {
    let mut todos = db.write();
    let todo = todos.get_mut(&id).ok_or(StatusCode::NOT_FOUND)?;
    if let Some(text) = change.text {
        todo.text = text;
    }
    if let Some(completed) = change.completed {
        todo.completed = completed;
    }
    Ok(todo.clone())
}

async fn delete(Path(id): Path<Uuid>, db: State<Db>) -> Result<(), StatusCode> {
    db.write().remove(&id).map(drop).ok_or(StatusCode::NOT_FOUND)
}

fn router() -> Router {
    let api = routes! {
        middleware: [with_timeout(Duration::from_secs(10)).status(408)],
        "todos": { GET: index, POST: create, ":id": { PATCH: update, DELETE: delete } },
    };
    create_router(api, RouterOptions::new().access_log(true)).state(Db::default())
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

    async fn add(client: &TestClient, text: &str) -> String {
        let created = client.post("/todos").json(json!({ "text": text })).await;
        created.assert_status(201);
        let todo: Value = created.json();
        assert_eq!((&todo["text"], &todo["completed"]), (&json!(text), &json!(false)));
        format!("/todos/{}", todo["id"].as_str().unwrap())
    }

    #[tokio::test]
    async fn a_todo_is_changed_and_removed() {
        let client = TestClient::new(router());
        let path = add(&client, "tea").await;
        let changed = client.patch(&path).json(json!({ "completed": true })).await;
        changed.assert_json_contains(json!({ "text": "tea", "completed": true }));
        client.delete(&path).await.assert_status(204);
        client.delete(&path).await.assert_status(404);
        client.patch(&path).json(json!({})).await.assert_status(404);
    }

    #[tokio::test]
    async fn the_list_is_paginated() {
        let client = TestClient::new(router());
        for text in ["tea", "milk", "cake"] {
            add(&client, text).await;
        }
        for (query, count) in [("", 3), ("?limit=2", 2), ("?offset=2", 1), ("?offset=9", 0)] {
            let todos: Vec<Value> = client.get(format!("/todos{query}")).await.json();
            assert_eq!(todos.len(), count, "{query}");
        }
        client.get("/todos?limit=-1").await.assert_status(400);
    }
}
