//! Handlers that depend only on a trait: with a trait object, and with a type
//! parameter.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use stockade::prelude::*;
use uuid::Uuid;

#[derive(Clone, Serialize, Schema)]
struct User {
    id: Uuid,
    name: String,
}

#[derive(Deserialize, Schema)]
struct NewUser {
    name: String,
}

impl From<NewUser> for User {
    fn from(new: NewUser) -> Self {
        Self { id: Uuid::new_v4(), name: new.name }
    }
}

trait UserRepo: Send + Sync + 'static {
    fn user(&self, id: Uuid) -> Option<User>;

    fn save_user(&self, user: &User);
}

#[derive(Clone, Default)]
struct InMemoryUserRepo(Arc<Mutex<HashMap<Uuid, User>>>);

impl UserRepo for InMemoryUserRepo {
    fn user(&self, id: Uuid) -> Option<User> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&id).cloned()
    }

    fn save_user(&self, user: &User) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(user.id, user.clone());
    }
}

type DynRepo = Arc<dyn UserRepo>;

async fn create_dyn(repo: State<DynRepo>, Body(new): Body<NewUser>) -> User {
    let user = new.into();
    repo.save_user(&user);
    user
}

async fn show_dyn(repo: State<DynRepo>, Path(id): Path<Uuid>) -> Result<User, StatusCode> {
    repo.user(id).ok_or(StatusCode::NOT_FOUND)
}

async fn create<R: UserRepo>(repo: State<R>, Body(new): Body<NewUser>) -> User {
    let user = new.into();
    repo.save_user(&user);
    user
}

async fn show<R: UserRepo>(repo: State<R>, Path(id): Path<Uuid>) -> Result<User, StatusCode> {
    repo.user(id).ok_or(StatusCode::NOT_FOUND)
}

fn generic<R: UserRepo>() -> RouteTree {
    routes! { "users": { POST: create::<R>, ":id": { GET: show::<R> } } }
}

fn router() -> Router {
    let repo = InMemoryUserRepo::default();
    let api = routes! {
        "dyn/users": { POST: create_dyn, ":id": { GET: show_dyn } },
        "generic": { ..generic::<InMemoryUserRepo>() },
    };
    let router = create_router(api, RouterOptions::new());
    router.state::<DynRepo>(Arc::new(repo.clone())).state(repo)
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
    async fn both_forms_use_the_same_users() {
        let client = TestClient::new(router());
        for (here, there) in [("/dyn", "/generic"), ("/generic", "/dyn")] {
            let request = client.post(format!("{here}/users")).json(json!({ "name": "ada" }));
            let created: Value = request.await.json();
            assert_eq!(created["name"], "ada");
            let id = created["id"].as_str().unwrap();
            client.get(format!("{there}/users/{id}")).await.assert_json(&created);
            let nobody = format!("{here}/users/{}", Uuid::new_v4());
            client.get(nobody).await.assert_status(404);
        }
    }
}
